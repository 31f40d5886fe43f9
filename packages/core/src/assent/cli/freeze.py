"""`assent freeze` and `assent unfreeze`: stop every executor at once, and let them go on.

`freeze` returns when no process can begin to send any more. It prints the time that this took, and how many actions
were already with a connector or an agent: these cannot be called back, and their outcomes are recorded.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from assent.cli.session import CommandSession, Failure, find_workspace
from assent.cli.workspaces import BY, check_name
from assent.engine.core import freezes
from assent.gate.records import Freeze
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.structs import WireRecord
from assent.kernel.times import iso_time
from assent.ports import StoreUnavailable

if TYPE_CHECKING:
    from assent.app import App

OnlyWorkspace = Annotated[
    str | None,
    typer.Option("--workspace", "-w", metavar="ID-OR-NAME", help="Only this workspace (the whole server)."),
]


class FrozenSending(WireRecord):
    """The result of `freeze`."""

    scope: str
    since: str
    in_effect: bool
    """Whether no claim from before the freeze is open any more."""
    effective_after_ms: float
    """From the order to the moment after which no process can begin to send."""
    in_flight: int | None
    """Actions that were claimed before and have no outcome yet; None if a server of the database does not say."""


def freeze(
    session: CommandSession,
    workspace: OnlyWorkspace = None,
    why: Annotated[str, typer.Option("--why", help="The reason, which agents and people are shown.")] = "",
) -> int:
    """Stop all sending at once, in every process. Reading, preparing, approving and measuring go on."""
    session.require_data()
    reason = check_name(why, "The reason") if why else ""

    async def stop(app: App) -> FrozenSending:
        workspace_id, name = await _find_scope(app, workspace)
        return await stop_sending(app, workspace_id, name, why=reason)

    try:
        done = session.use_app(stop)
    except StoreUnavailable as error:
        if session.settings.sqlite_path is not None:
            raise
        raise Failure(
            f"Sending is not known to be stopped: {error}\nA freeze is stored on every server of the database, and "
            "what is on those that run goes on. Start or replace the other and run this again. To stop sending now, "
            "stop the processes of `assent serve`."
        ) from error
    held = (
        "1 action was" if done.in_flight == 1 else f"{done.in_flight or 'An unknown number of'} actions were"
    )
    text = (
        f"Sending is stopped {done.scope} since {done.since}. It took effect after "
        f"{done.effective_after_ms:.1f} ms: no process begins to send any more.\n"
    )
    if not done.in_effect:
        text = (
            f"Sending is stopped {done.scope} since {done.since}. After {done.effective_after_ms / 1000:.0f} s the "
            "database still has a transaction that began earlier, or a server that has not heard of it. An action that "
            "is claimed there is sent.\n"
        )
    text += f"{held} already being sent; the outcome is recorded.\n" if done.in_flight != 0 else ""
    again = ("unfreeze", *(("--workspace", workspace) if workspace is not None else ()))
    session.give(done, f"{text}Let it go on: {session.again(*again)}")
    return 0 if done.in_effect else 1


async def stop_sending(app: App, workspace_id: WorkspaceId, scope: str, *, why: str) -> FrozenSending:
    """Freeze, wait until it is in effect, and return the measured time."""
    from assent.use_cases.workspaces import freeze

    store, now_ms = app.store, app.clock.now_ms()
    await store.open()
    begun = time.perf_counter()
    in_effect = await freeze(store, workspace_id, now_ms, by=BY, why=why)
    took_ms = 1000 * (time.perf_counter() - begun)
    found = await store.read(freezes.list_all)
    since_ms = next((each.since_ms for each in found if each.workspace_id == workspace_id), now_ms)
    in_flight = None
    with suppress(StoreUnavailable):  # the freeze is stored, and its result is told
        in_flight = await store.read(lambda: freezes.count_executing(workspace_id, now_ms))
    return FrozenSending(scope, iso_time(since_ms), in_effect, round(took_ms, 2), in_flight)


def unfreeze(session: CommandSession, workspace: OnlyWorkspace = None) -> None:
    """Let sending go on. What is approved and due is sent by the server within half a minute."""
    from assent.use_cases import workspaces as use_case

    session.require_data()

    async def resume(app: App) -> tuple[str, int | None, list[Freeze]]:
        workspace_id, scope = await _find_scope(app, workspace)
        since_ms = await use_case.unfreeze(app.store, workspace_id, app.clock.now_ms(), by=BY)
        return scope, since_ms, await app.store.read(freezes.list_all)

    scope, since_ms, left = session.use_app(resume)
    stopped_everywhere = any(each.everywhere for each in left)
    if since_ms is None:
        raise Failure(f"Sending is not stopped {scope}.\nSee what is: {session.again('doctor')}")
    text = f"The freeze {scope} has ended; it began at {iso_time(since_ms)}."
    if stopped_everywhere:
        text += f"\nThe whole server is still stopped. Let it go on: {session.again('unfreeze')}"
    elif left:
        text += f"\nStill stopped: {', '.join(each.workspace_id for each in left)}. See why: {session.again('doctor')}"
    session.give({"scope": scope, "since": iso_time(since_ms), "serverFrozen": stopped_everywhere}, text)


async def _find_scope(app: App, wanted: str | None) -> tuple[WorkspaceId, str]:
    """Return the id that a freeze is stored under, and its name in a sentence."""
    if wanted is None:
        return SYSTEM_WORKSPACE, "on the whole server"
    found = await find_workspace(app, wanted)
    return found.workspace_id, f"in the workspace {found.name!r}"
