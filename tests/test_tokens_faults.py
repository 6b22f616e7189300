"""Each published fault changes the choice on a small case, and the right code does not make it."""

from functools import partial

import pytest
from test_tokens import YES, A, B, C, reply, table

from cookbook.reflect.tokens import (
    Continuation,
    SegmentBeam,
    TableModel,
    Weights,
    best,
    retrieval_probability,
    retrieves,
    score,
    short_form,
    written,
)
from cookbook.reflect.tokens import faults as wrong


def choices(model, hits, faulty, right=score):
    """The answer with the right scorer and with the faulty one."""
    return tuple(short_form(model, "q", hits, scorer=scorer).text for scorer in (right, faulty))


def decision(p):
    return written({"[Retrieval]": p, "[No Retrieval]": 1 - p}).first


# ---------------------------------------------------------------- retrieve?


@pytest.mark.parametrize(
    ("p", "ratio"), [(0.05, 0.983), (0.2, 0.878), (0.5, 0.5), (0.7, 0.229), (0.9, 0.044)]
)
def test_the_ratio_of_logarithms_falls_as_the_model_gets_surer(p, ratio):
    assert wrong.log_ratio(decision(p)) == pytest.approx(ratio, abs=5e-4)
    assert retrieval_probability(decision(p)) == pytest.approx(p)


def test_where_the_two_rules_part():
    assert not wrong.retrieves_by_logs(decision(0.7246))
    assert wrong.retrieves_by_logs(decision(0.7244))
    crossover = 0.7244919590005157  # p^4 = 1 - p
    assert crossover**4 == pytest.approx(1 - crossover, abs=1e-12)
    assert wrong.log_ratio(decision(crossover)) == pytest.approx(0.2, abs=1e-12)
    right = [retrieves(decision(p)) for p in (0.05, 0.15, 0.25, 0.7, 0.75, 0.9)]
    assert right == [False, False, True, True, True, True]
    by_logs = [wrong.retrieves_by_logs(decision(p)) for p in (0.05, 0.15, 0.25, 0.7, 0.75, 0.9)]
    assert by_logs == [True, True, True, True, False, False]


def test_the_ratio_of_logarithms_skips_the_search_that_was_needed():
    model = TableModel(
        {
            ("", ""): written({"[Retrieval]": 0.9, "[No Retrieval]": 0.1}),
            ("", "A"): reply("Five, says the handbook.", 0.9),
            ("[No Retrieval]", ""): written("Ten, I think."),
        }
    )
    assert short_form(model, "q", [A]).text == "Five, says the handbook."
    assert short_form(model, "q", [A], rule=wrong.retrieves_by_logs).text == "Ten, I think."


def test_without_the_token_the_logarithm_was_meant_to_be_minus_100():
    assert wrong.log_ratio(written("[No Retrieval]").first) == 1.0
    assert wrong.retrieves_by_logs(None)
    assert wrong.retrieves_to_continue(None)


def test_continuing_is_no_wish_to_search():
    token = written({"[No Retrieval]": 0.8, "[Retrieval]": 0.02, "[Continue to Use Evidence]": 0.18}).first
    assert retrieval_probability(token) == pytest.approx(0.0244, abs=1e-4)
    assert (retrieves(token), wrong.retrieves_to_continue(token)) == (False, True)


def test_a_frequency_is_at_most_one():
    assert wrong.retrieval_frequency([True] * 7313) == 914.125
    assert wrong.retrieval_frequency([True] * 4 + [False] * 4) == 0.5  # right by luck, with eight rows


# ---------------------------------------------------------------- how good is it?


def test_minus_100_among_probabilities_inverts_relevance():
    off_topic = written({"[Irrelevant]": 0.9, "x": 0.1}, "Off topic.", "[Fully supported]")
    found = wrong.relevance_minus_100(off_topic)
    assert found.relevance == pytest.approx(1.00908, abs=1e-5)
    assert score(off_topic).relevance == 0.0
    model = table(YES, A=off_topic, B=reply("The answer.", 0.95))
    assert choices(model, [A, B], wrong.relevance_minus_100) == ("The answer.", "Off topic.")


def test_minus_100_punishes_the_surest_passage():
    sure = written({"[Relevant]": 0.9}, "The answer.", "[Fully supported]")
    assert wrong.relevance_minus_100(sure).relevance == pytest.approx(-0.00908, abs=1e-5)
    model = table(YES, A=sure, B=reply("Off topic.", 0.1))
    assert choices(model, [A, B], wrong.relevance_minus_100) == ("The answer.", "Off topic.")


def with_utility(text, relevant, *utilities):
    return Continuation((*reply(text, relevant).tokens, *written(*utilities).tokens))


def test_without_the_utility_tokens_the_useless_answer_wins():
    model = table(
        YES, A=with_utility("Plans exist.", 0.8, "[Utility:1]"), B=with_utility("5.", 0.7, "[Utility:5]")
    )
    assert choices(model, [A, B], wrong.utility_over_support) == ("5.", "Plans exist.")
    assert wrong.utility_over_support(with_utility("5.", 0.7, "[Utility:5]")).usefulness == 0.0


def test_the_last_utility_token_may_belong_to_another_text():
    runs_on = with_utility("5.", 0.7, "[Utility:5]", " And then?", "[Utility:1]")
    model = table(YES, A=runs_on, B=with_utility("Plans exist.", 0.8, "[Utility:3]"))
    assert choices(model, [A, B], wrong.usefulness_of_the_last) == ("5. And then?", "Plans exist.")


SURE = written({"[Relevant]": 0.7, "[Irrelevant]": 0.3}, {"Five.": 0.9}, "[Fully supported]")
GUESS = written({"[Relevant]": 0.8, "[Irrelevant]": 0.2}, {"Ten.": 0.1}, "[Fully supported]")


def test_a_lost_flag_leaves_out_how_sure_the_words_were():
    counted = Weights(sequence=1)
    model = table(YES, A=SURE, B=GUESS)
    right, faulty = (partial(scorer, weights=counted) for scorer in (score, wrong.sequence_flag_lost))
    assert choices(model, [A, B], faulty, right) == ("Five.", "Ten.")


def test_a_misplaced_division_makes_long_texts_worthless():
    long = written("[Relevant]", *[{f" word{n}": 0.9} for n in range(20)], "[Fully supported]")
    short = written({"[Relevant]": 0.9, "[Irrelevant]": 0.1}, {" Ten.": 0.5}, "[Fully supported]")
    counted = Weights(sequence=1)
    assert score(long, counted).sequence == pytest.approx(0.9 ** (20 / 22))
    assert wrong.sequence_over_n(long, counted).sequence == pytest.approx(0.9**20 / 22)
    right, faulty = (partial(scorer, weights=counted) for scorer in (score, wrong.sequence_over_n))
    model = table(YES, A=long, B=short)
    assert choices(model, [A, B], faulty, right) == (" ".join(f"word{n}" for n in range(20)), "Ten.")


# ---------------------------------------------------------------- which one?


def test_the_best_of_nothing_is_an_error():
    model = table(YES)
    assert short_form(model, "q", [], choose=best).text is None
    with pytest.raises(ValueError, match="empty"):
        short_form(model, "q", [], choose=wrong.best_of_any)


ASK = written("[Retrieval]").tokens


def asking(text, relevant):
    return Continuation((*reply(text, relevant).tokens, *ASK))


def own(text):
    return f"[Relevant]{text}[Fully supported]"


def test_a_siblings_text_leaks_into_the_prompt():
    mixed = own("Yearly plans.") + own("Monthly plans.")
    model = TableModel(
        {
            ("", ""): written(YES),
            ("", "A"): asking("Yearly plans.", 0.8),
            ("", "B"): asking("Monthly plans.", 0.9),
            (own("Yearly plans."), "A"): reply("Paid in March.", 0.6),
            (own("Yearly plans."), "B"): reply("Paid in March.", 0.6),
            (own("Monthly plans."), "A"): reply("Paid each month.", 0.9),
            (own("Monthly plans."), "B"): reply("Paid each month.", 0.8),
            (mixed, "A"): reply("Both are paid in March.", 0.9),
            (mixed, "B"): reply("Both are paid in March.", 0.8),
        }
    )
    right, leaking = SegmentBeam(model), wrong.LeakingBeam(model)
    assert right.search("q", [A, B]).text == "Monthly plans. Paid each month."
    assert not any(mixed in prompt for prompt in model.prompts)
    assert leaking.search("q", [A, B]).text == "Monthly plans. Both are paid in March."
    assert any(mixed in prompt for prompt in model.prompts)


def test_the_leak_also_loses_what_the_parent_said():
    """Below the first level, a younger sibling goes on without its parent's segment."""
    beam = wrong.LeakingBeam(
        TableModel(
            {
                ("", "A"): asking("One.", 0.9),
                (own("One."), "A"): asking("Two.", 0.9),
                (own("One."), "B"): asking("Three.", 0.9),
            }
        )
    )
    (one,) = beam.expand("### Response:\n", None, [A])
    two, three = beam.expand("### Response:\n", one, [A, B])
    assert two.said == own("One.") + own("Two.")
    assert three.said == own("Two.") + own("Three.")


def test_a_finished_answer_is_forgotten_when_its_sibling_goes_on():
    model = TableModel(
        {
            ("", ""): written(YES),
            ("", "A"): reply("Complete.", 0.9),
            ("", "B"): asking("Half of it,", 0.5),
            (own("Half of it,"), "A"): reply("badly.", 0.1, 0.2),
            (own("Half of it,"), "B"): reply("badly.", 0.1, 0.2),
        }
    )
    found = SegmentBeam(model).search("q", [A, B])
    assert found.text == "Complete."
    assert wrong.deepest_only(found).text == "Half of it, badly."


def test_nothing_is_deepest_in_no_tree():
    assert wrong.deepest_only(SegmentBeam(table(YES)).search("q", [])) is None


def test_the_last_text_with_the_first_score():
    model = table(YES, A=reply("Right.", 0.9), B=reply("So-so.", 0.5), C=reply("Wrong.", 0.1))
    assert SegmentBeam(model).search("q", [A, B, C]).text == "Right."
    found = wrong.MispairedBeam(model).search("q", [A, B, C])
    assert (found.text, found.best.value, found.best.hit) == ("Wrong.", pytest.approx(1.9), A)
    assert wrong.MispairedBeam(model).search("q", []).text is None


def test_one_passage_hides_what_goes_wrong_between_passages():
    model = table(YES, A=reply("Right.", 0.9))
    for beam in (SegmentBeam, wrong.LeakingBeam, wrong.MispairedBeam):
        assert beam(model).search("q", [A]).text == "Right."
