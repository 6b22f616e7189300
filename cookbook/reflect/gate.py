"""Retrieve: does this question need the documents at all?"""

from __future__ import annotations

from typing import Protocol

from cookbook import prompts
from cookbook.providers import LLMClient
from cookbook.reflect.binary import ask_binary
from cookbook.schema import Decision, Retrieve, Verdict


class Gate(Protocol):
    """Decides whether to retrieve. A failed verdict must be read as "retrieve": looking is safe."""

    def decide(self, question: str) -> Verdict[Retrieve]: ...


class LLMGate:
    """Asks the model, one output token. ``subject`` says in words what the documents are."""

    def __init__(self, client: LLMClient, subject: str, *, threshold: float = 0.5) -> None:
        self.client, self.subject, self.threshold = client, subject, threshold

    def decide(self, question: str) -> Verdict[Retrieve]:
        messages = prompts.GATE.messages(subject=self.subject, question=prompts.as_data(question))
        labels = {"yes": Retrieve.YES, "no": Retrieve.NO}
        return ask_binary(self.client, messages, Decision.RETRIEVE, labels, threshold=self.threshold)
