"""An answer against its gold text: exact match and token F1, as SQuAD counts them, on words and numbers.

Case, punctuation, articles and the way a character is encoded do not count, unless there is nothing else to
compare, as with the gold text "A"; two texts that are numbers compare by value, sign and unit alone.
These measures reward short answers: a full sentence that holds the gold scores low in both. Whether the
facts of a row are stated (:meth:`EvalRow.states`) is the measure for sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from operator import eq

from cookbook.eval.sets import EvalRow, words
from cookbook.reflect.numbers import Quantity, numbers_in

_ARTICLES = frozenset(("a", "an", "the"))


def golds(row: EvalRow) -> tuple[str, ...]:
    """Every text that counts as the answer of a row: the reference answer and its variants."""
    return (row.answer, *row.variants)


def exact(said: str, gold: Iterable[str]) -> bool:
    """Whether the text equals one of the gold texts, word for word, or is the same number."""
    return any(_same(said, text) for text in gold)


def f1(said: str, gold: Iterable[str]) -> float:
    """The best token F1 with one of the gold texts, in [0, 1]; two blank texts are equal."""
    return max((_f1(said, text) for text in gold), default=0.0)


def _same(said: str, gold: str) -> bool:
    equal = _equal_numbers(said, gold)
    return eq(*_tokens(said, gold)) if equal is None else equal


def _f1(text: str, other: str) -> float:
    if (equal := _equal_numbers(text, other)) is not None:
        return float(equal)
    said, gold = _tokens(text, other)
    if not said or not gold:
        return float(said == gold)
    shared = sum((Counter(said) & Counter(gold)).values())
    return 2 * shared / (len(said) + len(gold))


def _equal_numbers(text: str, other: str) -> bool | None:
    """Whether two numbers are the same: "72 hours" and "3 days". None unless both texts are a number and nothing
    besides."""
    one, two = _number(text), _number(other)
    if one is None or two is None:
        return None
    if not one.equals(two):
        return False
    # A noun that is counted may be left out ("5" for "5 guests"), but not be another one.
    return one.measured or one.unit == two.unit or not (one.unit and two.unit)


def _number(text: str) -> Quantity | None:
    """The number that the text is, when no word can be left out of it without changing it."""
    tokens = text.split()
    found = numbers_in(text)
    if len(found) != 1 or len(tokens) > 4:
        return None
    shorter = (" ".join(tokens[:n] + tokens[n + 1 :]) for n in range(len(tokens)))
    return found[0] if all(numbers_in(each) != found for each in shorter) else None


def _tokens(text: str, other: str) -> tuple[list[str], list[str]]:
    """What of two texts is compared: articles only where neither has another word, marks where neither has any."""
    for cut in (_content, words, str.split):
        if any(pair := (cut(text), cut(other))):
            return pair
    return [], []


def _content(text: str) -> list[str]:
    return [word for word in words(text) if word not in _ARTICLES]
