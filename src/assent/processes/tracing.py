"""Starts the export of traces, if the extra `otel` is installed and the environment names an exporter.

OpenTelemetry's own variables configure it: `OTEL_EXPORTER_OTLP_ENDPOINT` (or that of traces alone) says
where traces go, `OTEL_SERVICE_NAME` how the server is called there. Without an address nothing is loaded.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from assent import __version__
from assent.kernel.distribution import word_install

if TYPE_CHECKING:
    from assent.serving.tracing import CallTracer

log = logging.getLogger(__name__)

ADDRESSES: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
DISABLED: Final = "OTEL_SDK_DISABLED"


def start_tracing(environment: Mapping[str, str]) -> CallTracer | None:
    """Export spans until the process ends, and return what makes those of calls; None if no spans are exported."""
    wanted = any(environment.get(name) for name in ADDRESSES)
    if not wanted or environment.get(DISABLED, "").lower() == "true":
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        log.warning(
            "the environment names where traces go, but OpenTelemetry's SDK is missing, so none are sent: %s",
            word_install("otel"),
        )
        return None
    from opentelemetry.trace import set_tracer_provider

    from assent.serving.tracing import CallTracer

    about = {"service.version": __version__}
    if not environment.get("OTEL_SERVICE_NAME"):
        about["service.name"] = "assent"
    provider = TracerProvider(resource=Resource.create(about))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    set_tracer_provider(provider)
    log.info("traces of calls are sent to %s", next(filter(None, map(environment.get, ADDRESSES))))
    return CallTracer(provider.get_tracer("assent", __version__))
