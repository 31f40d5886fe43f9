"""One pipeline to standard error: every field, and never a secret."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.cli.fixtures import own_logging  # noqa: F401

from assent.kernel.ids import REQUEST_ID
from assent.kernel.tokens import KeyRing
from assent.settings.load import Loaded, Settings
from assent.settings.logs import configure_logging, start_logging

KEY = "clp_live_" + "Ab3_-x9Q" * 8
DEV_KEY = "clp_dev_" + "Zz8-_y7P" * 8
TOKEN = KeyRing((b"a fine secret of 32 bytes or more",)).sign(b'{"runId":"r","exp":1}')
SECRET = "k9Tz-3mWqLx8RfVb2NpYs7HdGc5JuEaQ"

SETTINGS = Settings(
    data_dir=Path("/nonexistent"),
    database_url="sqlite:////nonexistent/assent.db",
    base_url="http://127.0.0.1:8080",
    secrets=(SECRET,),
)


@pytest.fixture(params=["json", "text"])
def written(request: pytest.FixtureRequest) -> io.StringIO:
    stream = io.StringIO()
    configure_logging(msgspec.structs.replace(SETTINGS, log_format=request.param), stream)
    return stream


def json_lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


LEAKS: list[tuple[str, str]] = [
    (f"key {KEY} is wrong", KEY[-20:]),
    (f'{{"apiKey": "{DEV_KEY}"}}', DEV_KEY[-20:]),
    (f"GET /runs/7?token={TOKEN}&x=1 HTTP/1.1", TOKEN[:20]),
    (f"the token {TOKEN} has expired", TOKEN[-20:]),
    ("GET /runs/7?x=1&token=short", "short"),
    ("Authorization: Bearer abcdefghijkl", "abcdefghijkl"),
    ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    ("{'authorization': 'Bearer abcdefghijkl'}", "abcdefghijkl"),
    ("headers [(b'cookie', b'__Host-run=abcdefgh; other=ijklmnop')]", "abcdefgh"),
    ("Set-Cookie: run=abcdefgh; Path=/", "abcdefgh"),
    ("POST /get-key/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAA"),
    ("cannot reach postgresql://me:hunter2@db:5432/assent", "hunter2"),
    (f"the secret is {SECRET}", SECRET),
]


@pytest.mark.parametrize(("message", "leak"), LEAKS)
def test_a_secret_in_a_message_is_hidden(written: io.StringIO, message: str, leak: str) -> None:
    logging.getLogger("assent.test").info(message)
    logging.getLogger("uvicorn.error").warning("%s", message)
    assert leak not in written.getvalue()
    assert written.getvalue().count("[redacted]") >= 2


@pytest.mark.parametrize(("message", "leak"), LEAKS)
def test_a_secret_in_a_traceback_is_hidden(written: io.StringIO, message: str, leak: str) -> None:
    try:
        raise ValueError(message)
    except ValueError:
        logging.getLogger("assent.test").exception("it failed")
    assert "ValueError" in written.getvalue()
    assert leak not in written.getvalue()


def test_a_field_named_like_a_secret_is_hidden_wherever_it_is(written: io.StringIO) -> None:
    extra = {
        "authorization": "plainvalue1",
        "headers": {"Cookie": "plainvalue2", "accept": "seen1"},
        "calls": [
            {"apiKey": "plainvalue3"},
            {"review_token": "plainvalue4", "url": f"http://x/?token={TOKEN}"},
        ],
        "raw": b"token=plainvalue5",
        "status": 200,
    }
    logging.getLogger("assent.test").info("seen2", extra=extra)
    output = written.getvalue()
    assert "plainvalue" not in output
    assert TOKEN not in output
    assert all(word in output for word in ("seen1", "seen2", "200"))


def test_a_line_has_the_fields_of_its_record() -> None:
    stream = io.StringIO()
    configure_logging(msgspec.structs.replace(SETTINGS, log_format="json"), stream)
    logging.getLogger("assent.access").info("%s %s", "GET", "/healthz", extra={"status": 200})
    (line,) = json_lines(stream)
    assert line.pop("timestamp").endswith("Z")
    assert line == {"event": "GET /healthz", "level": "info", "logger": "assent.access", "status": 200}


def test_a_warning_of_the_settings_is_a_line_of_the_log_like_any_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    start_logging(Loaded(SETTINGS, ("anyone can read the file",), (), {}))
    line = json.loads(capsys.readouterr().err)
    assert (line["level"], line["logger"]) == ("warning", "assent.settings")
    assert line["event"] == "anyone can read the file"


def test_lines_of_one_request_carry_its_id() -> None:
    stream = io.StringIO()
    configure_logging(msgspec.structs.replace(SETTINGS, log_format="json"), stream)
    token = REQUEST_ID.set("r-1")
    logging.getLogger("assent.test").info("inside")
    logging.getLogger("assent.test").info("named", extra={"request_id": "r-2"})
    REQUEST_ID.reset(token)
    logging.getLogger("assent.test").info("outside")
    assert [line.get("request_id") for line in json_lines(stream)] == ["r-1", "r-2", None]


def test_text_from_a_caller_cannot_forge_a_line_or_steer_a_terminal() -> None:
    stream = io.StringIO()
    configure_logging(msgspec.structs.replace(SETTINGS, log_format="text"), stream)
    logging.getLogger("assent.test").info("a\nb\x1b[2J", extra={"agent": "c\r\nd"})
    assert stream.getvalue().count("\n") == 1
    assert not set("\x1b\r") & set(stream.getvalue())


def test_the_level_is_kept_and_other_peoples_chatter_left_out() -> None:
    stream = io.StringIO()
    configure_logging(msgspec.structs.replace(SETTINGS, log_format="json"), stream)
    logging.getLogger("assent.test").debug("too fine")
    logging.getLogger("mcp.server.lowlevel").info("chatter")
    logging.getLogger("mcp.server.lowlevel").warning("heard")
    assert [line["event"] for line in json_lines(stream)] == ["heard"]
    configure_logging(msgspec.structs.replace(SETTINGS, log_format="json", log_level="debug"), stream)
    logging.getLogger("mcp.server.lowlevel").info("chatter")
    assert json_lines(stream)[-1]["event"] == "chatter"


def test_auto_is_json_where_nobody_watches() -> None:
    stream = io.StringIO()
    configure_logging(SETTINGS, stream)
    logging.getLogger("assent.test").info("hello")
    assert json_lines(stream)[0]["event"] == "hello"


def test_a_value_that_json_cannot_hold_is_written_as_text() -> None:
    stream = io.StringIO()
    configure_logging(SETTINGS, stream)
    logging.getLogger("assent.test").info(
        "odd", extra={"where": Path("/x"), "many": {1}, "long": "x" * 100_000}
    )
    (line,) = json_lines(stream)
    assert line["many"] == [1]
    assert "/x" in line["where"]
    assert len(line["long"]) < 9_000


def test_the_first_lines_of_a_process_need_no_slow_import() -> None:
    program = (
        "import sys, logging; from assent.settings.logs import configure_logging;"
        "from assent.settings.load import load_settings;"
        "configure_logging(load_settings({}, {'HOME': '/nonexistent'}).settings);"
        "logging.getLogger('x').warning('hello');"
        "print(*sorted({'rich', 'typer'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "\n")
    assert json.loads(done.stderr)["event"] == "hello"
