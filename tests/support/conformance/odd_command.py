"""A program that speaks MCP over stdio, well or badly, as its first argument says. Knows nothing of the server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

BAD = sys.argv[1]
REPORT = Path(sys.argv[2]) if len(sys.argv) > 2 else None


def say(message: object) -> None:
    sys.stdout.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
    sys.stdout.flush()


def sleep() -> None:
    time.sleep(600)


def note(text: str) -> None:
    if REPORT is not None:
        with REPORT.open("a") as file:
            file.write(text + "\n")


note(str(os.getpid()))
if BAD == "exits":
    sys.stderr.write(f"no database \x1b[31m{os.environ.get('ODD_KEY')}\n")
    sys.exit(3)
if BAD == "hangs":
    sleep()
if BAD == "floods_a_line":
    while True:
        sys.stdout.write("x" * 65_536)
if BAD == "floods_lines":
    while True:
        sys.stdout.write("line\n")
if BAD == "floods_errors":
    sys.stderr.write("e" * 4_000_000)
if BAD == "talks":
    say("Server started!")
if BAD == "has_a_child":
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    note(str(child.pid))

for line in sys.stdin:
    try:
        asked = json.loads(line)
    except ValueError:
        say({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "no JSON"}})
        continue
    method, answer = asked.get("method"), {"jsonrpc": "2.0", "id": asked.get("id")}
    if "id" not in asked:
        if BAD == "answers_notifications" and method == "notifications/initialized":
            say({"jsonrpc": "2.0", "id": None, "result": {}})
    elif method == "initialize" and BAD == "modern":
        say({**answer, "error": {"code": -32601, "message": "no handshake"}})
    elif method == "initialize" and BAD == "refuses":
        say({**answer, "error": {"code": -32000, "message": "closed today"}})
    elif method == "server/discover" and BAD == "refuses":
        say({**answer, "error": {"code": -32601, "message": "unknown"}})
    elif method in ("initialize", "server/discover"):
        say({**answer, "result": {"supportedVersions": ["2026-07-28"], "key": os.environ.get("ODD_KEY")}})
    elif method == "tools/list" and BAD == "dies":
        sys.exit(5)
    elif method == "tools/list" and BAD == "hangs_later":
        sleep()
    elif method == "tools/list" and BAD == "asks_back":
        say({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
        say({"jsonrpc": "2.0", "id": "mine", "method": "roots/list"})
        note(sys.stdin.readline().strip())
        say({"jsonrpc": "2.0", "id": "pinged", "method": "ping"})
        note(sys.stdin.readline().strip())
        say({**answer, "result": {"tools": []}})
    elif method == "ping":
        say({**answer, "result": {}})
    else:
        say({**answer, "result": {"tools": [], "asked": asked}})
if BAD in ("stays", "has_a_child"):
    sleep()
