"""Who may call: a key is right, or it is refused in one voice, whatever is wrong with it (C2)."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable

import pytest
from tests.support.contract.talk import KEYED, PUBLIC, RECOVERY_FIELDS, SIGNUP, request, say, say_modern
from tests.support.own_sql import bind_marks
from tests.support.surfaces import Outcome, Surface

from assent.engine.core import tenancy
from assent.engine.core.tenancy import IssuedKey, hash_key
from assent.ports import Transaction


async def revoke(surface: Surface, issued: IssuedKey) -> None:
    now_ms = surface.clock.now_ms()
    assert await surface.app.store.write(
        lambda: tenancy.revoke_key(issued.workspace_id, issued.key_id, now_ms, by="test")
    )


async def malformed(surface: Surface) -> str:
    return "clp_live_short"


async def unknown(surface: Surface) -> str:
    return (await surface.new_workspace()).api_key[:-32] + secrets.token_urlsafe(24)


async def of_no_workspace(surface: Surface) -> str:
    return "clp_live_" + secrets.token_urlsafe(24) + secrets.token_urlsafe(24)


async def one_character_off(surface: Surface) -> str:
    key = (await surface.new_workspace()).api_key
    return key[:-1] + ("A" if key[-1] != "A" else "B")


async def of_the_other_mode(surface: Surface) -> str:
    return (await surface.new_workspace(mode="live")).api_key.replace("clp_live_", "clp_dev_")


async def without_its_prefix(surface: Surface) -> str:
    return (await surface.new_workspace()).api_key.removeprefix("clp_live_")


async def with_more_behind_it(surface: Surface) -> str:
    return (await surface.new_workspace()).api_key + "A"


async def revoked(surface: Surface) -> str:
    issued = await surface.new_workspace()
    await revoke(surface, issued)
    return issued.api_key


async def expired(surface: Surface) -> str:
    issued = await surface.new_workspace(expires_ms=surface.clock.now_ms() + 1_000)
    surface.clock.advance(seconds=1)
    return issued.api_key


async def the_hash_of_a_key(surface: Surface) -> str:
    return hash_key((await surface.new_workspace()).api_key)


WRONG: tuple[Callable[[Surface], Awaitable[str]], ...] = (
    malformed,
    unknown,
    of_no_workspace,
    one_character_off,
    of_the_other_mode,
    without_its_prefix,
    with_more_behind_it,
    revoked,
    expired,
    the_hash_of_a_key,
)


def assert_refused(surface: Surface, outcome: Outcome) -> None:
    assert outcome.reason == "invalid_api_key"
    assert set(outcome.payload) >= RECOVERY_FIELDS
    # A second workspace would have none of the drafts, memory and connections of the first.
    assert outcome.payload["recoveryTool"] is None
    assert SIGNUP not in json.dumps(outcome.payload)
    assert outcome.payload["statusCode"] == 401
    if surface.transport == "http":
        assert outcome.status == 401
        assert outcome.headers["www-authenticate"].startswith("Bearer")
        # Hosts would ask a person to sign in when they see this, and a key in their settings would still be wrong.
        assert "resource_metadata" not in outcome.headers["www-authenticate"]
        assert outcome.message["error"]["code"] == -32000
        assert outcome.message["error"]["data"] == outcome.payload
    else:
        assert outcome.message["result"]["isError"] is True


@pytest.mark.rule("E84", "E87", "E93", "E51", "E53")
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
async def test_a_wrong_key_is_refused_on_every_tool_also_on_public_ones(
    surface: Surface, wrong: Callable[[Surface], Awaitable[str]]
) -> None:
    key = await wrong(surface)

    for tool in (KEYED, PUBLIC, SIGNUP, "no_such_tool"):
        outcome = await surface.call(tool, {"email": "a@b.c"} if tool == SIGNUP else {}, key=key)
        assert_refused(surface, outcome)
        assert key not in json.dumps(outcome.message)


async def test_nothing_in_the_answer_tells_what_is_wrong_with_a_key(surface: Surface) -> None:
    answers = [(await surface.call(KEYED, key=await wrong(surface))).payload for wrong in WRONG]

    assert all(answer == answers[0] for answer in answers)


@pytest.mark.rule("E53", "E93")
async def test_only_a_caller_without_any_key_is_told_to_sign_up(surface: Surface) -> None:
    keyless = await surface.call(KEYED)
    wrong = await surface.call(KEYED, key="clp_live_short")

    assert (keyless.reason, keyless.payload["recoveryTool"]["name"]) == ("missing_api_key", SIGNUP)
    assert (wrong.reason, wrong.payload["statusCode"], wrong.payload["retryable"]) == (
        "invalid_api_key",
        401,
        False,
    )


@pytest.mark.rule("E84")
async def test_a_wrong_key_is_refused_on_the_tool_list_too(surface: Surface) -> None:
    heard = await say(surface, request("tools/list"), key="clp_live_nope")

    assert heard.error["data"]["reason"] == "invalid_api_key"
    assert heard.status in (401, None)


@pytest.mark.rule("E87")
async def test_in_the_modern_era_a_missing_key_is_answered_the_same_way(surface: Surface) -> None:
    heard = await say_modern(surface, "tools/call", {"name": KEYED, "arguments": {}})

    if surface.transport == "http":
        assert heard.status == 401
        assert "resource_metadata" in heard.headers["www-authenticate"]
        assert heard.error["data"]["reason"] == "missing_api_key"
    else:
        assert heard.result["structuredContent"]["statusCode"] == 401


@pytest.mark.rule("E82")
async def test_every_key_starts_with_its_kind_and_works(surface: Surface) -> None:
    for mode, prefix in (("dev", "clp_dev_"), ("live", "clp_live_")):
        issued = await surface.new_workspace(mode=mode)  # type: ignore[arg-type]
        assert issued.api_key.startswith(prefix)
        outcome = await surface.call(KEYED, key=issued.api_key)
        assert outcome.payload["key"]["mode"] == mode


@pytest.mark.rule("E51")
async def test_a_key_whose_workspace_is_gone_is_told_so_and_stops(surface: Surface) -> None:
    issued = await surface.sign_in()

    def remove() -> Transaction[None]:
        yield bind_marks("DELETE FROM workspaces WHERE workspace_id = ?", issued.workspace_id)

    await surface.app.store.write(remove)
    refused = await surface.call(KEYED)

    assert (refused.reason, refused.payload["retryable"]) == ("workspace_not_found", False)
    assert refused.payload["recoveryTool"] is None


async def test_revoking_and_expiring_take_hold_with_the_very_next_call(surface: Surface) -> None:
    issued = await surface.new_workspace(expires_ms=surface.clock.now_ms() + 60_000)
    assert not (await surface.call(KEYED, key=issued.api_key)).is_error

    surface.clock.advance(seconds=59.999)
    assert not (await surface.call(KEYED, key=issued.api_key)).is_error
    surface.clock.advance(seconds=0.001)
    assert (await surface.call(KEYED, key=issued.api_key)).reason == "invalid_api_key"

    other = await surface.new_workspace()
    assert not (await surface.call(KEYED, key=other.api_key)).is_error
    await revoke(surface, other)
    assert (await surface.call(KEYED, key=other.api_key)).reason == "invalid_api_key"


async def test_no_answer_ever_shows_the_key_it_was_asked_with(surface: Surface) -> None:
    issued = await surface.sign_in()
    for tool, arguments in ((KEYED, {}), (PUBLIC, {}), (SIGNUP, {"email": "a@b.c"}), (SIGNUP, {"email": 5})):
        said = json.dumps((await surface.call(tool, arguments)).message)
        assert issued.api_key not in said
        assert issued.api_key[-32:] not in said


# ── how a key is presented over HTTP ─────────────────────────────────────────────────────────────


@pytest.mark.rule("E58")
async def test_the_scheme_may_be_written_in_any_case(web: Surface) -> None:
    key = (await web.new_workspace()).api_key
    for line in (f"Bearer {key}", f"bearer {key}", f"BEARER {key}", f"Bearer   {key}  "):
        response = await web.http.post(f"/api/tools/{KEYED}", headers={"Authorization": line})
        assert response.status_code == 200, line.partition(" ")[0]


@pytest.mark.rule("E58")
async def test_a_key_counts_nowhere_but_in_its_header(web: Surface) -> None:
    key = (await web.new_workspace()).api_key
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": KEYED, "arguments": {}}}
    attempts = (
        web.http.post(f"/api/mcp?api_key={key}&token={key}&key={key}", json=call),
        web.http.post("/api/mcp", json=call, headers={"X-API-Key": key}),
        web.http.post(
            "/api/mcp", json=call, headers={"Cookie": f"api_key={key}; Authorization=Bearer {key}"}
        ),
        web.http.post("/api/mcp", json=call, headers={"Proxy-Authorization": f"Bearer {key}"}),
        web.http.post("/api/mcp", json={**call, "params": {**call["params"], "_meta": {"apiKey": key}}}),  # type: ignore[dict-item]
    )
    for attempt in attempts:
        assert (await attempt).status_code == 401


@pytest.mark.parametrize(
    "line", ["", "Bearer", "Bearer ", "Basic dTpw", "clp_live_x", "Bearer a b", "Digest x", "Bearer é"]
)
async def test_an_authorization_that_is_no_bearer_key_is_a_wrong_key_and_not_none(
    web: Surface, line: str
) -> None:
    for path, body in (
        (f"/api/tools/{PUBLIC}", b""),
        (
            "/api/mcp",
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"chieflab_list_connectors"}}',
        ),
    ):
        response = await web.http.post(path, content=body, headers={b"Authorization": line.encode("latin-1")})
        assert response.status_code == 401


async def test_of_two_authorizations_a_wrong_one_is_not_outvoted(web: Surface) -> None:
    key = (await web.new_workspace()).api_key
    lines = [("Authorization", "Bearer clp_live_wrong"), ("Authorization", f"Bearer {key}")]
    for ordered in (lines, lines[::-1]):
        response = await web.http.post(f"/api/tools/{KEYED}", headers=ordered)
        assert response.status_code == 401


async def test_open_methods_stay_open_whatever_key_is_shown(surface: Surface) -> None:
    for method in ("initialize", "ping"):
        assert "result" in (await say(surface, request(method), key="clp_live_wrong")).message
