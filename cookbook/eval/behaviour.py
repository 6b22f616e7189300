"""Answered or refused, and should it have: the 2x2 table that shows what a loop's checks buy and cost.

Status is read from the answer's own field, never guessed from its prose, and a failed grader counts
as neither answered nor refused. An answer is called right when it states the facts that the row names, and is
no longer than an answer (``EvalRow.states``); that is a check of words and numbers, and not of what else it says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cookbook.eval.sets import EvalRow
from cookbook.schema import Answer, Status

Pair = tuple[EvalRow, Answer | None]
"""A row with what a system said to it; None when it could not be run (no recording of it)."""


@dataclass(frozen=True)
class Outcomes:
    """How requests of one kind ended."""

    answered: int = 0
    refused: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        return self.answered + self.refused + self.failed


@dataclass(frozen=True)
class Behaviour:
    """What one system did on the rows it has an answer for.

    ``answerable`` rows should be answered and ``unanswerable`` ones refused; ``direct`` rows need no
    passage (a greeting, a sum) and stand outside the 2x2. ``right`` are the answerable rows whose answer
    states their facts. ``rows`` counts all rows that were given,
    ``mean_calls`` is per answer, None when there is none.
    """

    answerable: Outcomes
    unanswerable: Outcomes
    direct: Outcomes
    right: int
    rows: int
    mean_calls: float | None

    @property
    def covered(self) -> int:
        """Rows that had an answer to count."""
        return self.answerable.total + self.unanswerable.total + self.direct.total

    def as_dict(self) -> dict[str, Any]:
        """The numbers under the names that a table shows."""
        return {
            "rows it has an answer for": f"{self.covered} of {self.rows}",
            "answerable: answered": self.answerable.answered,
            "answerable: answered right": self.right,
            "answerable: refused": self.answerable.refused,
            "unanswerable: answered": self.unanswerable.answered,
            "unanswerable: refused": self.unanswerable.refused,
            "no passage needed: answered": self.direct.answered,
            "no passage needed: refused": self.direct.refused,
            "grader failed": self.answerable.failed + self.unanswerable.failed + self.direct.failed,
            "calls a question": self.mean_calls,
        }


def behaved_right(row: EvalRow, answer: Answer) -> bool | None:
    """Did it do the right thing: answer right what has an answer, and refuse what has none?

    A failure is neither. None for a row that needs no passage: the question does not arise there.
    """
    if row.behaviour == "direct":
        return None
    if row.behaviour == "refuse":
        return answer.status is Status.REFUSED
    return answer.status is Status.ANSWERED and row.states(answer.text)


@dataclass(frozen=True)
class Rejection:
    """How requests ended whose passages held no evidence: noise was all there was to read.

    ``refused`` is the rejection proper. ``right`` answers came from memory, or by luck; ``wrong`` ones are
    inventions. The three are counted apart, because a sum of any two hides which model one has.
    """

    refused: int = 0
    right: int = 0
    wrong: int = 0
    failed: int = 0


def rejection(pairs: Iterable[Pair]) -> Rejection:
    """Count the answerable rows for which none of the gold quotes stood in the passages that were shown."""
    ended: Counter[str] = Counter()
    for row, answer in pairs:
        if answer is None or row.behaviour != "answer" or _saw_evidence(row, answer):
            continue
        if answer.status is Status.ANSWERED:
            ended["right" if behaved_right(row, answer) else "wrong"] += 1
        else:
            ended[answer.status.value] += 1
    return Rejection(**ended)


def _saw_evidence(row: EvalRow, answer: Answer) -> bool:
    return any(quote.stands_in(hit.chunk) for quote in row.gold for hit in answer.contexts)


def comparison(systems: Mapping[str, Behaviour]) -> list[dict[str, Any]]:
    """A row for each number, a column for each system."""
    columns = {name: found.as_dict() for name, found in systems.items()}
    numbers = dict.fromkeys(number for column in columns.values() for number in column)
    return [{"": number, **{name: column[number] for name, column in columns.items()}} for number in numbers]


def common(results: Mapping[str, Sequence[Pair]]) -> dict[str, list[Pair]]:
    """Only the rows that every system has an answer for, so that they are compared on the same questions."""
    held = [{row.id for row, answer in pairs if answer is not None} for pairs in results.values()]
    shared = set.intersection(*held) if held else set()
    return {name: [pair for pair in pairs if pair[0].id in shared] for name, pairs in results.items()}


def behaviour(pairs: Iterable[Pair]) -> Behaviour:
    """Count rows with their answers. A row without an answer lowers ``covered`` and nothing else."""
    pairs = list(pairs)
    done = [(row, answer) for row, answer in pairs if answer is not None]
    ended: Mapping[str, Counter[Status]] = {name: Counter() for name in ("answer", "refuse", "direct")}
    for row, answer in done:
        ended[row.behaviour][answer.status] += 1
    calls = [answer.trace.calls for _, answer in done]
    return Behaviour(
        answerable=_outcomes(ended["answer"]),
        unanswerable=_outcomes(ended["refuse"]),
        direct=_outcomes(ended["direct"]),
        right=sum(row.behaviour == "answer" and behaved_right(row, answer) is True for row, answer in done),
        rows=len(pairs),
        mean_calls=sum(calls) / len(calls) if calls else None,
    )


def _outcomes(ended: Counter[Status]) -> Outcomes:
    return Outcomes(ended[Status.ANSWERED], ended[Status.REFUSED], ended[Status.FAILED])
