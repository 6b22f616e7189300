"""The Rust book comes from the data folder or from the network, and only ever as the pinned bytes."""

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path

import pytest

from cookbook import paths, rust_book
from cookbook.corpora import load_corpus, load_rust_book
from cookbook.errors import ConfigError

CHAPTERS = {
    "ch00-00-intro.md": "<!-- old -->\n\n# Introduction\n",
    "ch01-00-start.md": "## Getting **Started**\n",
}


@pytest.fixture
def small_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of two chapters, no data folder; returns the folder in which a data folder would be."""
    card = tmp_path / "corpora" / "rust-book"
    card.mkdir(parents=True)
    rows = [f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in CHAPTERS.items()]
    (card / "SHA256SUMS").write_text("".join(rows), encoding="utf-8")
    (card / "corpus.toml").touch()
    monkeypatch.setattr(paths, "CORPORA", tmp_path / "corpora")
    monkeypatch.setenv("COOKBOOK_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COOKBOOK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # the pauses between tries
    return tmp_path / "data"


def write(folder: Path, chapters: dict[str, str]) -> None:
    folder.mkdir(parents=True)
    for name, text in chapters.items():
        (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def upstream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A server on this machine in place of GitHub; yields the list of paths it was asked for."""
    write(tmp_path / "upstream", CHAPTERS)
    asked: list[str] = []

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            asked.append(self.path)

    server = HTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(tmp_path / "upstream")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(rust_book, "SOURCE", f"http://127.0.0.1:{server.server_port}/")
    yield asked
    server.shutdown()
    server.server_close()


def test_a_data_folder_is_used_and_its_other_files_are_not(small_book: Path) -> None:
    write(small_book / "rust-book", CHAPTERS | {"ch99-00-stray.md": "# Stray\n", "LICENSE-MIT": "MIT"})
    docs = load_rust_book()
    assert [(doc.doc_id, doc.title) for doc in docs] == [
        ("ch00-00-intro.md", "Introduction"),
        ("ch01-00-start.md", "Getting **Started**"),
    ]
    assert {doc.metadata["corpus"] for doc in docs} == {"rust-book"}
    assert load_corpus("rust-book") == docs


@pytest.mark.parametrize("change", [{"ch01-00-start.md": "## Getting **Stopped**\n"}, None])
def test_a_chapter_that_differs_or_is_missing_is_named(
    small_book: Path, change: dict[str, str] | None
) -> None:
    chapters = dict(CHAPTERS)
    if change:
        chapters |= change
    else:
        del chapters["ch01-00-start.md"]
    write(small_book / "rust-book", chapters)
    with pytest.raises(
        ConfigError, match=r"ch01-00-start\.md is missing or is not the file of commit 917544888"
    ):
        load_rust_book()


@pytest.mark.usefixtures("small_book")
def test_without_a_data_folder_the_book_is_downloaded_once(upstream: list[str]) -> None:
    assert [doc.title for doc in load_rust_book()] == ["Introduction", "Getting **Started**"]
    assert upstream == ["/ch00-00-intro.md", "/ch01-00-start.md"]
    load_rust_book()
    assert len(upstream) == 2


@pytest.mark.parametrize("fault", ["wrong bytes", "not found", "no server"])
def test_a_download_that_fails_names_both_ways(
    fault: str, small_book: Path, upstream: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chapter = tmp_path / "upstream" / "ch01-00-start.md"
    if fault == "wrong bytes":
        chapter.write_text("<html>Sign in to this network</html>", encoding="utf-8")
    elif fault == "not found":
        chapter.unlink()
    else:
        monkeypatch.setattr(rust_book, "SOURCE", "http://127.0.0.1:9/")
    with pytest.raises(
        ConfigError, match=r"go online once .* or set COOKBOOK_DATA to a folder that holds rust-book/"
    ):
        load_rust_book()
    assert not (paths.cache_dir() / "rust-book" / rust_book.COMMIT[:9] / "ch01-00-start.md").exists()


def test_the_table_names_101_chapters_in_reading_order() -> None:
    rows = (paths.CORPORA / "rust-book" / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    names = [row.split()[1] for row in rows]
    assert (len(names), names[0], names[-1]) == (
        101,
        "ch00-00-introduction.md",
        "ch21-03-graceful-shutdown-and-cleanup.md",
    )
    assert names == sorted(names)


@pytest.mark.skipif(not (paths.data_dir() / "rust-book").is_dir(), reason="COOKBOOK_DATA holds no rust-book/")
def test_the_real_book_has_a_title_for_every_chapter() -> None:
    titles = {doc.doc_id: doc.title for doc in load_rust_book()}
    assert len(titles) == 101
    assert titles["ch00-00-introduction.md"] == "Introduction"
    assert titles["ch04-01-what-is-ownership.md"] == "What Is Ownership?"
