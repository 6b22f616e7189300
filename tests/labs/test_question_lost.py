"""What the check of question_lost says of graphs that save a part of the question, or lose the rewrite instead."""

from cookbook.labs.question_lost import MAY, MAY_NOT, QUESTION, REWRITES, ask, broken, build, check, solution
from cookbook.published import handbook
from cookbook.schema import Status

BROKEN = "question_overwritten"


def rewrite(state, judges):
    query = judges.rewrite(state["question"], state["query"], state["feedback"])
    return {"query": query, "rewrites": state["rewrites"] + 1}


def stop_overwriting(judges, caps):
    """The rewrite goes into its own field, and the search still reads the question."""
    return build(judges, caps, rewrite=rewrite)


def remember_it_for_the_judge(judges, caps):
    def check_usefulness(state, judges):
        return handbook.check_usefulness({**state, "question": QUESTION}, judges)

    return build(judges, caps, check_usefulness=check_usefulness)


def append_it(judges, caps):
    """The question and the query in one text, for everybody."""

    def rewrite(state, judges):
        words = judges.rewrite(state["question"], state["question"], state["feedback"])
        return {"question": f"{QUESTION} ({words})", "rewrites": state["rewrites"] + 1}

    return build(judges, caps, rewrite=rewrite)


def search_for_both(judges, caps):
    def retrieve(state, judges):
        words = dict.fromkeys([state["question"], state["query"]])
        return {"hits": judges.store.retrieve(" ".join(words), handbook.K)}

    return build(judges, caps, retrieve=retrieve, rewrite=rewrite)


def forget_to_count(judges, caps):
    def uncounted(state, judges):
        return {"query": rewrite(state, judges)["query"]}

    return build(judges, caps, retrieve=handbook.retrieve, rewrite=uncounted)


def always_from_the_question(judges, caps):
    def afresh(state, judges):
        return rewrite({**state, "query": state["question"]}, judges)

    return build(judges, caps, retrieve=handbook.retrieve, rewrite=afresh)


def refuse_to_rewrite(judges, caps):
    return build(judges, caps, retrieve=handbook.retrieve, after_usefulness=lambda state, caps: "refuse")


WRONG = {
    "its own field, which nobody searches": (stop_overwriting, "query_not_searched"),
    "give the question back to the last judge": (remember_it_for_the_judge, "half_of_them_hear_it"),
    "add the query to the question": (append_it, "question_changed"),
    "search for question and query": (search_for_both, "other_query_searched"),
    "forget to count": (forget_to_count, "rewrites_not_counted"),
    "rewrite from the question only": (always_from_the_question, "same_query_named_as_failed"),
    "do not rewrite at all": (refuse_to_rewrite, "never_rewritten"),
}


def test_the_symptom():
    request = ask(broken())
    assert (request.run.calls, request.run.ran("rewrite")) == (18, 1)
    assert request.asked("usefulness") == [QUESTION, REWRITES[0]]
    assert (request.run.state["draft"], request.run.state["status"]) == (MAY, Status.ANSWERED)


def test_the_mended_graph_goes_on_until_the_question_is_answered():
    request = ask(solution())
    assert (request.run.calls, request.run.ran("rewrite")) == (27, 2)
    assert set(request.asked("usefulness")) == {QUESTION}
    assert request.searched == [QUESTION, *REWRITES]
    assert request.run.state["draft"] == MAY_NOT


def test_the_message_names_both_questions():
    assert check(broken()).message.startswith(
        "the customer asked 'Who is not allowed to export anything?', and the judge of usefulness was asked about "
        "'who can export' (1 of 2 times). The word `not` is gone."
    )


def test_the_published_nodes_would_do():
    assert check(lambda judges, caps: handbook.build(judges, caps=caps)).passed
