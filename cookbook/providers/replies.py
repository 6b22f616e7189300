"""Calls and replies on disk, one JSON object a line: the store behind the recordings and the exact cache.

Append-only and readable in any editor. Opening it reads the keys only (an entry is parsed when it
is asked for), a torn last line is dropped, and two processes can append at the same time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import RLock
from typing import Any

from cookbook.errors import ConfigError

_PREFIX = b'{"key":"'
_KEY = slice(len(_PREFIX), len(_PREFIX) + 64)


class ReplyStore:
    """All ``*.jsonl`` files of a folder as one mapping from key to entry; the first entry of a key counts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._where: dict[str, tuple[Path, int, int]] = {}  # key -> file, offset, length
        self._read: dict[Path, int] = {}  # file -> bytes indexed so far
        self._lock = RLock()
        self._index()

    def __len__(self) -> int:
        return len(self._where)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Every entry, in the order of files and lines."""
        for key in list(self._where):
            yield self._load(key)

    def get(self, key: str) -> dict[str, Any] | None:
        """The entry of a call's key, also when another process wrote it meanwhile; None if there is none."""
        with self._lock:
            if key not in self._where:
                self._index()
            return self._load(key) if key in self._where else None

    def append(self, stem: str, entry: Mapping[str, Any]) -> None:
        """Write an entry to ``<stem>.jsonl`` and to the disk itself, unless its key is there already."""
        from filelock import FileLock

        line = json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        if not line.startswith(_PREFIX):
            raise ValueError("an entry begins with its key")
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{stem}.jsonl"
        with self._lock, FileLock(self.folder / f".{stem}.lock"):
            if self.get(entry["key"]) is not None:
                return
            with path.open("ab") as stream:
                stream.truncate(self._read.get(path, 0))  # cuts off a line torn by a crash
                stream.write(line)
                stream.flush()
                os.fsync(stream.fileno())
            self._index()

    def _index(self) -> None:
        """Read the lines that were not there before; files only grow."""
        for path in sorted(self.folder.glob("*.jsonl")):
            start = self._read.get(path, 0)
            if path.stat().st_size == start:
                continue
            with path.open("rb") as stream:
                stream.seek(start)
                fresh = stream.read()
            begin = 0
            while (end := fresh.find(b"\n", begin)) >= 0:
                line = fresh[begin:end]
                if not line.startswith(_PREFIX):
                    raise ConfigError(f"{path.name} holds a line that is no recorded reply: {line[:60]!r}")
                self._where.setdefault(line[_KEY].decode(), (path, start + begin, end - begin))
                begin = end + 1
            self._read[path] = start + begin

    def _load(self, key: str) -> dict[str, Any]:
        path, offset, length = self._where[key]
        with path.open("rb") as stream:
            stream.seek(offset)
            entry: dict[str, Any] = json.loads(stream.read(length))
        return entry
