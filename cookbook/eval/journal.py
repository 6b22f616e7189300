"""Answers of a live run on the disk, so that a run which was broken off is not paid for twice.

Recordings keep single replies and are committed; a journal keeps whole answers, with the time and the money
they took, and lies in the user cache. A failed answer is not kept: the next run asks again.
Anything that can change an answer is in the name of its file, so that no stale one is taken for a new one.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from cookbook import paths
from cookbook.errors import ConfigError
from cookbook.eval.lines import append_line, whole_lines
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
        """The journal of a setting: whatever can change an answer, to which the package itself is added, and the
        addresses of the providers."""
        name = f"{eval_set}-{system}-{digest(*setting, _package(), *_addresses())[:12]}.jsonl"
        return cls(paths.cache_dir() / "runs" / name)

    def read(self) -> dict[str, Answer]:
        """What is kept, by question, without a last line that a crash has torn; ConfigError for a line that was
        spoilt later."""
        from pydantic import ValidationError

        if not self.path.exists():
            return {}
        try:
            answers = [_adapter().validate_json(line) for line in whole_lines(self.path)]
        except (ValidationError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"{self.path} is damaged; remove the file, and what it kept is asked again"
            ) from error
        return {answer.question: answer for answer in answers}

    def add(self, answer: Answer) -> None:
        """Keep an answer, on the disk itself when this returns; a failed one is passed over."""
        if answer.status is Status.FAILED:
            return
        with self._lock:
            append_line(self.path, _adapter().dump_json(answer).decode())


def digest(*texts: str) -> str:
    """SHA-256 over the digests of the texts, so that no two lists of texts have the same."""
    each = (hashlib.sha256(text.encode()).digest() for text in texts)
    return hashlib.sha256(b"".join(each)).hexdigest()


@cache
def _package() -> str:
    """The digest of the package's source and weights: another prompt or another critic is another setting."""
    root = Path(__file__).parents[1]
    files = sorted([*root.rglob("*.py"), *(root / "weights").iterdir()])
    return digest(*(hashlib.sha256(file.read_bytes()).hexdigest() for file in files))


def _addresses() -> list[str]:
    """Where hosted models are asked, if not where their names say: OPENAI_API_BASE and its like."""
    return sorted(f"{k}={v}" for k, v in os.environ.items() if k.endswith(("_API_BASE", "_BASE_URL")))


@cache
def _adapter() -> TypeAdapter[Answer]:
    from pydantic import TypeAdapter

    return TypeAdapter(Answer)
