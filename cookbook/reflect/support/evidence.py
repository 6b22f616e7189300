"""Support with evidence: the judge must quote, and a quote counts when it stands in a passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from cookbook import prompts
from cookbook.errors import GRADER_FAILURES
from cookbook.providers import LLMClient
from cookbook.reflect.quotes import verified_quotes
from cookbook.reflect.support.base import asked
from cookbook.schema import Decision, Hit, Support, Verdict
from cookbook.tracing import note_verdict

MAX_EVIDENCE_TOKENS = 320
NO_EVIDENCE = "no evidence quote stands in the passages"

Sentence = Annotated[str, Field(max_length=200)]


class Evidence(BaseModel):
    """The judge's reply. The quotes come first, so that the level follows from them."""

    evidence: Annotated[list[Sentence], Field(max_length=3)]
    unsupported: Annotated[list[Sentence], Field(max_length=3)]
    level: Literal["fully", "partially", "none"]


class EvidenceSupport:
    """One structured call: a level, verbatim evidence, and the statements without any.

    The level is believed as far as the rest of the reply bears it out. Above "none" it needs a quote that
    stands in a passage; "fully" beside a quote that stands in none, or beside a statement that is listed as
    unsupported, is "partially". ``reason`` lists those quotes and statements.
    """

    def __init__(self, client: LLMClient) -> None:
        self.client = client

    def check(self, question: str, answer: str, hits: Sequence[Hit]) -> Verdict[Support]:
        messages = asked(prompts.EVIDENCE, question, answer, hits)
        try:
            said = self.client.ask(messages, Evidence, max_tokens=MAX_EVIDENCE_TOKENS)
        except GRADER_FAILURES as error:
            verdict: Verdict[Support] = Verdict(Decision.SUPPORT, None, failure=str(error))
        else:
            verdict = _verdict(said, [hit.text for hit in hits])
        note_verdict(verdict)
        return verdict


def _verdict(said: Evidence, passages: Sequence[str]) -> Verdict[Support]:
    level = Support(said.level)
    unsupported = list(dict.fromkeys(filter(None, map(str.strip, said.unsupported))))
    reasons = [f"not in the passages: {'; '.join(unsupported)}"] if unsupported else []
    verified = verified_quotes(said.evidence, passages)
    invented = [quote for quote in said.evidence if quote.strip() and not verified_quotes([quote], passages)]
    if level is not Support.NONE and not verified:
        level, reasons = Support.NONE, [NO_EVIDENCE, *reasons]
    elif level is not Support.NONE and invented:
        level = Support.PARTIALLY
        reasons = [f"quoted and in no passage: {'; '.join(invented)}", *reasons]
    elif level is Support.FULLY and unsupported:
        level = Support.PARTIALLY
    return Verdict(Decision.SUPPORT, level, reason=". ".join(reasons))
