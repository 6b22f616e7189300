"""Every branch of the handbook graph, driven through the compiled graph on named stand-ins."""

from __future__ import annotations

import pytest
from standins import CARD, StandInClient, StandInRetriever, build_loop, hits

from cookbook.errors import ConfigError, ProviderUnavailable, ReplyUnparsable
from cookbook.providers.meter import Budget
from cookbook.schema import (
    Provenance,
    Reason,
    Relevance,
    Retrieve,
    Status,
    Support,
    Usefulness,
)
from cookbook.systems.base import Parts
from cookbook.systems.handbook_graph import Caps, HandbookGraph


def build(retriever=None, client=None, **options):
    return build_loop(HandbookGraph, retriever, client, **options)


def test_one_pass_costs_nine_calls():
    graph, _ = build()
    answer = graph.answer("Can I export my data after I cancel my plan?")
    assert (answer.status, answer.reason, answer.provenance) == (Status.ANSWERED, None, Provenance.PASSAGES)
    assert answer.trace.nodes == [
        "decide_retrieval",
        "retrieve",
        "grade",
        "generate",
        "check_support",
        "check_usefulness",
    ]
    assert [s.calls for s in answer.trace.steps] == [1, 0, 5, 1, 1, 1]
    assert answer.trace.calls == 9
    assert answer.trace.stop_reason == "supported_and_useful"
    assert answer.citations == ("Can I export my data after I cancel my plan? a.md#0",)
    assert len(answer.uncited) == 4


def test_the_gate_can_leave_the_store_alone():
    retriever = StandInRetriever()
    graph, _ = build(retriever, gate=[Retrieve.NO])
    answer = graph.answer("What is 9 plus 10?")
    assert answer.text == "19"
    assert answer.provenance is Provenance.MODEL_MEMORY
    assert answer.trace.calls == 2
    assert retriever.queries == []


def test_a_failed_direct_answer_is_a_failure():
    graph, _ = build(client=StandInClient(ProviderUnavailable("timeout after 120 s")), gate=[Retrieve.NO])
    answer = graph.answer("What is 9 plus 10?")
    assert (answer.status, answer.reason) == (Status.FAILED, Reason.GRADER_FAILED)
    assert "timeout after 120 s" in answer.trace.steps[-1].note


def test_a_failed_gate_retrieves():
    graph, _ = build(gate=["fail"])
    assert graph.answer("anything").trace.nodes[1] == "retrieve"


def test_nothing_relevant_rewrites_twice_and_refuses_before_generating():
    graph, _ = build(grades=[Relevance.IRRELEVANT], queries=["first try", "second try"])
    answer = graph.answer("How much does the starter plan cost per month?")
    assert (answer.status, answer.reason) == (Status.REFUSED, Reason.NO_RELEVANT_PASSAGE)
    assert answer.trace.nodes == [
        "decide_retrieval",
        *["retrieve", "grade", "rewrite"] * 2,
        "retrieve",
        "grade",
        "refuse",
    ]
    assert answer.trace.calls == 1 + 15 + 2
    assert answer.text.endswith("Ask support.")
    assert answer.provenance is Provenance.NOTHING


def test_a_rewrite_rescues_and_leaves_the_question_alone():
    retriever = StandInRetriever({"restore a deleted project": hits("recovery")})
    graph, _ = build(
        retriever,
        grades=[Relevance.IRRELEVANT] * 5 + [Relevance.RELEVANT],
        queries=["restore a deleted project"],
    )
    answer = graph.answer("get my stuff back")
    assert answer.status is Status.ANSWERED
    assert answer.question == "get my stuff back"
    assert answer.retrieval_query == "restore a deleted project"
    assert retriever.queries == ["get my stuff back", "restore a deleted project"]
    assert [h.chunk_id for h in answer.contexts] == ["recovery.md#0"]


def test_an_unsupported_draft_is_written_again_with_feedback():
    graph, scripted = build(drafts=["For 90 days.", "For 30 days."], support=[Support.NONE, Support.FULLY])
    answer = graph.answer("How long?")
    assert answer.text == "For 30 days."
    assert answer.trace.nodes[3:6] == ["generate", "check_support", "regenerate"]
    assert scripted.seen_feedback[0] == ""
    assert "For 90 days." in scripted.seen_feedback[1]


def test_the_same_draft_again_sends_the_search_elsewhere():
    graph, _ = build(
        drafts=["For 90 days.", "For 90 days.", "For 30 days."], support=[Support.NONE, Support.FULLY]
    )
    answer = graph.answer("How long?")
    assert answer.text == "For 30 days."
    assert answer.trace.nodes[3:8] == ["generate", "check_support", "regenerate", "rewrite", "retrieve"]


def test_the_same_draft_for_ever_is_a_refusal_that_says_so():
    graph, _ = build(drafts=["For 90 days."], support=[Support.NONE], caps=Caps(rewrites=0))
    answer = graph.answer("How long?")
    assert answer.reason is Reason.NOT_SUPPORTED
    assert answer.trace.nodes[3:] == ["generate", "check_support", "regenerate", "refuse"]


def test_always_unsupported_stops_at_the_cap_and_says_nothing_of_the_draft():
    graph, _ = build(drafts=["For 90 days.", "For 91 days.", "For 92 days."], support=[Support.NONE])
    answer = graph.answer("How long?")
    assert (answer.status, answer.reason) == (Status.REFUSED, Reason.NOT_SUPPORTED)
    assert answer.trace.nodes.count("regenerate") == 2
    assert answer.trace.calls == 1 + 5 + 3 + 3
    assert "9" not in answer.text


def test_partly_supported_is_not_supported():
    graph, _ = build(support=[Support.PARTIALLY], drafts=["a", "b", "c"])
    assert graph.answer("How long?").reason is Reason.NOT_SUPPORTED


def test_not_useful_rewrites_with_feedback_then_refuses():
    graph, scripted = build(usefulness=[Usefulness.NOT_USEFUL])
    answer = graph.answer("How long?")
    assert (answer.status, answer.reason) == (Status.REFUSED, Reason.NOT_USEFUL)
    assert answer.trace.nodes.count("rewrite") == 2
    assert answer.trace.calls == 1 + 3 * 8 + 2
    assert 'did not resolve it: "Yes, for 30 days."' in scripted.seen_feedback[1]
    assert "30 days" not in answer.text


def test_a_supported_answer_is_kept_beside_the_refusal():
    graph, _ = build(usefulness=[Usefulness.NOT_USEFUL])
    answer = graph.answer("How long?")
    assert (answer.status, answer.found) == (Status.REFUSED, "Yes, for 30 days.")
    assert answer.citations == ("How long? a.md#0",)  # of the first round, and still among the contexts
    assert "30 days" not in answer.text


def test_nothing_is_found_where_support_was_missing_or_a_grader_failed():
    graph, _ = build(drafts=["a", "b", "c"], support=[Support.NONE])
    assert graph.answer("How long?").found == ""
    graph, _ = build(usefulness=[Usefulness.NOT_USEFUL, "fail"])
    failed = graph.answer("How long?")
    assert (failed.status, failed.found, failed.citations) == (Status.FAILED, "", ())


def test_stale_verdicts_do_not_name_the_reason():
    """Round one is judged not useful, later rounds find nothing: the last round gives the reason."""
    grades = [Relevance.RELEVANT] * 5 + [Relevance.IRRELEVANT]
    graph, _ = build(grades=grades, usefulness=[Usefulness.NOT_USEFUL])
    assert graph.answer("How long?").reason is Reason.NO_RELEVANT_PASSAGE


@pytest.mark.parametrize("later", [None, "Found it."])
def test_an_abstaining_writer_asks_for_other_passages(later):
    graph, _ = build(drafts=[None, later])
    answer = graph.answer("How long?")
    if later:
        assert answer.text == later
        assert answer.trace.nodes.count("rewrite") == 1
    else:
        assert answer.reason is Reason.NO_RELEVANT_PASSAGE
        assert answer.trace.nodes.count("rewrite") == 2


def test_an_abstention_on_regeneration_rewrites():
    graph, _ = build(drafts=["For 90 days.", None, "For 30 days."], support=[Support.NONE, Support.FULLY])
    answer = graph.answer("How long?")
    assert answer.text == "For 30 days."
    assert answer.trace.nodes[5:7] == ["regenerate", "rewrite"]


def test_one_ungraded_passage_leaves_the_others():
    graph, _ = build(grades=["fail", Relevance.RELEVANT])
    answer = graph.answer("How long?")
    assert answer.status is Status.ANSWERED
    assert [h.chunk_id for h in answer.contexts] == [f"How long? {x}.md#0" for x in "bcde"]
    assert "1 not graded" in answer.trace.steps[2].note


def test_a_passage_is_graded_once_per_question():
    retriever = StandInRetriever(
        {"How long?": hits("a", "b"), "query 0": hits("b", "c"), "query 1": hits("c", "b")}
    )
    graph, _ = build(retriever, grades=[Relevance.IRRELEVANT])
    answer = graph.answer("How long?")
    grading = [step for step in answer.trace.steps if step.node == "grade"]
    assert [step.calls for step in grading] == [2, 1, 0]
    assert grading[2].note == "kept 0 of 2, 2 judged before"


def test_a_failed_grade_is_asked_again():
    retriever = StandInRetriever({"How long?": hits("a", "b"), "query 0": hits("a")})
    graph, _ = build(retriever, grades=["fail", Relevance.IRRELEVANT, Relevance.RELEVANT])
    assert [h.chunk_id for h in graph.answer("How long?").contexts] == ["a.md#0"]


@pytest.mark.parametrize("query", ["How long?", "HOW LONG?"])
def test_a_query_tried_before_ends_the_search(query):
    graph, _ = build(grades=[Relevance.IRRELEVANT], queries=[query])
    answer = graph.answer("How long?")
    assert answer.reason is Reason.NO_RELEVANT_PASSAGE
    assert answer.trace.nodes[-2:] == ["rewrite", "refuse"]
    assert answer.trace.calls == 1 + 5 + 1


@pytest.mark.parametrize("part", ["grades", "support", "usefulness"])
def test_a_broken_grader_is_a_failure_and_not_a_no(part):
    graph, _ = build(**{part: ["fail"]})
    answer = graph.answer("How long?")
    assert (answer.status, answer.reason) == (Status.FAILED, Reason.GRADER_FAILED)
    assert answer.trace.nodes.count("rewrite") == 0


def test_fresh_passages_that_cannot_be_graded_are_no_reason_to_rewrite():
    retriever = StandInRetriever({"How long?": hits("a", "b"), "query 0": hits("b", "c")})
    graph, _ = build(retriever, grades=[Relevance.IRRELEVANT, Relevance.IRRELEVANT, "fail"])
    answer = graph.answer("How long?")
    assert answer.reason is Reason.GRADER_FAILED
    assert answer.trace.nodes.count("rewrite") == 1


@pytest.mark.parametrize("part", ["drafts", "queries"])
def test_a_failing_writer_or_rewriter_is_a_failure(part):
    script = {part: [ReplyUnparsable("the reply was empty")]}
    if part == "queries":
        script["grades"] = [Relevance.IRRELEVANT]
    graph, _ = build(**script)
    assert graph.answer("How long?").status is Status.FAILED


def test_the_budget_is_hard():
    graph, _ = build(grades=[Relevance.IRRELEVANT], budget=Budget(8))
    answer = graph.answer("How long?")
    assert (answer.status, answer.reason) == (Status.REFUSED, Reason.BUDGET_EXHAUSTED)
    assert answer.trace.calls == 8


@pytest.mark.parametrize(("rewrites", "regenerations", "k"), [(0, 0, 5), (2, 2, 5), (1, 3, 2), (12, 0, 1)])
def test_ceilings_are_reached_and_never_passed(rewrites, regenerations, k):
    """The worst path: every regeneration is used, every round ends in "not useful"."""
    caps = Caps(rewrites, regenerations)
    graph, _ = build(
        caps=caps,
        drafts=[f"draft {n}" for n in range(40)],
        support=[Support.NONE] * regenerations + [Support.FULLY],
        usefulness=[Usefulness.NOT_USEFUL],
    )
    graph.parts = Parts(StandInClient(), StandInRetriever(), CARD, k=k)
    graph.budget = Budget(caps.calls(k))
    answer = graph.answer("How long?")
    assert answer.reason is Reason.NOT_USEFUL
    assert answer.trace.calls == caps.calls(k)
    assert len(answer.trace.nodes) == caps.supersteps()


def test_the_default_ceiling():
    assert Caps().calls(5) == 31
    assert Caps().supersteps() == 23


def test_nothing_survives_on_a_reused_thread():
    from langgraph.checkpoint.memory import InMemorySaver

    graph, _ = build(grades=[Relevance.IRRELEVANT] * 15 + [Relevance.RELEVANT], checkpointer=InMemorySaver())
    assert graph.answer("first", thread_id="t").status is Status.REFUSED
    second = graph.answer("second", thread_id="t")
    assert second.status is Status.ANSWERED
    assert second.trace.nodes.count("rewrite") == 0
    assert second.trace.calls == 9


def test_an_empty_question_is_refused_at_the_door():
    graph, _ = build()
    with pytest.raises(ConfigError, match="question is empty"):
        graph.answer("   ")
    with pytest.raises(ConfigError, match="20,000 characters; shorten it to 2,000"):
        graph.answer("why " * 5000)


def test_every_node_and_edge_is_driven_by_some_test_above():
    """The drawn graph has exactly these nodes; a new one needs its own test."""
    graph, _ = build()
    drawn = graph.graph.get_graph()
    assert set(drawn.nodes) - {"__start__", "__end__"} == {
        "decide_retrieval",
        "answer_directly",
        "retrieve",
        "grade",
        "generate",
        "regenerate",
        "check_support",
        "check_usefulness",
        "rewrite",
        "refuse",
    }
    assert len(drawn.edges) == 23
