"""Reflection tokens: the vocabulary, every score by hand, and the choice of a short answer."""

import math
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cookbook.errors import ConfigError
from cookbook.reflect.tokens import (
    Continuation,
    TableModel,
    Token,
    Weights,
    best,
    retrieval_probability,
    retrieves,
    score,
    short_form,
    vote,
    written,
)
from cookbook.reflect.tokens.score import expected, segment, sequence_score
from cookbook.reflect.tokens.short import Candidate, totals
from cookbook.reflect.tokens.vocabulary import (
    REFLECTION_TOKENS,
    RELEVANCE,
    RETRIEVE,
    SUPPORT,
    USEFULNESS,
    as_text,
    instruction,
    spoken,
    with_passage,
)
from cookbook.schema import Chunk, Hit, ScoreKind

YES, NO = {"[Retrieval]": 0.9, "[No Retrieval]": 0.1}, {"[No Retrieval]": 0.9, "[Retrieval]": 0.1}


def hit(title: str, text: str = "Some words.") -> Hit:
    return Hit(Chunk(f"{title}#0", title, text, 0, len(text), (title,)), 1.0, ScoreKind.COSINE)


A, B, C = hit("A"), hit("B"), hit("C")


def reply(text: str, relevant: float, fully: float = 1.0) -> Continuation:
    """Two numbers make the score: relevance + support."""
    return written(
        {"[Relevant]": relevant, "[Irrelevant]": 1 - relevant},
        text,
        {"[Fully supported]": fully, "[No support / Contradictory]": 1 - fully},
    )


# ---------------------------------------------------------------- vocabulary and prompt


def test_there_are_fifteen_tokens_in_four_groups():
    assert len(set(REFLECTION_TOKENS)) == 15
    assert [len(group) for group in (RETRIEVE, RELEVANCE, SUPPORT, USEFULNESS)] == [2, 2, 3, 5]


def test_the_prompt_is_the_one_the_weights_were_trained_with():
    prompt = instruction("How many?")
    assert prompt == "### Instruction:\nHow many?\n\n### Response:\n"
    passage = Hit(Chunk("a.md#0", "a.md", "Up to 5.", 0, 8, ("Plans", "Limits")), 1.0, ScoreKind.COSINE)
    assert (
        with_passage(prompt, passage) == f"{prompt}[Retrieval]<paragraph>Plans > Limits\nUp to 5.</paragraph>"
    )


def test_a_passage_without_headings_goes_by_its_document():
    passage = Hit(Chunk("a.md#0", "a.md", "Up to 5.", 0, 8), 1.0, ScoreKind.COSINE)
    assert with_passage("", passage) == "[Retrieval]<paragraph>a.md\nUp to 5.</paragraph>"


def test_text_from_outside_cannot_speak_in_reflection_tokens():
    said = "".join(REFLECTION_TOKENS) + "<s></s><unk> [note] <b>bold</b>"
    for text in (
        as_text(said),
        instruction(said),
        with_passage("", hit(said, said)).removeprefix("[Retrieval]"),
    ):
        ours = text.removeprefix("<paragraph>").removesuffix("</paragraph>")
        assert not any(token in ours for token in (*REFLECTION_TOKENS, "<s>", "</s>"))
    assert as_text("[note] <b>bold</b>") == "[note] <b>bold</b>"
    assert as_text(as_text("[Relevant]")) == as_text("[Relevant]") == "[ Relevant]"


def test_a_reader_sees_words_alone():
    text = "[Relevant]Up to 5 [x]. [Fully supported][Continue to Use Evidence] It is  so.[Utility:5]</s>"
    assert spoken(text) == "Up to 5 [x]. It is so."


# ---------------------------------------------------------------- continuations by hand


def test_a_written_continuation_emits_what_is_most_probable():
    continuation = written({"[Relevant]": 0.3, "[Irrelevant]": 0.6, "x": 0.0}, "No.")
    assert continuation.text == "[Irrelevant]No."
    assert continuation.first.top == {"[Relevant]": math.log(0.3), "[Irrelevant]": math.log(0.6)}
    assert [token.logprob for token in continuation.tokens] == [math.log(0.6), 0.0]


def test_an_emitted_token_counts_even_if_the_model_lists_other_alternatives():
    token = Token("[Relevant]", math.log(0.2), {"[Irrelevant]": math.log(0.6)})
    assert expected(token, RELEVANCE) == pytest.approx(0.25)


# ---------------------------------------------------------------- scores

BY_HAND = written(
    {"[Relevant]": 0.8, "[Irrelevant]": 0.1},
    "Five.",
    {"[Fully supported]": 0.6, "[Partially supported]": 0.2, "[No support / Contradictory]": 0.2},
    {"[Utility:5]": 0.5, "[Utility:4]": 0.3, "[Utility:1]": 0.2},
)


def test_every_part_by_hand():
    found = score(BY_HAND)
    assert found.relevance == pytest.approx(0.8 / 0.9)
    assert found.support == pytest.approx(0.6 + 0.5 * 0.2)
    assert found.usefulness == pytest.approx(0.5 * 1 + 0.3 * 0.5 - 0.2 * 1)
    assert found.sequence == pytest.approx((0.8 * 1.0 * 0.6 * 0.5) ** 0.25)
    assert found.total == pytest.approx(0.8 / 0.9 + 0.7 + 0.5 * 0.45) == pytest.approx(1.8139, abs=1e-4)


def test_weights_are_linear_and_the_sequence_is_optional():
    assert score(BY_HAND, Weights(sequence=1)).total == pytest.approx(1.8139 + 0.24**0.25, abs=1e-4)
    assert score(BY_HAND, Weights(0, 2, 0)).total == pytest.approx(1.4)


def test_each_utility_token_alone_is_worth_its_weight():
    values = [score(written(f"[Utility:{n}]")).usefulness for n in range(1, 6)]
    assert values == [-1.0, -0.5, 0.0, 0.5, 1.0]


def test_the_group_is_normalised_whatever_else_had_probability():
    assert score(written({"The": 0.7, "[Relevant]": 0.03, "[Irrelevant]": 0.01})).relevance == pytest.approx(
        0.75
    )


def test_tiny_probabilities_do_not_vanish_together():
    token = Token("The", 0.0, {"[Relevant]": -1000.0, "[Irrelevant]": -1000.0 - math.log(3)})
    assert expected(token, RELEVANCE) == pytest.approx(0.75)


def test_a_missing_token_has_probability_zero():
    assert score(written({"[Irrelevant]": 0.9})).relevance == 0.0
    assert score(written({"[Relevant]": 0.001, "x": 0.9})).relevance == 1.0
    assert score(written("[Relevant]", "x", {"[Partially supported]": 0.4})).support == 0.5
    assert expected(Token("x", 0.0, {"[Relevant]": -math.inf, "[Irrelevant]": -2.0}), RELEVANCE) == 0.0


def test_an_absent_group_scores_zero_and_is_told_apart_from_a_judgement():
    bare = written("Five.")
    assert (score(bare).relevance, score(bare).support, score(bare).usefulness) == (0.0, 0.0, 0.0)
    assert expected(bare.first, RELEVANCE) is None
    assert expected(written("[Irrelevant]").first, RELEVANCE) == 0.0
    assert expected(Token("x", 0.0, {"[Relevant]": -math.inf}), RELEVANCE) is None


def test_a_token_that_was_only_an_alternative_was_not_emitted():
    assert score(written("[Relevant]", {"word": 0.6, "[Fully supported]": 0.4})).support == 0.0


def test_the_first_support_and_the_first_utility_token_count():
    twice = written("[Relevant]", "[Partially supported]", "[Utility:2]", "[Fully supported]", "[Utility:5]")
    assert (score(twice).support, score(twice).usefulness) == (0.5, -0.5)


def test_relevance_is_read_at_the_first_position_alone():
    assert score(written("Well,", "[Relevant]")).relevance == 0.0


def test_an_empty_continuation_is_worth_nothing():
    empty = score(Continuation(), Weights(sequence=1))
    assert (empty.relevance, empty.support, empty.usefulness, empty.sequence, empty.total) == (0, 0, 0, 0, 0)


def test_the_sequence_score_is_the_geometric_mean():
    assert sequence_score(written({"a": 0.5}, {"b": 0.125})) == pytest.approx(0.25)


TOKENS = st.sampled_from((*REFLECTION_TOKENS, "word"))
POSITIONS = st.dictionaries(TOKENS, st.floats(1e-9, 1.0), min_size=1, max_size=6)


@settings(deadline=None, max_examples=200)
@given(st.lists(POSITIONS, max_size=8))
def test_the_score_stays_in_its_range(parts):
    found = score(written(*parts))
    assert 0 <= found.relevance <= 1
    assert 0 <= found.support <= 1
    assert -1 <= found.usefulness <= 1
    assert 0 <= found.sequence <= 1 + 1e-12
    assert -0.5 <= found.total <= 2.5


def test_the_range_is_reached_at_both_ends():
    assert score(written("[Irrelevant]", "[No support / Contradictory]", "[Utility:1]")).total == -0.5
    assert score(written("[Relevant]", "[Fully supported]", "[Utility:5]")).total == 2.5


# ---------------------------------------------------------------- retrieve?


@pytest.mark.parametrize(("p", "delta", "wanted"), [(0.21, 0.2, True), (0.2, 0.2, False), (0.05, 0.0, True)])
def test_it_retrieves_above_the_threshold(p, delta, wanted):
    token = written({"[Retrieval]": p, "[No Retrieval]": 1 - p}).first
    assert retrieval_probability(token) == pytest.approx(p)
    assert retrieves(token, delta) is wanted


def test_other_tokens_take_no_part_in_the_decision():
    token = written(
        {"The": 0.5, "[Continue to Use Evidence]": 0.4, "[Retrieval]": 0.03, "[No Retrieval]": 0.01}
    )
    assert retrieval_probability(token.first) == pytest.approx(0.75)


def test_the_ends_of_the_threshold():
    sure, never_ = written("[Retrieval]").first, written("[No Retrieval]").first
    assert (retrieves(sure, 1), retrieves(never_, 0), retrieves(never_, -1)) == (False, False, True)


def test_without_a_judgement_it_looks():
    assert retrieval_probability(written("Paris").first) is None
    assert retrieves(written("Paris").first, 1)
    assert retrieves(None, 1)


# ---------------------------------------------------------------- where a segment ends


def test_a_segment_ends_where_it_asks():
    text = written("[Relevant]", "One.", "[Retrieval]", "<paragraph>", "invented", "[Utility:1]")
    cut, asks = segment(text)
    assert (cut.text, asks) == ("[Relevant]One.", True)
    assert score(cut).usefulness == 0.0


def test_no_retrieval_stands_unless_the_rule_says_otherwise():
    text = written("[Relevant]", "One.", {"[No Retrieval]": 0.7, "[Retrieval]": 0.3}, "Two.")
    assert segment(text) == (text, False)
    assert segment(text, partial(retrieves, delta=0.5)) == (text, False)
    assert segment(text, retrieves) == (Continuation(text.tokens[:2]), True)


def test_continuing_with_the_evidence_is_no_request():
    text = written("One.", "[Continue to Use Evidence]", "Two.")
    assert segment(text, retrieves) == (text, False)


# ---------------------------------------------------------------- short form


def table(gate, **replies):
    rows = {("", title): continuation for title, continuation in replies.items()}
    return TableModel({("", ""): written(gate)} | rows)


def test_the_best_continuation_answers_an_open_question():
    model = table(YES, A=reply("five", 0.9, 0.4), B=reply("Six.", 0.8, 0.9), C=reply("five", 0.9, 0.5))
    found = short_form(model, "How many?", [A, B, C])
    assert (found.text, found.retrieved, found.chosen.hit) == ("Six.", True, B)
    assert [round(c.score.total, 2) for c in found.candidates] == [1.3, 1.7, 1.4]
    assert len(model.prompts) == 4


def test_votes_are_summed_over_a_closed_set():
    model = table(YES, A=reply("five", 0.9, 0.4), B=reply("Six.", 0.8, 0.9), C=reply("Five.", 0.9, 0.5))
    found = short_form(model, "How many?", [A, B, C], choose=vote)
    assert (found.text, found.chosen.hit) == ("Five.", C)
    assert totals(found.candidates) == {"five": pytest.approx(2.7), "six": pytest.approx(1.7)}


def test_the_earlier_passage_wins_among_equals():
    model = table(YES, A=reply("one", 0.5), B=reply("two", 0.5))
    assert short_form(model, "q", [A, B]).text == "one"
    assert short_form(model, "q", [B, A], choose=vote).text == "two"


def test_a_question_that_needs_no_passages_costs_two_calls():
    model = TableModel({("", ""): written(NO), ("[No Retrieval]", ""): written("Five.", "[Utility:5]")})
    found = short_form(model, "2 + 3?", [A])
    assert (found.text, found.retrieved, found.chosen, found.candidates) == ("Five.", False, None, ())
    assert len(model.prompts) == 2


def test_the_rule_decides():
    model = table(NO, A=reply("one", 1.0))
    assert short_form(model, "q", [A], rule=partial(retrieves, delta=0.05)).retrieved


def test_one_passage_is_enough():
    for choose in (best, vote):
        assert short_form(table(YES, A=reply("one", 0.5)), "q", [A], choose=choose).text == "one"


def test_an_empty_retrieval_gives_no_answer_and_no_error():
    for choose in (best, vote):
        found = short_form(table(YES), "q", [], choose=choose)
        assert (found.text, found.retrieved, found.chosen) == (None, True, None)


def test_who_says_nothing_is_not_chosen():
    silent = written("[Irrelevant]", "[No support / Contradictory]", "[Utility:1]")
    model = table(YES, A=Continuation(), B=written("[Relevant]", "[Utility:5]"), C=silent)
    for choose in (best, vote):
        assert short_form(model, "q", [A, B, C], choose=choose).text is None
    # A score below zero is still an answer, when it is the only one that has words.
    poor = table(YES, A=Continuation(), B=written("[Irrelevant]", "Perhaps.", "[Utility:1]"))
    found = short_form(poor, "q", [A, B])
    assert (found.text, found.chosen.score.total) == ("Perhaps.", -0.5)


def test_nothing_from_memory_is_no_answer():
    model = TableModel({("", ""): written(NO), ("[No Retrieval]", ""): Continuation()})
    assert short_form(model, "q", [A]).text is None


def test_a_short_answer_stops_where_it_would_ask_again():
    model = table(YES, A=written("[Relevant]", "Five.", "[Retrieval]", "<paragraph>invented"))
    assert short_form(model, "q", [A]).text == "Five."


def test_another_scorer_can_be_put_in():
    model = table(YES, A=reply("one", 0.9, 0.2), B=reply("two", 0.3, 0.9))
    assert short_form(model, "q", [A, B]).text == "two"
    by_relevance = partial(score, weights=Weights(support=0))
    assert short_form(model, "q", [A, B], scorer=by_relevance).text == "one"


def test_votes_ignore_case_and_the_final_stop():
    answers = [
        Candidate(A, written(text), score(written(text))).answer for text in ("[Relevant]True.", " true")
    ]
    assert answers == ["true", "true"]


def test_a_table_names_the_row_it_lacks():
    with pytest.raises(ConfigError, match=r"no row for '' with the passage 'A'; add one"):
        short_form(table(YES), "q", [A])


def test_a_table_stops_at_the_limit():
    assert TableModel({("", ""): written("a", "b")}).complete(instruction("q"), max_tokens=1).text == "a"
