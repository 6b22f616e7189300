"""What the check of substring_verdicts says of readers that mend a part of it."""

import re

from cookbook.labs import substring_verdicts
from cookbook.labs.substring_verdicts import REPLIES, check, filter_passages

BROKEN = "yes_by_substring"


def negative_first(reply):
    return not re.search(r"not|ir|no", reply.lower())


def negative_then_positive(reply):
    low = reply.lower()
    if re.search(r"\bno\b|\bnot\b|not_|irrelevant", low):
        return False
    return True if re.search(r"\brelevant\b|\byes\b", low) else None


def positive_else_no(reply):
    return reply.strip(' *."\n').lower() in ("relevant", "yes")


def exact_words_only(reply):
    return {"RELEVANT": True, "NOT RELEVANT": False}.get(reply)


def a_word_for_a_verdict(reply):
    return "relevant" if "not" not in reply else "irrelevant"


WRONG = {
    "look for the negative, take the rest for a yes": (negative_first, "failure_read_as_yes"),
    "whole words, the negative first": (negative_then_positive, "word_in_a_sentence"),
    "whatever is no plain yes is a no": (positive_else_no, "failure_read_as_no"),
    "two exact words": (exact_words_only, "no_lost"),
    "return the word": (a_word_for_a_verdict, "no_verdict_type"),
}


def test_the_symptom():
    rows, meter = filter_passages(substring_verdicts.broken())
    assert [row["read as"] for row in rows] == ["True"] * 5
    assert meter.calls == 6
    rows, _ = filter_passages(substring_verdicts.solution())
    assert [row["read as"] for row in rows] == ["True", "True", "False", "False", "None"]


def test_the_message_quotes_a_reply_and_counts():
    assert check(substring_verdicts.broken()).message == (
        "'NOT RELEVANT' was read as True and says False; 4 of 16 replies go wrong in this way. The word for yes "
        "stands inside the word for no."
    )


def test_one_is_no_verdict():
    assert check(lambda reply: int(REPLIES[reply] or 0)).diagnosis == "no_verdict_type"
