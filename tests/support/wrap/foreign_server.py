"""A small MCP server of another maker, in either era. It writes down what it really did, and misbehaves as its world
says. It imports nothing of Assent, and only the standard library, so that it starts at once."""

from __future__ import annotations

import http.server
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

VERSION = "io.modelcontextprotocol/protocolVersion"
READS = {"readOnlyHint": True}


def tool(
    name: str, description: str, hints: dict[str, Any] | None = None, **properties: str
) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    made: dict[str, Any] = {"name": name, "description": description, "inputSchema": schema}
    return {**made, "annotations": hints} if hints is not None else made


TOOLS = [
    tool("look", "Reads a note.", READS, path="string"),
    tool("store", "Writes a note.", path="string", content="string"),
    tool("remove", "Removes a note.", {"readOnlyHint": False, "destructiveHint": True}, path="string"),
    tool("question", "Asks the person something.", READS),
]


class World:
    """What the test wants of this server, and what it did. Both are files, read and written at each message."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def wants(self) -> dict[str, Any]:
        path = self._folder / "wants.json"
        found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        return found

    def note(self, entry: dict[str, Any]) -> None:
        with (self._folder / "ledger.jsonl").open("a") as ledger:
            ledger.write(json.dumps(entry) + "\n")


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def list_tools(wants: dict[str, Any]) -> list[dict[str, Any]]:
    changed = wants.get("tools", {})
    listed = [
        {**each, **changed.get(each["name"], {})}
        for each in TOOLS
        if changed.get(each["name"], {}) is not None
    ]
    return [*listed, *wants.get("more", [])]


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}], **more}


def ask_person(wants: dict[str, Any], modern: bool, params: dict[str, Any]) -> dict[str, Any]:
    """Ask by a request in the legacy era, by a result in the modern one."""
    form = {
        "message": "Which colour?",
        "requestedSchema": {"type": "object", "properties": {"colour": {"type": "string"}}},
        **wants.get("form", {}),
    }
    if modern:
        if "requestState" in params:
            said = params["inputResponses"]["colour"]
            return text(f"state {params['requestState']}, {said['content']['colour']}")
        method = wants.get("asks", "elicitation/create")
        asked = {"colour": {"method": method, "params": {"mode": "form", **form}}}
        return {"resultType": "input_required", "inputRequests": asked, "requestState": "secret state"}
    send({"id": "ask-1", "method": "elicitation/create", "params": form})
    answer = json.loads(sys.stdin.readline())
    return text(json.dumps(answer.get("result") or answer.get("error")))


def call(world: World, params: dict[str, Any], modern: bool) -> dict[str, Any]:
    wants, name, given = world.wants(), params["name"], params.get("arguments", {})
    world.note(
        {"tool": name, "arguments": given, "raw": params, "by": [os.getpid(), os.environ.get("TARGET")]}
    )
    behaviour = wants.get("on_call", {}).get(name)
    if behaviour == "die":
        os._exit(7)
    if behaviour == "hang":
        time.sleep(3_600)
    if behaviour == "megabytes":
        return text("x" * 9_000_000)
    if behaviour == "flood":
        while True:
            send({"method": "notifications/message", "params": {"level": "info", "data": "again"}})
    if behaviour == "garbage":
        while True:
            print("this is no JSON", flush=True)  # noqa: T201
    if behaviour == "error":
        return text("it went wrong", isError=True)
    if behaviour == "progress":
        token = params.get("_meta", {}).get("progressToken")
        send(
            {
                "method": "notifications/progress",
                "params": {"progressToken": token, "progress": 1, "message": "half"},
            }
        )
    if behaviour == "large":
        return text("y" * 300_000)
    if name == "question":
        return ask_person(wants, modern, params)
    if name == "look":
        return text(
            wants.get("notes", {}).get(given.get("path"), "nothing there"), structuredContent={"found": True}
        )
    return text(f"{name} done")


def answer(world: World, message: dict[str, Any], modern_server: bool) -> dict[str, Any] | None:
    method, params = message["method"], message.get("params") or {}
    modern = VERSION in params.get("_meta", {})
    if method == "server/discover" and modern_server:
        return {
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        }
    if method == "initialize" and not modern_server:
        capabilities = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}}
        info = {"name": "foreign", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}
    if method == "tools/list":
        return {"tools": list_tools(world.wants())}
    if method == "tools/call":
        return call(world, params, modern)
    wants = world.wants()
    lists = {
        "resources/list": {"resources": wants.get("resources", [{"uri": "note://one", "name": "one"}])},
        "resources/templates/list": {"resourceTemplates": wants.get("templates", [])},
        "prompts/list": {"prompts": wants.get("prompts", [{"name": "greet"}])},
    }
    if method in lists:
        return lists[method]
    said = wants.get("says", "the note")
    if method in ("resources/read", "prompts/get"):
        world.note({"read": params.get("uri") or params.get("name"), "arguments": params.get("arguments")})
        if "reads" in wants:
            return dict(wants["reads"])
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "text": said}]}
    if method == "prompts/get":
        return {"messages": [{"role": "user", "content": {"type": "text", "text": said}}]}
    return None


class Endpoint(http.server.BaseHTTPRequestHandler):
    """The same server over HTTP: JSON answers, event streams for calls, a session in the legacy era."""

    world: World
    modern_server: bool

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.world.note({"header": {name.lower(): value for name, value in self.headers.items()}})
        if "id" not in message:
            self.answer(202, b"", "application/json")
            return
        result = answer(self.world, message, self.modern_server)
        error = {"error": {"code": -32601, "message": "Method not found"}}
        body = json.dumps(
            {"jsonrpc": "2.0", "id": message["id"], **({"result": result} if result else error)}
        )
        if message["method"] == "tools/call":
            told = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
            self.answer(200, f"data: {told}\n\ndata: {body}\n\n".encode(), "text/event-stream")
        else:
            self.answer(200, body.encode(), "application/json")

    def answer(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        if not self.modern_server:
            self.send_header("Mcp-Session-Id", "one")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def serve(world: World, modern_server: bool) -> None:
    kind = type("Bound", (Endpoint,), {"world": world, "modern_server": modern_server})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind)
    print(server.server_address[1], flush=True)  # noqa: T201
    server.serve_forever()


def main() -> None:
    world, modern_server = World(Path(sys.argv[1])), "--modern" in sys.argv
    if "--http" in sys.argv:
        serve(world, modern_server)
    world.note({"started": os.getpid(), "environment": dict(os.environ)})
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(world, message, modern_server)
        if result is None:
            send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
        else:
            send({"id": message["id"], "result": result})


if __name__ == "__main__":
    main()
