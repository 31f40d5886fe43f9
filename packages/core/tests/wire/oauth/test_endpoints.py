"""What programs get from the endpoints where they ask for less or for other than a client does that goes its way."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest
from tests.support.oauth.kit import Person, make_client
from tests.support.oauth.plain_client import PlainClient, make_pkce
from tests.support.review.kit import Server
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import BASE_URL

WELL_KNOWN = "/.well-known"
METADATA = (
    f"{WELL_KNOWN}/oauth-protected-resource",
    f"{WELL_KNOWN}/oauth-protected-resource/api/mcp",
    f"{WELL_KNOWN}/oauth-protected-resource/mcp",
    f"{WELL_KNOWN}/oauth-authorization-server",
)
ABSENT = (
    f"{WELL_KNOWN}/openid-configuration",
    f"{WELL_KNOWN}/oauth-authorization-server/api/mcp",
    f"{WELL_KNOWN}/oauth-protected-resource/other",
    f"{WELL_KNOWN}/oauth-protected-resource/oauth/token",
)
POSTED = ("/oauth/token", "/oauth/register", "/oauth/revoke")


@pytest.fixture
async def person(server: Server) -> Person:
    return Person(await server.owner())


@pytest.fixture
async def client(server: Server) -> PlainClient:
    made = make_client(server)
    await made.discover(await made.greet())
    await made.register()
    return made


async def test_metadata_is_read_without_a_key_and_with_head(server: Server) -> None:
    http = server.elsewhere()
    for path in METADATA:
        got, head = await http.get(path), await http.head(path)
        assert (got.status_code, got.headers["content-type"]) == (200, "application/json"), path
        assert (head.status_code, head.content) == (200, b""), path
        assert (await http.post(path)).status_code == 405, path
        assert (await http.options(path)).status_code == 405, path
    for path in ABSENT:
        assert (await http.get(path)).status_code == 404, path


async def test_each_document_names_the_address_that_it_was_asked_at(server: Server) -> None:
    http = server.elsewhere()
    documents = [(await http.get(path)).json() for path in METADATA]

    assert [each["resource"] for each in documents[:3]] == [
        f"{BASE_URL}/api/mcp",
        f"{BASE_URL}/api/mcp",
        f"{BASE_URL}/mcp",
    ]
    assert documents[3]["issuer"] == BASE_URL
    # Refresh tokens are no right of the resource.
    assert all("offline_access" not in each["scopes_supported"] for each in documents)


async def test_what_changes_something_is_posted_and_never_kept(server: Server) -> None:
    http = server.elsewhere()
    for path in POSTED:
        for method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS"):
            refused = await http.request(method, path)
            assert (refused.status_code, refused.headers["allow"]) == (405, "POST"), (method, path)
        refused = await http.post(path, content=b"{}")
        assert (refused.status_code, refused.headers["cache-control"]) == (400, "no-store"), path
        assert refused.headers["content-type"] == "application/json"


RESOURCES = {
    "the endpoint": (f"{BASE_URL}/api/mcp", True),
    "its other path": (f"{BASE_URL}/mcp", True),
    "the whole server": (BASE_URL, True),
    "a slash behind it": (f"{BASE_URL}/api/mcp/", True),
    "an upper-case scheme": (BASE_URL.replace("http", "HTTP") + "/api/mcp", True),
    "nothing": ("", True),
    "an empty query": (f"{BASE_URL}/api/mcp?", False),
    "an empty fragment": (f"{BASE_URL}/api/mcp#", False),
    "a user": (BASE_URL.replace("//", "//user@") + "/api/mcp", False),
    "no scheme": (BASE_URL.removeprefix("http://") + "/api/mcp", False),
    "https": (BASE_URL.replace("http", "https") + "/api/mcp", False),
    "a path that only begins like it": (f"{BASE_URL}/api/mcp2", False),
    "a path below it": (f"{BASE_URL}/api/mcp/other", False),
    "an upper-case path": (f"{BASE_URL}/API/MCP", False),
}


@pytest.mark.parametrize(("named", "fits"), RESOURCES.values(), ids=RESOURCES.keys())
async def test_a_token_is_for_this_server_by_any_of_its_names(
    person: Person, client: PlainClient, named: str, fits: bool
) -> None:
    url = (
        client.authorization_url(make_pkce()[1], "s", resource="") + f"&resource={named.replace('#', '%23')}"
    )
    assert (await person.look(url)).status_code == (200 if fits else 400)
    got = await client.exchange("none", "x" * 43, resource=named)
    assert got.json()["error"] == ("invalid_grant" if fits else "invalid_target")


@pytest.mark.parametrize("named", ["https://ASSENT.example/api/mcp", "https://assent.example:443/api/mcp"])
async def test_the_name_of_a_server_has_no_case_and_may_have_its_port(tmp_path: Path, named: str) -> None:
    server = Server(new_sqlite(tmp_path / "assent.db"), tmp_path, "https://assent.example")
    client = make_client(server)
    await client.discover(await client.greet())
    await client.register()
    got = await client.exchange("none", "x" * 43, resource=named)
    assert got.json()["error"] == "invalid_grant"
    await server.close()


CODE = {"grant_type": "authorization_code", "code": "c", "code_verifier": "v" * 43, "client_id": "x"}
RENEWAL = {"grant_type": "refresh_token", "refresh_token": "r", "client_id": "x"}


@pytest.mark.parametrize(
    ("path", "whole", "left_out"),
    [
        *(("/oauth/token", CODE, name) for name in CODE),
        *(("/oauth/token", RENEWAL, name) for name in RENEWAL),
        *(("/oauth/revoke", {"token": "t", "client_id": "x"}, name) for name in ("token", "client_id")),
    ],
)
@pytest.mark.parametrize("empty", [True, False])
async def test_a_request_that_lacks_a_parameter_is_told_which(
    server: Server, path: str, whole: dict[str, str], left_out: str, empty: bool
) -> None:
    form = {name: value for name, value in whole.items() if name != left_out}
    got = await server.elsewhere().post(path, data={**form, left_out: ""} if empty else form)
    assert (got.status_code, got.json()["error"]) == (400, "invalid_request")
    assert left_out in got.json()["error_description"]


@pytest.mark.parametrize("body", [b'{"grant_type":"authorization_code"}', b"\xff=1", b"a=%ff", b"x" * 20_000])
async def test_a_body_that_is_no_form_is_refused(server: Server, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    for path in ("/oauth/token", "/oauth/revoke"):
        got = await server.elsewhere().post(path, content=body, headers=headers)
        assert (got.status_code, got.json()["error"]) == (
            413 if len(body) > 16_384 else 400,
            "invalid_request",
        )


VERIFIERS = {
    "v" * 42: False,
    "v" * 129: False,
    "v" * 42 + "+": False,
    "v" * 42 + "é": False,
    "v" * 42 + "\n": False,
    "v" * 43: True,
    "v" * 128: True,
    "-._~" * 11: True,
}


@pytest.mark.parametrize(("verifier", "fits"), VERIFIERS.items())
async def test_a_verifier_has_43_to_128_characters_that_need_no_escape(
    person: Person, client: PlainClient, verifier: str, fits: bool
) -> None:
    digest = hashlib.sha256(verifier.encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    back = await person.let_in(client.authorization_url(challenge, "s"))
    code = back.partition("code=")[2].partition("&")[0]
    got = await client.exchange(code, verifier)
    assert got.status_code == (200 if fits else 400)


async def test_an_empty_parameter_counts_as_none(person: Person, client: PlainClient) -> None:
    client.scope = client.resource = ""
    url = client.authorization_url(make_pkce()[1], "") + "&state=&scope=&resource=&response_mode="
    assert "state" not in await person.let_in(url)
