"""Decompose: the sub-questions of a question that asks for two things, each to be searched by itself.

One vector for "how long is a personal token valid, and who may make a workspace token?" lies between the
two passages that answer it, and may find neither.
Taught in notebooks/25_adaptive_loop.ipynb.
"""

from __future__ import annotations

import re
from typing import Annotated, Protocol

from pydantic import BaseModel, Field

from cookbook import prompts
from cookbook.providers import LLMClient
from cookbook.reflect.terms import lost_terms

MAX_PARTS_TOKENS = 120
_COMPOUND = re.compile(
    r"""\b(?: and | or | than | versus | vs\.? | both | each | differ\w* | compared?\b )\b
      | \? .* \? """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


class Decomposer(Protocol):
    """Gives the sub-questions of a question, the question alone when it has none. Call errors pass through."""

    def split(self, question: str) -> list[str]: ...


class SubQuestions(BaseModel):
    """A reply: the questions, each complete without the others."""

    questions: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=3)]


def may_be_compound(question: str) -> bool:
    """The cheap test: a word that joins or compares, or a second question mark. Wrong on the side of asking."""
    return _COMPOUND.search(question) is not None


class LLMDecomposer:
    """One structured call, and only for a question that may be compound; at most three sub-questions.

    Sub-questions that have lost a code, a number or a negation of the question are thrown away: searching
    for the whole of it is then better than searching for something else.
    """

    def __init__(self, client: LLMClient) -> None:
        self.client = client

    def split(self, question: str) -> list[str]:
        if not may_be_compound(question):
            return [question]
        messages = prompts.DECOMPOSE.messages(question=prompts.as_data(question))
        said = self.client.ask(messages, SubQuestions, max_tokens=MAX_PARTS_TOKENS)
        parts = list(dict.fromkeys(filter(None, map(str.strip, said.questions))))
        whole = len(parts) > 1 and not lost_terms(question, " ".join(parts))
        return parts if whole else [question]
