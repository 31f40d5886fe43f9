"""Checks of the endpoint: discovery, handshake, tool list, errors, and calls that need a key. They
change nothing on a server."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from assent_conform.checks.checking import NotJudged, Scene, check, expect
from assent_conform.checks.shapes import OPERATOR, expect_fields, expect_recovery
from assent_conform.checks.wire import ENDPOINT, METADATA, WireAnswer, encode_request

METHOD_NOT_FOUND: Final = -32601
TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_./-]{1,64}")
WRITING_TOOLS: Final = (
    *("chieflab_approve_action", "chieflab_reject_action", "chieflab_edit_action"),
    *("chieflab_execute_approved_action", "workflow_start"),
)
SIGNUP: Final = "chieflab_signup_workspace"
NO_SUCH_ACTION: Final = "00000000-0000-7000-8000-000000000000"


@check("E76", "discovery needs no key and is the same in both places", needs=("http",), writes=False)
async def discovery(scene: Scene) -> None:
    well_known, endpoint = await scene.nobody.get(METADATA), await scene.nobody.get(ENDPOINT)
    for path, response in ((METADATA, well_known), (ENDPOINT, endpoint)):
        expect(response.status_code == 200, f"GET {path} answers 200", response.status_code)
    expect(
        set(msgspec.json.decode(well_known.content)) == set(msgspec.json.decode(endpoint.content)),
        f"GET {ENDPOINT} has the same fields as {METADATA}",
    )


@check(
    *("E50", "E59", "E60"),
    "each operator is listed with its primary tool, and the spec is cited",
    needs=("http",),
    writes=False,
)
async def operators(scene: Scene) -> None:
    metadata = msgspec.json.decode((await scene.nobody.get(METADATA)).content)
    listed = {each["id"]: each for each in metadata["operators"]}
    for name, primary in scene.profile.primary_tools.items():
        expect(name in listed, f"{METADATA} lists {name}", sorted(listed))
        expect_fields(listed[name], OPERATOR, name)
        expect(listed[name]["primaryTool"] == primary, f"{name} has the primary tool {primary}")
    expect("chieflab.io/spec/v0.1" in msgspec.json.encode(metadata).decode(), "the spec is linked back to")


@check(
    *("E75", "E77"),
    "initialize answers an older client in its own revision, with instructions",
    needs=(),
    writes=False,
)
async def handshake(scene: Scene) -> None:
    answer = await scene.server.initialize("2024-11-05")
    found = answer.result
    expect(
        found.get("protocolVersion") == "2024-11-05", "protocolVersion is 2024-11-05", found or answer.text
    )
    expect(found["capabilities"]["tools"].get("listChanged") is False, "tools.listChanged is false")
    expect(found.get("serverInfo", {}).get("name"), "serverInfo has a name")
    expect("USE WHEN" in found.get("instructions", ""), "the instructions say USE WHEN")


@check("E81", "notifications/initialized gets no answer", needs=(), writes=False)
async def silence(scene: Scene) -> None:
    answer = await scene.server.send(
        msgspec.json.encode({"jsonrpc": "2.0", "method": "notifications/initialized"})
    )
    expect(answer.message is None, "a notification gets no JSON-RPC answer", answer.text)
    expect(200 <= answer.status < 300, "a notification is accepted", answer.status)


async def list_tools(scene: Scene, *, modern: bool | None = None) -> list[dict[str, Any]]:
    answer = await scene.server.rpc("tools/list", modern=modern)
    expect(answer.result, "tools/list answers with a result", answer.text)
    tools: list[dict[str, Any]] = answer.result["tools"]
    return tools


@check("E79", "every tool has a name, a description and an input schema", writes=False)
async def tool_list(scene: Scene) -> None:
    tools = await list_tools(scene)
    for tool in tools:
        expect_fields(tool, {"name": str, "description": str, "inputSchema": dict}, "a tool")
        expect(tool["inputSchema"].get("type") == "object", f"{tool['name']} takes an object")
    names = {tool["name"] for tool in tools}
    wanted = {*scene.profile.primary_tools.values(), "chieflab_approve_action", "chieflab_reject_action"}
    expect(wanted <= names, "the primary tools and the decisions are listed", sorted(wanted - names))


@check("E79", "names of tools are unique, and a required argument has a schema", writes=False)
async def schemas(scene: Scene) -> None:
    tools = await list_tools(scene)
    names = [str(tool["name"]) for tool in tools]
    twice = sorted({name for name in names if names.count(name) > 1})
    expect(not twice, "no name is listed twice", twice)
    odd = [name for name in names if not TOOL_NAME.fullmatch(name)]
    expect(not odd, "a name has at most 64 plain characters", odd)
    for tool in tools:
        schema = tool.get("inputSchema", {})
        unknown = set(schema.get("required", ())) - set(schema.get("properties", {}))
        expect(not unknown, f"{tool['name']} describes what it requires", sorted(unknown))


@check("E57", "E79", "the tools are the same with a handshake and without one", writes=False)
async def eras(scene: Scene) -> None:
    found = await scene.server.rpc("server/discover", modern=True)
    if found.error.get("code") == METHOD_NOT_FOUND:
        raise NotJudged("the server serves only revisions with a handshake")
    expect(found.result.get("supportedVersions"), "server/discover names its revisions", found.text)
    with_handshake, without = await list_tools(scene), await list_tools(scene, modern=True)
    listed = [sorted(str(tool["name"]) for tool in tools) for tools in (with_handshake, without)]
    expect(
        listed[0] == listed[1],
        "tools/list is the same without a handshake",
        sorted({*listed[0]} ^ {*listed[1]}),
    )


@check("E91", "a tool that writes takes an idempotencyKey", writes=False)
async def repeatable_tools(scene: Scene) -> None:
    tools = {tool["name"]: tool for tool in await list_tools(scene)}
    for name in (*scene.profile.writing_tools, *WRITING_TOOLS):
        taken = tools[name]["inputSchema"].get("properties", {}) if name in tools else {}
        expect("idempotencyKey" in taken, f"{name} takes an idempotencyKey", sorted(taken))


@check("E58", "an answer has the id of its request, as it was given", needs=(), writes=False)
async def request_ids(scene: Scene) -> None:
    call = {"name": "chieflab_list_connectors", "arguments": {}}
    for given in (7, "7", "an id of words"):
        answer = await scene.nobody.send(encode_request("tools/call", call, given))
        message = answer.message or {}
        expect(message.get("jsonrpc") == "2.0", "an answer says jsonrpc 2.0", answer.text)
        found = message.get("id")
        expect(found == given and type(found) is type(given), f"the id {given!r} comes back", found)


@check("E80", "a tool answers with text that is its JSON payload", needs=(), writes=False)
async def text_payload(scene: Scene) -> None:
    answer = await scene.nobody.call("chieflab_list_connectors")
    content = answer.result["content"][0]
    expect(content["type"] == "text", "content[0] is text", content["type"])
    payload = msgspec.json.decode(content["text"])
    expect(isinstance(payload, dict), "its text is a JSON object")
    structured = answer.result.get("structuredContent", payload)
    expect(structured == payload, "structuredContent says the same", structured)


@check(
    *("E51", "E53", "E84"),
    "without a key a tool is refused, and the way to a key is named",
    needs=("http",),
    writes=False,
)
async def no_key(scene: Scene) -> None:
    answer = await scene.nobody.call("chieflab_get_action", actionId=NO_SUCH_ACTION)
    expect(answer.refused, "a call without a key is refused")
    expect_recovery(answer.payload, "missing_api_key")
    tool, listed = answer.payload["recoveryTool"], await scene.nobody.rpc("tools/list")
    offered = [each["name"] for each in listed.result.get("tools", ())]
    if tool is None and SIGNUP not in offered:
        expect(answer.payload["retryable"] is False, "without a signup the call is not retryable")
    else:
        expect((tool or {}).get("name") == SIGNUP, "recoveryTool is the signup", tool)
    expect(answer.status == 401, "and HTTP says 401", answer.status)


@check("E58", "E84", "a key that was made up is refused", needs=("http",), writes=False)
async def wrong_key(scene: Scene) -> None:
    stranger = scene.nobody.as_caller(f"clp_live_{'0' * 40}")
    answer = await stranger.call("chieflab_get_action", actionId=NO_SUCH_ACTION)
    expect(answer.refused, "a call with a made-up key is refused", answer.text)
    expect(answer.payload.get("ok") is False, "with ok: false", answer.payload)
    expect(answer.status == 401, "and HTTP says 401", answer.status)


@check("E26", "E96", "an action that does not exist is refused as one of another workspace", writes=False)
async def unknown_action(scene: Scene) -> None:
    answer = await scene.server.call("chieflab_get_action", actionId=NO_SUCH_ACTION)
    expect_recovery(answer.payload, "wrong_workspace")
    said = (answer.status, answer.payload.get("statusCode"))
    expect(401 in said, "and not as 404", said)


@check("E86", "the list of connectors is public and shows no secret", needs=(), writes=False)
async def public_connectors(scene: Scene) -> None:
    answer = await scene.nobody.call("chieflab_list_connectors")
    expect(not answer.refused, "the list of connectors needs no key", answer.text)
    for connector in answer.payload["connectors"]:
        bad = [name for name in _names(connector) if _sounds_secret(name)]
        expect(not bad, "no field of a connector holds a secret", bad)


@check("E87", "each kind of bad message has its JSON-RPC code", needs=(), writes=False)
async def codes(scene: Scene) -> None:
    server = scene.server
    expect_code(await server.rpc("no/such/method"), -32601, "an unknown method")
    expect_code(await server.rpc("tools/call", {"arguments": {}}), -32602, "a call that names no tool")
    expect_code(await server.send(b"{not json"), -32700, "bytes that are not JSON")


def expect_code(answer: WireAnswer, code: int, what: str) -> None:
    expect(answer.error.get("code") == code, f"{what} answers {code}", answer.error or answer.text)


def _names(found: object) -> list[str]:
    if isinstance(found, dict):
        return [name for key, value in found.items() for name in (str(key), *_names(value))]
    return [name for each in found for name in _names(each)] if isinstance(found, list) else []


def _sounds_secret(name: str) -> bool:
    return any(word in name.lower() for word in ("secret", "token", "password", "apikey", "api_key"))
