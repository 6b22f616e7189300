"""The Rust book as a corpus: too large to commit, so it is fetched and every file is checked.

``corpora/rust-book`` holds its card and SHA256SUMS, the table of the 101 chapter files at one commit of
github.com/rust-lang/book (MIT or Apache-2.0). The texts come from the folder of outside data if it has
them, else they are downloaded once into the user cache.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from cookbook import paths
from cookbook.errors import ConfigError

NAME = "rust-book"
COMMIT = "917544888a55e4da7109bdba8c88c893c0da70f4"
SOURCE = f"https://raw.githubusercontent.com/rust-lang/book/{COMMIT}/src/"


def chapter_paths() -> list[Path]:
    """The chapter files in reading order, every one checked; downloads them on the first use.

    Raises ConfigError when a file differs from the table, and when there is neither a folder nor a network.
    """
    table = _table()
    given = paths.data_dir() / NAME
    if given.is_dir():
        for name, sha256 in table.items():
            _check(given / name, sha256)
        return [given / name for name in table]
    return _download(table)


def _table() -> dict[str, str]:
    """File name to SHA-256, in the order of the chapters."""
    rows = (line.split() for line in paths.read_text(paths.CORPORA / NAME / "SHA256SUMS").splitlines())
    return {name: sha256 for sha256, name in rows}


def _check(path: Path, sha256: str) -> None:
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        raise ConfigError(
            f"{path} is missing or is not the file of commit {COMMIT[:9]}; restore it, or remove the folder "
            "and let it be downloaded"
        )


def _download(table: dict[str, str]) -> list[Path]:
    import pooch
    from rich.progress import track

    pooch.get_logger().setLevel("WARNING")  # it would announce each of the 101 files
    folder = paths.cache_dir() / NAME / COMMIT[:9]
    fetcher = pooch.create(folder, SOURCE, registry=table, retry_if_failed=2)
    try:
        names = track(table, "Downloading the Rust book", disable=folder.is_dir())
        return [Path(fetcher.fetch(name)) for name in names]
    except (OSError, ValueError) as error:  # no network or no such file; not the bytes of the table
        raise ConfigError(
            f"the Rust book is not here ({type(error).__name__}): go online once to download it, or set "
            f"COOKBOOK_DATA to a folder that holds {NAME}/ with the chapters of commit {COMMIT[:9]}"
        ) from error
