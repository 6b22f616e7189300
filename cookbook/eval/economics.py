"""What a loop costs and from where on it pays: prices times what our own meters counted, and the points between.

A call has a price, and so has a mistake. There are two of those: a wrong answer, and a question that had an
answer and got none. Everything here is per question, in whatever currency the prices are in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

import numpy as np

from cookbook.errors import ConfigError
from cookbook.eval.behaviour import Pair, behaved_right
from cookbook.eval.statistics import DRAWS, SEED, Estimate
from cookbook.schema import Status


@dataclass(frozen=True)
class Prices:
    """The price of a million tokens read and of a million written."""

    prompt: float
    completion: float

    @classmethod
    def of(cls, model: str) -> Prices:
        """The list price of a hosted model in US dollars, from the list that comes with litellm; ConfigError if it has none."""
        from cookbook.providers.gateway import litellm

        listed = litellm().model_cost.get(model, {})
        if "input_cost_per_token" not in listed:
            raise ConfigError(f"litellm lists no price of {model!r}; give the two prices to Prices yourself")
        return cls(1e6 * listed["input_cost_per_token"], 1e6 * listed["output_cost_per_token"])


@dataclass(frozen=True)
class Costs:
    """One system, row by row: what was paid, whether the answer was wrong, whether an answer was withheld."""

    paid: tuple[float, ...]
    wrong: tuple[bool, ...]
    withheld: tuple[bool, ...]

    def a_question(self, wrong: float = 0.0, withheld: float = 0.0) -> float:
        """The mean cost of a question when a wrong answer and a withheld one cost this much."""
        each = np.array(self.paid) + wrong * np.array(self.wrong) + withheld * np.array(self.withheld)
        return float(each.mean())


def costs(pairs: Iterable[Pair], prices: Prices) -> Costs:
    """The costs of a system on the rows that it has an answer for; a failure withholds one."""
    paid, wrong, withheld = [], [], []
    for row, answer in pairs:
        if answer is None:
            continue
        steps = answer.trace.steps
        read, written = (
            sum(getattr(step, f"{kind}_tokens") for step in steps) for kind in ("prompt", "completion")
        )
        paid.append((prices.prompt * read + prices.completion * written) / 1e6)
        answered = answer.status is Status.ANSWERED
        wrong.append(answered and behaved_right(row, answer) is False)
        withheld.append(not answered and row.behaviour != "refuse")
    return Costs(tuple(paid), tuple(wrong), tuple(withheld))


def skip_from(check: float, full: float, skipped: float = 0.0) -> float:
    """The share of questions that a check must send away to pay for itself, when it is asked of every question and
    one costs ``full`` if it goes on and ``skipped`` if it does not. Infinite where nothing is saved."""
    return check / (full - skipped) if full > skipped else inf


def worth_it(loop: Costs, plain: Costs, withheld: float = 0.0) -> Estimate:
    """The price of a wrong answer from which on the loop is the cheaper one, with a 95 % interval.

    Both on the same rows, in one order. ``withheld`` is the price of a withheld answer. Infinite where the loop
    prevents no wrong answer; 0 where it is cheaper at any price.
    """
    gaps = np.array([loop.paid, loop.wrong, loop.withheld], float) - np.array(
        [plain.paid, plain.wrong, plain.withheld], float
    )
    n = gaps.shape[1]
    draws = np.random.default_rng(SEED).multinomial(n, np.full(n, 1 / n), DRAWS) @ gaps.T / n
    found = sorted(_from(mean, withheld) for mean in draws)
    low, high = found[int(0.025 * DRAWS)], found[int(0.975 * DRAWS)]
    return Estimate(_from(gaps.mean(axis=1), withheld), low, high, n)


def _from(gaps: np.ndarray, price: float) -> float:
    paid, wrong, withheld = gaps
    more = paid + price * withheld
    if wrong < 0:
        return float(max(0.0, more / -wrong))
    return inf if more > 0 or wrong > 0 else 0.0
