"""Relevance without an LLM: a score for question and passage, and where to cut it.

A raw score is no verdict: cosines of one embedder and logits of another live on scales of their own. Either
the score becomes a probability by a sigmoid fitted on labelled pairs, or the best share is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cookbook.embedders import Embedder
from cookbook.errors import ConfigError
from cookbook.providers.meter import open_meters
from cookbook.reflect.calibrate import Sigmoid
from cookbook.schema import Decision, Hit, Relevance, ScoreKind, Verdict
from cookbook.tracing import note_verdict

#: Both fitted on the "fit" half of the Larkspur set; tests/test_calibration.py refits them and compares.
MINILM_RELEVANCE = Sigmoid(tau=0.465, temperature=0.069, kind=ScoreKind.COSINE, fitted_on="all-minilm-l6-v2")
SCRIPTED_RELEVANCE = Sigmoid(tau=0.339, temperature=0.101, kind=ScoreKind.COSINE, fitted_on="scripted")


class PairScorer(Protocol):
    """Scores pairs of texts; higher means that they belong together. ``kind`` says on which scale."""

    @property
    def kind(self) -> ScoreKind: ...

    def scores(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Shape (len(pairs),), in the order of the pairs."""
        ...


class EmbeddingCosine:
    """The cosine of two embeddings. Every text is embedded once, all in one request, which is metered."""

    kind = ScoreKind.COSINE

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    def scores(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        row = {text: n for n, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair))}
        if not row:
            return np.empty(0, np.float32)
        for meter in open_meters():
            meter.add_embedding()
        vectors = self.embedder.embed(list(row))
        left, right = (vectors[[row[pair[side]] for pair in pairs]] for side in (0, 1))
        return np.asarray((left * right).sum(axis=1), np.float32)


class EmbeddingRelevance:
    """Keeps a passage when the calibrated probability of its cosine reaches ``keep_at``.

    With an ``embedder`` the cosine of question and passage is computed here, in one embedding request:
    right after any search, fused scores and rewritten queries included. ``None`` takes the cosines that the
    hits carry, which is right only where dense search was asked the question itself, and costs nothing.
    ConfigError when the calibration was fitted on another embedder; one without ``fitted_on`` fits all.
    """

    def __init__(self, embedder: Embedder | None, calibration: Sigmoid, keep_at: float = 0.5) -> None:
        self.scorer = None if embedder is None else EmbeddingCosine(embedder)
        self.calibration, self.keep_at = calibration, keep_at
        fitted_on = calibration.fitted_on
        if embedder is not None and fitted_on and fitted_on != (name := embedder.fingerprint.name):
            raise ConfigError(
                f"this calibration was fitted on {fitted_on} and the embedder is {name}; fit one with fit_sigmoid"
            )

    def grade(self, question: str, hits: Sequence[Hit]) -> list[Verdict[Relevance]]:
        scored = hits if self.scorer is None else rescored(question, hits, self.scorer)
        return [by_probability(hit, self.calibration, self.keep_at) for hit in scored]


def calibrated(embedder: Embedder, keep_at: float = 0.5) -> EmbeddingRelevance:
    """The grader of an embedder whose calibration comes with the cookbook; ConfigError for any other."""
    name = embedder.fingerprint.name
    for calibration in (MINILM_RELEVANCE, SCRIPTED_RELEVANCE):
        if calibration.fitted_on == name:
            return EmbeddingRelevance(embedder, calibration, keep_at)
    raise ConfigError(
        f"no calibration is known for the embedder {name}; fit one with fit_sigmoid and give the system "
        "relevance=EmbeddingRelevance(embedder, calibration)"
    )


class CrossEncoderRelevance:
    """Keeps a passage when the calibrated probability of the cross-encoder's logit reaches ``keep_at``.

    ``model`` is what ``load_cross_encoder`` gives, or any other PairScorer.
    """

    def __init__(self, model: PairScorer, calibration: Sigmoid, keep_at: float = 0.5) -> None:
        self.model, self.calibration, self.keep_at = model, calibration, keep_at

    def grade(self, question: str, hits: Sequence[Hit]) -> list[Verdict[Relevance]]:
        return [
            by_probability(hit, self.calibration, self.keep_at)
            for hit in rescored(question, hits, self.model)
        ]


class PercentileRelevance:
    """Keeps the best ``top`` share of the passages, ceil(top * n) of them: no calibration, and no way to refuse.

    One passage at least is kept, however bad all are. Equal scores are ranked by chunk id.
    """

    def __init__(self, scorer: PairScorer, top: float = 0.15) -> None:
        if not 0 < top <= 1:
            raise ConfigError(f"top is a share of the passages, above 0 and at most 1; got {top}")
        self.scorer, self.top = scorer, top

    def grade(self, question: str, hits: Sequence[Hit]) -> list[Verdict[Relevance]]:
        scored = rescored(question, hits, self.scorer)
        ranked = sorted({(-hit.score, hit.chunk_id) for hit in scored})
        keep = {chunk_id for _, chunk_id in ranked[: ceil(round(self.top * len(ranked), 9))]}
        verdicts = [
            Verdict(
                Decision.RELEVANCE,
                Relevance.RELEVANT if hit.chunk_id in keep else Relevance.IRRELEVANT,
                subject=hit.chunk_id,
            )
            for hit in hits
        ]
        for verdict in verdicts:
            note_verdict(verdict)
        return verdicts


def rescored(question: str, hits: Sequence[Hit], scorer: PairScorer) -> list[Hit]:
    """The hits in their order, with the score of ``scorer`` in place of the one that search gave them.

    The scorer sees them in the order of their ids: batches, and their last bits, are then the same.
    """
    canonical = sorted(hits, key=lambda hit: hit.chunk_id)
    scores = scorer.scores([(question, hit.text) for hit in canonical]) if canonical else ()
    found = {hit.chunk_id: float(score) for hit, score in zip(canonical, scores, strict=True)}
    return [replace(hit, score=found[hit.chunk_id], kind=scorer.kind) for hit in hits]


def by_probability(hit: Hit, calibration: Sigmoid, keep_at: float) -> Verdict[Relevance]:
    """The verdict on a scored hit, noted in the trace; WrongScoreKind for a score of another kind."""
    probability = calibration.probability(hit)
    keep = probability >= keep_at
    verdict = Verdict(
        Decision.RELEVANCE,
        Relevance.RELEVANT if keep else Relevance.IRRELEVANT,
        probability=probability if keep else 1.0 - probability,
        subject=hit.chunk_id,
    )
    note_verdict(verdict)
    return verdict
