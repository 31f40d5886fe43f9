"""Which calls are refused for want of a credential, and which refusal tells a client to sign in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.contract.talk import initialize_params, request, tool_call
from tests.support.oauth.kit import Person, make_client
from tests.support.oauth.plain_client import MODERN, PlainClient, read_challenge
from tests.support.review.kit import Server
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import BASE_URL

KEYED, PUBLIC, SIGNUP = "chieflab_status", "chieflab_list_connectors", "chieflab_signup_workspace"
LOOKING: tuple[dict[str, Any], ...] = (
    request("initialize", initialize_params("2025-06-18")),
    request("ping"),
    request("tools/list"),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)
WELL_KNOWN = "/.well-known/oauth-protected-resource"
METADATA = (WELL_KNOWN, f"{WELL_KNOWN}/api/mcp", "/.well-known/oauth-authorization-server")


async def post(http: httpx.AsyncClient, message: Any, **headers: str) -> httpx.Response:
    return await http.post("/api/mcp", json=message, headers=headers)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Any]:
    def make(base_url: str = BASE_URL, **settings: Any) -> Server:
        return Server(new_sqlite(tmp_path / "assent.db"), tmp_path, base_url, **settings)

    yield make


@pytest.mark.rule("E84")
async def test_on_this_machine_a_client_looks_without_a_key_and_is_told_to_sign_in_when_it_calls(
    server: Server,
) -> None:
    here = server.elsewhere("127.0.0.1")

    assert [(await post(here, each)).status_code for each in LOOKING] == [200, 200, 200, 202]
    assert (await post(here, tool_call(PUBLIC))).status_code == 200
    refused = await post(here, tool_call(KEYED))
    assert refused.status_code == 401
    assert read_challenge(refused) == {
        "realm": "assent",
        "resource_metadata": f"{BASE_URL}{WELL_KNOWN}/api/mcp",
        "scope": "runs:write actions:decide actions:execute",
    }
    assert refused.json()["error"]["data"]["reason"] == "missing_api_key"


@pytest.mark.rule("E84")
@pytest.mark.parametrize(
    ("address", "headers"),
    [("203.0.113.7", {}), ("127.0.0.1", {"X-Forwarded-For": "203.0.113.7"}), ("127.0.0.1", {"Via": "1.1 x"})],
    ids=["elsewhere", "a proxy", "another proxy"],
)
async def test_elsewhere_nothing_but_the_public_tools_answers_without_a_key(
    server: Server, address: str, headers: dict[str, str]
) -> None:
    client = server.elsewhere(address)

    for message in (*LOOKING, tool_call(KEYED), tool_call("no_such_tool"), [], {"id": 1}, "x"):
        refused = await post(client, message, **headers)
        assert refused.status_code == 401, message
        assert "resource_metadata" in read_challenge(refused), message
        assert refused.json()["error"]["data"]["reason"] == "missing_api_key"
    assert (await post(client, tool_call(PUBLIC), **headers)).status_code == 200
    signed_up = await post(client, tool_call(SIGNUP, {"email": "ada@example.org"}), **headers)
    assert signed_up.json()["result"]["structuredContent"]["deliveryUrl"]
    # What a client reads before it signs in needs no key.
    for path in (*METADATA, "/.well-known/mcp.json", "/api/mcp"):
        assert (await client.get(path, headers=headers)).status_code == 200, path


@pytest.mark.rule("E84")
async def test_elsewhere_the_modern_era_is_refused_and_served_the_same_way(server: Server) -> None:
    client = make_client(server, version=MODERN)
    for method in ("server/discover", "tools/list"):
        assert (await client.say(method)).status_code == 401

    await client.sign_in(await client.greet(), Person(await server.owner()).let_in)
    assert [(await client.say(each)).status_code for each in ("server/discover", "tools/list")] == [200, 200]


@pytest.mark.rule("E84")
async def test_a_wrong_key_is_refused_from_the_first_message_on_and_tells_no_one_to_sign_in(
    server: Server,
) -> None:
    client = server.elsewhere()
    for message in (*LOOKING, tool_call(KEYED), tool_call(PUBLIC)):
        refused = await post(client, message, Authorization="Bearer clp_live_wrong")
        assert (refused.status_code, refused.headers["www-authenticate"]) == (
            401,
            'Bearer realm="assent", error="invalid_token"',
        )


@pytest.mark.rule("E84")
async def test_without_discovery_this_machine_is_refused_as_well(made: Any) -> None:
    server = made(open_discovery=False)
    here = server.elsewhere("127.0.0.1")
    for message in LOOKING:
        assert "resource_metadata" in read_challenge(await post(here, message))
    assert (await post(here, tool_call(PUBLIC))).status_code == 200
    await server.close()


@pytest.mark.rule("E84")
@pytest.mark.parametrize(
    "given",
    [{"oauth": False}, {"base_url": "http://192.168.1.5:8080"}],
    ids=["switched off", "plain http beyond this machine"],
)
async def test_where_clients_cannot_sign_in_the_handshake_is_open_and_no_refusal_speaks_of_it(
    made: Any, given: dict[str, Any]
) -> None:
    server = made(**given)
    client = server.elsewhere()
    assert [(await post(client, each)).status_code for each in LOOKING] == [200, 200, 200, 202]
    refused = await post(client, tool_call(KEYED))
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Bearer realm="assent"')
    for path in (*METADATA, "/oauth/authorize"):
        assert (await client.get(path)).status_code == 404
    for path in ("/oauth/token", "/oauth/register", "/oauth/revoke"):
        assert (await client.post(path)).status_code == 404
    await server.close()


@pytest.mark.rule("E84")
async def test_a_closed_server_without_signing_in_lists_nothing_as_before(made: Any) -> None:
    server = made(oauth=False, open_discovery=False)
    client = server.elsewhere()
    assert [(await post(client, each)).status_code for each in LOOKING] == [200, 200, 401, 202]
    await server.close()


async def test_a_server_with_a_name_is_known_by_it_whatever_host_is_called(made: Any) -> None:
    server = made("https://assent.example", allowed_hosts=("internal.example",))
    client = server.elsewhere()
    for host in ("assent.example", "internal.example", "127.0.0.1:8080"):
        said = read_challenge(await client.post("/mcp", json=LOOKING[0], headers={"Host": host}))
        assert said["resource_metadata"] == f"https://assent.example{WELL_KNOWN}/mcp"
    found = (await client.get(f"{WELL_KNOWN}/mcp")).json()
    assert (found["resource"], found["authorization_servers"]) == (
        "https://assent.example/mcp",
        ["https://assent.example"],
    )
    await server.close()


async def test_each_name_of_this_machine_is_one_server(made: Any) -> None:
    """A client compares the resource with the address that it was given."""
    server = made("http://localhost:8080")
    person = Person(await server.owner())
    for host in ("127.0.0.1:8080", "localhost:8080", "[::1]:8080"):
        http = server.elsewhere("127.0.0.1")
        http.headers["Host"] = host
        client = PlainClient(http, f"http://{host}/api/mcp")
        await client.sign_in(await client.call(KEYED), person.let_in)
        assert client.resource == f"http://{host}/api/mcp"
        assert client.server["issuer"] == "http://localhost:8080"
        assert (await client.call(KEYED)).status_code == 200
    await server.close()
