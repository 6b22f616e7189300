"""Where else to look: anything that is searched the way a corpus is, and says where its passages come from.

A web search or a knowledge graph becomes a source by one method. What it brings is graded, cited and checked
like any passage; its name stays on each, so that a reader sees that it is not from the corpus.
Taught in notebooks/25_adaptive_loop.ipynb.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from cookbook.schema import Hit


class Source(Protocol):
    """Finds passages for a query, best first; ``exclude`` are chunk ids already seen."""

    def retrieve(self, query: str, k: int = 5, *, exclude: Sequence[str] = ()) -> list[Hit]: ...


class SecondCorpus:
    """Another corpus in the place of the web: the local stand-in for a second source.

    Its chunk ids begin with ``name:``, so that they cannot be taken for those of the first corpus, and
    ``hit.chunk.metadata["source"]`` is the name.
    """

    def __init__(self, source: Source, name: str) -> None:
        self.source, self.name = source, name

    def retrieve(self, query: str, k: int = 5, *, exclude: Sequence[str] = ()) -> list[Hit]:
        mark = f"{self.name}:"
        own = [chunk_id.removeprefix(mark) for chunk_id in exclude if chunk_id.startswith(mark)]
        return [self._marked(hit, mark) for hit in self.source.retrieve(query, k, exclude=own)]

    def _marked(self, hit: Hit, mark: str) -> Hit:
        named = {**hit.chunk.metadata, "source": self.name}
        chunk = replace(
            hit.chunk,
            chunk_id=mark + hit.chunk_id,
            doc_id=mark + hit.chunk.doc_id,
            metadata=named,
        )
        return replace(hit, chunk=chunk)
