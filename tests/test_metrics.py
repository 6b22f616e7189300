"""Each figure on rows made for it, and that what is unknown or broken does not pass for something better."""

from __future__ import annotations

from dataclasses import replace

import pytest
from eval_stubs import answer, hit, row

from cookbook.errors import ConfigError
from cookbook.eval.metrics import (
    BY_NAME,
    HEADLINE,
    METRICS,
    by_kind,
    keep_rate,
    price,
    require_both,
    retrieval_rates,
)
from cookbook.eval.sets import load_eval_set
from cookbook.schema import Answer as AnswerType
from cookbook.schema import Decision, Provenance, Relevance, Status, Step, Trace, Verdict

ROWS = [row("a"), row("b"), row("c"), row("d"), row("x", "refuse"), row("y", "refuse"), row("z", "direct")]
RIGHT, WRONG = "It is 5.", "It is 50."
ENDS = [
    (RIGHT, Status.ANSWERED),
    (WRONG, Status.ANSWERED),
    ("", Status.REFUSED),
    ("", Status.FAILED),
    ("", Status.REFUSED),
    (WRONG, Status.ANSWERED),
    (RIGHT, Status.ANSWERED),
]
PAIRS = [
    (
        each,
        answer(
            each.question, text, status, steps=[Step("retrieve"), Step("generate", calls=2, prompt_tokens=30)]
        ),
    )
    for each, (text, status) in zip(ROWS, ENDS, strict=True)
]


def value(name: str, pairs=PAIRS):
    found = BY_NAME[name].estimate(pairs)
    return (found.value, found.n)


def test_every_figure_on_seven_rows():
    assert value("right behaviour") == ((1 / 4 + 1 / 2) / 2, 6)
    assert value("answered right") == (0.25, 4)  # the failed row is among the four
    assert value("refused wrongly") == (0.25, 4)
    assert value("refused rightly") == (0.5, 2)
    assert value("answered directly") == (1.0, 1)
    assert value("failed") == (pytest.approx(1 / 7), 7)
    assert value("right, if it answers") == (
        pytest.approx(1 / 3),
        3,
    )  # the failed row is no better than a wrong one
    assert value("calls") == (2.0, 7)
    assert value("tokens") == (30.0, 7)


def test_rows_that_were_not_run_are_missing_and_not_wrong():
    pairs = [*PAIRS, (row("e"), None)]
    assert value("answered right", pairs) == (0.25, 4)


def test_seconds_that_nobody_took_are_unknown_and_not_zero():
    assert BY_NAME["seconds"].estimate(PAIRS) is None
    none_asked = [(ROWS[0], answer("a?", RIGHT))]
    assert value("seconds", none_asked) == (0.0, 1)


def test_a_figure_that_no_row_has_is_none():
    refusals = [pair for pair in PAIRS if pair[1].status is Status.REFUSED]
    assert BY_NAME["right, if it answers"].estimate(refusals) is None
    assert HEADLINE.estimate([PAIRS[0]]) is None  # one class alone makes no headline
    assert HEADLINE.written(None) == "-"


def test_differences_take_the_rows_that_both_have():
    better = [(each, answer(each.question)) for each in ROWS[:3]]
    found = BY_NAME["answered right"].difference(better, PAIRS)
    assert (found.value, found.n) == (pytest.approx(2 / 3), 3)
    assert BY_NAME["answered right"].difference(better, PAIRS[4:]) is None


def test_swapping_all_gold_answers_brings_correctness_to_nothing():
    """On the real set, with the reference answers said word for word: all right, and with other gold all wrong."""
    rows = [each for each in load_eval_set("larkspur") if each.behaviour == "answer"]
    said = [(each, answer(each.question, each.answer)) for each in rows]
    assert value("answered right", said) == (1.0, len(rows))
    assert value("exact match", said) == (1.0, len(rows))
    wrong = [
        (replace(each, answer="xyzzy", variants=("plugh",), facts=(("xyzzy", "plugh"),)), given)
        for each, given in said
    ]
    for name in ("answered right", "right, if it answers", "exact match", "token F1"):
        assert value(name, wrong) == (0.0, len(rows))


def test_an_unknown_price_is_not_free():
    free, paid, unknown = ((row("a"), answer("a?", cost=cost)) for cost in (0.0, 0.02, None))
    assert price([free]) == 0.0
    assert price([free, paid]) == 0.01
    assert price([free, paid, unknown]) is None
    assert price([(row("a"), None)]) is None


def test_retrieval_is_counted_by_what_the_question_needs():
    silent = AnswerType(
        "z?", "19", Status.ANSWERED, Provenance.MODEL_MEMORY, Trace("z?", "s", [Step("decide_retrieval")])
    )
    rates = retrieval_rates([*PAIRS[:6], (ROWS[6], silent)])
    assert {name: (rate.value, rate.n) for name, rate in rates.items()} == {
        "answer": (1.0, 4),
        "refuse": (1.0, 2),
        "direct": (0.0, 1),
    }


def test_what_is_kept_of_what_was_graded():
    labels = [Relevance.RELEVANT, Relevance.IRRELEVANT, Relevance.IRRELEVANT, None]
    step = Step("grade", verdicts=[Verdict(Decision.RELEVANCE, label) for label in labels])
    found = keep_rate([(row("a"), answer("a?", steps=[step], contexts=[hit("a", "x")]))])
    assert (found.value, found.n) == (0.25, 4)
    assert keep_rate(PAIRS) is None


def test_kinds_are_counted_apart():
    found = {kind: (rate.value, rate.n) for kind, rate in by_kind(PAIRS).items()}
    assert found == {"answerable": (0.25, 4), "unanswerable_near": (0.5, 2)}


@pytest.mark.parametrize(("rows", "missing"), [(ROWS[:4], "refuse"), (ROWS[4:], "answer")])
def test_a_set_of_one_kind_is_refused(rows, missing):
    with pytest.raises(ConfigError, match=f"'{missing}'"):
        require_both(rows)


def test_every_metric_says_what_it_counts():
    assert all(metric.note and metric.kind in ("rate", "share", "mean", "balanced") for metric in METRICS)
    assert [metric.name for metric in METRICS if metric.kind == "balanced"] == [HEADLINE.name]
