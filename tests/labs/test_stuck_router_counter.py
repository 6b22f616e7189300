"""What the check of stuck_router_counter says of mends that do not end the loop, or end more than it."""

import pytest

from cookbook.labs.stuck_router_counter import LIMIT, broken, check, never_satisfied, solution
from cookbook.published import handbook
from cookbook.published.handbook import Caps
from cookbook.schema import Support

BROKEN = "counter_not_returned"


def counting_node(state, judges):
    return {**handbook.regenerate(state, judges), "regenerations": state["regenerations"] + 1}


def increment_in_the_router(judges, caps):
    def after_support(state, caps):
        state["regenerations"] += 1
        if state["support"] is Support.FULLY or state["regenerations"] > caps.regenerations:
            return "check_usefulness"
        return "regenerate"

    return handbook.build(judges, caps=caps, after_support=after_support)


def raise_the_limit(judges, caps):
    return handbook.build(judges, caps=caps).with_config(recursion_limit=10_000)


def drop_the_edge(judges, caps):
    return handbook.build(judges, caps=caps, after_support=lambda state, caps: "check_usefulness")


def count_but_never_read(judges, caps):
    def after_support(state, caps):
        return "check_usefulness" if state["support"] is Support.FULLY else "regenerate"

    return handbook.build(judges, caps=caps, regenerate=counting_node, after_support=after_support)


def return_it_unchanged(judges, caps):
    def regenerate(state, judges):
        return {**handbook.regenerate(state, judges), "regenerations": state["regenerations"]}

    return handbook.build(judges, caps=caps, regenerate=regenerate)


def count_and_do_nothing(judges, caps):
    def regenerate(state, judges):
        return {"regenerations": state["regenerations"] + 1}

    return handbook.build(judges, caps=caps, regenerate=regenerate)


def one_too_many(judges, caps):
    def after_support(state, caps):
        again = state["support"] is not Support.FULLY and state["regenerations"] <= caps.regenerations
        return "regenerate" if again else "check_usefulness"

    return handbook.build(judges, caps=caps, regenerate=counting_node, after_support=after_support)


def never_accept(judges, caps):
    def after_support(state, caps):
        return "regenerate" if state["regenerations"] < caps.regenerations else "refuse"

    return handbook.build(judges, caps=caps, regenerate=counting_node, after_support=after_support)


def count_in_a_closure(judges, caps):
    count = 0

    def after_support(state, caps):
        nonlocal count
        if state["support"] is Support.FULLY or count >= caps.regenerations:
            return "check_usefulness"
        count += 1
        return "regenerate"

    return handbook.build(judges, caps=caps, after_support=after_support)


def count_in_a_closure_and_set_back(judges, caps):
    count = 0

    def after_support(state, caps):
        nonlocal count
        if state["support"] is Support.FULLY or count >= caps.regenerations:
            count = 0
            return "check_usefulness"
        count += 1
        return "regenerate"

    return handbook.build(judges, caps=caps, after_support=after_support)


def count_in_a_list_beside():
    """As in a notebook where the list stands in a cell of its own: it outlives every graph."""
    rejected = []

    def build(judges, caps):
        def after_support(state, caps):
            if state["support"] is Support.FULLY or len(rejected) >= caps.regenerations:
                return "check_usefulness"
            rejected.append(state["draft"])
            return "regenerate"

        return handbook.build(judges, caps=caps, after_support=after_support)

    return build


WRONG = {
    "increment in the router, but first": (increment_in_the_router, "counter_not_returned"),
    "raise the recursion limit": (raise_the_limit, "limit_changed"),
    "drop the edge": (drop_the_edge, "edge_dropped"),
    "count but never read": (count_but_never_read, "counter_not_read"),
    "return it unchanged": (return_it_unchanged, "counter_stands_still"),
    "count and do nothing else": (count_and_do_nothing, "nothing_rewritten"),
    "one too many": (one_too_many, "wrong_count"),
    "count in a closure": (count_in_a_closure, "counted_outside_the_state"),
    "regenerate what was accepted": (never_accept, "second_draft_lost"),
    "hand back the nodes": (lambda judges, caps: {"regenerate": counting_node}, "no_graph"),
}


def test_the_symptom():
    done = never_satisfied(broken(), Caps())
    assert (done.calls, done.ran("regenerate"), done.ended) == (203, 98, False)
    done = never_satisfied(broken(), Caps(), limit=25)
    assert (done.calls, done.ran("regenerate")) == (28, 10)
    done = never_satisfied(solution(), Caps())
    assert (done.calls, done.ran("regenerate"), done.ended) == (13, 2, True)


def test_the_message_counts():
    assert check(broken()).message.startswith(
        "budget 3, regenerate ran 98 times and 203 calls were made; no node returns `regenerations`"
    )
    assert check(one_too_many).message.startswith(
        "budget 3, regenerate ran 4 times and `regenerations` stands at 4"
    )


@pytest.mark.parametrize("node", ["generate", "check_support"])
def test_counting_in_another_node_is_off_by_one(node):
    def build(judges, caps):
        def elsewhere(state, judges):
            return {**getattr(handbook, node)(state, judges), "regenerations": state["regenerations"] + 1}

        return handbook.build(judges, caps=caps, **{node: elsewhere})

    verdict = check(build)
    # Drafts are written once, so counting there never moves on; support checks are one more than regenerations.
    assert verdict.diagnosis == {"generate": "counter_stands_still", "check_support": "wrong_count"}[node]
    assert node in verdict.message


def test_the_limit_leaves_room_for_every_budget_of_the_check():
    done = never_satisfied(solution(), Caps(regenerations=96))
    assert done.ended
    assert done.supersteps == LIMIT - 2


def test_a_count_outside_the_state_is_told_by_the_second_request():
    said = (
        "two requests, one after the other, through one compiled graph: the first regenerated 3 times, the second 0, and "
        "`regenerations` stands at 0: the count is kept outside the state. Let a node return it"
    )
    listed = count_in_a_list_beside()
    for candidate in (count_in_a_closure, listed):
        verdict = check(candidate)
        assert (verdict.diagnosis, verdict.message) == ("counted_outside_the_state", said)
    again = check(listed)  # what the list holds now, no check can empty
    assert again.diagnosis == "edge_dropped"
    assert "is the count kept outside the state" in again.message


def test_a_count_that_is_set_back_is_told_by_two_requests_at_the_same_time():
    verdict = check(count_in_a_closure_and_set_back)
    assert verdict.diagnosis == "counted_outside_the_state"
    assert (
        "at the same time through one compiled graph: they regenerated 4 and 2 times, and each alone 3"
        in (verdict.message)
    )
