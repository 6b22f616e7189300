"""Small models as files that fit into a repository: weights in 8 bits, a scale for each row, and what stands beside.

A model is three files of one name: ``.safetensors``, ``.vocab.txt`` with a word piece on each line, and ``.json``, its
card.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from cookbook.errors import WeightsError

SCALE = ".scale"
WEIGHTS = Path(__file__).parents[1] / "weights"
"""Where the models are that come with the cookbook."""


def read_card(folder: Path, name: str, command: str) -> dict[str, Any]:
    """How a model was made and what it reached. WeightsError, naming the ``command`` that makes it again."""
    try:
        card: dict[str, Any] = json.loads((folder / f"{name}.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise WeightsError(
            f"the card of {name} cannot be read ({error}); restore it or run: {command}"
        ) from error
    return card


def read_pieces(folder: Path, name: str, command: str) -> list[str]:
    """The word pieces of a model, in the order of their numbers. WeightsError when the file is missing."""
    try:
        return (folder / f"{name}.vocab.txt").read_text("utf-8").rstrip("\n").split("\n")
    except OSError as error:
        raise WeightsError(f"the vocabulary of {name} is missing; restore it or run: {command}") from error


def write_weights(network: Any, path: Path) -> None:
    """Store a network's weights: matrices in 8 bits, vectors in 16. Tied ones are stored once."""
    import torch
    from safetensors.torch import save_file

    stored: dict[str, Any] = {}
    for name, weight in dict(network.named_parameters()).items():
        if weight.dim() < 2:
            stored[name] = weight.detach().to(torch.float16)
            continue
        scale = weight.detach().abs().amax(1, keepdim=True).clamp_min(1e-12) / 127
        stored[name] = (weight.detach() / scale).round().to(torch.int8)
        stored[name + SCALE] = scale
    save_file({name: tensor.contiguous() for name, tensor in stored.items()}, path)


def read_weights(network: Any, path: Path) -> str:
    """Load them into a network of the same shape; gives the SHA-256 of the file.

    WeightsError when the file is missing, damaged or of another network.
    """
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        data = path.read_bytes()
        stored = load(data)
        with torch.no_grad():
            for name, weight in network.named_parameters():
                weight.copy_(stored[name].float() * stored.get(name + SCALE, torch.ones(1)))
    except (OSError, SafetensorError, KeyError, RuntimeError) as error:
        raise WeightsError(
            f"{path.name} is missing or damaged ({type(error).__name__}); make it again"
        ) from error
    return hashlib.sha256(data).hexdigest()
