"""Entailment: does a premise state a claim, contradict it, or say nothing about it?

Two judges behind one protocol: an NLI cross-encoder, and the local LLM where its weights cannot be had.
Taught in notebooks/22_nli_loop.ipynb.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from cookbook import prompts
from cookbook.errors import TooLongToJudge, WeightsError
from cookbook.providers import LLMClient
from cookbook.reflect.encoders import NLI_MODEL, PairEncoder, load_cross_encoder

EntailmentLabel = Literal["entail", "neutral", "contradict"]
LABELS: tuple[EntailmentLabel, ...] = ("entail", "neutral", "contradict")


@dataclass(frozen=True)
class Entailment:
    """Three probabilities. They sum to 1 for a premise that was read at once; over several windows ``entail``
    and ``contradict`` are each the highest of any, and ``neutral`` is what the two leave, if anything."""

    entail: float
    neutral: float
    contradict: float

    @property
    def label(self) -> EntailmentLabel:
        """The likeliest of the three; among equals the more cautious."""
        cautious: tuple[EntailmentLabel, ...] = ("contradict", "neutral", "entail")
        return max(cautious, key=lambda name: float(getattr(self, name)))


class EntailmentJudge(Protocol):
    """Judges one pair. ``calls`` is the number of LLM calls that a pair costs: 0 for an encoder.

    A judge that cannot tell raises one of GRADER_FAILURES: that is no "neutral".
    """

    @property
    def calls(self) -> int: ...

    def judge(self, premise: str, hypothesis: str) -> Entailment: ...


# ---------------------------------------------------------------- the encoder

_PROBE: tuple[tuple[str, str, EntailmentLabel], ...] = (
    ("A man is eating bread in the kitchen.", "A man is eating.", "entail"),
    ("A man is eating bread in the kitchen.", "Nobody is eating.", "contradict"),
)
OVERLAP = 0.25
"""The share of a window that it has in common with the one before, so that no sentence is only seen cut."""


class NLICrossEncoder:
    """An NLI model from a hub name or a folder. A premise longer than the model reads is read in windows.

    The order of the labels is read from the model's config and proved on two pairs whose labels are
    beyond doubt: WeightsError when the config lacks a label or the model says otherwise.
    """

    calls = 0

    def __init__(self, path: str | Path = NLI_MODEL) -> None:
        self._encoder = load_cross_encoder(path)
        self._columns = _columns_of(self._encoder)
        for premise, hypothesis, expected in _PROBE:
            if (said := self.judge(premise, hypothesis).label) != expected:
                raise WeightsError(
                    f"{path} calls {hypothesis!r} {said} where it is {expected}; its config.json names the labels in "
                    "the wrong order, or it is no NLI model"
                )

    def judge(self, premise: str, hypothesis: str) -> Entailment:
        logits = self._encoder.logits([(window, hypothesis) for window in self._windows(premise, hypothesis)])
        logits = logits[:, self._columns] - logits.max(axis=1, keepdims=True)
        shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        if len(shares) == 1:
            entail, neutral, contradict = map(float, shares[0])
        else:
            entail, contradict = float(shares[:, 0].max()), float(shares[:, 2].max())
            neutral = max(0.0, 1.0 - entail - contradict)
        return Entailment(entail, neutral, contradict)

    def _windows(self, premise: str, hypothesis: str) -> list[str]:
        """Stretches of the premise that fit beside the hypothesis; together they hold all of its tokens."""
        size = self._encoder.room(hypothesis)
        if size < 8:
            raise TooLongToJudge(
                f"the claim leaves room for {size} tokens of a passage; check it in shorter claims"
            )
        tokens = self._encoder.offsets(premise)
        if len(tokens) <= size:
            return [premise]
        step = size - int(size * OVERLAP)
        starts = [*range(0, len(tokens) - size, step), len(tokens) - size]
        return [premise[tokens[first][0] : tokens[first + size - 1][1]] for first in starts]


def _columns_of(encoder: PairEncoder) -> list[int]:
    """The columns of entail, neutral and contradict, whatever their order and spelling in the config."""
    named = [label.casefold() for label in encoder.labels]
    columns = [[n for n, label in enumerate(named) if label.startswith(wanted)] for wanted in LABELS]
    if len(named) != 3 or any(len(found) != 1 for found in columns):
        raise WeightsError(
            f"{encoder.name} names its outputs {', '.join(encoder.labels)}; an NLI model needs entailment, neutral "
            "and contradiction in id2label of config.json"
        )
    return [found[0] for found in columns]


# ---------------------------------------------------------------- the LLM

NEUTRAL_WEIGHT = 0.2
"""How much a "no" counts beside a "false". The 1.5B judge cannot tell silence from denial (on 31 pairs its "false" is
as likely for the one as for the other), so this only moves where it accepts a claim. On the 24 claims of
notebooks/12: at 0.2 it accepts 6 of 6 faithful ones and 5 of 18 others, at 2.5 it accepts 5 and 1."""


class LLMEntailment:
    """One call and one output token: the model's probabilities that the passage says so, does not say, says otherwise."""

    calls = 1

    def __init__(self, client: LLMClient, *, neutral_weight: float = NEUTRAL_WEIGHT) -> None:
        self.client, self.neutral_weight = client, neutral_weight

    def judge(self, premise: str, hypothesis: str) -> Entailment:
        messages = prompts.ENTAILMENT.messages(
            passage=prompts.as_data(premise), statement=prompts.as_data(hypothesis)
        )
        said = self.client.decide(messages, prompts.ENTAILMENT_LABELS).probabilities
        weighted = {name: said[name] * (self.neutral_weight if name == "neutral" else 1.0) for name in LABELS}
        total = sum(weighted.values())
        return Entailment(**{name: value / total for name, value in weighted.items()})
