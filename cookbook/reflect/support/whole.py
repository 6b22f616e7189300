"""Support of the whole answer, judged in one token: cheap, and blind to one invented claim among true ones."""

from __future__ import annotations

from collections.abc import Sequence

from cookbook import prompts
from cookbook.errors import GRADER_FAILURES
from cookbook.providers import LLMClient
from cookbook.reflect.binary import ask_binary
from cookbook.reflect.support.base import asked
from cookbook.schema import Decision, Hit, Support, Verdict
from cookbook.tracing import note_verdict


class LLMSupport:
    """One call, one output token, over the whole answer: fully supported or not."""

    def __init__(self, client: LLMClient, *, threshold: float = 0.5) -> None:
        self.client, self.threshold = client, threshold

    def check(self, question: str, answer: str, hits: Sequence[Hit]) -> Verdict[Support]:
        messages = asked(prompts.SUPPORT, question, answer, hits)
        labels = {"yes": Support.FULLY, "no": Support.NONE}
        return ask_binary(self.client, messages, Decision.SUPPORT, labels, threshold=self.threshold)


class GradedSupport:
    """One call, one output token: fully, partially or none.

    The level follows from the expected support, P(fully) + P(partially) / 2 as in the paper: above one half is
    fully, and a quarter at least is partially. A small model almost never says "partly", it hesitates between
    yes and no instead. ``verdict.expected`` is that number.
    """

    def __init__(self, client: LLMClient) -> None:
        self.client = client

    def check(self, question: str, answer: str, hits: Sequence[Hit]) -> Verdict[Support]:
        messages = asked(prompts.GRADED_SUPPORT, question, answer, hits)
        try:
            choice = self.client.decide(messages, prompts.SUPPORT_LEVELS)
        except GRADER_FAILURES as error:
            verdict: Verdict[Support] = Verdict(Decision.SUPPORT, None, failure=str(error))
        else:
            expected = choice.probabilities["fully"] + choice.probabilities["partially"] / 2
            level = (
                Support.FULLY if expected > 0.5 else Support.PARTIALLY if expected >= 0.25 else Support.NONE
            )
            verdict = Verdict(Decision.SUPPORT, level, expected=expected)
        note_verdict(verdict)
        return verdict
