"""An answer against its gold text: exact match and token F1, as SQuAD counts them, on words and numbers.

Case, punctuation, articles and the way a character is encoded do not count; numbers compare by value.
These measures reward short answers: a full sentence that holds the gold scores low in both. Whether the
facts of a row are stated (:meth:`EvalRow.states`) is the measure for sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from cookbook.eval.sets import EvalRow, words

_ARTICLES = frozenset(("a", "an", "the"))


def golds(row: EvalRow) -> tuple[str, ...]:
    """Every text that counts as the answer of a row: the reference answer and its variants."""
    return (row.answer, *row.variants)


def exact(said: str, gold: Iterable[str]) -> bool:
    """Whether the text equals one of the gold texts, word for word."""
    tokens = _tokens(said)
    return any(tokens == _tokens(text) for text in gold)


def f1(said: str, gold: Iterable[str]) -> float:
    """The best token F1 with one of the gold texts, in [0, 1]; two texts without words are equal."""
    tokens = _tokens(said)
    return max((_f1(tokens, _tokens(text)) for text in gold), default=0.0)


def _f1(said: list[str], gold: list[str]) -> float:
    if not said or not gold:
        return float(said == gold)
    shared = sum((Counter(said) & Counter(gold)).values())
    return 2 * shared / (len(said) + len(gold))


def _tokens(text: str) -> list[str]:
    return [word for word in words(text) if word not in _ARTICLES]
