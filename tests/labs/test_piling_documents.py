"""What the check of piling_documents says of mends that cut, clear, or drop duplicates."""

import operator
from typing import Annotated

import pytest

from cookbook.labs.piling_documents import (
    NODES,
    K,
    Piling,
    ask,
    broken,
    check,
    retrieve,
    rewrite_and_clear,
    solution,
    whole,
)
from cookbook.published import handbook, steps
from cookbook.schema import Hit

BROKEN = "passages_multiply"


def build(schema=handbook.State, **swaps):
    return lambda judges, caps: handbook.build(judges, caps=caps, schema=schema, **swaps)


def by_id(old, new):
    return list({hit.chunk_id: hit for hit in [*old, *new]}.values())


class Deduplicated(handbook.State):
    hits: Annotated[list[Hit], by_id]


class FirstFour(handbook.State):
    hits: Annotated[list[Hit], lambda old, new: [*old, *new][:K]]


class LastFour(handbook.State):
    hits: Annotated[list[Hit], lambda old, new: [*old, *new][-K:]]


class Replaced(handbook.State):
    hits: Annotated[list[Hit], lambda old, new: new]


def grade_the_last(state, judges):
    return steps.grade({**state, "hits": state["hits"][-K:]}, judges)


def never_search_again(state, caps):
    return "__end__"


WRONG = {
    "clear the list once more": (build(Piling, **{**NODES, "retrieve": whole(lambda state, judges: {**retrieve(state, judges)})}), "passages_multiply"),
    "drop duplicates": (build(Deduplicated, **NODES), "old_passages_graded"),
    "keep the first four": (build(FirstFour, **NODES), "first_search_for_ever"),
    "cut in front of the grader": (build(Piling, retrieve=retrieve, grade=grade_the_last, rewrite=rewrite_and_clear), "old_passages_kept"),
    "never search again": (build(retrieve=retrieve, after_usefulness=never_search_again), "searched_once"),
    "the published retrieve": (build(), "other_k"),
}  # fmt: skip


def test_the_symptom_one_search():
    request = ask(broken(), rewrites=0)
    assert (request.run.calls, len(request.run.state["hits"])) == (8, 64)
    assert [row["hits in the state"] for row in request.rows] == [0, 4, 8, 16, 32, 64]


@pytest.mark.parametrize(
    ("rewrites", "grades", "calls", "mended"),
    [(0, 4, 8, 8), (1, 4 + 68, 80, 16), (2, 4 + 68 + 1092, 1176, 24)],
)
def test_the_symptom_each_search_costs_more(rewrites, grades, calls, mended):
    request = ask(broken(), rewrites=rewrites)
    assert (len(request.asked), request.run.calls) == (grades, calls)
    assert ask(solution(), rewrites=rewrites).run.calls == mended


@pytest.mark.parametrize("rewrites", [0, 1, 2])
def test_never_more_than_k(rewrites):
    request = ask(solution(), rewrites=rewrites)
    assert len(request.run.state["hits"]) <= K
    assert len(request.asked) == K * (rewrites + 1)


def test_either_half_alone_and_what_is_left_of_it():
    only_changes = {"retrieve": retrieve, "rewrite": rewrite_and_clear}
    assert check(build(Piling, **only_changes)).diagnosis == "old_passages_graded"
    assert check(build(LastFour, **NODES)).diagnosis == "old_passages_graded"  # when a search finds fewer
    assert check(build(Replaced, **NODES)).passed
    assert check(build(**NODES)).passed


def test_an_empty_list_adds_nothing():
    assert operator.add([1], []) == [1]
    assert [
        row["hits it returned"] for row in ask(broken(), rewrites=1).rows if row["node"] == "rewrite"
    ] == [0]
