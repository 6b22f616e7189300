"""One index through its life: filled, run again, edited, shrunk, killed, fought over, on a full disk."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from own_documents import FOLDER, pdf, scanned_pdf

from cookbook import assemble, paths
from cookbook.embedders import HashEmbedder, RecordedEmbedder, RecordingEmbedder
from cookbook.errors import CallError, ConfigError, StoreError
from cookbook.ingest import FileReport, Report, index_folder, ingest, run
from cookbook.ingest.index import held, open_index
from cookbook.ingest.run import CHUNKER

BATCH = 8


class Counting(HashEmbedder):
    """The scripted embedder, remembering what it was given; ``limit`` texts and it fails."""

    def __init__(self, limit: int = 10**9) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.limit = limit

    def embed(self, texts):
        if len(self.texts) + len(texts) > self.limit:
            raise CallError("the embedder is down")
        self.texts += texts
        return super().embed(texts)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(run, "BATCH", BATCH)
    (tmp_path / "docs").mkdir()
    return tmp_path / "docs"


def put(folder: Path, **texts: str) -> None:
    """Files with these texts, written a minute ago."""
    for stem, text in texts.items():
        path = folder / f"{stem}.md"
        path.write_text(text, encoding="utf-8")
        before = time.time() - 60
        os.utime(path, (before, before))


def states(report: Report) -> dict[str, str]:
    return {file.name: file.state for file in report.files}


def passages(folder: Path) -> dict[str, list[str]]:
    """The texts in the index by file, as a reader of the index finds them."""
    with open_index(index_folder((folder,), HashEmbedder.fingerprint, CHUNKER)) as index:
        chunks, vectors = index.chunks()
    for chunk, vector in zip(chunks, vectors, strict=True):
        assert np.array_equal(
            vector, HashEmbedder().embed([chunk.text])[0]
        )  # whatever happened, a vector is that of its text
    found: dict[str, list[str]] = {}
    for chunk in chunks:
        found.setdefault(chunk.doc_id, []).append(chunk.text)
    return found


# ---------------------------------------------------------------- one run, and the next


def test_a_report_for_every_file(folder):
    put(folder, tea="# Tea\n\nGreen tea brews.\n\n## Black\n\nBlack tea brews longer.", blank=" \n")
    (folder / "scan.pdf").write_bytes(scanned_pdf())
    (folder / "plan.pdf").write_bytes(pdf([["First things"], ["Last things"]]))
    (folder / ".hidden").write_text("words")
    report = ingest([folder], HashEmbedder())
    scan = "a PDF of 1 page, a scan: pictures of pages without a text layer; run OCR over it first"
    assert report.files == [
        FileReport(".hidden", "skipped", why="hidden (--hidden includes it)"),
        FileReport("blank.md", "skipped", why="empty"),
        FileReport("plan.pdf", "indexed", 2, "PDF", "2 pages"),
        FileReport("scan.pdf", "skipped", why=scan),
        FileReport("tea.md", "indexed", 2, "Markdown"),
    ]
    assert (report.passages, report.embedded) == (4, 4)
    assert str(report).startswith("2 indexed, 3 skipped; 4 passages, 4 texts embedded, ")
    assert report.folder.parent == paths.cache_dir() / "indexes"
    assert report.folder.name.startswith("docs-")


def test_unchanged_files_are_not_opened_and_nothing_is_embedded(folder, monkeypatch):
    put(folder, tea="Green tea", coffee="Black coffee", blank="\n")
    ingest([folder], Counting())
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"opened {path}"))
    embedder = Counting()
    report = ingest([folder], embedder)
    assert states(report) == {"tea.md": "unchanged", "coffee.md": "unchanged", "blank.md": "skipped"}
    assert next(file for file in report.files if file.name == "blank.md").why == "empty"
    assert (embedder.texts, report.embedded, report.passages) == ([], 0, 2)


def test_a_touched_file_is_read_and_found_to_be_the_same(folder, monkeypatch):
    put(folder, tea="Green tea")
    ingest([folder], Counting())
    os.utime(folder / "tea.md", (1, 1))
    embedder = Counting()
    assert states(ingest([folder], embedder)) == {"tea.md": "unchanged"}
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"opened {path}"))
    assert states(ingest([folder], embedder)) == {"tea.md": "unchanged"}
    assert embedder.texts == []


def test_a_change_in_the_moment_of_reading_is_not_missed(folder):
    (folder / "tea.md").write_text("Green tea")
    ingest([folder], Counting())
    stamp = (folder / "tea.md").stat()
    (folder / "tea.md").write_text("Black tea")  # of the same length
    os.utime(folder / "tea.md", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert states(ingest([folder], Counting())) == {"tea.md": "indexed"}
    assert passages(folder) == {"tea.md": ["Black tea"]}


def test_edited_files_are_replaced_and_deleted_ones_removed(folder):
    put(folder, tea="Green tea", coffee="Black coffee\n\n# Milk\n\nWith milk", water="Water")
    ingest([folder], Counting())
    put(folder, coffee="Black coffee", cocoa="Hot cocoa")
    (folder / "water.md").unlink()
    embedder = Counting()
    report = ingest([folder], embedder)
    assert states(report) == {
        "tea.md": "unchanged",
        "coffee.md": "indexed",
        "cocoa.md": "indexed",
        "water.md": "removed",
    }
    assert embedder.texts == ["Hot cocoa"]  # the passage that stayed keeps its vector
    assert passages(folder) == {
        "tea.md": ["Green tea"],
        "coffee.md": ["Black coffee"],
        "cocoa.md": ["Hot cocoa"],
    }
    with sqlite3.connect(report.folder / "index.sqlite") as database:
        assert database.execute("select count(*) from vectors").fetchone() == (3,)


def test_a_file_that_was_moved_or_copied_is_not_embedded_again(folder):
    put(folder, tea="Green tea")
    ingest([folder], Counting())
    (folder / "tea.md").rename(folder / "leaves.md")
    put(folder, copy="Green tea")
    embedder = Counting()
    assert states(ingest([folder], embedder)) == {
        "leaves.md": "indexed",
        "copy.md": "indexed",
        "tea.md": "removed",
    }
    assert embedder.texts == []
    assert passages(folder) == {"copy.md": ["Green tea"], "leaves.md": ["Green tea"]}


def test_what_can_no_longer_be_read_is_forgotten_and_said(folder, monkeypatch):
    put(folder, tea="Green tea", coffee="Black coffee")
    ingest([folder], Counting())
    os.utime(folder / "tea.md", (1, 1))
    real = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        if path.name == "tea.md":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    report = ingest([folder], Counting())
    tea = FileReport("tea.md", "skipped", why="cannot be opened: Permission denied")
    assert report.files == [FileReport("coffee.md", "unchanged", 1, "Markdown"), tea]
    assert passages(folder) == {"coffee.md": ["Black coffee"]}
    monkeypatch.undo()
    monkeypatch.setenv("COOKBOOK_CACHE", str(folder.parent / "cache"))
    assert states(ingest([folder], Counting())) == {"tea.md": "indexed", "coffee.md": "unchanged"}


def test_a_missing_library_is_not_remembered(folder, monkeypatch):
    (folder / "plan.pdf").write_bytes(pdf([["First things"]]))
    monkeypatch.setitem(sys.modules, "pypdf", None)
    report = ingest([folder], HashEmbedder())
    assert report.files[0].why == "reading it needs pypdf: pip install 'reflective-rag-cookbook[documents]'"
    with pytest.raises(
        ConfigError, match=r"nothing to search in docs; plan.pdf: reading it needs pypdf: pip install"
    ):
        assemble.parts_over(report, HashEmbedder(), needs_model=False)
    monkeypatch.delitem(sys.modules, "pypdf")
    assert states(ingest([folder], HashEmbedder())) == {"plan.pdf": "indexed"}


def test_passages_without_a_word_are_dropped_and_counted(folder):
    put(folder, numbers="# Words\n\nHere.\n\n# 17\n\n18")
    [file] = ingest([folder], HashEmbedder()).files
    assert (file.passages, file.note) == (1, "1 passage without a word left out")


def test_another_embedder_is_another_index(folder):
    class Other(Counting):
        fingerprint = replace(HashEmbedder.fingerprint, revision="hashed-terms-2")

    put(folder, tea="Green tea")
    first, second = ingest([folder], Counting()), ingest([folder], Other())
    assert first.folder != second.folder
    assert states(second) == {"tea.md": "indexed"}
    assert states(ingest([folder], Counting())) == {"tea.md": "unchanged"}
    with open_index(first.folder) as index:
        assert index.about()["embedder"] == HashEmbedder.fingerprint.key
        assert json.loads(index.about()["paths"]) == [str(folder)]


def test_tiny_files_are_embedded_many_at_a_time(folder):
    for n in range(20):
        (folder / f"{n}.txt").write_text(f"note {n} says ten words about the number {n} here")
    embedder = Counting()
    calls = []
    real, embedder.embed = embedder.embed, lambda texts: calls.append(len(texts)) or real(texts)
    report = ingest([folder], embedder)
    assert (report.count("indexed"), report.passages) == (20, 20)
    assert calls == [4] * 5  # a file and its passage count for one each, and eight make a batch


def test_a_recording_sees_every_text_though_the_index_has_it(folder, monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path / "recordings")
    put(folder, a="Green tea")
    ingest([folder], Counting())
    recording = RecordingEmbedder(Counting(), "teas")
    assert states(ingest([folder], recording)) == {"a.md": "indexed"}
    assert states(ingest([folder], recording)) == {"a.md": "unchanged"}
    replayed = RecordedEmbedder(HashEmbedder.fingerprint)
    assert replayed.embed(["Green tea"]).shape == (1, 256)
    assert replayed.tokenizer.offsets("Green tea") == [(0, 5), (6, 9)]


def test_progress_is_told_file_by_file(folder):
    put(folder, a="Green tea", b="Black tea")
    told = []
    ingest([folder], HashEmbedder(), progress=lambda *step: told.append(step))
    assert told[-1] == (2, 2, "b.md")
    assert {total for _, total, _ in told} == {2}


def test_a_folder_of_every_format(monkeypatch, tmp_path):
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "cache"))
    report = ingest([FOLDER], HashEmbedder())
    assert {file.format for file in report.files if file.state == "indexed"} == {
        "CSV", "HTML", "Markdown", "PDF", "Word", "notebook", "python code", "text",
    }  # fmt: skip
    assert {file.name for file in report.files if file.why} == {
        ".draft.md",
        "notes-empty.txt",
        "old-lease.pdf",
    }


# ---------------------------------------------------------------- when it goes wrong in the middle


def test_an_embedder_that_fails_loses_nothing_that_was_done(folder):
    for n in range(3 * BATCH):
        (folder / f"{n:04}.txt").write_text(f"note {n}")
    with pytest.raises(CallError, match="the embedder is down"):
        ingest([folder], Counting(limit=BATCH))
    embedder = Counting()
    report = ingest([folder], embedder)
    assert (report.passages, report.count("unchanged")) == (3 * BATCH, BATCH)
    assert len(embedder.texts) == 2 * BATCH


KILLED = """
import os, signal, sys
from pathlib import Path
from cookbook.embedders import HashEmbedder, RecordedEmbedder, RecordingEmbedder
from cookbook.ingest import ingest, run

run.BATCH = 8

class Deadly(HashEmbedder):
    left = 3
    def embed(self, texts):
        Deadly.left -= 1
        if not Deadly.left:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed(texts)

ingest([Path(sys.argv[1])], Deadly())
"""


def killed_while_reading(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder)], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_a_run_that_is_killed_is_resumed(folder):
    for n in range(20):
        (folder / f"{n:02}.txt").write_text(f"note {n}")
    killed_while_reading(folder)
    embedder = Counting()
    report = ingest([folder], embedder)
    assert (report.count("unchanged"), report.count("indexed")) == (8, 12)  # two batches were written
    assert len(embedder.texts) == 12
    assert passages(folder) == {f"{n:02}.txt": [f"note {n}"] for n in range(20)}


def test_a_long_file_that_is_killed_halfway_keeps_its_vectors(folder):
    put(folder, long="\n\n".join(f"# Part {n}\n\nwords {n}" for n in range(4 * BATCH)))
    killed_while_reading(folder)
    assert passages(folder) == {}  # half a file is not searched
    embedder = Counting()
    assert ingest([folder], embedder).passages == 4 * BATCH
    assert len(embedder.texts) == 2 * BATCH


def test_a_full_disk_says_so_and_the_next_run_goes_on(folder, monkeypatch):
    put(folder, tea="Green tea")
    report = ingest([folder], Counting())
    for n in range(2 * BATCH):
        (folder / f"{n:04}.txt").write_text(f"note {n} " * 2000)
    real = sqlite3.connect

    def small(*args, **options):
        connection = real(*args, **options)
        connection.execute("pragma max_page_count = 20")  # SQLite's own way to have no more room
        return connection

    monkeypatch.setattr(sqlite3, "connect", small)
    with pytest.raises(StoreError) as caught:
        ingest([folder], Counting())
    assert str(caught.value) == (
        f"the disk that holds {report.folder.parent} is full; free some space and run it again, it goes on "
        "where it stopped"
    )
    monkeypatch.setattr(sqlite3, "connect", real)
    assert passages(folder)["tea.md"] == ["Green tea"]
    report = ingest([folder], Counting())
    assert report.count("unchanged") + report.count("indexed") == 2 * BATCH + 1


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device"), "is full; free some space and run it again"),
        (
            OSError(30, "Read-only file system"),
            "(Read-only file system); set COOKBOOK_CACHE to a folder you can",
        ),
        (
            PermissionError(13, "Permission denied"),
            "(Permission denied); set COOKBOOK_CACHE to a folder you can",
        ),
    ],
)
def test_a_cache_that_cannot_be_written_says_what_to_do(folder, monkeypatch, error, words):
    put(folder, tea="Green tea")

    def mkdir(path, *args, **options):
        raise error

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with pytest.raises(StoreError) as caught:
        ingest([folder], Counting())
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_damaged_index_says_what_to_do(folder):
    put(folder, tea="Green tea")
    report = ingest([folder], Counting())
    (report.folder / "index.sqlite").write_bytes(b"not a database, " * 1000)
    with pytest.raises(StoreError) as caught:
        ingest([folder], Counting())
    assert str(caught.value) == (
        f"the index at {report.folder} is damaged (file is not a database); delete the folder and run it again"
    )


HOLDING = """
import sys, time
from pathlib import Path
from cookbook.ingest.index import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_process_learns_who_holds_the_index(folder):
    put(folder, tea="Green tea")
    report = ingest([folder], Counting())
    other = subprocess.Popen([sys.executable, "-c", HOLDING, str(report.folder)], stdout=subprocess.PIPE)
    try:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(StoreError) as caught:
            ingest([folder], Counting(), wait=0.1)
        said = str(caught.value)
        assert said.startswith(
            f"the index at {report.folder} is being written by another process (process {other.pid}, "
        )
        assert said.endswith("; wait until it is done, or stop it: what it has written is kept")
    finally:
        other.kill()
        other.communicate()
    # The lock dies with its holder.
    assert states(ingest([folder], Counting(), wait=5)) == {"tea.md": "unchanged"}


def test_an_index_can_be_searched_while_it_is_written(folder):
    put(folder, tea="Green tea")
    report = ingest([folder], Counting())
    with held(report.folder):
        assert passages(folder) == {"tea.md": ["Green tea"]}
