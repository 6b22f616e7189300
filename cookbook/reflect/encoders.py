"""Cross-encoders: models that read two texts together. Built once in a process, never truncating.

Their weights come from the hub alone, so they are not in the registry of fetched models: they are found in
``<cache>/models/<last part of the name>``, or in any folder that is given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cookbook import paths
from cookbook.errors import ConfigError, WeightsError
from cookbook.schema import ScoreKind

RELEVANCE_MODEL = "cross-encoder/ms-marco-MiniLM-L-6-v2"
NLI_MODEL = "cross-encoder/nli-deberta-v3-base"

_building = Lock()
_built: dict[Path, PairEncoder] = {}
_constructions: Counter[Path] = Counter()


class PairEncoder:
    """A loaded cross-encoder. ``labels`` are its outputs in the order of the columns, as its config names them."""

    kind = ScoreKind.CROSS_ENCODER

    def __init__(self, name: str, model: Any) -> None:
        self.name, self._model = name, model
        self._tokenizer = model.tokenizer
        # A passage that writes "[SEP]" must not be read as the border between the two texts.
        self._tokenizer.split_special_tokens = True
        id2label = model.config.id2label
        self.labels = tuple(str(id2label[n]) for n in range(len(id2label)))
        # Some tokenizers claim a length without end; the model's own positions are the limit then.
        positions = getattr(model.config, "max_position_embeddings", None) or self._tokenizer.model_max_length
        self.max_tokens = int(min(positions, self._tokenizer.model_max_length))

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """The character span of each token, special tokens left out."""
        return [tuple(span) for span in self._encode(text, return_offsets_mapping=True)["offset_mapping"]]

    def room(self, text: str) -> int:
        """How many tokens may stand beside ``text`` in a pair."""
        special = self._tokenizer.num_special_tokens_to_add(pair=True)
        return int(self.max_tokens - special - len(self.offsets(text)))

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Shape (len(pairs), len(labels)), raw; ConfigError for a pair that the model would read in part."""
        import torch

        for left, right in pairs:
            if (over := len(self.offsets(left)) - self.room(right)) > 0:
                raise ConfigError(
                    f"a pair is {over} tokens longer than the {self.max_tokens} that {self.name} reads; cut shorter passages"
                )
        if not pairs:
            return np.empty((0, len(self.labels)), np.float32)
        raw = self._model.predict(
            list(pairs), activation_fn=torch.nn.Identity(), show_progress_bar=False, convert_to_numpy=True
        )
        return np.asarray(raw, np.float32).reshape(len(pairs), len(self.labels))

    def scores(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """The logits of a relevance model, shape (len(pairs),); ConfigError for a model of several labels."""
        if len(self.labels) != 1:
            raise ConfigError(
                f"{self.name} gives {', '.join(self.labels)}, not one score; use {RELEVANCE_MODEL}"
            )
        return self.logits(pairs)[:, 0]

    def _encode(self, text: str, **options: Any) -> Any:
        return self._tokenizer(text, add_special_tokens=False, verbose=False, **options)


def load_cross_encoder(name_or_path: str | Path) -> PairEncoder:
    """The model of a hub name or a folder, built on the first call and shared by all later ones.

    WeightsError when the weights are not on this machine or cannot be loaded; nothing is downloaded.
    """
    folder = _folder(name_or_path)
    with _building:
        if folder not in _built:
            _built[folder] = PairEncoder(str(name_or_path), _construct(str(name_or_path), folder))
            _constructions[folder] += 1
        return _built[folder]


def constructions(name_or_path: str | Path) -> int:
    """How often this process has built the model: 1 at most, however many judges use it."""
    return _constructions[_folder(name_or_path)]


def _folder(name_or_path: str | Path) -> Path:
    given = Path(name_or_path).expanduser()
    return given.resolve() if given.is_dir() else paths.cache_dir() / "models" / given.name


def _construct(name: str, folder: Path) -> Any:
    if not (folder / "config.json").is_file():
        raise WeightsError(
            f"the weights of {name} are not on this machine; run: hf download {name} --local-dir {folder}"
        )
    try:
        from sentence_transformers import CrossEncoder
    except ImportError:
        raise ConfigError(
            "cross-encoders need sentence-transformers; run: pip install 'reflective-rag-cookbook[local]'"
        ) from None
    from safetensors import SafetensorError
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return CrossEncoder(str(folder), device="cpu", local_files_only=True)
    except (RuntimeError, OSError, ValueError, KeyError, SafetensorError) as error:
        raise WeightsError(
            f"the weights in {folder} cannot be loaded ({str(error).splitlines()[0]}); download them again"
        ) from error
