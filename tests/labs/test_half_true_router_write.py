"""What the check of half_true_router_write says of mends that copy at the door, count elsewhere, or append in a node."""

import operator
from copy import deepcopy
from typing import Annotated

import pytest

from cookbook.labs.half_true_router_write import (
    LIMIT,
    State,
    append_and_count,
    broken,
    check,
    fresh_state,
    serve,
    solution,
    with_pauses,
)
from cookbook.published import handbook
from cookbook.published.graphs import run
from cookbook.published.handbook import Caps
from cookbook.published.models import Judges, in_turn
from cookbook.schema import Support

BROKEN = "input_changed"


def build(schema=State, **swaps):
    return lambda judges, caps: handbook.build(judges, caps=caps, schema=schema, **swaps)


def assign_a_copy(state, caps):
    state["rejected"] = [*state["rejected"], state["draft"]]
    if state["support"] is Support.FULLY or len(state["rejected"]) > caps.regenerations:
        return "check_usefulness"
    return "regenerate"


def empty_at_the_door(state, judges):
    return {**handbook.decide_retrieval(state, judges), "rejected": []}


def append_in_a_node(state, judges):
    update = handbook.check_support(state, judges)
    if update["support"] is not Support.FULLY:
        state["rejected"].append(state["draft"])
        update["rejected"] = state["rejected"]
    return update


def return_a_new_list(state, judges):
    update = handbook.check_support(state, judges)
    if update["support"] is not Support.FULLY:
        update["rejected"] = [*state["rejected"], state["draft"]]
    return update


def read_only(state, caps):
    if state["support"] is Support.FULLY or len(state["rejected"]) > caps.regenerations:
        return "check_usefulness"
    return "regenerate"


def read_one_too_many(state, caps):
    if state["support"] is Support.FULLY or len(state["rejected"]) > caps.regenerations + 1:
        return "check_usefulness"
    return "regenerate"


def count_a_number(state, caps):
    if state["support"] is Support.FULLY or state["regenerations"] >= caps.regenerations:
        return "check_usefulness"
    return "regenerate"


def accept_nothing(state, caps):
    return "check_usefulness" if len(state["rejected"]) >= caps.regenerations + 1 else "regenerate"


def note_every_draft(state, judges):
    return {**handbook.check_support(state, judges), "rejected": [*state["rejected"], state["draft"]]}


def counted_in_a_closure(judges, caps):
    count = 0

    def after_support(state, caps):
        nonlocal count
        if state["support"] is Support.FULLY:
            return "check_usefulness"
        count += 1
        return "regenerate" if count <= caps.regenerations else "check_usefulness"

    return handbook.build(
        judges, caps=caps, schema=State, check_support=return_a_new_list, after_support=after_support
    )


WRONG = {
    "count in a closure": (counted_in_a_closure, "counted_outside_the_state"),
    "assign a copy in the router": (build(after_support=assign_a_copy), "count_thrown_away"),
    "an empty list at the door": (build(after_support=append_and_count, decide_retrieval=empty_at_the_door), "lost_on_resume"),
    "append in a node": (build(check_support=append_in_a_node, after_support=read_only), "changed_in_a_node"),
    "one too many": (build(check_support=return_a_new_list, after_support=read_one_too_many), "wrong_count"),
    "write again what was accepted": (build(check_support=note_every_draft, after_support=accept_nothing), "accepted_and_rewritten"),
    "count a number instead": (build(regenerate=handbook.regenerate_counted, after_support=count_a_number), "drafts_lost"),
}  # fmt: skip


def test_it_works_in_every_test_that_makes_one_request():
    done = serve(broken(), fresh_state(""), support=Support.NONE, caps=Caps())
    assert (done.calls, done.ran("regenerate"), done.ended) == (13, 2, True)


def test_the_symptom_requests_share_the_list():
    start = fresh_state("")
    runs = [
        serve(broken(), start, support=in_turn(Support.NONE, Support.FULLY), caps=Caps()) for _ in range(5)
    ]
    assert [done.calls for done in runs] == [11, 11, 9, 9, 9]
    assert [done.state["support"] for done in runs] == [Support.FULLY] * 2 + [Support.NONE] * 3
    assert len(start["rejected"]) == 5


def test_the_checkpoint_never_held_the_count():
    resumed = with_pauses(broken(), Caps())
    assert not resumed.ended
    assert [row["rejected in the checkpoint"] for row in resumed.rows] == [0] * 10
    resumed = with_pauses(solution(), Caps())
    assert resumed.ended
    assert [row["rejected in the checkpoint"] for row in resumed.rows] == [1, 2]


class Added(handbook.State):
    rejected: Annotated[list[str], operator.add]


@pytest.mark.parametrize(("writes_the_field", "regenerations"), [(False, 2), (True, 28)])
def test_with_a_reducer_it_depends_on_the_node_before(writes_the_field, regenerations):
    """What langgraph does today: the caller is spared, and the change lasts only if no node writes the field."""

    def check_support(state, judges):
        return handbook.check_support(state, judges) | ({"rejected": []} if writes_the_field else {})

    start = fresh_state("q")
    graph = build(Added, after_support=append_and_count, check_support=check_support)(
        Judges(support=Support.NONE), Caps()
    )
    done = run(graph, start, recursion_limit=LIMIT)
    assert (done.ran("regenerate"), done.ended, start["rejected"]) == (
        regenerations,
        not writes_the_field,
        [],
    )


def test_a_reducer_and_a_deep_copy_do_not_help_the_checkpoint():
    assert check(build(Added, after_support=append_and_count)).diagnosis == "lost_on_resume"
    start = fresh_state("")
    serve(broken(), deepcopy(start), support=Support.NONE, caps=Caps())
    assert start["rejected"] == []
    assert not with_pauses(broken(), Caps()).ended


def test_a_count_kept_beside_the_state_is_shared():
    noted = []

    def build_with_a_list_outside(judges, caps):
        def router(state, caps):
            if state["support"] is Support.FULLY:
                return "check_usefulness"
            noted.append(state["draft"])
            return "regenerate" if len(noted) <= 2 else "check_usefulness"

        return handbook.build(
            judges, caps=caps, schema=State, check_support=return_a_new_list, after_support=router
        )

    assert check(build_with_a_list_outside).diagnosis == "counted_outside_the_state"


def test_the_drafts_may_be_noted_by_the_node_that_replaces_them():
    def regenerate(state, judges):
        return {**handbook.regenerate(state, judges), "rejected": [*state["rejected"], state["draft"]]}

    def router(state, caps):
        if state["support"] is Support.FULLY or len(state["rejected"]) >= caps.regenerations:
            return "check_usefulness"
        return "regenerate"

    assert check(build(regenerate=regenerate, after_support=router)).passed
