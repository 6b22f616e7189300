"""The in-process trace: which node ran, what it cost, what it judged, why the request stopped.

``with request(...) as trace:`` opens a request; ``with step("grade") as s:`` records one node in
it. Both ride on context variables, so a grader needs no trace argument to be counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from cookbook.providers.meter import Budget, Meter, metered
from cookbook.schema import Step, Trace, Verdict

_trace: ContextVar[Trace | None] = ContextVar("trace", default=None)
_step: ContextVar[Step | None] = ContextVar("step", default=None)


@contextmanager
def request(question: str, *, system: str, model: str = "", budget: Budget | None = None) -> Iterator[Trace]:
    """Open the trace of one request; every call inside is metered, and capped by ``budget``."""
    trace = Trace(question=question, system=system, model=model)
    token = _trace.set(trace)
    meter = Meter()
    try:
        with metered(meter, budget):
            yield trace
    finally:
        _trace.reset(token)
        trace.cost = meter.cost


@contextmanager
def step(node: str) -> Iterator[Step]:
    """Record one node. Outside a request the step is measured and thrown away."""
    entry = Step(node=node)
    trace = _trace.get()
    if trace is not None:
        trace.steps.append(entry)
    token = _step.set(entry)
    meter = Meter()
    try:
        with metered(meter):
            yield entry
    finally:
        _step.reset(token)
        entry.calls, entry.cached, entry.embeddings = meter.calls, meter.cached, meter.embeddings
        entry.prompt_tokens, entry.completion_tokens = meter.prompt_tokens, meter.completion_tokens
        entry.seconds = meter.seconds


def note_verdict(verdict: Verdict[Any]) -> None:
    """Attach a verdict to the step that is open here; graders call this once per judgement."""
    if (entry := _step.get()) is not None:
        entry.verdicts.append(verdict)


def init_tracing() -> str:
    """Say where traces go. There is nothing to set up: every answer carries its own, in this process."""
    return "traces: in this process, on every answer (answer.trace)"
