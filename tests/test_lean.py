"""Lean: what it does not ask is what it saves."""

import pytest
from standins import StandInRetriever, build_loop, hits

from cookbook.eval.sets import load_eval_set
from cookbook.reflect.relevance import calibrated, kept
from cookbook.retrieval import open_retriever
from cookbook.schema import Provenance, Reason, Relevance, Retrieve, Status, Support, Usefulness
from cookbook.systems.lean import KEEP_AT, MOST_PASSAGES, Caps, Lean


def build(retriever=None, **options):
    return build_loop(Lean, retriever, **options)


def test_an_answer_costs_two_calls():
    answer = build()[0].answer("How long?")
    assert answer.trace.nodes == ["retrieve", "grade", "generate", "check_answer"]
    assert [step.calls for step in answer.trace.steps] == [0, 0, 1, 1]


def test_the_writer_sees_three_passages_at_most():
    answer = build()[0].answer("How long?")
    assert [hit.chunk_id[-6:] for hit in answer.contexts] == ["a.md#0", "b.md#0", "c.md#0"]


def test_the_gate_is_asked_when_nothing_was_found():
    answer = build(grades=[Relevance.IRRELEVANT], gate=[Retrieve.NO])[0].answer("What is 9 plus 10?")
    assert (answer.provenance, answer.text) == (Provenance.MODEL_MEMORY, "19")
    assert answer.trace.nodes == ["retrieve", "grade", "decide_retrieval", "answer_directly"]
    assert answer.trace.calls == 2


def test_a_rewrite_rescues_once():
    retriever = StandInRetriever({"query 0": hits("recovery")})
    answer = build(retriever, grades=[Relevance.IRRELEVANT] * 5 + [Relevance.RELEVANT])[0].answer("back?")
    assert answer.status is Status.ANSWERED
    assert answer.trace.nodes[2:5] == ["decide_retrieval", "rewrite", "retrieve"]
    assert answer.trace.calls == 4


def test_nothing_found_twice_is_a_refusal_for_two_calls():
    answer = build(grades=[Relevance.IRRELEVANT])[0].answer("How long?")
    assert (answer.reason, answer.trace.calls) == (Reason.NO_RELEVANT_PASSAGE, 2)
    assert answer.trace.nodes.count("rewrite") == 1


def test_the_same_passages_again_end_the_search_ungraded():
    retriever = StandInRetriever({"How long?": hits("a", "b"), "query 0": hits("b", "a")})
    answer = build(retriever, grades=[Relevance.IRRELEVANT])[0].answer("How long?")
    assert answer.reason is Reason.NO_RELEVANT_PASSAGE
    assert answer.trace.nodes[-2:] == ["retrieve", "refuse"]


def test_an_unsupported_draft_is_written_once_more():
    loop, script = build(drafts=["For 90 days.", "For 30 days."], support=[Support.NONE, Support.FULLY])
    answer = loop.answer("How long?")
    assert answer.text == "For 30 days."
    assert answer.trace.calls == 1 + 2 + 1 + 1  # the details of the first "no" are a call
    assert "For 90 days." in script.seen_feedback[1]


def test_the_ceiling_is_reached_and_does_not_grow_with_k():
    loop, _ = build(
        grades=[Relevance.IRRELEVANT] * 5 + [Relevance.RELEVANT], drafts=["a", "b"], support=[Support.NONE]
    )
    answer = loop.answer("How long?")
    assert answer.reason is Reason.NOT_SUPPORTED
    assert answer.trace.calls == Lean.most_calls(5) == Lean.most_calls(20) == 8
    assert len(answer.trace.nodes) == Caps().supersteps() == 11


def test_an_answer_that_is_off_is_found_and_refused():
    answer = build(usefulness=[Usefulness.NOT_USEFUL])[0].answer("How long?")
    assert (answer.reason, answer.found) == (Reason.NOT_USEFUL, "Yes, for 30 days.")
    assert answer.trace.calls == 2


def test_an_abstention_ends_it():
    answer = build(drafts=[None])[0].answer("How long?")
    assert (answer.reason, answer.trace.calls) == (Reason.NO_RELEVANT_PASSAGE, 1)


@pytest.mark.parametrize(("keep_at", "whole", "sent"), [(0.1, 22, 65), (KEEP_AT, 21, 53), (0.5, 19, 38)])
def test_what_is_kept_of_the_fit_rows(keep_at, whole, sent):
    """The choice of KEEP_AT: answerable rows whose gold passages are all sent, and passages sent."""
    retriever = open_retriever("larkspur", embedder="replay")
    grader = calibrated(retriever.embedder, keep_at)
    counted = [0, 0]
    for row in load_eval_set("larkspur"):
        if row.split == "fit" and row.behaviour == "answer":
            found = retriever.retrieve(row.question, 5)
            keeps = kept(found, grader.grade(row.question, found))[:MOST_PASSAGES]
            counted[0] += all(any(gold.stands_in(hit.chunk) for hit in keeps) for gold in row.gold)
            counted[1] += len(keeps)
    assert counted == [whole, sent]
