"""Answers of a live run on the disk, so that a run which was broken off is not paid for twice.

Recordings keep single replies and are committed; a journal keeps whole answers, with the time and the money
they took, and lies in the user cache. A failed answer is not kept: the next run asks again.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from cookbook import paths
from cookbook.schema import Answer, Status

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class Journal:
    """The answers of one system in one setting, one JSON object a line, by question."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()

    @classmethod
    def named(cls, eval_set: str, system: str, *setting: str) -> Journal:
        """The journal of a setting: whatever can change an answer, to which the code itself is added."""
        name = f"{eval_set}-{system}-{digest(*setting, _code())[:12]}.jsonl"
        return cls(paths.cache_dir() / "runs" / name)

    def read(self) -> dict[str, Answer]:
        """What is kept, by question. A last line that a crash has torn is cut off."""
        if not self.path.exists():
            return {}
        whole, newline, torn = self.path.read_bytes().rpartition(b"\n")
        if torn:
            os.truncate(self.path, len(whole + newline))
        answers = [_adapter().validate_json(line) for line in whole.splitlines()]
        return {answer.question: answer for answer in answers}

    def add(self, answer: Answer) -> None:
        """Keep an answer, on the disk itself when this returns; a failed one is passed over."""
        if answer.status is Status.FAILED:
            return
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as stream:
                stream.write(_adapter().dump_json(answer) + b"\n")
                stream.flush()
                os.fsync(stream.fileno())


def digest(*texts: str) -> str:
    """SHA-256 over the digests of the texts, so that no two lists of texts have the same."""
    each = (hashlib.sha256(text.encode()).digest() for text in texts)
    return hashlib.sha256(b"".join(each)).hexdigest()


@cache
def _code() -> str:
    """The digest of the package's own source: another prompt or another loop is another setting."""
    modules = sorted(Path(__file__).parents[1].rglob("*.py"))
    return digest(*(module.read_text(encoding="utf-8") for module in modules))


@cache
def _adapter() -> TypeAdapter[Answer]:
    from pydantic import TypeAdapter

    return TypeAdapter(Answer)
