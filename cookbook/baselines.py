"""What every loop is measured against: closed book, vanilla RAG, and a reader without any LLM.

Taught in notebooks/03_always_retrieve.ipynb.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cookbook import prompts
from cookbook.errors import GRADER_FAILURES
from cookbook.providers.meter import Budget, open_meters
from cookbook.reflect.calibrate import Sigmoid
from cookbook.reflect.claims import sentences
from cookbook.reflect.generate import LLMWriter
from cookbook.reflect.refuse import refusal
from cookbook.reflect.relevance import MINILM_RELEVANCE, EmbeddingRelevance, kept
from cookbook.schema import (
    Answer,
    Hit,
    Provenance,
    Reason,
    Status,
    Trace,
)
from cookbook.systems.base import Parts, run_request
from cookbook.tracing import step


class ClosedBook:
    """No retrieval. Whatever it says comes from the model's memory and is labelled so."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    @classmethod
    def most_calls(cls, k: int = 5) -> int:
        return 1

    def answer(self, question: str) -> Answer:
        def body(trace: Trace) -> Answer:
            try:
                with step("answer_directly"):
                    text = self.parts.client.chat(prompts.DIRECT.messages(question=prompts.as_data(question)))
            except GRADER_FAILURES:
                return refusal(question, Reason.GRADER_FAILED, trace, hand_off=self.parts.card.hand_off)
            trace.stop_reason = "answered_directly"
            return Answer(question, text.strip(), Status.ANSWERED, Provenance.MODEL_MEMORY, trace)

        return run_request(self.parts, "closed_book", question, Budget(self.most_calls()), body)


class Vanilla:
    """Embed, take the k nearest passages, write one answer. Nothing is graded and nothing checked.

    The writer may abstain ("NO ANSWER"): that is the only way this system refuses.
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.writer = LLMWriter(parts.client)

    @classmethod
    def most_calls(cls, k: int = 5) -> int:
        return 1

    def answer(self, question: str) -> Answer:
        def body(trace: Trace) -> Answer:
            with step("retrieve") as entry:
                hits = self.parts.retriever.retrieve(question, self.parts.k)
                entry.note = f"{len(hits)} passages for: {question}"
            if not hits:
                return refusal(question, Reason.NO_RELEVANT_PASSAGE, trace, hand_off=self.parts.card.hand_off)
            try:
                with step("generate") as entry:
                    draft = self.writer.write(question, hits)
                    entry.note = draft.text or "abstained: no answer in the passages"
            except GRADER_FAILURES:
                reason: Reason | None = Reason.GRADER_FAILED
            else:
                reason = Reason.NO_RELEVANT_PASSAGE if draft.abstained else None
            if reason:
                return refusal(question, reason, trace, hand_off=self.parts.card.hand_off, contexts=hits)
            trace.stop_reason = "answered_unchecked"
            return Answer(
                question,
                draft.text,
                Status.ANSWERED,
                Provenance.PASSAGES,
                trace,
                citations=draft.citations,
                attributed=draft.attributed,
                contexts=tuple(hits),
            )

        return run_request(self.parts, "vanilla", question, Budget(self.most_calls()), body)


class Extractive:
    """No LLM at all: the calibrated passage score is gate and relevance, sentences are quoted.

    Support holds by construction, because the answer is made of sentences of the passages.
    Usefulness is the similarity of the best sentence to the question; ``useful_at`` stands inside the range that is
    best on the fit rows of larkspur, 0.2 to 0.5. Three sentences at most, as many as the writers may use.
    """

    def __init__(
        self,
        parts: Parts,
        *,
        calibration: Sigmoid = MINILM_RELEVANCE,
        keep_at: float = 0.5,
        useful_at: float = 0.4,
        sentences: int = 3,
    ) -> None:
        self.parts = parts
        # Dense search was asked the question itself, so its cosines are the ones to calibrate.
        self.relevance = EmbeddingRelevance(None, calibration, keep_at)
        self.useful_at, self.sentences = useful_at, sentences

    @classmethod
    def most_calls(cls, k: int = 5) -> int:
        return 0

    def answer(self, question: str) -> Answer:
        def body(trace: Trace) -> Answer:
            def refuse(reason: Reason) -> Answer:
                return refusal(question, reason, trace, hand_off=self.parts.card.hand_off, contexts=hits)

            with step("retrieve") as entry:
                hits = self.parts.retriever.retrieve(question, self.parts.k)
                entry.note = f"{len(hits)} passages for: {question}"
            with step("grade") as entry:
                keeps = kept(hits, self.relevance.grade(question, hits))
                entry.note = f"kept {len(keeps)} of {len(hits)}"
            if not keeps:
                return refuse(Reason.NO_RELEVANT_PASSAGE)
            with step("quote") as entry:
                quotes, similarity = self._quote(question, keeps)
                entry.note = f"best sentence at cosine {similarity:.2f}"
            if similarity < self.useful_at:
                return refuse(Reason.NOT_USEFUL)
            trace.stop_reason = "quoted"
            return Answer(
                question,
                " ".join(text for _, text in quotes),
                Status.ANSWERED,
                Provenance.PASSAGES,
                trace,
                citations=tuple(dict.fromkeys(hit.chunk_id for hit, _ in quotes)),
                contexts=tuple(hits),  # what it did not quote is named as uncited
            )

        return run_request(self.parts, "extractive", question, Budget(self.most_calls()), body)

    def _quote(self, question: str, hits: Sequence[Hit]) -> tuple[list[tuple[Hit, str]], float]:
        """The sentences nearest to the question, best first, and the cosine of the best."""
        pairs = [(hit, text) for hit in hits for text in sentences_of(hit.text)]
        vectors = self.parts.retriever.embedder.embed([question, *(text for _, text in pairs)])
        for meter in open_meters():
            meter.add_embedding()
        similarity = vectors[1:] @ vectors[0]
        best = np.argsort(-similarity, kind="stable")[: self.sentences]
        return [pairs[i] for i in best], float(similarity[best[0]])


def sentences_of(text: str) -> list[str]:
    """The sentences of a passage, its heading lines left out."""
    return sentences("\n".join(line for line in text.splitlines() if not line.startswith("#")))


@dataclass(frozen=True)
class PipelineResult:
    """The published result of the vanilla pipeline; ``details`` is the full Answer with its trace."""

    answer: str
    contexts: list[str]
    details: Answer


def vanilla_pipeline(question: str, corpus: str = "larkspur", top_k: int = 5) -> PipelineResult:
    """Vanilla RAG over a named corpus with the model that PROVIDER names. A refusal has its sentence as answer."""
    from cookbook.assemble import parts_for

    details = Vanilla(parts_for(corpus, k=top_k)).answer(question)
    return PipelineResult(details.text, [hit.text for hit in details.contexts], details)
