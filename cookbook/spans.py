"""What many traces tell together: how long each node takes, and which judgements turned requests back.

Works on the traces of any system. One trace explains one answer; where the time goes, and which judge
costs most, shows only over many.
Taught in notebooks/25_adaptive_loop.ipynb.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cookbook.schema import Decision, Relevance, Step, Support, Trace, Usefulness, Utility
from cookbook.show import verdicts

WHOLE = "(whole request)"
SHARES = (50, 95, 99)
_GOOD: dict[Decision, set[Any]] = {
    Decision.RELEVANCE: {Relevance.RELEVANT},
    Decision.SUPPORT: {Support.FULLY},
    Decision.USEFULNESS: {Usefulness.USEFUL, Utility.FOUR, Utility.FIVE},
}


def node_times(traces: Iterable[Trace]) -> list[dict[str, Any]]:
    """A row for each node, in the order of first appearance, and one for whole requests: how often it ran,
    its calls in all, and the 50th, 95th and 99th percentile of its seconds (``Step.seconds``).

    A percentile is the nearest rank, so it is a time that occurred; of fewer than 20 values the 95th is
    simply the longest. Time outside model calls is not in a trace: such a node shows 0.
    """
    seconds: dict[str, list[float]] = {}
    calls: dict[str, int] = {}
    requests = list(traces)
    for trace in requests:
        for step in trace.steps:
            seconds.setdefault(step.node, []).append(step.seconds)
            calls[step.node] = calls.get(step.node, 0) + step.calls
    rows = [_row(node, values, calls[node]) for node, values in seconds.items()]
    if requests:
        rows.append(_row(WHOLE, [t.seconds for t in requests], sum(t.calls for t in requests)))
    return rows


def _row(name: str, seconds: Sequence[float], calls: int) -> dict[str, Any]:
    ranks = np.percentile(seconds, SHARES, method="inverted_cdf")
    row: dict[str, Any] = {"node": name, "times": len(seconds), "calls": calls}
    return row | {f"p{share}": float(value) for share, value in zip(SHARES, ranks, strict=True)}


def failed_reflections(traces: Iterable[Trace]) -> list[dict[str, Any]]:
    """A row for each judgement that sent a request back or failed: question, system, step (from 1), node,
    what was said, the node's note, the node that came next, and why the request stopped.

    Passages are judged together: a step counts when none of them was relevant. The gate's "no" is a way
    and not a failure.
    """
    return [
        {
            "question": trace.question,
            "system": trace.system,
            "step": number,
            "node": step.node,
            "said": verdicts(step.verdicts),
            "note": step.note,
            "next": trace.nodes[number] if number < len(trace.steps) else "",
            "stopped": trace.stop_reason,
        }
        for trace in traces
        for number, step in enumerate(trace.steps, start=1)
        if _turned_back(step)
    ]


def _turned_back(step: Step) -> bool:
    if any(verdict.failed for verdict in step.verdicts):
        return True
    judged = [verdict for verdict in step.verdicts if verdict.decision in _GOOD]
    return bool(judged) and not any(verdict.label in _GOOD[verdict.decision] for verdict in judged)
