"""The prompt recipe as published: seven steps with one-word verdicts, which any chat model can follow.

RETRIEVE or NO_RETRIEVE, USEFUL or NOT_USEFUL for each of eight passages, SUPPORTED or UNSUPPORTED for the
answer. Nothing kept and nothing supported both end in a refusal. There is no loop: no rewriting, no
second draft.

Fault kept on purpose: a reply begins with the yes word or it is a no. An empty reply and a reply with an
explanation before the word drop a passage, or an answer, as if that had been judged.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from cookbook.published.graphs import Blueprint
from cookbook.published.models import Judges, Shelf, Store
from cookbook.published.steps import Update, after_gate, answer_directly, decide_retrieval, generate, grade
from cookbook.reflect.refuse import SENTENCES
from cookbook.schema import (
    Decision,
    Hit,
    Label,
    Reason,
    Relevance,
    Retrieve,
    Status,
    Support,
    Verdict,
)
from cookbook.tracing import note_verdict

if TYPE_CHECKING:
    from cookbook.published.graphs import Graph

K = 8  # passages per retrieval

WORDS: dict[Decision, dict[str, Any]] = {
    Decision.RETRIEVE: {"RETRIEVE": Retrieve.YES, "NO_RETRIEVE": Retrieve.NO},
    Decision.RELEVANCE: {"USEFUL": Relevance.RELEVANT, "NOT_USEFUL": Relevance.IRRELEVANT},
    Decision.SUPPORT: {"SUPPORTED": Support.FULLY, "UNSUPPORTED": Support.NONE},
}
"""The two words of each decision, the yes word first, and what they mean."""


def starts_with(reply: str, yes: str) -> bool:
    """The published reading: the reply begins with the yes word."""
    return reply.strip().upper().startswith(yes)


class WordJudges(Judges):
    """The scripted model of the recipe, over the Rust notes: replies are words, and ``reads`` tells which mean yes.

    A script may reply with a label, which is spelled as its word, or with any text, which is read as it is.
    """

    def __init__(
        self,
        store: Store | None = None,
        *,
        reads: Callable[[str, str], bool] = starts_with,
        **replies: Any,
    ) -> None:
        super().__init__(store or Shelf.of("rust_notes"), **replies)
        self.reads = reads

    def _judge(self, label: type[Label], decision: Decision, *given: Any, subject: str = "") -> Label:
        meanings = WORDS[decision]
        (yes, meant_by_yes), (_, meant_by_no) = meanings.items()
        reply = self._ask(str, decision.value, *given)
        if isinstance(reply, StrEnum):
            reply = next(word for word, meant in meanings.items() if meant is reply)
        found: Label = meant_by_yes if self.reads(reply, yes) else meant_by_no
        note_verdict(Verdict(decision, found, subject=subject))
        return found


class State(TypedDict):
    """One request; a field that a node does not return keeps its value."""

    question: str
    retrieve: Retrieve | None
    hits: list[Hit]
    kept: list[Hit]
    draft: str
    support: Support | None
    status: Status
    reason: Reason | None


def fresh_state(question: str) -> State:
    """A request before its first node. ``status`` says answered until a node says otherwise."""
    return State(
        question=question,
        retrieve=None,
        hits=[],
        kept=[],
        draft="",
        support=None,
        status=Status.ANSWERED,
        reason=None,
    )


# ---------------------------------------------------------------- nodes


def retrieve(state: State, judges: Judges) -> Update:
    return {"hits": judges.store.retrieve(state["question"], K)}


def check_support(state: State, judges: Judges) -> Update:
    return {"support": judges.support(state["question"], state["draft"], state["kept"])}


def refuse(state: State, judges: Judges) -> Update:
    reason = Reason.NOT_SUPPORTED if state["kept"] else Reason.NO_RELEVANT_PASSAGE
    return {"draft": SENTENCES[reason], "status": Status.REFUSED, "reason": reason}


# ---------------------------------------------------------------- routers


def after_grades(state: State, caps: None) -> Literal["generate", "refuse"]:
    return "generate" if state["kept"] else "refuse"


def after_support(state: State, caps: None) -> Literal["__end__", "refuse"]:
    return "__end__" if state["support"] is Support.FULLY else "refuse"


# ---------------------------------------------------------------- the graph

_BLUEPRINT = Blueprint(
    name="published_recipe",
    schema=State,
    nodes=(decide_retrieval, answer_directly, retrieve, grade, generate, check_support, refuse),
    edges={
        "answer_directly": "__end__",
        "retrieve": "grade",
        "generate": "check_support",
        "refuse": "__end__",
    },
    routers={"decide_retrieval": after_gate, "grade": after_grades, "check_support": after_support},
    refuses="refuse",
)


def build(judges: Judges, *, schema: type = State, **swaps: Callable[..., Any]) -> Graph:
    """Compile the graph on ``judges``; a node or a router is replaced by its name, as in ``handbook.build``."""
    return _BLUEPRINT.build(judges, None, swaps, schema)
