"""The semantic cache: an answer that was given is given again to the same question in other words.

Vectors find the question that was asked before; they cannot say that it asks the same. "Before" and "after"
lie closer together than most paraphrases, and no threshold parts them. So the words decide: both questions
must say the same things in the same order.
Taught in notebooks/25_adaptive_loop.ipynb.
"""

from __future__ import annotations

import json
import re
from collections import deque
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cookbook.lexical import terms
from cookbook.providers.meter import open_meters
from cookbook.schema import Answer, Provenance, Status
from cookbook.systems.base import Parts
from cookbook.tracing import request, step

THRESHOLD = 0.95

# ---------------------------------------------------------------- the guard

_WORD = re.compile(r"[^\W_]+(?:[-'./_][^\W_]+)*")
_FRONTED = re.compile(
    r"^\s*((?:after|before|once|when|while|if|unless|until|since)\b[^,]*),\s*(.*)$", re.DOTALL
)
_CONTRACTED = (("’", "'"), ("can't", "can not"), ("won't", "will not"), ("n't", " not"))
_IDLE = frozenset(
    "a an the am is are be been being do does can could may might able have has there here it its this that these "
    "those i me my mine we us our ours you your yours please of for in on at as and so just also".split()
)
"""Words that two ways of asking the same may differ in. All others count: who and when, from and to, was and
will, or, must, her."""


def content(question: str) -> tuple[str, ...]:
    """What a question says: its words in order, as stems, without idle words.

    A clause in front ("After I cancel, can I export?") goes to the end, where others put it. English only.
    """
    text = question.casefold()
    for contracted, full in _CONTRACTED:
        text = text.replace(contracted, full)
    if fronted := _FRONTED.match(text):
        text = f"{fronted[2].rstrip(' ?.!')} {fronted[1]}"
    said: list[str] = []
    for word in _WORD.findall(text):
        if word in ("not", "no", "cannot"):  # stop words to a search, the whole point of a question
            said.append("not")
        elif word not in _IDLE:
            said += terms(word) or [word]
    return tuple(said)


def difference(asked: str, before: str) -> str:
    """How the contents of two questions differ, for people: ``after / before``; empty when they do not."""
    new, old = content(asked), content(before)
    if new == old:
        return ""
    only = [[term for term in side if term not in other] for side, other in ((new, old), (old, new))]
    return " / ".join(" ".join(words) or "-" for words in only) if any(only) else "another order"


# ---------------------------------------------------------------- the cache


@dataclass(frozen=True)
class Entry:
    """An answer that may be given again, the vector of its question, and all it depends on besides."""

    answer: Answer
    vector: NDArray[np.float32]
    scope: str


@dataclass(frozen=True)
class LookUp:
    """What a look-up brought: the entry to serve, if any, and what it saw on the way."""

    entry: Entry | None
    note: str


class SemanticCache:
    """The answers of one process, the newest ``size`` of them.

    An entry is served when its cosine reaches ``threshold``, its content is the same, and its scope is equal:
    system, model, index version, embedder, search mode, filters and k. One cache can serve many systems and
    tenants: what one may not see has another scope.
    """

    def __init__(self, *, threshold: float = THRESHOLD, size: int = 1_000) -> None:
        self.threshold = threshold
        self._entries: deque[Entry] = deque(maxlen=size)

    def __len__(self) -> int:
        return len(self._entries)

    def look_up(self, question: str, vector: NDArray[np.float32], scope: str) -> LookUp:
        """The nearest entry that asks the same; else a note on the nearest that does not."""
        near = [(float(e.vector @ vector), e) for e in self._entries if e.scope == scope]
        near = sorted((pair for pair in near if pair[0] >= self.threshold), key=lambda pair: -pair[0])
        for cosine, entry in near:
            if not difference(question, entry.answer.question):
                return LookUp(entry, f"asked before at {cosine:.3f}: {entry.answer.question}")
        if not near:
            return LookUp(None, "not asked before")
        cosine, entry = near[0]
        other = entry.answer.question
        return LookUp(None, f"not the same at {cosine:.3f} ({difference(question, other)}): {other}")

    def keep(self, answer: Answer, vector: NDArray[np.float32], scope: str) -> None:
        """Remember an answer from passages. A refusal may be wrong tomorrow, a failure is wrong today, and
        an answer from memory rests on nothing: they are not kept."""
        if answer.status is Status.ANSWERED and answer.provenance is Provenance.PASSAGES:
            self._entries.append(Entry(answer, vector, scope))


class Answering(Protocol):
    """A system with its parts, as all of them are."""

    parts: Parts

    def answer(self, question: str) -> Answer: ...


class Cached:
    """Any system behind a semantic cache. A look-up costs one embedding and no call."""

    def __init__(self, system: Answering, cache: SemanticCache | None = None) -> None:
        self.system, self.parts = system, system.parts
        self.cache = SemanticCache() if cache is None else cache

    def answer(self, question: str) -> Answer:
        """As the system's. The trace begins with the look-up; one that hits is all there is of it."""
        if not question.strip():
            return self.system.answer(question)  # which says what is wrong with it
        scope = self.scope()
        with request(question, system=type(self.system).__name__) as trace, step("semantic_cache") as entry:
            for meter in open_meters():
                meter.add_embedding()
            vector = self.parts.retriever.embedder.embed([question])[0]
            found = self.cache.look_up(question, vector, scope)
            entry.note = found.note
        if found.entry is not None:
            kept = found.entry.answer
            trace.system, trace.model = kept.trace.system, kept.trace.model
            trace.stop_reason = "semantic_cache"
            return replace(kept, question=question, trace=trace)
        answer = self.system.answer(question)
        answer.trace.steps.insert(0, entry)
        self.cache.keep(answer, vector, scope)
        return answer

    def scope(self) -> str:
        """Everything but the question that an answer depends on. Another version of the index is another scope."""
        parts, retriever = self.parts, self.parts.retriever
        return json.dumps(
            [
                type(self.system).__name__,
                parts.model.chat_model if parts.model else "",
                retriever.store.name,
                retriever.store.version,
                retriever.embedder.fingerprint.key,
                retriever.mode,
                sorted(retriever.filters.items()),
                parts.k,
            ]
        )
