"""What the check of invented_quotes says of look-ups that are too kind, or too strict."""

import json
from difflib import SequenceMatcher

import pytest
from reflect_parts import passage

from cookbook.labs.invented_quotes import (
    DRAFT,
    FEWEST_WORDS,
    QUOTES,
    ask,
    broken,
    cases,
    check,
    passages,
    solution,
)
from cookbook.providers import LLMClient
from cookbook.providers.scripted import scripted_table
from cookbook.reflect.quotes import verified_quotes
from cookbook.reflect.support import EvidenceSupport
from cookbook.schema import Status, Support

BROKEN = "invention_believed"


def flat(text):
    return " ".join(text.split())


def stands(quote, passages, *, fewest=FEWEST_WORDS):
    return len(quote.split()) >= fewest and any(flat(quote) in flat(passage) for passage in passages)


def lowered(level, counts):
    if not any(counts):
        return Support.NONE
    return level if all(counts) else min(level, Support.PARTIALLY, key=lambda support: support.rank)


def nearly(level, quotes, passages):
    def near(quote, passage):
        words, wanted = flat(passage).split(), flat(quote).split()
        windows = (" ".join(words[n : n + len(wanted)]) for n in range(len(words) - len(wanted) + 1))
        return any(SequenceMatcher(None, window, flat(quote)).ratio() >= 0.92 for window in windows)

    return lowered(level, [any(near(quote, passage) for passage in passages) for quote in quotes])


def to_the_letter(level, quotes, passages):
    return lowered(level, [any(quote in passage for passage in passages) for quote in quotes])


def any_of_them(level, quotes, passages):
    return level if any(stands(quote, passages) for quote in quotes) else Support.NONE


def all_of_none(level, quotes, passages):
    counts = [stands(quote, passages) for quote in quotes]
    return level if all(counts) else lowered(level, counts)


def any_length(level, quotes, passages):
    return lowered(level, [stands(quote, passages, fewest=1) for quote in quotes])


def joined(level, quotes, passages):
    return lowered(level, [stands(quote, ["\n\n".join(passages)]) for quote in quotes])


def from_the_quotes_alone(level, quotes, passages):
    return lowered(Support.FULLY, [stands(quote, passages) for quote in quotes])


WRONG = {
    "nearly the same": (nearly, "nearly_is_enough"),
    "to the letter": (to_the_letter, "honest_quote_rejected"),
    "one true quote is enough": (any_of_them, "one_quote_vouches"),
    "all of them, also of none": (all_of_none, "no_quote_no_doubt"),
    "quotes of any length": (any_length, "a_word_is_no_quote"),
    "look in all passages at once": (joined, "across_passages"),
    "the quotes decide alone": (from_the_quotes_alone, "level_raised"),
    "return the quotes that stand": (
        lambda level, quotes, passages: verified_quotes(quotes, passages),
        "no_support",
    ),
}


def test_the_symptom():
    done = ask()
    assert (done.calls, done.state["draft"], done.state["status"]) == (9, DRAFT, Status.ANSWERED)
    assert done.state["evidence"] == QUOTES
    kept = [hit.text for hit in done.state["kept"]]
    assert solution()(done.state["support"], done.state["evidence"], kept) is Support.PARTIALLY
    assert verified_quotes(QUOTES, kept) == [QUOTES[1]]


def test_the_message_quotes_the_quote():
    assert check(broken()).message == (
        "an invention: the judge says fully and quotes 'support can extend the window on request'; you leave it at fully, and it "
        "is none. No passage says anything of the kind."
    )


def test_the_changed_quote_is_one_character_from_the_passage():
    changed = next(case for case in cases() if case.diagnosis == "nearly_is_enough").quotes[0]
    assert changed not in flat(passages()[0])
    assert changed.replace("90", "30") in flat(passages()[0])


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_the_package_leaves_the_same_of_a_level(case):
    reply = {"evidence": list(case.quotes), "unsupported": [], "level": case.level}
    judge = EvidenceSupport(LLMClient(scripted_table({"You check an answer": json.dumps(reply)})))
    assert judge.check("q", "a", [passage(text) for text in passages()]).label is case.left
