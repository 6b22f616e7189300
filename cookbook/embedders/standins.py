"""Stand-ins that need no weights: a tokenizer that counts words, and an embedder that counts shared ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cookbook.embedders.base import Fingerprint, Vectors, require_texts, settle
from cookbook.lexical import term_id, terms

if TYPE_CHECKING:
    from cookbook.chunkers import Tokenizer


class WordTokenizer:
    """Words and punctuation marks, for embedders whose own tokenizer is not here. Counts are estimates."""

    name = "words"

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


class HashEmbedder:
    """A stand-in for tests and exact counts, not a model: similarity is the number of shared words."""

    fingerprint = Fingerprint(
        "scripted", "hashed-terms-1", prefix="", normalised=True, max_tokens=None, dim=256
    )

    def __init__(self) -> None:
        self.tokenizer: Tokenizer = WordTokenizer()

    def embed(self, texts: Sequence[str]) -> Vectors:
        require_texts(texts)
        counts = np.zeros((len(texts), self.fingerprint.dim), np.float32)
        for row, text in zip(counts, texts, strict=True):
            for term in terms(text):
                row[term_id(term) % len(row)] += 1
        return settle(counts, texts, "the scripted embedder")

    def describe(self) -> str:
        return "embedder scripted (a stand-in that counts shared words)"
