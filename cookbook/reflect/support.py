"""ISSUP: is the answer supported by the passages it was written from?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cookbook import prompts
from cookbook.providers import LLMClient
from cookbook.reflect.binary import ask_binary
from cookbook.schema import Decision, Hit, Support, Verdict


class SupportGrader(Protocol):
    """Checks an answer against passages. No passages can support nothing: that is an error to ask."""

    def check(self, question: str, answer: str, hits: Sequence[Hit]) -> Verdict[Support]: ...


class LLMSupport:
    """One call, one output token, over the whole answer: fully supported or not."""

    def __init__(self, client: LLMClient, *, threshold: float = 0.5) -> None:
        self.client, self.threshold = client, threshold

    def check(self, question: str, answer: str, hits: Sequence[Hit]) -> Verdict[Support]:
        if not hits:
            raise ValueError("a support check needs passages; with none, refuse before generating")
        messages = prompts.SUPPORT.messages(
            passages=prompts.passages_block(hits),
            question=prompts.as_data(question),
            answer=prompts.as_data(answer),
        )
        labels = {"yes": Support.FULLY, "no": Support.NONE}
        return ask_binary(self.client, messages, Decision.SUPPORT, labels, threshold=self.threshold)
