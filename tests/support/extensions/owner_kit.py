"""A server with everything that an owner's settings can bring, and what a caller reads of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from tests.support.actions.kit import Gate
from tests.support.connectors.mail_server import Inbox, mail_server
from tests.support.extensions.fixtures import BILLING, gate_with
from tests.support.net.stub_server import StubServer

NOTE: Final = "acme_billing_note"
RESTART: Final = "restart_request"
SENDER: Final = "post@owner.example"
WORKFLOW: Final = "owner-procedure"
MARKS: Final = ("acme_billing", "acme-billing", RESTART, SENDER, WORKFLOW, "owner-client", "owner-model")
"""Words that only the owner's settings bring."""
DOCUMENTS: Final = (
    "/.well-known/mcp.json",
    "/api/mcp",
    "/openapi.json",
    "/llms.txt",
    "/llms-full.txt",
    "/for-agents",
    "/metrics",
)


def bring_everything(folder: Path, stub: StubServer, mail_port: int) -> dict[str, Any]:
    """Settings with an operator, an HTTP effect, a mail server, OAuth clients, a model and a workflow."""
    flows = folder / "flows"
    flows.mkdir(exist_ok=True)
    steps = [{"id": "one", "title": "One", "prompt": "Do one."}]
    definition = {
        "id": WORKFLOW,
        "name": WORKFLOW,
        "version": "1.0.0",
        "description": "Ours.",
        "steps": steps,
    }
    (flows / "own.json").write_text(json.dumps(definition))
    return {
        "operators": (str(BILLING),),
        "effects": {
            "restart": {
                "url": stub.url("/admin/{what}"),
                "description": "Restart a machine. USE WHEN the user asks to restart it.",
                "arguments": {"type": "object", "properties": {"what": {"type": "string"}}},
                "risk": "low",
            }
        },
        "allow_hosts": ("127.0.0.1",),
        "smtp_url": f"smtp://127.0.0.1:{mail_port}?starttls=never",
        "smtp_from": SENDER,
        "google_client_id": "owner-client",
        "google_client_secret": "x",
        "hubspot_client_id": "owner-client",
        "hubspot_client_secret": "x",
        "model_url": stub.url("/v1"),
        "model_name": "owner-model",
        "workflow_dirs": (str(flows),),
        "owner_workspaces": None,
    }


@asynccontextmanager
async def running(
    transport: str, database_url: str, folder: Path, stub: StubServer, **changes: Any
) -> AsyncIterator[tuple[Gate, Inbox]]:
    """A server with all of these settings, and the mails that its mail server took."""
    inbox = Inbox()
    async with mail_server(inbox) as port:
        given = bring_everything(folder, stub, port) | changes
        gate = gate_with(given.pop("operators"), database_url, folder, transport, **given)
        try:
            yield gate, inbox
        finally:
            await gate.close()


async def read_everything(gate: Gate, key: str | None) -> str:
    """What a caller reads without acting: lists, documents, pages, connectors, workflows."""
    headers = {"Authorization": f"Bearer {key}"} if key is not None else {}
    texts = [(await gate.http.get(path, headers=headers)).text for path in DOCUMENTS]
    gate.key = key
    texts.append(json.dumps(await gate.rpc("tools/list")))
    for tool in ("chieflab_list_connectors", "workflow_list", "chieflab_status", "chieflab_help"):
        texts.append(json.dumps((await gate.call(tool)).message))
    for provider in ("hubspot", "ga4", "smtp"):
        texts.append(
            json.dumps((await gate.call("chieflab_connect_provider", {"provider": provider})).message)
        )
    return "\n".join(texts)


def wrote(stub: StubServer) -> list[str]:
    return [each.path for each in stub.asked]
