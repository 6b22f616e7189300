"""The cut-offs in the package are the ones that the recorded scores of the "fit" rows give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cookbook.baselines import Extractive
from cookbook.embedders import HashEmbedder, get_embedder
from cookbook.errors import ConfigError
from cookbook.eval.metrics import HEADLINE
from cookbook.eval.run import attempt, open_setup
from cookbook.eval.sets import load_eval_set
from cookbook.providers import LLMClient
from cookbook.reflect.calibrate import fit_sigmoid
from cookbook.reflect.relevance import KEEP_AT, MINILM_RELEVANCE, SCRIPTED_RELEVANCE, LLMRelevance, calibrated
from cookbook.retrieval import open_retriever
from cookbook.schema import Relevance, ScoreKind
from cookbook.systems.adaptive_loop import KEEP_AT as ADAPTIVE_KEEP_AT


def labelled_by(embedder: str):
    """The five nearest passages of each "fit" question, with whether they hold a gold quote."""
    retriever = open_retriever("larkspur", embedder=embedder)
    rows = [row for row in load_eval_set("larkspur") if row.split == "fit" and row.behaviour != "direct"]
    return [
        (row, hit, any(quote.stands_in(hit.chunk) for quote in row.gold))
        for row in rows
        for hit in retriever.retrieve(row.question, 5)
    ]


@pytest.fixture(scope="module")
def labelled():
    return labelled_by("replay")


def test_another_embedder_has_another_middle():
    pairs = labelled_by("scripted")
    found = fit_sigmoid([hit.score for _, hit, _ in pairs], [gold for *_, gold in pairs], ScoreKind.COSINE)
    assert found.tau == pytest.approx(SCRIPTED_RELEVANCE.tau, abs=0.001)
    assert found.temperature == pytest.approx(SCRIPTED_RELEVANCE.temperature, abs=0.001)
    assert calibrated(HashEmbedder()).calibration is SCRIPTED_RELEVANCE


def test_an_embedder_without_a_calibration_says_what_to_fit():
    class Other(HashEmbedder):
        fingerprint = replace(HashEmbedder.fingerprint, name="other")

    with pytest.raises(ConfigError, match="no calibration is known for the embedder other; fit one with"):
        calibrated(Other())


def test_the_extractive_reader_is_useful_where_the_fit_rows_are_best():
    setup = open_setup("larkspur", split="fit")

    def right(useful_at: float) -> float:
        reader = Extractive(setup.parts, useful_at=useful_at)
        return HEADLINE.estimate([(row, attempt(reader, row.question)) for row in setup.rows]).value

    default = right(0.4)
    assert right(0.2) == right(0.5) == default
    assert right(0.6) < default


def test_the_extractive_reader_uses_what_its_fit_gives(labelled):
    found = fit_sigmoid(
        [hit.score for _, hit, _ in labelled], [gold for *_, gold in labelled], ScoreKind.COSINE
    )
    assert (len(labelled), sum(gold for *_, gold in labelled)) == (175, 28)
    assert found.tau == pytest.approx(MINILM_RELEVANCE.tau, abs=0.001)
    assert found.temperature == pytest.approx(MINILM_RELEVANCE.temperature, abs=0.001)
    assert get_embedder("replay").fingerprint.name == MINILM_RELEVANCE.fitted_on


def test_the_judge_is_cut_off_at_the_careful_end_of_a_plateau(labelled):
    """No cut is more than three points better, and none above it is as good."""
    judge = LLMRelevance(LLMClient("replay"))
    scores, gold = [], []
    for row, hit, is_gold in labelled:
        [verdict] = judge.grade(row.question, [hit])
        scores.append(verdict.probability if verdict.label is Relevance.RELEVANT else 1 - verdict.probability)
        gold.append(is_gold)
    score, right = np.array(scores), np.array(gold)
    assert (len(score), right.sum()) == (175, 28)

    def balanced(cut: float) -> float:
        return ((score >= cut)[right].mean() + (score < cut)[~right].mean()) / 2

    assert balanced(KEEP_AT) >= max(balanced(cut) for cut in np.arange(0.3, 0.8, 0.01)) - 0.03
    assert balanced(KEEP_AT) > max(balanced(cut) for cut in np.arange(0.57, 0.8, 0.01))
    plateau = [balanced(cut) for cut in np.arange(0.34, 0.57, 0.01)]
    assert (round(min(plateau), 2), round(max(plateau), 2)) == (0.71, 0.77)
    assert (score >= 0.34)[right].all()
    assert ((score >= KEEP_AT)[right].sum(), (score >= KEEP_AT)[~right].sum()) == (17, 19)


def test_the_adaptive_loop_cuts_where_fewer_gold_passages_are_lost():
    """On what its own search brings: hybrid, five passages for each "fit" question."""
    retriever = open_retriever("larkspur", embedder="replay", mode="hybrid")

    def gold_kept(keep_at: float) -> tuple[int, int]:
        grader, kept, total = calibrated(retriever.embedder, keep_at), 0, 0
        for row in load_eval_set("larkspur"):
            if row.split == "fit" and row.gold:
                hits = retriever.retrieve(row.question, 5)
                verdicts = grader.grade(row.question, hits)
                gold = [any(quote.stands_in(hit.chunk) for quote in row.gold) for hit in hits]
                total += sum(gold)
                kept += sum(g and v.label is Relevance.RELEVANT for g, v in zip(gold, verdicts, strict=True))
        return kept, total

    assert gold_kept(ADAPTIVE_KEEP_AT) == (26, 29)
    assert gold_kept(0.5) == (24, 29)
