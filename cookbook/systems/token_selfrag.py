"""Native reflection tokens: the paper's own inference, on the small model that was trained here.

The model says whether to retrieve, continues from each passage by itself, and judges what it said in the same breath: the
best continuation by relevance, support and usefulness is the answer, or nothing is. No other model is asked.
Source: arXiv 2310.11511, section 3.3; ``reflect/tokens`` has the scores. Taught in notebooks/16_train_a_tiny_self_rag.ipynb.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from cookbook.providers.meter import Budget, check_budgets, open_meters
from cookbook.reflect.generate import Draft
from cookbook.reflect.refuse import refusal
from cookbook.reflect.tokens.model import Continuation, Token, TokenModel
from cookbook.reflect.tokens.score import DELTA, expected, retrieval_probability, retrieves
from cookbook.reflect.tokens.short import MAX_TOKENS, Candidate, best, candidates
from cookbook.reflect.tokens.tiny import load_tiny
from cookbook.reflect.tokens.vocabulary import (
    NO_RETRIEVAL,
    RELEVANCE,
    SUPPORT,
    USEFULNESS,
    instruction,
    spoken,
)
from cookbook.schema import (
    Answer,
    Decision,
    Hit,
    Provenance,
    Reason,
    Relevance,
    Retrieve,
    Status,
    Support,
    Trace,
    Utility,
    Verdict,
)
from cookbook.systems.base import Parts, run_request
from cookbook.tracing import note_verdict, step


@dataclass(frozen=True)
class Caps:
    """There is no loop: one decision, one try from memory, one continuation for each passage."""

    formula: ClassVar[str] = "2 + k"

    def calls(self, k: int) -> int:
        return 2 + k

    def supersteps(self) -> int:
        """Decide, answer from memory, retrieve, continue, choose."""
        return 5


class Counted(TokenModel):
    """A token model whose completions are charged to the open meters, as any call is. Its time is not: seconds are those
    of recorded calls elsewhere, and this model runs here and now."""

    def __init__(self, model: TokenModel) -> None:
        self.model = model

    def complete(self, prompt: str, *, max_tokens: int) -> Continuation:
        check_budgets()
        found = self.model.complete(prompt, max_tokens=max_tokens)
        for meter in open_meters():
            meter.add_call(
                prompt_tokens=found.prompt_tokens, completion_tokens=len(found.tokens), seconds=0.0, cost=0.0
            )
        return found

    def describe(self) -> str:
        return self.model.describe()


class TokenSelfRAG:
    """``model`` is the committed one unless given: the published 7B weights run through ``HFTokenModel``. ``delta`` is
    the threshold of the first decision. An answer needs ``relevant_at``, ``supported_at`` and ``useful_at`` of the
    chosen continuation's scores: the middle of each scale."""

    name = "token_selfrag"
    default_caps = Caps()

    def __init__(
        self,
        parts: Parts,
        *,
        model: TokenModel | None = None,
        delta: float = DELTA,
        relevant_at: float = 0.5,
        supported_at: float = 0.5,
        useful_at: float = 0.0,
        budget: Budget | None = None,
    ) -> None:
        self.parts, self._given, self.delta = parts, model, delta
        self.relevant_at, self.supported_at, self.useful_at = relevant_at, supported_at, useful_at
        self.budget = budget or Budget(self.most_calls(parts.k))

    @classmethod
    def most_calls(cls, k: int = 5) -> int:
        return cls.default_caps.calls(k)

    @cached_property
    def model(self) -> TokenModel:
        return self._given or load_tiny()

    def answer(self, question: str) -> Answer:
        counted = Counted(self.model)

        def body(trace: Trace) -> Answer:
            if not self._wants_passages(counted, question) and (
                known := self._from_memory(counted, question)
            ):
                trace.stop_reason = "answered_directly"
                return Answer(question, known, Status.ANSWERED, Provenance.MODEL_MEMORY, trace)
            with step("retrieve") as entry:
                hits = self.parts.retriever.retrieve(question, self.parts.k)
                entry.note = f"{len(hits)} passages for: {question}"
            with step("continue") as entry:
                found = candidates(counted, question, hits)
                for candidate in found:
                    note_verdict(_relevance(candidate))
                entry.note = "\n".join(map(in_a_line, found))
            with step("choose") as entry:
                chosen = best(found)
                reason = self._lacks(chosen)
                if chosen:
                    note_verdict(_support(chosen))
                    note_verdict(_utility(chosen))
                    entry.note = f"score {chosen.score.total:.2f} from {chosen.hit.chunk_id}"
            return self._ended(question, chosen, reason, hits, trace)

        return run_request(self.parts, self.name, question, self.budget, body, model=counted.describe())

    def _wants_passages(self, model: TokenModel, question: str) -> bool:
        with step("decide_retrieval") as entry:
            first = model.complete(instruction(question), max_tokens=1).first
            share, wants = retrieval_probability(first), retrieves(first, self.delta)
            if share is not None:
                label, sure = (Retrieve.YES, share) if wants else (Retrieve.NO, 1 - share)
                note_verdict(Verdict(Decision.RETRIEVE, label, sure))
                entry.note = f"[Retrieval] {share:.2f}, retrieves above {self.delta}"
        return wants

    def _from_memory(self, model: TokenModel, question: str) -> str:
        """What it knows by heart, "" if that is of no use: then it looks after all."""
        with step("answer_directly") as entry:
            reply = model.complete(instruction(question) + NO_RETRIEVAL, max_tokens=MAX_TOKENS)
            useful = expected(reply.first_of(USEFULNESS), USEFULNESS) or 0.0
            text = spoken(reply.text)
            entry.note = f"usefulness {useful:.2f}: {text}"
        return text if useful > self.useful_at else ""

    def _lacks(self, chosen: Candidate | None) -> Reason | None:
        if chosen is None or chosen.score.relevance < self.relevant_at:
            return Reason.NO_RELEVANT_PASSAGE
        if chosen.score.support < self.supported_at:
            return Reason.NOT_SUPPORTED
        return Reason.NOT_USEFUL if chosen.score.usefulness < self.useful_at else None

    def _ended(
        self, question: str, chosen: Candidate | None, reason: Reason | None, hits: list[Hit], trace: Trace
    ) -> Answer:
        if chosen is None or reason:
            found = (
                Draft(chosen.text, (chosen.hit.chunk_id,)) if chosen and reason is Reason.NOT_USEFUL else None
            )
            why = reason or Reason.NO_RELEVANT_PASSAGE
            return refusal(
                question, why, trace, hand_off=self.parts.card.hand_off, contexts=hits, found=found
            )
        trace.stop_reason = "answered"
        return Answer(
            question,
            chosen.text,
            Status.ANSWERED,
            Provenance.PASSAGES,
            trace,
            citations=(chosen.hit.chunk_id,),
            contexts=tuple(hits),
        )


# ---------------------------------------------------------------- what a trace says


def in_a_line(candidate: Candidate) -> str:
    """The score of a continuation, its reflection tokens with their probabilities, its source and its words."""
    said = candidate.continuation
    tokens = (said.first, said.first_of(SUPPORT), said.first_of(USEFULNESS))
    shown = " ".join(
        f"{token.text} {share:.2f}"
        for token, group in zip(tokens, (RELEVANCE, SUPPORT, USEFULNESS), strict=True)
        if token and (share := _share(token, group)) is not None
    )
    return f"{candidate.score.total:.2f} = {shown} | {candidate.hit.chunk_id}: {candidate.text}"


def _share(token: Token | None, group: dict[str, float]) -> float | None:
    """The probability of an emitted token within its group."""
    return expected(token, {text: float(text == token.text) for text in group}) if token else None


def _relevance(candidate: Candidate) -> Verdict[Relevance]:
    share = candidate.score.relevance
    label, sure = (Relevance.RELEVANT, share) if share >= 0.5 else (Relevance.IRRELEVANT, 1 - share)
    return Verdict(Decision.RELEVANCE, label, sure, subject=candidate.hit.chunk_id)


def _support(candidate: Candidate) -> Verdict[Support]:
    token = candidate.continuation.first_of(SUPPORT)
    label = (
        dict(zip(SUPPORT, (Support.FULLY, Support.PARTIALLY, Support.NONE), strict=True))[token.text]
        if token
        else None
    )
    return Verdict(
        Decision.SUPPORT,
        label,
        _share(token, SUPPORT),
        failure="" if token else "no token",
        expected=candidate.score.support,
    )


def _utility(candidate: Candidate) -> Verdict[Utility]:
    token = candidate.continuation.first_of(USEFULNESS)
    label = dict(zip(USEFULNESS, Utility, strict=True))[token.text] if token else None
    mean = expected(token, {text: float(n) for n, text in enumerate(USEFULNESS, 1)})
    return Verdict(
        Decision.USEFULNESS,
        label,
        _share(token, USEFULNESS),
        failure="" if token else "no token",
        expected=mean,
    )
