"""Claims of an answer and quotes from passages: where a check of parts could leave a part out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cookbook.reflect.claims import claims_of, sentences
from cookbook.reflect.quotes import verified_quotes


def test_claims_are_sentences():
    answer = "Dr. Sharma arrived at 9:30 a.m. and left.  Exports take\n30 days. Do they cost 2.5 dollars? No!"
    assert claims_of(answer) == [
        "Dr. Sharma arrived at 9:30 a.m. and left.",
        "Exports take 30 days.",
        "Do they cost 2.5 dollars?",
        "No!",
    ]


def test_what_is_beyond_the_cap_is_joined_and_not_dropped():
    assert claims_of("One. Two. Three. Four.", most=2) == ["One.", "Two. Three. Four."]
    assert claims_of("One. Two.", most=1) == ["One. Two."]
    assert claims_of("One. Two.", most=2) == ["One.", "Two."]


@pytest.mark.parametrize(
    ("answer", "claim"),
    [
        ("Yes, for 30 days.", "for 30 days."),
        ("no, guests cannot.", "guests cannot."),
        ("Yes.", "Yes."),
        ("No board is lost.", "No board is lost."),
        ("Yes, no, maybe.", "no, maybe."),
    ],
)
def test_a_yes_before_a_clause_is_no_claim(answer, claim):
    assert claims_of(answer) == [claim]


@pytest.mark.parametrize("blank", ["", "  \n\t"])
def test_a_blank_answer_makes_no_claim_that_could_pass(blank):
    assert sentences(blank) == []
    with pytest.raises(ValueError, match="nothing to check"):
        claims_of(blank)


@given(
    st.lists(
        st.sampled_from(["It is so.", "Is it?", "No!", "3.5 days (cf. Fig. 2)."]), min_size=1, max_size=12
    )
)
@settings(deadline=None, max_examples=40)
def test_no_word_of_an_answer_is_lost(parts):
    answer = " ".join(parts)
    claims = claims_of(answer, most=4)
    assert " ".join(claims) == answer
    assert len(claims) <= 4


PASSAGES = ["The window lasts\n  30 days, then the data is gone.", "Guests cannot create tasks."]


@pytest.mark.parametrize(
    ("quotes", "verified"),
    [
        (
            ["window lasts 30 days", "Guests  cannot\ncreate tasks."],
            ["window lasts 30 days", "Guests cannot create tasks."],
        ),
        (["Window lasts 30 days"], []),  # case is kept
        (["window lasts 90 days"], []),
        (["the data is gone. Guests cannot"], []),  # not across passages
        (["30", "", " "], []),  # one word proves nothing
        (["30 days", "30 days", "30  days"], ["30 days"]),
        ([], []),
    ],
)
def test_a_quote_counts_when_it_stands_in_one_passage(quotes, verified):
    assert verified_quotes(quotes, PASSAGES) == verified
