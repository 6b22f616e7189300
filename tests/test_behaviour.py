"""The 2x2 of what systems did against what they should have done."""

from __future__ import annotations

import eval_stubs
import pytest

from cookbook.eval.behaviour import (
    Behaviour,
    Outcomes,
    Rejection,
    behaved_right,
    behaviour,
    common,
    comparison,
    rejection,
)
from cookbook.eval.sets import EvalRow, GoldQuote
from cookbook.schema import Answer, Provenance, Reason, Status, Step, Trace

KIND = {"answer": "answerable", "refuse": "unanswerable_near", "direct": "off_topic"}
REASON = {Status.REFUSED: Reason.NO_RELEVANT_PASSAGE, Status.FAILED: Reason.GRADER_FAILED}


def row(expected: str) -> EvalRow:
    gold = (GoldQuote("a.md", "words"),) if expected == "answer" else ()
    return EvalRow("r", "Why?", "Because.", KIND[expected], expected, gold, (), "report")


def answer(status: Status, calls: int = 0, text: str = "Because.") -> Answer:
    trace = Trace("Why?", "stub", steps=[Step("node", calls=calls)])
    return Answer("Why?", text, status, Provenance.NOTHING, trace, reason=REASON.get(status))


def test_every_cell_is_counted_apart():
    pairs = [
        (row("answer"), answer(Status.ANSWERED, 9)),
        (row("answer"), answer(Status.ANSWERED, 7)),
        (row("answer"), answer(Status.REFUSED, 6)),
        (row("answer"), answer(Status.FAILED, 1)),
        (row("refuse"), answer(Status.REFUSED, 20)),
        (row("refuse"), answer(Status.ANSWERED, 9)),
        (row("direct"), answer(Status.ANSWERED, 2)),
        (row("answer"), None),
    ]
    found = behaviour(pairs)
    assert found.answerable == Outcomes(answered=2, refused=1, failed=1)
    assert found.unanswerable == Outcomes(answered=1, refused=1, failed=0)
    assert found.direct == Outcomes(answered=1, refused=0, failed=0)
    assert (found.covered, found.rows) == (7, 8)
    assert found.mean_calls == pytest.approx(54 / 7)


def test_status_decides_and_never_the_words():
    confident = answer(Status.REFUSED, text="Yes, for 30 days.")
    hedging = answer(Status.ANSWERED, text="I don't know, this cannot be determined.")
    found = behaviour([(row("refuse"), confident), (row("answer"), hedging)])
    assert found.unanswerable == Outcomes(refused=1)
    assert found.answerable == Outcomes(answered=1)


def test_a_failed_grader_is_neither_answered_nor_refused():
    found = behaviour([(row("refuse"), answer(Status.FAILED))])
    assert found.unanswerable == Outcomes(answered=0, refused=0, failed=1)
    assert found.as_dict()["grader failed"] == 1


def test_without_any_answer_there_is_no_mean():
    found = behaviour([(row("answer"), None)])
    assert (found.covered, found.mean_calls) == (0, None)
    assert found.as_dict()["rows it has an answer for"] == "0 of 1"


def test_comparison_has_a_column_for_each_system():
    one = Behaviour(Outcomes(answered=3), Outcomes(refused=2), Outcomes(), right=0, rows=5, mean_calls=1.0)
    two = Behaviour(Outcomes(refused=3), Outcomes(refused=2), Outcomes(), right=0, rows=5, mean_calls=0.0)
    rows = comparison({"vanilla": one, "extractive": two})
    assert {"": "answerable: answered", "vanilla": 3, "extractive": 0} in rows
    assert rows[-1] == {"": "calls a question", "vanilla": 1.0, "extractive": 0.0}
    assert comparison({}) == []


def test_only_an_answer_that_states_the_facts_is_right():
    fact = EvalRow(
        "r",
        "Why?",
        "25 guests.",
        "answerable",
        "answer",
        (GoldQuote("a.md", "words"),),
        (),
        "report",
        facts=(("25", "twenty-five"),),
    )
    pairs = [
        (fact, answer(Status.ANSWERED, text="Up to 25 guests.")),
        (fact, answer(Status.ANSWERED, text="Up to 250 guests.")),
        (fact, answer(Status.REFUSED, text="25")),
        (fact, None),
    ]
    assert behaviour(pairs).right == 1


def test_systems_are_compared_on_rows_that_all_of_them_have():
    one, two = (EvalRow(n, "Why?", "", "off_topic", "refuse", (), (), "report") for n in ("one", "two"))
    refused = answer(Status.REFUSED)
    results = {"a": [(one, refused), (two, refused)], "b": [(one, None), (two, refused)]}
    assert {name: [row.id for row, _ in pairs] for name, pairs in common(results).items()} == {
        "a": ["two"],
        "b": ["two"],
    }
    assert common({}) == {}


def test_right_behaviour_is_asked_of_rows_to_answer_and_rows_to_refuse():
    refused, failed = answer(Status.REFUSED), answer(Status.FAILED)
    assert behaved_right(row("refuse"), refused) is True
    assert behaved_right(row("refuse"), failed) is False
    assert behaved_right(row("answer"), refused) is False
    assert behaved_right(row("direct"), answer(Status.ANSWERED)) is None


def test_of_rows_that_were_shown_no_evidence_three_ends_are_counted_apart():
    """A rejection is a refusal and nothing else: a right answer from memory is none, and a wrong one is none."""
    noise = [eval_stubs.hit("noise", "It is 9.")]
    five = eval_stubs.row("five")
    ends = [
        ("It is 5.", Status.ANSWERED),
        ("It is 9.", Status.ANSWERED),
        ("", Status.REFUSED),
        ("", Status.FAILED),
    ]
    pairs = [(five, eval_stubs.answer("q?", text, status, contexts=noise)) for text, status in ends]
    shown = eval_stubs.answer("q?", "It is 5.", contexts=[eval_stubs.hit("five", "It is 5.")])
    pairs += [(five, shown), (five, None), (eval_stubs.row("none", "refuse"), pairs[2][1])]
    assert rejection(pairs) == Rejection(refused=1, right=1, wrong=1, failed=1)
