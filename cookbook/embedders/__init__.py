"""From texts to vectors: the embedders, and choosing one by name.

``base`` holds what all of them promise, ``real`` computes, ``recorded`` plays back and records,
``standins`` needs nothing and means little.
Taught in notebooks/02_chunks_to_store.ipynb.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from cookbook.embedders.base import Embedder, Fingerprint, Vectors, require_fit, settle
from cookbook.embedders.real import LiteLLMEmbedder, MiniLM
from cookbook.embedders.recorded import RecordedEmbedder, RecordingEmbedder
from cookbook.embedders.standins import HashEmbedder, WordTokenizer
from cookbook.errors import ConfigError

__all__ = [
    "Embedder",
    "Fingerprint",
    "HashEmbedder",
    "LiteLLMEmbedder",
    "MiniLM",
    "RecordedEmbedder",
    "RecordingEmbedder",
    "Vectors",
    "WordTokenizer",
    "get_embedder",
    "require_fit",
    "settle",
]


MAKERS: dict[str, Callable[[], Embedder]] = {
    "replay": RecordedEmbedder,
    MiniLM.NAME: MiniLM,
    "scripted": HashEmbedder,
}
"""The embedders that have a name of their own; any other name is a litellm id."""


def get_embedder(name: str | None = None) -> Embedder:
    """An embedder by name: ``replay``, ``all-minilm-l6-v2``, ``scripted``, or a litellm id.

    None takes the recordings when PROVIDER is replay or scripted, which need no weights, else MiniLM.
    While COOKBOOK_RECORD_EMBEDDINGS (or COOKBOOK_RECORD) names a file, what a live embedder gives is
    recorded there.
    """
    if name is None:
        without_weights = os.environ.get("PROVIDER", "").startswith(("replay", "scripted"))
        name = "replay" if without_weights else MiniLM.NAME
    if name not in MAKERS and "/" not in name:
        raise ConfigError(
            f"unknown embedder {name!r}; use {', '.join(MAKERS)}, or a litellm id such as openai/text-embedding-3-small"
        )
    embedder = MAKERS[name]() if name in MAKERS else LiteLLMEmbedder(name)
    stem = os.environ.get("COOKBOOK_RECORD_EMBEDDINGS") or os.environ.get("COOKBOOK_RECORD")
    if stem and name not in ("replay", "scripted"):
        return RecordingEmbedder(embedder, stem)
    return embedder
