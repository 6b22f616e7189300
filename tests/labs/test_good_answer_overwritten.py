"""What the check of good_answer_overwritten says of mends that keep too little, too much, or show it as an answer."""

import pytest

from cookbook.labs.good_answer_overwritten import FULLY, GROUNDED, State, ask, broken, check, solution
from cookbook.published import revise
from cookbook.published.revise import NO_ANSWER
from cookbook.schema import Status, Support, Usefulness

BROKEN = "overwritten"
CLEARED = {"support": None, "usefulness": None, "evidence": ()}


def with_nodes(**nodes):
    return lambda judges, caps: revise.build(judges, caps=caps, schema=State, **nodes)


def keep_supported(state, judges):
    update = revise.check_usefulness(state, judges)
    if state["support"] is Support.FULLY and update["usefulness"] is Usefulness.NOT_USEFUL:
        update["found"] = state["draft"]
    return update


def keep_anything(state, judges):
    return {**revise.check_usefulness(state, judges), "found": state["draft"]}


def keep_before_the_rewrite(state, judges):
    update = revise.rewrite(state, judges)
    return update | {"found": state["draft"]} if state["support"] is Support.FULLY else update


def clear(state, judges):
    return {**revise.no_answer(state, judges), **CLEARED}


def clear_and_keep(state, judges):
    return {**clear(state, judges), "found": state["draft"] if state["support"] is Support.FULLY else ""}


def answer_with_it(state, judges):
    return {"draft": state["found"], **CLEARED} if state["found"] else clear(state, judges)


def say_it_in_the_refusal(state, judges):
    return {**clear(state, judges), "draft": f"{NO_ANSWER} {state['found']}".strip()}


def clear_after_each_judgement(state, judges):
    return {**keep_supported(state, judges), "support": None, "evidence": ()}


WRONG = {
    "clear and keep nothing": (with_nodes(no_answer=clear), "answer_lost"),
    "keep and clear nothing": (with_nodes(check_usefulness=keep_supported), "stale_verdict"),
    "keep whatever was written": (with_nodes(check_usefulness=keep_anything, no_answer=clear), "unsupported_kept"),
    "return it as an answer": (with_nodes(check_usefulness=keep_supported, no_answer=answer_with_it), "not_useful_and_answered"),
    "say it in the refusal": (with_nodes(check_usefulness=keep_supported, no_answer=say_it_in_the_refusal), "draft_in_refusal"),
    "clear after each judgement": (with_nodes(check_usefulness=clear_after_each_judgement, no_answer=clear), "answer_spoiled"),
}  # fmt: skip


def test_the_symptom():
    done = ask(broken(), (GROUNDED, FULLY))
    assert (done.calls, done.supersteps) == (15, 10)
    state = done.state
    assert (state["draft"], state["status"], state["found"]) == (NO_ANSWER, Status.REFUSED, "")
    assert (state["support"], state["usefulness"]) == (Support.FULLY, Usefulness.NOT_USEFUL)
    done = ask(solution(), (GROUNDED, FULLY))
    assert (done.calls, done.state["found"], done.state["support"]) == (15, GROUNDED, None)


@pytest.mark.parametrize("node", [keep_before_the_rewrite])
def test_it_may_be_kept_on_the_way_to_the_rewrite(node):
    assert check(with_nodes(rewrite=node, no_answer=clear)).passed


def test_kept_at_the_end_is_too_late():
    # The verdicts are still those of the last draft that was judged, and so is the draft: one round back, not two.
    assert check(with_nodes(no_answer=clear_and_keep)).diagnosis == "answer_lost"


def test_the_message_names_what_stands_beside_the_refusal():
    assert (
        "the text is 'No answer found.', `found` is empty, and beside it stand support 'fully', usefulness 'not_useful', "
        f"evidence ({GROUNDED!r},), which were said of the draft {GROUNDED!r}" in check(broken()).message
    )
