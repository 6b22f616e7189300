"""Retrieve: does this question need the documents at all?"""

from __future__ import annotations

from itertools import zip_longest
from typing import Protocol

from cookbook import prompts
from cookbook.corpora import CorpusCard
from cookbook.errors import GRADER_FAILURES
from cookbook.providers import LLMClient
from cookbook.schema import Decision, Retrieve, Verdict
from cookbook.tracing import note_verdict


class Gate(Protocol):
    """Decides whether to retrieve. A failed verdict must be read as "retrieve": looking is safe."""

    def decide(self, question: str) -> Verdict[Retrieve]: ...


def need(verdict: Verdict[Retrieve]) -> float | None:
    """How sure the gate is that documents are needed, whichever way it decided; None where it cannot say.

    The probability of a verdict is that of its label, so a sure yes and a sure no carry the same number:
    compared with one cut-off, they would go the same way.
    """
    if verdict.failed or verdict.probability is None:
        return None
    return verdict.probability if verdict.label is Retrieve.YES else 1.0 - verdict.probability


class LLMGate:
    """Sorts the question into search, math, chat or writing, with one output token.

    A small model asked "do you need documents?" says yes to everything (notebooks/03 shows it);
    sorting it can do. Retrieval is chosen when P(search) reaches ``threshold``, which is below one
    half because an unnecessary look-up costs a little and an answer from memory can mislead.
    """

    def __init__(self, client: LLMClient, card: CorpusCard, *, threshold: float = 0.3) -> None:
        self.client, self.card, self.threshold = client, card, threshold

    def decide(self, question: str) -> Verdict[Retrieve]:
        try:
            choice = self.client.decide(self._messages(prompts.as_data(question)), prompts.GATE_LABELS)
        except GRADER_FAILURES as error:
            verdict: Verdict[Retrieve] = Verdict(Decision.RETRIEVE, None, failure=str(error))
        else:
            search = choice.probabilities["search"]
            yes = search >= self.threshold
            verdict = Verdict(
                Decision.RETRIEVE,
                Retrieve.YES if yes else Retrieve.NO,
                probability=None if choice.probability is None else search if yes else 1.0 - search,
                reason="" if yes else choice.label,
            )
        note_verdict(verdict)
        return verdict

    def _messages(self, question: str) -> list[dict[str, str]]:
        """The two kinds of example take turns, so that the last word seen favours neither."""
        yes = [(example, "search") for example in self.card.examples]
        shots = [s for pair in zip_longest(yes, prompts.GATE.shots) for s in pair if s is not None]
        return prompts.GATE.messages(shots, subject=self.card.subject, question=question)
