"""Refuse: the fixed sentences a system says instead of guessing."""

from __future__ import annotations

from collections.abc import Sequence

from cookbook.reflect.generate import Draft
from cookbook.schema import Answer, Hit, Provenance, Reason, Status, Trace

SENTENCES = {
    Reason.NO_RELEVANT_PASSAGE: "I looked, and none of the passages I found answers this.",
    Reason.NOT_SUPPORTED: "I found passages on this, but could not write an answer that they support.",
    Reason.NOT_USEFUL: "I found passages on this, but nothing in them resolves the question.",
    Reason.BUDGET_EXHAUSTED: "I stopped, because this request used all the model calls it may make.",
    Reason.GRADER_FAILED: "I could not check an answer, because the model that judges it failed.",
    Reason.SYSTEM_FAILED: "I could not finish: the program stopped with an error.",
}
FAILURES = (Reason.GRADER_FAILED, Reason.SYSTEM_FAILED)


def refusal(
    question: str,
    reason: Reason,
    trace: Trace,
    *,
    hand_off: str = "",
    contexts: Sequence[Hit] = (),
    retrieval_query: str = "",
    found: Draft | None = None,
) -> Answer:
    """A refusal with its reason and a hand-off. What is in FAILURES gives status failed, all else refused.

    ``found`` is a supported answer that did not resolve the question; its passages must be in ``contexts``.
    """
    trace.stop_reason = reason.value
    return Answer(
        question=question,
        text=f"{SENTENCES[reason]} {hand_off}".strip(),
        status=Status.FAILED if reason in FAILURES else Status.REFUSED,
        provenance=Provenance.NOTHING,
        trace=trace,
        reason=reason,
        contexts=tuple(contexts),
        retrieval_query=retrieval_query or question,
        citations=found.citations if found else (),
        found=found.text if found else "",
    )
