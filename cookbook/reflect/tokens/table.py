"""A model written by hand: a table of what it says, with probabilities. For tests, and for doing sums on paper."""

from __future__ import annotations

import math
from collections.abc import Mapping

from cookbook.errors import ConfigError
from cookbook.reflect.tokens.model import Continuation, Token
from cookbook.reflect.tokens.vocabulary import END_PARAGRAPH, PARAGRAPH, RETRIEVAL

_RESPONSE = "### Response:\n"


def written(*parts: str | Mapping[str, float]) -> Continuation:
    """A continuation by hand, a part for each token: its text if it is certain, else {text: probability}.

    Of a mapping the most probable text is the emitted one, the first among equals. Texts of probability 0 are
    left out, as a model leaves out what is beyond its top alternatives.
    """
    tokens = []
    for part in parts:
        weighed = {part: 1.0} if isinstance(part, str) else part
        top = {text: math.log(p) for text, p in weighed.items() if p > 0}
        text = max(top, key=top.__getitem__)
        tokens.append(Token(text, top[text], top))
    return Continuation(tuple(tokens))


class TableModel:
    """Looks up what to say by (what was said so far, title of the passage shown last, or "").

    ``("", "")`` is the question alone, ``("[No Retrieval]", "")`` the answer from memory. ``prompts`` lists
    every prompt it was given. ConfigError for a prompt that has no row.
    """

    def __init__(self, rows: Mapping[tuple[str, str], Continuation]) -> None:
        self.rows = rows
        self.prompts: list[str] = []

    def describe(self) -> str:
        return "a table written by hand"

    def complete(self, prompt: str, *, max_tokens: int) -> Continuation:
        self.prompts.append(prompt)
        said, _, passage = prompt.partition(_RESPONSE)[2].partition(RETRIEVAL + PARAGRAPH)
        title = passage.removesuffix(END_PARAGRAPH).partition("\n")[0]
        if (said, title) not in self.rows:
            raise ConfigError(f"the table has no row for {said!r} with the passage {title!r}; add one")
        return Continuation(self.rows[said, title].tokens[:max_tokens])
