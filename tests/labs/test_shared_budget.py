"""What the check of shared_budget says of mends that raise the cap, set the counter back, or keep a share."""

import pytest

from cookbook.labs.shared_budget import (
    FULLY,
    NONE,
    USELESS,
    ask,
    broken,
    check,
    most_calls,
    regenerate_and_count,
    solution,
    while_rewrites_are_left,
)
from cookbook.published import handbook
from cookbook.published.handbook import Caps
from cookbook.schema import Reason, Status, Support

BROKEN = "rewrites_eat_regenerations"
OWN = {"regenerate": handbook.regenerate_counted}


def build(**swaps):
    return lambda judges, caps: handbook.build(judges, caps=caps, **swaps)


def raise_the_shared_cap(judges, caps):
    wide = Caps(rewrites=caps.rewrites + caps.regenerations)
    return handbook.build(
        judges, caps=wide, regenerate=regenerate_and_count, after_support=while_rewrites_are_left
    )


def set_it_back_with_a_draft(judges, caps):
    def generate(state, judges):
        return {"draft": judges.generate(state["question"], state["kept"]), "rewrites": 0}

    return handbook.build(
        judges,
        caps=caps,
        generate=generate,
        regenerate=regenerate_and_count,
        after_support=while_rewrites_are_left,
    )


def own(state, caps):
    if state["support"] is Support.FULLY:
        return "check_usefulness"
    return "regenerate" if state["regenerations"] < caps.regenerations else "refuse"


def own_but_of_all(state, caps):
    if state["support"] is Support.FULLY:
        return "check_usefulness"
    return "regenerate" if state["regenerations"] + state["rewrites"] < caps.regenerations else "refuse"


def own_but_sent_on(state, caps):
    return "regenerate" if own(state, caps) == "regenerate" else "check_usefulness"


def rewrite_with_a_fresh_count(state, judges):
    return {**handbook.rewrite(state, judges), "regenerations": 0}


def rewrites_share(state, caps):
    if state["usefulness"] is not USELESS:
        return "__end__"
    return "rewrite" if state["rewrites"] + state["regenerations"] < caps.rewrites else "refuse"


def count_and_do_nothing(state, judges):
    return {"regenerations": state["regenerations"] + 1}


def counted_in_a_closure(judges, caps):
    count = 0

    def after_support(state, caps):
        nonlocal count
        if state["support"] is Support.FULLY:
            return "check_usefulness"
        count += 1
        return "regenerate" if count <= caps.regenerations else "refuse"

    return handbook.build(judges, caps=caps, after_support=after_support)


WRONG = {
    "count in a closure": (counted_in_a_closure, "counted_outside_the_state"),
    "raise the shared cap": (raise_the_shared_cap, "too_many_rewrites"),
    "count both against one cap": (build(after_support=own_but_of_all, **OWN), "rewrites_eat_regenerations"),
    "leave the share in the other loop": (build(after_support=own, after_usefulness=rewrites_share, **OWN), "regenerations_eat_rewrites"),
    "count nothing": (build(after_support=own), "too_many_regenerations"),
    "count and write nothing": (build(after_support=own, regenerate=count_and_do_nothing), "nothing_rewritten"),
    "send the rejected on": (build(after_support=own_but_sent_on, **OWN), "rejected_and_answered"),
}  # fmt: skip


def test_the_symptom():
    done = ask(broken(), Caps(), empty_searches=2, support=(NONE, FULLY))
    assert (done.calls, done.ran("rewrite"), done.ran("regenerate")) == (20, 2, 0)
    assert (done.state["status"], done.state["reason"]) == (Status.REFUSED, Reason.NOT_SUPPORTED)
    done = ask(solution(), Caps(), empty_searches=2, support=(NONE, FULLY))
    assert (done.calls, done.ran("regenerate"), done.state["status"]) == (23, 1, Status.ANSWERED)


def test_each_loop_works_alone():
    assert ask(broken(), Caps(), support=(NONE, NONE, FULLY)).state["status"] is Status.ANSWERED
    assert ask(broken(), Caps(), empty_searches=2).state["status"] is Status.ANSWERED


@pytest.mark.parametrize("caps", [Caps(), Caps(0, 0), Caps(1, 3), Caps(3, 1)])
def test_the_caps_say_what_the_dearest_request_costs(caps):
    done = ask(solution(), caps, support=(*[NONE] * caps.regenerations, FULLY), usefulness=(USELESS,))
    assert done.calls == most_calls(caps)
    assert most_calls(Caps()) == 31


@pytest.mark.parametrize(
    ("mend", "diagnosis"),
    [
        (set_it_back_with_a_draft, "too_many_rewrites"),
        (build(after_support=own, rewrite=rewrite_with_a_fresh_count, **OWN), "too_many_regenerations"),
    ],
)
def test_counters_that_are_set_back(mend, diagnosis):
    assert check(mend).diagnosis == diagnosis
