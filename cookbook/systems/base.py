"""What every system shares: its parts, its caps, and the way a request is opened and closed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from cookbook.corpora import CorpusCard
from cookbook.errors import BudgetExhausted, ConfigError
from cookbook.language import told
from cookbook.providers import LLMClient
from cookbook.providers.meter import Budget
from cookbook.reflect.refuse import refusal
from cookbook.retrieval import Retriever
from cookbook.schema import Answer, Reason, Trace
from cookbook.tracing import request

MAX_QUESTION = 2_000  # characters; an embedder reads a few hundred words and would ignore the rest


class System(Protocol):
    """Anything that answers a question: a loop, a baseline, a dummy."""

    @classmethod
    def most_calls(cls, k: int = 5) -> int:
        """The LLM calls that no request exceeds, with k passages."""

    def answer(self, question: str) -> Answer: ...


@dataclass(frozen=True)
class Parts:
    """What systems are built from, the same for all of them so that only the loop differs.

    ``card`` says in words what the documents are and how a refusal ends. ``model`` is None for a
    reader that uses no LLM. ``k`` is the number of passages per retrieval.
    """

    model: LLMClient | None
    retriever: Retriever
    card: CorpusCard
    k: int = 5

    @property
    def client(self) -> LLMClient:
        """The model's client; ConfigError when there is none."""
        if self.model is None:
            raise ConfigError("this system needs a model: set PROVIDER, for example PROVIDER=replay")
        return self.model


def run_request(
    parts: Parts,
    system: str,
    question: str,
    budget: Budget | None,
    body: Callable[[Trace], Answer],
    *,
    model: str | None = None,
) -> Answer:
    """Open a request, run ``body`` in it, and turn an exhausted budget into a refusal.

    ``model`` is what the trace names, if it is not the model of the parts.
    A question in a language that the embedder does not read gets a notice of that.
    """
    if not question.strip():
        raise ConfigError("the question is empty; write one between quotes")
    if len(question) > MAX_QUESTION:
        raise ConfigError(
            f"the question has {len(question):,} characters; shorten it to {MAX_QUESTION:,} at most"
        )
    model = model or (parts.model.chat_model if parts.model else "no model")
    with request(question, system=system, model=model, budget=budget) as trace:
        try:
            answer = body(trace)
        except BudgetExhausted:
            answer = refusal(question, Reason.BUDGET_EXHAUSTED, trace, hand_off=parts.card.hand_off)
    return told(answer, parts.retriever)
