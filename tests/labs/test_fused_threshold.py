"""What the check of fused_threshold says of cut-offs on a sum of ranks, and of fusions that forget the cut-off."""

import pytest

from cookbook.labs.fused_threshold import QUESTIONS, ask, broken, check, fuse, search, solution
from cookbook.retrieval import open_retriever

BROKEN = "nothing_passes"


def lower_it(dense, words, cutoff):
    measured = {hit.chunk_id: hit for hit in dense}
    return [measured[name] for name, score in fuse(dense, words) if score >= 0.0161 and name in measured]


def share_of_the_best(dense, words, cutoff):
    ranked = fuse(dense, words)
    best = ranked[0][1]
    return broken()(dense, words, cutoff * best)


def filter_then_fuse(dense, words, cutoff):
    measured = {hit.chunk_id: hit for hit in dense}
    good = [hit for hit in dense if hit.score >= cutoff]
    return [measured[name] for name, _ in fuse(good, words) if name in measured] if good else []


def all_if_the_best_is_good(dense, words, cutoff):
    measured = {hit.chunk_id: hit for hit in dense}
    ranked = [measured[name] for name, _ in fuse(dense, words) if name in measured]
    return ranked if any(hit.score >= cutoff for hit in dense) else []


def in_the_order_of_the_cosine(dense, words, cutoff):
    return [hit for hit in dense if hit.score >= cutoff]


def in_both_lists(dense, words, cutoff):
    found = {hit.chunk_id for hit in words}
    return [hit for hit in solution()(dense, words, cutoff) if hit.chunk_id in found]


def trust_what_has_no_cosine(dense, words, cutoff):
    hits = {hit.chunk_id: hit for hit in [*words, *dense]}
    measured = {hit.chunk_id: hit.score for hit in dense}
    return [hits[name] for name, _ in fuse(dense, words) if measured.get(name, 1.0) >= cutoff]


def always_the_first(dense, words, cutoff):
    return solution()(dense, words, cutoff) or [
        next(hit for hit in dense if hit.chunk_id == fuse(dense, words)[0][0])
    ]


WRONG = {
    "a lower cut-off": (lower_it, "rank_is_no_relevance"),
    "never come back with nothing": (always_the_first, "nothing_is_a_result"),
    "filter, then fuse": (filter_then_fuse, "below_the_cutoff"),
    "in the order of the cosine": (in_the_order_of_the_cosine, "fused_order_lost"),
    "only what both searches found": (in_both_lists, "good_ones_lost"),
    "trust what has no cosine": (trust_what_has_no_cosine, "unmeasured_kept"),
    "return ids": (lambda dense, words, cutoff: ["a", "c"], "no_hits"),
}


def test_the_symptom():
    rows, meter = ask(broken(), 0.5)
    assert ([row["kept"] for row in rows], meter.calls) == ([0, 0], 0)
    rows, meter = ask(broken(), 0.03)
    assert ([row["kept"] for row in rows], meter.calls) == ([4, 5], 2)
    rows, meter = ask(solution(), 0.5)
    assert ([row["kept"] for row in rows], meter.calls) == ([4, 0], 1)


def test_the_message_gives_the_highest_possible_score():
    assert check(broken()).message == (
        "answerable: you keep nothing, and it should be a, c, b. The best fused score is 0.0325 and no fused score can be above "
        "0.0328; 0.5 is a cut-off for cosines, of which the best is 0.71"
    )


def test_other_mends_that_are_none():
    assert check(all_if_the_best_is_good).diagnosis == "below_the_cutoff"
    verdict = check(share_of_the_best)
    assert verdict.diagnosis == "rank_is_no_relevance"
    assert "both with the fused scores 0.0325, 0.0323, 0.0312, ..." in verdict.message


@pytest.mark.parametrize("question", QUESTIONS)
def test_fuse_gives_what_the_store_gives(question):
    hybrid = open_retriever("larkspur", embedder="scripted", mode="hybrid").retrieve(question, 5)
    for (_, score), hit in zip(fuse(*search(question))[:5], hybrid, strict=True):
        assert score == pytest.approx(hit.score, abs=1e-6)
