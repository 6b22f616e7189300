"""``cookbook ingest`` and ``cookbook ask --path`` as they are typed: reports, JSON, exit codes, and each way it goes wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from own_documents import FOLDER, pdf
from typer.testing import CliRunner, Result

from cookbook.cli import app
from cookbook.cli.ingest import LISTED, listing
from cookbook.ingest import FileReport
from cookbook.providers.scripted import scripted_table


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "teas"
    folder.mkdir()
    (folder / "green.md").write_text("# Green\n\nGreen tea brews two minutes at eighty degrees.")
    (folder / "black.pdf").write_bytes(pdf([["Black tea"], ["It brews four minutes."]]))
    (folder / "empty.txt").write_text("")
    return folder


def test_ingest_says_what_became_of_each_file(folder):
    result = run("ingest", str(folder), "--embedder", "scripted")
    *lines, last = result.stdout.splitlines()
    assert lines == [
        "indexed    black.pdf  2 passages, PDF, 2 pages",
        "indexed    green.md   1 passage, Markdown",
        "skipped    empty.txt  empty",
    ]
    assert last.startswith("2 indexed, 1 skipped; 3 passages, 3 texts embedded, ")
    assert (result.exit_code, result.stderr) == (0, "")
    (folder / "black.pdf").unlink()
    again = run("ingest", str(folder), "--embedder", "scripted").stdout.splitlines()
    assert again[:2] == ["unchanged  green.md   1 passage, Markdown", "removed    black.pdf"]


def test_ingest_in_json_keeps_stdout_pure(folder):
    result = run("ingest", str(folder), "--embedder", "scripted", "--json")
    found = json.loads(result.stdout)
    assert result.stderr == ""
    assert (found["passages"], found["embedded"], found["paths"]) == (3, 3, [str(folder)])
    assert found["files"][0] == {
        "name": "black.pdf",
        "state": "indexed",
        "passages": 2,
        "format": "PDF",
        "note": "2 pages",
        "why": "",
    }
    assert Path(found["index"]).is_dir()


def test_hidden_and_large_files_are_a_choice(folder):
    (folder / ".secret.md").write_text("White tea")
    with (folder / "big.txt").open("w") as file:
        file.write("words " * 200_000)
    report = run("ingest", str(folder), "--embedder", "scripted", "--max-mb", "1").stdout
    assert "skipped    .secret.md  hidden (--hidden includes it)" in report
    assert (
        "skipped    big.txt     too large: 1 MB, and 1 MB is the limit; split it or raise --max-mb" in report
    )
    assert (
        "indexed    .secret.md  1 passage"
        in run("ingest", str(folder), "--embedder", "scripted", "--max-mb", "1", "--hidden").stdout
    )


def test_many_files_are_counted_and_not_listed():
    files = [FileReport(f"{n:03}.txt", "indexed", 1, "text") for n in range(LISTED + 5)]
    lines = listing([*files, FileReport("x", "skipped", why="empty")])
    assert lines[LISTED] == "indexed    and 5 more (--json lists them)"
    assert lines[-1] == "skipped    x        empty"
    assert len(lines) == LISTED + 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ingest", "gone", "--embedder", "scripted"), "cannot open gone: No such file or directory; name a file"),
        (("ingest", ".", "--embedder", "minilm"), "unknown embedder 'minilm'"),
        (("ingest", "."), "the weights of all-minilm-l6-v2 are not on this machine; run: cookbook models fetch"),
        (("ask", "tea?", "--path", "gone", "--embedder", "scripted", "--system", "extractive"), "cannot open gone"),
        (("ask", "  ", "--path", "."), "the question is empty"),
    ],
)  # fmt: skip
def test_an_error_is_one_line_that_says_what_to_do(tmp_path, monkeypatch, arguments, words):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    result = run(*arguments)
    [line] = result.stderr.splitlines()
    assert line.startswith(f"error: {words}")
    assert (result.exit_code, result.stdout) == (2, "")


def test_a_folder_with_nothing_to_read_fails_and_says_why(tmp_path):
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "empty.txt").write_text("")
    result = run("ingest", str(tmp_path / "none"), "--embedder", "scripted")
    assert result.exit_code == 1
    assert result.stdout.startswith("skipped    empty.txt  empty\n1 skipped; 0 passages")
    asked = run(
        "ask", "Why?", "--path", str(tmp_path / "none"), "--embedder", "scripted", "--system", "extractive"
    )
    assert asked.exit_code == 2
    assert asked.stderr.splitlines()[-1] == "error: there is nothing to search in none; empty.txt: empty"


# ---------------------------------------------------------------- asking


def test_ask_reads_the_documents_and_cites_them(folder, monkeypatch):
    model = scripted_table({"": "It brews four minutes [1]."})
    monkeypatch.setenv("PROVIDER", model)
    command = ("ask", "How long does black tea brew?", "--path", str(folder), "--system", "vanilla")
    result = run(*command, "--embedder", "scripted")
    assert result.exit_code == 0, result.output
    first, blank, status, text = result.stdout.splitlines()[:4]
    assert first == (
        f"vanilla with model {model}, embedder scripted (a stand-in that counts shared words), 3 passages of teas "
        f"in Qdrant (memory): PROVIDER={model}"
    )
    assert (blank, status, text) == ("", "ANSWERED from passages", "It brews four minutes.")
    assert result.stderr.startswith("teas: 2 indexed, 1 skipped; 3 passages, 3 texts embedded, ")
    found = json.loads(run(*command, "--embedder", "scripted", "--json").stdout)
    assert found["ran"]["corpus"] == "teas"
    assert found["citations"][0].startswith(("black.pdf#", "green.md#"))


def test_ask_takes_several_paths(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("PROVIDER", scripted_table({"": "Yes [1]."}))
    (tmp_path / "cocoa.txt").write_text("Hot cocoa needs milk.")
    command = ["ask", "Does cocoa need milk?", "--system", "vanilla", "--embedder", "scripted", "--json"]
    found = json.loads(run(*command, "--path", str(folder), "--path", str(tmp_path / "cocoa.txt")).stdout)
    assert found["contexts"][0]["chunk_id"] == "cocoa.txt#0"
    assert found["ran"]["corpus"] == "cocoa.txt and 1 more"


def in_a_process(
    *arguments: str, seconds: float = 60, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cookbook.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        env=os.environ | environment,
    )


def test_two_at_once_both_get_their_answer(folder):
    command = ("ask", "How long does green tea brew?", "--path", str(folder), "--system", "extractive")
    command += ("--embedder", "scripted", "--json")
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: in_a_process(*command), range(2)))
    assert [each.returncode for each in done] == [0, 0], [each.stderr for each in done]
    assert {json.loads(each.stdout)["ran"]["passages"] for each in done} == {3}


SLOW_NAMES = """
import socket, time

def nothing_answers(*args, **kwargs):
    time.sleep(120)
    raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

socket.getaddrinfo = socket.gethostbyname = nothing_answers
"""


def test_no_name_server_is_asked(folder, tmp_path):
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "sitecustomize.py").write_text(SLOW_NAMES)
    command = ("ask", "How long does green tea brew?", "--path", str(FOLDER), "--embedder", "scripted")
    done = in_a_process(*command, "--system", "extractive", PYTHONPATH=str(tmp_path / "slow"))
    assert done.returncode == 0, done.stderr
