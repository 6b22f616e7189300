"""Several systems on one set of questions: what each did, with intervals, on the rows that all of them ran.

Systems are ordered by right behaviour, the mean of two rates: right answers among the answerable rows, and
refusals among the rows without an answer. Each counts one half, so a system that does always the same, like
the dummies, gets one half at most. Of two that are equal the one with fewer calls comes first. Below a floor of
coverage there is no order at all: a few rows that were easy to finish name no winner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import Any

from cookbook.errors import ConfigError
from cookbook.eval.behaviour import Pair, common
from cookbook.eval.clock import Clock
from cookbook.eval.dummies import DUMMIES
from cookbook.eval.metrics import (
    BY_NAME,
    HEADLINE,
    METRICS,
    by_kind,
    keep_rate,
    price,
    retrieval_rates,
    same_for_all,
)
from cookbook.eval.run import Setup, run
from cookbook.eval.statistics import Difference, Estimate
from cookbook.schema import Status
from cookbook.systems import REGISTRY, entry

ALL = tuple(name for name, found in REGISTRY.items() if not found.own_model)
"""The systems that meet on equal terms: one model for all who ask any. One that brings its own is to be named."""
FLOOR = 0.5
"""The share of the rows that each system has to bring to an end, and that all must have run, for an order."""


@dataclass(frozen=True)
class Coverage:
    """How the rows of a selection ended for one system. What has no recording was never run."""

    answered: int
    refused: int
    failed: int
    not_recorded: int

    @property
    def rows(self) -> int:
        return self.answered + self.refused + self.failed + self.not_recorded

    @property
    def ended(self) -> int:
        """The rows that came to an end, a failed one being none."""
        return self.answered + self.refused

    def __str__(self) -> str:
        """``44 of 59``: the rows that came to an end."""
        return f"{self.ended} of {self.rows}"


@dataclass(frozen=True)
class Comparison:
    """The answers of every system to every row, the dummies among them. ``against`` is who differences are from.

    ``broken_off`` counts, for a system, the rows that are recorded in part; see Ran. ``machine`` is where the
    seconds were measured, ``clock`` what they were computed by, if they were; ``floor`` is FLOOR, or what the
    caller asks for. ``selection`` is the number of rows that were to be run, where ``results`` hold a part of them.
    """

    eval_set: str
    split: str
    model: str
    results: Mapping[str, Sequence[Pair]]
    against: str
    broken_off: Mapping[str, int] = field(default_factory=dict)
    machine: str = ""
    floor: float = FLOOR
    clock: Clock | None = None
    selection: int = 0

    @cached_property
    def shared(self) -> dict[str, list[Pair]]:
        """The pairs on the rows that every system ran. All figures come from these."""
        return common(self.results)

    @property
    def rows(self) -> int:
        """The rows of the selection."""
        return self.selection or len(self.results[self.against])

    @property
    def common(self) -> int:
        """The rows that every system ran; below ``rows``, the comparison is of a part and says so."""
        return len(self.shared[self.against])

    @property
    def selected(self) -> dict[str, int]:
        """Systems with more rows broken off than one in twenty: what is left of them is a selection of early ends."""
        return {name: rows for name, rows in self.broken_off.items() if rows > self.common / 20}

    @property
    def below_floor(self) -> list[str]:
        """Systems that came to an end on too few of their rows to be ranked."""
        return [name for name in self.systems if self.coverage(name).ended < self.floor * self.rows]

    @property
    def ranked(self) -> bool:
        """Whether there is an order: nobody is below the floor, nor is what all have run, and that has rows to answer
        and rows to refuse."""
        enough = not self.below_floor and self.common >= self.floor * self.rows
        return enough and self.estimate(HEADLINE.name, self.against) is not None

    @property
    def systems(self) -> list[str]:
        """The systems that were asked for, without the dummies."""
        return [name for name in self.results if name not in DUMMIES]

    def coverage(self, system: str) -> Coverage:
        ended = [None if answer is None else answer.status for _, answer in self.results[system]]
        return Coverage(
            *(ended.count(status) for status in (Status.ANSWERED, Status.REFUSED, Status.FAILED, None))
        )

    def estimate(self, metric: str, system: str) -> Estimate | None:
        """A figure of one system, by the metric's name; None where no row has it."""
        return BY_NAME[metric].estimate(self.shared[system])

    def difference(self, metric: str, system: str, against: str = "") -> Difference | None:
        """How much more one system has than another (``self.against`` if none is named), row by row."""
        return BY_NAME[metric].difference(self.shared[system], self.shared[against or self.against])

    @cached_property
    def ranking(self) -> list[str]:
        """All systems, the best first; see the head of this file. Where nothing is ranked, as they were named."""
        return sorted(self.results, key=self._rank) if self.ranked else list(self.results)

    def _rank(self, system: str) -> tuple[float, float]:
        headline, calls = self.estimate(HEADLINE.name, system), self.estimate("calls", system)
        return (-headline.value if headline else 1.0, calls.value if calls else 0.0)

    @property
    def best_dummy(self) -> str:
        return min(DUMMIES, key=self._rank)

    @cached_property
    def not_above_dummies(self) -> list[str]:
        """Systems of which no right behaviour beyond the best dummy's is seen; none of them where nothing is ranked."""
        gaps = {name: self.difference(HEADLINE.name, name, self.best_dummy) for name in self.systems}
        return [
            name for name, gap in gaps.items() if self.ranked and not (gap and gap.seen and gap.value > 0)
        ]

    @cached_property
    def broke(self) -> dict[str, Counter[str]]:
        """What systems say of the rows on which they failed, the last step of each, counted."""
        said = {
            name: Counter(
                a.trace.steps[-1].note for _, a in pairs if a and a.status is Status.FAILED and a.trace.steps
            )
            for name, pairs in self.results.items()
        }
        return {name: notes for name, notes in said.items() if notes}

    @property
    def holding_back(self) -> dict[str, int]:
        """Systems without which the others could be compared on more rows, and on how many."""
        found = {}
        for name in self.systems if len(self.systems) > 1 else ():
            rest = {other: pairs for other, pairs in self.results.items() if other != name}
            if (rows := len(next(iter(common(rest).values())))) > self.common:
                found[name] = rows
        return found

    @property
    def undecided(self) -> dict[str, float]:
        """Systems that look up every question (1.0) or none (0.0), also those that do not want it; see same_for_all."""
        found = {name: same_for_all(retrieval_rates(self.shared[name])) for name in self.systems}
        return {name: rate for name, rate in found.items() if rate is not None}

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON takes it. A figure is null where no row has it; a price is null where it is unknown."""
        return {
            "set": self.eval_set,
            "split": self.split,
            "model": self.model,
            "rows": self.rows,
            "common": self.common,
            "machine": self.machine,
            "clock": asdict(self.clock) if self.clock else None,
            "ranked": self.ranked,
            "floor": self.floor,
            "below_floor": self.below_floor,
            "ordered_by": HEADLINE.note if self.ranked else None,
            "systems": {name: self._system(name) for name in self.ranking},
            "against": self.against,
            "selected": self.selected,
            "best_dummy": self.best_dummy,
            "not_above_dummies": self.not_above_dummies,
            "broke": self.broke,
            "holding_back": self.holding_back,
            "undecided": self.undecided,
        }

    def _system(self, name: str) -> dict[str, Any]:
        pairs, kept = self.shared[name], keep_rate(self.shared[name])
        against = {m.name: self.difference(m.name, name) for m in METRICS} if name != self.against else {}
        return {
            "coverage": vars(self.coverage(name)),
            "figures": {metric.name: _dict(metric.estimate(pairs)) for metric in METRICS},
            "differences": {metric: _dict(found) for metric, found in against.items()},
            "dollars": price(pairs),
            "retrieves": {kind: _dict(found) for kind, found in retrieval_rates(pairs).items()},
            "keeps": _dict(kept),
            "by_kind": {kind: _dict(found) for kind, found in by_kind(pairs).items()},
        }


def _dict(estimate: Estimate | None) -> dict[str, Any] | None:
    return vars(estimate) if estimate else None


def compare(
    setup: Setup,
    systems: Sequence[str] = ALL,
    *,
    against: str = "",
    floor: float = FLOOR,
    done: Callable[[str], None] = lambda system: None,
) -> Comparison:
    """Run the systems and the dummies over a setup. ``done`` is told the system after each of its rows.

    Differences are from ``against``, by default from vanilla if it is there, else from the first system.
    ``floor`` is the share of the rows below which nothing is ranked.
    ConfigError for a name that is no system, and for a system named twice.
    """
    for name in systems:
        entry(name)
    if len(set(systems)) < len(systems) or not systems:
        raise ConfigError("name each system once, for example --systems vanilla,handbook_graph")
    against = against or ("vanilla" if "vanilla" in systems else systems[0])
    if against not in systems:
        raise ConfigError(f"differences from {against!r} need it among the systems: {', '.join(systems)}")
    ran = {name: run(setup, name, done=partial(done, name)) for name in (*systems, *DUMMIES)}
    asks = any(entry(name).needs_model for name in systems)
    own = [f"{name}: {entry(name).own_model}" for name in systems if entry(name).own_model]
    return Comparison(
        eval_set=setup.name,
        split=setup.split,
        model="; ".join([setup.model if asks else "no model", *own]),
        results={name: found.pairs for name, found in ran.items()},
        against=against,
        broken_off={name: found.broken_off for name, found in ran.items() if found.broken_off},
        machine=setup.machine if asks else "",
        floor=floor,
        clock=setup.clock if asks else None,
    )
