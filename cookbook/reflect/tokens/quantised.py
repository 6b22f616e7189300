"""Weights in 8 bits, so that a model fits into a repository: a scale for each row, whole numbers from -127 to 127."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from cookbook.errors import WeightsError

SCALE = ".scale"


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
