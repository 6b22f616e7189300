"""The tree of a segment beam as a picture: what was written, what was kept, which path won."""

from __future__ import annotations

from textwrap import fill, shorten
from typing import TYPE_CHECKING

from cookbook.draw import BLUE, INK, PALE, canvas
from cookbook.errors import ConfigError
from cookbook.reflect.tokens.beam import Node, Search
from cookbook.reflect.tokens.vocabulary import spoken

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LETTERS, _LINE = 54, 28  # of a segment's words: in all, and in one line


def draw_search(search: Search) -> Figure:
    """Segments from left to right, each with its passage, its own score and the score of the path so far.

    Grey was dropped by the beam, blue is the best path; a thick frame ends an answer. ConfigError without a tree.
    """
    if not search.levels or search.best is None:
        raise ConfigError("there is no tree to draw: the answer came from memory, or there is none")
    nodes = [node for level in search.levels for node in level.written]
    kept = {node for level in search.levels for node in level.kept}
    rows = _rows(nodes)
    figure = canvas(3.3 * len(search.levels) + 1.2, 0.85 * (max(rows.values()) + 1))
    axes = figure.add_subplot()
    start = (0.45, -sum(rows[node] for node in search.levels[0].written) / len(search.levels[0].written))
    spots = {node: (float(len(node.path)), -row) for node, row in rows.items()}
    for node, spot in spots.items():
        colour = BLUE if node in search.best.path else INK if node in kept else PALE
        x, y = spots[node.parent] if node.parent else start
        axes.plot([x, spot[0]], [y, spot[1]], color=colour, linewidth=1.6, zorder=1)
        ends = node in search.finished
        axes.annotate(
            _label(node), spot, ha="center", va="center", fontsize=8, zorder=3,
            color=INK if node in kept else "#8b97a2",
            bbox={"boxstyle": "round,pad=0.4", "fc": "white", "ec": colour, "lw": 2.4 if ends else 1.0},
        )  # fmt: skip
    axes.annotate("question", start, ha="center", va="center", fontsize=8, color=INK,
                  bbox={"boxstyle": "round,pad=0.4", "fc": "#f4f7fa", "ec": INK})  # fmt: skip
    axes.set_axis_off()
    axes.set_xlim(0.3, len(search.levels) + 0.5)
    axes.set_ylim(-max(rows.values()) - 0.5, 0.5)
    return figure


def _rows(nodes: list[Node]) -> dict[Node, float]:
    """A row for each leaf, from the top; a node with children stands in the middle of them."""
    rows: dict[Node, float] = {}
    children: dict[Node | None, list[Node]] = {}
    for node in nodes:
        children.setdefault(node.parent, []).append(node)

    def place(node: Node) -> float:
        below = [place(child) for child in children.get(node, ())]
        leaves = sum(other not in children for other in rows)
        rows[node] = sum(below) / len(below) if below else float(leaves)
        return rows[node]

    for first in children[None]:
        place(first)
    return rows


def _label(node: Node) -> str:
    words = shorten(spoken(node.continuation.text), _LETTERS, placeholder=" …")
    source = shorten((node.hit.chunk.headings or (node.hit.chunk.doc_id,))[-1], _LINE, placeholder=" …")
    return f"{fill(words, _LINE)}\nfrom: {source}\nscore {node.score.total:.2f}, path {node.value:.2f}"
