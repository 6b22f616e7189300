"""What an answer rests on: was it shown the evidence, does it cite it, and do the passages hold what it says?

The first two are read off the gold quotes and cost nothing; the third asks a judge, claim by claim.
A refusal claims nothing, so it is never grounded or ungrounded: it stays out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cookbook.errors import GRADER_FAILURES
from cookbook.eval.sets import EvalRow, words
from cookbook.reflect.claims import claims_of
from cookbook.reflect.support.by_claims import CONTRADICTED, ClaimCheck
from cookbook.schema import Answer, Hit, Status

QUOTE = 6
"""Words that make a quote."""


def context_recall(row: EvalRow, answer: Answer) -> float | None:
    """The share of the gold quotes that stand whole in a passage it was shown; None for a row without gold."""
    return _held(row, answer.contexts) if row.gold else None


def citation_recall(row: EvalRow, answer: Answer) -> float | None:
    """The share of the gold quotes that stand in a passage it cites; None for a row without gold, and for a refusal.
    One that broke has none: 0."""
    return _held(row, _cited(answer)) if _speaks(row, answer) else None


def citation_precision(row: EvalRow, answer: Answer) -> float | None:
    """The share of the cited passages that hold a gold quote. An answer that cites nothing has none: 0."""
    if not _speaks(row, answer):
        return None
    cited = _cited(answer)
    sound = sum(any(quote.stands_in(hit.chunk) for quote in row.gold) for hit in cited)
    return sound / len(cited) if cited else 0.0


def _speaks(row: EvalRow, answer: Answer) -> bool:
    return bool(row.gold) and answer.status is not Status.REFUSED


def _cited(answer: Answer) -> list[Hit]:
    return [hit for hit in answer.contexts if hit.chunk_id in answer.citations]


def _held(row: EvalRow, hits: Sequence[Hit]) -> float:
    held = sum(any(quote.stands_in(hit.chunk) for hit in hits) for quote in row.gold)
    return held / len(row.gold)


@dataclass(frozen=True)
class Grounding:
    """How many claims of one answer its passages support, and how many they deny; of the rest they say nothing.

    ``failed`` claims got no verdict. ``quoted`` claims stand word for word in a passage, so they are supported
    whatever the checker says; it did not find ``doubted`` of them supported, and called ``denied`` of these
    contradicted. That is how often it cries for nothing.
    """

    claims: int
    supported: int
    contradicted: int = 0
    failed: int = 0
    quoted: int = 0
    doubted: int = 0
    denied: int = 0

    @property
    def share(self) -> float | None:
        """Supported claims among all. None when a claim has no verdict: the row is then missing, not good or bad."""
        return None if self.failed else self.supported / self.claims


class ClaimChecker(Protocol):
    """Checks one claim against passages, such as ClaimSupport; raises one of GRADER_FAILURES when it cannot."""

    def claim(self, question: str, claim: str, hits: Sequence[Hit]) -> ClaimCheck: ...


def groundedness(
    answer: Answer, checker: ClaimChecker, *, claims: Callable[[str], Sequence[str]] = claims_of
) -> Grounding | None:
    """Each claim of an answer (its sentences) against the passages it was written from; None unless it answered.

    Without passages nothing is supported, and nobody is asked.
    """
    if answer.status is not Status.ANSWERED:
        return None
    said = claims(answer.text)
    if not answer.contexts:
        return Grounding(len(said), 0)
    quotes: list[str | None] = []
    others: list[str | None] = []
    for claim in said:
        (quotes if _quoted(claim, answer.contexts) else others).append(_problem(answer, claim, checker))
    return Grounding(
        len(said),
        len(quotes) + others.count(""),
        others.count(CONTRADICTED),
        others.count(None),
        len(quotes),
        len(quotes) - quotes.count(""),
        quotes.count(CONTRADICTED),
    )


def _problem(answer: Answer, claim: str, checker: ClaimChecker) -> str | None:
    """What is wrong with a claim, "" if nothing is; None when the checker failed."""
    try:
        return checker.claim(answer.question, claim, answer.contexts).problem
    except GRADER_FAILURES:
        return None


def _quoted(claim: str, hits: Sequence[Hit]) -> bool:
    """Whether it is a sentence that stands in a passage. A few words ("7 days") stand there by chance."""
    said = words(claim)
    return len(said) >= QUOTE and any(
        f" {' '.join(said)} " in f" {' '.join(words(hit.text))} " for hit in hits
    )
