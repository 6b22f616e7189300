"""What a loop knows while one request runs, and the judges and caps it works with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypedDict

from cookbook.reflect.gate import Gate
from cookbook.reflect.generate import Draft, Writer
from cookbook.reflect.relevance import RelevanceGrader
from cookbook.reflect.rewrite import Rewriter
from cookbook.reflect.support import SupportGrader
from cookbook.reflect.usefulness import UsefulnessGrader
from cookbook.schema import Hit, Relevance, Retrieve, Support, Usefulness, Verdict


class Judges(TypedDict, total=False):
    """The steps of a loop that ask somebody: each can be replaced by keyword when a system is built."""

    gate: Gate
    relevance: RelevanceGrader
    writer: Writer
    support: SupportGrader
    usefulness: UsefulnessGrader
    rewriter: Rewriter


class Caps(Protocol):
    """How often each loop may run in one request, and what follows from that."""

    @property
    def rewrites(self) -> int: ...

    @property
    def regenerations(self) -> int: ...

    formula: ClassVar[str]
    """``calls`` as a sentence of arithmetic over the caps and k, for people; a test evaluates it."""

    def calls(self, k: int) -> int:
        """The most LLM calls that a request over k passages can make."""

    def supersteps(self) -> int:
        """The most nodes on a path through the graph."""


@dataclass(frozen=True)
class Found:
    """A supported answer that was judged not useful. A refusal may show it, named as what it is."""

    draft: Draft
    keeps: tuple[Hit, ...]


class State(TypedDict):
    """One request. ``question`` is never overwritten. ``judged`` remembers the grade of every passage by
    its chunk id, because a passage that comes back after a rewrite need not be paid for twice. The hits,
    the draft and the checks belong to the current round and are replaced, never appended to."""

    question: str
    retrieval_query: str
    tried: list[str]
    hits: list[Hit]
    judged: dict[str, Verdict[Relevance]]
    keeps: list[Hit]
    draft: Draft | None
    repeated: bool
    feedback: str
    gate: Verdict[Retrieve] | None
    support: Verdict[Support] | None
    usefulness: Verdict[Usefulness] | None
    found: Found | None
    rewrites: int
    regenerations: int
    failure: str


Update = dict[str, Any]
"""What a node returns: the fields it changed, and no others."""


def fresh_state(question: str) -> State:
    """Every field set, so that nothing of an earlier question survives on a reused thread."""
    return State(
        question=question,
        retrieval_query=question,
        tried=[],
        hits=[],
        judged={},
        keeps=[],
        draft=None,
        repeated=False,
        feedback="",
        gate=None,
        support=None,
        usefulness=None,
        found=None,
        rewrites=0,
        regenerations=0,
        failure="",
    )


def written(state: State) -> Draft:
    """The draft of this round; a loop that checks before it writes is wired wrongly."""
    draft = state["draft"]
    assert draft is not None, "a check was reached without a draft: the graph is wired wrongly"
    return draft


def was_tried(state: State, query: str) -> bool:
    """True when this query, upper and lower case aside, has been searched in this request."""
    return query.casefold() in {tried.casefold() for tried in state["tried"]}
