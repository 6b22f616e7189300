"""The revise graph: cut down, counted per round, refused at the cap."""

import pytest
from standins import DOWN, build_loop

from cookbook.schema import Reason, Relevance, Status, Support, Usefulness
from cookbook.systems.revise_graph import Caps, ReviseGraph


def build(**options):
    return build_loop(ReviseGraph, **options)


def test_a_weak_draft_is_cut_down():
    loop, script = build(
        drafts=["For 30 days, and admins extend it.", "For 30 days."],
        support=[Support.PARTIALLY, Support.FULLY],
    )
    answer = loop.answer("How long?")
    assert answer.text == "For 30 days."
    assert answer.trace.nodes[3:] == [
        "generate",
        "check_support",
        "revise",
        "check_support",
        "check_usefulness",
    ]
    assert script.seen_feedback == ["", "not every statement is supported"]


def test_unsupported_at_the_cap_is_a_refusal():
    answer = build(drafts=list("abcde"), support=[Support.PARTIALLY])[0].answer("How long?")
    assert answer.reason is Reason.NOT_SUPPORTED
    assert answer.trace.nodes.count("revise") == 3


def test_a_revision_that_changes_nothing_looks_elsewhere():
    answer = build(drafts=["a"], support=[Support.PARTIALLY], caps=Caps(rewrites=1))[0].answer("How long?")
    assert answer.reason is Reason.NOT_SUPPORTED
    assert answer.trace.nodes[5:7] == ["revise", "rewrite"]
    assert answer.trace.nodes.count("revise") == 2


def test_nothing_relevant_rewrites_while_it_may():
    answer = build(grades=[Relevance.IRRELEVANT])[0].answer("How long?")
    assert answer.reason is Reason.NO_RELEVANT_PASSAGE
    assert answer.trace.nodes.count("rewrite") == 2


def test_the_revision_count_starts_again_after_a_rewrite():
    """The worst path: 45 calls, 36 nodes and the refusal; a counter that is never reset would stop at 33."""
    loop, _ = build(
        drafts=[f"draft {n}" for n in range(40)],
        support=[Support.PARTIALLY, Support.PARTIALLY, Support.PARTIALLY, Support.FULLY] * 3,
        usefulness=[Usefulness.NOT_USEFUL],
    )
    answer = loop.answer("How long?")
    assert answer.reason is Reason.NOT_USEFUL
    assert answer.trace.calls == ReviseGraph.most_calls(5) == 45
    assert len(answer.trace.nodes) == Caps().supersteps() == 37
    assert answer.trace.nodes.count("revise") == 9


def test_a_supported_answer_is_kept_when_later_rounds_find_nothing():
    grades = [Relevance.RELEVANT] * 5 + [Relevance.IRRELEVANT]
    answer = build(grades=grades, usefulness=[Usefulness.NOT_USEFUL])[0].answer("How long?")
    assert (answer.status, answer.reason) == (Status.REFUSED, Reason.NO_RELEVANT_PASSAGE)
    assert answer.found == "Yes, for 30 days."


def test_the_reason_reaches_the_rewriter():
    loop, script = build(usefulness=[Usefulness.NOT_USEFUL, Usefulness.USEFUL])
    assert loop.answer("How long?").status is Status.ANSWERED
    assert 'did not resolve it: "Yes, for 30 days."' in script.seen_feedback[1]


@pytest.mark.parametrize("drafts", [["a", DOWN]])
def test_a_reviser_that_is_down_is_a_failure(drafts):
    answer = build(drafts=drafts, support=[Support.PARTIALLY])[0].answer("How long?")
    assert answer.reason is Reason.GRADER_FAILED


def test_a_revision_that_leaves_nothing_asks_for_other_passages():
    answer = build(drafts=["a", None, "b"], support=[Support.NONE, Support.FULLY])[0].answer("How long?")
    assert answer.text == "b"
    assert answer.trace.nodes[5:7] == ["revise", "rewrite"]
