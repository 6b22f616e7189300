"""From log-probabilities to numbers: retrieve or not, and how good a continuation is.

All four reflection questions are read the same way. At the position where a group of tokens belongs, the
probabilities of the group are made to sum to 1, and the score is the mean of the tokens' values under them.
Source: arXiv 2310.11511, section 3.3 and appendix A.3; code at AkariAsai/self-rag, 1fcdc42.
Taught in notebooks/15_reflection_tokens.ipynb.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cookbook.reflect.tokens.model import Continuation, Token
from cookbook.reflect.tokens.vocabulary import RELEVANCE, RETRIEVE, SUPPORT, USEFULNESS

DELTA = 0.2
"""The paper's threshold for most tasks; it uses 0 for ASQA, which is "always, if there is any chance"."""


def expected(token: Token | None, group: Mapping[str, float]) -> float | None:
    """The mean value of a group of tokens, weighted by their probabilities at this position.

    None where there is no position, or where no token of the group has any probability: no judgement was
    made. A token that the model did not list has probability 0.
    """
    found = {text: token.logprob_of(text) for text in group} if token else {}
    logs = {text: log for text, log in found.items() if log is not None and log > -math.inf}
    if not logs:
        return None
    largest = max(logs.values())  # subtracted, so that very small probabilities do not vanish together
    weights = {text: math.exp(log - largest) for text, log in logs.items()}
    return sum(group[text] * weight for text, weight in weights.items()) / sum(weights.values())


# ---------------------------------------------------------------- retrieve?

Rule = Callable[[Token | None], bool]
"""Decides from the token at a position whether to retrieve there."""


def retrieval_probability(token: Token | None) -> float | None:
    """p(Retrieval) / (p(Retrieval) + p(No Retrieval)); None if the model gave weight to neither."""
    return expected(token, RETRIEVE)


def retrieves(token: Token | None, delta: float = DELTA) -> bool:
    """The paper's rule: retrieve when that probability is above ``delta``.

    1 never retrieves and a value below 0 always does. Without a judgement it retrieves: looking is safe.
    """
    probability = retrieval_probability(token)
    return probability is None or probability > delta


# ---------------------------------------------------------------- how good is it?


@dataclass(frozen=True)
class Weights:
    """What each part counts. The paper's values; ``sequence`` is optional there, 1 when it is used."""

    relevance: float = 1.0
    support: float = 1.0
    usefulness: float = 0.5
    sequence: float = 0.0


PAPER = Weights()


@dataclass(frozen=True)
class Score:
    """The parts of a continuation's score.

    ``relevance`` and ``support`` lie in [0, 1], ``usefulness`` in [-1, 1], ``sequence`` in [0, 1]. A part whose
    tokens are not there is 0. ``total`` lies in [-0.5, 2.5] with the paper's weights.
    """

    relevance: float
    support: float
    usefulness: float
    sequence: float
    weights: Weights = PAPER

    @property
    def total(self) -> float:
        """Linear in normalised probabilities, not in their logarithms."""
        return (
            self.weights.relevance * self.relevance
            + self.weights.support * self.support
            + self.weights.usefulness * self.usefulness
            + self.weights.sequence * self.sequence
        )


Scorer = Callable[[Continuation], Score]


def score(continuation: Continuation, weights: Weights = PAPER) -> Score:
    """Relevance at the first position; support and usefulness where their first token was emitted."""
    return Score(
        relevance=expected(continuation.first, RELEVANCE) or 0.0,
        support=expected(continuation.first_of(SUPPORT), SUPPORT) or 0.0,
        usefulness=expected(continuation.first_of(USEFULNESS), USEFULNESS) or 0.0,
        sequence=sequence_score(continuation),
        weights=weights,
    )


def sequence_score(continuation: Continuation) -> float:
    """exp(sum of log-probabilities / number of tokens), the geometric mean; 0 for an empty continuation.

    The release gives an empty one exp(0) = 1, the best there is.
    """
    logs = [token.logprob for token in continuation.tokens]
    return math.exp(sum(logs) / len(logs)) if logs else 0.0


# ---------------------------------------------------------------- where does a segment end?


def never(token: Token | None) -> bool:
    """The rule of a single segment: a ``[No Retrieval]`` stands."""
    return False


def segment(continuation: Continuation, rule: Rule = never) -> tuple[Continuation, bool]:
    """The continuation up to where it asks for retrieval, without that token; and whether it asks.

    It asks with an emitted ``[Retrieval]``, or with a ``[No Retrieval]`` that the rule overrules.
    """
    for n, token in enumerate(continuation.tokens):
        if token.text in RETRIEVE and (RETRIEVE[token.text] or rule(token)):
            return Continuation(continuation.tokens[:n]), True
    return continuation, False
