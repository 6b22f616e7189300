"""The gold stand-ins agree with the labels of every row, and know no other question."""

from __future__ import annotations

import pytest

from cookbook.chunkers import markdown_sections
from cookbook.corpora import load_corpus
from cookbook.errors import ConfigError
from cookbook.eval.sets import load_eval_set
from cookbook.reflect.gold import GoldRelevance, GoldSupport, GoldUsefulness
from cookbook.schema import Hit, Relevance, ScoreKind, Support, Usefulness
from cookbook.tracing import request, step

ROWS = load_eval_set("larkspur")
HITS = [Hit(chunk, 0.5, ScoreKind.COSINE) for chunk in markdown_sections(load_corpus("larkspur"))]


def test_a_passage_is_relevant_when_it_holds_a_gold_quote():
    grader = GoldRelevance(ROWS)
    for row in ROWS:
        verdicts = grader.grade(row.question, HITS)
        relevant = {v.subject for v in verdicts if v.label is Relevance.RELEVANT}
        assert relevant == {h.chunk_id for h in HITS if any(quote.stands_in(h.chunk) for quote in row.gold)}
        assert bool(relevant) == (row.behaviour == "answer")


def test_the_reference_answer_is_supported_and_useful_and_its_question_is_not():
    support, usefulness = GoldSupport(ROWS), GoldUsefulness(ROWS)
    for row in ROWS:
        right = bool(row.facts)
        assert support.check(row.question, row.answer, HITS[:1]).label is (
            Support.FULLY if right else Support.NONE
        )
        assert usefulness.judge(row.question, row.answer).label is (
            Usefulness.USEFUL if right else Usefulness.NOT_USEFUL
        )
    assert support.check(ROWS[0].question, "I do not know.", HITS[:1]).label is Support.NONE


def test_they_note_their_verdicts_and_make_no_call():
    with request("q", system="test") as trace, step("grade"):
        GoldRelevance(ROWS).grade(ROWS[0].question, HITS[:3])
    assert (len(trace.steps[0].verdicts), trace.calls) == (3, 0)


def test_a_question_without_a_row_has_no_label():
    with pytest.raises(ConfigError, match="no row of the eval set asks"):
        GoldRelevance(ROWS).grade("Who are you?", HITS)
    with pytest.raises(ValueError, match="needs passages"):
        GoldSupport(ROWS).check(ROWS[0].question, "x", [])
