"""Passages that pile up: a field that adds, and nodes that return the whole state, make 64 of 4.

Taught in notebooks/labs/43_repetition.ipynb.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed, unfit
from cookbook.published import handbook, steps
from cookbook.published.graphs import Node, Run, run
from cookbook.published.handbook import Caps
from cookbook.published.models import Judges, Shelf, in_turn
from cookbook.published.steps import Update
from cookbook.schema import Hit, Relevance, Usefulness

LAB = Lab(
    module=__name__,
    title="Four passages become sixty-four",
    difficulty=2,
    minutes=20,
    you_will="say what a reducer does with what a node returns, and keep a field that belongs to one round from growing",
    symptom=(
        "A request that needs a second search costs five times as much as one that does not, and a third "
        "search costs more than a thousand calls. The retriever "
        "returns four passages each time."
    ),
    task=(
        "Write `build_graph(judges, caps)`: the same loop, in which the state never holds more than the "
        "passages of the last search (four, or fewer if it found fewer), and nothing is graded but those. "
        "`handbook.build(judges, caps=caps, schema=MyState, retrieve=my_node, ...)` compiles the published "
        "graph with your state and your nodes. What you leave out is as published, and the graph as published "
        "has "
        "neither of the two halves above; only its `retrieve` fetches five passages, and yours has to fetch "
        "four, with `judges.store.retrieve(state[\"query\"], 4)`. A node takes `(state, judges)` and returns "
        "the fields that it changes."
    ),
    hints=(
        "Read the column *hits it returned* as a sum: what the state held, plus what the node returned. Which "
        "nodes return passages that they did not fetch?",
        "Without `schema=` the state is `handbook.State`, in which `hits` is a plain list: what a node "
        "returns takes the place of what was there. So one node is all that you have to write: "
        "`my_node(state, judges)` returns `{\"hits\": ...}` with the four passages, and nothing else.",
    ),
    in_the_wild=(
        "With `operator.add` an empty list clears nothing; a change to LangGraph's documentation says so "
        "because an error list that was never cleared sent an agent round until its recursion limit "
        "(langchain-ai/docs, pull request 5585). Subgraphs that return what they were given double such a "
        "field at each level, as expected (langchain-ai/langgraph, issue 3648)."
    ),
    transfer=(
        "Now two retrievers run in one superstep, and both return `hits`. LangGraph refuses that for a field "
        "that is overwritten: two values, one place. Which reducer keeps both and "
        "still forgets the round before?"
    ),
    answer=(
        "None that sees only two lists: it cannot know whether the second belongs to this round. Let each "
        "retriever write a field of its own, overwritten, and let the next node join them; or let a value say "
        "its "
        "round, so that the reducer drops older ones. A reducer that drops duplicates by id keeps the list "
        "short for a while, and keeps the old passages too."
    ),
    pitfall=(
        "They let the rewriter return `hits: []` once more, or cut the list down before it is graded "
        "(`hits[:4]`), which grades the first search for ever. Ask them for the length in the "
        "state, and for the ids that the grader saw in round 2."
    ),
)  # fmt: skip

Builder = Callable[[Judges, Caps], Any]

K = 4
QUESTION = "Can I export my data after I cancel my plan?"
QUERIES = ("How much does the starter plan cost per month?", "read-only retention window")
LIMIT = 60


# ---------------------------------------------------------------- the graph


class Piling(handbook.State):
    """The published state, with a field that adds."""

    hits: Annotated[list[Hit], operator.add]


def whole(node: Node) -> Node:
    """The node, returning the whole state and not only what it changed."""

    def returns_everything(state: Piling, judges: Judges) -> Update:
        return {**state, **(node(state, judges) or {})}

    return returns_everything


def retrieve(state: handbook.State, judges: Judges) -> Update:
    return {"hits": judges.store.retrieve(state["query"], K)}


def rewrite_and_clear(state: handbook.State, judges: Judges) -> Update:
    return {**handbook.rewrite(state, judges), "hits": []}  # the old passages are of no use any more


NODES: dict[str, Node] = {
    "retrieve": whole(retrieve),
    "grade": whole(steps.grade),
    "generate": whole(steps.generate),
    "check_support": whole(handbook.check_support),
    "check_usefulness": whole(handbook.check_usefulness),
    "rewrite": whole(rewrite_and_clear),
}


def piling(judges: Judges, caps: Caps) -> Any:
    """The handbook graph on a state that adds, with nodes that return all of it."""
    return handbook.build(judges, caps=caps, schema=Piling, **NODES)


def build_graph(judges: Judges, caps: Caps) -> Any:
    """The handbook graph, compiled, with four passages a search: the state holds those of the last search only.

    Everything else is as published.
    """
    ### BEGIN SOLUTION

    def fetch_four(state: handbook.State, judges: Judges) -> Update:
        return {"hits": judges.store.retrieve(state["query"], 4)}

    return handbook.build(judges, caps=caps, retrieve=fetch_four)
    ### END SOLUTION


def broken() -> Builder:
    return piling


def solution() -> Builder:
    return build_graph


# ---------------------------------------------------------------- one request


class Few:
    """A store that finds only two passages for its second query, as one with a filter may."""

    def __init__(self) -> None:
        self.shelf = Shelf.of("larkspur")

    def retrieve(self, query: str, k: int = 5) -> list[Hit]:
        return self.shelf.retrieve(query, 2 if query == QUERIES[1] else k)


@dataclass(frozen=True)
class Request:
    """A run, and the ids of the passages that the grader was asked about, in order."""

    run: Run
    asked: list[str]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each node: the passages it returned, and how many the state held then, for a field that adds."""
        rows, held = [], 0
        for step in self.run.trace.steps:
            notes = dict(part.split(": ", 1) for part in step.note.split("; ") if ": " in part)
            returned = int(notes.get("hits", 0))
            held += returned
            rows.append(
                {
                    "node": step.node,
                    "calls": step.calls,
                    "hits it returned": returned,
                    "hits in the state": held,
                }
            )
        return rows


def ask(build: Builder, *, rewrites: int, store: Any = None) -> Request:
    """A request whose answer is useful after so many rewrites; each query finds other passages."""
    asked: list[str] = []

    def relevance(question: str, hit: Hit) -> Relevance:
        asked.append(hit.chunk_id)
        return Relevance.RELEVANT

    verdicts = [Usefulness.NOT_USEFUL] * rewrites + [Usefulness.USEFUL]
    judges = Judges(
        store, relevance=relevance, usefulness=in_turn(*verdicts), rewrite=in_turn(*QUERIES[::-1])
    )
    first = {**handbook.fresh_state(QUESTION), "query": QUERIES[0]}
    return Request(run(build(judges, Caps()), first, recursion_limit=LIMIT), asked)


# ---------------------------------------------------------------- the check


@guard(returns="a compiled graph")
def check(candidate: Builder) -> LabVerdict:
    """One search; two searches with other passages; a second search that finds only two."""
    if (verdict := unfit(candidate(Judges(), Caps()))) is not None:
        return verdict
    once = ask(candidate, rewrites=0)
    if (verdict := _one_search(once)) is not None:
        return verdict
    twice = ask(candidate, rewrites=1)
    for request, found in ((twice, 4), (ask(candidate, rewrites=1, store=Few()), 2)):
        if (verdict := _two_searches(request, found)) is not None:
            return verdict
    return passed(
        f"one search: 4 passages in the state and {once.run.calls} calls; two searches: still 4, those of the "
        f"second, and {twice.run.calls} calls, where the "
        "piling graph makes 80"
    )


def _one_search(request: Request) -> LabVerdict | None:
    held = request.run.state["hits"]
    if len(held) > len({hit.chunk_id for hit in held}):
        return failed(
            "passages_multiply",
            f"one search fetches 4 passages, and the state holds {len(held)} at the end. The field `hits` "
            "adds what a node returns to what it holds, and nodes return `hits` "
            f"that they did not fetch. Let the nodes return only what they changed, and `hits` be overwritten",
        )
    if len(held) != K:
        return failed(
            "other_k",
            f"one search leaves {len(held)} passages in the state, and it is to fetch {K}: is a `retrieve` of "
            "yours passed to `handbook.build`?",
        )
    return None


def _two_searches(request: Request, found: int) -> LabVerdict | None:
    """What is wrong with a request whose second search finds so many passages; None when nothing is."""
    done, held = request.run, request.run.state["hits"]
    if done.ran("retrieve") != 2:
        return failed(
            "searched_once",
            f"the first answer is not useful, and `retrieve` ran {done.ran('retrieve')} time(s). A useless "
            "answer is searched for again",
        )
    wanted = [hit.chunk_id for hit in Shelf.of("larkspur").retrieve(QUERIES[1], found)]
    saw = f"a first search finds 4 passages and a second one {found}"
    if len(request.asked) != K + found:
        return failed(
            "old_passages_graded",
            f"{saw}: the grader was asked {len(request.asked)} times and should be asked {K + found} times "
            f"({done.calls} calls); at the end the state holds {len(held)}. What the first search found is "
            "still "
            "there when the second one is graded: a reducer that adds keeps it, and `hits: []` adds nothing "
            "to it",
        )
    if request.asked[K:] != wanted:
        return failed(
            "first_search_for_ever",
            f"{saw}: in round 2 the grader was asked about {', '.join(request.asked[K:])}, and the second "
            f"search found {', '.join(wanted)}",
        )
    if [hit.chunk_id for hit in held] != wanted:
        return failed(
            "old_passages_kept",
            f"{saw}: the grader saw the right ones, and the state still holds {len(held)} at the end. "
            "Whatever reads `hits` next gets them all",
        )
    return None
