"""One span for each call, over every transport, without its content."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import msgspec
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.support.surfaces import Surface

from assent.kernel.distribution import word_install
from assent.processes.serve import start_tracing
from assent.serving.tracing import CallTracer

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE = 0x0AF7651916CD43DD8448EB211C80319C
SECRET = "a text that no span may have"


@pytest.fixture
def spans(surface: Surface) -> Iterator[InMemorySpanExporter]:
    """What is exported while a test runs."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    surface.surfaces.edge.tracer = CallTracer(provider.get_tracer("test"))
    yield exporter
    provider.shutdown()


def read_span(exporter: InMemorySpanExporter, name: str) -> ReadableSpan:
    (found,) = [span for span in exporter.get_finished_spans() if span.name == name]
    return found


@pytest.mark.parametrize("key", ["its key", None])
async def test_a_call_has_one_span_with_its_outcome_that_follows_the_caller(
    surface: Surface, spans: InMemorySpanExporter, key: str | None
) -> None:
    issued = await surface.sign_in()
    if key is None:
        surface.key = None
    params: dict[str, Any] = {"name": "chieflab_list_runs", "arguments": {}, "_meta": {"traceparent": PARENT}}

    await surface.rpc("tools/call", params)

    span = read_span(spans, "tools/call chieflab_list_runs")
    facts = dict(span.attributes or {})
    assert span.context is not None and span.context.trace_id == TRACE
    assert facts["assent.tool"] == "chieflab_list_runs"
    assert facts["assent.outcome"] == ("missing_api_key" if key is None else "ok")
    assert facts.get("assent.workspace") == (None if key is None else issued.workspace_id)


async def test_a_call_by_rest_follows_the_header_and_shows_no_content(
    surface: Surface, spans: InMemorySpanExporter
) -> None:
    issued = await surface.sign_in()
    headers = {"Authorization": f"Bearer {issued.api_key}", "traceparent": PARENT}

    body = msgspec.json.encode({"kind": "lesson", "body": SECRET})
    await surface.http.post("/api/tools/chieflab_brain_record", content=body, headers=headers)

    span = read_span(spans, "tools/call chieflab_brain_record")
    assert span.context is not None and span.context.trace_id == TRACE
    assert dict(span.attributes or {})["assent.outcome"] == "ok"
    assert not [each for each in spans.get_finished_spans() if SECRET in each.to_json()]


async def test_a_message_follows_the_header_where_its_meta_names_no_valid_span(
    surface: Surface, spans: InMemorySpanExporter
) -> None:
    issued = await surface.sign_in()
    headers = {"Authorization": f"Bearer {issued.api_key}", "traceparent": PARENT}
    params = {"name": "chieflab_list_runs", "arguments": {}, "_meta": {"traceparent": 7}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    answer = await surface.http.post("/api/mcp", content=msgspec.json.encode(message), headers=headers)

    assert answer.status_code == 200
    span = read_span(spans, "tools/call chieflab_list_runs")
    assert span.context is not None and span.context.trace_id == TRACE


async def test_names_of_unknown_tools_are_in_no_span(surface: Surface, spans: InMemorySpanExporter) -> None:
    await surface.sign_in()

    await surface.rpc("tools/call", {"name": SECRET, "arguments": {}})

    assert read_span(spans, "tools/call unknown").status.description == "unknown_tool"
    assert not [each for each in spans.get_finished_spans() if SECRET in each.to_json()]


@pytest.mark.slow
def test_spans_reach_the_collector_that_the_environment_names() -> None:
    program = (
        "import os; from assent.processes.serve import start_tracing\n"
        "with start_tracing(os.environ).trace('chieflab_status') as facts: facts['outcome'] = 'ok'"
    )
    received: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        Thread(target=server.handle_request, daemon=True).start()
        variables = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
        }
        subprocess.run([sys.executable, "-c", program], env={**os.environ, **variables}, check=True)

    [(path, body)] = received
    assert path == "/v1/traces"
    assert b"tools/call chieflab_status" in body


@pytest.mark.parametrize(
    "environment", [{}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://[::1]:4318", "OTEL_SDK_DISABLED": "true"}]
)
def test_nothing_is_exported_without_an_address(
    environment: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        assert start_tracing(environment) is None
    assert caplog.records == []


def test_an_address_without_the_extra_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)

    assert start_tracing({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://[::1]:4318"}) is None
    assert word_install("otel") in caplog.text
