"""Checks of the endpoint: discovery, handshake, tool list, errors, and calls that need a key."""

from __future__ import annotations

from typing import Final

import msgspec

from assent.conformance.checking import Scene, check, expect
from assent.conformance.shapes import OPERATOR, PRIMARY_TOOLS, expect_fields, expect_recovery
from assent.conformance.wire import ENDPOINT, WireAnswer

METADATA: Final = "/.well-known/mcp.json"
NO_SUCH_ACTION: Final = "00000000-0000-7000-8000-000000000000"


@check("E76", "discovery needs no key and is the same in both places", needs=())
async def discovery(scene: Scene) -> None:
    well_known, endpoint = await scene.nobody.get(METADATA), await scene.nobody.get(ENDPOINT)
    for path, response in ((METADATA, well_known), (ENDPOINT, endpoint)):
        expect(response.status_code == 200, f"GET {path} answers 200", response.status_code)
    expect(
        set(msgspec.json.decode(well_known.content)) == set(msgspec.json.decode(endpoint.content)),
        f"GET {ENDPOINT} has the same fields as {METADATA}",
    )


@check("E50", "E59", "E60", "each operator is listed with its primary tool, and the spec is cited", needs=())
async def operators(scene: Scene) -> None:
    metadata = msgspec.json.decode((await scene.nobody.get(METADATA)).content)
    listed = {each["id"]: each for each in metadata["operators"]}
    for name, primary in PRIMARY_TOOLS.items():
        expect(name in listed, f"{METADATA} lists {name}", sorted(listed))
        expect_fields(listed[name], OPERATOR, name)
        expect(listed[name]["primaryTool"] == primary, f"{name} has the primary tool {primary}")
    expect("chieflab.io/spec/v0.1" in msgspec.json.encode(metadata).decode(), "the spec is linked back to")


@check("E75", "E77", "initialize answers an older client in its own revision, with instructions", needs=())
async def handshake(scene: Scene) -> None:
    answer = await scene.server.rpc(
        "initialize",
        {
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "clientInfo": {"name": "assent-conform", "version": "1"},
        },
    )
    found = answer.result
    expect(
        found.get("protocolVersion") == "2024-11-05", "protocolVersion is 2024-11-05", found or answer.text
    )
    expect(found["capabilities"]["tools"].get("listChanged") is False, "tools.listChanged is false")
    expect(found.get("serverInfo", {}).get("name"), "serverInfo has a name")
    expect("USE WHEN" in found.get("instructions", ""), "the instructions say USE WHEN")


@check("E81", "notifications/initialized gets no answer", needs=())
async def silence(scene: Scene) -> None:
    answer = await scene.server.post(
        msgspec.json.encode({"jsonrpc": "2.0", "method": "notifications/initialized"}), scene.server.key
    )
    expect(answer.message is None, "a notification gets no JSON-RPC answer", answer.text)
    expect(200 <= answer.status < 300, "a notification is accepted", answer.status)


@check("E79", "every tool has a name, a description and an input schema")
async def tool_list(scene: Scene) -> None:
    tools = (await scene.server.rpc("tools/list")).result["tools"]
    for tool in tools:
        expect_fields(tool, {"name": str, "description": str, "inputSchema": dict}, "a tool")
        expect(tool["inputSchema"].get("type") == "object", f"{tool['name']} takes an object")
    names = {tool["name"] for tool in tools}
    wanted = {*PRIMARY_TOOLS.values(), "chieflab_approve_action", "chieflab_reject_action"}
    expect(wanted <= names, "the primary tools and the decisions are listed", sorted(wanted - names))


@check("E80", "a tool answers with text that is its JSON payload", needs=())
async def text_payload(scene: Scene) -> None:
    answer = await scene.nobody.call("chieflab_list_connectors")
    content = answer.result["content"][0]
    expect(content["type"] == "text", "content[0] is text", content["type"])
    expect(isinstance(msgspec.json.decode(content["text"]), dict), "its text is a JSON object")


@check("E51", "E53", "E84", "without a key a tool is refused, and the way to a key is named", needs=())
async def no_key(scene: Scene) -> None:
    answer = await scene.nobody.call("chieflab_get_action", actionId=NO_SUCH_ACTION)
    expect(answer.refused, "a call without a key is refused")
    expect_recovery(answer.payload, "missing_api_key")
    expect(
        (answer.payload["recoveryTool"] or {}).get("name") == "chieflab_signup_workspace",
        "recoveryTool is the signup",
        answer.payload["recoveryTool"],
    )
    expect(answer.status == 401, "and HTTP says 401", answer.status)


@check("E86", "the list of connectors is public and shows no secret", needs=())
async def public_connectors(scene: Scene) -> None:
    answer = await scene.nobody.call("chieflab_list_connectors")
    expect(not answer.refused, "the list of connectors needs no key", answer.text)
    for connector in answer.payload["connectors"]:
        bad = [name for name in _names(connector) if _sounds_secret(name)]
        expect(not bad, "no field of a connector holds a secret", bad)


@check("E87", "each kind of bad message has its JSON-RPC code", needs=())
async def codes(scene: Scene) -> None:
    server = scene.server
    expect_code(await server.rpc("no/such/method"), -32601, "an unknown method")
    expect_code(await server.rpc("tools/call", {"arguments": {}}), -32602, "a call that names no tool")
    expect_code(await server.post(b"{not json", server.key), -32700, "bytes that are not JSON")


def expect_code(answer: WireAnswer, code: int, what: str) -> None:
    expect(answer.error.get("code") == code, f"{what} answers {code}", answer.error or answer.text)


def _names(found: object) -> list[str]:
    if isinstance(found, dict):
        return [name for key, value in found.items() for name in (str(key), *_names(value))]
    return [name for each in found for name in _names(each)] if isinstance(found, list) else []


def _sounds_secret(name: str) -> bool:
    return any(word in name.lower() for word in ("secret", "token", "password", "apikey", "api_key"))
