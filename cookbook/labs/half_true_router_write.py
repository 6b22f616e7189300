"""A router that counts in a list of the state: it works, until two requests share the list or one is resumed.

Taught in notebooks/labs/41_loops.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cookbook.labs.kit import Lab, LabVerdict, counts_outside, failed, guard, passed, times, unfit
from cookbook.published import handbook
from cookbook.published.graphs import Run, run
from cookbook.published.handbook import Caps
from cookbook.published.models import Judges, in_turn
from cookbook.published.steps import Update
from cookbook.schema import Support
from cookbook.tracing import request

LAB = Lab(
    module=__name__,
    title="The counter that works in every test",
    difficulty=3,
    minutes=30,
    you_will="say what a change of the state in place does to the caller, to the next request and to one that is resumed",
    symptom=(
        "A draft that is rejected is written again, twice at most. That holds for the first customers after "
        "each restart of the service. Later ones never get "
        "a second draft. In the tests, each of which makes one request, it works."
    ),
    task=(
        "Write `build_graph(judges, caps)`. The state has one more field, `rejected`, the drafts that the "
        "judge rejected, which reviewers read. A draft is written again "
        "`caps.regenerations` times at most in every request: also when several requests start from the same "
        "state, and when a request is paused and goes on "
        "from a checkpoint. Nothing that the caller handed in may be changed. `handbook.build(judges, "
        "caps=caps, schema=State, check_support=my_node, after_support=my_router)` "
        "compiles the graph with your functions in place of its own. A node takes `(state, judges)` and "
        "returns the fields that it changes, a router "
        "takes `(state, caps)` and only reads. `handbook.check_support(state, judges)` and the other nodes "
        "are there to be called."
    ),
    hints=(
        "`state[\"rejected\"].append(...)` changes the list itself. Who else holds that very list: the "
        "caller, the next request, the checkpoint?",
        "Let the node `check_support` return what `handbook.check_support(state, judges)` returns and, when "
        "that is not `Support.FULLY`, a **new** list too: "
        "`\"rejected\": [*state[\"rejected\"], state[\"draft\"]]`. The router compares "
        "`len(state[\"rejected\"]) <= caps.regenerations` and changes nothing.",
    ),
    in_the_wild=(
        "langchain-ai/langgraph, issue 8314 (open in 2026), shows a router that appends to a list of its "
        "state: the list of the caller grows, and a node that does "
        "the same has the same effect. It holds for fields without a reducer. With one the caller's list is "
        "spared, because the reducer makes a new list; whether the change lasts then "
        "depends on whether the node before the router wrote that field. All of it was seen here with "
        "langgraph 1.2.24."
    ),
    transfer=(
        "`class Request: rejected: list = field(default_factory=list)` makes a new list for each request. A "
        "colleague says that the router may append to it then, "
        "because nobody shares it. Which of the failures are gone, and which one stays?"
    ),
    answer=(
        "Requests no longer see each other's drafts, and no caller keeps the list. What stays is the "
        "checkpoint: it stores what nodes return, so that a request which is "
        "paused, retried or moved to another machine goes on without the count, and its loop without an end. "
        "A node that returns a new list costs one line."
    ),
    pitfall=(
        "They copy the list at the door (`deepcopy` of the input, or a first node that returns an empty one) "
        "and leave the router as it is. That mends the symptom that was reported "
        "and not the other. Ask what the checkpoint holds."
    ),
)  # fmt: skip

Builder = Callable[[Judges, Caps], Any]

QUESTION = "Can I export my data after I cancel my plan?"
LIMIT = 60


class State(handbook.State):
    """One request, and the drafts that were rejected in it."""

    rejected: list[str]


def fresh_state(question: str) -> State:
    return State(**handbook.fresh_state(question), rejected=[])


# ---------------------------------------------------------------- the graph


def append_and_count(state: State, caps: Caps) -> Literal["check_usefulness", "regenerate"]:
    if state["support"] is Support.FULLY:
        return "check_usefulness"
    state["rejected"].append(state["draft"])
    return "regenerate" if len(state["rejected"]) <= caps.regenerations else "check_usefulness"


def counted_in_a_list(judges: Judges, caps: Caps) -> Any:
    """The published graph, with a router that counts in a list."""
    return handbook.build(judges, caps=caps, schema=State, after_support=append_and_count)


def build_graph(judges: Judges, caps: Caps) -> Any:
    """The handbook graph, compiled, in which every request may write its draft again `caps.regenerations` times.

    `rejected` ends as the list of the rejected drafts. Nothing that was handed in is changed.
    """
    ### BEGIN SOLUTION

    def check_support(state: State, judges: Judges) -> Update:
        update = handbook.check_support(state, judges)
        if update["support"] is not Support.FULLY:
            update["rejected"] = [*state["rejected"], state["draft"]]
        return update

    def after_support(state: State, caps: Caps) -> str:
        if state["support"] is Support.FULLY or len(state["rejected"]) > caps.regenerations:
            return "check_usefulness"
        return "regenerate"

    return handbook.build(
        judges, caps=caps, schema=State, check_support=check_support, after_support=after_support
    )
    ### END SOLUTION


def broken() -> Builder:
    return counted_in_a_list


def solution() -> Builder:
    return build_graph


# ---------------------------------------------------------------- requests


def serve(build: Builder, start: Mapping[str, Any], *, support: Any, caps: Caps) -> Run:
    """One request of a service that keeps the state to ``start`` from: it copies the dict, and not what is in it."""
    drafts = (f"draft {n}" for n in range(1, LIMIT))
    judges = Judges(support=support, generate=lambda question, hits, feedback: next(drafts))
    return run(build(judges, caps), {**start, "question": QUESTION, "query": QUESTION}, recursion_limit=LIMIT)


@dataclass(frozen=True)
class Resumed:
    """A request that stood still before each regeneration. ``rows`` tells what the checkpoint held each time."""

    rows: list[dict[str, Any]]
    ended: bool


def with_pauses(build: Builder, caps: Caps, *, pauses: int = 10) -> Resumed:
    """A request with a judge that always says no, paused before each regeneration and resumed from its checkpoint."""
    from langgraph.checkpoint.memory import InMemorySaver

    graph = build(Judges(support=Support.NONE), caps).copy({"checkpointer": InMemorySaver(serde=_serde())})
    config: Any = {"configurable": {"thread_id": "one"}}
    rows: list[dict[str, Any]] = []
    with request(QUESTION, system=graph.name):
        graph.invoke(fresh_state(QUESTION), config, interrupt_before=["regenerate"])
        while (snapshot := graph.get_state(config)).next and len(rows) < pauses:
            rows.append(
                {"pause": len(rows) + 1, "rejected in the checkpoint": len(snapshot.values["rejected"])}
            )
            graph.invoke(None, config, interrupt_before=["regenerate"])
    return Resumed(rows, not snapshot.next)


def _serde() -> Any:
    """LangGraph's own serializer, told that the types of this state may come back."""
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    names = ("Retrieve", "Chunk", "ScoreKind", "Hit", "Support", "Status", "Usefulness", "Reason")
    return JsonPlusSerializer(allowed_msgpack_modules=[("cookbook.schema", name) for name in names])


# ---------------------------------------------------------------- the check


@guard(returns="a compiled graph")
def check(candidate: Builder) -> LabVerdict:
    """Requests that share a graph; one, and what it did to its input, with two budgets; one that is accepted in time; one with pauses."""
    if (verdict := unfit(candidate(Judges(), Caps()))) is not None:
        return verdict
    if (verdict := counts_outside(candidate, fresh_state, "rejected")) is not None:
        return verdict
    for budget in (2, 1):
        start = fresh_state("")
        done = serve(candidate, start, support=Support.NONE, caps=Caps(regenerations=budget))
        if (verdict := _alone(done, start["rejected"], budget)) is not None:
            return verdict
    done = serve(candidate, fresh_state(""), support=in_turn(Support.NONE, Support.FULLY), caps=Caps())
    if done.ran("regenerate") != 1:
        return failed(
            "accepted_and_rewritten",
            f"budget 2, a judge that accepts the second draft: regenerate ran {times(done, 'regenerate')}, "
            "and once is enough",
        )
    resumed = with_pauses(candidate, Caps())
    if not resumed.ended or len(resumed.rows) != 2:
        held = ", ".join(str(row["rejected in the checkpoint"]) for row in resumed.rows[:4])
        return failed(
            "lost_on_resume",
            "budget 2, the request paused before each regeneration and resumed: regenerate ran "
            f"{len(resumed.rows)} times"
            f"{'' if resumed.ended else ', until the check stopped it'}. At the pauses the checkpoint held "
            f"{held}{', ...' * (len(resumed.rows) > 4)} "
            "rejected drafts. A checkpoint keeps what nodes *return*; a change in place is not in it. Let a "
            "node return the new list",
        )
    return passed(
        "regenerate runs twice with budget 2 and once with budget 1, and twice in a request that is paused "
        "and resumed; `rejected` holds the "
        "rejected drafts, and the caller's list is as empty as it was, for the next request to start from"
    )


def _alone(done: Run, callers: list[str], budget: int) -> LabVerdict | None:
    """What is wrong with one request, and with the list that the caller handed in; None when nothing is."""
    saw = f"budget {budget}, one request, a judge that always says no: regenerate ran {times(done, 'regenerate')}"
    returned = next((step.node for step in done.trace.steps if "rejected:" in step.note), None)
    if not done.ended and returned is None:
        return failed(
            "count_thrown_away",
            f"{saw} and was stopped; `rejected` holds {len(done.state['rejected'])} drafts and no node "
            "returned it. A router's state is a copy: "
            "what is *assigned* in it is thrown away. Let a node return the new list",
        )
    if done.ran("regenerate") != budget:
        return failed(
            "wrong_count",
            f"{saw}{'' if done.ended else ' and was stopped'}; `rejected` holds {len(done.state['rejected'])} "
            f"drafts, returned by {returned or 'no node'}. With what is its length "
            "compared, and is the draft in it by then?",
        )
    if callers and returned is None:
        return failed(
            "input_changed",
            f"{saw}, as it should. But the list that the caller handed in as `rejected` was empty, and now "
            f"holds {len(callers)} drafts. The next request that "
            "starts from this state begins with them. No node returned `rejected`: the router changed the "
            "caller's own list. Let a node return a new one",
        )
    if callers:
        return failed(
            "changed_in_a_node",
            f"{saw}, as it should. But the list that the caller handed in as `rejected` now holds "
            f"{len(callers)} drafts: `{returned}` appended to the "
            "list it was given and returned that. Return a new list, `[*old, draft]`",
        )
    wanted = [f"draft {n}" for n in range(1, budget + 1)]
    if done.state["rejected"][:budget] != wanted:
        return failed(
            "drafts_lost",
            f"{saw}, as it should. But `rejected` ends as {done.state['rejected']}, and the drafts that were "
            "rejected and written again are "
            f"{wanted}. The reviewers read this field",
        )
    return None
