"""From names to parts: the one place where a corpus, an embedder and a model are put together."""

from __future__ import annotations

from functools import lru_cache

from cookbook.corpora import load_card
from cookbook.providers import LLMClient
from cookbook.retrieval import Retriever, open_retriever
from cookbook.systems.base import Parts


@lru_cache(maxsize=8)
def _retriever(corpus: str, embedder: str | None, mode: str) -> Retriever:
    # An index in memory takes about a second to build; notebooks ask for the same one many times.
    return open_retriever(corpus, embedder=embedder, mode=mode)


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
    model = client or (LLMClient() if needs_model else None)
    return Parts(model, _retriever(corpus, embedder, mode), load_card(corpus), k)
