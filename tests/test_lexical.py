"""The terms that BM25 sees, and their weights."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cookbook.lexical import AVERAGE_LENGTH, K1, B, chunk_weights, query_weights, term_id, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Error LK-504:", ["error", "lk-504", "lk", "504"]),
        ("since v1.2.3.", ["sinc", "v1.2.3", "v1"]),
        ("C++ and C# and node.js", ["c++", "c#", "node.js", "node", "js"]),
        ("POST /v1/sync", ["post", "v1/sync", "v1", "sync"]),
        ("ER20328_23", ["er20328_23", "er20328", "23"]),
        ("$2,400,000", ["2400000"]),
        ("2400000", ["2400000"]),
        ("2.4 million", ["2.4", "million", "2400000"]),
        ("5 thousand", ["5", "thousand", "5000"]),
        ("Python 3.10, not 3.1", ["python", "3.10", "3.1"]),
        ("1,2,3", ["1", "2", "3"]),
        ("exports exporting exported", ["export"] * 3),
        ("Larkspur’s boards", ["larkspur", "board"]),
        ("Déploiement français", ["déploiement", "français"]),
        ("развертывание", ["развертывание"]),
        ("तैनाती के लिए", ["तैनाती", "के", "लिए"]),
        ("低头思故乡", ["低头", "头思", "思故", "故乡"]),
        ("배포는 도커", ["배포", "포는", "도커"]),
        ("的", ["的"]),
        ("Ｆｕｌｌ ｗｉｄｔｈ", ["full", "width"]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize("text", ["", "   ", "???", "---", "____", "\u200b", "the of and"])
def test_no_terms(text: str) -> None:
    assert terms(text) == []
    assert chunk_weights(text) == query_weights(text) == ([], [])


def test_term_ids_are_the_same_on_every_machine() -> None:
    assert term_id("lk-504") == 3243584822
    assert term_id("故乡") == 2373361811


def test_weights_are_bm25_without_idf() -> None:
    ids, weights = chunk_weights("board board task")
    norm = K1 * (1 - B + B * 3 / AVERAGE_LENGTH)
    expected = {term_id("board"): 2 * (K1 + 1) / (2 + norm), term_id("task"): (K1 + 1) / (1 + norm)}
    assert dict(zip(ids, weights, strict=True)) == pytest.approx(expected)
    assert ids == sorted(ids)


def test_a_query_counts_each_term_once() -> None:
    assert query_weights("task task board") == (sorted([term_id("task"), term_id("board")]), [1.0, 1.0])


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=80))
def test_any_text_gives_valid_sparse_weights(text: str) -> None:
    ids, weights = chunk_weights(text)
    assert len(ids) == len(weights) == len(set(ids))
    assert all(0 <= i < 2**32 for i in ids)
    assert all(0 < w < K1 + 1 for w in weights)
    assert bool(ids) == bool(terms(text))
