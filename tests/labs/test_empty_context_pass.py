"""What the check of empty_context_pass says of mends that check better, say it nicer, or refuse at the wrong time."""

from itertools import groupby
from typing import Literal

import pytest

from cookbook.labs.empty_context_pass import broken, check, nowhere, solution
from cookbook.published import handbook
from cookbook.published.handbook import Caps
from cookbook.reflect.refuse import SENTENCES
from cookbook.schema import Reason, Status, Support

BROKEN = "answered_from_nothing"


def say_no_in_the_check(judges, caps):
    def check_support(state, judges):
        if not state["kept"]:
            return {"support": Support.NONE, "feedback": "no passage was read"}
        return handbook.check_support(state, judges)

    return handbook.build(judges, caps=caps, check_support=check_support)


def refuse_at_once(judges, caps):
    return handbook.build(
        judges, caps=caps, after_grades=lambda state, caps: "generate" if state["kept"] else "refuse"
    )


def let_the_writer_decline(judges, caps):
    def generate(state, judges):
        if not state["kept"]:
            return {"draft": SENTENCES[Reason.NO_RELEVANT_PASSAGE]}
        return {"draft": judges.generate(state["question"], state["kept"])}

    return handbook.build(judges, caps=caps, generate=generate)


def refuse_after_the_check(judges, caps):
    def after_support(state, caps):
        return handbook.after_support(state, caps) if state["kept"] else "refuse"

    return handbook.build(judges, caps=caps, after_support=after_support)


def one_rewrite_too_many(judges, caps):
    def after_grades(state, caps):
        if state["kept"]:
            return "generate"
        return "rewrite" if state["rewrites"] <= caps.rewrites else "refuse"

    return handbook.build(judges, caps=caps, after_grades=after_grades)


def never_write(judges, caps):
    def after_grades(state, caps):
        return "rewrite" if state["rewrites"] < caps.rewrites else "refuse"

    return handbook.build(judges, caps=caps, after_grades=after_grades)


def a_status_without_a_reason(judges, caps):
    def refuse(state, judges):
        return {"draft": "Sorry.", "status": Status.REFUSED}

    def after_grades(state, caps):
        return "rewrite" if handbook.after_grades(state, caps) == "rewrite" else "refuse"

    return handbook.build(judges, caps=caps, refuse=refuse, after_grades=after_grades)


def take_what_was_found(judges, caps):
    def after_grades(state, caps):
        if state["hits"]:
            return "generate"
        return "rewrite" if state["rewrites"] < caps.rewrites else "refuse"

    return handbook.build(judges, caps=caps, after_grades=after_grades)


def refuse_in_the_writer(judges, caps):
    def generate(state, judges):
        if not state["kept"]:
            return handbook.refuse(state, judges)
        return {"draft": judges.generate(state["question"], state["kept"])}

    return handbook.build(judges, caps=caps, generate=generate)


WRONG = {
    "let the support check say no": (say_no_in_the_check, "goes_round_from_nothing"),
    "refuse without a rewrite": (refuse_at_once, "gives_up_early"),
    "let the writer say it": (let_the_writer_decline, "refusal_sold_as_answer"),
    "refuse once the draft is there": (refuse_after_the_check, "refused_too_late"),
    "look at what was found": (take_what_was_found, "written_with_rewrites_left"),
    "refuse in the writer's place": (refuse_in_the_writer, "goes_on_after_refusing"),
    "one rewrite too many": (one_rewrite_too_many, "wrong_count"),
    "never write": (never_write, "answer_lost"),
    "a refusal without a reason": (a_status_without_a_reason, "wrong_reason"),
    "hand back the router": (lambda judges, caps: handbook.after_grades, "no_graph"),
}


def test_the_symptom():
    asked = nowhere(broken(), Caps())
    assert [calls for calls, _ in groupby(asked.run.cumulative)] == [1, 6, 7, 12, 13, 18, 19, 20]
    assert asked.judges.calls == {
        "retrieve": 1,
        "relevance": 15,
        "rewrite": 2,
        "generate": 1,
        "usefulness": 1,
    }
    state = asked.run.state
    assert (state["status"], state["support"], state["kept"]) == (Status.ANSWERED, Support.FULLY, [])


@pytest.mark.parametrize(("rewrites", "calls", "supersteps"), [(2, 18, 10), (1, 12, 7), (0, 6, 4)])
def test_a_refusal_costs_the_searches_and_nothing_else(rewrites, calls, supersteps):
    done = nowhere(solution(), Caps(rewrites=rewrites)).run
    assert (done.calls, done.supersteps, done.state["status"]) == (calls, supersteps, Status.REFUSED)


def test_the_message_says_what_left_and_where_to_turn_off():
    said = check(broken()).message
    assert said.startswith(
        "3 searches found nothing relevant, and a draft was written from 0 passages all the same. 'As far"
    )
    assert "status 'answered' and support 'fully', though 0 support calls were made (20 calls: " in said
    assert "`after_grades`, has to name `refuse` and not `generate`" in said


def test_straight_to_the_end_is_an_empty_answer():
    def build(judges, caps):
        def after_grades(state, caps):
            return "generate" if state["kept"] else "__end__"

        return handbook.build(judges, caps=caps, after_grades=after_grades)

    assert check(build).message == (
        "the router after_grades returned END and may name generate, rewrite, refuse; end through `refuse`, not `END`."
    )


def test_a_copied_annotation_is_to_be_widened():
    def after_grades(state, caps) -> Literal["generate", "rewrite"]:
        return handbook.after_grades(state, caps) if state["kept"] or state["rewrites"] < 2 else "refuse"

    assert check(
        lambda judges, caps: handbook.build(judges, caps=caps, after_grades=after_grades)
    ).message == (
        "the router after_grades returned 'refuse', but its annotation allows only generate, rewrite: add 'refuse' to the "
        "`Literal`, or leave the annotation out."
    )
