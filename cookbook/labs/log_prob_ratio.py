"""A ratio of log-probabilities taken for a probability: retrieval is skipped exactly when it is surely needed.

Taught in notebooks/labs/45_scores.ipynb.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from cookbook.labs.kit import Lab, LabVerdict, failed, guard, passed
from cookbook.providers.meter import Meter
from cookbook.reflect.tokens import TableModel, Token, retrieval_probability, short_form, written
from cookbook.reflect.tokens.faults import log_ratio, retrieves_by_logs
from cookbook.schema import Chunk, Hit, ScoreKind

LAB = Lab(
    module=__name__,
    title="Most sure, least likely to look",
    difficulty=3,
    minutes=25,
    you_will="make a decision from the log-probabilities of two tokens, and say what a missing token means",
    symptom=(
        "The model was trained to say when it needs the handbook, and says so clearly. The program looks things up when the model "
        "asks it not to."
    ),
    task=(
        "Write `retrieves(token, delta)`. `token.logprob_of(\"[Retrieval]\")` gives the natural log-probability of that token at this "
        "position, or `None` when the model did not list it, which means a probability of 0; the same for `\"[No Retrieval]\"`. Retrieve "
        "when p(Retrieval) / (p(Retrieval) + p(No Retrieval)) is above `delta`. When the model listed neither, it made no decision: "
        "retrieve, because looking is safe."
    ),
    hints=(
        "Take p = 0.9 and work out both logarithms on paper: ln 0.9 = -0.105 and ln 0.1 = -2.303. Divide as the code does. Which of the "
        "two tokens does the larger share of the sum belong to?",
        "`math.exp` turns a log-probability into a probability: apply it to each of the two *before* you divide. A missing one "
        "is 0.0 and not -100, and if both are 0 there is nothing to divide.",
    ),
    in_the_wild=(
        "AkariAsai/self-rag, `retrieval_lm/run_short_form.py`, mode `adaptive_retrieval`: the two entries of the dictionary are log-probabilities, and "
        "are divided as they are. The paper (arXiv 2310.11511, section 3.3) defines the rule on probabilities. Twenty lines further down the same "
        "file takes `np.exp` of the relevance tokens first."
    ),
    transfer=(
        "In the same release a token that is not among the listed ones gets the value -100, among log-probabilities. In its long form the "
        "relevance tokens are exponentiated, but the -100 of a missing one is not. What is the relevance of a passage for which "
        "[Irrelevant] has 0.9 and [Relevant] is missing?"
    ),
    answer=(
        "-100 / (-100 + 0.9) = 1.009: more than certain that the passage is relevant, when the model said that it is not. -100 is a small "
        "number only among logarithms; exp(-100) would have been 0 for all purposes. A missing value belongs on the scale "
        "on which it is used."
    ),
    pitfall=(
        "They turn the comparison around (`< 1 - delta`), which makes the rule rise with p, and it now turns at 0.2755 instead of 0.2. Or "
        "they take exp of the finished ratio. Have them compute p = 0.5: every right rule gives exactly 0.5 there, and so does the wrong one."
    ),
)  # fmt: skip

Rule = Callable[[Token, float], bool]

YES, NO, GO_ON = "[Retrieval]", "[No Retrieval]", "[Continue to Use Evidence]"
DELTA = 0.2

#: What the model gives [Retrieval] for six messages; the first three are about the handbook.
MESSAGES = {
    "Can I export my data after I cancel my plan?": 0.95,
    "How long is a sync token valid?": 0.90,
    "Does my token survive a new password?": 0.80,
    "What is 9 plus 10?": 0.05,
    "Good evening!": 0.02,
    "Translate 'bread' into French.": 0.10,
}


def decision(p: float) -> Token:
    """The token at which the model decides, with ``p`` on [Retrieval] and the rest on [No Retrieval]."""
    return _token({YES: p, NO: 1 - p})


def retrieves(token: Token, delta: float = DELTA) -> bool:
    """True when p(Retrieval) / (p(Retrieval) + p(No Retrieval)) > delta, and when neither was listed.

    A token that the model did not list has probability 0.
    """
    ### BEGIN SOLUTION
    logs = [token.logprob_of("[Retrieval]"), token.logprob_of("[No Retrieval]")]
    yes, no = (0.0 if log is None else math.exp(log) for log in logs)
    return yes + no == 0.0 or yes / (yes + no) > delta
    ### END SOLUTION


def broken() -> Rule:
    return retrieves_by_logs


def solution() -> Rule:
    return retrieves


def answer_messages(rule: Rule) -> tuple[list[dict[str, Any]], Meter]:
    """Six messages to a model with reflection tokens, on one passage: a row for each, and what all the calls used."""
    passage = Hit(
        Chunk("handbook.md#0", "handbook.md", "All that the handbook says.", 0, 27), 1.0, ScoreKind.BM25
    )
    rows, meter = [], Meter()
    for message, p in MESSAGES.items():
        model = TableModel(
            {
                ("", ""): written({YES: p, NO: 1 - p}),
                ("", "handbook.md"): written("[Relevant]", "As the handbook says.", "[Fully supported]"),
                (NO, ""): written("As far as I remember."),
            }
        )
        found = short_form(model, message, [passage], rule=lambda token: token is None or rule(token, DELTA))
        for prompt in model.prompts:
            meter.add_call(prompt_tokens=len(prompt.split()), completion_tokens=1, seconds=0.0, cost=0.0)
        rows.append(
            {
                "message": message,
                "p(Retrieval)": retrieval_probability(decision(p)),
                "ratio of the logs": log_ratio(decision(p)),
                "looked up": "yes" if found.retrieved else "no",
            }
        )
    return rows, meter


# ---------------------------------------------------------------- the check


@guard(returns="True or False")
def check(candidate: Rule) -> LabVerdict:
    """Moves p from 0 to 1 with two thresholds, then takes probability away, then tokens."""
    turns = []
    for delta in (DELTA, 0.5):
        asked = {p: candidate(decision(p), delta) for p in _GRID}
        if strange := [p for p in asked if not isinstance(asked[p], bool)]:
            return failed(
                "no_bool", f"for p = {strange[0]} you returned {asked[strange[0]]!r}; return True or False"
            )
        if len(set(asked.values())) == 1:
            always = asked[_GRID[0]]
            return failed(
                "always_retrieves" if always else "never_retrieves",
                f"delta {delta}: you {'retrieve' if always else 'do not retrieve'} for every p from {_GRID[0]} to {_GRID[-1]}. A ratio "
                "that is to be compared with delta must itself move from 0 to 1",
            )
        turn = _turn(candidate, delta, asked)
        if asked[_GRID[0]]:
            return failed(
                "skips_when_surest",
                f"delta {delta}: you retrieve for p(Retrieval) = {_GRID[0]} and not for {_GRID[-1]}; your rule changes its mind at "
                f"{turn:.4f}, downwards. At 0.9 the logarithms are -0.105 and -2.303: the surer the token, the *smaller* its share of "
                "their sum",
            )
        turns.append(turn)
    for delta, turn in zip((DELTA, 0.5), turns, strict=True):
        if abs(turn - delta) > 1e-3:
            return failed(
                "delta_ignored" if abs(turns[0] - turns[1]) < 1e-3 else "turns_elsewhere",
                f"delta {delta}: you begin to retrieve at p(Retrieval) = {turn:.4f}, and with the other delta at "
                f"{turns[1 - turns.index(turn)]:.4f}. It should be delta itself: a probability is compared with it, and nothing else",
            )
    return _without(candidate)


_GRID = (0.01, 0.05, 0.1, 0.15, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.99)


def _turn(candidate: Rule, delta: float, asked: Mapping[float, bool]) -> float:
    """Where between two of the p asked the answer first changes, to four places."""
    low, high = next(pair for pair in pairwise(_GRID) if asked[pair[0]] != asked[pair[1]])
    below = asked[low]
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (middle, high) if candidate(decision(middle), delta) == below else (low, middle)
    return (low + high) / 2


def _without(candidate: Rule) -> LabVerdict:
    """The rest of the check: part of the probability lies elsewhere, or tokens are missing."""
    for listed, wanted, why in _LISTED:
        try:
            found = candidate(_token(listed), DELTA)
        except (TypeError, ZeroDivisionError, ValueError, KeyError) as error:
            return failed(
                "missing_token", f"with {_named(listed)} you raise {type(error).__name__} ({error}). {why}"
            )
        if found is not wanted:
            saw = f"with {_named(listed)} and delta {DELTA} you {'retrieve' if found else 'do not retrieve'}"
            return failed(
                "not_normalised" if {YES, NO} <= listed.keys() else "missing_token", f"{saw}. {why}"
            )
    return passed(
        "your rule begins to retrieve at p = 0.2 with delta 0.2 and at 0.5 with delta 0.5, whatever lies on other tokens; the "
        "published one stops at 0.7245"
    )


_LISTED: tuple[tuple[dict[str, float], bool, str], ...] = (
    ({GO_ON: 0.6, NO: 0.25, YES: 0.15}, True,
     "Only the two tokens count, and of these two [Retrieval] has 0.15 / 0.40 = 0.375."),
    ({GO_ON: 0.5, NO: 0.45, YES: 0.05}, False,
     "Only the two tokens count, and of these two [Retrieval] has 0.05 / 0.50 = 0.1."),
    ({NO: 0.9, "x": 0.1}, False, "[Retrieval] is not listed, so its probability is 0, and 0 / 0.9 = 0."),
    ({YES: 0.9, "x": 0.1}, True, "[No Retrieval] is not listed, so its probability is 0, and 0.9 / 0.9 = 1."),
    ({"The": 1.0}, True, "Neither is listed: the model made no decision, and then it is safe to look."),
)  # fmt: skip


def _token(listed: Mapping[str, float]) -> Token:
    [token] = written(listed).tokens
    return token


def _named(listed: Mapping[str, float]) -> str:
    return " ".join(f"{text}={p}" for text, p in listed.items())
