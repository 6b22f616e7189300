"""Labels that programs make: every edit against sentences worked out by hand, and every pair against its label."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from cookbook.corpora import load_eval_questions
from cookbook.reflect.numbers import numbers_in
from cookbook.training import edits, paraphrases
from cookbook.training.clauses import base_form, main_clause
from cookbook.training.facts import KINDS
from cookbook.training.from_corpora import CORPORA, sections
from cookbook.training.from_world import pairs as world_pairs
from cookbook.training.pair import OUTCOMES, Pair
from cookbook.training.pairs import counts, make_pairs, split
from cookbook.training.questions import questions_of
from cookbook.training.world import other_value, subjects


@pytest.fixture(scope="module")
def some() -> list[Pair]:
    return make_pairs(0, size=0.05)


# ---------------------------------------------------------------- edits


@pytest.mark.parametrize(
    ("sentence", "denied"),
    [
        ("Guests can export tasks.", "Guests cannot export tasks."),
        ("Guests cannot export tasks.", "Guests can export tasks."),
        ("The link is not valid.", "The link is valid."),
        ("A review takes 10 days.", "A review does not take 10 days."),
        ("The owner must accept it.", "The owner does not have to accept it."),
        ("If a payment fails, the plan is paused.", "If a payment fails, the plan is not paused."),
        ("Nothing is deleted.", None),  # "is not deleted" would be no denial
        ("All that is known is lost.", None),  # which "is"?
        ("Each expires 90 days after it was made.", None),
        ("When one, two or three fail, it is late.", None),
        ("It may fail.", None),  # "may not fail" is no denial of it
    ],
)
def test_negation_stays_in_the_main_clause(sentence, denied):
    assert edits.negate(sentence, Random(0)) == denied


@pytest.mark.parametrize("seed", range(20))
def test_a_changed_number_is_another_and_looks_alike(seed):
    changed = edits.change_number("The limit is 10,000 runs a month.", Random(seed))
    [number] = numbers_in(changed)
    assert number.value != 10_000
    assert changed.startswith("The limit is ")
    assert "," in changed or number.value < 1000 or number.value % 1 == 0
    assert edits.change_number("See `v1[0]`, LK-504 and version 1.4.2.", Random(seed)) is None


def test_units_dates_and_opposites():
    assert edits.change_unit("It lasts 3 days.", Random(0)) in {
        f"It lasts 3 {unit}." for unit in "seconds minutes hours weeks months years".split()
    }
    assert edits.change_unit("It lasts for days.", Random(0)) is None
    assert edits.change_date("It locks on Tuesday.", Random(1)) != "It locks on Tuesday."
    assert (
        edits.oppose("A member can add at most 20 people.", Random(0))
        == "A member can add at least 20 people."
    )
    assert edits.oppose("A smaller plan is cheap.", Random(0)) is None  # that is about another plan
    assert edits.oppose("It is not always on.", Random(0)) is None


def test_a_swapped_name_is_one_the_sentence_does_not_have():
    for seed in range(20):
        changed = edits.swap_name("Starter and Studio have a limit, an owner says.", Random(seed))
        assert changed is not None
        assert changed != "Starter and Studio have a limit, an owner says."
        assert "a admin" not in changed
        assert "an guest" not in changed
    assert edits.swap_name("Nobody knows.", Random(0)) is None


def test_articles_follow_the_next_letter_and_leave_hours_and_users_alone():
    assert edits.articled("a owner, an guest, an hour, a user") == "an owner, a guest, an hour, a user"


def test_paraphrases_keep_the_numbers():
    rng = Random(0)
    for section in sections()[:60]:
        for sentence in section.said:
            for name, edit in paraphrases.KEEPING.items():
                if name != "shortened" and (same := edit(sentence, rng)):
                    assert [n.value for n in numbers_in(same)] == pytest.approx(
                        [n.value for n in numbers_in(sentence)]
                    ) or name == "condition", (sentence, same)


@pytest.mark.parametrize(
    ("sentence", "same"),
    [
        ("If a key is lost, the owner makes a new one.", "The owner makes a new one if a key is lost."),
        ("Tokens are revoked when the member leaves.", "When the member leaves, tokens are revoked."),
        ("A trait may be used only if it is in scope.", None),
        ("If a key is lost, it is replaced.", None),
    ],
)
def test_a_condition_moves_to_the_other_end(sentence, same):
    assert paraphrases.turn_condition(sentence, Random(0)) == same


def test_what_is_left_of_a_sentence():
    assert paraphrases.drop_rest("The box frees its memory, so no leak is possible.", Random(0)) == (
        "The box frees its memory."
    )
    assert paraphrases.drop_rest("Either wait for a week, or ask because it is late.", Random(0)) is None


def test_a_little_grammar():
    assert [
        base_form(v) for v in "takes goes applies uses passes".split()
    ] == "take go apply use pass".split()
    assert main_clause("If it fails, stop.") == 13
    assert main_clause("Stop if it fails.") == 0
    assert main_clause("If one, two or three fail, stop.") == -1


# ---------------------------------------------------------------- questions


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        (
            "The owner can name up to 3 billing contacts.",
            "How many billing contacts can the owner name?",
            "up to 3 billing contacts",
        ),
        (
            "The owner can name up to 3 billing contacts.",
            "Who can name up to 3 billing contacts?",
            "the owner",
        ),
        ("A feature is a named switch.", "What is a feature?", "a named switch"),
        ("A template keeps the boards.", "What does a template keep?", "the boards"),
        ("A link can be used for 7 days.", "How long can a link be used?", "7 days"),
        (
            "A trait is sealed because the module is private.",
            "Why is a trait sealed?",
            "the module is private",
        ),
        (
            "If the last try fails, the plan is paused.",
            "What happens if the last try fails?",
            "the plan is paused",
        ),
    ],
)
def test_a_statement_answers_a_question(sentence, question, answer):
    assert {asked.question: asked.answer for asked in questions_of(sentence)}[question].strip() == answer


@pytest.mark.parametrize("sentence", ["It works.", "Not at all", "Which side goes first depends on luck."])
def test_what_is_unclear_is_not_asked(sentence):
    assert list(questions_of(sentence)) == []


# ---------------------------------------------------------------- the encyclopaedia


def test_another_value_is_another_value():
    for kind in KINDS:
        [subject] = subjects(kind, 1, Random(3))
        for attribute in kind.attributes:
            value = subject.values[attribute.name]
            assert other_value(attribute, value, Random(0)) != value
            assert value.removeprefix("a ").casefold() in subject.says(attribute, Random(0)).casefold()
            assert subject.name in subject.asks(attribute, Random(0))


def test_labels_follow_from_the_facts():
    for pair in islice(world_pairs(Random(0), 0.05), 600):
        if pair.kind == "world: told alone":
            assert pair.label == "relevant"
        if pair.kind == "world: another subject" and pair.task == "relevance":
            assert pair.source.removeprefix("world/").removeprefix("the ") not in pair.passage
        if pair.kind == "world: roughly" and pair.label == "supported":
            [said] = [n.value for n in numbers_in(pair.text)][-1:]
            held = [n.value for n in numbers_in(pair.passage)]
            more = any(word in pair.text for word in ("more than", "after"))
            assert any(value > said if more else value < said for value in held)


# ---------------------------------------------------------------- pairs


def test_pairs_are_the_same_from_the_same_seed(some):
    assert make_pairs(0, size=0.05) == some
    assert make_pairs(1, size=0.05) != some
    assert len({(pair.text, pair.passage) for pair in some}) == len(some)


def test_every_rule_makes_pairs_and_every_label_occurs(some):
    found = counts(some)
    assert set(OUTCOMES) <= set(found)
    assert sum(name.startswith(("relevance: ", "support: ")) for name in found) > 40


def test_edits_stand_on_both_sides(some):
    """A model that looks for the traces of an edit alone would learn nothing: about as many edited claims hold."""
    edited = [p for p in some if p.kind.startswith(("negation", "number", "name", "invented"))]
    held = sum(p.label == "supported" for p in edited) / len(edited)
    assert 0.3 < held < 0.6


def test_what_is_held_out_shares_no_source_with_training(some):
    training, held = split(some)
    assert not {pair.source for pair in training} & {pair.source for pair in held}
    assert 0.05 < len(held) / len(some) < 0.15


def test_no_row_that_results_are_reported_on_is_trained_on():
    report = {
        row.question for corpus in CORPORA for row in load_eval_questions(corpus) if row.split == "report"
    }
    from cookbook.training import from_corpora

    asked = {pair.text for pair in from_corpora.pairs(Random(0), 0.1)}
    assert not report & asked
