"""The revise graph as published: unsupported answers are revised, useless ones sent back with a new query.

Faults kept on purpose:
- nothing relevant ends in ``no_answer`` at once, so the rewriter never runs when it is needed most;
- ``no_answer`` leaves the verdicts of an earlier pass in the state, beside its refusal;
- an answer that is still not supported at the cap goes on to ``check_usefulness`` and out;
- the reason for "not useful" stays in the state and never reaches the rewriter;
- quotes are kept as evidence without a look into the passages;
- ``rewrite`` leaves ``revisions`` as it is, so the first pass can use up the revisions of all passes.
  ``rewrite_with_reset`` mends that one, and makes the longest path 36 supersteps instead of 24.

The worst case has three passes (two rewrites), each with a grade a passage, a draft, a support check and
a usefulness check; revisions, each with its own support check, come on top: three in all, or three a pass.
The path ends at ``check_usefulness``: a useless answer at the cap of rewrites is returned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from cookbook.published.graphs import Blueprint
from cookbook.published.models import Judges
from cookbook.published.steps import Update, after_gate, answer_directly, decide_retrieval, generate, grade
from cookbook.schema import Hit, Retrieve, Status, Support, Usefulness

if TYPE_CHECKING:
    from cookbook.published.graphs import Graph

K = 5  # passages per retrieval
NO_ANSWER = "No answer found."


@dataclass(frozen=True)
class Caps:
    """How often a request may rewrite, and revise."""

    rewrites: int = 2
    revisions: int = 3


class State(TypedDict):
    """One request; a field that a node does not return keeps its value."""

    question: str
    query: str
    retrieve: Retrieve | None
    hits: list[Hit]
    kept: list[Hit]
    draft: str
    support: Support | None
    evidence: tuple[str, ...]
    usefulness: Usefulness | None
    why: str
    rewrites: int
    revisions: int
    status: Status


def fresh_state(question: str) -> State:
    """A request before its first node. ``status`` says answered until a node says otherwise."""
    return State(
        question=question,
        query=question,
        retrieve=None,
        hits=[],
        kept=[],
        draft="",
        support=None,
        evidence=(),
        usefulness=None,
        why="",
        rewrites=0,
        revisions=0,
        status=Status.ANSWERED,
    )


# ---------------------------------------------------------------- nodes


def retrieve(state: State, judges: Judges) -> Update:
    return {"hits": judges.store.retrieve(state["query"], K)}


def check_support(state: State, judges: Judges) -> Update:
    support, quotes = judges.support_with_quotes(state["question"], state["draft"], state["kept"])
    return {"support": support, "evidence": quotes}  # FAULT: nobody looks whether a passage holds the quotes


def revise(state: State, judges: Judges) -> Update:
    draft = judges.revise(state["question"], state["draft"], state["kept"])
    return {"draft": draft, "revisions": state["revisions"] + 1}


def check_usefulness(state: State, judges: Judges) -> Update:
    verdict = judges.usefulness(state["question"], state["draft"])
    why = "" if verdict is Usefulness.USEFUL else f"This answer did not resolve it: {state['draft']}"
    return {"usefulness": verdict, "why": why}


def rewrite(state: State, judges: Judges) -> Update:
    query = judges.rewrite(state["question"], state["query"])  # FAULT: without state["why"]
    return {"query": query, "rewrites": state["rewrites"] + 1}


def no_answer(state: State, judges: Judges) -> Update:
    return {"draft": NO_ANSWER, "status": Status.REFUSED}  # FAULT: support and usefulness stay


# ---------------------------------------------------------------- routers


def after_grades(state: State, caps: Caps) -> Literal["generate", "no_answer"]:
    return "generate" if state["kept"] else "no_answer"  # FAULT: whatever is left of the rewrites


def after_support(state: State, caps: Caps) -> Literal["check_usefulness", "revise"]:
    if state["support"] is not Support.FULLY and state["revisions"] < caps.revisions:
        return "revise"
    return "check_usefulness"  # FAULT: also what is not supported at the cap


def after_usefulness(state: State, caps: Caps) -> Literal["__end__", "rewrite"]:
    if state["usefulness"] is not Usefulness.USEFUL and state["rewrites"] < caps.rewrites:
        return "rewrite"
    return "__end__"


# ---------------------------------------------------------------- the graph

_BLUEPRINT = Blueprint(
    name="published_revise",
    schema=State,
    nodes=(
        decide_retrieval,
        answer_directly,
        retrieve,
        grade,
        generate,
        check_support,
        revise,
        check_usefulness,
        rewrite,
        no_answer,
    ),
    edges={
        "answer_directly": "__end__",
        "retrieve": "grade",
        "generate": "check_support",
        "revise": "check_support",
        "rewrite": "retrieve",
        "no_answer": "__end__",
    },
    routers={
        "decide_retrieval": after_gate,
        "grade": after_grades,
        "check_support": after_support,
        "check_usefulness": after_usefulness,
    },
    refuses="no_answer",
)


def build(
    judges: Judges, *, caps: Caps | None = None, schema: type = State, **swaps: Callable[..., Any]
) -> Graph:
    """Compile the graph on ``judges``; a node or a router is replaced by its name, as in ``handbook.build``."""
    return _BLUEPRINT.build(judges, caps or Caps(), swaps, schema)


def rewrite_with_reset(state: State, judges: Judges) -> Update:
    """A new query starts a new count of revisions; the longest path grows with it."""
    return {**rewrite(state, judges), "revisions": 0}
