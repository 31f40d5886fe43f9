"""`audit verify` finds what was changed beside the journal: the records of actions."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.support.actions.kit import EDIT, EXECUTE, OTHER, STATES, Gate
from tests.support.own_sql import bind

from assent.engine.actions import actions
from assent.engine.audit import log as audit_log
from assent.engine.audit.log import Signer
from assent.gate.records import Approval, Assurance, ExecutionState, Status
from assent.ports import Single

PERSON = Approval(by="Ada", at_ms=1, assurance=Assurance.PERSON, digest="", since=1)


async def findings(surface: Gate) -> list[str]:
    verdict = await audit_log.verify(
        surface.app.store, Signer(surface.app.keys.master), workspace_id=surface.workspace_id
    )
    return [finding.what for finding in verdict.findings]


@pytest.mark.parametrize("state", STATES)
async def test_a_record_that_came_about_by_the_server_is_what_the_journal_says(
    surface: Gate, state: str
) -> None:
    await surface.bring_to(state)
    assert await findings(surface) == []


async def test_an_approval_without_its_event_is_found(surface: Gate) -> None:
    action_id = await surface.staged()
    stored = await surface.stored(action_id)
    approval = msgspec.structs.replace(PERSON, digest=stored.digest)
    await surface.overwrite(action_id, status=Status.APPROVED, approval=approval)
    found = await findings(surface)
    assert f"action {action_id}: its approval has no event" in found
    assert any("it is approved" in each for each in found)


async def test_an_approval_that_became_a_persons_is_found(surface: Gate) -> None:
    action_id = await surface.approved()
    approval = (await surface.stored(action_id)).approval
    assert approval is not None
    changed = msgspec.structs.replace(approval, assurance=Assurance.PERSON)
    await surface.overwrite(action_id, approval=changed)
    assert await findings(surface) == [f"action {action_id}: its approval has no event"]


@pytest.mark.parametrize("change", [{"approvers": 2}, {"policy": "sha256:" + "0" * 64}, {"mac": ""}], ids=str)
async def test_an_approval_without_the_seal_of_this_server_is_found(
    surface: Gate, change: dict[str, Any]
) -> None:
    action_id = await surface.approved()
    approval = (await surface.stored(action_id)).approval
    assert approval is not None
    await surface.overwrite(action_id, approval=msgspec.structs.replace(approval, **change))
    assert await findings(surface) == [f"action {action_id}: its approval does not have this server's seal"]


@pytest.mark.parametrize("edited", [False, True], ids=["staged", "edited"])
async def test_a_changed_view_is_found(surface: Gate, edited: bool) -> None:
    action_id = await surface.staged()
    if edited:
        await surface.done(EDIT, actionId=action_id, body=OTHER)
    assert await findings(surface) == []
    stored = await surface.stored(action_id)
    lie = msgspec.structs.replace(stored.view, title="Thank-you note", executes="person")
    await surface.app.store.write(lambda: actions.store_view(msgspec.structs.replace(stored, view=lie)))
    assert await findings(surface) == [f"action {action_id}: its view is not the one that the journal has"]


CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "rejected, waiting again": ("rejected", {"status": Status.AWAITING_APPROVAL, "rejection": None}),
    "executed, waiting again": (
        "executed",
        {"status": Status.AWAITING_APPROVAL, "execution_state": ExecutionState.NONE, "approval": None},
    ),
    "executed elsewhere": ("executed", {"external_id": "post-999"}),
    "unknown, may be repeated": ("outcome_unknown", {"execution_state": ExecutionState.RETRYABLE}),
    "no approval": ("approved", {"approval": None}),
}


@pytest.mark.parametrize("change", list(CHANGES))
async def test_a_changed_record_is_found(surface: Gate, change: str) -> None:
    state, fields = CHANGES[change]
    action_id = await surface.bring_to(state)
    await surface.overwrite(action_id, **fields)
    found = await findings(surface)
    assert found
    assert all(action_id in each for each in found)


@pytest.mark.parametrize("mended", [False, True], ids=["digest left", "digest mended"])
async def test_the_rewritten_content_of_an_executed_action_is_found(surface: Gate, mended: bool) -> None:
    action_id = await surface.approved()
    await surface.done(EXECUTE, actionId=action_id)
    effect = msgspec.structs.replace((await surface.stored(action_id)).effect, body="We never said that.")
    await surface.overwrite(action_id, effect=effect, **({"digest": effect.digest()} if mended else {}))
    assert any(action_id in each for each in await findings(surface))


@pytest.mark.parametrize("table", ["actions", "streams"])
async def test_an_action_without_its_record_or_its_journal_is_found(surface: Gate, table: str) -> None:
    action_id = await surface.approved()
    run_id = (await surface.stored(action_id)).run_id
    column = {"actions": "run_id", "streams": "stream_id"}[table]
    text = f"DELETE FROM {table} WHERE {column} = '{run_id}'"
    await surface.app.store.write(Single(bind(text, text)))
    found = await findings(surface)
    assert any(
        each in found for each in (f"action {action_id} is gone", f"action {action_id} has no journal")
    )
