"""What an answer was shown, what it cites, and whether its claims stand in it."""

from __future__ import annotations

import pytest
from eval_stubs import answer, hit, row

from cookbook.errors import ReplyUnparsable
from cookbook.eval.evidence import (
    Grounding,
    citation_precision,
    citation_recall,
    context_recall,
    groundedness,
)
from cookbook.eval.sets import EvalRow, GoldQuote
from cookbook.reflect.support.by_claims import CONTRADICTED, UNSTATED, ClaimCheck
from cookbook.schema import Status

TWO = EvalRow(
    "two", "q?", "5 and 6.", "two_section", "answer",
    (GoldQuote("one.md", "It is 5."), GoldQuote("two.md", "It is 6.")), (), "report",
)  # fmt: skip
FIVE, SIX, OTHER = hit("one", "It is 5."), hit("two", "It is 6."), hit("other", "It is 5.")


@pytest.mark.parametrize(
    ("shown", "cited", "expected"),
    [
        ((FIVE, SIX), ("one.md#0", "two.md#0"), (1.0, 1.0, 1.0)),
        ((FIVE, SIX, OTHER), ("one.md#0", "other.md#0"), (1.0, 0.5, 0.5)),  # the right words in another file
        ((FIVE,), ("one.md#0",), (0.5, 1.0, 0.5)),
        ((FIVE, SIX), (), (1.0, 0.0, 0.0)),  # citing nothing is no way round the measure
        ((), (), (0.0, 0.0, 0.0)),
    ],
)
def test_gold_quotes_in_what_was_shown_and_cited(shown, cited, expected):
    given = answer("q?", contexts=shown, citations=cited)
    assert (
        context_recall(TWO, given),
        citation_precision(TWO, given),
        citation_recall(TWO, given),
    ) == expected


def test_a_refusal_was_shown_passages_and_cites_none():
    refused = answer("q?", status=Status.REFUSED, contexts=(FIVE,))
    assert context_recall(TWO, refused) == 0.5
    assert citation_precision(TWO, refused) is None
    assert citation_recall(TWO, refused) is None


def test_a_row_without_gold_asks_none_of_this():
    given = answer("q?", contexts=(FIVE,), citations=("one.md#0",))
    for measure in (context_recall, citation_precision, citation_recall):
        assert measure(row("r", "refuse"), given) is None


class Checker:
    """Supports the claims that stand in a passage, and denies "never"; "broken" ones it cannot judge."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def claim(self, question, claim, hits):
        assert hits
        self.asked.append(claim)
        if "broken" in claim:
            raise ReplyUnparsable("garbage")
        if "never" in claim:
            return ClaimCheck(claim, CONTRADICTED)
        held = any(claim in hit.text for hit in hits)
        return ClaimCheck(claim, "" if held else UNSTATED)


@pytest.mark.parametrize(("says", "doubted", "denied"), [("", 0, 0), (UNSTATED, 1, 0), (CONTRADICTED, 1, 1)])
def test_a_sentence_that_stands_in_a_passage_is_supported_and_tries_the_checker(says, doubted, denied):
    passage = hit("one", "Bring the form. You can get it back for 14 days, for free.")

    class Says:
        def claim(self, question, claim, hits):
            return ClaimCheck(claim, says)

    found = groundedness(answer("q?", "You can get it back for 14 days.", contexts=(passage,)), Says())
    assert found == Grounding(1, 1, quoted=1, doubted=doubted, denied=denied)
    few = groundedness(answer("q?", "For 14 days.", contexts=(passage,)), Says())
    assert (few.quoted, few.supported) == (0, int(not says))  # three words stand anywhere


def test_each_claim_is_checked_and_one_invention_shows():
    checker = Checker()
    found = groundedness(answer("q?", "It is 5. It is 7.", contexts=(FIVE,)), checker)
    assert checker.asked == ["It is 5.", "It is 7."]
    assert (found, found.share) == (Grounding(claims=2, supported=1), 0.5)


def test_what_the_passages_deny_is_counted_apart_from_what_they_do_not_say():
    found = groundedness(answer("q?", "It is 5. It is 7. It is never 5.", contexts=(FIVE,)), Checker())
    assert (found.claims, found.supported, found.contradicted, found.failed) == (3, 1, 1, 0)


def test_a_claim_without_a_verdict_leaves_no_score():
    found = groundedness(answer("q?", "It is 5. It is broken.", contexts=(FIVE,)), Checker())
    assert (found.claims, found.supported, found.failed, found.share) == (2, 1, 1, None)


def test_an_empty_context_supports_nothing_and_asks_nobody():
    checker = Checker()
    found = groundedness(answer("q?", "It is 5."), checker)
    assert (found.share, checker.asked) == (0.0, [])


@pytest.mark.parametrize("status", [Status.REFUSED, Status.FAILED])
def test_a_refusal_is_neither_grounded_nor_ungrounded(status):
    assert groundedness(answer("q?", "It is 5.", status, contexts=(FIVE,)), Checker()) is None
