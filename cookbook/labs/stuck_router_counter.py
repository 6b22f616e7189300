"""A loop that is counted in its router: LangGraph throws the count away, and only its own limit ends the loop.

Taught in notebooks/labs/41_loops.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, counts_outside, failed, guard, passed, times, unfit
from cookbook.published import handbook
from cookbook.published.graphs import Run, run
from cookbook.published.handbook import Caps, State
from cookbook.published.models import Judges, in_turn
from cookbook.published.steps import Update
from cookbook.schema import Status, Support

LAB = Lab(
    module=__name__,
    title="The counter that never counts",
    difficulty=2,
    minutes=25,
    you_will="say which functions of a graph may change its state, and give a loop a counter that ends it",
    symptom="One question ran for minutes and cost more than twenty of the others. An answer may be written again twice at most.",
    task=(
        "Write `build_graph(judges, caps)`: the same graph, in which `regenerate` runs `caps.regenerations` times at most "
        "in every request, and as often as that when the judge keeps saying no. `handbook.build(judges, caps=caps, "
        "regenerate=my_node, after_support=my_router)` compiles the published graph with the functions you give in place "
        "of its own; leave out what need not change. A node takes `(state, judges)`, a router `(state, caps)`. "
        "`handbook.regenerate(state, judges)` is still there to be called."
    ),
    hints=(
        "In the trace, the column *fields it returned* is all that a node changed. Which row should name `regenerations`, "
        "and which function can put it there?",
        "Write a node `my_node(state, judges)` that returns what `handbook.regenerate(state, judges)` returns, "
        "and with it `\"regenerations\": state[\"regenerations\"] + 1`. The router only has to compare.",
    ),
    in_the_wild=(
        "The graph is a published one, kept as it was in `cookbook/published/handbook.py`. It looked safe, because LangGraph "
        "stopped it after 25 supersteps, its default then. The default became 1,000 and then 10,007 (langchain-ai/langgraph, pull "
        "requests 6676 and 7355), and the bill of the same code went from 28 calls to 10,010 with no line of it changed."
    ),
    transfer=(
        "A colleague mends it by catching `GraphRecursionError` around `invoke` and returning a refusal. Every test is green. "
        "What does a question cost now that is refused, and what would you have to know to predict it?"
    ),
    answer=(
        "As much as before: the exception is raised when the limit is reached, after all the calls. It is the limit plus three, so 10,010 calls at "
        "today's default and 28 at the old one, and to predict it you must know a default of another project. A "
        "limit is a fuse. Derive it from the caps, and let a blown fuse be an error that somebody reads."
    ),
    pitfall=(
        "They move the increment to another place *in the router* (before the test, into a copy of the state, into a returned "
        "tuple). Let them print `state` inside the router and inside the node that follows: the router sees 1, the node 0."
    ),
)  # fmt: skip

Builder = Callable[[Judges, Caps], Any]

QUESTION = "Can I export my data after I cancel my plan?"
LIMIT = 200
"""Supersteps after which a run is stopped here: enough for a budget of 96."""


def published(judges: Judges, caps: Caps) -> Any:
    """The graph as it was: the router counts."""
    return handbook.build(judges, caps=caps)


def build_graph(judges: Judges, caps: Caps) -> Any:
    """The handbook graph, compiled, in which a draft is written again `caps.regenerations` times at most in every request.

    A draft that the judge accepts the second time is written again once, as before.
    """
    ### BEGIN SOLUTION

    def regenerate(state: State, judges: Judges) -> Update:
        return {**handbook.regenerate(state, judges), "regenerations": state["regenerations"] + 1}

    def after_support(state: State, caps: Caps) -> str:
        if state["support"] is not Support.FULLY and state["regenerations"] < caps.regenerations:
            return "regenerate"
        return "check_usefulness"

    return handbook.build(judges, caps=caps, regenerate=regenerate, after_support=after_support)
    ### END SOLUTION


def broken() -> Builder:
    return published


def solution() -> Builder:
    return build_graph


def never_satisfied(build: Builder, caps: Caps, *, limit: int | None = LIMIT) -> Run:
    """One request to a graph whose support judge always says no."""
    return run(
        build(Judges(support=Support.NONE), caps), handbook.fresh_state(QUESTION), recursion_limit=limit
    )


@guard(returns="a compiled graph")
def check(candidate: Builder) -> LabVerdict:
    """Requests that share a graph; a judge that always says no, with two budgets; one that says yes to the second draft."""
    if (verdict := unfit(candidate(Judges(), Caps()))) is not None:
        return verdict
    if (verdict := counts_outside(candidate, handbook.fresh_state)) is not None:
        return verdict
    spent = []
    for budget in (3, 1):
        done = never_satisfied(candidate, Caps(regenerations=budget))
        if (verdict := _counted(done, budget)) is not None:
            return verdict
        spent.append(done.calls)
    graph = candidate(Judges(support=in_turn(Support.NONE, Support.FULLY)), Caps())
    done = run(graph, handbook.fresh_state(QUESTION), recursion_limit=LIMIT)
    if done.ran("regenerate") != 1 or done.state["status"] is not Status.ANSWERED:
        return failed(
            "second_draft_lost",
            f"the judge accepts the second draft: regenerate ran {times(done, 'regenerate')} and must run once, and the answer's "
            f"status is {done.state['status']} and must be answered",
        )
    return passed(
        f"a judge that always says no: budget 3, regenerate ran 3 times, {spent[0]} calls in all; budget 1, it ran "
        f"once, {spent[1]} calls; and a second request gets as many. The published graph makes 203. If the line in the router "
        "that adds one is still there, it still does nothing; you may leave it"
    )


def _counted(done: Run, budget: int) -> LabVerdict | None:
    """What is wrong with the count of a run whose judge never says yes; None when nothing is."""
    ran, stands = done.ran("regenerate"), done.state["regenerations"]
    writers = sorted({step.node for step in done.trace.steps if "regenerations:" in step.note})
    saw = f"budget {budget}, regenerate ran {times(done, 'regenerate')}"
    if ran == 0:
        return failed(
            "edge_dropped",
            f"{saw}: a draft that is rejected once is never written again. The loop is to be bounded, not removed. "
            "(If it ran before: is the count kept outside the state, where an earlier request used it up?)",
        )
    if not done.ended and not writers:
        return failed(
            "counter_not_returned",
            f"{saw} and {done.calls} calls were made; no node returns `regenerations`, so the state holds {stands} "
            "for ever. What a router or a node assigns to its state is thrown away; what a node *returns* is kept",
        )
    if not done.ended and stands < ran:
        return failed(
            "counter_stands_still",
            f"{saw}; {' and '.join(writers)} returned `regenerations`, and it stands at {stands}. Who adds the one?",
        )
    if not done.ended:
        return failed(
            "counter_not_read",
            f"{saw} and `regenerations` stands at {stands}: it is counted, and no router compares it with "
            "`caps.regenerations`",
        )
    if (drafts := sum(step.calls for step in done.trace.steps if step.node == "regenerate")) < ran:
        return failed(
            "nothing_rewritten",
            f"{saw}, and the writer was asked {drafts} times in it: the judge was shown the draft that it had rejected. Return what "
            "`handbook.regenerate(state, judges)` returns, and the counter with it",
        )
    if ran != budget:
        return failed(
            "wrong_count",
            f"{saw} and `regenerations` stands at {stands} when it ends (written by {' and '.join(writers) or 'nobody'}). "
            "Is it compared with `<`, with `caps.regenerations`, and counted once for each run of regenerate?",
        )
    return None
