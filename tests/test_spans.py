"""Percentiles by node are times that occurred; the table of failed reflections has each of them once."""

import pytest
from standins import HAPPY, build_loop

from cookbook.schema import Relevance, Retrieve, Step, Support, Trace, Usefulness
from cookbook.spans import WHOLE, failed_reflections, node_times
from cookbook.systems.handbook_graph import HandbookGraph


def trace_of(*seconds: float) -> Trace:
    """A request that drafts once for each number."""
    steps = [Step("retrieve"), *(Step("generate", calls=1, seconds=s) for s in seconds)]
    return Trace("How long?", "a_system", steps=steps)


def test_a_percentile_is_a_time_that_occurred():
    rows = {row["node"]: row for row in node_times(trace_of(float(n)) for n in range(1, 101))}
    assert rows["generate"] == {
        "node": "generate",
        "times": 100,
        "calls": 100,
        "p50": 50,
        "p95": 95,
        "p99": 99,
    }
    assert rows["retrieve"] == {"node": "retrieve", "times": 100, "calls": 0, "p50": 0, "p95": 0, "p99": 0}
    assert rows[WHOLE] == rows["generate"] | {"node": WHOLE}


def test_a_node_that_ran_twice_counts_twice_and_the_request_once():
    rows = {row["node"]: row for row in node_times([trace_of(1.0, 5.0), trace_of(2.0)])}
    assert (rows["generate"]["times"], rows["generate"]["p50"], rows["generate"]["p99"]) == (3, 2.0, 5.0)
    assert (rows[WHOLE]["times"], rows[WHOLE]["p99"]) == (2, 6.0)
    assert list(rows) == ["retrieve", "generate", WHOLE]


def test_no_traces_give_no_rows():
    assert node_times([]) == failed_reflections([]) == []


def reflections(**script):
    loop, _ = build_loop(HandbookGraph, **script)
    return failed_reflections([loop.answer("How long?").trace])


def test_a_request_without_detours_has_none():
    assert reflections() == []
    assert reflections(gate=[Retrieve.NO]) == []  # answered directly: a way, not a failure


def test_each_judgement_that_sent_it_back_is_a_row():
    rows = reflections(
        grades=[Relevance.IRRELEVANT] * 5 + HAPPY["grades"],
        drafts=["For 10 days.", "For 20 days."],
        support=[Support.NONE, Support.FULLY],
    )
    assert [(row["step"], row["node"], row["next"]) for row in rows] == [
        (3, "grade", "rewrite"),
        (8, "check_support", "regenerate"),
    ]
    assert rows[0]["said"] == " / ".join(["irrelevant"] * 5)
    assert rows[1] == {
        "question": "How long?",
        "system": "handbook_graph",
        "step": 8,
        "node": "check_support",
        "said": "none",
        "note": "",
        "next": "regenerate",
        "stopped": "supported_and_useful",
    }


def test_one_relevant_passage_is_enough():
    assert reflections(grades=[Relevance.IRRELEVANT, Relevance.RELEVANT]) == []


@pytest.mark.parametrize(
    ("part", "node"),
    [("gate", "decide_retrieval"), ("support", "check_support"), ("usefulness", "check_usefulness")],
)
def test_a_judge_that_failed_is_a_row(part, node):
    rows = reflections(**{part: ["fail"]})
    assert [(row["node"], row["said"]) for row in rows] == [(node, "failed")]


def test_one_passage_that_was_not_graded_is_a_row_even_beside_a_relevant_one():
    rows = reflections(grades=["fail", Relevance.RELEVANT])
    assert [(row["node"], row["next"]) for row in rows] == [("grade", "generate")]


def test_not_useful_three_times_is_three_rows():
    rows = reflections(usefulness=[Usefulness.NOT_USEFUL])
    assert [row["next"] for row in rows] == ["rewrite", "rewrite", "refuse"]
    assert {row["stopped"] for row in rows} == {"not_useful"}
