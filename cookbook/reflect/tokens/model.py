"""What a model must return for its reflection tokens to be read: every token, with the alternatives to it.

A table in a notebook, a transformers model and a llama.cpp server all fit behind ``TokenModel``.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class Token:
    """One emitted token. ``logprob`` is its natural log-probability.

    ``top`` maps alternatives at the same position to theirs; how many is up to the model. A token that is
    missing there has probability 0 as far as anybody knows.
    """

    text: str
    logprob: float
    top: Mapping[str, float] = field(default_factory=dict)

    def logprob_of(self, text: str) -> float | None:
        """The log-probability of an alternative, or of the token itself; None where the model did not say."""
        return self.logprob if text == self.text else self.top.get(text)


@dataclass(frozen=True)
class Continuation:
    """What a model wrote after a prompt, in order. An end-of-sequence token has the text "".

    ``prompt_tokens`` is the length of the prompt where the model says so, for the bill.
    """

    tokens: tuple[Token, ...] = ()
    prompt_tokens: int = 0

    @property
    def text(self) -> str:
        return "".join(token.text for token in self.tokens)

    @property
    def first(self) -> Token | None:
        return self.tokens[0] if self.tokens else None

    def first_of(self, group: Container[str]) -> Token | None:
        """The first emitted token that belongs to the group; None if the model wrote none."""
        return next((token for token in self.tokens if token.text in group), None)


class TokenModel(Protocol):
    """Continues a prompt greedily (the most probable token each time) by at most ``max_tokens`` tokens.

    The alternatives of a position hold every reflection token of any weight. An implementation may stop
    after ``[Retrieval]``: whatever a model writes behind it is a passage of its own invention.
    """

    def complete(self, prompt: str, *, max_tokens: int) -> Continuation: ...

    def describe(self) -> str:
        """Which model it is, in a few words, for a trace."""
