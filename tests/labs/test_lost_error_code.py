"""What the check of lost_error_code says of queries that keep too little of the question, or all of it."""

import re

import pytest

from cookbook.labs.lost_error_code import CASES, MARKS, REWRITES, ask_handbook, broken, check, solution
from cookbook.reflect.refuse import SENTENCES
from cookbook.reflect.terms import lost_terms
from cookbook.schema import Reason

BROKEN = "code_lost"


def exact(question):
    words = (word.strip(MARKS) for word in question.split())
    return [word for word in words if word.startswith("/") or re.search(r"\d", word)]


def append_the_question(question, query):
    return f"{query} {question}".strip()


def return_the_question(question, query):
    return question


def only_the_codes(question, query):
    lost = [code for code in re.findall(r"LK-\d+", question) if code not in query]
    return " ".join([query, *lost]) if query.strip() else question


def codes_and_paths(question, query):
    found = dict.fromkeys(re.findall(r"LK-\d+|/[\w/]+", question))
    has = {word.lower() for word in query.split()}
    return " ".join([query, *(term for term in found if term.lower() not in has)])


def somewhere_in_the_query(question, query):
    if not query.strip():
        return question
    return " ".join(
        [query, *dict.fromkeys(term for term in exact(question) if term.lower() not in query.lower())]
    )


def all_terms_again(question, query):
    return " ".join([query, *exact(question)]) if query.strip() else question


def with_their_marks(question, query):
    words = [word for word in question.split() if re.search(r"\d|^/", word)]
    has = {word.strip(MARKS).lower() for word in query.split()}
    return " ".join([query, *(word for word in words if word.strip(MARKS).lower() not in has)])


def terms_first(question, query):
    return " ".join([*(term for term in exact(question) if term not in query), query])


def nothing_for_nothing(question, query):
    has = {word.strip(MARKS).lower() for word in query.split()}
    return " ".join([query, *dict.fromkeys(term for term in exact(question) if term.lower() not in has)])


WRONG = {
    "append the question": (append_the_question, "words_added"),
    "search for the question": (return_the_question, "rewrite_lost"),
    "error codes only": (only_the_codes, "path_lost"),
    "codes and paths": (codes_and_paths, "number_lost"),
    "look for the term anywhere in the query": (somewhere_in_the_query, "half_a_term"),
    "add every term, lost or not": (all_terms_again, "term_doubled"),
    "with the marks on": (with_their_marks, "marks_kept"),
    "the terms first": (terms_first, "order_changed"),
    "no thought of a rewriter that fails": (nothing_for_nothing, "empty_query"),
}


def test_the_symptom():
    asked, meter = ask_handbook(broken())
    assert [one.rank for one in asked] == [None, None, None, 1, 1, None, 1, 2]
    assert {one.text for one in asked if one.rank is None} == {SENTENCES[Reason.NO_RELEVANT_PASSAGE]}
    assert meter.calls == 8 * 6 + 4


def test_with_its_terms_each_question_finds_its_passage():
    asked, meter = ask_handbook(solution())
    assert [one.rank for one in asked] == [1, 1, 2, 1, 1, 1, 1, 1]
    assert asked[0].query == "timeout help LK-504 /v1/sync"
    assert meter.calls == 8 * 7


def test_the_message_quotes_both_texts():
    assert check(broken()).message.startswith(
        "question 'Why do I get LK-410?', rewritten to 'reason for an API error': you search for 'reason for an API error'. "
        "LK-410 is gone."
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.query.strip() or "nothing")
def test_the_package_finds_nothing_more_to_put_back(case):
    """A second opinion on the table: ``reflect.terms`` misses no code, path or number in what is wanted."""
    assert [term for term in lost_terms(case.question, case.wanted) if re.search(r"\d|^/", term)] == []


def test_every_rewrite_belongs_to_a_question():
    assert [one.row.question for one in ask_handbook(broken())[0]] == list(REWRITES)
