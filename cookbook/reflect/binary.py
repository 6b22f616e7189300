"""One yes/no question to a model, turned into a verdict that can also be "the grader failed"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cookbook.errors import GRADER_FAILURES
from cookbook.prompts import YES_NO
from cookbook.providers import LLMClient
from cookbook.schema import Decision, Messages, Verdict
from cookbook.tracing import note_verdict


def ask_binary(
    client: LLMClient,
    messages: Messages,
    decision: Decision,
    labels: Mapping[str, Any],
    *,
    threshold: float = 0.5,
    subject: str = "",
) -> Verdict[Any]:
    """Ask once; "yes" wins when its probability reaches ``threshold``.

    ``labels`` maps "yes" and "no" to the decision's own values. The verdict is noted in the trace.
    A reply that cannot be used gives a failed verdict that quotes it.
    """
    try:
        choice = client.decide(messages, YES_NO)
    except GRADER_FAILURES as error:
        verdict: Verdict[Any] = Verdict(decision, None, subject=subject, failure=str(error))
    else:
        yes = choice.probabilities["yes"]
        word = "yes" if yes >= threshold else "no"
        # A provider without log-probabilities says which word, not how sure it is.
        probability = None if choice.probability is None else yes if word == "yes" else 1.0 - yes
        verdict = Verdict(decision, labels[word], probability=probability, subject=subject)
    note_verdict(verdict)
    return verdict
