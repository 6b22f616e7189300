"""Field cases of own documents and the command line: a folder as somebody's computer holds it."""

from __future__ import annotations

import json
import os

import pytest
from own_documents import scanned_pdf
from typer.testing import CliRunner

from cookbook.cli import app
from cookbook.embedders import HashEmbedder
from cookbook.ingest import ingest, open_documents


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "documents"
    folder.mkdir()
    for n in range(3):
        (folder / f"note{n}.txt").write_text(f"Short note number {n}.")
    (folder / "long.md").write_text(
        "".join(f"# Part {n}\n\n{'Words about the garden. ' * 60}\n\n" for n in range(20))
    )
    (folder / "table.csv").write_text("plot,fee\n1,45\n2,38\n")
    (folder / "scan.pdf").write_bytes(scanned_pdf())
    (folder / "page.html").write_text(
        "<html><body><nav>Menu</nav><h1>Open day</h1><p>In May.</p></body></html>"
    )
    (folder / ".hidden").write_text("not for you")
    (folder / "loop").symlink_to(folder)
    return folder


def test_field_case_X06_every_file_is_indexed_or_skipped_with_a_reason(folder):
    result = CliRunner().invoke(app, ["ingest", str(folder), "--embedder", "scripted", "--json"])
    assert result.exit_code == 0
    files = {file["name"]: file for file in json.loads(result.stdout)["files"]}
    indexed = {name for name, file in files.items() if file["state"] == "indexed"}
    assert indexed == {"note0.txt", "note1.txt", "note2.txt", "long.md", "table.csv", "page.html"}
    skipped = {name: file["why"] for name, file in files.items() if file["state"] == "skipped"}
    assert {name.rstrip("/") for name in skipped} == {"scan.pdf", ".hidden", "loop"}
    assert all(skipped.values())
    assert [files[f"note{n}.txt"]["passages"] for n in range(3)] == [1, 1, 1]
    assert files["long.md"]["passages"] >= 20


def test_field_case_X06_thousands_of_tiny_documents_are_one_passage_each_and_answer_at_once(folder):
    tweets = folder / "tweets"
    tweets.mkdir()
    for n in range(500):
        (tweets / f"{n:04}.txt").write_text(f"tweet {n} the harvest of plot{n} was better than last year")
    embedder = HashEmbedder()
    report = ingest([tweets], embedder)
    assert (report.count("indexed"), report.passages, report.embedded) == (500, 500, 500)
    (hit, *_) = open_documents(report, embedder, "hybrid").retrieve("harvest of plot321", 3)
    assert os.path.basename(hit.chunk.doc_id) == "0321.txt"
    assert hit.text.startswith("tweet 321 ")
