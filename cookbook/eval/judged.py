"""What only a judge can say of answers, apart from the figures that need none: and how far to believe it.

Two questions. Do the passages hold what an answer says, and do they deny any of it? And where strings cannot decide
whether an answer is right, because it may say the missing fact in other words: is it? The second judge is tried on
the answers that strings do decide, and its agreement stands beside what it says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from cookbook.errors import GRADER_FAILURES
from cookbook.eval.compare import Comparison
from cookbook.eval.evidence import Grounding, groundedness
from cookbook.eval.sets import EvalRow
from cookbook.eval.statistics import Estimate, rate, share
from cookbook.reflect.claims import with_question
from cookbook.reflect.entailment import Entailment, EntailmentJudge
from cookbook.reflect.support import ClaimSupport
from cookbook.schema import Answer, Status

RIGHT_AT = 0.1
"""The critic takes an answer for right from this probability that it states the reference answer. Fitted on the
answers of the extractive reader to the fit rows of our three sets, as far as strings decide them."""


def by_strings(row: EvalRow, text: str) -> bool | None:
    """Whether an answer is right, as far as words and numbers tell.

    True when it states every fact of the row and is no passage. False when it lacks a fact with a digit in it, and
    holds no amount equal to it, or is too long. None when it lacks facts in words only, for words have synonyms.
    """
    if row.states(text):
        return True
    lacking = row.lacking(text)
    return (
        None
        if lacking and not any(letter.isdigit() for f in lacking for way in f for letter in way)
        else False
    )


@dataclass(frozen=True)
class JudgedAnswers:
    """The answers of one system. ``grounded`` is the mean share of supported claims, over answers whose claims all
    have a verdict. Of the ``undecided`` ones, which strings cannot decide, the judge takes ``right`` for right and
    has no verdict on ``failed``."""

    grounded: Estimate | None
    groundings: tuple[Grounding, ...]
    undecided: int = 0
    right: int = 0
    failed: int = 0

    @property
    def claims(self) -> int:
        return sum(each.claims for each in self.groundings)

    @property
    def contradicted(self) -> int:
        return sum(each.contradicted for each in self.groundings)


@dataclass(frozen=True)
class Agreement:
    """How far to believe the judge of correctness: the share of the ``right`` answers, as strings decide, that it takes
    for right, and of the ``wrong`` ones that it does not. None where there are none."""

    right: Estimate | None
    wrong: Estimate | None


@dataclass(frozen=True)
class Quoted:
    """How far to believe the judge of claims: of those that stand word for word in a passage it does not find
    ``doubted`` supported, and calls ``denied`` contradicted."""

    claims: int
    doubted: int
    denied: int


@dataclass(frozen=True)
class Judging:
    """What was found, by system, and how far to believe it."""

    systems: Mapping[str, JudgedAnswers]
    agreement: Agreement

    @property
    def quoted(self) -> Quoted:
        every = [each for found in self.systems.values() for each in found.groundings]
        return Quoted(
            *(sum(getattr(each, name) for each in every) for name in ("quoted", "doubted", "denied"))
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON takes it."""
        systems = {
            name: {
                "answers": len(found.groundings),
                "grounded": vars(found.grounded) if found.grounded else None,
                "claims": found.claims,
                "contradicted": found.contradicted,
                "undecided": found.undecided,
                "right": found.right,
                "failed": found.failed,
            }
            for name, found in self.systems.items()
        }
        agreement = {name: vars(found) if found else None for name, found in vars(self.agreement).items()}
        return {"agreement": agreement, "quoted": vars(self.quoted), "systems": systems}


def judging(comparison: Comparison, judge: EntailmentJudge, *, right_at: float = RIGHT_AT) -> Judging:
    """Judge the answers of every system, without the dummies, on the rows that all ran and that want a passage.

    Each pair of texts is judged once, whoever said it.
    """
    known = _Remembering(judge)
    found: dict[str, JudgedAnswers] = {}
    agreed: dict[tuple[str, str], tuple[bool, bool]] = {}
    for name in comparison.systems:
        pairs = [(row, a) for row, a in comparison.shared[name] if a and row.behaviour != "direct"]
        grounded = [groundedness(answer, ClaimSupport(known, bare_answers=True)) for _, answer in pairs]
        groundings = tuple(each for each in grounded if each)
        shares = [each.share for each in groundings if each.share is not None]
        undecided: list[bool | None] = []
        for row, answer in pairs:
            if row.behaviour != "answer" or answer.status is not Status.ANSWERED:
                continue
            decided, said = by_strings(row, answer.text), _right(row, answer, known, right_at)
            if decided is None:
                undecided.append(said)
            elif said is not None:
                agreed[row.id, answer.text] = (decided, said == decided)
        found[name] = JudgedAnswers(
            share(shares) if shares else None,
            groundings,
            len(undecided),
            undecided.count(True),
            undecided.count(None),
        )
    right, wrong = ([same for decided, same in agreed.values() if decided is kind] for kind in (True, False))
    return Judging(
        found, Agreement(*(rate(sum(each), len(each)) if each else None for each in (right, wrong)))
    )


def _right(row: EvalRow, answer: Answer, judge: EntailmentJudge, right_at: float) -> bool | None:
    """Whether the answer states what the reference answer says; None when the judge failed."""
    try:
        return judge.judge(with_question(row.question, answer.text), row.answer).entail >= right_at
    except GRADER_FAILURES:
        return None


class _Remembering:
    """A judge that is asked the same thing once."""

    def __init__(self, judge: EntailmentJudge) -> None:
        self.calls = judge.calls
        self._judge = cache(judge.judge)

    def judge(self, premise: str, hypothesis: str) -> Entailment:
        return self._judge(premise, hypothesis)
