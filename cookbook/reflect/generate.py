"""Generate: write an answer from passages, with citations that can be checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cookbook import prompts
from cookbook.providers import LLMClient
from cookbook.reflect.terms import content_words
from cookbook.schema import Hit

MAX_ANSWER_TOKENS = 160
_MARK = re.compile(r"\s*\[(\d+(?:\s*,\s*\d+)*)\]")
_SENTENCE = re.compile(r"[^.!?]+(?:[.!?]+(?=\s|$)|$)")
_EMPTY = re.compile(rf"\W*(?:{prompts.NO_ANSWER}|(?:YES )?ANSWER)\W*", re.IGNORECASE)
"""The sign of an abstention, and what a small model makes of it ("YES ANSWER."): a reply that says nothing."""


@dataclass(frozen=True)
class Draft:
    """A written answer. ``abstained`` is the writer's own "the passages do not hold it".

    ``text`` has no bracket marks. ``citations`` are chunk ids of the passages shown. ``attributed``
    says that the writer cited nothing and the citations come from word overlap instead.
    """

    text: str
    citations: tuple[str, ...] = ()
    abstained: bool = False
    attributed: bool = False


class Writer(Protocol):
    """Writes one answer from ``hits``; ``feedback`` tells why an earlier attempt was rejected."""

    def write(self, question: str, hits: Sequence[Hit], feedback: str = "") -> Draft: ...


class LLMWriter:
    """One call. The reply "NO ANSWER" is an abstention, a structured outcome and not a text."""

    def __init__(self, client: LLMClient) -> None:
        self.client = client

    def write(self, question: str, hits: Sequence[Hit], feedback: str = "") -> Draft:
        if not hits:
            raise ValueError("nothing to write from; refuse instead of generating from no passages")
        messages = prompts.GENERATE.messages(
            passages=prompts.passages_block(hits),
            question=prompts.as_data(question),
            feedback=f"<feedback>{prompts.as_data(feedback)}</feedback>\n" if feedback else "",
        )
        return read_draft(self.client.chat(messages, max_tokens=MAX_ANSWER_TOKENS), hits)


def read_draft(reply: str, hits: Sequence[Hit]) -> Draft:
    """Turn a reply into a draft: abstention, text without marks, validated citations.

    A bracket number that belongs to no passage is dropped. Without any valid mark, each sentence is
    attributed to the passage that shares most of its content words (at least half of them).
    """
    text = _MARK.sub("", reply).strip()
    if not text or _EMPTY.fullmatch(text):
        return Draft(text="", abstained=True)
    numbers = [int(n) for mark in _MARK.findall(reply) for n in mark.split(",")]
    cited = dict.fromkeys(hits[n - 1].chunk_id for n in numbers if 1 <= n <= len(hits))
    if cited:
        return Draft(text=text, citations=tuple(cited))
    return Draft(text=text, citations=tuple(dict.fromkeys(_attribute(text, hits))), attributed=True)


def _attribute(text: str, hits: Sequence[Hit]) -> list[str]:
    found = []
    for sentence in _SENTENCE.findall(text):
        words = content_words(sentence)
        if not words:
            continue
        shares = [len(words & content_words(hit.text)) / len(words) for hit in hits]
        best = max(range(len(hits)), key=shares.__getitem__)
        if shares[best] >= 0.5:
            found.append(hits[best].chunk_id)
    return found
