"""Logs: one pipeline for every logger in the process, to standard error and nowhere else.

Code logs with the standard library (`logging.getLogger(__name__)`, facts in `extra=`). What our own
code, uvicorn, the SDK and the drivers say passes the same steps: request id, redaction, then a JSON
line or text.

A JSON line is written with the standard library: every request has one, and structlog takes twice
the time. structlog renders text for people. It costs a quarter of a second to import, so a process
whose first answer is waited for starts with `configure_first_logging`, which writes the same fields
without it, and calls `configure_logging` afterwards.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TextIO

from assent.kernel.ids import REQUEST_ID
from assent.settings.load import Settings
from assent.settings.redaction import Redactor

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor, WrappedLogger

QUIET_LOGGERS: Final = ("asyncio", "asyncpg", "httpcore", "httpx", "mcp", "uvicorn", "uvicorn.access")
"""Third-party loggers, limited to `warning` unless the level is `debug`."""

_JSON: Final = json.JSONEncoder(ensure_ascii=False)

_RECORD_FIELDS: Final = frozenset(
    (*vars(logging.LogRecord("", 0, "", 0, "", (), None)), "message", "asctime", "taskName", "color_message")
)


def configure_logging(settings: Settings, stream: TextIO | None = None) -> None:
    """Set up the whole pipeline for every logger."""
    import structlog

    target = sys.stderr if stream is None else stream
    redactor = redactor_for(settings)
    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _add_request_id,
        structlog.processors.format_exc_info,
    ]

    def redact(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
        return redactor.fields(event)

    formatter: logging.Formatter
    if writes_json(settings, target):
        formatter = _PlainFormatter(redactor, as_json=True)
        steps: list[Processor] = [structlog.stdlib.render_to_log_kwargs]
    else:
        console = structlog.dev.ConsoleRenderer(
            colors=target.isatty() and not settings.no_color,
            exception_formatter=structlog.dev.plain_traceback,
            pad_event_to=0,
        )
        drop_meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
        formatter = structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[drop_meta, redact, _without_controls, console]
        )
        steps = [*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter]
    structlog.configure(
        processors=steps,
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    _install(settings, formatter, target)


def configure_first_logging(settings: Settings, stream: TextIO | None = None) -> None:
    """Write the same fields without structlog, for a fast first answer."""
    target = sys.stderr if stream is None else stream
    _install(settings, _PlainFormatter(redactor_for(settings), as_json=writes_json(settings, target)), target)


def writes_json(settings: Settings, stream: TextIO) -> bool:
    """`auto` is text on a terminal and JSON elsewhere."""
    return settings.log_format == "json" or (settings.log_format == "auto" and not stream.isatty())


def redactor_for(settings: Settings) -> Redactor:
    """A redactor that also hides the secrets of these settings."""
    given = (settings.api_key, settings.google_client_secret, settings.hubspot_client_secret)
    return Redactor([*(each or "" for each in given), *settings.run_token_secrets, *settings.secrets])


def _install(settings: Settings, formatter: logging.Formatter, stream: TextIO) -> None:
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    debugging = settings.log_level == "debug"
    # A log that cannot be written (a closed pipe) must not disturb the work.
    logging.raiseExceptions = debugging
    for name in QUIET_LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.NOTSET if debugging else max(logging.WARNING, root.level))


def _add_request_id(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    current = REQUEST_ID.get()
    if current is not None:
        event.setdefault("request_id", current)
    return event


_CONTROLS: Final = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
_CONTROLS_IN_TRACES: Final = {code: text for code, text in _CONTROLS.items() if chr(code) != "\n"}


def _without_controls(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Replace control characters: a caller's text must not forge lines or control a terminal.
    Tracebacks keep line breaks."""
    return {
        name: value.translate(_CONTROLS_IN_TRACES if name == "exception" else _CONTROLS)
        if isinstance(value, str)
        else value
        for name, value in event.items()
    }


class _PlainFormatter(logging.Formatter):
    """One line per record: JSON, or time, level, event and the other fields."""

    def __init__(self, redactor: Redactor, *, as_json: bool) -> None:
        super().__init__()
        self._redactor = redactor
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        event: dict[str, Any] = {
            "event": record.getMessage(),
            "level": record.levelname.lower(),
            "logger": record.name,
            **{name: value for name, value in vars(record).items() if name not in _RECORD_FIELDS},
            "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z"),
        }
        _add_request_id(None, "", event)
        if record.exc_info:
            event["exception"] = self.formatException(record.exc_info)
        event = self._redactor.fields(event)
        if self._as_json:
            return _JSON.encode(event)
        event = dict(_without_controls(None, "", event))
        trace = event.pop("exception", None)
        head = f"{event.pop('timestamp')} [{event.pop('level')}] {event.pop('event')}"
        line = " ".join([head, *(f"{name}={value}" for name, value in event.items())])
        return f"{line}\n{trace}" if trace else line
