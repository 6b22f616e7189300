"""One labelled pair for the critic: what is asked of a text and a passage, and what may be answered."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

Task = Literal["relevance", "support"]
Label = Literal["relevant", "irrelevant", "supported", "contradicted", "not_stated", "unsupported"]

OUTCOMES: dict[Label, tuple[str, ...]] = {
    "relevant": ("relevant",),
    "irrelevant": ("irrelevant",),
    "supported": ("supported",),
    "contradicted": ("contradicted",),
    "not_stated": ("not_stated",),
    "unsupported": ("contradicted", "not_stated"),
}
"""What a label allows: a program that swaps a name cannot say whether the result is denied or just not said."""


@dataclass(frozen=True)
class Pair:
    """``text`` is a question or a claim. ``kind`` says which rule made the pair, ``source`` from what."""

    task: Task
    text: str
    passage: str
    label: Label
    kind: str
    source: str

    @property
    def held_out(self) -> bool:
        """True for a tenth of the sources, whole: for calibration, and to see what training has taught."""
        return int(hashlib.sha256(self.source.encode()).hexdigest(), 16) % 10 == 0
