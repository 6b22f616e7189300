"""The part of a comparison that can be trusted while recordings grow: a beginning, not what happens to be there.

Where a loop goes on, replies are missing; where it gives up early, they are not. Rows that are recorded in full
are therefore no sample: too many of them are requests that ended early. The order of the questions is fixed
(``in_turn``), so its longest beginning that every system brought to an end was chosen by nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cookbook.errors import ConfigError
from cookbook.eval.behaviour import Pair
from cookbook.eval.compare import Comparison
from cookbook.eval.dummies import DUMMIES
from cookbook.eval.sets import in_turn


def reach(pairs: Sequence[Pair]) -> int:
    """How many questions, in the order of recording, a system has ended before the first one it has not."""
    ended = [answer is not None for answer in _in_turn(pairs)]
    return [*ended, False].index(False)


def beginning(comparison: Comparison, systems: Sequence[str] = ()) -> Comparison:
    """The comparison of some systems (all, if none is named) and the dummies on the questions that all of them reach.

    Differences are from the same system as before if it is among them, else from the first. ConfigError when
    there is no such question.
    """
    names = list(systems or comparison.systems)
    results = {name: comparison.results[name] for name in (*names, *DUMMIES)}
    rows = min(reach(pairs) for pairs in results.values())
    if not rows:
        raise ConfigError(
            f"no question of {comparison.eval_set} has been ended by all of {', '.join(names)}; record some first"
        )
    first = {row.id for row in in_turn(row for row, _ in results[names[0]])[:rows]}
    return replace(
        comparison,
        results={name: [pair for pair in pairs if pair[0].id in first] for name, pairs in results.items()},
        against=comparison.against if comparison.against in names else names[0],
        broken_off={},
        selection=comparison.rows,
    )


def _in_turn(pairs: Sequence[Pair]) -> list[object]:
    answers = {row.id: answer for row, answer in pairs}
    return [answers[row.id] for row in in_turn(row for row, _ in pairs)]
