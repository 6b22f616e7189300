"""ISUSE: does the answer resolve the question that was asked?"""

from __future__ import annotations

from typing import Protocol

from cookbook import prompts
from cookbook.errors import GRADER_FAILURES
from cookbook.providers import LLMClient
from cookbook.reflect.binary import ask_binary
from cookbook.schema import Decision, Usefulness, Utility, Verdict
from cookbook.tracing import note_verdict


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


class Rater(Protocol):
    """Rates the answer from 1 to 5, against the reader's own question."""

    def rate(self, question: str, answer: str) -> Verdict[Utility]: ...


class UtilityRater:
    """One call, one output token: a digit from 1 to 5, as the paper's ISUSE.

    Where the provider gives log-probabilities, ``verdict.expected`` is the mean rating under them: two
    answers that are both rated 4 need not be equally good.
    """

    def __init__(self, client: LLMClient) -> None:
        self.client = client

    def rate(self, question: str, answer: str) -> Verdict[Utility]:
        messages = prompts.UTILITY.messages(
            question=prompts.as_data(question), answer=prompts.as_data(answer)
        )
        try:
            choice = self.client.decide(messages, prompts.UTILITY_LABELS)
        except GRADER_FAILURES as error:
            verdict: Verdict[Utility] = Verdict(Decision.USEFULNESS, None, failure=str(error))
        else:
            shares = {Utility(int(label)): share for label, share in choice.probabilities.items()}
            verdict = Verdict(
                Decision.USEFULNESS,
                Utility(int(choice.label)),
                probability=choice.probability,
                expected=None
                if choice.probability is None
                else sum(u * share for u, share in shares.items()),
            )
        note_verdict(verdict)
        return verdict
