"""ISUSE: does the answer resolve the question that was asked?"""

from __future__ import annotations

from typing import Protocol

from cookbook import prompts
from cookbook.providers import LLMClient
from cookbook.reflect.binary import ask_binary
from cookbook.schema import Decision, Usefulness, Verdict


class UsefulnessGrader(Protocol):
    """Judges the answer against the reader's own question, never against a rewritten query."""

    def judge(self, question: str, answer: str) -> Verdict[Usefulness]: ...


class LLMUsefulness:
    """One call, one output token."""

    def __init__(self, client: LLMClient, *, threshold: float = 0.5) -> None:
        self.client, self.threshold = client, threshold

    def judge(self, question: str, answer: str) -> Verdict[Usefulness]:
        messages = prompts.USEFULNESS.messages(
            question=prompts.as_data(question), answer=prompts.as_data(answer)
        )
        labels = {"yes": Usefulness.USEFUL, "no": Usefulness.NOT_USEFUL}
        return ask_binary(self.client, messages, Decision.USEFULNESS, labels, threshold=self.threshold)
