"""Spans of calls, with OpenTelemetry.

The MCP SDK makes a span for each message that it dispatches. `tools/call` and REST do not pass its dispatcher, so the
edge makes the span of a call, with the names that the SDK uses. It follows `traceparent` in `_meta` of the message,
else in the headers of the request. A span has no content of its call. Loaded only where calls are traced
(`assent.processes.serve`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry.context import Context
from opentelemetry.propagate import extract
from opentelemetry.trace import SpanKind, StatusCode, Tracer, get_current_span


class CallTracer:
    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    @contextmanager
    def trace(self, tool: str, *carriers: Mapping[str, Any] | None) -> Iterator[dict[str, str]]:
        """Make the span of a call. The first carrier with a `traceparent` names its parent. The facts that the caller
        puts into the yielded dictionary become attributes."""
        facts: dict[str, str] = {}
        with self._tracer.start_as_current_span(
            f"tools/call {tool}",
            kind=SpanKind.SERVER,
            context=find_parent(carriers),
            attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool},
            record_exception=False,
        ) as span:
            yield facts
            span.set_attributes({f"assent.{name}": value for name, value in facts.items()})
            if (outcome := facts["outcome"]) != "ok":
                span.set_status(StatusCode.ERROR, outcome)


def find_parent(carriers: tuple[Mapping[str, Any] | None, ...]) -> Context | None:
    """Return the context of the caller's span; None if no carrier names a valid one."""
    for carrier in carriers:
        texts = {name: value for name, value in (carrier or {}).items() if isinstance(value, str)}
        context = extract(texts)
        if get_current_span(context).get_span_context().is_valid:
            return context
    return None
