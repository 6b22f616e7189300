"""Pictures that can stand on a slide: what a system buys, where its calls go, what it keeps, how long it takes.

PLOTS take a Comparison and give a Figure; ``reliability`` takes judges. Grey are the dummies, and differences that
are not seen; an error bar is the 95 % interval of the table. The line under the title says what it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from cookbook.draw import COLOURS, canvas, stacked_calls
from cookbook.eval.compare import Comparison
from cookbook.eval.dummies import DUMMIES
from cookbook.eval.metrics import BY_NAME, HEADLINE, keep_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cookbook.eval.judges import Report

Point = tuple[float, float]
INK, PALE, RED = "#22303c", "#aab4bd", "#c8371b"


def accuracy_against_calls(comparison: Comparison) -> Figure:
    """Right behaviour over calls a question: up is better, left is cheaper. The dashed line is the dummies' limit."""
    figure, axes = _canvas(7.2, 4.2)
    axes.axhline(0.5, color=RED, linewidth=1, linestyle=(0, (4, 3)))
    points: dict[str, Point] = {}
    for name in comparison.ranking:
        score, calls = comparison.estimate(HEADLINE.name, name), comparison.estimate("calls", name)
        if score is None or calls is None:
            continue
        points[name] = (calls.value, score.value)
        axes.errorbar(
            calls.value, score.value,
            xerr=[[calls.value - calls.low], [calls.high - calls.value]],
            yerr=[[score.value - score.low], [score.high - score.value]],
            fmt="none", capsize=3, linewidth=1.2, color=_colour(comparison, name),
        )  # fmt: skip
        # Above the labels: where points lie close, a label may cover a bar, but never a point.
        axes.scatter(calls.value, score.value, s=36, color=_colour(comparison, name), zorder=5)
    most = max([calls for calls, _ in points.values()] + [1.0])
    for name, (x, y) in _apart(points, near=0.25 * most).items():
        free = points[name][0] == 0  # what makes no calls is named on the left, the rest on the right
        axes.annotate(
            _label(name), points[name], (x - 0.02 * most if free else x + 0.025 * most, y if free else y + 0.03),
            textcoords="data", ha="right" if free else "left", va="center", fontsize=8.5,
            color=_colour(comparison, name), bbox={"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none"},
        )  # fmt: skip
    axes.set(xlim=(-0.28 * most, 1.22 * most), ylim=(-0.08, 1.0))
    axes.set(xlabel="LLM calls a question", ylabel=HEADLINE.name)
    axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= 1.2 * most])
    axes.yaxis.set_major_formatter("{x:.0%}")
    axes.set_title("dashed: no dummy can pass", loc="right", fontsize=7.5, color=RED, y=0.0)
    return _titled(figure, "Up is better, left is cheaper", comparison)


def _apart(points: Mapping[str, Point], near: float, least: float = 0.05) -> dict[str, Point]:
    """Places for labels: each at its own point, or ``least`` below that of another one ``near`` it."""
    found: dict[str, Point] = {}
    for name, (x, y) in sorted(points.items(), key=lambda item: -item[1][1]):
        above = [height for other, height in found.values() if abs(other - x) < near]
        found[name] = (x, min([y, *(height - least for height in above)]))
    return found


def gains(comparison: Comparison) -> Figure:
    """Right behaviour more or less than that of the system compared against, row by row. Pale where no difference is
    seen."""
    found = {name: comparison.difference(HEADLINE.name, name) for name in comparison.ranking}
    shown = {
        n: gap for n, gap in found.items() if gap and n in comparison.systems and n != comparison.against
    }
    figure, axes = _canvas(7.2, 1.3 + 0.36 * len(shown))
    axes.axvline(0, color=INK, linewidth=1)
    for name, gap in shown.items():
        colour = _colour(comparison, name) if gap.seen else PALE
        axes.plot([100 * gap.low, 100 * gap.high], [_label(name)] * 2, color=colour, linewidth=2.4)
        axes.scatter(100 * gap.value, _label(name), s=40, color=colour, zorder=3)
    axes.invert_yaxis()
    axes.set(xlabel=f"points of right behaviour more than {_label(comparison.against)}, with 95 % interval")
    return _titled(figure, "What crosses the line is no difference seen", comparison)


def calls_by_step(comparison: Comparison) -> Figure:
    """Where the calls of a question go: one bar a system, one piece a node."""
    made = {_label(name): _calls_of_nodes(comparison, name) for name in _modelled(comparison)}
    figure = stacked_calls(made, "LLM calls a question")
    return _titled(figure, "Where the calls go", comparison)


def keep_rates(comparison: Comparison) -> Figure:
    """The share of graded passages that a system keeps. Near 0 it starves the writer, near 1 it does not filter."""
    rates = {name: keep_rate(comparison.shared[name]) for name in comparison.systems}
    graded = {name: rate for name, rate in rates.items() if rate is not None}
    figure, axes = _canvas(7.2, 1.2 + 0.42 * len(graded))
    for name, rate in graded.items():
        axes.barh(_label(name), rate.value, color=_colour(comparison, name), height=0.55)
        axes.plot([rate.low, rate.high], [_label(name)] * 2, color=INK, linewidth=1.5)
        axes.annotate(f" {rate.value:.0%} of {rate.n}", (rate.high, _label(name)), va="center", fontsize=8.5)
    axes.invert_yaxis()
    axes.set(xlabel="share of graded passages that were kept", xlim=(0, 1))
    axes.xaxis.set_major_formatter("{x:.0%}")
    return _titled(figure, "What graders keep", comparison)


def latency(comparison: Comparison) -> Figure:
    """Seconds in LLM calls: the share of questions that were done by then. Replays are timed by one clock."""
    figure, axes = _canvas(7.2, 3.8)
    timed = [name for name in _modelled(comparison) if comparison.estimate("seconds", name)]
    for name in timed:
        values = BY_NAME["seconds"].values(comparison.shared[name])
        seconds = sorted(value for _, value in values.values())
        share = np.arange(1, len(seconds) + 1) / len(seconds)
        label = (
            f"{_label(name)}: half by {np.median(seconds):.0f} s, 95% by {np.quantile(seconds, 0.95):.0f} s"
        )
        axes.step(seconds, share, where="post", color=_colour(comparison, name), label=label)
    for level in (0.5, 0.95):
        axes.axhline(level, color=PALE, linewidth=0.8, linestyle=(0, (2, 3)))
    clock = f", computed for {comparison.clock.machine}" if comparison.clock else ""
    machine = clock or (f" on {comparison.machine}" if comparison.machine else "")
    axes.set(xlabel=f"seconds in LLM calls{machine}", ylabel="share of questions done", ylim=(0, 1.02))
    axes.set_xlim(left=0)
    axes.yaxis.set_major_formatter("{x:.0%}")
    if timed:
        figure.legend(fontsize=8, frameon=False, ncols=2, loc="outside lower left")
    return _titled(figure, "How long a question takes", comparison)


def reliability(judges: Mapping[str, Report]) -> Figure:
    """What judges say against what is true: of the pairs with about this score, so many are good. On the dashed
    line a score means what it says; above it a judge is too modest, below it too sure."""
    figure, axes = _canvas(4.6, 4.2)
    axes.plot([0, 1], [0, 1], color=PALE, linewidth=1, linestyle=(0, (4, 3)))
    for colour, (name, found) in zip(COLOURS, judges.items(), strict=False):
        scores = [bin.score for bin in found.calibration]
        shares = [bin.good for bin in found.calibration]
        values = [share.value for share in shares]
        below = [share.value - share.low for share in shares]
        above = [share.high - share.value for share in shares]
        axes.errorbar(
            scores, values, yerr=[below, above], color=colour, label=name,
            marker="o", markersize=5, capsize=3, linewidth=1.4,
        )  # fmt: skip
    axes.set(xlabel="score of the judge", ylabel="share that is really good", xlim=(0, 1), ylim=(0, 1.03))
    axes.legend(fontsize=8, frameon=False, loc="upper left")
    return figure


PLOTS: dict[str, Callable[[Comparison], Figure]] = {
    "accuracy against calls": accuracy_against_calls,
    "gains": gains,
    "calls by step": calls_by_step,
    "keep rate": keep_rates,
    "latency": latency,
}


def pictures(comparison: Comparison) -> dict[str, Figure]:
    """The plots that have something to show: bars and curves of calls, or of grades, want some."""
    empty = set()
    if not _modelled(comparison):
        empty |= {"calls by step", "latency"}
    if not any(keep_rate(comparison.shared[name]) for name in comparison.systems):
        empty.add("keep rate")
    if len(comparison.systems) < 2:
        empty.add("gains")
    return {name: plot(comparison) for name, plot in PLOTS.items() if name not in empty}


def _canvas(width: float, height: float) -> tuple[Figure, Axes]:
    figure = canvas(width, height)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8.5, colors=INK)
    axes.xaxis.label.set_fontsize(9)
    axes.yaxis.label.set_fontsize(9)
    return figure, axes


def _titled(figure: Figure, title: str, comparison: Comparison) -> Figure:
    """The picture with a title, and under it what it rests on: the set, its rows and the model."""
    rows = f"{comparison.common} of {comparison.rows} questions (split {comparison.split})"
    basis = f"{comparison.eval_set}, {rows}; {comparison.model}"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold", color=INK)
    figure.axes[0].set_title(fill(basis, 84), loc="left", fontsize=8, color=INK)
    return figure


def _label(name: str) -> str:
    return name.replace("_", " ")


def _colour(comparison: Comparison, name: str) -> str:
    return PALE if name in DUMMIES else COLOURS[comparison.systems.index(name) % len(COLOURS)]


def _modelled(comparison: Comparison) -> list[str]:
    """The systems that made calls, the best first."""
    return [
        name
        for name in comparison.ranking
        if any(answer and answer.trace.calls for _, answer in comparison.shared[name])
    ]


def _calls_of_nodes(comparison: Comparison, name: str) -> dict[str, float]:
    """Mean calls a question by node, in the order in which nodes first made one."""
    calls: dict[str, float] = {}
    answers = [answer for _, answer in comparison.shared[name] if answer]
    for step in (step for answer in answers for step in answer.trace.steps if step.calls):
        calls[step.node] = calls.get(step.node, 0.0) + step.calls / len(answers)
    return calls
