"""The in-process trace: which node ran, what it cost, what it judged, why the request stopped.

``with request(...) as trace:`` opens a request; ``with step("grade") as s:`` records one node in
it. Both ride on context variables, so a grader needs no trace argument to be counted.
Where OpenTelemetry is set up, each of them is a span as well.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from cookbook.providers.meter import Budget, Meter, metered
from cookbook.schema import Step, Trace, Verdict

_trace: ContextVar[Trace | None] = ContextVar("trace", default=None)
_step: ContextVar[Step | None] = ContextVar("step", default=None)
_tracer: Any = None  # of OpenTelemetry, once init_tracing found somewhere to send spans


@contextmanager
def request(question: str, *, system: str, model: str = "", budget: Budget | None = None) -> Iterator[Trace]:
    """Open the trace of one request; every call inside is metered, and capped by ``budget``."""
    trace = Trace(question=question, system=system, model=model)
    token = _trace.set(trace)
    meter = Meter()
    try:
        with _span(system) as attributes, metered(meter, budget):
            yield trace
            attributes |= {"cookbook.model": model, "cookbook.stop_reason": trace.stop_reason}
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
        with _span(node) as attributes, metered(meter):
            try:
                yield entry
            finally:
                entry.calls, entry.cached, entry.embeddings = meter.calls, meter.cached, meter.embeddings
                entry.prompt_tokens, entry.completion_tokens = meter.prompt_tokens, meter.completion_tokens
                entry.seconds = meter.seconds
                attributes |= _numbers(entry)
    finally:
        _step.reset(token)


def note_verdict(verdict: Verdict[Any]) -> None:
    """Attach a verdict to the step that is open here; graders call this once per judgement."""
    if (entry := _step.get()) is not None:
        entry.verdicts.append(verdict)


# ---------------------------------------------------------------- spans for a collector

IN_PROCESS = "traces: in this process, on every answer (answer.trace)"
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


def init_tracing() -> str:
    """Say where traces go. There is nothing to set up: every answer carries its own, in this process.

    Where the environment names a collector (OTEL_EXPORTER_OTLP_ENDPOINT), requests and nodes are sent
    there as OpenTelemetry spans too; that needs the extra ``tracing``. May be called twice.
    """
    global _tracer
    address = os.environ.get(ENDPOINT)
    if not address:
        return IN_PROCESS
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        warnings.warn(
            f'{ENDPOINT} is set, but spans need OpenTelemetry: pip install -e ".[tracing]"', stacklevel=2
        )
        return IN_PROCESS
    if _tracer is None:
        # Our own provider: what else in the process uses OpenTelemetry is left as it is. It sends what is
        # left when the process ends.
        provider = TracerProvider(resource=Resource.create({"service.name": "cookbook"}))
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        _tracer = provider.get_tracer("cookbook")
    return f"{IN_PROCESS}, and as spans at {address}"


@contextmanager
def _span(name: str) -> Iterator[dict[str, Any]]:
    """A span around the block if there is a tracer; what the block puts into the dict becomes its attributes."""
    attributes: dict[str, Any] = {}
    if _tracer is None:
        yield attributes
        return
    # The text of an error can quote a prompt, so its class is all that is sent.
    with _tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as span:
        try:
            yield attributes
        except BaseException as error:
            attributes["error.type"] = type(error).__name__
            raise
        finally:
            span.set_attributes(attributes)


def _numbers(entry: Step) -> dict[str, Any]:
    """What leaves the process about a node: counts and labels. Questions, passages and drafts do not."""
    return {
        "cookbook.calls": entry.calls,
        "cookbook.cached": entry.cached,
        "cookbook.embeddings": entry.embeddings,
        "gen_ai.usage.input_tokens": entry.prompt_tokens,
        "gen_ai.usage.output_tokens": entry.completion_tokens,
        "cookbook.verdicts": [str(verdict.label or "failed") for verdict in entry.verdicts],
    }
