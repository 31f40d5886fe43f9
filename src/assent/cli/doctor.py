"""`assent doctor`: checks this installation and suggests fixes.

Read-only: creates no directory, secret or schema.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from assent import __version__
from assent.cli.failures import explain
from assent.cli.session import BaseUrl, CommandSession, Host, Operators, Port, command
from assent.kernel.structs import Record
from assent.net.probes import PortState, look_at_port, reaches_assent
from assent.ports import Store, Transaction
from assent.settings.load import Settings, SettingsError, hide_password
from assent.settings.secret_files import HOMES, MASTER, RUN_TOKEN, SHARED_BITS, missing_secrets
from assent.settings.table import TABLE
from assent.settings.welcome import in_shell, own_command

if TYPE_CHECKING:
    from assent.extensions.registry import Extensions
    from assent.sql.components import Component
    from assent.sql.schema import ComponentState

HONEST_LIMIT: Final = (
    "An agent with a shell under the same OS user can read the files of a local server, its secrets among them. "
    "Only another OS user or another host is a real boundary; no policy and no passkey helps against it."
)

NOT_FOUND: Final = (
    "If the database and the data directory are put back together, from a copy that `assent backup` did not write, no "
    "one can tell: what was sent since looks unsent."
)

MANY_JOBS: Final = 100


class DoctorCheck(Record):
    """One check. `fix` says what to do if it failed."""

    name: str
    ok: bool
    detail: str
    fix: str | None = None


class DoctorReport(Record):
    ok: bool
    version: str
    checks: tuple[DoctorCheck, ...]
    sources: dict[str, str]


def register(app: typer.Typer) -> None:
    command(app, "doctor")(doctor)


def doctor(
    session: CommandSession,
    host: Host = None,
    port: Port = None,
    base_url: BaseUrl = None,
    operators: Operators = None,
) -> int:
    """Check settings, files, database, port and pages. Changes nothing; exits with 1 where
    something is wrong."""
    from assent.app import list_components, load_operators

    session.add_flags(host=host, port=port, base_url=base_url, operators=operators or None)
    try:
        loaded = session.loaded
    except SettingsError as error:
        what, _, fix = str(error).partition("\n")
        return _report(session, [DoctorCheck("settings", False, what, fix or None)], {})
    settings = loaded.settings
    # Only settings that exist under their own name: a value combined from two is shown as the two.
    sources = {row.name: loaded.sources[row.name] for row in TABLE}
    extensions = load_operators(settings)
    checks = [
        _settings(sources, loaded.warnings),
        _data_dir(settings),
        _secrets(settings),
        *asyncio.run(_database(settings, list_components(extensions))),
        *_operators(extensions),
        *_extras(),
        _cap(settings),
        *_address(settings),
        DoctorCheck("limit of a local server", True, HONEST_LIMIT),
    ]
    return _report(session, checks, sources)


def _report(session: CommandSession, checks: list[DoctorCheck], sources: dict[str, str]) -> int:
    ok = all(check.ok for check in checks)
    lines = []
    for check in checks:
        lines.append(f"{'ok  ' if check.ok else 'FAIL'}  {check.name}: {check.detail}")
        if check.fix is not None:
            lines += [f"      -> {line}" for line in check.fix.splitlines()]
    session.give(DoctorReport(ok, __version__, tuple(checks), sources), "\n".join(lines))
    return 0 if ok else 1


def _settings(sources: dict[str, str], warnings: tuple[str, ...]) -> DoctorCheck:
    given = [f"{name} ({source})" for name, source in sources.items() if source != "default"]
    detail = "; ".join(given) if given else "everything is at its default"
    return DoctorCheck("settings", True, detail, "\n".join(warnings) or None)


def _data_dir(settings: Settings) -> DoctorCheck:
    name, path = "data directory", settings.data_dir
    try:
        return _check_data_dir(name, path, uses_it=settings.sqlite_path is not None)
    except OSError as error:
        return DoctorCheck(
            name, False, f"{path}: {error.strerror}", "Name one that you can use with --data-dir."
        )


def _check_data_dir(name: str, path: Path, *, uses_it: bool) -> DoctorCheck:
    if not path.exists():
        if not uses_it:
            return DoctorCheck(name, True, f"{path} is not needed with PostgreSQL")
        parent = next(each for each in path.parents if each.exists())
        if os.access(parent, os.W_OK | os.X_OK):
            return DoctorCheck(
                name, True, f"{path} is not there yet; the first start makes it", "assent init"
            )
        fix = "Name another directory with --data-dir or ASSENT_DATA_DIR."
        return DoctorCheck(name, False, f"{path} is not there, and {parent} cannot be written", fix)
    if not path.is_dir():
        return DoctorCheck(name, False, f"{path} is not a directory", "Name a directory with --data-dir.")
    mode = path.stat().st_mode
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return DoctorCheck(
            name, False, f"{path} is not writable for you (mode {mode & 0o777:04o})", f"chmod u+rwx {path}"
        )
    if mode & SHARED_BITS:
        return DoctorCheck(
            name, False, f"other users can look into {path} (mode {mode & 0o777:04o})", f"chmod 700 {path}"
        )
    return DoctorCheck(name, True, f"{path}, yours alone")


def _secrets(settings: Settings) -> DoctorCheck:
    name = "secrets"
    try:
        absent = missing_secrets(settings)
    except SettingsError as error:
        what, _, fix = str(error).partition("\n")
        return DoctorCheck(name, False, what, fix or None)
    if absent:
        names = " and ".join(home.file_name for home in absent)
        return DoctorCheck(name, True, f"{names} not made yet; the first start makes them", "assent init")
    given = {RUN_TOKEN: settings.run_token_secrets, MASTER: settings.secrets}
    where = [
        f"{home.env} (set)" if given[home] else f"{settings.data_dir / home.file_name} (yours alone)"
        for home in HOMES
    ]
    return DoctorCheck(name, True, ", ".join(where))


async def _database(settings: Settings, components: tuple[Component, ...]) -> list[DoctorCheck]:
    from assent.stores import open_store
    from assent.stores.migrate import schema_state

    name, shown = "database", hide_password(settings.database_url)
    if (behind := await _compare(settings)) is not None:
        return [behind]
    try:
        state = await schema_state(settings.database_url, components)
    except Exception as error:
        what, _, fix = explain(error, settings).partition("\n")
        return [DoctorCheck(name, False, f"{shown}: {what}", fix or None)]
    if state.current == 0:
        return [DoctorCheck(name, True, f"{shown} is empty; the first start makes its tables", "assent init")]
    embedded = settings.sqlite_path is not None
    if state.pending:
        version = f"{shown} is at schema version {state.current}, this release is at {state.latest}"
        return [
            DoctorCheck(
                name,
                embedded,
                version + ("; the next start migrates it" if embedded else ""),
                "assent migrate",
            )
        ]
    checks = [DoctorCheck(name, True, f"{shown}, schema version {state.current}")]
    checks += (check for each in state.components if (check := _component(each, embedded)) is not None)
    store = open_store(settings.database_url, pool_size=1)
    try:
        looks = (
            *(() if embedded else ((_replication, "replication"),)),
            (_sending, "sending"),
            (_boundary, "boundary"),
            (_jobs, "jobs"),
            (_connections, "connections"),
            (_storage, "storage"),
            (_restores, "restores"),
        )
        for look, about in looks:
            try:
                checks.append(await look(settings, store))
            except Exception as error:
                what, _, fix = explain(error, settings).partition("\n")
                checks.append(DoctorCheck(about, False, what, fix or None))
    finally:
        await store.close()
    return checks


def _component(state: ComponentState, embedded: bool) -> DoctorCheck | None:
    """Check the tables of an extension. Returns None if they are up to date."""
    name = f"tables of {state.component}"
    if state.problem is not None:
        what, _, fix = state.problem.partition(". ")
        return DoctorCheck(name, False, what, fix or None)
    if not state.pending:
        return None
    waits = f"the database waits for {', '.join(state.pending)}"
    return DoctorCheck(
        name, embedded, waits + ("; the next start migrates it" if embedded else ""), "assent migrate"
    )


async def _replication(settings: Settings, store: Store) -> DoctorCheck:
    """Show whether a failover could lose acknowledged writes."""
    from assent.sql.loader import statements

    def look() -> Transaction[bool]:
        rows = yield statements.read_server_history()
        return bool(rows[0]["synchronous"])

    if await store.read(look):
        return DoctorCheck("replication", True, "synchronous: a failover loses no acknowledged write")
    detail = "not synchronous: if a standby takes over, the last acknowledged writes are lost"
    return DoctorCheck(
        "replication", True, detail, "Set synchronous_standby_names on the primary (docs/scale.md)."
    )


async def _sending(settings: Settings, store: Store) -> DoctorCheck:
    """Show where sending is frozen."""
    from assent.engine.core import freezes
    from assent.kernel.times import iso_time

    found = await store.read(freezes.list_all)
    if not found:
        return DoctorCheck("sending", True, "not stopped anywhere")
    places = [
        f"{'the whole server' if each.everywhere else each.workspace_id} since {iso_time(each.since_ms)}"
        for each in found
    ]
    scope = "" if found[0].everywhere else f" --workspace {found[0].workspace_id}"
    return DoctorCheck("sending", True, f"stopped: {', '.join(places)}", f"assent unfreeze{scope}")


async def _boundary(settings: Settings, store: Store) -> DoctorCheck:
    """Show what `assent boundary` found."""
    from assent.engine.audit import boundary

    found = await store.read(boundary.describe_claims)
    said = {
        "unchecked": "not checked; the server claims what it sees",
        "held": f"held at {found.checked_at}",
        "open": f"open at {found.checked_at}; approvals are claimed as `{found.most_claimed}` at most",
    }
    fix = "sudo assent boundary --user NAME" if found.boundary != "held" else None
    return DoctorCheck("boundary", True, said[found.boundary], fix)


async def _jobs(settings: Settings, store: Store) -> DoctorCheck:
    """Check for jobs that ran out of retries and need a person."""
    from assent.engine.core import jobs

    dead = await store.read(lambda: jobs.list_dead(MANY_JOBS))
    if not dead:
        return DoctorCheck("jobs", True, "none has given up")
    count = f"{len(dead)}{' or more' if len(dead) == MANY_JOBS else ''}"
    kinds = ", ".join(sorted({job.kind for job in dead}))
    last = f"; the last said: {dead[0].last_error}" if dead[0].last_error else ""
    fix = "Remove the cause; the log of the server has the details."
    return DoctorCheck("jobs", False, f"{count} gave up ({kinds}){last}", fix)


async def _connections(settings: Settings, store: Store) -> DoctorCheck:
    """Check the workspaces' connections. An expired one needs its person."""
    from assent.engine.connections import connections

    found = await store.read(connections.count_all)
    counts = [f"{provider} {state} ({count})" for provider, state, count in found if state != "revoked"]
    ended = sorted({provider for provider, state, _ in found if state == "expired"})
    fix = (
        f"Connect again: assent connect {ended[0]} --workspace ID --key-stdin, or on its page."
        if ended
        else None
    )
    return DoctorCheck("connections", True, ", ".join(counts) or "no provider is connected", fix)


async def _storage(settings: Settings, store: Store) -> DoctorCheck:
    """Show the daily storage limit and the workspace that used most of it today."""
    from assent.app import SystemClock
    from assent.engine.core import quota, tenancy

    def used() -> Transaction[list[tuple[int, str]]]:
        found = []
        for place in (yield from tenancy.list_workspaces()):
            found.append(((yield from quota.read_stored(place.workspace_id, now_ms)), place.name))
        return found

    now_ms = SystemClock().now_ms()
    most, name = max(await store.read(used), default=(0, ""))
    allowed = f"a workspace may store {settings.storage_quota_mb:,} MB a day"
    if not most:
        return DoctorCheck("storage", True, f"{allowed}; none has stored anything today")
    detail = f"{allowed}; “{name}” has stored most today, {most / 1_000_000:.1f} MB"
    full = most >= settings.storage_quota_mb * 1_000_000
    fix = "Wait until midnight (UTC), or allow more with ASSENT_STORAGE_QUOTA_MB." if full else None
    return DoctorCheck("storage", not full, detail, fix)


async def _restores(settings: Settings, store: Store) -> DoctorCheck:
    """Name the last restore and the unknown outcomes that restores left."""
    from assent.engine.recovery import holding

    found = await store.read(holding.list_restores)
    open_ones = await store.read(holding.count_restored)
    if not found:
        return DoctorCheck("restores", True, f"the database was never put back. {NOT_FOUND}")
    fix = "Answer them in the inbox." if open_ones else None
    waits = f"{open_ones} unknown outcomes of restores wait for an answer."
    return DoctorCheck("restores", True, f"{found[-1].describe()} {waits} {NOT_FOUND}", fix)


async def _compare(settings: Settings) -> DoctorCheck | None:
    """Check the database against the recorded head, before it is opened. Returns None if it lacks
    nothing."""
    from assent.app import SystemClock
    from assent.processes.heads import Heads, StoreBehind
    from assent.stores import open_store

    try:
        await Heads(settings, open_store(settings.database_url), SystemClock()).compare()
    except StoreBehind as behind:
        what, _, fix = str(behind).partition("\n")
        return DoctorCheck("database", False, what, fix)
    except Exception:  # the checks of the database say it
        return None
    return None


def _operators(loaded: Extensions) -> Iterator[DoctorCheck]:
    """Check the operators of other packages."""
    for failure in loaded.failures:
        yield DoctorCheck("operators", False, f"{failure.source} is left out", failure.why)
    named = [f"{operator.id} ({loaded.sources[operator.id]})" for operator in loaded.operators]
    if named or not loaded.failures:
        yield DoctorCheck("operators", True, ", ".join(named) or "none beside those of Assent")


def _extras() -> Iterator[DoctorCheck]:
    """Name the optional dependencies that are not installed."""
    from assent.extensions.bundles import load_bundles

    for extra in (each for bundle in load_bundles() for each in bundle.list_missing_extras()):
        yield DoctorCheck(extra.name, True, extra.without, f"pip install 'assent[{extra.name}]'")


def _cap(settings: Settings) -> DoctorCheck:
    """Show the connection limit of one process."""
    from assent.processes.serve import limit_connections

    most = limit_connections(settings)
    detail = f"{most:,} at a time"
    if most == settings.max_connections:
        return DoctorCheck("clients", True, detail)
    return DoctorCheck(
        "clients",
        True,
        f"{detail}, not the {settings.max_connections:,} that are set: the system gives a process too few file "
        "descriptors",
        "Raise the limit of open files where the server is started (ulimit -n).",
    )


def _address(settings: Settings) -> Iterator[DoctorCheck]:
    """Check the port to listen on and the public URL."""
    where = f"{settings.host}:{settings.port}"
    port = look_at_port(settings.host, settings.port)
    free, ours = port is PortState.FREE, port is PortState.OURS
    if free or ours:
        yield DoctorCheck("port", True, f"{where} is {'free' if free else 'served by Assent'}")
    else:
        other = in_shell(own_command(settings, "serve", "--port", str(settings.port % 65_535 + 1)))
        fix = f"Stop that program, or serve on another port: {other}"
        detail = (
            f"{where} is used by another program"
            if port is PortState.BUSY
            else f"{where} cannot be listened on"
        )
        yield DoctorCheck("port", False, detail, fix)
    if reaches_assent(settings.base_url):
        yield DoctorCheck("pages", True, f"{settings.base_url} answers")
    elif free:
        yield DoctorCheck(
            "pages",
            True,
            f"no server is running for {settings.base_url}",
            in_shell(own_command(settings, "serve")),
        )
    else:
        fix = "Set ASSENT_BASE_URL to the address at which a browser reaches this server."
        yield DoctorCheck("pages", False, f"{settings.base_url} does not answer as Assent", fix)
