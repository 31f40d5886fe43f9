"""A server process, and a person of it who decides behind the backs of the agents that ask."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from tests.support.keys import make_key
from tests.support.own_sql import bind_marks
from tests.support.processes.running import SECRETS, UNLIMITED, Serve, environment, eventually
from tests.support.surfaces import ManualClock, run_due_jobs, settings_for

from assent.app import App
from assent.engine.actions import actions, decisions
from assent.engine.actions.content import prepare_edit
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.gate import ANY_CONTENT, Decider, SeenVersion
from assent.gate.records import Action, Assurance
from assent.kernel.ids import ActionId
from assent.ports import Transaction

T = TypeVar("T")
ADA = Decider(LOCAL_WORKSPACE, "Ada", Assurance.PERSON, "page")


class Server:
    """One server on a data directory, with a key that may propose and run but not decide."""

    def __init__(self, data_dir: Path, base_url: str) -> None:
        self.data_dir = data_dir
        self.base_url = base_url
        self.key = self._do(partial(make_key, scopes=("runs:write", "actions:execute")))

    def variables(self, **more: str) -> dict[str, str]:
        return environment({"ASSENT_API_KEY": self.key, "ASSENT_BASE_URL": self.base_url, **SECRETS, **more})

    def _do(self, work: Callable[[App], Awaitable[T]], later_seconds: float = 0) -> T:
        async def run() -> T:
            settings = settings_for(
                f"sqlite:///{self.data_dir / 'assent.db'}", self.data_dir, base_url=self.base_url
            )
            app = App(settings, clock=ManualClock(int((time.time() + later_seconds) * 1000)))
            try:
                return await work(app)
            finally:
                await app.close()

        return asyncio.run(run())

    def waiting(self) -> list[str]:
        """The ids of the actions that wait, oldest first."""

        async def read(app: App) -> list[str]:
            def begin() -> Transaction[list[str]]:
                rows = yield bind_marks(
                    "SELECT action_id FROM actions WHERE status = 'awaiting_approval' ORDER BY action_id"
                )
                return [row["action_id"] for row in rows]

            return await app.store.read(begin)

        return self._do(read)

    def one_waiting(self) -> str:
        """The one action that waits, once it does."""
        (action_id,) = eventually(self.waiting, "an action waits")
        return action_id

    def stored(self, action_id: str) -> Action:
        async def read(app: App) -> Action:
            found, _ = await app.store.read(lambda: actions.find(LOCAL_WORKSPACE, ActionId(action_id)))
            return found

        return self._do(read)

    def approve(self, action_id: str, **edited: Any) -> None:
        """Approve an action as a signed-in person, after an edit of these arguments."""

        async def decide(app: App) -> None:
            found, _ = await app.store.read(lambda: actions.find(LOCAL_WORKSPACE, ActionId(action_id)))
            now_ms = app.clock.now_ms()
            if edited:
                prepared = await prepare_edit(app.owner_services, found, {"arguments": edited})
                found = await app.store.write(
                    lambda: decisions.edit(ADA, found.action_id, prepared, ANY_CONTENT, now_ms)
                )
            seen = SeenVersion(digest=found.digest)
            await app.store.write(
                lambda: decisions.approve(ADA, found.action_id, seen, now_ms, seals=app.keys.seals)
            )

        self._do(decide)

    def reject(self, action_id: str, reason: str) -> None:
        async def decide(app: App) -> None:
            now_ms = app.clock.now_ms()
            await app.store.write(
                lambda: decisions.reject(ADA, ActionId(action_id), reason, ANY_CONTENT, now_ms)
            )

        self._do(decide)

    def end_leases(self) -> None:
        """Do the server's jobs as if the leases of all claims had ended."""
        self._do(run_due_jobs, later_seconds=3_600)


@contextmanager
def open_server(data_dir: Path) -> Iterator[Server]:
    with Serve(data_dir, {**SECRETS, **UNLIMITED}) as server:
        yield Server(data_dir, server.base_url)
