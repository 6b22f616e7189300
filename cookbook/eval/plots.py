"""Pictures that can stand on a slide: what a system buys, where its calls go, what it keeps, how long it takes.

PLOTS take a Comparison and give a Figure; ``reliability`` takes judges. Grey are the dummies; an error bar is
the 95 % interval of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from cookbook.draw import COLOURS, canvas
from cookbook.eval.compare import Comparison
from cookbook.eval.dummies import DUMMIES
from cookbook.eval.metrics import HEADLINE, keep_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cookbook.eval.judges import Report

INK, PALE, RED = "#22303c", "#aab4bd", "#c8371b"


def accuracy_against_calls(comparison: Comparison) -> Figure:
    """Right behaviour over calls a question: up is better, left is cheaper. The dashed line is the dummies' limit."""
    figure, axes = _canvas(6.4, 3.8)
    axes.axhline(0.5, color=RED, linewidth=1, linestyle=(0, (4, 3)))
    for name in comparison.ranking:
        score, calls = comparison.estimate(HEADLINE.name, name), comparison.estimate("calls", name)
        if score is None or calls is None:
            continue
        axes.errorbar(
            calls.value, score.value,
            xerr=[[calls.value - calls.low], [calls.high - calls.value]],
            yerr=[[score.value - score.low], [score.high - score.value]],
            fmt="o", markersize=6, capsize=3, linewidth=1.2, color=_colour(comparison, name),
        )  # fmt: skip
        axes.annotate(
            _label(name), (calls.value, score.value), (7, 5), textcoords="offset points", fontsize=8.5,
            color=_colour(comparison, name), bbox={"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none"},
        )  # fmt: skip
    axes.set(xlabel="LLM calls a question", ylabel=HEADLINE.name, ylim=(0, 1))
    axes.set_title(_title(comparison), loc="left", fontsize=9, color=INK)
    axes.margins(x=0.12)
    return figure


def calls_by_step(comparison: Comparison) -> Figure:
    """Where the calls of a question go: one bar a system, one piece a node."""
    found = {name: _calls_of_nodes(comparison, name) for name in _modelled(comparison)}
    nodes = list(dict.fromkeys(node for calls in found.values() for node in calls))
    figure, axes = _canvas(6.4, 1.3 + 0.5 * len(found))
    start = np.zeros(len(found))
    for n, node in enumerate(nodes):
        width = np.array([calls.get(node, 0.0) for calls in found.values()])
        axes.barh(
            list(map(_label, found)), width, left=start, color=COLOURS[n % len(COLOURS)], label=_label(node)
        )
        start += width
    axes.invert_yaxis()
    axes.set(xlabel="LLM calls a question")
    axes.set_title(_title(comparison), loc="left", fontsize=9, color=INK)
    if nodes:
        axes.legend(fontsize=7.5, frameon=False, ncols=2, loc="lower right")
    return figure


def keep_rates(comparison: Comparison) -> Figure:
    """The share of graded passages that a system keeps. Near 0 it starves the writer, near 1 it does not filter."""
    rates = {name: keep_rate(comparison.shared[name]) for name in comparison.systems}
    graded = {name: rate for name, rate in rates.items() if rate is not None}
    figure, axes = _canvas(6.4, 1.1 + 0.45 * len(graded))
    for name, rate in graded.items():
        axes.barh(_label(name), rate.value, color=_colour(comparison, name), height=0.55)
        axes.plot([rate.low, rate.high], [_label(name)] * 2, color=INK, linewidth=1.5)
        axes.annotate(f" {rate.value:.0%} of {rate.n}", (rate.high, _label(name)), va="center", fontsize=8.5)
    axes.invert_yaxis()
    axes.set(xlabel="share of graded passages that were kept", xlim=(0, 1))
    axes.set_title(_title(comparison), loc="left", fontsize=9, color=INK)
    return figure


def latency(comparison: Comparison) -> Figure:
    """Seconds in LLM calls: for each system the share of questions that were done by then."""
    figure, axes = _canvas(6.4, 3.4)
    for name in _modelled(comparison):
        seconds = sorted(answer.trace.seconds for _, answer in comparison.shared[name] if answer)
        share = np.arange(1, len(seconds) + 1) / max(len(seconds), 1)
        axes.step(seconds, share, where="post", color=_colour(comparison, name), label=_label(name))
    for level in (0.5, 0.95):
        axes.axhline(level, color=PALE, linewidth=0.8, linestyle=(0, (2, 3)))
    axes.set(
        xlabel="seconds in LLM calls, as measured when they were made",
        ylabel="share of questions done",
        ylim=(0, 1.02),
    )
    axes.set_xlim(left=0)
    axes.set_title(_title(comparison), loc="left", fontsize=9, color=INK)
    if _modelled(comparison):
        axes.legend(fontsize=8, frameon=False, loc="lower right")
    return figure


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
    axes.set(xlabel="score of the judge", ylabel="share that is really good", xlim=(0, 1), ylim=(0, 1))
    axes.legend(fontsize=8, frameon=False, loc="upper left")
    return figure


PLOTS: dict[str, Callable[[Comparison], Figure]] = {
    "accuracy against calls": accuracy_against_calls,
    "calls by step": calls_by_step,
    "keep rate": keep_rates,
    "latency": latency,
}


def _canvas(width: float, height: float) -> tuple[Figure, Axes]:
    figure = canvas(width, height)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8.5, colors=INK)
    return figure, axes


def _title(comparison: Comparison) -> str:
    return (
        f"{comparison.eval_set}, {comparison.common} of {comparison.rows} questions, split {comparison.split}"
    )


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
