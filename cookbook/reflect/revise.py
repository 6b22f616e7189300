"""Revise: take out of a draft what the passages do not support, and leave the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cookbook import prompts
from cookbook.providers import LLMClient
from cookbook.reflect.generate import MAX_ANSWER_TOKENS, Draft, read_draft
from cookbook.schema import Hit


class Reviser(Protocol):
    """Gives a shorter draft from ``hits``; ``problem`` says what was found wrong with this one."""

    def revise(self, question: str, answer: str, problem: str, hits: Sequence[Hit]) -> Draft: ...


class LLMReviser:
    """One call. A revision that leaves nothing is an abstention, like a writer's."""

    def __init__(self, client: LLMClient) -> None:
        self.client = client

    def revise(self, question: str, answer: str, problem: str, hits: Sequence[Hit]) -> Draft:
        if not hits:
            raise ValueError("nothing to revise against; refuse instead")
        messages = prompts.REVISE.messages(
            passages=prompts.passages_block(hits),
            question=prompts.as_data(question),
            answer=prompts.as_data(answer),
            feedback=prompts.as_data(problem),
        )
        return read_draft(self.client.chat(messages, max_tokens=MAX_ANSWER_TOKENS), hits)
