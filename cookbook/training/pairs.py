"""Labelled pairs for the critic: made from our own texts by program, thousands of them, the same from the same seed.

What is asked is either relevance (does this passage answer exactly this question?) or support (does this passage state
this claim, deny it, or neither?). An edited sentence looks edited, so every edit is made on both sides: the edited claim
is contradicted by the passage as it was, and supported by the passage with the same edit. A model that only looks for the
traces of an edit then gains nothing. Sources: ``from_corpora.py`` for texts, ``from_world.py`` for the encyclopaedia that never was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from cookbook.training import from_corpora, from_world
from cookbook.training.pair import Pair


def make_pairs(seed: int = 0, *, size: float = 1.0) -> list[Pair]:
    """All pairs, each once, shuffled. ``size`` scales how many are drawn: 1.0 gives about 30,000."""
    rng = Random(seed)
    pairs = [*from_corpora.pairs(rng, size), *from_world.pairs(rng, size)]
    unique = list({(pair.text, pair.passage): pair for pair in pairs}.values())
    rng.shuffle(unique)
    return unique


def split(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """The pairs to train on, and those held out."""
    return [p for p in pairs if not p.held_out], [p for p in pairs if p.held_out]


def counts(pairs: Sequence[Pair]) -> dict[str, int]:
    """How many pairs each label has, and how many each rule made: for a card and for a look."""
    found = Counter(pair.label for pair in pairs) + Counter(f"{p.task}: {p.kind}" for p in pairs)
    return dict(sorted(found.items()))


def show(pairs: Sequence[Pair], kinds: Sequence[str]) -> Iterator[Pair]:
    """The first pair of each kind, in the order of ``kinds``."""
    for kind in kinds:
        yield next(pair for pair in pairs if pair.kind == kind)
