"""What a symptom costs: calls and tokens of a run, and its price at a stated example price."""

from __future__ import annotations

from dataclasses import dataclass

from cookbook.providers.meter import Meter
from cookbook.schema import Trace

PER_MILLION = (0.15, 0.60)
"""US dollars for a million tokens read and written. An example to multiply by, not a quote of anybody's price."""


@dataclass(frozen=True)
class Bill:
    """Calls and tokens of a run. Scripted models count words as tokens, which is about three quarters of them."""

    calls: int
    prompt_tokens: int
    completion_tokens: int

    @property
    def dollars(self) -> float:
        read, written = PER_MILLION
        return (self.prompt_tokens * read + self.completion_tokens * written) / 1e6

    def __repr__(self) -> str:
        read, written = PER_MILLION
        return (
            f"{self.calls:,} call{'s' * (self.calls != 1)}, {self.prompt_tokens:,} tokens read, {self.completion_tokens:,} written\n"
            f"at an example price of ${read:.2f} / ${written:.2f} for a million of them, "
            f"a thousand such requests cost ${self.dollars * 1000:,.2f}"
        )


def bill(run: Meter | Trace) -> Bill:
    """The bill of a request (its trace) or of a block (its meter)."""
    if isinstance(run, Trace):
        read = sum(step.prompt_tokens for step in run.steps)
        written = sum(step.completion_tokens for step in run.steps)
        return Bill(run.calls, read, written)
    return Bill(run.calls, run.prompt_tokens, run.completion_tokens)
