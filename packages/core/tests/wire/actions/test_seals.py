"""An approval that was written into the database by somebody without the secret executes nothing."""

from __future__ import annotations

import pytest
from tests.support.actions.kit import APPROVE, EXECUTE, Gate
from tests.support.own_sql import bind_marks

from assent.engine.actions import actions
from assent.gate.records import Approval, Assurance, Status
from assent.gate.seals import Seals
from assent.ports import Single


def forged(surface: Gate, digest: str) -> Approval:
    return Approval(
        by="Ada", at_ms=surface.clock.now_ms(), assurance=Assurance.PERSON, digest=digest, since=1
    )


@pytest.mark.rule("E63", "E64")
async def test_an_approval_written_into_the_database_executes_nothing(surface: Gate) -> None:
    action_id = await surface.staged()
    digest = (await surface.stored(action_id)).digest
    await surface.overwrite(action_id, status=Status.APPROVED, approval=forged(surface, digest))
    answer = await surface.denied(EXECUTE, actionId=action_id)
    assert (answer["reason"], answer["recoveryTool"]) == ("requires_approval", None)
    assert surface.calls == 0
    await surface.done(APPROVE, actionId=action_id)
    await surface.done(EXECUTE, actionId=action_id)
    assert (await surface.record(action_id))["assurance"] == "agent"
    assert len(surface.ledger) == 1


async def test_a_seal_of_an_earlier_secret_holds_and_is_renewed(surface: Gate) -> None:
    action_id = await surface.approved()
    earlier = await surface.stored(action_id)
    newer, both = b"another secret that is long enough, 0123", surface.app.keys.master
    rotated = Seals.of((newer, *both))
    assert rotated.hold(earlier)
    assert not Seals.of((newer,)).hold(earlier)
    await surface.app.store.write(lambda: actions.reseal_approvals(rotated))
    assert Seals.of((newer,)).hold(await surface.stored(action_id))


async def test_an_action_whose_stream_is_gone_does_not_keep_the_others_from_a_new_seal(surface: Gate) -> None:
    damaged, action_id = await surface.approved(), await surface.approved()
    run_id = (await surface.stored(damaged)).run_id
    await surface.app.store.write(Single(bind_marks("DELETE FROM streams WHERE stream_id = ?", run_id)))
    newer = b"another secret that is long enough, 0123"
    rotated = Seals.of((newer, *surface.app.keys.master))
    await surface.app.store.write(lambda: actions.reseal_approvals(rotated))
    assert Seals.of((newer,)).hold(await surface.stored(action_id))
