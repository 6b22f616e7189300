"""Counting and capping model calls: what a request used, and the most it may use.

A scope is opened around a request (with a budget) and around each step inside it. The client
charges every open scope, so the sum over steps equals the request and nothing is counted twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from cookbook.errors import BudgetExhausted


@dataclass
class Meter:
    """Running totals. ``cost`` is in US dollars: 0.0 is free, None means a price was unknown."""

    calls: int = 0
    cached: int = 0
    embeddings: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cost: float | None = 0.0

    def add_call(
        self,
        *,
        prompt_tokens: int,
        completion_tokens: int,
        seconds: float,
        cost: float | None,
        cached: bool = False,
    ) -> None:
        """Count one model call, failed and retried ones included; a cache hit is counted apart."""
        self.calls += not cached
        self.cached += cached
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens
        self.seconds += seconds
        self.cost = None if self.cost is None or cost is None else self.cost + cost

    def add_embedding(self) -> None:
        """Count one embedding request, however many texts it carried."""
        self.embeddings += 1


@dataclass(frozen=True)
class Budget:
    """The most calls a request may make. Hard: the call that would exceed it is not made."""

    calls: int

    def check(self, meter: Meter) -> None:
        if meter.calls >= self.calls:
            raise BudgetExhausted(
                f"the budget of {self.calls} calls for this request is used up; raise it or simplify the loop"
            )


_scopes: ContextVar[tuple[tuple[Meter, Budget | None], ...]] = ContextVar("meter_scopes", default=())


@contextmanager
def metered(meter: Meter, budget: Budget | None = None) -> Iterator[Meter]:
    """Charge every model call made inside the block to ``meter``, within ``budget``."""
    token = _scopes.set((*_scopes.get(), (meter, budget)))
    try:
        yield meter
    finally:
        _scopes.reset(token)


def open_meters() -> tuple[Meter, ...]:
    """The meters to charge for a call made here, outermost first."""
    return tuple(meter for meter, _ in _scopes.get())


def check_budgets() -> None:
    """Raise BudgetExhausted if one more call would break the budget of any open scope."""
    for meter, budget in _scopes.get():
        if budget is not None:
            budget.check(meter)
