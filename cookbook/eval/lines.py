"""Files that grow by a line for each piece of paid work, so that a run which was killed goes on where it stopped."""

from __future__ import annotations

import os
from pathlib import Path


def whole_lines(path: Path) -> list[str]:
    """The lines that were written to their end; what a crash has left of another one is passed over."""
    whole, newline, _ = path.read_bytes().rpartition(b"\n")
    return [line.decode() for line in whole.split(b"\n")] if newline else []


def append_line(path: Path, line: str) -> None:
    """Append a line, on the disk itself when this returns; what a crash has left of another one is cut off first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as stream:
        stream.seek(0)
        stream.truncate(stream.read().rfind(b"\n") + 1)
        stream.write(line.encode() + b"\n")
        stream.flush()
        os.fsync(stream.fileno())
