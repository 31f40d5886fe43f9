"""What the tests of running workflows share: a client that follows one, definitions, and a look at every table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.own_sql import bind_marks
from tests.support.surfaces import Outcome, Surface
from tests.support.workflows.library import document, step

from assent.engine.audit import log as audit_log
from assent.engine.audit.log import Signer
from assent.kernel.ids import WorkspaceId
from assent.ports import Transaction

APPROVE = "chieflab_approve_action"
REJECT = "chieflab_reject_action"
EDIT = "chieflab_edit_action"
GET = "chieflab_get_action"

TABLES = (
    "workflow_programs",
    "workflow_sessions",
    "workflow_runs",
    "workflow_nodes",
    "workflow_answers",
    "workflow_checkpoints",
    "workflow_confirmations",
    "streams",
    "events",
    "actions",
    "runs",
)

Payload = dict[str, Any]


def three_steps(workflow_id: str = "three-steps", **more: Any) -> Payload:
    return {**document(step("one"), step("two"), step("three")), "id": workflow_id, **more}


def definition(workflow_id: str, *steps: Payload, **more: Any) -> Payload:
    return {**document(*steps), "id": workflow_id, **more}


GATED = definition(
    "gated",
    step("plan"),
    step("release", title="Release it", prompt="SECRET PROMPT", requireConfirmation=True),
    step("after"),
)
"""A workflow whose second step a person confirms."""


class WorkflowClient:
    """An agent at the workflow tools of one server."""

    def __init__(self, surface: Surface, folder: Path) -> None:
        self.surface = surface
        self.folder = folder

    @property
    def workspace_id(self) -> WorkspaceId:
        assert self.surface.workspace_id is not None, "sign in first"
        return self.surface.workspace_id

    def write(self, document: Payload, name: str | None = None) -> Path:
        """Put a definition where the server finds it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / (name or f"{document['id']}.json")
        path.write_text(json.dumps(document))
        return path

    async def ask(self, tool: str, **arguments: Any) -> Outcome:
        return await self.surface.call(tool, arguments)

    async def start(self, workflow: str | Payload = "three-steps", **arguments: Any) -> Payload:
        if isinstance(workflow, dict):
            self.write(workflow)
            workflow = str(workflow["id"])
        answer = await self.ask("workflow_start", workflowId=workflow, **arguments)
        assert not answer.is_error, answer.payload
        return answer.payload

    async def send(self, at: Payload, **content: Any) -> Outcome:
        """An advance from an answer."""
        return await self.ask(
            "workflow_advance", stateToken=at["stateToken"], ackToken=at["ackToken"], **content
        )

    async def advance(self, at: Payload, **content: Any) -> Payload:
        answer = await self.send(at, **content)
        assert not answer.is_error, answer.payload
        return answer.payload

    async def reason(self, at: Payload, **content: Any) -> str | None:
        """Why an advance is refused."""
        answer = await self.send(at, **content)
        assert answer.is_error, answer.payload
        return answer.reason

    async def rehydrate(self, at: Payload) -> Payload:
        answer = await self.ask("workflow_advance", stateToken=at["stateToken"])
        assert not answer.is_error, answer.payload
        return answer.payload

    async def checkpoint(self, at: Payload, notes: str) -> Payload:
        answer = await self.ask("workflow_checkpoint", stateToken=at["stateToken"], notesMarkdown=notes)
        assert not answer.is_error, answer.payload
        return answer.payload

    async def decide(self, tool: str, action_id: str, **arguments: Any) -> Payload:
        answer = await self.ask(tool, actionId=action_id, **arguments)
        assert not answer.is_error, answer.payload
        return answer.payload

    async def action(self, action_id: str) -> Payload:
        return await self.decide(GET, action_id)

    # ── behind the server's back ─────────────────────────────────────────────────────────────────

    async def sql(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        """A statement of the test's own; `?` takes the values in order."""

        def begin() -> Transaction[list[tuple[Any, ...]]]:
            rows: Any = yield bind_marks(text, *values)
            return [tuple(row) for row in rows]

        return await self.surface.app.store.write(begin)

    async def tables(self, workspace_id: WorkspaceId | None = None) -> dict[str, list[str]]:
        """Everything that is stored about the runs of this workspace or another one, to compare."""
        of = workspace_id or self.workspace_id
        return {
            table: sorted(map(repr, await self.sql(f"SELECT * FROM {table} WHERE workspace_id = ?", of)))
            for table in TABLES
        }

    async def events(self, run_id: str) -> list[tuple[str, Payload]]:
        rows = await self.sql("SELECT kind, body FROM events WHERE stream_id = ? ORDER BY seq", run_id)
        return [(kind, json.loads(body)) for kind, body in rows]

    async def kinds(self, run_id: str) -> list[str]:
        return [kind for kind, _ in await self.events(run_id)]

    async def journal_holds(self) -> bool:
        app = self.surface.app
        signer = Signer(app.keys.master)
        return (await audit_log.verify(app.store, signer, workspace_id=self.surface.workspace_id)).ok
