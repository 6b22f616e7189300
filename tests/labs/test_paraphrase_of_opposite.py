"""What the check of paraphrase_of_opposite says of thresholds, negation counts and comparisons of digits."""

import re

from cookbook.labs.paraphrase_of_opposite import PAIRS, ask, broken, check, cosine, solution
from cookbook.reflect.numbers import unstated_numbers

BROKEN = "opposite_passes"


def digits(text):
    return re.findall(r"\d+", text)


def negated(text):
    return bool(re.search(r"\b(?:not|no|never|cannot)\b", text))


def a_high_threshold(claim, passage, judge):
    return cosine(claim, passage) >= 0.99


def a_higher_threshold(claim, passage, judge):
    return cosine(claim, passage) >= 0.95


def numbers_and_similarity(claim, passage, judge):
    return cosine(claim, passage) >= 0.7 and not unstated_numbers(claim, passage)


def count_the_negations(claim, passage, judge):
    return cosine(claim, passage) >= 0.7 and negated(claim) == negated(passage)


def anything_but_a_contradiction(claim, passage, judge):
    return judge(passage, claim) != "contradict" and not unstated_numbers(claim, passage)


def entailment_alone(claim, passage, judge):
    return judge(passage, claim) == "entail"


def the_same_set_of_digits(claim, passage, judge):
    return judge(passage, claim) == "entail" and set(digits(claim)) <= set(digits(passage))


def digits_in_order(claim, passage, judge):
    wanted = digits(claim)
    return judge(passage, claim) == "entail" and (not wanted or wanted == digits(passage))


WRONG = {
    "similarity and numbers": (numbers_and_similarity, "opposite_passes"),
    "count the negations": (count_the_negations, "antonym_passes"),
    "a very high threshold": (a_high_threshold, "paraphrase_rejected"),
    "anything but a contradiction": (anything_but_a_contradiction, "neutral_passes"),
    "entailment alone": (entailment_alone, "number_changed"),
    "the same set of digits": (the_same_set_of_digits, "numbers_swapped"),
    "digits in order": (digits_in_order, "equal_numbers_rejected"),
    "the label": (lambda claim, passage, judge: judge(passage, claim), "no_bool"),
}


def test_the_symptom():
    answer, meter = ask(broken())
    assert (answer, meter.calls) == ("Your tokens are revoked when you change your password.", 1)
    assert ask(solution())[0] == ""


def test_no_threshold_separates_them():
    found = {pair.claim: round(cosine(pair.claim, pair.passage), 3) for pair in PAIRS}
    honest, false = ({found[pair.claim] for pair in PAIRS if pair.true is true} for true in (True, False))
    assert (min(honest), max(honest), min(false), max(false)) == (0.67, 0.947, 0.733, 0.998)
    assert check(a_higher_threshold).diagnosis == "antonym_passes"


def test_the_message_shows_both_sentences_and_the_cosine():
    assert check(broken()).message == (
        "the handbook says 'Changing your password does not revoke your tokens.', the answer 'Your tokens are revoked when you "
        "change your password.': you call it supported (cosine 0.905, the judge says contradict). 2 of 2 such claims go wrong. "
        "It states the opposite, in nearly the same words."
    )
