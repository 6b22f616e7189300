"""Which files under the given paths are to be read, and what is passed over and why. Nothing is opened here.

Links are not followed: what they lead to inside the folder is found anyway, a loop has no end, and a
link out of it would bring in files that nobody named. Name the target to include it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cookbook import paths as places
from cookbook.errors import ConfigError

#: The largest file that is read, in bytes. Hours of embedding are not begun unasked.
MAX_BYTES = 20_000_000
CARD = "corpus.toml"
_GENERATED = {"__pycache__", "node_modules"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")

Stamp = tuple[int, int, int]
"""Size in bytes, time of the last writing, time of the last change of the file's entry (both in ns)."""


@dataclass(frozen=True)
class Found:
    """A file to read. ``doc_id`` is its path below the folder, with ``/``, fit to be printed and stored."""

    doc_id: str
    path: Path
    stamp: Stamp


@dataclass(frozen=True)
class Passed:
    """What is not read, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Listing:
    files: list[Found]
    passed: list[Passed]


def resolved(paths: Sequence[Path | str]) -> tuple[Path, ...]:
    """The paths without links and repeats, sorted. Raises ConfigError for one that is not there."""
    if not paths:
        raise ConfigError("name a file or a folder to read")
    found = set()
    for path in map(Path, paths):
        try:
            found.add(path.expanduser().resolve(strict=True))
        except (OSError, RuntimeError) as error:  # RuntimeError: a link that leads to itself
            raise ConfigError(
                f"cannot open {path}: {_said(error)}; name a file or a folder that is there"
            ) from error
    return tuple(sorted(found))


def base_of(roots: Sequence[Path]) -> Path:
    """The folder that doc_ids are relative to: the one folder given, else what all paths have in common."""
    if len(roots) == 1 and roots[0].is_dir():
        return roots[0]
    try:
        return Path(os.path.commonpath([root.parent for root in roots]))
    except ValueError as error:
        raise ConfigError("the paths lie on different drives; give those of one drive at a time") from error


def find(roots: Sequence[Path], *, hidden: bool = False, max_bytes: int = MAX_BYTES) -> Listing:
    """The files under ``roots`` (from ``resolved``) in a fixed order, each once.

    ``hidden`` includes names that begin with a dot. A file above ``max_bytes`` is passed over.
    """
    base, listing = base_of(roots), Listing([], [])
    card = base / CARD if base in roots else None
    taken: dict[str, Path] = {}
    seen: set[Path] = set()  # a file may be named and lie in a folder that is named too
    for path in (each for root in roots for each in _walk(root, hidden, base, listing.passed)):
        name = _name(path, base)
        if taken.setdefault(name, path) != path:
            listing.passed.append(Passed(name, "its name reads like that of another file; rename it"))
        elif path not in seen and path != card:
            seen.add(path)
            try:
                entry = path.lstat()
            except OSError as error:
                listing.passed.append(Passed(name, f"cannot be looked at: {_said(error)}"))
                continue
            if why := _unfit(entry, max_bytes):
                listing.passed.append(Passed(name, why))
            else:
                stamp = entry.st_size, entry.st_mtime_ns, entry.st_ctime_ns
                listing.files.append(Found(name, path, stamp))
    return listing


def _walk(root: Path, hidden: bool, base: Path, passed: list[Passed]) -> Iterator[Path]:
    """Every entry below ``root`` that is no folder, depth first by name; what is left out goes to ``passed``."""
    if not root.is_dir():
        yield root
        return
    own_cache = places.cache_dir().resolve()
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            passed.append(Passed(_name(folder, base) + "/", f"cannot be opened: {_said(error)}"))
            continue
        inner = []
        for entry in listed:
            path, is_folder = Path(entry.path), entry.is_dir(follow_symlinks=False)
            if entry.name.startswith(".") and not hidden:
                passed.append(Passed(_name(path, base) + "/" * is_folder, "hidden (--hidden includes it)"))
            elif is_folder and (entry.name in _GENERATED or path == own_cache):
                passed.append(Passed(_name(path, base) + "/", "made by a program, not written"))
            elif is_folder:
                inner.append(path)
            else:
                yield path
        waiting += reversed(inner)


def _unfit(entry: os.stat_result, max_bytes: int) -> str:
    """Why an entry is not to be opened; empty for a regular file of a fair size."""
    if stat.S_ISLNK(entry.st_mode):
        return "a link, which is not followed; name its target to include it"
    if not stat.S_ISREG(entry.st_mode):
        return "not a regular file"
    if entry.st_size > max_bytes:
        size = f"{entry.st_size / 1e6:,.0f} MB, and {max_bytes / 1e6:,.0f} MB is the limit"
        return f"too large: {size}; split it or raise --max-mb"
    return ""


def _name(path: Path, base: Path) -> str:
    """A path below ``base`` as printable text: bytes that are no UTF-8 and control characters are escaped."""
    text = os.fsencode(path.relative_to(base).as_posix()).decode("utf-8", "backslashreplace")
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def _said(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or type(error).__name__
