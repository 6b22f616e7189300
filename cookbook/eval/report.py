"""A comparison as tables: the same ones in a terminal, on a page, and in the README.

Every table says what it rests on. Where systems did not run all rows, the first line says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cookbook.eval.compare import Comparison
from cookbook.eval.judged import Judging
from cookbook.eval.metrics import BY_NAME, HEADLINE, METRICS, by_kind, keep_rate, price, retrieval_rates
from cookbook.eval.sets import Behaviour, Kind
from cookbook.eval.statistics import Estimate

COLUMNS = 4
"""Systems beside each other: an interval is wide, a page is not."""
WHO: Mapping[Behaviour, str] = {"answer": "answerable", "refuse": "no answer", "direct": "no passage needed"}
KINDS: Mapping[Kind, str] = {"exact_code": "code", "unanswerable_near": "near miss"}
"""Kinds that a column has another name for."""
ASKED: Mapping[Behaviour, str] = {
    "answer": "to answer",
    "refuse": "to refuse",
    "direct": "that need no passage",
}


@dataclass(frozen=True)
class Table:
    """A title, rows with the same keys, and a sentence on how to read them."""

    title: str
    rows: Sequence[Mapping[str, Any]]
    note: str = ""


def heading(comparison: Comparison) -> str:
    """What was compared on how many rows of which kind, by which model, and on which machine it took its seconds."""
    asked = Counter(row.behaviour for row, _ in comparison.shared[comparison.against])
    kinds = ", ".join(f"{asked[kind]} {name}" for kind, name in ASKED.items() if asked[kind])
    questions = f"{comparison.rows} questions of {comparison.eval_set}, split {comparison.split}"
    if comparison.common < comparison.rows:
        part = f"only {comparison.common} of the {questions}, those that every system ran"
    else:
        part = f"all {questions}"
    if kinds:
        part += f": {kinds}"
    if comparison.clock:
        timed = f" Seconds are computed from calls and tokens: {comparison.clock}."
    else:
        timed = f" Seconds are those of its calls on {comparison.machine}." if comparison.machine else ""
    return f"Compared on {part}. Model: {comparison.model}.{timed}"


def tables(comparison: Comparison, judging: Judging | None = None) -> list[Table]:
    """All tables, the headline first; what a judge says comes last, if one was asked. One without rows is left out."""
    found = [scoreboard(comparison), differences(comparison)]
    names = [name for name in comparison.ranking if name in comparison.systems]
    profiles = [profile(comparison, names[at : at + COLUMNS]) for at in range(0, len(names), COLUMNS)]
    found += [*(replace(each, note="") for each in profiles[:-1]), *profiles[-1:]]  # one legend is enough
    found += [lookups(comparison), kinds(comparison)]
    found += [judged(judging)] if judging else []
    return [table for table in found if table.rows]


def scoreboard(comparison: Comparison) -> Table:
    """The systems in order, dummies among them."""
    rows = []
    for name in comparison.ranking:
        rows.append(
            {
                "system": name,
                **{
                    metric: BY_NAME[metric].written(comparison.estimate(metric, name))
                    for metric in (HEADLINE.name, "answered right", "refused rightly")
                },
                "calls": _one_decimal(comparison.estimate("calls", name)),
                "seconds": _one_decimal(comparison.estimate("seconds", name)),
                "ended": str(comparison.coverage(name)),
            }
        )
    notes = [_order(comparison) if comparison.ranked else _unranked(comparison)]
    if missing := _missing(comparison):
        notes.append(f"Rows without an end: {missing}.")
    notes += [
        f"{name} broke, most often with: {_short(reasons.most_common(1)[0][0])}"
        for name, reasons in comparison.broke.items()
    ]
    notes += [
        f"Without {name} the others could be compared on {rows} rows."
        for name, rows in comparison.holding_back.items()
    ]
    if comparison.selected:
        notes.append(_warning(comparison))
    return Table("Scoreboard, with 95 % intervals", rows, " ".join(notes))


def _order(comparison: Comparison) -> str:
    note = f"Ordered by right behaviour: {HEADLINE.note}; then by fewer calls."
    if level := comparison.not_above_dummies:
        all_of_them = len(level) == len(comparison.systems) > 1
        note += (
            f" Row by row against {comparison.best_dummy}, the best dummy, no gain is seen of "
            f"{'any of them' if all_of_them else ', '.join(level)}."
        )
    return note


def _short(text: str, most: int = 120) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}…"


def _one_decimal(estimate: Estimate | None) -> str:
    """A mean as text, so that no table adds digits to it."""
    return f"{estimate.value:.1f}" if estimate else "-"


def _unranked(comparison: Comparison) -> str:
    """Why there is no order: the floor, and who is below it."""
    few = [f"{name} {comparison.coverage(name)}" for name in comparison.below_floor]
    if not few and comparison.common >= comparison.floor * comparison.rows:
        return "Not ranked: the rows that all systems ran are all to answer, or all to refuse."
    few = few or [f"all together {comparison.common} of {comparison.rows}"]
    return (
        f"Not ranked, the systems stand as they were named: fewer than {comparison.floor:.0%} of the rows came to "
        f"an end for {', '.join(few)}."
    )


def _warning(comparison: Comparison) -> str:
    """Who was recorded in part: its rows are the requests that ended early."""
    some = ", ".join(f"{name} on {rows} rows" for name, rows in comparison.selected.items())
    return (
        f"Do not trust this table yet: requests are recorded in part ({some}), and the rows that are left are "
        "those on which a system gave up early."
    )


def _missing(comparison: Comparison) -> str:
    said = []
    for name in comparison.systems:
        coverage = comparison.coverage(name)
        parts = [f"{coverage.not_recorded} not recorded"] * bool(coverage.not_recorded)
        parts += [f"{coverage.failed} failed"] * bool(coverage.failed)
        said += [f"{name} {' and '.join(parts)}"] if parts else []
    return ", ".join(said)


def differences(comparison: Comparison) -> Table:
    """What each system has more than the one compared against, row by row."""
    metrics = (HEADLINE.name, "answered right", "refused rightly", "calls", "seconds")
    rows = []
    for name in comparison.ranking:
        if name == comparison.against or name not in comparison.systems:
            continue
        for metric in metrics:
            if found := comparison.difference(metric, name):
                said = BY_NAME[metric].written(found)
                rows.append({"system": name, "figure": metric, "difference": said, "rows": found.n})
    note = (
        "Paired: both systems on the same rows. Where the interval holds zero, or fewer than six rows are there, chance "
        "can make the difference."
    )
    return Table(f"Differences from {comparison.against}", rows, note)


def profile(comparison: Comparison, systems: Sequence[str]) -> Table:
    """Every figure of some systems, with its interval, the number of rows and the price."""
    rows: list[dict[str, Any]] = []
    for metric in METRICS:
        row: dict[str, Any] = {"figure": metric.name}
        for name in systems:
            estimate = comparison.estimate(metric.name, name)
            row[name] = metric.written(estimate) + (f" ({estimate.n})" if estimate else "")
        rows.append(row)
    rows.append({"figure": "dollars", **{name: _dollars(price(comparison.shared[name])) for name in systems}})
    legend = "; ".join(f"{metric.name}: {metric.note}" for metric in METRICS[1:])
    return Table("Profile, with the number of rows", rows, f"{legend}.")


def _dollars(cost: float | None) -> str:
    return "unknown" if cost is None else f"{cost:.5f}"


def lookups(comparison: Comparison) -> Table:
    """How often each system retrieves, by what the question needs, and what it keeps of what it finds."""
    rows = []
    for name in comparison.ranking:
        rates = retrieval_rates(comparison.shared[name])
        kept = keep_rate(comparison.shared[name])
        rows.append(
            {"system": name}
            | {label: _of(rates.get(kind)) for kind, label in WHO.items()}
            | {"passages kept": _of(kept)}
        )
    all_or_none = [
        f"{name} looks up {'everything' if rate else 'nothing'}"
        for name, rate in comparison.undecided.items()
    ]
    note = f"No decision is to be seen: {', '.join(all_or_none)}." if all_or_none else ""
    return Table("How often it retrieves, and what it keeps", rows, note)


def kinds(comparison: Comparison) -> Table:
    """Right behaviour on each kind of question; a row for each system, for there are more systems than kinds."""
    found = {name: by_kind(comparison.shared[name]) for name in comparison.ranking}
    names = dict.fromkeys(kind for rates in found.values() for kind in rates)
    rows = [
        {"system": name}
        | {KINDS.get(kind, kind.replace("_", " ")): _of(rates.get(kind), "/") for kind in names}
        for name, rates in found.items()
    ]
    return Table("Right behaviour by kind of question", rows)


def judged(judging: Judging) -> Table:
    """What a judge finds in the answers, and how often it agrees with strings where these can tell."""
    rows = [
        {
            "system": name,
            "answers": len(found.groundings),
            "grounded": found.grounded.percent if found.grounded else "-",
            "claims": found.claims,
            "contradicted": found.contradicted,
            "strings cannot decide": found.undecided,
            "of these right": f"{found.right}" + (f", {found.failed} failed" if found.failed else ""),
        }
        for name, found in judging.systems.items()
    ]
    notes = ["Grounded: share of claims that the passages state, word for word or as the judge reads them."]
    if (quoted := judging.quoted).claims:
        notes.append(
            f"Of {quoted.claims} claims that stand word for word in a passage it doubts {quoted.doubted} and calls "
            f"{quoted.denied} contradicted: so often it cries for nothing."
        )
    agreement = judging.agreement
    if agreement.right and agreement.wrong:
        notes.append(
            f"Where strings can tell, it takes {_of(agreement.right)} right answers for right and "
            f"{_of(agreement.wrong)} wrong ones for wrong."
        )
    else:
        notes.append(
            "How far to believe it on correctness is unknown: strings decide too few of these answers."
        )
    return Table("What a judge says of the answers", rows, " ".join(notes))


def _of(estimate: Estimate | None, of: str = " of ") -> str:
    return f"{round(estimate.value * estimate.n)}{of}{estimate.n}" if estimate else "-"
