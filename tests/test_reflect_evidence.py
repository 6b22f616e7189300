"""The evidence is each passage once, the best first, and never more than the budget."""

from hypothesis import given, settings
from hypothesis import strategies as st
from standins import hits

from cookbook.reflect.evidence import best_within, odds
from cookbook.schema import Decision, Relevance, Verdict

NAMES = "abcdef"
CHANCES = st.lists(st.floats(0, 1), min_size=6, max_size=6)


def names(found) -> str:
    return "".join(hit.chunk.doc_id[0] for hit in found)


@given(CHANCES, st.lists(st.sampled_from(NAMES), min_size=1, max_size=12), st.integers(0, 30))
@settings(deadline=None, max_examples=80)
def test_each_once_likeliest_first_within_the_budget(values, order, tokens):
    """A stand-in passage, "About a.", has three words and marks."""
    chances = {f"{name}.md#0": p for name, p in zip(NAMES, values, strict=True)}
    kept = best_within(tokens, hits(*order), chances)
    assert len(kept) == max(1, min(len(set(order)), tokens // 3))
    assert len(set(names(kept))) == len(kept)
    found = [chances[hit.chunk_id] for hit in kept]
    assert found == sorted(found, reverse=True)
    assert max(chances[f"{name}.md#0"] for name in order) == found[0]


def test_equal_chances_keep_the_order_of_the_search():
    assert (
        names(best_within(9, hits("c", "a", "b"), dict.fromkeys(("a.md#0", "b.md#0", "c.md#0"), 0.5)))
        == "cab"
    )


def test_what_must_be_read_goes_first():
    chances = {"a.md#0": 0.9, "b.md#0": 0.8, "c.md#0": 0.4}
    assert names(best_within(6, hits("a", "b", "c"), chances, first={"c.md#0"})) == "ca"


def test_nothing_gives_nothing():
    assert best_within(10, [], {}) == []


def test_odds_are_those_of_relevant():
    def verdict(label, probability):
        return Verdict(Decision.RELEVANCE, label, probability)

    assert odds(verdict(Relevance.RELEVANT, 0.8)) == 0.8
    assert odds(verdict(Relevance.IRRELEVANT, 0.75)) == 0.25
    assert odds(verdict(Relevance.RELEVANT, None)) == 1.0
    assert odds(verdict(Relevance.IRRELEVANT, None)) == 0.0
