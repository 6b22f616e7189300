"""Intervals: exact values, and how often they hold the truth where they are used."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from cookbook.eval import statistics
from cookbook.eval.statistics import (
    Difference,
    Estimate,
    apart,
    auc,
    auc_difference,
    balanced,
    difference,
    mean,
    rate,
    ratio,
    share,
)


def test_a_rate_has_wilsons_interval():
    found = rate(8, 10)
    assert (found.value, found.n) == (0.8, 10)
    assert (found.low, found.high) == (pytest.approx(0.4901625), pytest.approx(0.9433178))
    assert rate(10, 10).low == pytest.approx(0.7224672)  # not 1: ten rows do not prove perfection


def test_a_balanced_rate_weighs_both_classes_alike():
    many, few = rate(33, 33), rate(0, 3)
    found = balanced(many, few)
    assert (found.value, found.n) == (0.5, 36)
    assert found.low == pytest.approx(0.5 - np.hypot(1 - many.low, 0) / 2)
    assert found.high == pytest.approx(0.5 + np.hypot(0, few.high) / 2)


def covers(
    estimates: dict[tuple[int, ...], Estimate], chances: dict[tuple[int, ...], float], truth: float
) -> float:
    """The chance that an interval holds the truth, summed exactly over all outcomes."""
    return sum(chances[key] for key, e in estimates.items() if e.low - 1e-9 <= truth <= e.high + 1e-9)


@pytest.mark.parametrize("n", [10, 33])
def test_wilson_covers_where_resampling_does_not(n):
    for p in (0.2, 0.5, 0.8, 0.95):
        chances = {(k,): float(binom.pmf(k, n, p)) for k in range(n + 1)}
        assert covers({key: rate(key[0], n) for key in chances}, chances, p) >= 0.91
    # The percentile bootstrap of k hits is the binomial of the rate k/n, so its coverage is exact too.
    resampled = {(k,): Estimate(k / n, *(binom.ppf((0.025, 0.975), n, k / n) / n), n) for k in range(n + 1)}
    assert covers(resampled, chances, 0.95) < 0.82


def test_the_balanced_interval_covers_at_the_sizes_of_our_sets():
    sizes = (33, 10)
    for rates in product((0.5, 0.9), (0.8, 0.9, 1.0)):
        chances = {
            key: float(np.prod([binom.pmf(k, n, p) for k, n, p in zip(key, sizes, rates, strict=True)]))
            for key in product(range(sizes[0] + 1), range(sizes[1] + 1))
        }
        ones, others = ([rate(k, n) for k in range(n + 1)] for n in sizes)
        found = {(k, m): balanced(ones[k], others[m]) for k, m in chances}
        assert covers(found, chances, sum(rates) / 2) >= 0.93


def test_two_added_rows_keep_a_paired_difference_honest(monkeypatch):
    """A wins 1 row in 10 and loses none: how often do 10 rows cover the true +0.1?"""
    monkeypatch.setattr(statistics, "DRAWS", 500)
    wins = np.random.default_rng(1).binomial(10, 0.1, size=200)

    def coverage(rates: bool) -> float:
        found = {w: difference([1] * w + [0] * (10 - w), [0] * 10, rates=rates) for w in set(wins)}
        return float(np.mean([found[w].low <= 0.1 <= found[w].high for w in wins]))

    assert coverage(rates=True) >= 0.95
    assert coverage(rates=False) < 0.75


def test_a_difference_is_paired():
    """The same gap on every row is certain, however much the rows differ among themselves."""
    more, less = [10.5, 3.5, 90.5, 7.5, 0.5, 2.5], [10.0, 3.0, 90.0, 7.0, 0.0, 2.0]
    found = difference(more, less)
    assert (found.value, found.low, found.high, found.n) == (0.5, 0.5, 0.5, 6)
    assert found.seen


def test_five_rows_show_no_difference_even_if_they_agree():
    found = difference([1.5] * 5, [1.0] * 5)
    assert (found.low, found.seen) == (0.5, False)
    assert str(found).endswith("no difference seen")


def test_shares_that_are_all_or_nothing_have_an_interval():
    assert share([1.0] * 10) == rate(10, 10)
    assert share([1.0, 0.5]) == mean([1.0, 0.5])
    with pytest.raises(ValueError, match="at least one"):
        share([])


def test_two_rates_that_share_no_row_are_told_apart_as_newcombe_does():
    """His first example (Statistics in Medicine 17, 1998, method 10): 56 of 70 against 48 of 80."""
    found = apart(rate(56, 70), rate(48, 80))
    assert (round(found.value, 4), round(found.low, 4), round(found.high, 4)) == (0.2, 0.0524, 0.3339)
    assert found.seen
    assert rate(56, 70).low < rate(48, 80).high  # their intervals overlap all the same


def test_two_judges_of_the_same_pairs_are_compared_pair_by_pair():
    rng = np.random.default_rng(1)
    good = [n % 2 == 0 for n in range(60)]
    hard = rng.normal(size=60)
    first, second = ([g + h + 0.3 * rng.normal() for g, h in zip(good, hard, strict=True)] for _ in range(2))
    found = auc_difference(first, second, good)
    assert found.value == pytest.approx(auc(first, good).value - auc(second, good).value)
    unpaired = apart(auc(first, good), auc(second, good))
    assert found.high - found.low < 0.7 * (unpaired.high - unpaired.low)
    assert (auc_difference(first, first, good).low, auc_difference(first, first, good).high) == (0.0, 0.0)
    assert auc_difference([1.0] * 30 + [0.0] * 30, second, [True] * 30 + [False] * 30).seen


def test_a_ratio_draws_rows_and_not_what_is_in_them():
    """Ten rows of five, each all or nothing: the fifty are worth ten."""
    rows = ratio([5, 0] * 5, [5] * 10)
    assert (rows.value, rows.n) == (0.5, 50)
    assert rows.high - rows.low > 1.8 * (rate(25, 50).high - rate(25, 50).low)
    assert ratio([0, 0], [3, 4]) == rate(0, 7)


def test_a_difference_by_classes_weighs_them_alike():
    found = difference([1, 1, 1, 0], [0, 0, 0, 0], classes=["a", "a", "a", "b"], rates=True)
    assert found.value == 0.5


def test_no_difference_is_said_in_words():
    found = difference([1, 0, 1, 0], [0, 1, 1, 0], rates=True)
    assert (found.value, found.seen) == (0.0, False)
    assert str(found).endswith(", no difference seen")
    assert found.percent.startswith("+0 points [")
    assert str(Difference(0.121, 0.02, 0.218, 9)) == "+0.12 [+0.02, +0.22]"
    assert Difference(0.121, 0.02, 0.218, 9).percent == "+12 points [+2, +22]"
    assert Difference(-0.004, -0.2, 0.1, 9).percent == "+0 points [-20, +10], no difference seen"
    assert str(Difference(-0.004, -0.2, -0.001, 9)) == "+0.00 [-0.20, +0.00]"


def test_how_figures_are_written():
    assert str(Estimate(0.454, 0.29, 0.6249, 3)) == "0.45 [0.29, 0.62]"
    assert str(Estimate(10.25, 9.3, 11.1, 3)) == "10.2 [9.3, 11.1]"
    assert str(Estimate(2334.2, 2077, 2599, 3)) == "2,334 [2,077, 2,599]"
    assert Estimate(0.454, 0.29, 0.6249, 3).percent == "45% [29, 62]"


@settings(deadline=None, max_examples=25)
@given(st.lists(st.floats(0, 100), min_size=1, max_size=20))
def test_a_mean_lies_in_its_interval_and_comes_back_the_same(values):
    found = mean(values)
    assert min(values) - 1e-9 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= max(values) + 1e-9
    assert found == mean(values)


def test_auc_counts_pairs_and_halves_ties():
    assert auc([0.9, 0.8, 0.3, 0.1], [True, False, True, False]).value == 0.75
    assert auc([0.5, 0.5], [True, False]).value == 0.5
    assert auc([0.9, 0.1], [False, True]).value == 0.0


def test_auc_by_groups_is_less_sure_of_itself():
    """Twenty passages of each of six questions: six opinions, not a hundred and twenty."""
    rng = np.random.default_rng(3)
    questions = np.repeat(range(6), 20)
    gold = rng.random(120) < 0.4
    score = np.where(questions % 2 == 0, gold, ~gold) + rng.normal(scale=0.5, size=120)
    alone, grouped = auc(score, gold), auc(score, gold, groups=questions.tolist())
    assert alone.value == grouped.value
    assert grouped.high - grouped.low > 2 * (alone.high - alone.low)


def test_what_has_no_rows_is_an_error():
    for call in (
        lambda: rate(0, 0),
        lambda: mean([]),
        lambda: difference([], []),
        lambda: auc([1.0], [True]),
    ):
        with pytest.raises(ValueError, match="needs"):
            call()
