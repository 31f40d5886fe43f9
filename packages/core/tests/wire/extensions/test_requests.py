"""Requests of a stranger's function keep to the rules of the server (`ctx.http`)."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.actions.kit import APPROVE, EXECUTE, Gate
from tests.support.net.stub_server import closed_port

import assent
from assent_conform.testing.operators import execute

CALL = "acme_billing_call"


class Provider(http.server.BaseHTTPRequestHandler):
    """Answers with what it got, or hangs up."""

    got: list[Any]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.got.append(json.loads(body))
        if self.path == "/gone":
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def provider() -> Iterator[tuple[str, list[Any]]]:
    got: list[Any] = []
    kind = type("Here", (Provider,), {"got": got})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", got
        server.shutdown()


@pytest.fixture
def changed_settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"allow_hosts": getattr(request, "param", ("127.0.0.1",))}


async def approve(surface: Gate, url: str) -> str:
    action_id: str = (await surface.done(CALL, url=url))["actions"][0]["id"]
    await surface.done(APPROVE, actionId=action_id)
    return action_id


async def test_a_request_reaches_a_host_that_the_server_allows(
    surface: Gate, provider: tuple[str, list[Any]]
) -> None:
    url, got = provider
    action_id = await approve(surface, url)
    done = await surface.done(EXECUTE, actionId=action_id)
    assert done["output"] == {"key": f"{action_id}:1"}
    assert got == [{"key": f"{action_id}:1"}]


@pytest.mark.parametrize("changed_settings", [()], indirect=True)
async def test_a_private_address_is_not_reached_and_nothing_counts_as_sent(
    surface: Gate, provider: tuple[str, list[Any]]
) -> None:
    url, got = provider
    action_id = await approve(surface, url)
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "connector_failed"
    assert await surface.where(action_id) == "retryable"
    assert got == []


async def test_a_connection_that_breaks_leaves_the_outcome_unknown(
    surface: Gate, provider: tuple[str, list[Any]]
) -> None:
    url, got = provider
    action_id = await approve(surface, f"{url}/gone")
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "outcome_unknown"
    assert len(got) == 1


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_after_one_request_of_a_call_a_failed_one_leaves_the_outcome_unknown(
    provider: tuple[str, list[Any]], method: str
) -> None:
    """The first may have had its effect, so that the call must not count as not sent."""
    url, got = provider
    operator = assent.Operator("twice")

    @operator.effect(risk="low")
    async def pay(ctx: assent.Context) -> assent.Receipt:
        """Pay, then ask. USE WHEN testing."""
        await ctx.http.request("POST", url, json={})
        await ctx.http.request(method, f"http://127.0.0.1:{closed_port()}/", json={})
        return assent.Receipt("paid")

    with pytest.raises(assent.OutcomeUnknown):
        execute(pay, {})
    assert got == [{}]
