"""`assent boundary`: what the user of an agent can do to this server, and what that leaves to claim."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assent.cli.failures import Failure
from assent.cli.operating.probes import (
    AgentUser,
    ProbeFinding,
    find_target,
    find_user,
    run_as,
    try_everything,
)
from assent.cli.session import CommandSession, command
from assent.cli.workspaces import BY
from assent.engine.audit.boundary import BoundaryResult
from assent.gate.rules.boundary import PROBES, find_cap
from assent.settings.table import TABLE
from assent.settings.welcome import has_password

if TYPE_CHECKING:
    from assent.app import App

WhichUser = Annotated[
    str | None,
    typer.Option("--user", metavar="NAME|UID", help="The user that the agent runs as (the present one)."),
]

SAID = {True: "OPEN", False: "held", None: "not tried"}


def boundary(
    session: CommandSession,
    user: WhichUser = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Remove the stored result of this user, who runs no agent.")
    ] = False,
) -> int:
    """Try, as the user of an agent, to get around the server, and store what worked.

    Where something did, the server no longer claims that a person approved. Run it as root with
    --user, or as that user; nothing is changed by the tries. Exits with 1 where something worked.
    """
    session.require_data()
    agent = find_user(user)
    if agent is None:
        raise Failure(
            f"There is no user {user!r} on this machine.\nName the one that your agent runs as; see them: getent passwd"
        )
    if forget:
        return _forget(session, agent)
    target = find_target(session.settings, _find_config(session))
    try:
        found: dict[str, ProbeFinding] = run_as(
            agent, lambda: try_everything(target), dict[str, ProbeFinding]
        )
    except PermissionError:
        words = session.again("boundary", "--user", agent.name)
        raise Failure(f"Only root can try things as {agent.name}.\nRun it as root: sudo {words}") from None
    result = _read(agent, found)
    stored = _store(session, result)
    cap = find_cap(result.open)
    rows = [
        (
            probe.does,
            SAID[found[probe.name].worked],
            found[probe.name].detail,
            _consequence(probe.name, found),
        )
        for probe in PROBES
    ]
    text = session.table((f"as {agent.name} (uid {agent.uid}), an agent tries to", "", "", ""), rows)
    view: dict[str, Any] = {
        "user": agent.name,
        "uid": agent.uid,
        "held": cap is None,
        "claims": cap or "passkey",
        "stored": stored,
        "probes": {name: {"worked": each.worked, "detail": each.detail} for name, each in found.items()},
    }
    session.give(view, f"{text}\n\n{_conclude(session, agent, result, stored)}")
    return 0 if cap is None else 1


def _find_config(session: CommandSession) -> Path | None:
    """Return the settings file if it holds a secret."""
    settings, sources = session.settings, session.loaded.sources
    held = [row for row in TABLE if row.secret and sources[row.name] == f"file {settings.config_file}"]
    if held or (settings.database_in_file and has_password(settings.database_url)):
        return settings.config_file
    return None


def _consequence(name: str, found: dict[str, ProbeFinding]) -> str:
    return next(each.consequence for each in PROBES if each.name == name) if found[name].worked else ""


def _read(agent: AgentUser, found: dict[str, ProbeFinding]) -> BoundaryResult:
    from assent.processes.system_clock import SystemClock

    by_outcome = {
        said: tuple(name for name, each in found.items() if each.worked is worked)
        for worked, said in ((True, "open"), (False, "held"), (None, "untried"))
    }
    return BoundaryResult(agent.name, agent.uid, SystemClock().now_ms(), **by_outcome)


def _conclude(session: CommandSession, agent: AgentUser, result: BoundaryResult, stored: bool) -> str:
    cap = find_cap(result.open)
    if cap is None:
        text = f"The boundary held for {agent.name}. Where it does for every agent, the server claims what it sees."
    else:
        text = (
            f"The boundary does not hold: an agent of {agent.name} can approve as any person. From now on the server "
            f"claims `{cap}` for every approval, also of a signed-in person. Policies ask for what they asked for.\n"
            "Run the server as another user or on another machine (SECURITY.md), then check again."
        )
    if result.untried:
        left = [probe.does for probe in PROBES if probe.name in result.untried]
        text += f"\nNot tried: {', '.join(left)}."
    if not stored:
        text += (
            f"\nThe result is not stored: {agent.name} cannot write the store. Run it as root with --user."
        )
    return text


def _store(session: CommandSession, result: BoundaryResult) -> bool:
    """Store the result as the owner of the data, so that no file belongs to another user. Returns False if this
    user may not."""

    async def save(app: App) -> bool:
        from assent.engine.audit import boundary as results

        await app.store.write(lambda: results.save(result, result.at_ms, by=BY))
        return True

    return _as_owner(session, lambda: session.use_app(save))


def _forget(session: CommandSession, agent: AgentUser) -> int:
    async def remove(app: App) -> bool:
        from assent.engine.audit import boundary as results

        now_ms = app.clock.now_ms()
        return await app.store.write(lambda: results.forget(agent.uid, now_ms, by=BY))

    if not _as_owner(session, lambda: session.use_app(remove)):
        raise Failure(f"No result is stored for the user {agent.name}.")
    session.give({"user": agent.name, "forgotten": True}, f"The result for {agent.name} is removed.")
    return 0


def _as_owner(session: CommandSession, work: Any) -> bool:
    path = session.settings.sqlite_path
    owner = _find_owner(path) if path is not None else os.getuid()
    if owner == os.getuid():
        done: bool = work()
        return done
    if os.getuid() != 0:
        return False
    return run_as(AgentUser(str(owner), owner), work, bool, keep_variables=True)


def _find_owner(path: Path) -> int:
    try:
        return path.stat().st_uid
    except OSError:
        return -1


def register(app: typer.Typer) -> None:
    command(app, "boundary")(boundary)
