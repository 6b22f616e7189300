"""What every embedder holds to: the fingerprint that tells vectors apart, and the checks of texts and vectors.

Vectors are unit vectors rounded to 16-bit floats first, because that is what recordings keep: a
live run, a recording and a replay then rank alike. A text that is longer than the model reads is
an error, not a vector of its beginning.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cookbook.errors import CallError, ConfigError

if TYPE_CHECKING:
    from cookbook.chunkers import Tokenizer

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Fingerprint:
    """Everything that makes vectors comparable: two embedders with equal fingerprints share a space.

    ``revision`` names the weights, ``prefix`` is what is put before each text. ``max_tokens`` are
    the tokens of a text that the model reads, special tokens not counted; None when nobody knows.
    """

    name: str
    revision: str
    prefix: str
    normalised: bool
    max_tokens: int | None
    dim: int

    @property
    def key(self) -> str:
        """Short and stable, such as ``all-minilm-l6-v2:5f0c2a9b1d3e``."""
        canonical = json.dumps(asdict(self), sort_keys=True).encode()
        return f"{self.name}:{hashlib.sha256(canonical).hexdigest()[:12]}"


class Embedder(Protocol):
    """Texts to vectors. ``tokenizer`` counts as the model does, so that chunkers cut to fit."""

    @property
    def fingerprint(self) -> Fingerprint: ...

    @property
    def tokenizer(self) -> Tokenizer: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dim), float32, rows of unit length in the order of the texts."""
        ...

    def describe(self) -> str:
        """One line for the reader: which embedder this is and where its vectors come from."""
        ...


# ---------------------------------------------------------------- what all of them hold to


def settle(vectors: ArrayLike, texts: Sequence[str], source: str) -> Vectors:
    """Unit vectors on the 16-bit grid; CallError for a wrong number of them, for zeros and for NaN."""
    array = np.asarray(vectors, dtype=np.float32)
    if array.ndim != 2 or len(array) != len(texts):
        raise CallError(f"{source} gave vectors of shape {array.shape} for {len(texts)} texts; try again")
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    if bad := [text for text, length in zip(texts, lengths[:, 0], strict=True) if not 0 < length < np.inf]:
        raise CallError(f"{source} gave a vector of zeros or NaN for {start_of(bad[0])}; leave the text out")
    rounded = (array / lengths).astype(np.float16).astype(np.float32)
    return np.asarray(rounded / np.linalg.norm(rounded, axis=1, keepdims=True), dtype=np.float32)


def require_texts(texts: Sequence[str]) -> None:
    """ConfigError for a bare string and for a blank text."""
    if isinstance(texts, str):
        raise ConfigError("embed() takes a list of texts; put the text in brackets")
    for n, text in enumerate(texts):
        if not text.strip():
            raise ConfigError(f"text {n} is blank, it has no meaning to embed; leave it out")


def require_fit(texts: Sequence[str], fingerprint: Fingerprint, tokenizer: Tokenizer) -> None:
    """ConfigError when a text has more tokens than the model reads: it would be cut without a word."""
    limit = fingerprint.max_tokens
    if limit is None:
        return
    for n, text in enumerate(texts):
        if (count := len(tokenizer.offsets(text))) > limit:
            raise ConfigError(
                f"text {n} ({start_of(text)}) has {count} tokens and {fingerprint.name} reads {limit}; "
                f"chunk with max_tokens={limit}, tokenizer=embedder.tokenizer"
            )


def start_of(text: str) -> str:
    """The first words of a text, quoted, for messages."""
    line = " ".join(text.split())
    return repr(line if len(line) <= 50 else line[:49] + "…")
