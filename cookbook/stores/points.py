"""Between chunks and Qdrant points: ids, payloads, filters, and vectors fit to be stored."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cookbook.errors import ConfigError
from cookbook.schema import Chunk

if TYPE_CHECKING:
    from qdrant_client import models

Filters = Mapping[str, Any]
"""``{"doc_id": "billing.md"}`` or ``{"plan": ["team", "pro"]}``: a list means any of these."""
_OWN_FIELDS = ("doc_id", "chunk_id", "headings")


def point_id(chunk_id: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, chunk_id))


def has_content(text: str) -> bool:
    """At least one letter: rules, zero-width characters and bare page numbers answer nothing."""
    return any(map(str.isalpha, text))


def to_payload(chunk: Chunk) -> dict[str, Any]:
    return {
        "chunk_id": chunk.chunk_id,
        "doc_id": chunk.doc_id,
        "text": chunk.text,
        "start": chunk.start,
        "end": chunk.end,
        "headings": list(chunk.headings),
        "metadata": dict(chunk.metadata),
    }


def to_chunk(payload: Mapping[str, Any]) -> Chunk:
    return Chunk(**{**payload, "headings": tuple(payload["headings"])})


def to_filter(filters: Filters | None, exclude: Sequence[str]) -> models.Filter | None:
    """Conditions on payload fields; names other than doc_id, chunk_id and headings are chunk metadata."""
    from qdrant_client import models

    def match(value: Any) -> models.MatchAny | models.MatchValue:
        values = value if isinstance(value, list | tuple | set) else [value]
        if not all(isinstance(v, str | int) for v in values):
            raise ConfigError(f"filters compare text, whole numbers and booleans; got {value!r}")
        return models.MatchAny(any=list(value)) if values is value else models.MatchValue(value=value)

    must: list[Any] = [
        models.FieldCondition(key=name if name in _OWN_FIELDS else f"metadata.{name}", match=match(value))
        for name, value in (filters or {}).items()
    ]
    excluded: list[Any] = (
        [models.HasIdCondition(has_id=[point_id(chunk_id) for chunk_id in exclude])] if exclude else []
    )
    return models.Filter(must=must, must_not=excluded) if must or excluded else None


def to_vectors(vectors: ArrayLike, rows: int, dim: int) -> NDArray[np.float32]:
    """Vectors as float32 of shape (rows, dim); ConfigError for another shape, for zeros and for NaN."""
    array = np.asarray(vectors, dtype=np.float32)
    if rows == 0 and array.size == 0:
        return np.empty((0, dim), np.float32)
    if array.shape != (rows, dim):
        raise ConfigError(f"vectors have shape {array.shape}, this store needs ({rows}, {dim})")
    if not np.isfinite(array).all() or not array.any(axis=1).all():
        raise ConfigError("a vector is zero or holds NaN and has no direction; check the embedder")
    return array
