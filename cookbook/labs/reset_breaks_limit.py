"""A recursion limit that held by luck: a counter is set back, the longest path grows, and the limit does not.

Taught in notebooks/labs/41_loops.ipynb.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.published import revise
from cookbook.published.graphs import Run, run
from cookbook.published.models import Judges
from cookbook.published.revise import Caps
from cookbook.schema import Support, Usefulness

LAB = Lab(
    module=__name__,
    title="The limit that held by luck",
    difficulty=3,
    minutes=25,
    you_will="derive the recursion limit of a graph from its caps, so that it is wide enough for every request and still stops a loop by mistake",
    symptom=(
        "After a small improvement (each new search may revise its draft three times, and no longer what the "
        "first one left) some requests end in "
        "`GraphRecursionError`, after most of their calls are paid. All tests had passed."
    ),
    task=(
        "Write `recursion_limit(caps)` for the revise graph with the improvement in it: the smallest limit "
        "under which the longest request still ends. `caps.rewrites` "
        "searches may follow the first one; each search is followed by a draft and at most `caps.revisions` "
        "revisions of it. LangGraph raises when the limit is "
        "*reached*, whether or not the last node has run, so the limit is one more than the longest path has "
        "supersteps."
    ),
    hints=(
        "Write the longest request down as a row of nodes and put brackets around what repeats. Which nodes "
        "run once, which once for each search, which once for "
        "each revision, and which between two searches?",
        "The gate runs once. Each of the `caps.rewrites + 1` searches takes five nodes (retrieve, grade, "
        "generate, check_support, check_usefulness) and two for "
        "each revision (revise, check_support). Between two searches runs rewrite. And one more.",
    ),
    in_the_wild=(
        "Limits are mostly found by raising them: Tracer-Cloud/opensre, pull request 1606, goes from "
        "LangGraph's 25 to 50, because some investigations take longer. In martymcenroe/AssemblyZero, "
        "issue 2790, one stage derives its limit from its caps and the next one passes none; the issue argued "
        "with a default of 25, and the installed one was 10,007. The "
        "graph here is a published one, kept as it was in `cookbook/published/revise.py`."
    ),
    transfer=(
        "A colleague sets the limit to 1,000 everywhere, \"so that it never disturbs\". Which of the labs of "
        "this notebook would have cost how much with it?"
    ),
    answer=(
        "The first: the counter in the router makes one call for each superstep, 1,003 in a request instead "
        "of 13, and nobody sees an error before that. A limit that never disturbs "
        "is no limit. One that follows from the caps is never reached by a request that keeps them, so that "
        "reaching it means one thing: a cap does not hold."
    ),
    pitfall=(
        "They return 37, the number for today's caps, and the first change of a cap brings the error back. Or "
        "they forget the one more, because a path of 36 nodes \"fits\" into 36."
    ),
)  # fmt: skip

Limit = Callable[[Caps], int]

QUESTION = "Can I export my data after I cancel my plan?"


# ---------------------------------------------------------------- the limit


def twenty_five(caps: Caps) -> int:
    """The limit as it was, which used to be LangGraph's own."""
    return 25


def recursion_limit(caps: Caps) -> int:
    """The smallest recursion limit under which every request to the revise graph ends: longest path plus one.

    Each of the 1 + `caps.rewrites` searches may revise its draft `caps.revisions` times.
    """
    ### BEGIN SOLUTION
    searches = caps.rewrites + 1
    path = 1 + searches * (5 + 2 * caps.revisions) + caps.rewrites
    return path + 1
    ### END SOLUTION


def broken() -> Limit:
    return twenty_five


def solution() -> Limit:
    return recursion_limit


# ---------------------------------------------------------------- the longest request


def longest(caps: Caps, *, limit: int | None = None, reset: bool = True) -> Run:
    """The request that takes every loop to its cap: all passages are relevant, no draft is supported, none is useful.

    ``reset`` says whether a new search starts a new count of revisions.
    """
    swaps: dict[str, Any] = {"rewrite": revise.rewrite_with_reset} if reset else {}
    graph = revise.build(Judges(support=Support.NONE, usefulness=Usefulness.NOT_USEFUL), caps=caps, **swaps)
    return run(graph, revise.fresh_state(QUESTION), recursion_limit=limit)


# ---------------------------------------------------------------- the check

_CASES = (Caps(2, 3), Caps(0, 3), Caps(2, 0), Caps(0, 0), Caps(1, 4), Caps(4, 3), Caps(5, 6))


@guard()
def check(candidate: Limit) -> LabVerdict:
    """Seven pairs of caps: the longest request runs under your limit, and the limit is no wider than it needs to be."""
    given = {caps: candidate(caps) for caps in _CASES}
    if strange := [
        limit for limit in given.values() if not isinstance(limit, int) or isinstance(limit, bool)
    ]:
        return failed("no_number", f"you returned {strange[0]!r}; return a whole number of supersteps")
    needed = {caps: longest(caps).supersteps + 1 for caps in _CASES}
    if short := [caps for caps in _CASES if given[caps] < needed[caps]]:
        return failed(
            _why(given, needed),
            _stopped(short[0], given[short[0]], needed[short[0]]) + _LESSONS[_why(given, needed)],
        )
    if wide := [caps for caps in _CASES if given[caps] > needed[caps]]:
        caps = wide[0]
        return failed(
            "no_fuse",
            f"{_named(caps)}: the longest request takes {needed[caps] - 1} supersteps and ends with a limit "
            f"of {needed[caps]}; you return "
            f"{given[caps]:,}. A loop that somebody adds by mistake runs {given[caps] - needed[caps]:,} "
            "supersteps more before anybody sees it",
        )
    rows = ", ".join(f"{needed[caps]} for {_named(caps)}" for caps in _CASES[:3])
    return passed(
        f"{rows}, and so on: in all {len(_CASES)} cases the longest request ends, and with one superstep less "
        "it would not"
    )


def _why(given: dict[Caps, int], needed: dict[Caps, int]) -> str:
    if len(set(given.values())) == 1:
        return "constant"
    if all(given[caps] == needed[caps] - 1 for caps in needed):
        return "one_short"
    if all(given[caps] == longest(caps, reset=False).supersteps + 1 for caps in needed):
        return "revisions_counted_once"
    return "too_low"


_LESSONS = {
    "constant": "You return the same number whatever the caps are. When a cap grows, the longest request grows with it",
    "one_short": "It is one short each time: LangGraph raises when the limit is reached, also when the last node has just run",
    "revisions_counted_once": "That is the limit of the graph as it was, in which the revisions of all searches were counted together. Now each search has its own",
    "too_low": "Count the nodes of the longest request: once, for each search, for each revision, and between two searches",
}  # fmt: skip


def _stopped(caps: Caps, limit: int, needed: int) -> str:
    if limit < 1:
        return f"{_named(caps)}: you return {limit}, and a request takes {needed - 1} supersteps. "
    done = longest(caps, limit=limit)
    return (
        f"{_named(caps)}: the longest request takes {needed - 1} supersteps; under your limit of {limit} it "
        "was stopped after "
        f"{done.supersteps}, with an error in place of an answer and {done.calls} of {longest(caps).calls} "
        "calls paid. "
    )


def _named(caps: Caps) -> str:
    return f"{caps.rewrites} rewrite{'s' * (caps.rewrites != 1)} and {caps.revisions} revision{'s' * (caps.revisions != 1)}"
