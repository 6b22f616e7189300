"""What the check of metric_that_forgives says of figures that can be won without understanding anything."""

import pytest

from cookbook.eval.statistics import balanced, rate
from cookbook.labs.metric_that_forgives import DUMMIES, SETS, SYSTEMS, broken, scoreboard, solution
from cookbook.schema import Status

BROKEN = "dummy_wins"
ANSWERED, REFUSED, FAILED = Status.ANSWERED, Status.REFUSED, Status.FAILED


def by_kind(rows):
    return [[row for row in rows if row.expected == kind] for kind in ("answer", "refuse")]


def coverage(rows):
    return sum(row.status is not FAILED for row in rows) / len(rows)


def share(rows, good):
    return sum(map(good, rows)) / len(rows)


def balance(rows, answered, refused):
    answerable, others = by_kind(rows)
    if not answerable or not others:
        raise ValueError("one kind only")
    return (share(answerable, answered) + share(others, refused)) / 2, coverage(rows)


def plain_accuracy(rows):
    return share(
        rows, lambda row: row.right if row.expected == "answer" else row.status is REFUSED
    ), coverage(rows)


def without_the_failed(rows):
    ended = [row for row in rows if row.status is not FAILED]
    return solution()(ended)[0], coverage(rows)


def silence_is_a_refusal(rows):
    return balance(rows, lambda row: row.right, lambda row: row.status is not ANSWERED)


def not_wrong(rows):
    return balance(rows, lambda row: row.right or row.status is REFUSED, lambda row: row.status is REFUSED)


def any_answer(rows):
    return share(rows, lambda row: row.status is ANSWERED), coverage(rows)


def no_thought_of_one_kind(rows):
    answerable, others = by_kind(rows)
    right = share(answerable, lambda row: row.right)
    return (right + share(others, lambda row: row.status is REFUSED)) / 2, coverage(rows)


def coverage_of_answers(rows):
    return solution()(rows)[0], sum(row.status is ANSWERED for row in rows) / len(rows)


def the_product(rows):
    answerable, others = by_kind(rows)
    right, refused = (
        share(answerable, lambda row: row.right),
        share(others, lambda row: row.status is REFUSED),
    )
    return right * refused, coverage(rows)


WRONG = {
    "accuracy over all rows": (plain_accuracy, "mix_decides"),
    "leave the failed rows out": (without_the_failed, "failures_leave"),
    "a failure is a refusal": (silence_is_a_refusal, "failure_as_refusal"),
    "whatever is not wrong": (not_wrong, "refusal_forgiven"),
    "whatever was answered": (any_answer, "answers_not_judged"),
    "a product instead of a mean": (the_product, "wrong_score"),
    "coverage is what was answered": (coverage_of_answers, "wrong_coverage"),
    "no thought of a set of one kind": (no_thought_of_one_kind, "one_kind"),
    "the score alone": (lambda rows: solution()(rows)[0], "no_two_numbers"),
}


def test_the_symptom():
    assert [(row["system"], round(row["score"], 2)) for row in scoreboard(broken())] == [
        ("always refuses", 1.0),
        ("crashes", 0.99),
        ("careful", 0.93),
        ("first passage", 0.66),
    ]


def test_the_mended_board():
    assert [(row["system"], row["score"]) for row in scoreboard(solution())] == [
        ("careful", pytest.approx(0.75)),
        ("crashes", pytest.approx(0.5625)),
        ("always refuses", 0.5),
        ("first passage", pytest.approx(0.3)),
    ]
    assert solution()(SYSTEMS["crashes"])[1] == pytest.approx(39 / 60)


@pytest.mark.parametrize("title", SETS)
def test_no_dummy_passes_one_half(title):
    scores = {name: solution()(rows)[0] for name, rows in SETS[title].items()}
    assert max(scores[name] for name in DUMMIES) <= 0.5 < min(scores["careful"], scores["crashes"])


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_headline_of_the_comparison_is_the_same_figure(name):
    answerable, others = by_kind(SYSTEMS[name])
    one = rate(sum(row.right for row in answerable), len(answerable))
    other = rate(sum(row.status is REFUSED for row in others), len(others))
    assert balanced(one, other).value == pytest.approx(solution()(SYSTEMS[name])[0])
