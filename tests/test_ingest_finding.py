"""Which files under a path are read, in which order, under which names, and why the others are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cookbook.errors import ConfigError
from cookbook.ingest.finding import Listing, base_of, find, resolved


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    return tmp_path / "docs"


def put(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"words of {path.name}", encoding="utf-8")


def look(*paths: Path, **options) -> Listing:
    return find(resolved(paths), **options)


def names(listing: Listing) -> list[str]:
    return [found.doc_id for found in listing.files]


def passed(listing: Listing) -> dict[str, str]:
    return {each.name: each.why for each in listing.passed}


def test_files_come_in_one_order_with_their_path_below_the_folder(folder):
    put(folder, "b.md", "a/2.md", "a/10.md", "a.md", "c/d/e.txt")
    listing = look(folder)
    assert names(listing) == ["a.md", "b.md", "a/10.md", "a/2.md", "c/d/e.txt"]
    assert listing.passed == []
    assert listing.files[0].stamp[0] == len("words of a.md")


def test_hidden_names_are_left_out_until_asked_for(folder):
    put(folder, "a.md", ".notes.md", ".git/config", ".git/objects/x")
    listing = look(folder)
    assert names(listing) == ["a.md"]
    assert passed(listing) == dict.fromkeys([".git/", ".notes.md"], "hidden (--hidden includes it)")
    assert names(look(folder, hidden=True)) == [".notes.md", "a.md", ".git/config", ".git/objects/x"]
    assert names(look(folder / ".notes.md")) == [".notes.md"]  # whoever names it means it
    assert names(look(folder / ".git")) == ["config", "objects/x"]


def test_what_programs_made_is_left_out(folder, monkeypatch):
    put(folder, "a.md", "node_modules/left/pad.js", "__pycache__/a.pyc", "store/index/x.txt")
    monkeypatch.setenv("COOKBOOK_CACHE", str(folder / "store"))
    listing = look(folder)
    assert names(listing) == ["a.md"]
    why = "made by a program, not written"
    assert passed(listing) == dict.fromkeys(["node_modules/", "__pycache__/", "store/"], why)


def test_links_are_named_and_not_followed(folder, tmp_path):
    put(folder, "real.md", "sub/a.md")
    put(tmp_path, "outside/secret.md")
    (folder / "loop").symlink_to(folder)
    (folder / "sub" / "up").symlink_to("..")
    (folder / "again.md").symlink_to("real.md")
    (folder / "out").symlink_to(tmp_path / "outside")
    (folder / "nowhere").symlink_to("gone")
    (folder / "itself").symlink_to("itself")
    listing = look(folder)
    assert names(listing) == ["real.md", "sub/a.md"]
    why = "a link, which is not followed; name its target to include it"
    assert passed(listing) == dict.fromkeys(["again.md", "itself", "loop", "nowhere", "out", "sub/up"], why)


def test_a_link_that_is_named_is_its_target(folder, tmp_path):
    put(folder, "a.md")
    (tmp_path / "link").symlink_to(folder)
    assert resolved([tmp_path / "link"]) == resolved([folder])
    assert names(look(tmp_path / "link")) == ["a.md"]


def test_pipes_and_too_large_files_are_not_opened(folder):
    put(folder, "small.txt")
    os.mkfifo(folder / "pipe")
    with (folder / "big.txt").open("wb") as file:
        file.truncate(21_000_000)  # no byte of it is on the disk
    listing = look(folder)
    assert names(listing) == ["small.txt"]
    assert passed(listing) == {
        "pipe": "not a regular file",
        "big.txt": "too large: 21 MB, and 20 MB is the limit; split it or raise --max-mb",
    }
    assert names(look(folder, max_bytes=21_000_000)) == ["big.txt", "small.txt"]


def test_a_folder_that_cannot_be_opened_is_named(folder, monkeypatch):
    put(folder, "a.md", "private/b.md")
    real = os.scandir

    def scandir(path):
        if Path(path).name == "private":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    listing = look(folder)
    assert names(listing) == ["a.md"]
    assert passed(listing) == {"private/": "cannot be opened: Permission denied"}


@pytest.mark.parametrize(
    ("name", "doc_id"),
    [
        (b"two\nlines.md", r"two\nlines.md"),
        (b"\xff\xfe.md", r"\xff\xfe.md"),
        ("Größe 国際.md".encode(), "Größe 国際.md"),
        (b"\x1b[31mred.md", r"\x1b[31mred.md"),
        (b" ' \" ; $(x) #.md", " ' \" ; $(x) #.md"),
        (b"a" * 250, "a" * 250),
        (b"-rf", "-rf"),
    ],
)  # fmt: skip
def test_odd_names_can_be_printed_and_stored(folder, name, doc_id):
    (folder / os.fsdecode(name)).write_text("words", encoding="utf-8")
    listing = look(folder)
    assert names(listing) == [doc_id]
    assert doc_id.isprintable()
    assert listing.files[0].path.read_text(encoding="utf-8") == "words"


def test_two_names_that_read_alike_are_not_mixed_up(folder):
    for name in (b"\xff.md", rb"\xff.md"):
        (folder / os.fsdecode(name)).write_text("words", encoding="utf-8")
    listing = look(folder)
    assert names(listing) == [r"\xff.md"]
    assert passed(listing) == {r"\xff.md": "its name reads like that of another file; rename it"}


def test_several_paths_are_named_from_what_they_share(folder, tmp_path):
    put(folder, "a.md", "sub/b.md")
    put(tmp_path, "other/a.md", "notes.md")
    listing = look(folder, tmp_path / "other", tmp_path / "notes.md")
    assert names(listing) == ["docs/a.md", "docs/sub/b.md", "notes.md", "other/a.md"]
    assert base_of(resolved([folder / "a.md"])) == folder
    # A file that lies in a folder that is named too is one file.
    assert names(look(folder, folder / "a.md", folder / "sub")) == ["docs/a.md", "docs/sub/b.md"]


def test_the_card_of_a_folder_is_no_document(folder):
    put(folder, "a.md", "corpus.toml", "sub/corpus.toml")
    assert names(look(folder)) == ["a.md", "sub/corpus.toml"]


@pytest.mark.parametrize("name", ["gone.md", "loop"])
def test_a_path_that_is_not_there_is_an_error(folder, name):
    (folder / "loop").symlink_to("loop")
    with pytest.raises(ConfigError, match="name a file or a folder that is there"):
        resolved([folder / name])
    with pytest.raises(ConfigError, match="name a file or a folder to read"):
        resolved([])
