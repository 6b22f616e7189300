"""How far a figure from a few dozen rows can be trusted: intervals for rates, means, differences and AUC.

Every interval is a 95 % one. Resampling is seeded: the same rows give the same figures.

Which interval, and why (tests/test_statistics.py repeats the measurements):

- A rate takes Wilson's. Resampling is blind where systems are good: 10 right of 10, drawn again, is always
  10 of 10. With 10 rows and a true rate of .95 the percentile bootstrap covers it 40 % of the time, Wilson
  91 %. The exact interval never covers less than 95 %, and pays with width.
- The mean of two rates combines their Wilson intervals (Zou and Donner 2008, "MOVER"). With 33 and 10 rows
  at .9 each it covers 94 %, the percentile bootstrap 79 %.
- A mean of other numbers (calls, seconds, F1) takes the percentile bootstrap. Shares of which each is 0 or 1
  are a rate.
- A difference takes a paired bootstrap: rows are drawn, so both systems always meet the same ones. For rates
  two rows are added to each class, one in favour of either side, as Bonett and Price (2012) do. If A wins
  1 row in 10 and never loses one, 10 rows cover that difference 63 % of the time without the added rows.
  Five rows can show no difference, not even if all five say the same: that happens by chance one time in sixteen.
- Figures of samples that share nothing are told apart by their two intervals (MOVER again; of rates it is
  Newcombe's of 1998). That two intervals overlap says nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import hypot
from typing import TypeVar

import numpy as np

DRAWS = 4_000
SEED = 0
FEWEST = 6
"""Rows that can show a difference at all: the sign test needs six of six."""


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval, from ``n`` rows."""

    value: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        """``0.45 [0.29, 0.62]``, with fewer decimals for larger numbers."""
        return _written(self, "")

    @property
    def percent(self) -> str:
        """``45% [29, 62]``, for a share."""
        return f"{self.value:.0%} [{100 * self.low:.0f}, {100 * self.high:.0f}]"


@dataclass(frozen=True)
class Difference(Estimate):
    """How much more the first has than the second, on the same ``n`` rows.

    What rounds to zero is written without a minus: there is no direction to tell.
    """

    @property
    def seen(self) -> bool:
        """True when FEWEST rows are there and the interval leaves out zero: chance alone hardly makes such a
        difference."""
        return self.n >= FEWEST and not self.low <= 0.0 <= self.high

    def __str__(self) -> str:
        """``+0.12 [+0.02, +0.22]``; an interval that holds zero is said in words."""
        return _written(self, "+") + self._seen

    @property
    def percent(self) -> str:
        """``+12 points [+2, +22]``, between two shares."""
        return (
            f"{100 * self.value:+z.0f} points [{100 * self.low:+z.0f}, {100 * self.high:+z.0f}]{self._seen}"
        )

    @property
    def _seen(self) -> str:
        return "" if self.seen else ", no difference seen"


Kind = TypeVar("Kind", bound=Estimate)


def _written(estimate: Estimate, sign: str) -> str:
    largest = max(abs(estimate.value), abs(estimate.low), abs(estimate.high))
    form = f"{sign}z,.{2 if largest < 10 else 1 if largest < 100 else 0}f"
    return f"{estimate.value:{form}} [{estimate.low:{form}}, {estimate.high:{form}}]"


def rate(hits: int, n: int) -> Estimate:
    """The share of ``hits`` among ``n`` rows, with Wilson's interval. ValueError without rows."""
    if n < 1:
        raise ValueError("a rate needs at least one row")
    from scipy.stats import binomtest

    interval = binomtest(hits, n).proportion_ci(method="wilson")
    return Estimate(hits / n, float(interval.low), float(interval.high), n)


def balanced(one: Estimate, other: Estimate) -> Estimate:
    """The mean of two rates, each from rows of its own, whatever the number of rows behind either."""
    value = (one.value + other.value) / 2
    below = hypot(one.value - one.low, other.value - other.low) / 2
    above = hypot(one.high - one.value, other.high - other.value) / 2
    return Estimate(value, value - below, value + above, one.n + other.n)


def mean(values: Sequence[float]) -> Estimate:
    """The mean of one number a row, with the percentile bootstrap. ValueError without rows."""
    if not len(values):
        raise ValueError("a mean needs at least one row")
    drawn = _means(np.asarray(values, float), np.random.default_rng(SEED))
    return _estimate(Estimate, float(np.mean(values)), drawn, len(values))


def share(values: Sequence[float]) -> Estimate:
    """The mean of one share a row, each in [0, 1]. Where all are 0 or 1 it is a rate: resampling is blind there."""
    whole = all(value in (0.0, 1.0) for value in values)
    return rate(int(sum(values)), len(values)) if whole and values else mean(values)


def ratio(parts: Sequence[int], wholes: Sequence[int]) -> Estimate:
    """The sum of the parts over that of the wholes, a pair for each row; ``n`` is the sum of the wholes.

    Rows are drawn, because the parts of one row are not independent; all or nothing is a rate. ValueError when the
    wholes are 0.
    """
    found, of = sum(parts), sum(wholes)
    if found in (0, of):
        return rate(found, of)
    part, whole = np.asarray(parts, float), np.asarray(wholes, float)
    rows = np.random.default_rng(SEED).integers(0, len(part), (DRAWS, len(part)))
    sums = whole[rows].sum(axis=1)
    drawn = part[rows].sum(axis=1)[sums > 0] / sums[sums > 0]
    return _estimate(Estimate, found / of, drawn, of)


def difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    classes: Sequence[Hashable] | None = None,
    rates: bool = False,
) -> Difference:
    """Mean of ``first`` minus mean of ``second``; the two hold one number for each row, in the same order.

    With ``classes`` (one for each row) the means are taken in each class and averaged, as in
    :func:`balanced`. ``rates`` says that the numbers are 0 or 1.
    """
    gaps = np.asarray(first, float) - np.asarray(second, float)
    if not len(gaps):
        raise ValueError("a difference needs at least one row")
    rng = np.random.default_rng(SEED)
    value, drawn = 0.0, np.zeros(DRAWS)
    strata = _strata(classes or [0] * len(gaps))
    for rows in strata:
        own = gaps[rows]
        value += float(own.mean()) / len(strata)
        drawn += _means(np.concatenate((own, (1.0, -1.0))) if rates else own, rng) / len(strata)
    return _estimate(Difference, value, drawn, len(gaps))


def auc(
    scores: Sequence[float], positive: Sequence[bool], *, groups: Sequence[Hashable] | None = None
) -> Estimate:
    """The chance that a positive pair scores above a negative one, ties counted half.

    ``groups`` (one for each pair) are drawn whole: passages of one question are not independent. Without
    them positives and negatives are drawn apart. ValueError unless both kinds occur. Of a perfect
    separation the interval has no width; that says that there are too few rows, not that it is certain.
    """
    above = np.asarray(positive, bool)
    wins = _wins(scores, above)
    return _estimate(Estimate, float(wins.mean()), _drawn(wins, above, groups), len(above))


def auc_difference(
    first: Sequence[float],
    second: Sequence[float],
    positive: Sequence[bool],
    *,
    groups: Sequence[Hashable] | None = None,
) -> Difference:
    """AUC of the first scores minus that of the second, for the same pairs in the same order; see :func:`auc`."""
    above = np.asarray(positive, bool)
    gap = _wins(first, above) - _wins(second, above)
    return _estimate(Difference, float(gap.mean()), _drawn(gap, above, groups), len(above))


def apart(one: Estimate, other: Estimate) -> Difference:
    """How much more ``one`` has than ``other``, for figures of samples that share no row."""
    gap = one.value - other.value
    below = hypot(one.value - one.low, other.high - other.value)
    above = hypot(one.high - one.value, other.value - other.low)
    return Difference(gap, gap - below, gap + above, one.n + other.n)


def _wins(scores: Sequence[float], above: np.ndarray) -> np.ndarray:
    """For each positive pair beside each negative one: 1 where it scores higher, one half where it scores the same."""
    if above.all() or not above.any():
        raise ValueError("an AUC needs positive and negative pairs")
    score = np.asarray(scores, float)
    high, low = score[above][:, None], score[~above][None, :]
    found: np.ndarray = (high > low) + 0.5 * (high == low)
    return found


def _drawn(wins: np.ndarray, above: np.ndarray, groups: Sequence[Hashable] | None) -> np.ndarray:
    """The mean of ``wins`` over resampled pairs; groups are drawn whole."""
    rng = np.random.default_rng(SEED)
    weights = np.zeros((DRAWS, len(above)))
    if groups is None:
        for rows in _strata(above.tolist()):
            weights[:, rows] = _counts(len(rows), rng)
    else:
        members = _strata(groups)
        for rows, times in zip(members, _counts(len(members), rng).T, strict=True):
            weights[:, rows] = times[:, None]
    plus, minus = weights[:, above], weights[:, ~above]
    pairs = plus.sum(1) * minus.sum(1)
    drawn: np.ndarray = ((plus @ wins) * minus).sum(1)[pairs > 0] / pairs[pairs > 0]
    return drawn


def _strata(classes: Sequence[Hashable]) -> list[np.ndarray]:
    """The row numbers of each class, classes in order of appearance."""
    members: dict[Hashable, list[int]] = {}
    for row, name in enumerate(classes):
        members.setdefault(name, []).append(row)
    return [np.array(rows) for rows in members.values()]


def _counts(n: int, rng: np.random.Generator) -> np.ndarray:
    """How often each of ``n`` rows is drawn, DRAWS times over: (DRAWS, n)."""
    return rng.multinomial(n, np.full(n, 1.0 / n), size=DRAWS)


def _means(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    drawn: np.ndarray = _counts(len(values), rng) @ values / len(values)
    return drawn


def _estimate(kind: type[Kind], value: float, drawn: np.ndarray, n: int) -> Kind:
    low, high = np.quantile(drawn, (0.025, 0.975))
    return kind(value, float(low), float(high), n)
