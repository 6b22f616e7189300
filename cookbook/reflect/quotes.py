"""Verbatim evidence: which of the quotes that a model gives do stand in a passage?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

FEWEST_WORDS = 2
"""A quote of one word stands in almost any passage and proves nothing."""


def verified_quotes(quotes: Iterable[str], passages: Sequence[str]) -> list[str]:
    """The quotes that stand in one of the passages, in their order, each once.

    White space is not compared, case and punctuation are. A quote of fewer than two words is none.
    """
    held = [_flat(passage) for passage in passages]
    flat = dict.fromkeys(map(_flat, quotes))
    return [
        quote
        for quote in flat
        if len(quote.split()) >= FEWEST_WORDS and any(quote in passage for passage in held)
    ]


def _flat(text: str) -> str:
    return " ".join(text.split())
