"""What the check of same_passages_again says of mends that remember too little, too much, or in the wrong place."""

from cookbook.labs.same_passages_again import CANCELLED, PRICE, ask, broken, check, solution
from cookbook.schema import Reason, Relevance, Status, Usefulness

BROKEN = "graded_again"
RELEVANT = Relevance.RELEVANT


def skip_what_was_seen(state, judges):
    new = [hit for hit in state["hits"] if hit.chunk_id not in state["judged"]]
    judged = {hit.chunk_id: judges.relevance(state["question"], hit) for hit in new}
    return {
        "kept": [hit for hit in new if judged[hit.chunk_id] is RELEVANT],
        "judged": state["judged"] | judged,
    }


def only_the_first_round(state, judges):
    judged = state["judged"] or {
        hit.chunk_id: judges.relevance(state["question"], hit) for hit in state["hits"]
    }
    return {
        "kept": [hit for hit in state["hits"] if judged.get(hit.chunk_id) is RELEVANT],
        "judged": judged,
    }


def write_into_the_state(state, judges):
    for hit in state["hits"]:
        if hit.chunk_id not in state["judged"]:
            state["judged"][hit.chunk_id] = judges.relevance(state["question"], hit)
    kept = [hit for hit in state["hits"] if state["judged"][hit.chunk_id] is RELEVANT]
    return {"kept": kept, "judged": state["judged"]}


def remembers_for_ever():
    known = {}

    def grade(state, judges):
        for hit in state["hits"]:
            if hit.chunk_id not in known:
                known[hit.chunk_id] = judges.relevance(state["question"], hit)
        return {
            "kept": [hit for hit in state["hits"] if known[hit.chunk_id] is RELEVANT],
            "judged": dict(known),
        }

    return grade


def remembers_by_question():
    known = {}

    def grade(state, judges):
        for hit in state["hits"]:
            key = state["question"], hit.chunk_id
            if key not in known:
                known[key] = judges.relevance(state["question"], hit)
        kept = [hit for hit in state["hits"] if known[state["question"], hit.chunk_id] is RELEVANT]
        return {"kept": kept, "judged": {chunk_id: verdict for (_, chunk_id), verdict in known.items()}}

    return grade


def forgets_to_return(state, judges):
    update = solution()(state, judges)
    return {"kept": update["kept"]}


WRONG = {
    "skip what was seen": (skip_what_was_seen, "relevant_forgotten"),
    "grade only in the first round": (only_the_first_round, "new_passages_not_graded"),
    "write into the state": (write_into_the_state, "input_changed"),
    "remember for ever": (remembers_for_ever(), "remembered_between_requests"),
    "forget to return it": (forgets_to_return, "graded_again"),
}


def test_the_symptom():
    request = ask(broken(), PRICE)
    assert (request.run.calls, len(request.asked), request.different) == (18, 15, 5)
    assert (request.run.state["status"], request.run.state["reason"]) == (
        Status.REFUSED,
        Reason.NO_RELEVANT_PASSAGE,
    )
    request = ask(solution(), PRICE)
    assert (request.run.calls, len(request.asked), request.different) == (8, 5, 5)


def test_what_is_relevant_stays_and_what_is_new_is_graded():
    request = ask(solution(), CANCELLED, usefulness=Usefulness.NOT_USEFUL)
    assert (len(request.asked), request.run.ran("generate")) == (5, 3)
    request = ask(solution(), CANCELLED, query=PRICE)
    assert (len(request.asked), request.different, request.run.state["status"]) == (10, 10, Status.ANSWERED)


def test_the_message_counts_grades_and_passages():
    assert check(broken()).message.startswith(
        "three searches find the same passages, none relevant: 15 grades were paid for, of 5 passages (18 calls). When the request ends "
        "`judged` holds 0 verdicts."
    )


def test_a_memory_outside_the_state_fails_each_time_it_is_checked():
    node = remembers_for_ever()
    said = [check(node) for _ in range(2)]
    assert [verdict.diagnosis for verdict in said] == ["remembered_between_requests"] * 2
    assert "the first search of a second request, with another question, finds 5 passages" in said[0].message
    assert "the first search of the first request finds 5 passages" in said[1].message


def test_a_memory_by_question_is_told_by_the_third_request():
    verdict = check(remembers_by_question())
    assert verdict.diagnosis == "remembered_between_requests"
    assert "the first search of a third request, with the question of the second, finds 5 passages" in (
        verdict.message
    )
