"""The page about operators: its code, typed into an empty directory, is a gated tool of a real server."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any

import httpx
import pytest
from packages.core.tests.system.review.test_owner_link import signed_in
from tests.support import warm_processes
from tests.support.actions.kit import APPROVE, AUDIT, EXECUTE, GET
from tests.support.answers import text_of
from tests.support.docs.pages import DOCS, block_of, blocks_of
from tests.support.net.stub_server import Answer, Asked, StubServer, stub_server
from tests.support.processes.running import (
    ASSENT,
    DEADLINE_SECONDS,
    StdioClient,
    ask,
    environment,
    eventually,
    free_port,
    is_healthy,
)
from tests.support.review.kit import form

import assent
from assent.extensions.operators import HOOKS

PAGE = "operators.md"
TOOL = "acme_billing_refund"
WANTED = {"customer": "cus_1", "amount": "12.50 EUR", "reason": "It broke.\nTwice."}
START_SECONDS = 90.0
"""On a machine with other work."""
PAID = Answer(
    status=201,
    body=json.dumps({"id": "re_1", "url": "https://billing.example/re_1"}).encode(),
    headers={"Content-Type": "application/json"},
)


def test_every_block_of_the_page_is_executed_here() -> None:
    assert [language for language, _ in blocks_of(PAGE)] == ["python", "sh", "python", "toml"]


def test_the_page_names_every_option_and_every_function_beside_an_effect() -> None:
    page = (DOCS / PAGE).read_text(encoding="utf-8")
    options = [
        name
        for name, each in inspect.signature(assent.Operator.effect).parameters.items()
        if each.kind is each.KEYWORD_ONLY
    ]
    assert [name for name in (*options, *HOOKS) if f"`{name}`" not in page] == []


def test_the_pages_name_everything_that_the_package_exports() -> None:
    pages = "".join((DOCS / page).read_text(encoding="utf-8") for page in (PAGE, "connectors.md"))
    missing = [name for name in assent.__all__ if re.search(rf"\b{name}\b", pages) is None]
    assert missing == ["__version__"]


class Server:
    """The command of the page in a directory that has only its file."""

    def __init__(self, folder: Path, api: StubServer) -> None:
        self.folder = folder
        self.port = free_port()
        self.base_url = f"http://localhost:{self.port}"
        self.variables = environment(
            {
                "BILLING_URL": api.url("").rstrip("/"),
                "ASSENT_DATA_DIR": str(folder.parent / "data"),
                "ASSENT_PORT": str(self.port),
                "ASSENT_RATE_LIMIT_PER_MINUTE": "100000",
                "ASSENT_CONNECTOR_TIMEOUT_SECONDS": "3",
                "ASSENT_EXECUTION_LEASE_SECONDS": "4",
            }
        )
        self.process: subprocess.Popen[bytes] | None = None
        self.key = ""

    def start(self) -> None:
        command, *words = block_of(PAGE, "sh").split()
        assert command == "assent"
        self.process = warm_processes.Process(
            [*ASSENT, *words],
            cwd=self.folder,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        eventually(lambda: is_healthy(self.port), "the server is healthy", START_SECONDS)

    def kill(self) -> None:
        """As `kill -9` does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(DEADLINE_SECONDS)

    def run(self, *words: str, given: str = "") -> dict[str, Any]:
        done = warm_processes.run(
            [*ASSENT, *words, "--json"],
            env=self.variables,
            input=given,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return ask(self.port, tool, self.key, **arguments)

    def get(self, path: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.get(self.base_url + path, headers=headers, timeout=DEADLINE_SECONDS)


@pytest.fixture(scope="module")
def api() -> Iterator[StubServer]:
    with stub_server() as made:
        yield made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, api: StubServer) -> Iterator[Server]:
    """One server for all tests: starting it takes longer than each of them."""
    folder = tmp_path_factory.mktemp("page") / "empty"
    folder.mkdir()
    (folder / "billing.py").write_text(block_of(PAGE, "python"))
    made = Server(folder, api)
    made.start()
    made.key = made.run("keys", "create")["apiKey"]
    try:
        yield made
    finally:
        made.kill()


def sent_for(api: StubServer, action_id: str) -> list[Asked]:
    return [asked for asked in api.asked if asked.headers["idempotency-key"].startswith(action_id)]


def approve_on_page(server: Server, run_id: str, action_id: str) -> str:
    """Approve as the signed-in owner; the page as it was shown."""
    with signed_in(server.run("owner-link")["url"]) as browser:
        page = browser.get(f"{server.base_url}/runs/{run_id}").text
        wanted = form(page, action_id, "approve")
        done = browser.post(server.base_url + wanted.address, data=wanted.fields)
        assert done.status_code == 303, done.text
    return page


@pytest.mark.slow
def test_the_code_of_the_page_is_a_gated_tool(server: Server, api: StubServer) -> None:
    api.answers["/refunds"] = PAID
    staged = server.call(TOOL, **WANTED)
    action_id, run_id = staged["actions"][0]["id"], staged["runId"]
    assert staged["externalActionsExecuted"] == 0
    for shown in ("Refund 12.50 EUR to cus_1", "cus_1", "12.50 EUR", "It broke.", "Twice."):
        assert shown in text_of(staged)
    assert server.call(TOOL, **{**WANTED, "amount": "501 EUR"})["problems"][0]["path"] == "amount"

    assert server.call(APPROVE, actionId=action_id)["reason"] == "requires_approval"
    assert server.call(EXECUTE, actionId=action_id)["reason"] == "requires_approval"
    assert sent_for(api, action_id) == []

    page = approve_on_page(server, run_id, action_id)
    for shown in ("Refund 12.50 EUR to cus_1", "Customer", "cus_1", "12.50 EUR", "It broke.", "Twice."):
        assert shown in page
    done = server.call(EXECUTE, actionId=action_id, idempotencyKey="once")
    assert (done["externalId"], done["output"]["id"]) == ("re_1", "re_1")
    assert server.call(EXECUTE, actionId=action_id, idempotencyKey="once")["externalId"] == "re_1"
    (asked,) = sent_for(api, action_id)
    assert json.loads(asked.body) == WANTED
    assert asked.headers["idempotency-key"] == f"{action_id}:1"

    kinds = {event["kind"] for event in server.call(AUDIT, runId=run_id)["events"]}
    assert {"run_prepared", "action_approve", "action_claim", "action_succeed"} <= kinds
    schema = server.get("/openapi.json").json()["paths"][f"/api/tools/{TOOL}"]["post"]
    assert schema["summary"] or schema["description"]
    assert "acme-billing" in [each["id"] for each in server.get("/.well-known/mcp.json").json()["operators"]]
    assert TOOL in server.get("/llms.txt").text


@pytest.mark.slow
def test_after_kill_9_the_outcome_is_unknown_and_no_second_refund_is_paid(
    server: Server, api: StubServer
) -> None:
    staged = server.call(TOOL, **WANTED)
    action_id, run_id = staged["actions"][0]["id"], staged["runId"]
    approve_on_page(server, run_id, action_id)
    api.answers["/refunds"] = Answer(stall=True)

    def execute() -> None:
        with contextlib.suppress(OSError, HTTPException):
            server.call(EXECUTE, actionId=action_id)

    thread = threading.Thread(target=execute, daemon=True)
    thread.start()
    eventually(lambda: sent_for(api, action_id), "the request has left")
    server.kill()
    thread.join(DEADLINE_SECONDS)
    server.start()
    eventually(
        lambda: server.call(GET, actionId=action_id)["executionState"] == "outcome_unknown",
        "the outcome is unknown",
    )
    assert server.call(EXECUTE, actionId=action_id)["reason"] == "outcome_unknown"
    assert {asked.headers["idempotency-key"] for asked in sent_for(api, action_id)} == {f"{action_id}:1"}


@pytest.mark.slow
def test_a_server_with_the_code_of_the_page_conforms(server: Server) -> None:
    keys = [server.run("workspace", "create", name)["apiKey"] for name in ("one", "two")]
    report = server.run("conform", server.base_url, "--key-stdin", given="\n".join(keys))
    assert [each for each in report["outcomes"] if each["status"] == "failed"] == []


def test_the_tests_of_the_page_pass(tmp_path: Path) -> None:
    (tmp_path / "billing.py").write_text(block_of(PAGE, "python"))
    (tmp_path / "test_billing.py").write_text(block_of(PAGE, "python", 1))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_billing.py"],
        cwd=tmp_path,
        env=environment({}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "2 passed" in done.stdout, done.stdout


def test_an_installed_package_is_loaded_by_the_settings_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "billing.py").write_text(block_of(PAGE, "python"))
    config = tmp_path / "assent.toml"
    config.write_text(block_of(PAGE, "toml"))
    settings = {
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
        "ASSENT_PORT": str(free_port()),
        "ASSENT_CONFIG": str(config),
    }
    with StdioClient(tmp_path / "data", settings) as client:
        assert TOOL in {tool["name"] for tool in client.ask("tools/list")["result"]["tools"]}
