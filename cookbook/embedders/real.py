"""The embedders that compute: MiniLM on this machine, and any embedding model that litellm knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cookbook.embedders.base import Fingerprint, Vectors, require_fit, require_texts, settle
from cookbook.embedders.standins import WordTokenizer
from cookbook.errors import CallError
from cookbook.providers.models import MODELS, unloadable, weights_path

if TYPE_CHECKING:
    from cookbook.chunkers import Tokenizer


class MiniLM:
    """all-MiniLM-L6-v2 on the CPU, from the fetched folder, without a look at the network.

    WeightsError when the weights are not here or cannot be loaded. English, 384 numbers, 254 tokens.
    """

    NAME = "all-minilm-l6-v2"
    FINGERPRINT = Fingerprint(NAME, MODELS[NAME].sha256, prefix="", normalised=True, max_tokens=254, dim=384)

    def __init__(self) -> None:
        self._folder = weights_path(self.NAME)
        self.fingerprint = self.FINGERPRINT

    @cached_property
    def tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer as Fast

        try:
            fast = Fast.from_file(str(self._folder / "tokenizer.json"))
        except Exception as error:  # the library has no narrower class for a file that it cannot read
            raise unloadable(self.NAME) from error
        fast.no_truncation()  # the file asks for a cut at 128 tokens
        fast.no_padding()
        return _FastTokenizer(self.NAME, fast)

    @cached_property
    def _model(self) -> Any:
        from safetensors import SafetensorError
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            return SentenceTransformer(str(self._folder), device="cpu", local_files_only=True)
        except (RuntimeError, OSError, ValueError, SafetensorError) as error:
            raise unloadable(self.NAME) from error

    def embed(self, texts: Sequence[str]) -> Vectors:
        require_texts(texts)
        require_fit(texts, self.fingerprint, self.tokenizer)
        if not texts:
            return np.empty((0, self.fingerprint.dim), np.float32)
        vectors = self._model.encode(list(texts), show_progress_bar=False)
        try:
            return settle(vectors, texts, self.NAME)
        except CallError as error:  # sound weights give no zeros and no NaN for any text
            raise unloadable(self.NAME) from error

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
