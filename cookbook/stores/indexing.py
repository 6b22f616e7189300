"""What to write and what to delete so that a collection holds exactly the chunks given, decided before anything is touched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cookbook.errors import ConfigError
from cookbook.schema import Chunk
from cookbook.stores.points import has_content, point_id, to_payload


@dataclass(frozen=True)
class IndexReport:
    """What one ``index`` call did.

    ``embedded`` texts went to the embedder. Of the chunks, ``unchanged`` kept their id and text,
    ``replaced`` kept their id and got another text, ``deleted`` are gone, and ``blank`` were dropped.
    """

    embedded: int
    unchanged: int
    replaced: int
    deleted: int
    blank: int

    def __str__(self) -> str:
        return ", ".join(f"{count} {name}" for name, count in vars(self).items())


@dataclass(frozen=True)
class IndexPlan:
    """``write`` chunks, reuse the vectors of ``moved`` (text -> point that has it now), ``delete`` points."""

    write: list[Chunk]
    moved: dict[str, str]
    delete: list[str]
    report: IndexReport


def plan_index(chunks: Sequence[Chunk], stored: Mapping[str, Mapping[str, Any]]) -> IndexPlan:
    """Compare ``chunks`` with the payloads ``stored`` (by point id). ConfigError for a chunk id used twice."""
    full = [chunk for chunk in chunks if has_content(chunk.text)]
    wanted = {point_id(chunk.chunk_id): chunk for chunk in full}
    if len(wanted) < len(full):
        raise ConfigError("two chunks have the same chunk_id; ids must be unique within a collection")
    write = {i: chunk for i, chunk in wanted.items() if stored.get(i) != to_payload(chunk)}
    held = {payload["text"]: i for i, payload in stored.items()}
    texts = {chunk.text for chunk in write.values()}
    kept = wanted.keys() & stored.keys()
    replaced = sum(stored[i]["text"] != wanted[i].text for i in kept)
    delete = sorted(stored.keys() - wanted.keys())
    report = IndexReport(
        embedded=len(texts - held.keys()),
        unchanged=len(kept) - replaced,
        replaced=replaced,
        deleted=len(delete),
        blank=len(chunks) - len(full),
    )
    return IndexPlan(list(write.values()), {t: i for t, i in held.items() if t in texts}, delete, report)
