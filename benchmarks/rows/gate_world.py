"""What the rows about the gate share: a server whose provider does nothing, the three calls of the loop, and the look
into the store that says whether they worked.

Nothing of the gate is left out: staging, journal, digests, the claim with its job and the record are the server's own.
Only the provider at the end is a function that returns at once, because its time is not ours.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, Final

from assent.app import App
from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.gate.preflight import Readiness
from assent.gate.records import Effect
from assent.kernel.ids import WorkspaceId
from assent.ports import Context, Delivered, Delivery, action_of
from assent.settings.load import load_settings
from assent.tools.approvals import approve_action
from assent.tools.client_dialog import ApproveAction
from assent.tools.definition import Call
from assent.tools.execution import ExecuteAction, execute_approved
from assent_conform.testing.operator import PUBLISH, TestingStage, testing_stage
from assent_launch.testing import any_effects

BODY: Final = (
    "We rebuilt the importer last week. It now reads {} million rows in nine seconds, and when it stops it says which "
    "row is wrong and what to do about it. The old one needed four minutes and said nothing. Thanks to everybody who "
    "sent us their worst spreadsheets: all of them are tests now."
)
STAGE: Final = "testing_stage"
APPROVE: Final = "chieflab_approve_action"
EXECUTE: Final = PUBLISH
SECRETS: Final = {
    "RUN_TOKEN_SECRET": "a run token secret for the benchmarks, long enough",
    "ASSENT_SECRET": "a master secret for the benchmarks only, long enough",
}
_numbers: Final = count(2)
LOCAL: Final = LOCAL_PRINCIPAL.workspace_id


def wanted() -> dict[str, Any]:
    """What to stage: every time another text, so that nothing can remember having judged it."""
    return {"body": BODY.format(next(_numbers)), "title": "A faster importer", "connector": "still"}


class StillConnector:
    """A provider that has delivered as soon as it is asked."""

    id = "still"
    delivery = Delivery("natural_key")
    always_ready = True

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return Readiness(ready=True)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action_of(ctx, effect)
        return Delivered(ctx.key, f"https://provider.example/{ctx.action_id}")

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        return None


def world(data_dir: Path, *, one_client: bool = False, url: str = "") -> App:
    """The server of a data directory, or of the database at `url`. It serves no one yet. `one_client` as in the process
    of a local user."""
    given = {
        "ASSENT_DATA_DIR": str(data_dir),
        "ASSENT_RATE_LIMIT_PER_MINUTE": "100000000",
        "ASSENT_PAGE_LIMIT_PER_MINUTE": "100000000",
        "ASSENT_STORAGE_QUOTA_MB": "100000000",
        **({"ASSENT_DATABASE_URL": url, **SECRETS} if url else {}),
    }
    settings = load_settings({}, given).settings
    return App(settings, connectors={"still": StillConnector()}, effects=any_effects(), one_client=one_client)


def database(data_dir: Path) -> Path:
    return data_dir / "assent.db"


class Insider:
    """Calls the tools in this process, as the local user does: no transport, no key, one call at a time."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def next_call(self) -> Call:
        """A call, in a round of the event loop of its own, as the messages of a client are."""
        await asyncio.sleep(0)
        return Call(self._app.services, LOCAL_PRINCIPAL, "local", "", self._app.clock.now_ms())

    async def stage(self) -> str:
        """The id of an action that waits for approval."""
        reply = await testing_stage(await self.next_call(), TestingStage(**wanted()))
        return reply.actions[0].id

    async def approve(self, action_id: str) -> None:
        await approve_action(await self.next_call(), ApproveAction(action_id=action_id))

    async def execute(self, action_id: str) -> None:
        await execute_approved(await self.next_call(), ExecuteAction(action_id=action_id), tool=EXECUTE)

    async def loop(self) -> None:
        action_id = await self.stage()
        await self.approve(action_id)
        await self.execute(action_id)


def in_status(path: Path, status: str, workspace_id: str | None = None) -> int:
    """How many actions the file holds in a status."""
    with closing(sqlite3.connect(path)) as connection:
        sql = "SELECT count(*) FROM actions WHERE status = ? AND workspace_id = coalesce(?, workspace_id)"
        found: int = connection.execute(sql, (status, workspace_id)).fetchone()[0]
        return found
