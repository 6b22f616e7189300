"""One check for support and usefulness together: the cheapest loop that still checks both.

The first token decides between "good", "unsupported" and "off"; only a draft that is not supported costs a
second call, which lists what is wrong so that the next draft can leave it out.
Taught in notebooks/26_lean.ipynb.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol

from pydantic import BaseModel, Field

from cookbook import prompts
from cookbook.errors import GRADER_FAILURES
from cookbook.providers import LLMClient
from cookbook.reflect.support.base import asked
from cookbook.schema import Decision, Hit, Support, Usefulness, Verdict
from cookbook.tracing import note_verdict

MAX_DETAIL_TOKENS = 200

Checked = tuple[Verdict[Support], Verdict[Usefulness] | None]
"""Both verdicts. Usefulness is None unless support is full: an answer that is thrown away is not judged."""


class Checker(Protocol):
    """Judges support and usefulness of an answer at once."""

    def check_both(self, question: str, answer: str, hits: Sequence[Hit]) -> Checked: ...


class Details(BaseModel):
    """The statements of an answer that no passage makes."""

    unsupported: Annotated[list[Annotated[str, Field(max_length=160)]], Field(max_length=3)]


class OneCheck:
    """One call and one output token; a second call for the details of an unsupported answer.

    The probability of support is that of "good" and "off" together, the one of usefulness is the share of
    "good" in it. Details that cannot be read leave the reason empty: the verdict stands without them.
    """

    def __init__(self, client: LLMClient) -> None:
        self.client = client

    def check_both(self, question: str, answer: str, hits: Sequence[Hit]) -> Checked:
        messages = asked(prompts.ONE_CHECK, question, answer, hits)
        try:
            choice = self.client.decide(messages, prompts.ONE_CHECK_LABELS)
        except GRADER_FAILURES as error:
            return _noted(Verdict(Decision.SUPPORT, None, failure=str(error)))
        if choice.label == "unsupported":
            reason = self._details(question, answer, hits)
            return _noted(Verdict(Decision.SUPPORT, Support.NONE, choice.probability, reason))
        supported = 1.0 - choice.probabilities["unsupported"]
        useful = Usefulness.USEFUL if choice.label == "good" else Usefulness.NOT_USEFUL
        return _noted(
            Verdict(Decision.SUPPORT, Support.FULLY, None if choice.probability is None else supported),
            Verdict(
                Decision.USEFULNESS,
                useful,
                None if choice.probability is None else choice.probability / supported,
            ),
        )

    def _details(self, question: str, answer: str, hits: Sequence[Hit]) -> str:
        messages = asked(prompts.UNSUPPORTED, question, answer, hits)
        try:
            said = self.client.ask(messages, Details, max_tokens=MAX_DETAIL_TOKENS)
        except GRADER_FAILURES:
            return ""
        listed = list(dict.fromkeys(filter(None, map(str.strip, said.unsupported))))
        return f"not in the passages: {'; '.join(listed)}" if listed else ""


def _noted(support: Verdict[Support], usefulness: Verdict[Usefulness] | None = None) -> Checked:
    note_verdict(support)
    if usefulness is not None:
        note_verdict(usefulness)
    return support, usefulness
