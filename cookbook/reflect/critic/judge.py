"""The critic as a judge: relevance as a PairScorer, support as an EntailmentJudge, both without an LLM call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cookbook.errors import TooLongToJudge
from cookbook.reflect.calibrate import Sigmoid
from cookbook.reflect.critic.network import (
    MOST_TOKENS,
    OUTCOMES,
    Task,
    build_network,
    build_tokenizer,
    logits,
    torch_module,
)
from cookbook.reflect.entailment import Entailment
from cookbook.reflect.quantised import WEIGHTS, read_card, read_pieces, read_weights
from cookbook.schema import ScoreKind

NAME = "critic"
BATCH = 32
OVERLAP = 64
"""Tokens that a window of a long passage has in common with the one before."""


class Critic:
    """A trained network with its calibration. ``temperatures`` divide the logits of each task.

    ``scores`` and ``calibration`` make it a relevance grader's scorer, ``judge`` an EntailmentJudge. A passage that is
    longer than the network reads is read in windows that together hold all of it, and the best window counts.
    """

    kind = ScoreKind.CROSS_ENCODER
    calls = 0

    def __init__(self, network: Any, tokenizer: Any, temperatures: dict[Task, float]) -> None:
        self.network, self.tokenizer, self.temperatures = network.eval(), tokenizer, temperatures

    @property
    def calibration(self) -> Sigmoid:
        """Turns a score into P(relevant)."""
        return Sigmoid(0.0, self.temperatures["relevance"], self.kind, fitted_on=NAME)

    def scores(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Log-odds that the passage answers the question, for (question, passage) pairs; shape (len(pairs),)."""
        found = self.logits("relevance", pairs)
        return np.array([float((window[:, 1] - window[:, 0]).max()) for window in found], np.float32)

    def judge(self, premise: str, hypothesis: str) -> Entailment:
        """Whether the premise states the hypothesis, denies it or does neither."""
        return self.judge_all([(premise, hypothesis)])[0]

    def judge_all(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """The same for many (premise, hypothesis) pairs in few batches."""
        found = []
        for window in self.logits("support", [(hypothesis, premise) for premise, hypothesis in pairs]):
            scaled = window / self.temperatures["support"]
            shares = np.exp(scaled - scaled.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            entail, neutral, contradict = map(float, shares[0])
            if len(shares) > 1:
                entail, contradict = float(shares[:, 0].max()), float(shares[:, 2].max())
                neutral = max(0.0, 1.0 - entail - contradict)
            found.append(Entailment(entail, neutral, contradict))
        return found

    def logits(self, task: Task, pairs: Sequence[tuple[str, str]]) -> list[NDArray[np.float32]]:
        """For each (text, passage) an array (windows, outcomes) of raw logits, outcomes as in ``OUTCOMES``."""
        torch = torch_module()
        windows = [
            (n, text, part) for n, (text, passage) in enumerate(pairs) for part in self.windows(text, passage)
        ]
        encoded = self.tokenizer.encode_batch([(text, part) for _, text, part in windows])
        found = np.empty((len(windows), len(OUTCOMES[task])), np.float32)
        # Pairs of about one length together: the padding of a mixed batch costs more than the reading.
        ranked = sorted(range(len(windows)), key=lambda n: (len(encoded[n].ids), windows[n][1:]))
        with torch.inference_mode():
            for first in range(0, len(ranked), BATCH):
                batch = ranked[first : first + BATCH]
                found[batch] = logits(self.network, task, [encoded[n] for n in batch]).numpy()
        owner = np.array([n for n, *_ in windows])
        return [found[owner == n] for n in range(len(pairs))]

    def windows(self, text: str, passage: str) -> list[str]:
        """Stretches of the passage that fit beside the text; together they hold all of its tokens. TooLongToJudge for a
        text that leaves them no room."""
        taken = len(self._offsets(text)) + self.tokenizer.num_special_tokens_to_add(is_pair=True)
        size = MOST_TOKENS - taken
        if size <= 2 * OVERLAP:
            raise TooLongToJudge(
                f"a text of {taken} tokens leaves no room for a passage in the {MOST_TOKENS} that the critic reads; "
                "ask or claim it in fewer words"
            )
        tokens = self._offsets(passage)
        if len(tokens) <= size:
            return [passage]
        starts = [*range(0, len(tokens) - size, size - OVERLAP), len(tokens) - size]
        return [passage[tokens[first][0] : tokens[first + size - 1][1]] for first in starts]

    def _offsets(self, text: str) -> list[tuple[int, int]]:
        return list(self.tokenizer.encode(text, add_special_tokens=False).offsets)


# ---------------------------------------------------------------- the one that comes with the cookbook


def critic_card(folder: Path = WEIGHTS) -> dict[str, Any]:
    """How the critic was made and what it reached: command, seed, sizes, data, loss curve, calibration, speed."""
    return read_card(folder, NAME, "make train-critic")


@cache
def load_critic(folder: Path = WEIGHTS) -> Critic:
    """The committed critic, built on the first call and shared by all later ones. Nothing is downloaded.

    ConfigError without torch, WeightsError when a file is missing or damaged.
    """
    torch_module()
    card = critic_card(folder)
    pieces = read_pieces(folder, NAME, "make train-critic")
    network = build_network(card["sizes"])
    read_weights(network, folder / f"{NAME}.safetensors")
    return Critic(network, build_tokenizer(pieces), card["temperatures"])
