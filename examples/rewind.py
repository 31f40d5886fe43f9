"""A chat is rewound after something was approved and published inside a workflow. Nothing happens twice.

    python examples/rewind.py

Starts `assent stdio` on a directory of its own and plays an agent. It publishes a post inside a step that a person must
confirm; then the user rewinds the chat to the beginning and the agent does it all again. One post is in the ledger, the
approval was not inherited, and the run has a branch.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

WORKFLOW = {
    "id": "ship",
    "name": "Ship it",
    "description": "Write, publish with consent, report.",
    "version": "1.0.0",
    "steps": [
        {"id": "write", "title": "Write", "prompt": "Write the announcement."},
        {
            "id": "publish",
            "title": "Publish the announcement",
            "prompt": "Publish it once a person agreed.",
            "requireConfirmation": True,
        },
        {"id": "report", "title": "Report", "prompt": "Tell the user where it is."},
    ],
}
POST = (
    "The importer now reads a million rows in nine seconds. It names the row and the column when a value does not fit, "
    "so that nobody has to search for it."
)


class Server:
    """`assent stdio`, and a client of it."""

    def __init__(self, data_dir: Path) -> None:
        self._ids = count(1)
        command = [sys.executable, "-m", "assent", "stdio", "--data-dir", str(data_dir)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("no pipes")
        self._requests, self._answers = self._process.stdin, self._process.stdout

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        message = {
            "jsonrpc": "2.0",
            "id": next(self._ids),
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        self._requests.write(json.dumps(message).encode() + b"\n")
        self._requests.flush()
        answer = json.loads(self._answers.readline())
        payload: dict[str, Any] = answer["result"]["structuredContent"]
        return payload

    def close(self) -> None:
        self._requests.close()
        self._process.wait(30)
        self._answers.close()


def advance(server: Server, at: dict[str, Any], notes: str) -> dict[str, Any]:
    return server.call(
        "workflow_advance", stateToken=at["stateToken"], ackToken=at["ackToken"], notesMarkdown=notes
    )


def executed(server: Server) -> list[str]:
    """Every effect in the ledger, by its type."""
    found = server.call("chieflab_query_audit", status="executed")["actions"]
    return sorted(action["type"] for action in found)


def play(server: Server, say: Any = print) -> dict[str, Any]:
    """The demonstration; what it showed."""
    say("1. The agent follows the workflow to the step that publishes.")
    first = server.call("workflow_start", workflowId="ship", sessionId="LAUNCH-1")
    at = advance(server, first, "Wrote the announcement.")

    say("2. It stages the post, a person approves it, and it goes out.")
    post = server.call("chieflab_post", channel="site", body=POST, title="A faster importer")
    post_id = post["actions"][0]["id"]
    server.call("chieflab_approve_action", actionId=post_id)
    published = server.call("chieflab_publish_approved_post", actionId=post_id)
    say(f"   published: {published['externalId']}")

    say("3. The step itself waits for consent too; the same call passes once it was given.")
    asked = advance(server, at, "Published the announcement.")
    say(f"   {asked['reason']}: {asked['userMessage']}")
    server.call("chieflab_approve_action", actionId=asked["actionId"])
    passed = advance(server, at, "Published the announcement.")
    before = executed(server)

    say("4. The user rewinds the chat. The agent knows only its first tokens, and does everything again.")
    branch = advance(server, first, "Wrote the announcement, in other words.")
    for warning in branch.get("warnings", []):
        say(f"   warning {warning['code']}: {warning['message']}")
    again = server.call("chieflab_publish_approved_post", actionId=post_id)
    say(f"   publishing again: {again['reason']}, status {again['status']}")
    asked_again = advance(server, branch, "Published the announcement.")
    say(f"   the confirmation: {asked_again['reason']}, a new action")

    branches = server.call("workflow_advance", stateToken=first["stateToken"])["branches"]
    say(f"5. In the ledger: {executed(server)}. Branches from the first step: {len(branches)}.")
    return {
        "passed": passed["pending"]["stepId"],
        "before": before,
        "after": executed(server),
        "published_again": again,
        "asked": asked,
        "asked_again": asked_again,
        "branches": branches,
        "warnings": [warning["code"] for warning in branch.get("warnings", [])],
    }


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="assent-rewind-") as directory:
        folder = Path(directory) / "workflows"
        folder.mkdir()
        (folder / "ship.json").write_text(json.dumps(WORKFLOW))
        server = Server(Path(directory))
        try:
            play(server)
        finally:
            server.close()


if __name__ == "__main__":
    main()
