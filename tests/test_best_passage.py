"""Best passage: one candidate a passage, and an order in which support comes first."""

import pytest
from standins import build_loop

from cookbook.errors import ReplyUnparsable
from cookbook.reflect.generate import Draft
from cookbook.schema import Decision, Reason, Relevance, Status, Support, Usefulness, Utility, Verdict
from cookbook.systems.best_passage import BestPassage, Candidate


def build(**options):
    return build_loop(BestPassage, **options)[0]


def candidate(support: Support, utility: int, expected: float | None = None) -> Candidate:
    judged = Verdict(Decision.USEFULNESS, Utility(utility), expected=expected)
    return Candidate(Draft("text"), None, Verdict(Decision.SUPPORT, support), judged)


def test_five_candidates_cost_the_ceiling():
    answer = build().answer("How long?")
    assert answer.status is Status.ANSWERED
    assert answer.trace.calls == BestPassage.most_calls(5) == 21
    assert [hit.chunk_id for hit in answer.contexts] == ["How long? a.md#0"]  # the first among equals
    assert answer.trace.stop_reason == "best_candidate"


def test_support_comes_before_usefulness():
    assert candidate(Support.PARTIALLY, 3).rank > candidate(Support.NONE, 5).rank
    assert candidate(Support.FULLY, 1).rank > candidate(Support.PARTIALLY, 5).rank
    assert candidate(Support.FULLY, 4).rank > candidate(Support.FULLY, 3).rank
    assert candidate(Support.FULLY, 4, 4.4).rank > candidate(Support.FULLY, 4, 3.9).rank


def test_the_better_candidate_wins_wherever_it_stands():
    answer = build(support=[Support.PARTIALLY, Support.FULLY, Support.PARTIALLY]).answer("How long?")
    assert [hit.chunk_id for hit in answer.contexts] == ["How long? b.md#0"]


def test_a_partly_supported_answer_beats_an_unsupported_one():
    answer = build(support=[Support.NONE, Support.PARTIALLY, Support.NONE]).answer("How long?")
    assert answer.status is Status.ANSWERED
    assert [hit.chunk_id for hit in answer.contexts] == ["How long? b.md#0"]


def test_no_support_anywhere_is_refused_and_not_rated():
    answer = build(support=[Support.NONE]).answer("How long?")
    assert answer.reason is Reason.NOT_SUPPORTED
    assert answer.trace.calls == 1 + 5 + 5 + 5


def test_a_useless_best_is_refused():
    assert build(usefulness=[Usefulness.NOT_USEFUL]).answer("How long?").reason is Reason.NOT_USEFUL


def test_nothing_relevant_writes_nothing():
    answer = build(grades=[Relevance.IRRELEVANT]).answer("How long?")
    assert (answer.reason, answer.trace.calls) == (Reason.NO_RELEVANT_PASSAGE, 6)


def test_abstentions_leave_the_other_candidates():
    answer = build(drafts=[None, "For 30 days.", None]).answer("How long?")
    assert answer.text == "For 30 days."
    assert build(drafts=[None]).answer("How long?").reason is Reason.NO_RELEVANT_PASSAGE


@pytest.mark.parametrize(("drafts", "status"), [
    ([ReplyUnparsable("empty"), "For 30 days."], Status.ANSWERED),
    ([ReplyUnparsable("empty")], Status.FAILED),
])  # fmt: skip
def test_one_failed_draft_is_no_failure_and_all_are(drafts, status):
    assert build(drafts=drafts).answer("How long?").status is status


def test_a_candidate_that_cannot_be_judged_leaves_the_others():
    answer = build(support=["fail", Support.FULLY]).answer("How long?")
    assert [hit.chunk_id for hit in answer.contexts] == ["How long? b.md#0"]
    assert build(support=["fail"]).answer("How long?").reason is Reason.GRADER_FAILED
