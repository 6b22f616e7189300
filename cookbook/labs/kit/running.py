"""What labs about graphs say in the same way: what is no graph, how often a node ran, what it returned."""

from __future__ import annotations

from typing import Any

from cookbook.labs.kit.verdict import LabVerdict, failed
from cookbook.published.graphs import Run

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
