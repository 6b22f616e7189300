"""What the check of blind_regeneration says of second attempts that differ and say nothing."""

from cookbook.labs.blind_regeneration import QUESTION, RIGHT, ask, broken, check, solution
from cookbook.labs.blind_regeneration import WRONG as REJECTED
from cookbook.schema import Status

BROKEN = "same_prompt"


def written(state, draft):
    return {"draft": draft, "attempts": state["attempts"] + 1}


def please_try_again(state, judges):
    feedback = "That was wrong. Please try again." if state["attempts"] else ""
    return written(state, judges.generate(state["question"], state["kept"], feedback))


def always_feedback(state, judges):
    feedback = f"Your last draft was rejected: {state['draft']}"
    return written(state, judges.generate(state["question"], state["kept"], feedback))


def another_question(state, judges):
    question = state["question"] + (f" (not: {state['draft']})" if state["attempts"] else "")
    return written(state, judges.generate(question, state["kept"]))


def other_passages(state, judges):
    return written(state, judges.generate(state["question"], state["kept"][state["attempts"] :]))


def one_reason(state, judges):
    feedback = f"The passages do not support this: {state['draft']}" if state["attempts"] else ""
    return written(state, judges.generate(state["question"], state["kept"], feedback))


def forget_to_count(state, judges):
    feedback = f"Rejected: {state['draft']}" if state["attempts"] else ""
    return {"draft": judges.generate(state["question"], state["kept"], feedback)}


def twice_to_be_sure(state, judges):
    first = judges.generate(state["question"], state["kept"])
    return written(state, judges.generate(state["question"], state["kept"], f"Rejected: {first}"))


def throw_it_away(state, judges):
    update = solution()(state, judges)
    return {"attempts": update["attempts"], "draft": state["draft"] or update["draft"]}


WRONG = {
    "please try again": (please_try_again, "says_nothing"),
    "feedback from the first attempt on": (always_feedback, "feedback_before_any_draft"),
    "say it in the question": (another_question, "other_question"),
    "one reason for both": (one_reason, "one_reason_for_two"),
    "forget to count": (forget_to_count, "not_counted"),
    "correct every draft at once": (twice_to_be_sure, "not_two_attempts"),
    "keep the first draft": (throw_it_away, "draft_not_returned"),
}


def test_the_symptom():
    request = ask(broken())
    assert [(asked.feedback, asked.draft) for asked in request.asked] == [("", REJECTED)] * 2
    assert (request.run.calls, request.run.state["status"]) == (9, Status.REFUSED)
    request = ask(solution())
    assert (request.run.calls, request.run.state["status"], request.run.state["draft"]) == (
        9,
        Status.ANSWERED,
        RIGHT,
    )


def test_other_passages_are_no_feedback():
    assert check(other_passages).diagnosis == "other_question"


def test_the_message_quotes_both_drafts_and_counts_the_second():
    said = check(broken()).message
    assert said.startswith(f"the first draft, {REJECTED!r}, is not supported.")
    assert (
        f"writer said {REJECTED!r} again. The request ends with status 'refused' after 9 calls; 2 of them"
        in said
    )
    assert QUESTION not in said
