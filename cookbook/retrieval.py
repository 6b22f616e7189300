"""From a corpus name to a retriever: documents, chunks, vectors and an index, put together in one place.

Taught in notebooks/02_chunks_to_store.ipynb.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, get_args

from cookbook.chunkers import CHUNKERS
from cookbook.corpora import load_corpus
from cookbook.embedders import Embedder, get_embedder
from cookbook.errors import ConfigError
from cookbook.providers.meter import open_meters
from cookbook.schema import Chunk, Document, Hit
from cookbook.stores import Filters, QdrantBackend

Mode = Literal["dense", "bm25", "hybrid"]


class Retriever:
    """Finds the chunks for a query: by meaning (``dense``), by words (``bm25``), or by both fused (``hybrid``).

    ``filters``, as in QdrantBackend, narrow every search and win over those of a call, so that no system
    can forget a tenant. Raises FingerprintMismatch when the store was not written with this embedder.
    """

    def __init__(
        self,
        store: QdrantBackend,
        embedder: Embedder,
        mode: str = "dense",
        *,
        label: str = "",
        filters: Filters | None = None,
    ) -> None:
        if mode not in get_args(Mode):
            raise ConfigError(f"unknown retrieval mode {mode!r}; use {', '.join(get_args(Mode))}")
        store.expect(embedder.fingerprint)
        self.store, self.embedder, self.mode = store, embedder, mode
        self.filters = dict(filters or {})
        self._label = label or store.name

    def variant(self, *, mode: str | None = None, filters: Filters | None = None) -> Retriever:
        """The same index, searched in another ``mode`` or narrowed by further ``filters``."""
        return Retriever(
            self.store,
            self.embedder,
            mode or self.mode,
            label=self._label,
            filters={**(filters or {}), **self.filters},
        )

    def retrieve(
        self, query: str, k: int = 5, *, exclude: Sequence[str] = (), filters: Filters | None = None
    ) -> list[Hit]:
        """The best ``k`` chunks, best first; fewer when fewer match. Every hit says what its score means.

        ``exclude`` are chunk ids already seen; neither they nor what ``filters`` leave out take up a
        rank. Charges one embedding request to the open meters, none in bm25 mode.
        """
        filters = {**(filters or {}), **self.filters}
        if not query.strip():
            raise ConfigError("the query is empty; there is nothing to search for")
        if self.mode == "bm25":
            return self.store.search_text(query, k, filters=filters, exclude=exclude)
        for meter in open_meters():
            meter.add_embedding()
        vector = self.embedder.embed([query])[0]
        if self.mode == "dense":
            return self.store.search(vector, k, filters=filters, exclude=exclude)
        return self.store.search_hybrid(vector, query, k, filters=filters, exclude=exclude)

    def describe(self) -> str:
        """One line: what is searched, how many chunks, which embedder, where they lie, and how."""
        parts = (self._label, f"{self.store.count()} chunks", self.embedder.describe(), self.store.where)
        only = " ".join(f"{name}={value}" for name, value in self.filters.items())
        return "; ".join((*parts, f"{self.mode} search" + (f", only {only}" if only else "")))


def open_retriever(
    corpus: str = "larkspur",
    *,
    chunker: str | Callable[..., list[Chunk]] = "markdown_sections",
    embedder: str | Embedder | None = None,
    mode: str = "dense",
    path: Path | str | None = None,
) -> Retriever:
    """Load a corpus, chunk it to what the embedder reads, index what is new, and give a retriever over it.

    ``chunker`` is a name in CHUNKERS or a function like those; ``embedder`` a name for get_embedder
    or an embedder. The index is in memory, or in the folder ``path`` where it is found again.
    """
    found = get_embedder(embedder) if isinstance(embedder, str | None) else embedder
    chunks = cut(load_corpus(corpus), chunker, found)
    name = chunker if isinstance(chunker, str) else getattr(chunker, "__name__", "own-chunker")
    # One collection per way of cutting and embedding, so that two retrievers on one server do not undo each other.
    collection = re.sub(r"[^\w.-]+", "-", f"{corpus}-{name}-{found.fingerprint.name}")
    store = QdrantBackend(collection, found.fingerprint.dim, path=path)
    store.index(chunks, found)
    return Retriever(store, found, mode, label=f"corpus {corpus} in {name}")


def cut(
    documents: Sequence[Document], chunker: str | Callable[..., list[Chunk]], embedder: Embedder
) -> list[Chunk]:
    """Chunk documents for an embedder: counted by its tokenizer, none longer than it reads."""
    if isinstance(chunker, str):
        if chunker not in CHUNKERS:
            raise ConfigError(f"unknown chunker {chunker!r}; use {', '.join(CHUNKERS)}, or pass a function")
        chunker = CHUNKERS[chunker]
    limit, tokenizer = embedder.fingerprint.max_tokens, embedder.tokenizer
    accepted = inspect.signature(chunker).parameters
    if "max_tokens" not in accepted:  # its size is the reader's choice; embed() refuses what is too long
        return chunker(documents, tokenizer=tokenizer) if "tokenizer" in accepted else chunker(documents)
    return chunker(documents, tokenizer=tokenizer, max_tokens=limit) if limit else chunker(documents)
