"""Support claim by claim: an invented claim cannot hide among true ones, and the failed ones are named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cookbook.errors import GRADER_FAILURES
from cookbook.reflect.claims import claims_of, with_question
from cookbook.reflect.entailment import EntailmentJudge
from cookbook.reflect.numbers import unstated_numbers
from cookbook.reflect.support.base import require_passages
from cookbook.schema import Decision, Hit, Support, Verdict
from cookbook.tracing import note_verdict

UNSTATED = "not stated in the passages"
CONTRADICTED = "contradicted by the passages"


@dataclass(frozen=True)
class ClaimCheck:
    """One claim: what is wrong with it, or "" and the probability with which a passage entails it."""

    claim: str
    problem: str = ""
    entail: float = 0.0


class ClaimSupport:
    """Each claim of the answer against each passage: the best passage counts for a claim, the worst claim
    for the answer.

    Fully when every claim is entailed, partially when some are, none when none is or any is contradicted
    (and entailed by no other passage). ``number_guard`` fails a claim, unasked, when one of its numbers
    stands in no passage and not in the question. A claim is done at the first passage that entails it.
    ``reason`` lists the failed claims; ``probability``, of "fully" alone, is the entailment of the weakest.
    With ``bare_answers`` a claim that is no sentence ("7 days") is judged behind the question it answers.
    A judge that fails on one pair fails the verdict.
    """

    def __init__(
        self,
        judge: EntailmentJudge,
        *,
        number_guard: bool = True,
        most_claims: int = 6,
        bare_answers: bool = False,
    ) -> None:
        self.judge, self.number_guard, self.most_claims = judge, number_guard, most_claims
        self.bare_answers = bare_answers

    def most_calls(self, passages: int) -> int:
        """The most LLM calls one check makes over so many passages; 0 with an encoder."""
        return self.judge.calls * self.most_claims * passages

    def check(
        self, question: str, answer: str, hits: Sequence[Hit], *, cited: Sequence[str] = ()
    ) -> Verdict[Support]:
        """``cited`` are chunk ids that are looked at first, because the draft names them as its source."""
        require_passages(hits)
        ordered = sorted(hits, key=lambda hit: hit.chunk_id not in cited)
        try:
            checks = [self.claim(question, claim, ordered) for claim in claims_of(answer, self.most_claims)]
        except GRADER_FAILURES as error:
            verdict: Verdict[Support] = Verdict(Decision.SUPPORT, None, failure=str(error))
        else:
            verdict = _verdict(checks)
        note_verdict(verdict)
        return verdict

    def claim(self, question: str, claim: str, hits: Sequence[Hit]) -> ClaimCheck:
        """One claim against all passages. Raises what the judge raises."""
        if self.number_guard:
            stated = "\n\n".join([question, *(hit.text for hit in hits)])
            if unstated := unstated_numbers(claim, stated):
                return ClaimCheck(claim, f"{', '.join(map(str, unstated))} in no passage")
        problem = UNSTATED
        hypothesis = with_question(question, claim) if self.bare_answers else claim
        for hit in hits:
            found = self.judge.judge(hit.text, hypothesis)
            if found.label == "entail":
                return ClaimCheck(claim, entail=found.entail)
            if found.label == "contradict":
                problem = CONTRADICTED
        return ClaimCheck(claim, problem)


def _verdict(checks: Sequence[ClaimCheck]) -> Verdict[Support]:
    failed = [check for check in checks if check.problem]
    if not failed and checks:
        weakest = min(check.entail for check in checks)
        return Verdict(Decision.SUPPORT, Support.FULLY, probability=weakest)
    none = len(failed) == len(checks) or any(check.problem == CONTRADICTED for check in failed)
    reason = "; ".join(f'{check.problem}: "{check.claim}"' for check in failed)
    return Verdict(Decision.SUPPORT, Support.NONE if none else Support.PARTIALLY, reason=reason)
