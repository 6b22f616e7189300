"""What the check of fix_that_still_lies says of mends that soften the lie, hide it, or refuse too much."""

from cookbook.labs.fix_that_still_lies import DRAFTS, broken, check, rejected, solution
from cookbook.published import handbook
from cookbook.published.handbook import Caps
from cookbook.schema import Reason, Status, Support

BROKEN = "rejected_and_answered"
COUNTED = {"regenerate": handbook.regenerate_counted}


def with_router(after_support, **swaps):
    return lambda judges, caps: handbook.build(
        judges, caps=caps, after_support=after_support, **COUNTED, **swaps
    )


def refuse_only_none(state, caps):
    if state["support"] is not Support.FULLY and state["regenerations"] < caps.regenerations:
        return "regenerate"
    return "refuse" if state["support"] is Support.NONE else "check_usefulness"


def refuse_at_once(state, caps):
    return "check_usefulness" if state["support"] is Support.FULLY else "refuse"


def refuse_whatever_was_rejected_once(state, caps):
    if state["support"] is Support.FULLY and not state["regenerations"]:
        return "check_usefulness"
    return "regenerate" if state["regenerations"] < caps.regenerations else "refuse"


def one_too_many(state, caps):
    if state["support"] is Support.FULLY:
        return "check_usefulness"
    return "regenerate" if state["regenerations"] <= caps.regenerations else "refuse"


def at_the_cap_to(node):
    def after_support(state, caps):
        if state["support"] is Support.FULLY:
            return "check_usefulness"
        return "regenerate" if state["regenerations"] < caps.regenerations else node

    return after_support


def disclaimer(judges, caps):
    def check_usefulness(state, judges):
        update = handbook.check_usefulness(state, judges)
        if state["support"] is not Support.FULLY:
            update["draft"] = f"I could not verify this: {state['draft']}"
        return update

    return handbook.build(judges, caps=caps, check_usefulness=check_usefulness, **COUNTED)


def only_the_status(state, judges):
    return {"status": Status.REFUSED, "reason": Reason.NOT_SUPPORTED}


def only_the_text(state, judges):
    return {"draft": "I could not write an answer that the passages support."}


def refuse_behind_usefulness(judges, caps):
    def after_usefulness(state, caps):
        return handbook.after_usefulness(state, caps) if state["support"] is Support.FULLY else "refuse"

    return handbook.build(judges, caps=caps, after_usefulness=after_usefulness, **COUNTED)


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
    "refuse only 'none'": (with_router(refuse_only_none), "partly_passed"),
    "refuse the first rejected draft": (with_router(refuse_at_once), "gives_up_early"),
    "refuse what was rejected once": (with_router(refuse_whatever_was_rejected_once), "second_draft_lost"),
    "one more draft": (with_router(one_too_many), "wrong_count"),
    "say that it is not verified": (disclaimer, "disclaimer"),
    "set the status alone": (with_router(at_the_cap_to("refuse"), refuse=only_the_status), "draft_in_refusal"),
    "set the text alone": (with_router(at_the_cap_to("refuse"), refuse=only_the_text), "refusal_sold_as_answer"),
    "refuse behind usefulness": (refuse_behind_usefulness, "judged_for_nothing"),
}  # fmt: skip


def test_the_symptom():
    done = rejected(broken(), Caps(), Support.NONE).run
    assert (done.calls, done.ran("regenerate"), done.ended) == (13, 2, True)
    assert (done.state["draft"], done.state["status"]) == (DRAFTS[2], Status.ANSWERED)


def test_a_refusal_is_one_call_less():
    asked = rejected(solution(), Caps(), Support.NONE)
    assert (asked.run.calls, asked.judges.calls["usefulness"]) == (12, 0)
    assert asked.run.state["reason"] is Reason.NOT_SUPPORTED


def test_the_message_quotes_what_left():
    assert check(broken()).message.startswith(
        "the judge said 'none' to 3 drafts, and 'Yes, at any time.' went out with status 'answered' and support 'none' (13 calls)."
    )


def test_straight_to_the_end_is_told_what_it_may_name():
    assert (
        "may name check_usefulness, regenerate, refuse"
        in check(with_router(at_the_cap_to("__end__"))).message
    )


def test_without_the_counter_it_does_not_end():
    verdict = check(lambda judges, caps: handbook.build(judges, caps=caps))
    assert verdict.diagnosis == "wrong_count"
    assert "regenerate ran 28 times" in verdict.message
