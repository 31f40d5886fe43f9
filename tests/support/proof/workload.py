"""What clients do under proof. A life is all calls about one action; a second life with the same name repeats them with
the same keys, as a client does that does not know what became of its first calls. Nothing is asserted here: the judge
reads the histories.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proof.promises import ADVANCE, APPROVE, EDIT, EXECUTE, REJECT, RESOLVE, STAGE, START, WITHDRAW
from tests.support.proof.recording import Client
from tests.support.workflows.library import document, step

GET = "chieflab_get_action"
FATES = ("plain", "edited", "withdrawn", "rejected", "conflict", "crowd")
WORKFLOW = "workflow"
"""The fate of a life without an action: it goes through a workflow."""
CROWD = 12
STEPS = {**document(step("one"), step("two"), step("three")), "id": "three-steps"}


@dataclass(frozen=True)
class Life:
    """One action to be: its name, where it is sent, and what people make of it."""

    name: str
    connector: str
    fate: str = "plain"


async def live(client: Client, life: Life) -> str | None:
    """Stage, decide, execute; the id of the action, if the client was told one. Gives up when an answer is missing."""
    if life.fate == WORKFLOW:
        await follow(client, life.name)
        return None
    wanted = {
        "body": f"We shipped {life.name} today. Try it in the settings.",
        "connector": life.connector,
        "channel": "linkedin",
        "idempotencyKey": f"stage {life.name}",
    }
    run = await client.call(STAGE, **wanted)
    if run is None or not run.get("ok"):
        return None
    action_id, digest = run["actions"][0]["id"], run["actions"][0]["digest"]
    call = Keyed(client, life.name, action_id)
    if life.fate == "conflict":
        await client.call(STAGE, **{**wanted, "body": "Something else under the same key."})
        await client.call(STAGE, **wanted)
    if life.fate == "rejected":
        await call(REJECT, reason="not now")
        await client.call(APPROVE, actionId=action_id, digest=digest)
        await client.call(EDIT, actionId=action_id, body="Another text after the end.")
        await client.call(EXECUTE, actionId=action_id)
        return str(action_id)
    await call(APPROVE, digest=digest)
    if life.fate == "edited":
        digest = await _edit(client, call, action_id, digest)
    if life.fate == "withdrawn":
        await call(WITHDRAW, reason="wait")
        await client.call(EXECUTE, actionId=action_id)
        await call(APPROVE, "again", digest=digest)
    if life.fate == "crowd":
        await asyncio.gather(*(_execute_in_crowd(client, life, action_id, n) for n in range(CROWD)))
    await call(EXECUTE)
    await call(EXECUTE)
    return str(action_id)


class Keyed:
    """Calls about one action, each with a key of its own."""

    def __init__(self, client: Client, name: str, action_id: str) -> None:
        self._client = client
        self._name = name
        self._action_id = action_id

    async def __call__(self, tool: str, which: str = "", **arguments: Any) -> dict[str, Any] | None:
        key = f"{tool.removeprefix('chieflab_')} {which} {self._name}"
        return await self._client.call(tool, actionId=self._action_id, idempotencyKey=key, **arguments)


async def _edit(client: Client, call: Keyed, action_id: str, digest: str) -> str:
    """Change the text, try to send it unapproved, approve the old text, then the new one."""
    edited = await call(EDIT, body=f"The second version of {action_id}, which says more.")
    await client.call(EXECUTE, actionId=action_id)
    await client.call(APPROVE, actionId=action_id, digest=digest)
    await client.call(EXECUTE, actionId=action_id)
    new: str = edited["digest"] if edited is not None and edited.get("ok") else digest
    await call(APPROVE, "again", digest=new)
    return new


async def _execute_in_crowd(client: Client, life: Life, action_id: str, number: int) -> None:
    keys = (f"shared {life.name}", f"{number} {life.name}", None)
    key = keys[number % len(keys)]
    await client.call(EXECUTE, actionId=action_id, **({"idempotencyKey": key} if key is not None else {}))


def write_workflow(data_dir: Path) -> None:
    """Give a server the workflow that `follow` goes through."""
    folder = data_dir / "workflows"
    folder.mkdir()
    (folder / "three-steps.json").write_text(json.dumps(STEPS))


async def follow(client: Client, name: str) -> None:
    """Go through a workflow of three steps; every advance is sent twice, and one with a token that no one issued."""
    at = await client.call(START, workflowId="three-steps", idempotencyKey=f"start {name}")
    for number in range(3):
        if at is None or not at.get("ok"):
            return
        sent = {
            "stateToken": at["stateToken"],
            "ackToken": at["ackToken"],
            "notesMarkdown": f"{name} {number}",
        }
        await client.call(ADVANCE, **{**sent, "ackToken": _alter(sent["ackToken"])})
        await client.call(ADVANCE, **sent)
        at = await client.call(ADVANCE, **sent)


def _alter(token: str) -> str:
    return token[:-1] + ("A" if token[-1] != "A" else "B")


async def relay(client: Client, action_id: str, seen: str) -> None:
    """A person saw the effect at the provider, and the agent passes it on."""
    key = f"resolve {action_id}"
    await client.call(RESOLVE, actionId=action_id, outcome="happened", evidence=seen, idempotencyKey=key)
