"""Best passage as published: an answer from each relevant passage, and the best of them is returned.

The published form is one function. Here its parts are nodes, so that one of them can be replaced.

Faults kept on purpose:
- ``pick`` asks only whether an answer is fully supported: (none, 5) beats (partially, 3);
- the best is returned whatever its support is;
- nothing relevant goes to ``generate_from_placeholder``: an answer from memory, without a support check.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from cookbook.published.graphs import Blueprint
from cookbook.published.models import Judges
from cookbook.published.steps import Update, after_gate, answer_directly, decide_retrieval, grade
from cookbook.schema import Hit, Retrieve, Status, Support, Utility

if TYPE_CHECKING:
    from cookbook.published.graphs import Graph

K = 5  # passages per retrieval
PLACEHOLDER = "No relevant context was found."


@dataclass(frozen=True)
class Candidate:
    """An answer from one passage, with what was judged of it."""

    text: str
    chunk_id: str
    support: Support
    utility: Utility


class State(TypedDict):
    """One request; a field that a node does not return keeps its value."""

    question: str
    retrieve: Retrieve | None
    hits: list[Hit]
    kept: list[Hit]
    candidates: list[Candidate]
    best: Candidate | None
    draft: str
    status: Status


def fresh_state(question: str) -> State:
    """A request before its first node. ``status`` says answered until a node says otherwise."""
    return State(
        question=question,
        retrieve=None,
        hits=[],
        kept=[],
        candidates=[],
        best=None,
        draft="",
        status=Status.ANSWERED,
    )


# ---------------------------------------------------------------- nodes


def retrieve(state: State, judges: Judges) -> Update:
    return {"hits": judges.store.retrieve(state["question"], K)}


def write_candidates(state: State, judges: Judges) -> Update:
    """Three calls for each relevant passage: an answer, its support, its utility."""
    question, candidates = state["question"], []
    for hit in state["kept"]:
        text = judges.generate(question, [hit])
        support = judges.support(question, text, [hit])
        candidates.append(Candidate(text, hit.chunk_id, support, judges.utility(question, text)))
    return {"candidates": candidates}


def pick(state: State, judges: Judges) -> Update:
    # FAULT: "partially" and "none" are the same to this key, and the best may be either
    best = max(state["candidates"], key=lambda found: (found.support is Support.FULLY, found.utility))
    return {"best": best, "draft": best.text}


def generate_from_placeholder(state: State, judges: Judges) -> Update:
    return {"draft": judges.generate(state["question"], [], PLACEHOLDER)}  # FAULT: and nothing checks it


# ---------------------------------------------------------------- routers


def after_grades(state: State, caps: None) -> Literal["write_candidates", "generate_from_placeholder"]:
    return "write_candidates" if state["kept"] else "generate_from_placeholder"


# ---------------------------------------------------------------- the graph

_BLUEPRINT = Blueprint(
    name="published_best_passage",
    schema=State,
    nodes=(
        decide_retrieval,
        answer_directly,
        retrieve,
        grade,
        write_candidates,
        pick,
        generate_from_placeholder,
    ),
    edges={
        "answer_directly": "__end__",
        "retrieve": "grade",
        "write_candidates": "pick",
        "pick": "__end__",
        "generate_from_placeholder": "__end__",
    },
    routers={"decide_retrieval": after_gate, "grade": after_grades},
)


def build(judges: Judges, *, schema: type = State, **swaps: Callable[..., Any]) -> Graph:
    """Compile the graph on ``judges``; a node or a router is replaced by its name, as in ``handbook.build``."""
    return _BLUEPRINT.build(judges, None, swaps, schema)
