"""What labs about graphs say in the same way: what is no graph, what counts outside its state, how often a node ran."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import Context
from typing import Any

from cookbook.labs.kit.verdict import LabVerdict, failed
from cookbook.published.graphs import Run, run
from cookbook.published.handbook import Caps
from cookbook.published.models import Judges
from cookbook.schema import Support

_LIMIT_CHANGED = (
    "the graph brings a recursion limit of its own ({raised:,} supersteps). A limit ends a loop with an error when "
    "the money is spent; it counts nothing. Leave it alone and make the loop end by itself"
)


def unfit(graph: Any) -> LabVerdict | None:
    """The verdict on something that is no compiled graph or brings its own recursion limit; None for a graph."""
    if not hasattr(graph, "stream"):
        return failed(
            "no_graph",
            f"you returned an object of type {type(graph).__name__}; return what the published build(...) returns",
        )
    if (raised := (graph.config or {}).get("recursion_limit")) is not None:
        return failed("limit_changed", _LIMIT_CHANGED.format(raised=raised))
    return None


def counts_outside(
    build: Callable[[Judges, Caps], Any],
    fresh_state: Callable[[str], Mapping[str, Any]],
    field: str = "regenerations",
) -> LabVerdict | None:
    """The verdict on a handbook graph whose regenerations are counted outside the state, as in a closure; None for
    any other. ``field`` is where the state should hold the count, a number or a list.

    One compiled graph, whose judge always says no, serves a request, another after it, and one more while
    another still runs: each must regenerate as often. A first request that never does, or does not end, is left
    to the check.
    """
    caps, drafts_judged = Caps(regenerations=3), 0
    graph: Any = None
    during: list[Run] = []

    def serve() -> Run:
        return run(graph, fresh_state("Can I export my data after I cancel my plan?"), recursion_limit=60)

    def interrupted(*given: Any) -> Support:
        nonlocal drafts_judged
        drafts_judged += 1
        if drafts_judged == 2:  # the request in between has a trace and meters of its own
            during.append(Context().run(serve))
        return Support.NONE

    graph = build(Judges(support=Support.NONE), caps)
    first = serve()
    if not (alone := first.ran("regenerate")) or not first.ended:
        return None
    if (second := serve()).ran("regenerate") != alone:
        held = second.state[field]
        return failed(
            "counted_outside_the_state",
            f"two requests, one after the other, through one compiled graph: the first regenerated {times(first, 'regenerate')}, the "
            f"second {second.ran('regenerate')}, and `{field}` stands at {len(held) if isinstance(held, list) else held}: {_OUTSIDE}",
        )
    graph = build(Judges(support=interrupted), caps)
    ran = [done.ran("regenerate") for done in (serve(), *during)]
    if ran != [alone, alone]:
        return failed(
            "counted_outside_the_state",
            f"two requests at the same time through one compiled graph: they regenerated "
            f"{' and '.join(map(str, ran))} times, and each alone {alone}: {_OUTSIDE}",
        )
    return None


_OUTSIDE = "the count is kept outside the state. Let a node return it"


def times(run: Run, *nodes: str) -> str:
    """``3 times``, ``1 time``: how often these nodes ran, together."""
    ran = sum(run.ran(node) for node in nodes)
    return f"{ran} time{'' if ran == 1 else 's'}"


def supersteps(run: Run) -> list[dict[str, Any]]:
    """A row for each node in the order they ran, for ``show_table``: what is not in the last column was not changed.

    It holds for graphs that run one node at a time, as the published ones do.
    """
    return [
        {"superstep": n, "node": step.node, "calls so far": calls, "what it returned": step.note}
        for n, (step, calls) in enumerate(zip(run.trace.steps, run.cumulative, strict=False), 1)
    ]
