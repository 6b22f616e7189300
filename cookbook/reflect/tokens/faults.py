"""The published faults of Self-RAG code, one small function each: WRONG on purpose, for labs and comparison.

Each looks right, runs without an error and changes which answer is chosen. None is used by the rest of the
package. Found in: AkariAsai/self-rag at 1fcdc42 ("the release", folder retrieval_lm), RUC-NLPIR/FlashRAG,
fate-ubw/RAGLAB and the Self-RAG pack of run-llama/llama_index.
Taught in notebooks/15_reflection_tokens.ipynb.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from cookbook.reflect.tokens.beam import Node, Search, SegmentBeam, ranked
from cookbook.reflect.tokens.model import Continuation, Token
from cookbook.reflect.tokens.score import DELTA, PAPER, Score, Weights, expected, score
from cookbook.reflect.tokens.short import Candidate
from cookbook.reflect.tokens.vocabulary import CONTINUE, NO_RETRIEVAL, RETRIEVAL, SUPPORT, USEFULNESS
from cookbook.schema import Hit

ABSENT = -100.0
"""What the release writes for the log-probability of a token that is not among the top ones."""

# ---------------------------------------------------------------- retrieve?


def log_ratio(token: Token) -> float:
    """The release, short form: log-probabilities are divided where probabilities were meant.

    Logarithms are negative, so the ratio *falls* as p(Retrieval) rises.
    """
    yes, no = (_logprob(token, name) for name in (RETRIEVAL, NO_RETRIEVAL))
    return yes / (yes + no)


def retrieves_by_logs(token: Token | None, delta: float = DELTA) -> bool:
    """The rule on that ratio: least inclined to retrieve where the model is surest that it should."""
    return token is None or log_ratio(token) > delta


def retrieves_to_continue(token: Token | None, delta: float = DELTA) -> bool:
    """The release, long form: "continue with this evidence" counts for retrieval, above the line alone."""
    if token is None:
        return True
    yes, no, go_on = (math.exp(_logprob(token, name)) for name in (RETRIEVAL, NO_RETRIEVAL, CONTINUE))
    return (yes + go_on) / (yes + no) > delta


def retrieval_frequency(retrieved: Sequence[bool]) -> float:
    """The release, short form: the count is divided by the keys of the result dictionary, not by its rows."""
    keys = ("preds", "prompts", "metric_results", "all_results", "golds", "metric", "metric_mean", "scores")
    return sum(retrieved) / len(keys)


# ---------------------------------------------------------------- how good is it?


def relevance_minus_100(continuation: Continuation) -> Score:
    """The release, long form: -100 stands among probabilities, and a missing token turns the sign around."""
    relevant, irrelevant = (
        ABSENT if (log := continuation.tokens[0].logprob_of(name)) is None else math.exp(log)
        for name in ("[Relevant]", "[Irrelevant]")
    )
    return replace(score(continuation), relevance=relevant / (relevant + irrelevant))


def utility_over_support(continuation: Continuation) -> Score:
    """The release, long form: the utility loop runs over the support tokens, so usefulness is always 0."""
    looked_up = tuple(SUPPORT)  # three tokens, and a check further on asks for five
    right = score(continuation)
    return replace(right, usefulness=right.usefulness if len(looked_up) == len(USEFULNESS) else 0.0)


def sequence_flag_lost(continuation: Continuation, weights: Weights = PAPER) -> Score:
    """The release, long form: ``--use_seqscore`` is parsed, passed on once, and never used."""
    return score(continuation, replace(weights, sequence=0.0))


def sequence_over_n(continuation: Continuation, weights: Weights = PAPER) -> Score:
    """RAGLAB: exp(total) / n in place of exp(total / n), next to nothing for every text of some length."""
    total = sum(token.logprob for token in continuation.tokens)
    return replace(score(continuation, weights), sequence=math.exp(total) / len(continuation.tokens))


def usefulness_of_the_last(continuation: Continuation) -> Score:
    """llama_index: the last utility token is read, also one the model wrote after it should have stopped."""
    last = next((token for token in reversed(continuation.tokens) if token.text in USEFULNESS), None)
    return replace(score(continuation), usefulness=expected(last, USEFULNESS) or 0.0)


# ---------------------------------------------------------------- which one?


def best_of_any(candidates: Sequence[Candidate]) -> Candidate:
    """llama_index: the maximum over the passages, which is an error when the search found none."""
    return max(candidates, key=lambda candidate: candidate.score.total)


class LeakingBeam(SegmentBeam):
    """The release: a child goes on from the text of its elder sibling, not from that of its parent.

    One variable holds "the text so far" in the loop over siblings, and each of them overwrites it.
    """

    def expand(self, prompt: str, node: Node | None, hits: Sequence[Hit]) -> list[Node]:
        children = super().expand(prompt, node, hits)
        origin = node.before if node else ""
        return children[:1] + [
            replace(child, before=origin + elder.continuation.text) for elder, child in pairwise(children)
        ]


class MispairedBeam(SegmentBeam):
    """FlashRAG: texts are collected after the loop over passages, scores inside it.

    One text comes out, that of the last passage; it is given the score and the source of the first.
    """

    def expand(self, prompt: str, node: Node | None, hits: Sequence[Hit]) -> list[Node]:
        children = super().expand(prompt, node, hits)
        return [
            replace(first, continuation=children[-1].continuation, asks=children[-1].asks)
            for first in children[:1]
        ]


def deepest_only(search: Search) -> Node | None:
    """The release: the answer is taken from the last level, so a path that ended earlier is forgotten."""
    return next(iter(ranked(search.levels[-1].kept)), None) if search.levels else None


def _logprob(token: Token, name: str) -> float:
    found = token.logprob_of(name)
    return ABSENT if found is None else found
