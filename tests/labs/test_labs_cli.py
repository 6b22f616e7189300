"""``cookbook labs`` as it is typed: the list, a check of the learner's file, and the progress it keeps."""

import json
import os

import nbformat.v4 as v4
import pytest
from typer.testing import CliRunner

from cookbook import notebooks
from cookbook.cli import app
from cookbook.labs import all_labs
from cookbook.labs.kit import build, pages, progress, submission

SLUG = "substring_verdicts"
SOLVED = """
def read_verdict(reply):
    words = " ".join(reply.replace("_", " ").split()).strip(' *."').lower()
    return {"relevant": True, "yes": True, "not relevant": False, "irrelevant": False, "no": False}.get(words)
"""
NOT_YET = "def read_verdict(reply):\n    return 'relevant' in reply.lower()\n"


def run(*arguments):
    return CliRunner().invoke(app, ("labs", *map(str, arguments)))


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """A clone of its own for the progress; nothing is written into the real one."""
    monkeypatch.setattr(progress, "ROOT", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


@pytest.fixture
def file(tmp_path):
    def write(text, name="mine.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_the_list():
    rows = json.loads(run("--json").stdout)
    assert [row["slug"] for row in rows] == [lab.slug for lab in all_labs()]
    assert rows[0] == {
        "slug": SLUG,
        "title": "The judge says no, the code hears yes",
        "family": "40_verdicts",
        "difficulty": 1,
        "minutes": 15,
        "done": False,
    }
    result = run()
    assert SLUG in result.stdout
    assert result.stderr == f"0 of {len(rows)} done; cookbook labs check SLUG looks at yours\n"


def test_a_file_that_passes_is_remembered(file, home):
    result = run("check", SLUG, "--file", file(SOLVED))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith(f"PASSED {SLUG}\n")
    assert list(json.loads((home / ".cookbook" / "progress.json").read_text(encoding="utf-8"))) == [SLUG]
    assert [row["slug"] for row in json.loads(run("--json").stdout) if row["done"]] == [SLUG]
    # What was done stays done, whatever is tried afterwards.
    assert run("check", SLUG, "--file", file(NOT_YET)).exit_code == 1
    assert list(progress.done()) == [SLUG]


def test_a_file_that_does_not_pass(file, home):
    result = run("check", SLUG, "--file", file(NOT_YET))
    assert (result.exit_code, result.stderr) == (1, "")
    assert result.stdout.startswith(f"NOT YET {SLUG}: yes_by_substring\n")
    assert not (home / ".cookbook").exists()
    found = json.loads(run("check", SLUG, "--file", file(NOT_YET), "--json").stdout)
    assert (found["lab"], found["passed"], found["diagnosis"]) == (SLUG, False, "yes_by_substring")


def test_an_error_names_the_line_of_the_file(file):
    path = file("def read_verdict(reply):\n    table = {}\n    return table[reply]\n")
    assert "at line 3, `return table[reply]`" in run("check", SLUG, "--file", path, "--json").stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def read_verdict(reply:\n", "mine.py, line 1: "),
        ("raise ValueError('no\\nway')\n", "mine.py fails when it is imported (ValueError: no way)"),
        ("import sys; sys.exit(1)\n", "mine.py fails when it is imported (SystemExit: 1)"),
        (
            "def verdict(reply): ...\n",
            f"mine.py does not define read_verdict; write it as in the stub of {SLUG}",
        ),
        ("while True: pass\n", "mine.py does not come to an end"),
    ],
)
def test_a_bad_file_is_one_clear_line(file, text, said, monkeypatch):
    monkeypatch.setattr(submission, "TIME_LIMIT", 0.2)
    result = run("check", SLUG, "--file", file(text))
    assert (result.exit_code, result.stdout) == (2, "")
    [line] = result.stderr.splitlines()
    assert said in line


def test_a_file_that_is_not_there(home):
    result = run("check", SLUG, "--file", home / "gone.py")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert "gone.py" in result.stderr


def test_an_unknown_lab():
    result = run("check", "no_such_lab")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "there is no lab 'no_such_lab'; see: cookbook labs" in result.stderr


def notebook(*sources):
    return v4.new_notebook(cells=[v4.new_code_cell(source) for source in sources])


def test_of_a_notebook_the_last_definition_counts_and_nothing_else_runs(home):
    path = home / "mine.ipynb"
    notebooks.write(notebook("!pip install x", NOT_YET, "1 / 0", SOLVED, "read_verdict('yes')"), path)
    assert run("check", SLUG, "--file", path).exit_code == 0
    notebooks.write(notebook("1 + 1"), path)
    assert "no cell of mine.ipynb defines read_verdict" in run("check", SLUG, "--file", path).stderr
    notebooks.write(notebook("def read_verdict(reply:\n"), path)
    assert "mine.ipynb, line 1" in run("check", SLUG, "--file", path).stderr


@pytest.mark.parametrize("line", ["read_verdict = mine", "read_verdict, other = mine, None"])
def test_of_a_notebook_an_assignment_is_a_definition_too(home, line):
    path = home / "mine.ipynb"
    assigned = f"{SOLVED.replace('read_verdict', 'mine', 1)}\n{line}"
    notebooks.write(notebook(NOT_YET, assigned), path)
    assert run("check", SLUG, "--file", path).exit_code == 0


def test_without_a_file_it_is_the_learners_notebook(monkeypatch, home):
    monkeypatch.setattr(build, "LEARNER", home)
    notebooks.write(notebook(SOLVED), home / "40_verdicts.ipynb")
    assert run("check", SLUG).stdout.startswith("PASSED")


def test_progress_that_cannot_be_read_says_what_to_do(home):
    (home / ".cookbook").mkdir()
    for text in ("{", "[]"):
        (home / ".cookbook" / "progress.json").write_text(text, encoding="utf-8")
        result = run()
        assert result.exit_code == 2
        assert "delete it and check your labs again" in result.stderr


def test_progress_is_replaced_as_a_whole(home, monkeypatch):
    progress.mark_done("a")

    def fails(source, target):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="disk full"):
        progress.mark_done("b")
    assert list(progress.done()) == ["a"]
    assert list((home / ".cookbook").glob("*.tmp")) == []


def test_progress_of_an_installed_package_lies_in_the_cache(home, monkeypatch):
    (home / "pyproject.toml").unlink()
    monkeypatch.setenv("COOKBOOK_CACHE", str(home / "cache"))
    assert progress.progress_file() == home / "cache" / "progress.json"


def test_build_writes_both_copies_and_the_pages(monkeypatch, home):
    ran = []
    monkeypatch.setattr(notebooks, "execute", lambda notebook, path, **_: ran.append(path.name))
    written = {}
    monkeypatch.setattr(
        notebooks, "write", lambda notebook, path: written.update({path.parent.name: notebook})
    )
    monkeypatch.setattr(pages, "write", lambda: iter(()))
    result = run("build", "40_verdicts", "--json")
    assert json.loads(result.stdout) == ["labs/40_verdicts.ipynb", "solutions/40_verdicts.ipynb"]
    assert ran == ["40_verdicts.ipynb"] * 2
    text = {folder: "\n".join(cell.source for cell in book.cells) for folder, book in written.items()}
    assert "### BEGIN SOLUTION" in text["solutions"]
    assert "verdict.require()" in text["solutions"]
    assert "### BEGIN SOLUTION" not in text["labs"]
    assert "raise NotImplementedError()" in text["labs"]
    assert "no family is called '99_none'" in run("build", "99_none").stderr
