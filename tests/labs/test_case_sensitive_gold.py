"""What the check of case_sensitive_gold says of comparisons that forgive too little, or too much."""

import re
import string
import unicodedata

import pytest

from cookbook.labs.case_sensitive_gold import CASES, MARKS, broken, check, evaluate, matches, share, solution

BROKEN = "case_sensitive"


def form(text, *, nfkc=True, marks=MARKS, spaces=True):
    text = unicodedata.normalize("NFKC", text) if nfkc else text
    text = text.casefold()
    return (" ".join(text.split()) if spaces else text).strip(marks)


def by(key):
    return lambda said, golds: bool(key(said)) and key(said) in [key(gold) for gold in golds]


def lower_what_was_said(said, golds):
    return said.lower() in golds or said.casefold() in [
        gold.casefold() for gold in golds if gold.islower() or "ß" in gold
    ]


def gold_in_it(said, golds):
    return any(form(gold) in form(said) for gold in golds)


def as_squad_does(text):
    bare = "".join(sign for sign in form(text) if sign not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def squad(said, golds):
    return as_squad_does(said) in [as_squad_does(gold) for gold in golds]


def whatever_is_left(said, golds):
    return form(said) in [form(gold) for gold in golds]


def without_any_marks(text):
    return "".join(sign for sign in form(text) if sign not in string.punctuation)


WRONG = {
    "lower what the model said": (lower_what_was_said, "gold_left_as_it_is"),
    "the gold stands in it": (gold_in_it, "part_of_the_answer"),
    "case alone": (by(lambda text: text.casefold().strip(' "')), "marks_kept"),
    "a full stop off": (by(lambda text: form(text, marks=".*()\"'", spaces=False)), "white_space_kept"),
    "no thought of Unicode": (by(lambda text: form(text, nfkc=False)), "other_encoding"),
    "as SQuAD does": (squad, "option_taken_for_an_article"),
    "two nothings are equal": (whatever_is_left, "empty_matches"),
    "no punctuation anywhere": (by(without_any_marks), "words_taken_off"),
}


def test_the_symptom():
    rows, meter = evaluate(broken())
    assert (share(rows), len(rows), meter.calls) == ("0.7%", 140, 140)


def test_what_the_model_is_worth():
    rows, _ = evaluate(solution())
    assert share(rows) == "64.3%"
    assert sum(row["counts as"] == "right" for row in rows) == 90


def test_the_message_quotes_the_pair():
    assert check(broken()).message == (
        "'TRUE' against 'true' counts as wrong, and says the same (3 of 4 such pairs). Bring both sides into one case before "
        "you compare; `casefold` also knows that ß is ss"
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.said!r}-{case.golds}")
def test_the_solution_on_each_pair(case):
    assert matches(case.said, case.golds) is case.same
