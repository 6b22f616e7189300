"""What the labs about graphs say in the same way."""

from cookbook.labs.kit import supersteps, times, unfit
from cookbook.published import handbook
from cookbook.published.graphs import run
from cookbook.published.models import Judges
from cookbook.schema import Support

QUESTION = "Can I export my data after I cancel my plan?"


def test_what_is_no_graph_and_what_brings_a_limit():
    graph = handbook.build(Judges())
    assert unfit(graph) is None
    assert unfit({"grade": None}).diagnosis == "no_graph"
    verdict = unfit(graph.with_config(recursion_limit=10_000))
    assert verdict.diagnosis == "limit_changed"
    assert "10,000 supersteps" in verdict.message


def test_how_often_nodes_ran():
    done = run(
        handbook.build(Judges(support=Support.NONE), regenerate=handbook.regenerate_counted),
        handbook.fresh_state(QUESTION),
    )
    assert times(done, "generate") == "1 time"
    assert times(done, "generate", "regenerate") == "3 times"
    assert times(done, "rewrite") == "0 times"


def test_a_row_for_each_superstep():
    rows = supersteps(run(handbook.build(Judges()), handbook.fresh_state(QUESTION)))
    assert [row["node"] for row in rows] == [
        "decide_retrieval", "retrieve", "grade", "generate", "check_support", "check_usefulness",
    ]  # fmt: skip
    assert [row["calls so far"] for row in rows] == [1, 1, 6, 7, 8, 9]
    assert rows[2] == {"superstep": 3, "node": "grade", "calls so far": 6, "what it returned": "kept: 5"}
