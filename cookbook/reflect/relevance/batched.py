"""One call for several passages: cheaper than one each, and only as good as the model can keep them apart.

A list of verdicts invites joining by position, and a model that leaves one out then shifts all the others.
Here each passage has an id, and a verdict counts when exactly one item of the reply names that id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, WithJsonSchema

from cookbook import prompts
from cookbook.errors import GRADER_FAILURES, ConfigError
from cookbook.providers import LLMClient
from cookbook.schema import Decision, Hit, Relevance, Verdict
from cookbook.tracing import note_verdict

TOKENS_EACH = 24
"""Room in the reply for the verdict on one passage."""


class Item(BaseModel):
    """The verdict on one passage."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str
    relevant: Literal["yes", "no"]


# The model is held to a list of items; on our side each is checked alone, so that a bad one fails itself only.
_ITEMS = WithJsonSchema({"type": "array", "items": Item.model_json_schema()})


class Grades(BaseModel):
    """A reply: one item for each passage."""

    grades: Annotated[list[Any], _ITEMS]


class BatchedRelevance:
    """One structured call for up to ``most`` passages.

    Passages enter in the order of their chunk ids under the letters A, B, C ..., so that neither the order
    of ``hits`` nor a file name has a say. A passage that no item names, that two name, or whose item is
    malformed gets a failed verdict; the others keep theirs. A reply without a list fails them all.
    """

    def __init__(self, client: LLMClient, *, most: int = 8) -> None:
        if not 1 <= most <= len(ascii_uppercase):
            raise ConfigError(f"most must be 1 to {len(ascii_uppercase)} passages a call; got {most}")
        self.client, self.most = client, most

    def grade(self, question: str, hits: Sequence[Hit]) -> list[Verdict[Relevance]]:
        canonical = sorted({hit.chunk_id: hit for hit in hits}.values(), key=lambda hit: hit.chunk_id)
        verdicts: dict[str, Verdict[Relevance]] = {}
        for first in range(0, len(canonical), self.most):
            named = dict(zip(ascii_uppercase, canonical[first : first + self.most], strict=False))
            verdicts |= {verdict.subject: verdict for verdict in self._ask(question, named)}
        for hit in hits:
            note_verdict(verdicts[hit.chunk_id])
        return [verdicts[hit.chunk_id] for hit in hits]

    def _ask(self, question: str, named: Mapping[str, Hit]) -> list[Verdict[Relevance]]:
        messages = prompts.BATCHED_RELEVANCE.messages(
            question=prompts.as_data(question),
            passages=prompts.passages_block(list(named.values()), ids=list(named)),
            ids=", ".join(named),
        )
        try:
            reply = self.client.ask(messages, Grades, max_tokens=16 + TOKENS_EACH * len(named))
        except GRADER_FAILURES as error:
            return [_failed(hit, str(error)) for hit in named.values()]
        return [_verdict(hit, name, reply.grades) for name, hit in named.items()]


def _verdict(hit: Hit, name: str, items: Sequence[Any]) -> Verdict[Relevance]:
    found = [item for item in items if isinstance(item, dict) and item.get("id") == name]
    if len(found) != 1:
        return _failed(hit, f"the reply names passage {name} {len(found)} times: {items!r:.200}")
    try:
        said = Item.model_validate(found[0])
    except ValidationError:
        return _failed(hit, f"the item for passage {name} is no verdict: {found[0]!r:.200}")
    label = Relevance.RELEVANT if said.relevant == "yes" else Relevance.IRRELEVANT
    return Verdict(Decision.RELEVANCE, label, subject=hit.chunk_id)


def _failed(hit: Hit, why: str) -> Verdict[Relevance]:
    return Verdict(Decision.RELEVANCE, None, subject=hit.chunk_id, failure=why)
