"""Exact match and F1: what counts as the same answer."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cookbook.eval.matching import exact, f1, golds
from cookbook.eval.sets import EvalRow, GoldQuote


@pytest.mark.parametrize(
    ("said", "gold"),
    [
        ("TRUE", "true"),
        ("The 30-day window.", "30 day window"),
        ("20,000 seats", "20000 seats"),
        ("“Café”", unicodedata.normalize("NFD", "cafe\u0301").upper()),
        ("an Adam optimizer", "Adam optimizer"),
        ("five", "5"),
        ("5", "5 guests"),
        ("25.0", "25"),
        ("2.4 million", "2,400,000"),
        ("3 days", "72 hours"),
        ("The A.", "the a"),
        (" ?", "?"),
        ("", " "),
    ],
)
def test_what_does_not_count(said, gold):
    assert exact(said, [gold])
    assert f1(said, [gold]) == 1.0


@pytest.mark.parametrize(
    ("said", "gold"),
    [
        ("25 guests", "250 guests"),
        ("5 mg", "5 g"),
        ("incorrect", "correct"),
        ("", "5"),
        ("not 5", "5"),
        ("5 guests", "5 boards"),
        ("the", "A"),
        ("", "A"),
        ("A", "an Adam optimizer"),
        ("?", "!"),
        ("", "?"),
    ],
)
def test_what_does(said, gold):
    assert not exact(said, [gold])


def test_articles_are_compared_where_there_is_nothing_else():
    assert exact("a", ["A"])
    assert f1("the", ["A"]) == 0.0
    assert f1("the A", ["A"]) == f1("A", ["the A"]) == 2 / 3
    assert f1("the", ["the Adam optimizer"]) == 0.0


def test_f1_is_that_of_the_best_gold():
    assert f1("72 hours", ["The admin has 72 hours to accept.", "within 72 hours"]) == 0.8
    assert f1("never", ["72 hours"]) == 0.0
    assert f1("x", []) == 0.0


def test_every_variant_is_a_gold():
    row = EvalRow(
        "r", "q?", "Five.", "answerable", "answer", (GoldQuote("a", "5"),), ("5", "up to 5"), "report"
    )
    assert golds(row) == ("Five.", "5", "up to 5")


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=30), st.text(max_size=30))
def test_f1_is_symmetric_and_bounded(one, other):
    assert 0.0 <= f1(one, [other]) <= 1.0
    assert f1(one, [other]) == f1(other, [one])
    assert f1(one, [one]) == 1.0
    assert exact(one, [one])
