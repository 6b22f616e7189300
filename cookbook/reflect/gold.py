"""Stand-ins that agree with the labels of an eval set: what a loop does when its judges make no mistake.

They read the answer key, so they belong in labs, in tests and in the row of a table that says "perfect
judges"; nothing that meets a reader's question is built from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cookbook.errors import ConfigError
from cookbook.reflect.support.base import require_passages
from cookbook.schema import Decision, Hit, Relevance, Support, Usefulness, Verdict
from cookbook.tracing import note_verdict

if TYPE_CHECKING:
    from cookbook.eval.sets import EvalRow


class _Key:
    def __init__(self, rows: Iterable[EvalRow]) -> None:
        self._rows = {row.question: row for row in rows}

    def _row(self, question: str) -> EvalRow:
        """ConfigError for a question that no row asks: there is no label to agree with."""
        if question not in self._rows:
            raise ConfigError(
                f"no row of the eval set asks {question!r}; a gold stand-in knows only its rows"
            )
        return self._rows[question]


class GoldRelevance(_Key):
    """A passage is relevant when it holds a gold quote of the question's row."""

    def grade(self, question: str, hits: Sequence[Hit]) -> list[Verdict[Relevance]]:
        gold = self._row(question).gold
        verdicts = []
        for hit in hits:
            holds = any(quote.stands_in(hit.chunk) for quote in gold)
            label = Relevance.RELEVANT if holds else Relevance.IRRELEVANT
            verdicts.append(Verdict(Decision.RELEVANCE, label, subject=hit.chunk_id))
            note_verdict(verdicts[-1])
        return verdicts


class GoldSupport(_Key):
    """An answer is supported when it states the facts of the row. What it says besides is not looked at."""

    def check(self, question: str, answer: str, hits: Sequence[Hit]) -> Verdict[Support]:
        require_passages(hits)
        stated = self._row(question).states(answer)
        verdict = Verdict(Decision.SUPPORT, Support.FULLY if stated else Support.NONE)
        note_verdict(verdict)
        return verdict


class GoldUsefulness(_Key):
    """An answer is useful when it states the facts of the row; nothing resolves an unanswerable question."""

    def judge(self, question: str, answer: str) -> Verdict[Usefulness]:
        stated = self._row(question).states(answer)
        verdict = Verdict(Decision.USEFULNESS, Usefulness.USEFUL if stated else Usefulness.NOT_USEFUL)
        note_verdict(verdict)
        return verdict
