"""The handbook graph as published: it answers from nothing, and its regenerations are never counted.

Faults kept on purpose:
- nothing relevant at the cap of rewrites still goes to ``generate``, and ``check_support`` passes an
  answer without passages, because there is nothing to check it against: no call is made;
- ``after_support`` counts the regenerations in its own copy of the state, which LangGraph throws away;
- at the cap of regenerations (reached only when a node counts) the unsupported draft goes on to
  ``check_usefulness`` and is returned as an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from cookbook.published.graphs import Blueprint
from cookbook.published.models import Judges
from cookbook.published.steps import Update, after_gate, answer_directly, decide_retrieval, generate, grade
from cookbook.reflect.refuse import SENTENCES
from cookbook.schema import Hit, Reason, Retrieve, Status, Support, Usefulness

if TYPE_CHECKING:
    from cookbook.published.graphs import Graph

K = 5  # passages per retrieval


@dataclass(frozen=True)
class Caps:
    """How often a request may rewrite and regenerate."""

    rewrites: int = 2
    regenerations: int = 2


class State(TypedDict):
    """One request; a field that a node does not return keeps its value."""

    question: str
    query: str
    retrieve: Retrieve | None
    hits: list[Hit]
    kept: list[Hit]
    draft: str
    feedback: str
    support: Support | None
    usefulness: Usefulness | None
    rewrites: int
    regenerations: int
    status: Status
    reason: Reason | None


def fresh_state(question: str) -> State:
    """A request before its first node. ``status`` says answered until a node says otherwise."""
    return State(
        question=question,
        query=question,
        retrieve=None,
        hits=[],
        kept=[],
        draft="",
        feedback="",
        support=None,
        usefulness=None,
        rewrites=0,
        regenerations=0,
        status=Status.ANSWERED,
        reason=None,
    )


# ---------------------------------------------------------------- nodes


def retrieve(state: State, judges: Judges) -> Update:
    return {"hits": judges.store.retrieve(state["query"], K)}


def check_support(state: State, judges: Judges) -> Update:
    if not state["kept"]:
        return {"support": Support.FULLY}  # FAULT: "nothing to check" is read as "checked"
    verdict = judges.support(state["question"], state["draft"], state["kept"])
    if verdict is Support.FULLY:
        return {"support": verdict}
    return {
        "support": verdict,
        "feedback": f"A previous attempt was rejected because nothing supports it: {state['draft']}",
    }


def regenerate(state: State, judges: Judges) -> Update:
    # FAULT: this node runs once for each regeneration and does not count it
    return {"draft": judges.generate(state["question"], state["kept"], state["feedback"])}


def check_usefulness(state: State, judges: Judges) -> Update:
    verdict = judges.usefulness(state["question"], state["draft"])
    if verdict is Usefulness.USEFUL:
        return {"usefulness": verdict}
    return {"usefulness": verdict, "feedback": f"This answer did not resolve it: {state['draft']}"}


def rewrite(state: State, judges: Judges) -> Update:
    query = judges.rewrite(state["question"], state["query"], state["feedback"])
    return {"query": query, "rewrites": state["rewrites"] + 1}


def refuse(state: State, judges: Judges) -> Update:
    """A fixed sentence and the reason, whichever router sent the request here."""
    if not state["kept"]:
        reason = Reason.NO_RELEVANT_PASSAGE
    elif state["support"] is not Support.FULLY:
        reason = Reason.NOT_SUPPORTED
    else:
        reason = Reason.NOT_USEFUL
    return {"draft": SENTENCES[reason], "status": Status.REFUSED, "reason": reason}


# ---------------------------------------------------------------- routers


def after_grades(state: State, caps: Caps) -> Literal["generate", "rewrite"]:
    if state["kept"]:
        return "generate"
    if state["rewrites"] < caps.rewrites:
        return "rewrite"
    return "generate"  # FAULT: from nothing


def after_support(state: State, caps: Caps) -> Literal["check_usefulness", "regenerate"]:
    if state["support"] is Support.FULLY:
        return "check_usefulness"
    if state["regenerations"] < caps.regenerations:
        state["regenerations"] += 1  # FAULT: a router's state is a copy, this is lost
        return "regenerate"
    return "check_usefulness"  # FAULT: what nothing supports goes on


def after_usefulness(state: State, caps: Caps) -> Literal["__end__", "rewrite", "refuse"]:
    if state["usefulness"] is Usefulness.USEFUL:
        return "__end__"
    return "rewrite" if state["rewrites"] < caps.rewrites else "refuse"


# ---------------------------------------------------------------- the graph

_BLUEPRINT = Blueprint(
    name="published_handbook",
    schema=State,
    nodes=(
        decide_retrieval,
        answer_directly,
        retrieve,
        grade,
        generate,
        check_support,
        regenerate,
        check_usefulness,
        rewrite,
        refuse,
    ),
    edges={
        "answer_directly": "__end__",
        "retrieve": "grade",
        "generate": "check_support",
        "regenerate": "check_support",
        "rewrite": "retrieve",
        "refuse": "__end__",
    },
    routers={
        "decide_retrieval": after_gate,
        "grade": after_grades,
        "check_support": after_support,
        "check_usefulness": after_usefulness,
    },
    refuses="refuse",
)


def build(
    judges: Judges, *, caps: Caps | None = None, schema: type = State, **swaps: Callable[..., Any]
) -> Graph:
    """Compile the graph on ``judges``; a node or a router is replaced by its name.

    ``build(judges, regenerate=counted)`` takes ``counted(state, judges)``, ``build(judges,
    after_support=router)`` takes ``router(state, caps)``. ``schema`` is for a state with more fields or
    other reducers. ConfigError for a name that the graph does not have.
    """
    return _BLUEPRINT.build(judges, caps or Caps(), swaps, schema)


def regenerate_counted(state: State, judges: Judges) -> Update:
    """The first half of the mend: the node counts itself. What happens at the cap is still wrong."""
    return {**regenerate(state, judges), "regenerations": state["regenerations"] + 1}
