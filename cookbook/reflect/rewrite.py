"""Rewrite: another query for the same question, when the first one found nothing that helped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cookbook import prompts
from cookbook.corpora import CorpusCard
from cookbook.providers import LLMClient
from cookbook.reflect.terms import lost_terms

MAX_QUERY_TOKENS = 40


class Rewriter(Protocol):
    """Gives the next retrieval query. It never replaces the question: that stays as asked."""

    def rewrite(self, question: str, tried: Sequence[str], feedback: str = "") -> str: ...


class LLMRewriter:
    """One call. Codes, numbers, negations and constraints the model dropped are put back."""

    def __init__(self, client: LLMClient, card: CorpusCard) -> None:
        self.client, self.card = client, card

    def rewrite(self, question: str, tried: Sequence[str], feedback: str = "") -> str:
        """The new query: one line, never empty.

        ``tried`` are the queries that found nothing useful. Call errors pass through.
        """
        others = [query for query in tried if query != question]
        messages = prompts.REWRITE.messages(
            subject=self.card.subject,
            question=prompts.as_data(question),
            tried="".join(f"\nAlready tried: {prompts.as_data(query)}" for query in others),
            feedback=f"\n<feedback>{prompts.as_data(feedback)}</feedback>" if feedback else "",
        )
        reply = self.client.chat(messages, max_tokens=MAX_QUERY_TOKENS)
        query = next((line.strip(" \t\"'`*-") for line in reply.splitlines() if line.strip()), "")
        return " ".join([query or question, *lost_terms(question, query or question)])
