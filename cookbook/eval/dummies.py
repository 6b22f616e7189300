"""Three systems that understand nothing, run beside every comparison: a measure that they win is no measure.

None of them can pass one half of the headline, right behaviour. Who refuses everything is right on every row
without an answer and on no other; who answers everything is wrong on every row without one.
"""

from __future__ import annotations

from collections.abc import Callable

from cookbook.providers.meter import Budget
from cookbook.reflect.refuse import refusal
from cookbook.schema import Answer, Provenance, Reason, Status, Trace
from cookbook.systems.base import Parts, System, run_request
from cookbook.tracing import step


class _Dummy:
    """A system without a model: it makes no calls."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    @classmethod
    def most_calls(cls, k: int = 5) -> int:
        return 0


class AlwaysRefuse(_Dummy):
    """Looks at nothing and refuses."""

    def answer(self, question: str) -> Answer:
        def body(trace: Trace) -> Answer:
            with step("refuse"):
                hand_off = self.parts.card.hand_off
                return refusal(question, Reason.NO_RELEVANT_PASSAGE, trace, hand_off=hand_off)

        return run_request(self.parts, "always_refuse", question, Budget(0), body)


class FirstPassage(_Dummy):
    """Answers with the nearest passage, whole, and cites it."""

    def answer(self, question: str) -> Answer:
        def body(trace: Trace) -> Answer:
            with step("retrieve"):
                hits = tuple(self.parts.retriever.retrieve(question, 1))
            text, cited = " ".join(hit.text for hit in hits), tuple(hit.chunk_id for hit in hits)
            trace.stop_reason = "first_passage"
            return Answer(
                question, text, Status.ANSWERED, Provenance.PASSAGES, trace, citations=cited, contexts=hits
            )

        return run_request(self.parts, "first_passage", question, Budget(0), body)


class CopyQuestion(_Dummy):
    """Gives the question back as its answer."""

    def answer(self, question: str) -> Answer:
        def body(trace: Trace) -> Answer:
            with step("copy"):
                trace.stop_reason = "copied"
                return Answer(question, question, Status.ANSWERED, Provenance.NOTHING, trace)

        return run_request(self.parts, "copy_question", question, Budget(0), body)


DUMMIES: dict[str, Callable[[Parts], System]] = {
    "always_refuse": AlwaysRefuse,
    "first_passage": FirstPassage,
    "copy_question": CopyQuestion,
}
