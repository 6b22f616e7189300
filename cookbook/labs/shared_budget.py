"""Two loops and one counter: what the first loop spends, the second has not got.

Taught in notebooks/labs/41_loops.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from cookbook.labs.kit import Lab, LabVerdict, counts_outside, failed, guard, passed, times, unfit
from cookbook.published import handbook
from cookbook.published.graphs import Run, run
from cookbook.published.handbook import Caps, State
from cookbook.published.models import Judges, in_turn
from cookbook.published.steps import Update
from cookbook.schema import Relevance, Status, Support, Usefulness

LAB = Lab(
    module=__name__,
    title="Two loops, one counter",
    difficulty=2,
    minutes=20,
    you_will="give each loop a counter and a cap of its own, and say what the caps allow a request to cost in all",
    symptom=(
        "A question that needs a second query never gets a second draft, and one that needs a second draft "
        "never gets a second query. Each works alone; "
        "the caps allow two of both."
    ),
    task=(
        "Write `build_graph(judges, caps)`: the same graph, in which a request may rewrite `caps.rewrites` "
        "times **and** regenerate `caps.regenerations` times, and neither "
        "more. When no regeneration is left and the draft is not supported, it is refused, as now. The state "
        "has a field for each: `rewrites` and `regenerations`. "
        "`handbook.build(judges, caps=caps, regenerate=my_node, after_support=my_router)` compiles the "
        "published graph with your functions in place of its own. A node "
        "takes `(state, judges)` and returns the fields it changes, a router `(state, caps)` and only reads. "
        "`handbook.regenerate(state, judges)` is still there to be called."
    ),
    hints=(
        "In the trace, read the column *what it returned* and follow `rewrites`. Which node counts there that "
        "does not rewrite?",
        "The node returns what `handbook.regenerate(state, judges)` returns and `\"regenerations\": "
        "state[\"regenerations\"] + 1`. The router compares "
        "`state[\"regenerations\"]` with `caps.regenerations`; nothing about rewrites stands in either.",
    ),
    in_the_wild=(
        "In pubky/pubky-nexus, issue 947, one `retry_count` serves two budgets: an event may wait eleven "
        "times for a missing dependency, and then one network error ends it "
        "for good, because ten are allowed. A review of joshuaswarren/remnic, pull request 1735, found the "
        "same in a client: waiting for a usage limit used up the attempts that were meant "
        "for errors."
    ),
    transfer=(
        "With a counter for each loop the caps are 2 and 2, and k is 5. How many calls can one request make "
        "at most, and what happens to that number when somebody adds a third loop?"
    ),
    answer=(
        "31: the gate, three rounds of five grades, a draft and two checks, two rewrites between them, and "
        "twice a draft with its check. A third loop inside the others multiplies, beside "
        "them it adds; in both cases nobody will do the sum again. So let the program do it: one budget of "
        "calls for the whole request, computed from the caps and enforced "
        "where calls are made (`Budget` in `cookbook/providers/meter.py`), so that a cap that does not hold "
        "is an error and no bill."
    ),
    pitfall=(
        "They raise the shared cap to four, and both questions work; then a question about nothing rewrites "
        "four times. Or they reset the counter on the way into the other loop, and it "
        "never ends. Ask for the most expensive request of each version."
    ),
)  # fmt: skip

Builder = Callable[[Judges, Caps], Any]

QUESTION = "Can I export my data after I cancel my plan?"
LIMIT = 60
FULLY, NONE = Support.FULLY, Support.NONE
USEFUL, USELESS = Usefulness.USEFUL, Usefulness.NOT_USEFUL


# ---------------------------------------------------------------- the graph


def regenerate_and_count(state: State, judges: Judges) -> Update:
    return {**handbook.regenerate(state, judges), "rewrites": state["rewrites"] + 1}


def while_rewrites_are_left(state: State, caps: Caps) -> Literal["check_usefulness", "regenerate", "refuse"]:
    if state["support"] is Support.FULLY:
        return "check_usefulness"
    return "regenerate" if state["rewrites"] < caps.rewrites else "refuse"


def one_counter(judges: Judges, caps: Caps) -> Any:
    """The published graph, whose drafts are counted with the counter that was there."""
    return handbook.build(
        judges, caps=caps, regenerate=regenerate_and_count, after_support=while_rewrites_are_left
    )


def build_graph(judges: Judges, caps: Caps) -> Any:
    """The handbook graph, compiled: `caps.rewrites` rewrites and `caps.regenerations` regenerations a request.

    A draft that is not supported when no regeneration is left is refused.
    """
    ### BEGIN SOLUTION

    def regenerate(state: State, judges: Judges) -> Update:
        return {**handbook.regenerate(state, judges), "regenerations": state["regenerations"] + 1}

    def after_support(state: State, caps: Caps) -> str:
        if state["support"] is Support.FULLY:
            return "check_usefulness"
        return "regenerate" if state["regenerations"] < caps.regenerations else "refuse"

    return handbook.build(judges, caps=caps, regenerate=regenerate, after_support=after_support)
    ### END SOLUTION


def broken() -> Builder:
    return one_counter


def solution() -> Builder:
    return build_graph


# ---------------------------------------------------------------- one request


def most_calls(caps: Caps) -> int:
    """What the caps allow: the gate, each round's five grades, draft and two checks, the rewrites between the
    rounds, and a draft with its check for each regeneration."""
    return 1 + (caps.rewrites + 1) * (handbook.K + 3) + caps.rewrites + 2 * caps.regenerations


def ask(
    build: Builder,
    caps: Caps,
    *,
    empty_searches: int = 0,
    support: tuple[Support, ...] = (FULLY,),
    usefulness: tuple[Usefulness, ...] = (USEFUL,),
) -> Run:
    """One request. So many searches find nothing relevant; the judges say these in turn, the last for ever after."""
    judges = Judges(
        relevance=in_turn(*[Relevance.IRRELEVANT] * handbook.K * empty_searches, Relevance.RELEVANT),
        support=in_turn(*support),
        usefulness=in_turn(*usefulness),
    )
    return run(build(judges, caps), handbook.fresh_state(QUESTION), recursion_limit=LIMIT)


# ---------------------------------------------------------------- the check


@guard(returns="a compiled graph")
def check(candidate: Builder) -> LabVerdict:
    """Requests that share a graph; both loops to their caps, in both orders and with unlike caps; each loop alone against a judge that never says yes."""
    if (verdict := unfit(candidate(Judges(), Caps()))) is not None:
        return verdict
    if (verdict := counts_outside(candidate, handbook.fresh_state)) is not None:
        return verdict
    for alone, caps in ((alone, caps) for alone in _ALONE for caps in (Caps(), Caps(1, 3))):
        if (verdict := _within(alone(candidate, caps), caps)) is not None:
            return verdict
    for caps in (Caps(), Caps(1, 3)):
        drafts = (*[NONE] * caps.regenerations, FULLY)
        done = ask(candidate, caps, empty_searches=caps.rewrites, support=drafts)
        if (verdict := _both(done, caps, "rewrites", "regenerations")) is not None:
            return verdict
        done = ask(candidate, caps, support=drafts, usefulness=(*[USELESS] * caps.rewrites, USEFUL))
        if (verdict := _both(done, caps, "regenerations", "rewrites")) is not None:
            return verdict
    return passed(
        "two rewrites and two regenerations in one request, in either order, and with caps of 1 and 3 as "
        "many; the dearest request makes "
        f"{dearest(candidate).calls} calls, and the caps allow {most_calls(Caps())}"
    )


def dearest(build: Builder) -> Run:
    """The request that costs most under the default caps: every draft and every round is needed, and none is useful."""
    return ask(build, Caps(), support=(NONE, NONE, FULLY), usefulness=(USELESS,))


#: Requests that only a cap can end: nothing relevant; never supported; never useful; rejected in every round.
_ALONE: tuple[Callable[[Builder, Caps], Run], ...] = (
    lambda build, caps: ask(build, caps, empty_searches=99),
    lambda build, caps: ask(build, caps, support=(NONE,)),
    lambda build, caps: ask(build, caps, usefulness=(USELESS,)),
    lambda build, caps: ask(build, caps, support=(NONE, NONE, FULLY) * 4, usefulness=(USELESS,)),
)


def _saw(done: Run, caps: Caps) -> str:
    return (
        f"caps.rewrites is {caps.rewrites} and caps.regenerations {caps.regenerations}; in one request "
        f"rewrite ran {times(done, 'rewrite')} and "
        f"regenerate {times(done, 'regenerate')} ({done.calls} calls)"
    )


def _within(done: Run, caps: Caps) -> LabVerdict | None:
    """What is wrong with a request that only the caps can end; None when nothing is."""
    saw = _saw(done, caps)
    if done.ran("rewrite") > caps.rewrites:
        return failed(
            "too_many_rewrites",
            f"{saw}{'' if done.ended else ' and the check stopped it'}. Each loop has a cap of its own, and "
            "may not have what another leaves: what "
            "moves `rewrites`, and what is it compared with?",
        )
    if done.ran("regenerate") > caps.regenerations:
        return failed(
            "too_many_regenerations",
            f"{saw}{'' if done.ended else ' and the check stopped it'}, and `regenerations` stands at "
            f"{done.state['regenerations']}. Does the node "
            "`regenerate` return it, one higher each time, and does nothing set it back?",
        )
    if (drafts := sum(step.calls for step in done.trace.steps if step.node == "regenerate")) < done.ran(
        "regenerate"
    ):
        return failed(
            "nothing_rewritten",
            f"{saw}, and the writer was asked {drafts} times in it: the judge was shown the draft that it had "
            "rejected. Return what "
            "`handbook.regenerate(state, judges)` returns, and the counter with it",
        )
    if done.state["support"] is NONE and done.state["status"] is Status.ANSWERED:
        return failed(
            "rejected_and_answered",
            f"{saw}; the last draft was rejected and went out with status 'answered'. When no regeneration is "
            "left `after_support` names `refuse`, as it did",
        )
    return None


def _both(done: Run, caps: Caps, first: str, second: str) -> LabVerdict | None:
    """What is wrong with a request that needs both loops to their caps, ``first`` and then ``second``."""
    if done.ran("rewrite") == caps.rewrites and done.ran("regenerate") == caps.regenerations:
        return None
    return failed(
        f"{first}_eat_{second}",
        f"{_saw(done, caps)}. The request needed all the {first} and then all the {second}, and ended with "
        "status "
        f"'{done.state['status']}'; it held `rewrites` {done.state['rewrites']} and `regenerations` "
        f"{done.state['regenerations']}. What one loop "
        "spends, the other has not got: count each in its own field, in its own node, and compare it with its "
        "own cap",
    )
