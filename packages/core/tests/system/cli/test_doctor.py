"""`assent doctor` names what is wrong and what to do, and changes nothing."""

from __future__ import annotations

import asyncio
import http.server
import io
import json
import shlex
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.cli.fixtures import Assent, Done
from tests.support.jobs.kit import claim

from assent.app import open_app
from assent.engine.core import jobs
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.kernel.limits import DAY_MS
from assent.ports import Single
from assent.settings.load import load_settings
from assent.sql.loader import statements


@pytest.fixture
def free_port(bare_environment: pytest.MonkeyPatch) -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    bare_environment.setenv("ASSENT_PORT", str(port))
    return port


EVERY = "0.0.0.0"  # noqa: S104 - read, not bound


def checks(done: Done) -> dict[str, dict[str, Any]]:
    assert done.data["ok"] is (done.code == 0)
    return {check["name"]: check for check in done.data["checks"]}


def failing(done: Done) -> list[str]:
    return [name for name, check in checks(done).items() if not check["ok"]]


def test_a_fresh_machine_is_well_and_stays_untouched(assent: Assent, data_dir: Path, free_port: int) -> None:
    done = assent("doctor", "--json")
    assert failing(done) == []
    assert not data_dir.exists()
    assert checks(done)["database"]["fix"].endswith(f"assent init --data-dir {data_dir}")


def test_the_quota_and_the_cap_are_shown_and_a_full_quota_is_found(
    assent: Assent, data_dir: Path, free_port: int
) -> None:
    assent("init")
    done = assent("doctor", "--json")
    assert "200 MB a day" in checks(done)["storage"]["detail"]
    assert checks(done)["clients"]["detail"].endswith(" at a time")

    async def fill_the_day() -> None:
        settings = load_settings({"data_dir": str(data_dir)}, {"HOME": str(data_dir)}).settings
        async with open_app(settings) as app:
            day = app.clock.now_ms() // DAY_MS
            bound = statements.add_stored_bytes(workspace_id=LOCAL_WORKSPACE, day=day, bytes=200_000_000)
            await app.store.write(Single(bound))

    asyncio.run(fill_the_day())
    assert failing(assent("doctor", "--json")) == ["storage"]


def test_a_prepared_one_is_well(assent: Assent, data_dir: Path, free_port: int) -> None:
    assent("init")
    before = sorted(data_dir.iterdir())
    done = assent("doctor", "--json")
    assert failing(done) == []
    assert set(checks(done)) == {
        "settings",
        "data directory",
        "disk",
        "secrets",
        "database",
        "writing",
        "sending",
        "jobs",
        "connections",
        "wrapped starts",
        "owner",
        "sign-in",
        "storage",
        "audit copies",
        "restores",
        "effect secrets",
        "operators",
        "clients",
        "sign-up",
        "port",
        "pages",
        "boundary",
        "limit of a local server",
    }
    assert [sorted(check) for check in done.data["checks"]] == [["detail", "fix", "name", "ok"]] * 23
    assert "same OS user" in checks(done)["limit of a local server"]["detail"]
    assert done.data["sources"]["port"] == "environment ASSENT_PORT"
    assert sorted(data_dir.iterdir()) == before


def test_whom_the_settings_serve_is_said_and_a_stranger_among_them_is_a_fault(
    assent: Assent, data_dir: Path, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assent("init")
    assert "“local”" in checks(assent("doctor", "--json"))["owner"]["detail"]
    for named, signups, bad in (
        ("all", "5", ["owner"]),
        ("all", "0", []),
        ("019a0000-0000-7000-8000-000000000000", "0", ["owner"]),
    ):
        monkeypatch.setenv("ASSENT_OWNER_WORKSPACES", named)
        monkeypatch.setenv("ASSENT_SIGNUPS_PER_HOUR", signups)
        assert failing(assent("doctor", "--json")) == bad


REFUND = """
[effect.refund]
url = "https://billing.example.com/refunds"
description = "Refund a customer. USE WHEN the user asks to pay money back."
arguments = { type = "object", properties = { customer = { type = "string" } }, required = ["customer"] }
headers = { Authorization = "Bearer secret:billing-key" }
"""


def test_a_secret_that_an_effect_sends_and_nobody_stored_is_named(
    assent: Assent, data_dir: Path, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assent("init")
    (data_dir / "assent.toml").write_text(REFUND)
    done = assent("doctor", "--json")
    assert failing(done) == ["effect secrets"]
    assert "refund_request" in checks(done)["effect secrets"]["detail"]
    _, *command = shlex.split(checks(done)["effect secrets"]["fix"])
    monkeypatch.setattr("sys.stdin", io.StringIO("sk_live_0123456789\n"))
    assert assent(*command).code == 0
    assert failing(assent("doctor", "--json")) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "or an owner lets them in; on this machine at once"),
        (
            {"ASSENT_HOST": EVERY},
            "(if a mail server is connected) or an owner lets them in",
        ),
        (
            {"ASSENT_TRUST_PROXY_HEADERS": "true"},
            "(if a mail server is connected) or an owner lets them in",
        ),
        (
            {"ASSENT_SMTP_URL": "smtp://127.0.0.1:25", "ASSENT_SMTP_FROM": "a@b.org", "ASSENT_HOST": EVERY},
            "gives anyone an empty workspace once they confirm their e-mail address",
        ),
        (
            {"ASSENT_BASE_URL": "https://assent.example.com"},
            "closed: only an owner makes workspaces and keys",
        ),
        ({"ASSENT_SIGNUPS_PER_HOUR": "0"}, "closed: only an owner makes workspaces and keys"),
    ],
    ids=["local", "all addresses", "proxy", "mail", "public", "closed"],
)
def test_the_doctor_says_how_sign_up_stands(
    assent: Assent,
    data_dir: Path,
    free_port: int,
    bare_environment: pytest.MonkeyPatch,
    given: dict[str, str],
    said: str,
) -> None:
    for name, value in given.items():
        bare_environment.setenv(name, value)
    check = checks(assent("doctor", "--json"))["sign-up"]
    assert (check["ok"], check["detail"].endswith(said)) == (True, True), check["detail"]


def test_the_text_says_the_same(assent: Assent, data_dir: Path, free_port: int) -> None:
    assent("init")
    data_dir.chmod(0o755)
    done = assent("doctor")
    assert done.code == 1
    assert "FAIL  data directory" in done.out
    assert f"-> chmod 700 {data_dir}" in done.out


def test_files_that_others_can_read_are_found(assent: Assent, data_dir: Path, free_port: int) -> None:
    assent("init")
    (data_dir / "master.secret").chmod(0o644)
    data_dir.chmod(0o750)
    found = checks(assent("doctor", "--json"))
    assert [name for name, check in found.items() if not check["ok"]] == ["data directory", "secrets"]
    assert "chmod 600" in found["secrets"]["fix"]


def test_a_mistake_in_the_settings_is_a_finding(assent: Assent, bare_environment: pytest.MonkeyPatch) -> None:
    bare_environment.setenv("ASSENT_PORT", "eighty")
    done = assent("doctor", "--json")
    assert failing(done) == ["settings"]
    assert "ASSENT_PORT=" in checks(done)["settings"]["fix"]


def test_an_unreachable_database_is_found(
    assent: Assent, bare_environment: pytest.MonkeyPatch, free_port: int
) -> None:
    bare_environment.setenv("ASSENT_DATABASE_URL", "postgresql://me:hunter2@127.0.0.1:1/assent")
    done = assent("doctor", "--json")
    assert failing(done) == ["secrets", "database"]
    assert "hunter2" not in done.out + done.err


def test_a_job_that_gave_up_is_found(assent: Assent, data_dir: Path, free_port: int) -> None:
    async def kill_a_job() -> None:
        settings = load_settings({"data_dir": str(data_dir)}, {"HOME": str(data_dir)}).settings
        kind = jobs.JobKind(run=_never)
        async with open_app(settings) as app:
            now_ms = app.clock.now_ms()
            await app.store.write(
                lambda: jobs.enqueue(LOCAL_WORKSPACE, "measure", "k", {}, due_ms=now_ms, now_ms=now_ms)
            )
            (job,) = await claim(app.store, {"measure": kind}, now_ms)
            await app.store.write(lambda: jobs.fail(job, now_ms, "the provider is gone", ()))

    asyncio.run(kill_a_job())
    done = assent("doctor", "--json")
    assert failing(done) == ["jobs"]
    detail = checks(done)["jobs"]["detail"]
    assert "measure" in detail
    assert "the provider is gone" in detail


async def _never(job: jobs.Job) -> None:
    raise AssertionError


class Answering(http.server.BaseHTTPRequestHandler):
    """A web server that says what it was told to."""

    body: bytes = b""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def answering(bare_environment: pytest.MonkeyPatch) -> Iterator[type[Answering]]:
    handler = type("Handler", (Answering,), {})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        bare_environment.setenv("ASSENT_PORT", str(server.server_port))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield handler
        server.shutdown()
        thread.join()


def test_a_port_of_another_program_is_told_from_one_of_another_assent(
    assent: Assent, answering: type[Answering]
) -> None:
    answering.body = b"hello"
    done = assent("doctor", "--json")
    assert failing(done) == ["port"]
    assert "another program" in checks(done)["port"]["detail"]
    answering.body = json.dumps({"name": "assent"}).encode()
    done = assent("doctor", "--json")
    assert failing(done) == ["port"]
    assert "another Assent" in checks(done)["port"]["detail"]
