"""How long systems take beside each other: live, on the same questions, in turn, in one run.

Seconds from two runs say little: a laptop warms up, another job starts. Here every question goes through
every system before the next one comes, the order turns with each question, and what is reported is a ratio
of medians with a paired interval. Nothing is replayed or cached while it runs.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from cookbook.errors import ConfigError
from cookbook.eval.behaviour import behaved_right
from cookbook.eval.sets import EvalRow
from cookbook.eval.statistics import DRAWS, SEED, balanced, difference, rate
from cookbook.providers import LLMClient
from cookbook.schema import Status
from cookbook.systems.base import System

Key = tuple[str, str]
"""A system and the id of a row."""


@dataclass(frozen=True)
class Timed:
    """One request: its wall-clock seconds, its calls and tokens, how it ended, whether that was right."""

    system: str
    row: str
    behaviour: str
    seconds: float
    calls: int
    tokens: int
    status: str
    right: bool

    @property
    def key(self) -> Key:
        return self.system, self.row


def alternate(
    systems: Mapping[str, System],
    rows: Sequence[EvalRow],
    *,
    asked: Collection[Key] = (),
    done: Callable[[Timed], None] = lambda timed: None,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Timed]:
    """Ask every system every question, in turn. ``done`` is told of each request as it ends.

    A question that is among ``asked`` with every system is passed over; with some of them, it is asked anew.
    """
    names, timings = list(systems), []
    for turn, row in enumerate(rows):
        if all((name, row.id) in asked for name in names):
            continue
        shift = turn % len(names)
        for name in (*names[shift:], *names[:shift]):
            start = clock()
            answer = systems[name].answer(row.question)
            seconds = clock() - start
            right = behaved_right(row, answer)
            timed = Timed(
                name,
                row.id,
                row.behaviour,
                round(seconds, 3),
                answer.trace.calls,
                answer.trace.tokens,
                answer.status.value,
                answer.status is Status.ANSWERED if right is None else right,
            )
            timings.append(timed)
            done(timed)
    return timings


def together(timings: Sequence[Timed]) -> dict[str, list[Timed]]:
    """By system, its requests on the questions that every system was asked, in one order."""
    by: dict[str, dict[str, Timed]] = {}
    for timed in timings:
        by.setdefault(timed.system, {})[timed.row] = timed
    questions = [row for row in next(iter(by.values()), {}) if all(row in found for found in by.values())]
    return {name: [found[row] for row in questions] for name, found in by.items()}


def ratios(timings: Sequence[Timed], base: str) -> list[dict[str, Any]]:
    """A row for each system: median seconds, its ratio to ``base`` with a 95 % interval, calls, right, refused.

    The interval draws questions, so both systems always meet the same ones.
    """
    import numpy as np

    by = _with_base(timings, base)
    against = np.array([timed.seconds for timed in by[base]])
    drawn = np.random.default_rng(SEED).integers(0, len(against), (DRAWS, len(against)))
    table = []
    for name, mine in by.items():
        seconds = np.array([timed.seconds for timed in mine])
        many = np.median(seconds[drawn], axis=1) / np.median(against[drawn], axis=1)
        table.append(
            {
                "system": name,
                "questions": len(mine),
                "median seconds": round(float(np.median(seconds)), 2),
                f"of {base}": round(float(np.median(seconds) / np.median(against)), 2),
                "low": round(float(np.quantile(many, 0.025)), 2),
                "high": round(float(np.quantile(many, 0.975)), 2),
                "calls": round(sum(t.calls for t in mine) / len(mine), 2),
                "median tokens": int(median(t.tokens for t in mine)),
                "right": sum(t.right for t in mine),
                "refused": sum(t.status == Status.REFUSED for t in mine),
            }
        )
    return table


def outcomes(timings: Sequence[Timed], base: str) -> list[dict[str, str]]:
    """A row for each system: how often it was right, with 95 % intervals, and how much more than ``base``.

    Answerable questions and those to refuse each count one half; ValueError when there are none of either.
    """
    by = _with_base(timings, base)
    table = []
    for name, mine in by.items():
        answered, refused = (
            rate(sum(t.right for t in mine if t.behaviour == kind), sum(t.behaviour == kind for t in mine))
            for kind in ("answer", "refuse")
        )
        judged = [n for n, timed in enumerate(mine) if timed.behaviour != "direct"]
        more = difference(
            [float(mine[n].right) for n in judged],
            [float(by[base][n].right) for n in judged],
            classes=[mine[n].behaviour for n in judged],
            rates=True,
        )
        table.append(
            {
                "system": name,
                "right behaviour": balanced(answered, refused).percent,
                "answered right": answered.percent,
                "refused rightly": refused.percent,
                f"more than {base}": "" if name == base else more.percent,
            }
        )
    return table


def _with_base(timings: Sequence[Timed], base: str) -> dict[str, list[Timed]]:
    by = together(timings)
    if base not in by:
        raise ConfigError(f"no timings of {base!r} to compare with; add it to --systems")
    return by


def setting_of(client: LLMClient, corpus: str, k: int) -> dict[str, Any]:
    """What requests must have in common for their seconds to be compared, ready for JSON."""
    from cookbook.providers import local

    return {
        "corpus": corpus,
        "model": client.chat_model,
        "engine": local.build() if client.provider == "local" else "",
        "k": k,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    }


def report(setting: Mapping[str, Any], timings: Sequence[Timed]) -> dict[str, Any]:
    """Everything a reader needs to judge the figures, ready for JSON: the setting, the day, and each request."""
    requests = [asdict(timed) for timed in timings]
    return {**setting, "date": date.today().isoformat(), "timings": requests}


def keep(path: Path, found: Mapping[str, Any]) -> None:
    """Put a report in the place of the one before; whoever is killed meanwhile has either."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    os.replace(fresh, path)


def kept(path: Path, setting: Mapping[str, Any]) -> list[Timed]:
    """The requests to go on from, none where there is no file yet; ConfigError for a file of another setting."""
    if not path.exists():
        return []
    found, timings = _read(path)
    if others := [
        f"{name} {found.get(name)!r}" for name, value in setting.items() if found.get(name) != value
    ]:
        raise ConfigError(f"{path} was timed with {', '.join(others)}; name another file in --out")
    return timings


def load_timings(path: Path) -> list[Timed]:
    """The requests in a file that ``cookbook bench --out`` wrote."""
    return _read(path)[1]


def _read(path: Path) -> tuple[dict[str, Any], list[Timed]]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return found, [Timed(**each) for each in found["timings"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{path} is no file of timings ({error!r}); restore it or name another one"
        ) from error
