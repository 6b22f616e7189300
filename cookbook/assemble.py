"""From names to parts: the one place where a corpus, an embedder and a model are put together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from cookbook.corpora import load_card
from cookbook.embedders import Embedder, get_embedder
from cookbook.ingest import Report, card_of, ingest, open_documents
from cookbook.providers import LLMClient
from cookbook.retrieval import Retriever, open_retriever
from cookbook.systems.base import Parts


@lru_cache(maxsize=8)
def _retriever(corpus: str, embedder: str | None, mode: str) -> Retriever:
    # An index in memory takes about a second to build; notebooks ask for the same one many times.
    return open_retriever(corpus, embedder=embedder, mode=mode)


def _model(client: LLMClient | None, needed: bool) -> LLMClient | None:
    """The client, else what PROVIDER names, else none. A missing key is said before an index is built."""
    model = client or (LLMClient() if needed else None)
    if model:
        model.require_key()
    return model


def parts_for(
    corpus: str = "larkspur",
    *,
    client: LLMClient | None = None,
    needs_model: bool = True,
    embedder: str | None = None,
    mode: str = "dense",
    k: int = 5,
) -> Parts:
    """Parts over a named corpus; the model is ``client``, else what PROVIDER names, else none if not needed."""
    model = _model(client, needs_model)
    return Parts(model, _retriever(corpus, embedder, mode), load_card(corpus), k)


def parts_for_path(
    path: Path | str | Sequence[Path | str],
    *,
    client: LLMClient | None = None,
    needs_model: bool = True,
    embedder: str | Embedder | None = None,
    mode: str = "dense",
    k: int = 5,
) -> Parts:
    """Parts over own documents, files or folders; their index is brought up to date first.

    Raises ConfigError for a path that is not there, and when nothing under it can be read.
    """
    paths = [path] if isinstance(path, Path | str) else path
    client = _model(client, needs_model)
    found = get_embedder(embedder) if isinstance(embedder, str | None) else embedder
    report = ingest(paths, found)
    return parts_over(report, found, client=client, needs_model=needs_model, mode=mode, k=k)


def parts_over(
    report: Report,
    embedder: Embedder,
    *,
    client: LLMClient | None = None,
    needs_model: bool = True,
    mode: str = "dense",
    k: int = 5,
) -> Parts:
    """Parts over what a run of ``ingest`` with this embedder left in its index."""
    model = _model(client, needs_model)
    return Parts(model, open_documents(report, embedder, mode), card_of(report), k)
