"""The details of a "no": which statements of an answer no passage makes, asked once something is wrong.

A verdict of one token is cheap and says nothing that a writer could mend. The list costs a call, and is
paid for only by the drafts that need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, Field

from cookbook import prompts
from cookbook.errors import GRADER_FAILURES
from cookbook.providers import LLMClient
from cookbook.reflect.numbers import unstated_numbers
from cookbook.reflect.support.base import SupportGrader, asked, require_passages
from cookbook.schema import Decision, Hit, Support, Verdict
from cookbook.tracing import note_verdict

MAX_DETAIL_TOKENS = 200


class Details(BaseModel):
    """The statements of an answer that no passage makes."""

    unsupported: Annotated[list[Annotated[str, Field(max_length=160)]], Field(max_length=3)]


def unsupported(client: LLMClient, question: str, answer: str, hits: Sequence[Hit]) -> list[str] | None:
    """The statements that no passage makes, in one structured call; None when the model failed to list them."""
    try:
        said = client.ask(
            asked(prompts.UNSUPPORTED, question, answer, hits), Details, max_tokens=MAX_DETAIL_TOKENS
        )
    except GRADER_FAILURES:
        return None
    return list(dict.fromkeys(filter(None, map(str.strip, said.unsupported))))


def reason_of(listed: Sequence[str] | None) -> str:
    """The list as the reason of a verdict; empty where there is none."""
    return f"not in the passages: {'; '.join(listed)}" if listed else ""


class DetailedSupport:
    """Another grader's verdict, and, unless it is "fully", a call to ``client`` for the list as its reason.

    A number that stands in no passage and not in the question is found without asking anybody, and then
    nobody is asked. Otherwise the verdict stands whatever the list says: a list that is empty or cannot be
    read leaves the reason that the grader gave.
    """

    def __init__(self, grader: SupportGrader, client: LLMClient) -> None:
        self.grader, self.client = grader, client

    def check(self, question: str, answer: str, hits: Sequence[Hit]) -> Verdict[Support]:
        require_passages(hits)
        if invented := unstated_numbers(answer, "\n\n".join([question, *(hit.text for hit in hits)])):
            numbers = ", ".join(map(str, invented))
            verdict = Verdict(Decision.SUPPORT, Support.NONE, reason=f"{numbers} in no passage")
            note_verdict(verdict)
            return verdict
        verdict = self.grader.check(question, answer, hits)
        if verdict.failed or verdict.label is Support.FULLY:
            return verdict
        return replace(
            verdict, reason=reason_of(unsupported(self.client, question, answer, hits)) or verdict.reason
        )
