"""What the check of stale_thread_state says of turns that begin half clean, or forget the conversation."""

from cookbook.labs.stale_thread_state import (
    CARD,
    EXPORT,
    REWRITES,
    broken,
    check,
    solution,
    talk,
)
from cookbook.published import handbook
from cookbook.schema import Status

BROKEN = "old_query_searched"


def config(thread):
    return {"configurable": {"thread_id": thread}}


def with_fields(*names):
    def send(graph, thread, question):
        fresh, known = handbook.fresh_state(question), graph.get_state(config(thread)).values
        update = {name: fresh[name] for name in (names if known else fresh)}
        return graph.invoke({**update, "asked": [question]}, config(thread))

    return send


def a_thread_for_each_question(graph, thread, question):
    update = {**handbook.fresh_state(question), "asked": [question]}
    return graph.invoke(update, config(f"{thread}/{question}"))


def fresh_state_alone(graph, thread, question):
    return graph.invoke(handbook.fresh_state(question), config(thread))


def reset_afterwards(graph, thread, question):
    after = with_fields("question", "query")(graph, thread, question)
    graph.update_state(config(thread), {**handbook.fresh_state(""), "asked": []})
    return after


def all_questions_again(graph, thread, question):
    known = graph.get_state(config(thread)).values.get("asked", [])
    return graph.invoke({**handbook.fresh_state(question), "asked": [*known, question]}, config(thread))


WRONG = {
    "reset the query": (with_fields("question", "query"), "budget_used_up"),
    "reset the query and the counters": (
        with_fields("question", "query", "rewrites", "regenerations"),
        "feedback_leaks",
    ),
    "reset what was seen to go wrong": (
        with_fields("question", "query", "rewrites", "regenerations", "feedback", "kept"),
        "stale_fields",
    ),
    "a new thread for each question": (a_thread_for_each_question, "memory_lost"),
    "forget to add the question": (fresh_state_alone, "turn_not_remembered"),
    "add all of them again": (all_questions_again, "remembered_twice"),
    "reset after the turn": (reset_afterwards, "reset_comes_too_late"),
}


def test_the_symptom():
    first, second = talk(broken(), EXPORT, CARD)
    assert first.after["status"] is Status.ANSWERED
    assert (second.before["query"], second.before["rewrites"]) == (REWRITES[EXPORT][1], 2)
    assert second.searched == [REWRITES[EXPORT][1]]
    assert (second.after["status"], second.meter.calls) == (Status.REFUSED, 6)
    [alone] = talk(broken(), CARD)
    assert (alone.after["status"], alone.meter.calls) == (Status.ANSWERED, 15)


def test_a_mended_turn_is_as_good_as_a_new_thread():
    second = talk(solution(), EXPORT, CARD)[1]
    assert second.searched == [CARD, *REWRITES[CARD]]
    assert second.after["draft"].startswith("A deleted task goes to the trash")
    assert second.after["asked"] == [EXPORT, CARD]


def test_a_turn_that_breaks_off_leaves_its_fields():
    first, second = talk(broken(), EXPORT, CARD, down=True)
    assert first.error.startswith("the judge did not answer")
    assert second.before["rewrites"] == 2


def test_the_stale_fields_are_named():
    assert "(in all 2: support, usefulness)" in check(WRONG["reset what was seen to go wrong"][0]).message
