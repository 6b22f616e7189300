"""Support graders: in one token, claim by claim, with evidence, and together with usefulness."""

from __future__ import annotations

import json

import pytest
from reflect_parts import DENIES, ENTAILS, SILENT, TableJudge, passage

from cookbook.errors import ProviderUnavailable
from cookbook.providers import LLMClient
from cookbook.providers.scripted import scripted_table
from cookbook.reflect.entailment import Entailment
from cookbook.reflect.one_check import OneCheck
from cookbook.reflect.support import ClaimSupport, EvidenceSupport, GradedSupport
from cookbook.reflect.support.evidence import NO_EVIDENCE
from cookbook.reflect.usefulness import UtilityRater
from cookbook.schema import Support, Usefulness, Utility
from cookbook.tracing import request, step

HITS = [passage("The window lasts 30 days.", "w#0"), passage("Exports come as CSV or JSON.", "e#0")]


def of(reply) -> LLMClient:
    return LLMClient(
        scripted_table({"": json.dumps(reply) if isinstance(reply, dict) else reply}), max_retries=0
    )


def first(**shares) -> LLMClient:
    return LLMClient(scripted_table({"": shares}))


ALL = [
    lambda client: GradedSupport(client).check,
    lambda client: EvidenceSupport(client).check,
    lambda client: lambda *asked: OneCheck(client).check_both(*asked)[0],
]


@pytest.mark.parametrize("make", ALL)
def test_a_broken_judge_is_a_failure_and_no_passages_are_an_error(make):
    for model in ("scripted/garbage", "scripted/unavailable"):
        verdict = make(LLMClient(model, max_retries=0))("q", "a", HITS)
        assert verdict.failed
        assert verdict.failure
    with pytest.raises(ValueError, match="needs passages"):
        make(LLMClient("scripted/always_yes"))("q", "a", [])


# ---------------------------------------------------------------- one token


@pytest.mark.parametrize(
    ("shares", "label", "expected"),
    [
        ({"yes": 0.7, "partly": 0.2, "no": 0.1}, Support.FULLY, 0.8),
        ({"Yes": 0.2, "part": 0.3, "partial": 0.2, "no": 0.3}, Support.PARTIALLY, 0.45),
        ({"partly": 1.0}, Support.PARTIALLY, 0.5),
        ({"no": 0.6, "yes": 0.36}, Support.PARTIALLY, 0.375),
        ({"no": 0.8, "yes": 0.2}, Support.NONE, 0.2),
        ({"yes": 1.0}, Support.FULLY, 1.0),
    ],
)
def test_three_levels_in_one_token(shares, label, expected):
    with request("q", system="test") as trace, step("check"):
        verdict = GradedSupport(first(**shares)).check("q", "a", HITS)
    assert (verdict.label, verdict.probability, trace.calls) == (label, None, 1)
    assert verdict.expected == pytest.approx(expected, abs=1e-3)
    assert trace.steps[0].verdicts == [verdict]


def test_usefulness_from_one_to_five_has_an_expected_value():
    verdict = UtilityRater(LLMClient(scripted_table({"": {"4": 0.5, "5": 0.3, " 2": 0.2}}))).rate("q", "a")
    assert (verdict.label, verdict.probability) == (Utility.FOUR, pytest.approx(0.5, abs=1e-4))
    assert verdict.expected == pytest.approx(0.5 * 4 + 0.3 * 5 + 0.2 * 2, abs=1e-3)
    broken = UtilityRater(LLMClient("scripted/garbage")).rate("q", "a")
    assert broken.failed
    assert broken.expected is None


# ---------------------------------------------------------------- claim by claim


def support(answer, table, **options):
    judge = TableJudge(table)
    return ClaimSupport(judge, **options).check("How long?", answer, HITS), judge


def test_every_claim_needs_one_passage_that_entails_it():
    verdict, judge = support(
        "The window lasts 30 days. Exports are CSV.",
        {("window", "window"): ENTAILS, ("CSV", "Exports"): Entailment(0.7, 0.2, 0.1)},
    )
    assert (verdict.label, verdict.probability, verdict.reason) == (Support.FULLY, 0.7, "")
    assert [premise for premise, _ in judge.asked] == [HITS[0].text, HITS[0].text, HITS[1].text]


def test_one_invented_claim_among_true_ones_is_named():
    verdict, _ = support("The window lasts 30 days. Exports are free.", {("window", "window"): ENTAILS})
    assert verdict.label is Support.PARTIALLY
    assert verdict.reason == 'not stated in the passages: "Exports are free."'
    assert verdict.probability is None


def test_a_contradiction_is_no_partial_support():
    verdict, _ = support(
        "The window lasts 30 days. Exports come as PDF.",
        {("window", "window"): ENTAILS, ("CSV", "PDF"): DENIES},
    )
    assert verdict.label is Support.NONE
    assert verdict.reason == 'contradicted by the passages: "Exports come as PDF."'


def test_what_one_passage_entails_another_cannot_take_back():
    verdict, _ = support("Exports are CSV.", {("window", "CSV"): DENIES, ("CSV", "CSV"): ENTAILS})
    assert verdict.label is Support.FULLY


def test_nothing_entailed_is_none():
    verdict, judge = support("Exports are free. Guests pay.", {})
    assert (verdict.label, len(judge.asked)) == (Support.NONE, 4)
    assert verdict.reason == (
        'not stated in the passages: "Exports are free."; not stated in the passages: "Guests pay."'
    )


def test_a_number_that_no_passage_states_fails_its_claim_unasked():
    answer = "The window lasts 90 days."
    verdict, judge = support(answer, {("", ""): ENTAILS})
    assert (verdict.label, judge.asked) == (Support.NONE, [])
    assert verdict.reason == '90 day in no passage: "The window lasts 90 days."'
    unguarded, _ = support(answer, {("", ""): ENTAILS}, number_guard=False)
    assert unguarded.label is Support.FULLY


def test_a_number_of_the_question_may_be_said_again():
    judge = TableJudge({("", ""): ENTAILS})
    verdict = ClaimSupport(judge).check("Is it still there after 45 days?", "No, not after 45 days.", HITS)
    assert verdict.label is Support.FULLY


def test_the_passages_a_draft_cites_are_asked_first():
    judge = TableJudge({("CSV", ""): ENTAILS})
    ClaimSupport(judge).check("q", "Exports are CSV.", HITS, cited=["e#0"])
    assert judge.asked == [(HITS[1].text, "Exports are CSV.")]


def test_claims_beyond_the_cap_are_judged_together_and_the_calls_are_bounded():
    _, judge = support("Exports are free. Guests pay. Owners win. Tasks end.", {}, most_claims=2)
    assert len(judge.asked) == 4 == ClaimSupport(judge, most_claims=2).most_calls(len(HITS))
    assert judge.asked[-1][1] == "Guests pay. Owners win. Tasks end."
    assert ClaimSupport(TableJudge({}, calls=0)).most_calls(5) == 0
    assert ClaimSupport(TableJudge({})).most_calls(5) == 30


def test_a_judge_that_fails_once_fails_the_check():
    down = ProviderUnavailable("no reply after 120 s")
    verdict, _ = support(
        "The window lasts 30 days. Exports are CSV.", {("window", "window"): ENTAILS, ("", "CSV"): down}
    )
    assert verdict.failed
    assert verdict.failure == "no reply after 120 s"


def test_the_verdict_is_noted_once():
    with request("q", system="test") as trace, step("check"):
        verdict, _ = support("Exports are free. Guests pay.", {})
    assert trace.steps[0].verdicts == [verdict]


# ---------------------------------------------------------------- with evidence


def evidence(level, quotes, unsupported=()):
    reply = {"evidence": list(quotes), "unsupported": list(unsupported), "level": level}
    return EvidenceSupport(of(reply)).check("q", "a", HITS)


QUOTE = "window lasts 30 days"


@pytest.mark.parametrize(
    ("level", "quotes", "unsupported", "label", "reason"),
    [
        ("fully", [QUOTE], [], Support.FULLY, ""),
        ("fully", [QUOTE, " ", f"{QUOTE}\n"], [], Support.FULLY, ""),
        (
            "fully",
            ["invented words", QUOTE],
            [],
            Support.PARTIALLY,
            "quoted and in no passage: invented words",
        ),
        (
            "partially",
            [QUOTE, "days"],
            ["it is free"],
            Support.PARTIALLY,
            "quoted and in no passage: days. not in the passages: it is free",
        ),
        ("fully", [], [], Support.NONE, NO_EVIDENCE),
        ("fully", ["window lasts 90 days"], [], Support.NONE, NO_EVIDENCE),
        (
            "partially",
            ["days"],
            ["it is free"],
            Support.NONE,
            f"{NO_EVIDENCE}. not in the passages: it is free",
        ),
        (
            "partially",
            [QUOTE],
            ["it is free", "it is fast"],
            Support.PARTIALLY,
            "not in the passages: it is free; it is fast",
        ),
        ("fully", [QUOTE], ["it is free"], Support.PARTIALLY, "not in the passages: it is free"),
        ("none", [QUOTE], [" ", "it is free", "it is free"], Support.NONE, "not in the passages: it is free"),
        ("none", [], [], Support.NONE, ""),
    ],
)
def test_a_level_is_believed_as_far_as_its_evidence_goes(level, quotes, unsupported, label, reason):
    verdict = evidence(level, quotes, unsupported)
    assert (verdict.label, verdict.reason) == (label, reason)


@pytest.mark.parametrize(
    "reply", [{"level": "fully"}, {"evidence": [], "unsupported": [], "level": "mostly"}, "Fully supported."]
)
def test_another_shape_is_a_failure(reply):
    assert EvidenceSupport(of(reply)).check("q", "a", HITS).failed


# ---------------------------------------------------------------- both at once


def both(first_word, details):
    client = LLMClient(
        scripted_table(
            {"List what": json.dumps(details) if isinstance(details, dict) else details, "": first_word}
        ),
        max_retries=0,
    )
    with request("q", system="test") as trace, step("check"):
        found = OneCheck(client).check_both("q", "a", HITS)
    assert trace.steps[0].verdicts == [verdict for verdict in found if verdict is not None]
    return *found, trace.calls


def test_yes_is_support_and_use_in_one_call():
    support, usefulness, calls = both({"yes": 0.8, "no": 0.2}, "never asked")
    assert (support.label, usefulness.label, calls) == (Support.FULLY, Usefulness.USEFUL, 1)
    assert support.probability == usefulness.probability == pytest.approx(0.8, abs=1e-4)


def test_no_asks_for_the_details():
    support, usefulness, calls = both("no", {"unsupported": ["it is free", " ", "it is free"]})
    assert (support.label, usefulness, calls) == (Support.NONE, None, 2)
    assert support.reason == "not in the passages: it is free"


def test_no_without_an_unsupported_statement_is_a_lack_of_use():
    support, usefulness, calls = both("no", {"unsupported": []})
    assert (support.label, usefulness.label, calls) == (Support.FULLY, Usefulness.NOT_USEFUL, 2)


def test_details_that_cannot_be_read_leave_the_no():
    support, usefulness, calls = both("no", "It is all invented.")
    assert (support.label, support.reason, usefulness, calls) == (Support.NONE, "", None, 2)
    assert not support.failed


def test_the_threshold_moves_the_joint_decision():
    client = LLMClient(
        scripted_table({"List what": json.dumps({"unsupported": ["x y"]}), "": {"yes": 0.4, "no": 0.6}})
    )
    assert OneCheck(client, threshold=0.4).check_both("q", "a", HITS)[0].label is Support.FULLY
    assert OneCheck(client, threshold=0.5).check_both("q", "a", HITS)[0].label is Support.NONE


def test_silent_is_neutral():
    assert (SILENT.label, DENIES.label, ENTAILS.label) == ("neutral", "contradict", "entail")
