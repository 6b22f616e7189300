"""Pictures of graphs, drawn from the compiled code and not from memory.

Forward edges run left to right; an edge that leads back is a loop and bends below or above. With a
trace, the path that was taken is dark and each edge says how often it was used.
Taught in notebooks/00_start_here.ipynb.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cookbook.schema import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Edge = tuple[str, str]
START, END = "__start__", "__end__"

INK, PALE, BLUE = "#22303c", "#c3ccd4", "#2a7fb8"
COLOURS = (
    "#2a7fb8", "#e08a2c", "#3d9970", "#8e5ea2", "#c8371b", "#5c6f7c", "#b5892d", "#3aa6a6", "#d46a9f", "#7a5230",
    "#1d3f6e",
)  # fmt: skip
"""As many as there are systems, so that none shares its colour."""
_GUILTY = "#c8371b"


def edges_of(compiled: Any) -> list[Edge]:
    """The edges of a compiled LangGraph, as (from, to), in the order in which they were added."""
    return [(edge.source, edge.target) for edge in compiled.get_graph().edges]


def levels_of(edges: Sequence[Edge]) -> dict[str, int]:
    """The column of each node: its distance from the start. Nodes that only end stand together in the last
    column before the end, wherever they are reached from."""
    ahead: dict[str, list[str]] = {}
    for source, target in edges:
        ahead.setdefault(source, []).append(target)
    level, queue = {START: 0}, deque([START])
    while queue:
        node = queue.popleft()
        for target in ahead.get(node, []):
            if target not in level:
                level[target] = level[node] + 1
                queue.append(target)
    last = max(at for node, at in level.items() if ahead.get(node) != [END] and node != END) + 1
    return {
        node: last + 1 if node == END else last if ahead.get(node) == [END] else at
        for node, at in level.items()
    }


def edges_taken(trace: Trace) -> Counter[Edge]:
    """How often a request used each edge, the ones from the start and to the end included."""
    path = [START, *trace.nodes, END]
    return Counter(pairwise(path))


def canvas(width: float, height: float) -> Figure:
    """An empty figure of this size in inches. It shows itself in a notebook, whether or not pyplot was ever
    imported there."""
    from matplotlib.figure import Figure

    class Picture(Figure):
        def _repr_png_(self) -> bytes:
            buffer = BytesIO()
            self.savefig(buffer, format="png", dpi=80, metadata={"Software": None})
            return buffer.getvalue()

    return Picture(figsize=(width, height), layout="constrained")


def draw_graph(compiled: Any, *, trace: Trace | None = None, mark: Collection[Edge] = ()) -> Figure:
    """A picture of a compiled graph. ``trace`` shows one request's path, ``mark`` paints edges red.

    Raises ValueError for a marked edge that the graph does not have.
    """
    edges = edges_of(compiled)
    if strange := set(mark) - set(edges):
        raise ValueError(f"the graph has no edge {sorted(strange)[0]}")
    spots = _spots(levels_of(edges))
    taken = edges_taken(trace) if trace else None
    width = max(x for x, _ in spots.values())
    height = max(y for _, y in spots.values()) - min(y for _, y in spots.values())
    figure = canvas(0.92 * (width + 1.4), 0.92 * (height + 2.2))
    axes = figure.add_subplot()
    for edge in edges:
        used = None if taken is None else taken[edge]
        _draw_edge(axes, spots, edge, used, guilty=edge in mark)
    for node, spot in spots.items():
        dark = taken is None or node in (START, END) or any(node in edge for edge in taken)
        _draw_node(axes, node, spot, dark)
    axes.set_axis_off()
    axes.set_aspect("equal")  # arcs are bent on the page, labels are placed in data: the two must agree
    axes.set_xlim(-0.7, width + 0.7)
    middle = [y for _, y in spots.values()]
    axes.set_ylim(min(middle) - 0.9, max(middle) + 1.3)
    return figure


def draw_calls(traces: Mapping[str, Trace], *, ceiling: int | None = None) -> Figure:
    """Where the calls of some requests went: a bar for each, named by its key, with a piece for each node that
    made any. The dashed line is the most that a request can make."""
    made: dict[str, Counter[str]] = {name: Counter() for name in traces}
    for name, trace in traces.items():
        for step in trace.steps:
            if step.calls:
                made[name][step.node] += step.calls
    figure = stacked_calls(made, "LLM calls", most=ceiling or 0)
    if ceiling is not None:
        figure.axes[0].axvline(ceiling, color=_GUILTY, linewidth=1.2, linestyle=(0, (4, 3)))
    return figure


def stacked_calls(made: Mapping[str, Mapping[str, float]], label: str, *, most: float = 0) -> Figure:
    """A bar for each name, a piece for each of its nodes as long as its number, the sum behind it. The axis holds
    ``most`` at least. Past the eighth node colours return, hatched."""
    nodes = list(dict.fromkeys(node for calls in made.values() for node in calls))
    figure = canvas(
        7.2, max(1.2 + 0.42 * len(made), 0.9 + 0.17 * len(nodes))
    )  # bars, or the legend beside them
    axes = figure.add_subplot()
    done = dict.fromkeys(made, 0.0)
    for n, node in enumerate(nodes):
        widths = [calls.get(node, 0) for calls in made.values()]
        axes.barh(
            list(made), widths, left=list(done.values()), height=0.6, label=node.replace("_", " "),
            color=COLOURS[n % len(COLOURS)], hatch="////" if n >= len(COLOURS) else None, edgecolor="white",
            linewidth=0,
        )  # fmt: skip
        done = {name: done[name] + calls.get(node, 0) for name, calls in made.items()}
    for name, total in done.items():
        axes.annotate(f" {round(total, 1):g}", (total, name), va="center", fontsize=8.5, color=INK)
    axes.set_xlim(0, 1.05 * max([1, most, *done.values()]))
    axes.invert_yaxis()
    axes.set_xlabel(label, fontsize=8.5)
    axes.locator_params(axis="x", integer=True)
    axes.tick_params(labelsize=8.5)
    axes.spines[["top", "right"]].set_visible(False)
    if nodes:
        figure.legend(fontsize=7.5, frameon=False, loc="outside right center")
    return figure


def _spots(level: Mapping[str, int]) -> dict[str, tuple[float, float]]:
    """Columns by level, each centred; within a column the nodes keep the order in which they were found."""
    columns: dict[int, list[str]] = {}
    for node, at in level.items():
        columns.setdefault(at, []).append(node)
    return {
        node: (1.6 * at, 1.3 * ((len(column) - 1) / 2 - row))
        for at, column in columns.items()
        for row, node in enumerate(column)
    }


def _draw_edge(
    axes: Axes, spots: Mapping[str, tuple[float, float]], edge: Edge, used: int | None, *, guilty: bool
) -> None:
    from matplotlib.patches import FancyArrowPatch

    (x0, y0), (x1, y1) = spots[edge[0]], spots[edge[1]]
    back = x1 <= x0
    # A long edge on one line would run through the nodes between: it bends away from them.
    bend = 0.45 if back else -0.28 if x1 - x0 > 2 and y0 == y1 else 0.0
    colour = _GUILTY if guilty else PALE if used == 0 else BLUE if back else INK
    arrow = FancyArrowPatch(
        (x0, y0),
        (x1, y1),
        connectionstyle=f"arc3,rad={bend}",
        arrowstyle="-|>",
        mutation_scale=11,
        shrinkA=22,
        shrinkB=24,
        linewidth=2.2 if guilty or used else 1.1,
        color=colour,
        zorder=1 if used == 0 else 2,
    )
    axes.add_patch(arrow)
    if used:
        across = (x1 - x0, y1 - y0)
        middle = ((x0 + x1) / 2 + bend / 2 * across[1], (y0 + y1) / 2 - bend / 2 * across[0])
        axes.annotate(
            f"{used}×", middle, color=colour, fontsize=8, ha="center", va="center", zorder=4,
            bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none"},
        )  # fmt: skip


def _draw_node(axes: Axes, node: str, spot: tuple[float, float], dark: bool) -> None:
    label = {START: "start", END: "end"}.get(node, node.replace("_", "\n", 1))
    axes.annotate(
        label, spot, fontsize=8.5, ha="center", va="center", zorder=5, color=INK if dark else "#8b97a2",
        bbox={"boxstyle": "round,pad=0.45", "fc": "#f4f7fa" if dark else "white", "ec": INK if dark else PALE},
    )  # fmt: skip
    axes.plot(*spot, alpha=0)
