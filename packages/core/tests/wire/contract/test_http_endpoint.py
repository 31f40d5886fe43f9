"""The HTTP endpoint itself: methods, media types, framing, and who may knock at all."""

from __future__ import annotations

from typing import Any

import httpx
import msgspec
import pytest
from tests.support.contract.talk import KEYED, PUBLIC, enveloped, modern_headers, request, tool_call
from tests.support.surfaces import BASE_URL, Surface

PATHS = ("/api/mcp", "/mcp", "/api/mcp/", "/mcp/")
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
PONG = {"jsonrpc": "2.0", "id": 1, "result": {}}

ROUTES = (
    ("GET", "/api/mcp"),
    ("POST", "/api/mcp"),
    ("POST", "/mcp"),
    ("DELETE", "/mcp"),
    ("POST", f"/api/tools/{PUBLIC}"),
    ("GET", "/.well-known/mcp.json"),
    ("GET", "/openapi.json"),
    ("GET", "/workflow.schema.json"),
    ("GET", "/llms.txt"),
    ("GET", "/llms-full.txt"),
    ("GET", "/for-agents"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("GET", "/"),
    ("GET", "/get-key"),
    ("POST", "/get-key"),
    ("GET", "/claim/x"),
    ("GET", "/static/assent.css"),
    ("GET", "/no/such/page"),
    ("OPTIONS", "/api/mcp"),
)


@pytest.mark.rule("E58", "E75")
async def test_every_address_of_the_endpoint_answers_alike_without_a_redirect(web: Surface) -> None:
    for path in PATHS:
        response = await web.http.post(path, content=PING)
        assert (response.status_code, response.json()) == (200, PONG)
        assert response.headers["content-type"] == "application/json"


@pytest.mark.rule("E76")
async def test_get_is_the_metadata_without_a_key(web: Surface) -> None:
    known = (await web.http.get("/.well-known/mcp.json")).json()
    for path in PATHS:
        for accept in (
            None,
            "*/*",
            "application/json",
            "text/html",
            "application/json, text/event-stream",
            "text/*",
        ):
            headers = {"Accept": accept} if accept is not None else {}
            response = await web.http.get(path, headers=headers)
            assert (response.status_code, response.json()) == (200, known)


@pytest.mark.rule("E76")
async def test_get_for_an_event_stream_is_405_and_does_not_hang(web: Surface) -> None:
    for accept in (
        "text/event-stream",
        "text/event-stream;q=0.9",
        "TEXT/EVENT-STREAM",
        "text/event-stream, text/html",
    ):
        response = await web.http.get("/api/mcp", headers={"Accept": accept})
        assert response.status_code == 405
        assert "POST" in response.headers["allow"]


@pytest.mark.parametrize("method", ["DELETE", "PUT", "PATCH", "OPTIONS"])
async def test_there_is_no_session_to_delete_and_nothing_to_put(web: Surface, method: str) -> None:
    response = await web.http.request(method, "/api/mcp", headers={"Mcp-Session-Id": "x"})

    assert response.status_code == 405
    assert "POST" in response.headers["allow"]


@pytest.mark.rule("E58")
@pytest.mark.parametrize(
    "accept",
    [
        None,
        "",
        "*/*",
        "application/json",
        "Application/JSON",
        "application/*",
        "application/json;q=0.5",
        "application/json, text/event-stream",
        "text/event-stream, application/json",
        "text/html, application/json;q=0.1",
        "text/html, */*;q=0.1",
    ],
)
async def test_json_is_the_answer_unless_only_events_are_accepted(web: Surface, accept: str | None) -> None:
    web.http.headers.pop("accept", None)
    response = await web.http.post(
        "/api/mcp", content=PING, headers={"Accept": accept} if accept is not None else {}
    )

    assert (response.status_code, response.json()) == (200, PONG)
    assert response.headers["content-type"] == "application/json"


async def test_json_in_a_second_accept_line_counts(web: Surface) -> None:
    web.http.headers.pop("accept", None)
    lines = [("Accept", "text/event-stream"), ("Accept", "application/json")]

    assert (await web.http.post("/api/mcp", content=PING, headers=lines)).json() == PONG


def events(text: str) -> list[dict[str, Any]]:
    """The messages of an event stream, read as its specification says."""
    found = []
    for block in text.replace("\r\n", "\n").split("\n\n"):
        fields = [line.partition(": ") for line in block.split("\n") if line]
        if fields:
            assert [name for name, _, _ in fields] == ["event", "data"]
            assert fields[0][2] == "message"
            found.append(msgspec.json.decode(fields[1][2]))
    assert text.endswith(("\n\n", "\r\n\r\n"))
    return found


@pytest.mark.rule("E58")
async def test_who_accepts_only_events_gets_one_event(web: Surface) -> None:
    for body in (PING, msgspec.json.encode(tool_call(PUBLIC)), b"{", msgspec.json.encode(request("nope"))):
        as_json = await web.http.post("/api/mcp", content=body, headers={"Accept": "application/json"})
        as_event = await web.http.post("/api/mcp", content=body, headers={"Accept": "text/event-stream"})

        assert as_event.headers["content-type"].startswith("text/event-stream")
        assert as_event.headers["x-accel-buffering"] == "no"
        assert as_event.status_code == as_json.status_code
        assert events(as_event.text) == [as_json.json()]


async def test_an_event_of_the_gate_keeps_its_status_and_headers(web: Surface) -> None:
    response = await web.http.post("/api/mcp", json=tool_call(KEYED), headers={"Accept": "text/event-stream"})

    assert response.status_code == 401
    assert response.headers["www-authenticate"].startswith("Bearer")
    (event,) = events(response.text)
    assert event["error"]["data"]["reason"] == "missing_api_key"


async def test_modern_clients_get_events_too(web: Surface) -> None:
    message = enveloped("tools/list")
    headers = modern_headers(message) | {"Accept": "text/event-stream"}

    response = await web.http.post("/mcp", json=message, headers=headers)

    (event,) = events(response.text)
    assert event["result"]["resultType"] == "complete"


async def test_a_notification_is_202_and_empty_whatever_is_accepted(web: Surface) -> None:
    for accept in ("application/json", "text/event-stream", "*/*"):
        response = await web.http.post(
            "/api/mcp",
            json={"jsonrpc": "2.0", "method": "notifications/initialized"},
            headers={"Accept": accept},
        )
        assert (response.status_code, response.content) == (202, b"")


async def test_who_accepts_neither_json_nor_events_is_told_so(web: Surface) -> None:
    response = await web.http.post("/api/mcp", content=PING, headers={"Accept": "text/html"})

    assert response.status_code == 406


@pytest.mark.parametrize(
    "content_type", [None, "application/json", "text/plain", "application/json; charset=utf-8", "x"]
)
async def test_what_the_body_is_called_does_not_matter(web: Surface, content_type: str | None) -> None:
    headers = {"Content-Type": content_type} if content_type is not None else {}

    assert (await web.http.post("/api/mcp", content=PING, headers=headers)).json() == PONG


# ── who may knock ────────────────────────────────────────────────────────────────────────────────

FOREIGN_HOSTS = (
    "evil.example",
    "evil.example:8080",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil.example:127",
    "169.254.169.254",
    "0.0.0.0:8080",
    "127.0.0.1:8080:80",
    "[::2]:8080",
    "[::1",
    "localhost:port",
    "user@localhost",
    "",
)
FOREIGN_ORIGINS = (
    "https://evil.example",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example:8080",
    "https://localhost@evil.example",
    "http://evil.example#localhost",
    "http://evil.example/127.0.0.1:8080",
    "null",
    "file://",
    "chrome-extension://abcdef",
    "localhost",
    "//localhost",
    "http://[",
    "http://[::1",
    "http://",
    "http://localhost:80:80",
    "javascript:alert(1)",
    "\xe9",
    "",
)


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_a_foreign_host_is_refused_on_every_route_but_probes_and_a_foreign_origin_on_every_route(
    web: Surface, method: str, path: str
) -> None:
    host = await web.http.request(method, path, headers={"Host": "evil.example"})
    origin = await web.http.request(method, path, headers={"Origin": "https://evil.example"})

    is_probe = path in ("/healthz", "/readyz", "/metrics")
    assert (host.status_code == 421) != is_probe and origin.status_code == 403
    assert "access-control-allow-origin" not in origin.headers


async def test_no_trick_in_the_host_gets_past(web: Surface) -> None:
    for host in FOREIGN_HOSTS:
        response = await web.http.post("/api/mcp", content=PING, headers={b"Host": host.encode("latin-1")})
        assert response.status_code == 421, host


async def test_no_trick_in_the_origin_gets_past(web: Surface) -> None:
    for origin in FOREIGN_ORIGINS:
        response = await web.http.post(
            "/api/mcp", content=PING, headers={b"Origin": origin.encode("latin-1")}
        )
        assert response.status_code == 403, origin


async def test_of_two_hosts_or_origins_a_foreign_one_decides(web: Surface) -> None:
    for name, good, bad, status in (
        ("Host", "127.0.0.1:8080", "evil.example", 421),
        ("Origin", BASE_URL, "https://evil.example", 403),
    ):
        for lines in ([(name, good), (name, bad)], [(name, bad), (name, good)]):
            response = await web.http.post("/api/mcp", content=PING, headers=lines)
            assert response.status_code == status, lines


async def test_the_machine_itself_is_let_in_by_every_name_it_has(web: Surface) -> None:
    for host in ("127.0.0.1:8080", "localhost:8080", "LOCALHOST", "[::1]:8080", "127.0.0.1"):
        assert (await web.http.post("/api/mcp", content=PING, headers={"Host": host})).json() == PONG
    for origin in (
        "http://127.0.0.1:8080",
        "http://localhost:3000",
        "https://localhost",
        "http://[::1]:5173",
    ):
        assert (await web.http.post("/api/mcp", content=PING, headers={"Origin": origin})).json() == PONG


class TestPublicServer:
    """A server under a name of its own, with one more name and one more origin in its settings. Who gets in lacks a
    key there."""

    @pytest.fixture
    def changed_settings(self) -> dict[str, Any]:
        return {
            "base_url": "https://assent.example",
            "allowed_hosts": ("internal.example",),
            "allowed_origins": ("https://app.example",),
        }

    async def test_only_the_names_that_were_set_are_ours(self, web: Surface) -> None:
        for host, status in (
            ("assent.example", 401),
            ("ASSENT.example:443", 401),
            ("internal.example", 401),
            ("app.example", 421),
            ("assent.example.evil", 421),
            ("xassent.example", 421),
        ):
            response = await web.http.post("/api/mcp", content=PING, headers={"Host": host})
            assert response.status_code == status, host

    async def test_only_the_origins_that_were_set_are_ours(self, web: Surface) -> None:
        for origin, status in (
            ("https://assent.example", 401),
            ("https://app.example", 401),
            ("http://app.example", 403),
            ("https://app.example:444", 403),
            ("https://app.example/", 403),
            ("https://internal.example", 403),
        ):
            headers = {"Host": "assent.example", "Origin": origin}
            response = await web.http.post("/api/mcp", content=PING, headers=headers)
            assert response.status_code == status, origin


# ── what every response says ─────────────────────────────────────────────────────────────────────


async def test_every_response_has_a_request_id_of_its_own(web: Surface) -> None:
    seen = set()
    for method, path in ROUTES:
        response = await web.http.request(method, path)
        seen.add(response.headers["x-request-id"])
    assert len(seen) == len(ROUTES)


async def test_no_caller_makes_metrics(web: Surface) -> None:
    """Labels are names of tools: not what a caller wrote, with or without a key, right or wrong."""
    for n in range(20):
        name = f'evil{n}"}} 1\nassent_fake{{x="'
        await web.call(name)
        await web.call(name, key="clp_live_wrong")
        await web.http.post(f"/api/tools/evil{n}", headers={"Authorization": "Bearer x"})
    await web.call("chiefmo_list_connectors")

    text = (await web.http.get("/metrics")).text

    assert "evil" not in text
    assert "fake" not in text
    assert f'assent_tool_calls_total{{tool="{PUBLIC}",outcome="ok"}} 1' in text
    assert 'tool="unknown"' in text


async def test_health_is_always_told_and_readiness_when_the_store_answers(web: Surface) -> None:
    assert (await web.http.get("/healthz")).status_code == 200
    assert (await web.http.get("/readyz")).json() == {"ok": True}


@pytest.mark.parametrize(
    ("changed_settings", "status"),
    [
        ({}, 200),
        ({"host": "0.0.0.0"}, 401),  # noqa: S104 - read, not bound
        ({"base_url": "http://192.168.1.5:8080"}, 401),
        ({"trust_proxy_headers": True}, 401),
    ],
)
async def test_metrics_and_paths_are_shown_without_a_key_on_this_machine_alone(
    surface: Surface, changed_settings: dict[str, Any], status: int
) -> None:
    base_url = changed_settings.get("base_url", BASE_URL)
    asked = httpx.AsyncClient(transport=surface.wire, base_url=base_url)
    assert (await asked.get("/metrics")).status_code == status
    page = (await asked.get("/sign-in")).text
    assert (str(surface.app.settings.data_dir) in page) == (status == 200)
    await asked.aclose()
