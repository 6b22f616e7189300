"""What every support grader promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cookbook.prompts import Prompt, as_data, passages_block
from cookbook.schema import Hit, Support, Verdict


class SupportGrader(Protocol):
    """Checks an answer against passages. No passages can support nothing: that is an error to ask."""

    def check(self, question: str, answer: str, hits: Sequence[Hit]) -> Verdict[Support]: ...


def require_passages(hits: Sequence[Hit]) -> None:
    """ValueError without passages: a check of nothing would pass, and that is how unread answers get out."""
    if not hits:
        raise ValueError("a support check needs passages; with none, refuse before generating")


def asked(prompt: Prompt, question: str, answer: str, hits: Sequence[Hit]) -> list[dict[str, str]]:
    """The messages of a support prompt; ValueError without passages."""
    require_passages(hits)
    return prompt.messages(passages=passages_block(hits), question=as_data(question), answer=as_data(answer))
