"""From a raw score to a probability: a sigmoid whose middle and slope are fitted on labelled pairs.

P(relevant) = 1 / (1 + exp(-(score - tau) / temperature)). A cut-off on the probability then survives
a change of embedder, which a fixed cosine does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cookbook.errors import ConfigError, WrongScoreKind
from cookbook.schema import Hit, ScoreKind


@dataclass(frozen=True)
class Sigmoid:
    """A fitted calibration. It belongs to one kind of score and, by ``fitted_on``, to one embedder."""

    tau: float
    temperature: float
    kind: ScoreKind
    fitted_on: str = ""

    def probability(self, hit: Hit) -> float:
        """P(relevant) in (0, 1); raises WrongScoreKind for a score of another kind."""
        if hit.kind is not self.kind:
            raise WrongScoreKind(
                f"this sigmoid was fitted on {self.kind} scores and the hit carries {hit.kind}; refit it"
            )
        return float(1.0 / (1.0 + np.exp(-(hit.score - self.tau) / self.temperature)))


def fit_sigmoid(
    scores: Sequence[float], relevant: Sequence[bool], kind: ScoreKind, *, fitted_on: str = ""
) -> Sigmoid:
    """Fit tau and temperature by maximum likelihood, each class weighted to one half.

    ``scores`` and ``relevant`` have one entry per labelled pair; both classes must occur.
    """
    from scipy.optimize import minimize

    x, y = np.asarray(scores, float), np.asarray(relevant, bool)
    if y.all() or not y.any():
        raise ConfigError("a calibration needs relevant and irrelevant pairs; label some of each")
    weight = np.where(y, 0.5 / y.sum(), 0.5 / (~y).sum())

    def loss(params: np.ndarray) -> float:
        z = (x - params[0]) / np.exp(params[1])
        return float(np.sum(weight * np.logaddexp(0.0, np.where(y, -z, z))))

    start = np.array([(x[y].mean() + x[~y].mean()) / 2, np.log(max(x.std(), 1e-3) / 2)])
    best = minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-10})
    return Sigmoid(float(best.x[0]), float(np.exp(best.x[1])), kind, fitted_on)
