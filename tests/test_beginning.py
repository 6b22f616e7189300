"""The beginning that all systems reach: which rows it holds, and that nothing recorded by chance gets in."""

from __future__ import annotations

from dataclasses import replace

import pytest
from eval_stubs import answer, row

from cookbook.errors import ConfigError
from cookbook.eval.beginning import beginning, reach
from cookbook.eval.compare import Comparison
from cookbook.eval.dummies import DUMMIES

# In turn: a, x, b, c; the last one belongs to the split to fit on.
ROWS = [replace(row("c"), split="fit"), row("a"), row("b"), row("x", "refuse")]


def pairs(ended: str):
    return [(each, answer(each.question) if each.id in ended else None) for each in ROWS]


def compared(against: str = "one", **ended: str) -> Comparison:
    results = {name: pairs(ids) for name, ids in ended.items()} | {name: pairs("abcx") for name in DUMMIES}
    return Comparison("made_up", "all", "no model", results, against, {"two": 2})


@pytest.mark.parametrize(("ended", "far"), [("abcx", 4), ("axc", 2), ("xbc", 0), ("a", 1), ("", 0)])
def test_a_row_after_a_gap_is_not_reached(ended, far):
    assert reach(pairs(ended)) == far


def test_the_rows_are_those_that_the_slowest_reaches():
    found = beginning(compared(one="abcx", two="axc", three="abx"))
    assert (found.common, found.rows) == (2, 4)  # and it says of how many
    assert [each.id for each, _ in found.results["one"]] == ["a", "x"]
    assert found.systems == ["one", "two", "three"]
    assert (found.against, found.broken_off) == ("one", {})


def test_some_systems_reach_further_than_all():
    found = beginning(compared(one="abcx", two="a", three="abx"), ["three", "one"])
    assert (found.common, found.systems, found.against) == (3, ["three", "one"], "one")
    assert beginning(compared(one="", two="a", three="abx"), ["three", "two"]).against == "three"


def test_who_has_not_begun_stops_it():
    with pytest.raises(ConfigError, match="no question of made_up has been ended by all of one, two; record"):
        beginning(compared(one="abcx", two="bc"))
