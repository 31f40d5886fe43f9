"""Logs: one pipeline for every logger in the process, to standard error and nowhere else.

Code logs with the standard library (`logging.getLogger(__name__)`, facts in `extra=`). What our own
code, uvicorn, the SDK and the drivers say passes the same steps: request id, redaction, then a JSON
line or text.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Final, TextIO

from assent.kernel.ids import REQUEST_ID
from assent.kernel.redaction import Redactor
from assent.settings.load import Loaded, Settings

QUIET_LOGGERS: Final = ("asyncio", "asyncpg", "httpcore", "httpx", "mcp", "uvicorn", "uvicorn.access")
"""Third-party loggers, limited to `warning` unless the level is `debug`."""

_JSON: Final = json.JSONEncoder(ensure_ascii=False)

_RECORD_FIELDS: Final = frozenset(
    (*vars(logging.LogRecord("", 0, "", 0, "", (), None)), "message", "asctime", "taskName", "color_message")
)


def start_logging(loaded: Loaded) -> None:
    """Configure the logs of a server, and log what the settings warn of."""
    configure_logging(loaded.settings)
    for warning in loaded.warnings:
        logging.getLogger("assent.settings").warning("%s", warning)


def configure_logging(settings: Settings, stream: TextIO | None = None) -> None:
    """Set up one handler for every logger of the process."""
    target = sys.stderr if stream is None else stream
    handler = logging.StreamHandler(target)
    handler.setFormatter(LogFormatter(redactor_for(settings), as_json=writes_json(settings, target)))
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


def writes_json(settings: Settings, stream: TextIO) -> bool:
    """`auto` is text on a terminal and JSON elsewhere."""
    return settings.log_format == "json" or (settings.log_format == "auto" and not stream.isatty())


def redactor_for(settings: Settings) -> Redactor:
    """A redactor that also hides the secrets of these settings."""
    own = (settings.api_key or "", *settings.run_token_secrets, *settings.secrets)
    return Redactor([*own, *settings.hidden])


_CONTROLS: Final = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
_CONTROLS_IN_TRACES: Final = {code: text for code, text in _CONTROLS.items() if chr(code) != "\n"}


class LogFormatter(logging.Formatter):
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
        request_id = REQUEST_ID.get()
        if request_id is not None:
            event.setdefault("request_id", request_id)
        if record.exc_info:
            event["exception"] = self.formatException(record.exc_info)
        event = self._redactor.fields(event)
        return _JSON.encode(event) if self._as_json else _as_text(event)


def _as_text(event: dict[str, Any]) -> str:
    """Replace control characters: a caller's text must not forge lines or control a terminal.
    Tracebacks keep line breaks."""
    trace = event.pop("exception", None)
    head = f"{event.pop('timestamp')} [{event.pop('level')}] {event.pop('event')}"
    line = " ".join([head, *(f"{name}={value}" for name, value in event.items())]).translate(_CONTROLS)
    return f"{line}\n{trace.translate(_CONTROLS_IN_TRACES)}" if trace else line
