"""The NLI loop as published: the writer is an LLM, its support is checked by a local entailment model.

Faults kept on purpose:
- nothing kept changes nothing: the writer is asked without passages, twice, and only the premise that
  holds nothing stops the answer. ``after_grades_short`` ends there instead;
- the usefulness of an answer is asked, and paid for, also when it is not supported: that is why a retry
  costs two calls and not one;
- the second attempt gets the same prompt as the first;
- the entailment model is loaded for every check;
- all passages are one premise, of which the model reads the first 512 words, and the whole answer is one
  hypothesis.

The entailment model is no LLM: its checks are not counted as calls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict

from cookbook.published.graphs import Blueprint
from cookbook.published.models import Judges, Shelf, Store
from cookbook.published.steps import Update, grade
from cookbook.reflect.terms import content_words
from cookbook.schema import Hit, Status, Usefulness

if TYPE_CHECKING:
    from cookbook.published.graphs import Graph

K = 5  # passages per retrieval
FALLBACK = "I could not find an answer in the digest that I can stand by."


class Entailment(Protocol):
    """A local model that says whether a premise entails a hypothesis."""

    def entails(self, premise: str, hypothesis: str) -> bool: ...


class WordEntailment:
    """The stand-in: entailed is what has no content word that the premise lacks.

    It reads 512 words of the premise, as a cross-encoder cuts at as many tokens, and does not say so.
    """

    READS = 512

    def entails(self, premise: str, hypothesis: str) -> bool:
        read = " ".join(premise.split()[: self.READS])
        return bool(wanted := content_words(hypothesis)) and wanted <= content_words(read)


class NliJudges(Judges):
    """The scripted model of the loop, over the digest, with an entailment model beside it.

    ``load_nli`` builds one by calling ``load``, and ``loads`` counts how often that happened.
    """

    def __init__(
        self, store: Store | None = None, *, load: Callable[[], Entailment] = WordEntailment, **replies: Any
    ) -> None:
        super().__init__(store or Shelf.of("attention_digest"), **replies)
        self._load = load
        self.loads = 0

    def load_nli(self) -> Entailment:
        self.loads += 1
        return self._load()


@dataclass(frozen=True)
class Caps:
    """How often a request may write."""

    attempts: int = 2


class State(TypedDict):
    """One request; a field that a node does not return keeps its value."""

    question: str
    hits: list[Hit]
    kept: list[Hit]
    draft: str
    supported: bool
    usefulness: Usefulness | None
    attempts: int
    status: Status


def fresh_state(question: str) -> State:
    """A request before its first node. ``status`` says answered until a node says otherwise."""
    return State(
        question=question,
        hits=[],
        kept=[],
        draft="",
        supported=False,
        usefulness=None,
        attempts=0,
        status=Status.ANSWERED,
    )


# ---------------------------------------------------------------- nodes


def retrieve(state: State, judges: NliJudges) -> Update:
    return {"hits": judges.store.retrieve(state["question"], K)}


def generate(state: State, judges: NliJudges) -> Update:
    draft = judges.generate(state["question"], state["kept"])  # FAULT: the same prompt both times
    return {"draft": draft, "attempts": state["attempts"] + 1}


def check_support(state: State, judges: NliJudges) -> Update:
    premise = "\n".join(hit.text for hit in state["kept"])  # FAULT: one premise, cut where the model stops
    return {"supported": judges.load_nli().entails(premise, state["draft"])}  # FAULT: loaded every time


def check_usefulness(state: State, judges: NliJudges) -> Update:
    return {"usefulness": judges.usefulness(state["question"], state["draft"])}


def fallback(state: State, judges: NliJudges) -> Update:
    return {"draft": FALLBACK, "status": Status.REFUSED}


# ---------------------------------------------------------------- routers


def after_grades(state: State, caps: Caps) -> Literal["generate"]:
    return "generate"  # FAULT: also from nothing


def after_usefulness(state: State, caps: Caps) -> Literal["__end__", "generate", "fallback"]:
    if state["supported"] and state["usefulness"] is Usefulness.USEFUL:
        return "__end__"
    return "generate" if state["attempts"] < caps.attempts else "fallback"


# ---------------------------------------------------------------- the graph

_BLUEPRINT = Blueprint(
    name="published_nli_loop",
    schema=State,
    nodes=(retrieve, grade, generate, check_support, check_usefulness, fallback),
    edges={
        "retrieve": "grade",
        "generate": "check_support",
        "check_support": "check_usefulness",
        "fallback": "__end__",
    },
    routers={"grade": after_grades, "check_usefulness": after_usefulness},
    refuses="fallback",
)


def build(
    judges: NliJudges, *, caps: Caps | None = None, schema: type = State, **swaps: Callable[..., Any]
) -> Graph:
    """Compile the graph on ``judges``; a node or a router is replaced by its name, as in ``handbook.build``."""
    return _BLUEPRINT.build(judges, caps or Caps(), swaps, schema)


def after_grades_short(state: State, caps: Caps) -> Literal["generate", "fallback"]:
    """The short circuit: with nothing to write from, the fallback at once."""
    return "generate" if state["kept"] else "fallback"
