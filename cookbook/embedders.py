"""From texts to vectors: the embedders, the fingerprint that tells their vectors apart, and choosing one by name.

Every embedder returns unit vectors rounded to 16-bit floats first, because that is what recordings
keep: a live run, a recording and a replay then rank alike. A text that is longer than the model
reads is an error, not a vector of its beginning.
Taught in notebooks/02_chunks_to_store.ipynb.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cookbook.errors import CallError, ConfigError
from cookbook.lexical import term_id, terms
from cookbook.providers.models import MODELS, weights_path

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


class WordTokenizer:
    """Words and punctuation marks, for embedders whose own tokenizer is not here. Counts are estimates."""

    name = "words"

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


# ---------------------------------------------------------------- the embedders


class MiniLM:
    """all-MiniLM-L6-v2 on the CPU, from the fetched folder, without a look at the network.

    WeightsError when the weights are not here. English, 384 numbers, 254 tokens.
    """

    NAME = "all-minilm-l6-v2"
    FINGERPRINT = Fingerprint(NAME, MODELS[NAME].sha256, prefix="", normalised=True, max_tokens=254, dim=384)

    def __init__(self) -> None:
        self._folder = weights_path(self.NAME)
        self.fingerprint = self.FINGERPRINT

    @cached_property
    def tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer as Fast

        fast = Fast.from_file(str(self._folder / "tokenizer.json"))
        fast.no_truncation()  # the file asks for a cut at 128 tokens
        fast.no_padding()
        return _FastTokenizer(self.NAME, fast)

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        return SentenceTransformer(str(self._folder), device="cpu", local_files_only=True)

    def embed(self, texts: Sequence[str]) -> Vectors:
        require_texts(texts)
        require_fit(texts, self.fingerprint, self.tokenizer)
        if not texts:
            return np.empty((0, self.fingerprint.dim), np.float32)
        return settle(self._model.encode(list(texts), show_progress_bar=False), texts, self.NAME)

    def describe(self) -> str:
        return f"embedder {self.NAME} (English; weights {self.fingerprint.revision[:8]}…)"


@dataclass
class _FastTokenizer:
    name: str
    fast: Any

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return list(self.fast.encode(text, add_special_tokens=False).offsets)


class LiteLLMEmbedder:
    """A hosted or served embedding model by its litellm id, such as ``openai/text-embedding-3-small``."""

    BATCH = 64  # texts per request; no provider allows fewer
    TIMEOUT = 60.0  # seconds per request

    def __init__(self, model: str) -> None:
        self.model = model
        self.tokenizer: Tokenizer = WordTokenizer()

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """Known after one request: providers do not say beforehand how long their vectors are."""
        dim = self._request(["dimension"]).shape[1]
        return Fingerprint(self.model, "hosted", prefix="", normalised=True, max_tokens=None, dim=dim)

    def embed(self, texts: Sequence[str]) -> Vectors:
        require_texts(texts)
        if not texts:
            return np.empty((0, self.fingerprint.dim), np.float32)
        starts = range(0, len(texts), self.BATCH)
        return np.concatenate([self._request(texts[i : i + self.BATCH]) for i in starts])

    def _request(self, texts: Sequence[str]) -> Vectors:
        from cookbook.providers import gateway
        from cookbook.providers.names import resolve

        return settle(gateway.embed(resolve(self.model), texts, timeout=self.TIMEOUT), texts, self.model)

    def describe(self) -> str:
        return f"embedder {self.model}"


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


# ---------------------------------------------------------------- by name


def get_embedder(name: str | None = None) -> Embedder:
    """An embedder by name: ``replay``, ``all-minilm-l6-v2``, ``scripted``, or a litellm id.

    None takes the recordings when PROVIDER is replay or scripted, which need no weights, else MiniLM.
    While COOKBOOK_RECORD_EMBEDDINGS (or COOKBOOK_RECORD) names a file, what a live embedder gives is
    recorded there.
    """
    from cookbook.recorded_embeddings import RecordedEmbedder, RecordingEmbedder

    makers: dict[str, Callable[[], Embedder]] = {
        "replay": RecordedEmbedder,
        MiniLM.NAME: MiniLM,
        "scripted": HashEmbedder,
    }
    if name is None:
        without_weights = os.environ.get("PROVIDER", "").startswith(("replay", "scripted"))
        name = "replay" if without_weights else MiniLM.NAME
    if name not in makers and "/" not in name:
        raise ConfigError(
            f"unknown embedder {name!r}; use {', '.join(makers)}, or a litellm id such as openai/text-embedding-3-small"
        )
    embedder = makers[name]() if name in makers else LiteLLMEmbedder(name)
    stem = os.environ.get("COOKBOOK_RECORD_EMBEDDINGS") or os.environ.get("COOKBOOK_RECORD")
    if stem and name not in ("replay", "scripted"):
        return RecordingEmbedder(embedder, stem)
    return embedder
