"""What the check of semantic_cache_lies says of rules that let a cosine, or too few words, decide."""

import pytest

from cookbook.embedders import get_embedder
from cookbook.errors import WeightsError
from cookbook.labs.semantic_cache_lies import (
    CLOSE,
    MARKS,
    PAIRS,
    SMALL,
    broken,
    serve,
    solution,
)
from cookbook.schema import Status
from cookbook.semantic_cache import difference

BROKEN = "cosine_decides"


def words(question):
    return [word.strip(MARKS).lower() for word in question.split()]


def fields(asked, entry):
    same = (asked.index, asked.workspace) == (entry.index, entry.workspace)
    return same and entry.status is Status.ANSWERED


def by(key, *, also=fields):
    return lambda asked, entry, similarity: (
        similarity >= CLOSE and key(asked.question) == key(entry.question) and also(asked, entry)
    )


def large(question):
    return [word for word in words(question) if word not in SMALL]


def raise_the_threshold(asked, entry, similarity):
    return similarity >= 0.99 and fields(asked, entry)


def same_negation(question):
    return "not" in words(question)


def opposites_listed(question):
    return [
        word for word in words(question) if word in {"not", "before", "after", "on", "off", "with", "without"}
    ]


WRONG = {
    "raise the threshold": (raise_the_threshold, "higher_threshold"),
    "compare the negations": (by(same_negation), "time_missed"),
    "a list of opposites": (by(opposites_listed), "number_missed"),
    "leave out short words": (by(lambda q: [word for word in words(q) if len(word) > 3]), "negation_missed"),
    "leave out the words of a search engine": (
        by(lambda q: [word for word in large(q) if word not in {"on", "off", "with", "without"}]),
        "small_word_dropped",
    ),
    "compare sets": (by(lambda question: set(large(question))), "order_ignored"),
    "word for word": (by(lambda question: question), "never_a_hit"),
    "with the small words": (by(words), "paraphrase_missed"),
    "forget the index": (
        by(
            large, also=lambda asked, entry: asked.workspace == entry.workspace and entry.status == "answered"
        ),
        "stale_index",
    ),
    "forget whose documents": (
        by(large, also=lambda asked, entry: asked.index == entry.index and entry.status == "answered"),
        "other_workspace",
    ),
    "serve refusals": (
        by(large, also=lambda asked, entry: (asked.index, asked.workspace) == (entry.index, entry.workspace)),
        "refusal_cached",
    ),
}


def test_the_symptom():
    rows, meter = serve(broken())
    assert [row["the answer is"] for row in rows] == ["WRONG"] * 9 + ["right"] * 7
    assert meter.calls == 0


def test_what_the_words_cost():
    rows, meter = serve(solution())
    assert [row["the answer is"] for row in rows] == ["-"] * 9 + ["right"] * 4 + ["-"] * 3
    assert meter.calls == 2 * 12


@pytest.mark.parametrize(
    ("threshold", "wrong", "right"), [(0.95, 9, 7), (0.97, 7, 7), (0.98, 4, 7), (0.99, 1, 5), (0.995, 1, 1)]
)
def test_no_threshold_parts_them(threshold, wrong, right):
    rows, _ = serve(lambda asked, entry, similarity: similarity >= threshold)
    said = [row["the answer is"] for row in rows]
    assert (said.count("WRONG"), said.count("right")) == (wrong, right)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.asked)
def test_the_cache_of_the_package_says_the_same(pair):
    """It knows more ways of asking than the lab: plurals, fronted clauses; and serves none of the different pairs."""
    if pair.kind != "same, other words":
        assert (difference(pair.asked, pair.before) == "") is (pair.kind == "same")


@pytest.mark.live
def test_the_similarities_were_measured():
    try:
        embedder = get_embedder("all-minilm-l6-v2")
        for pair in PAIRS:
            one, other = embedder.embed([pair.before, pair.asked])
            assert float(one @ other) == pytest.approx(pair.similarity, abs=1e-3)
    except WeightsError as error:
        pytest.skip(str(error))
