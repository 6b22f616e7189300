"""Requests and nodes become spans where a collector is named; numbers and labels leave the process, texts do not."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Queue
from threading import Thread

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from standins import build_loop

from cookbook import tracing
from cookbook.errors import BudgetExhausted, ReplayMiss
from cookbook.providers.meter import Budget
from cookbook.schema import Support
from cookbook.systems.handbook_graph import HandbookGraph


@pytest.fixture
def spans(monkeypatch) -> InMemorySpanExporter:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "_tracer", provider.get_tracer("test"))
    return exporter


def test_without_a_collector_there_is_nothing_to_set_up():
    assert tracing.init_tracing() == "traces: in this process, on every answer (answer.trace)"
    assert tracing._tracer is None


def test_a_request_is_a_span_and_its_nodes_lie_inside(spans):
    loop, _ = build_loop(HandbookGraph, support=[Support.NONE, Support.FULLY], drafts=["Ten.", "Twenty."])
    trace = loop.answer("How long?").trace
    *nodes, whole = spans.get_finished_spans()
    assert [span.name for span in nodes] == trace.nodes
    assert whole.name == "handbook_graph"
    assert {span.parent.span_id for span in nodes} == {whole.context.span_id}
    assert whole.attributes == {
        "cookbook.model": "scripted/direct",
        "cookbook.stop_reason": "supported_and_useful",
    }
    checks = [span.attributes["cookbook.verdicts"] for span in nodes if span.name == "check_support"]
    assert checks == [("none",), ("fully",)]
    assert sum(span.attributes["cookbook.calls"] for span in nodes) == trace.calls
    assert nodes[0].attributes["gen_ai.usage.input_tokens"] == 10


def test_no_text_is_sent(spans):
    loop, _ = build_loop(HandbookGraph)
    loop.answer("How long?")
    sent = json.dumps([span.to_json() for span in spans.get_finished_spans()])
    assert "How long" not in sent
    assert "30 days" not in sent


@pytest.mark.parametrize(
    ("error", "named"),
    [(ReplayMiss("no recording for 'secret'"), "ReplayMiss"), (BudgetExhausted("x"), "BudgetExhausted")],
)
def test_of_an_error_the_class_is_sent(spans, error, named):
    with (
        pytest.raises(type(error)),
        tracing.request("q", system="s", budget=Budget(1)),
        tracing.step("grade"),
    ):
        raise error
    node, whole = spans.get_finished_spans()
    assert node.attributes["error.type"] == whole.attributes["error.type"] == named
    assert "secret" not in node.to_json() + whole.to_json()
    assert node.attributes["cookbook.calls"] == 0


def test_spans_reach_the_collector_that_the_environment_names(monkeypatch):
    received: Queue[bytes] = Queue()

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self):
            received.put(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Collector)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(tracing, "_tracer", None)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")  # milliseconds between two batches
    try:
        assert tracing.init_tracing().endswith(f", and as spans at {address}")
        first = tracing._tracer
        tracing.init_tracing()
        assert tracing._tracer is first
        with tracing.request("How long?", system="a_system"), tracing.step("retrieve"):
            pass
        names = set()
        while "a_system" not in names:
            message = ExportTraceServiceRequest.FromString(received.get(timeout=10))
            names |= {s.name for r in message.resource_spans for scope in r.scope_spans for s in scope.spans}
        assert "retrieve" in names
    finally:
        server.shutdown()


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.sdk.trace", None)
    with pytest.warns(UserWarning, match=r'spans need OpenTelemetry: pip install -e "\.\[tracing\]"'):
        assert tracing.init_tracing() == tracing.IN_PROCESS
