"""The checks of `assent doctor` on an open database. Each is a row of `LOOKS`; none changes anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from assent.kernel.ids import is_uuid
from assent.kernel.structs import Record
from assent.ports import Store, Transaction
from assent.settings.load import EVERY_WORKSPACE, Settings, SettingsError
from assent.settings.welcome import in_shell, own_command

if TYPE_CHECKING:
    from assent.sql.schema import ComponentState

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


def fail_as(name: str, message: str) -> DoctorCheck:
    """A failed check in the words of an error: its first line is the problem, the rest what to do."""
    what, _, fix = message.partition("\n")
    return DoctorCheck(name, False, what, fix or None)


def paste(settings: Settings, *words: str) -> str:
    """A command on the same data, to paste."""
    return in_shell(own_command(settings, *words))


def check_component(settings: Settings, state: ComponentState, embedded: bool) -> DoctorCheck | None:
    """Check the tables of an extension. Returns None if they are up to date."""
    name = f"tables of {state.component}"
    if state.problem is not None:
        what, _, fix = state.problem.partition(". ")
        return DoctorCheck(name, False, what, fix or None)
    if not state.pending:
        return None
    waits = f"the database waits for {', '.join(state.pending)}"
    detail = waits + ("; the next start migrates it" if embedded else "")
    return DoctorCheck(name, embedded, detail, paste(settings, "migrate"))


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
    scope = () if found[0].everywhere else ("--workspace", found[0].workspace_id)
    return DoctorCheck("sending", True, f"stopped: {', '.join(places)}", paste(settings, "unfreeze", *scope))


async def _boundary(settings: Settings, store: Store) -> DoctorCheck:
    """Show what `assent boundary` found."""
    from assent.engine.audit import boundary

    found = await store.read(boundary.describe_claims)
    said = {
        "unchecked": "not checked; the server claims what it sees",
        "held": f"held at {found.checked_at}",
        "open": f"open at {found.checked_at}; approvals are claimed as `{found.most_claimed}` at most",
    }
    fix = f"sudo {paste(settings, 'boundary', '--user', 'NAME')}" if found.boundary != "held" else None
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
    fix = "The log of the server says more. Remove the cause; new jobs of this kind run again."
    return DoctorCheck("jobs", False, f"{count} gave up ({kinds}){last}", fix)


async def _connections(settings: Settings, store: Store) -> DoctorCheck:
    """Check the workspaces' connections. An expired one needs its person."""
    from assent.engine.connections import connections

    found = await store.read(connections.count_all)
    counts = [f"{provider} {state} ({count})" for provider, state, count in found if state != "revoked"]
    ended = sorted({provider for provider, state, _ in found if state == "expired"})
    connect = ("connect", *ended[:1], "--workspace", "ID", "--key-stdin")
    fix = f"Connect it again on its page, or: {paste(settings, *connect)}" if ended else None
    return DoctorCheck("connections", True, ", ".join(counts) or "no provider is connected", fix)


async def _wrapped(settings: Settings, store: Store) -> DoctorCheck:
    """Name the wrapped servers that did not start."""
    from assent.engine.connections import connections
    from assent.processes.system_clock import SystemClock

    now_ms = SystemClock().now_ms()
    failed = await store.read(lambda: connections.list_failed_starts(now_ms))
    said = "; ".join(f"{each.server} did not start: {each.why}" for each in failed)
    fix = "Correct its command or its environment, and have an agent list the tools again." if said else None
    return DoctorCheck("wrapped starts", not said, said or "no wrapped server failed in the last day", fix)


async def _owner(settings: Settings, store: Store) -> DoctorCheck:
    """Show which workspaces use the operators, effects and mail server of the settings."""
    from assent.engine.core import tenancy

    named = settings.owner_workspaces or (tenancy.LOCAL_WORKSPACE,)
    what = "the operators, effects, provider clients and mail server of the settings serve"
    if EVERY_WORKSPACE in named:
        fix = "Name workspaces in owner_workspaces, or close sign-up with signups_per_hour = 0."
        is_open = settings.signups_per_hour > 0
        more = ", and sign-up is open: a stranger's workspace uses them, too" if is_open else ""
        return DoctorCheck("owner", not is_open, f"{what} every workspace{more}", fix if is_open else None)
    names = {str(place.workspace_id): place.name for place in await store.read(tenancy.list_workspaces)}
    shown = ", ".join(f"“{names[each]}”" if each in names else each for each in named)
    if missing := [each for each in named if each not in names and each != tenancy.LOCAL_WORKSPACE]:
        fix = f"Correct owner_workspaces; the ids are in: {paste(settings, 'workspace', 'list')}"
        return DoctorCheck("owner", False, f"there is no workspace {missing[0]}", fix)
    return DoctorCheck("owner", True, f"{what} {shown} and no other workspace")


async def _storage(settings: Settings, store: Store) -> DoctorCheck:
    """Show the daily storage limit and the workspace that used most of it today."""
    from assent.engine.core import quota, tenancy
    from assent.processes.system_clock import SystemClock

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


async def _copies(settings: Settings, store: Store) -> DoctorCheck:
    """Show since when no checkpoint of the journal was copied to another machine."""
    from assent.engine.audit import copies
    from assent.kernel.times import iso_time
    from assent.processes.system_clock import SystemClock

    now_ms = SystemClock().now_ms()
    since_ms = await store.read(lambda: copies.find_overdue(now_ms))
    if since_ms is None:
        return DoctorCheck("audit copies", True, "no checkpoint waits for a day to be copied elsewhere")
    detail = f"no checkpoint since {iso_time(since_ms)} is known to be copied to another machine"
    return DoctorCheck("audit copies", True, detail, copies.explain(paste(settings, *copies.COMMAND)))


async def _sign_in(settings: Settings, store: Store) -> DoctorCheck:
    """Check the workspaces of people who sign in with an issuer."""
    from assent.processes.sign_in_with import offer_oidc, resolve_workspaces

    offered = offer_oidc(settings)
    if offered is None:
        return DoctorCheck("sign-in", True, "no issuer is set")
    await resolve_workspaces(offered, store)
    places = {*offered.rules.workspaces, *(place for _, place in offered.rules.members)}
    unknown = sorted(each for each in places if not is_uuid(each))
    if unknown:
        fix = paste(settings, "workspace", "create", unknown[0])
        return DoctorCheck("sign-in", False, f"the settings name {unknown[0]!r}, which is no workspace", fix)
    return DoctorCheck("sign-in", True, f"with {settings.oidc_issuer}")


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


async def _rehearse(settings: Settings, store: Store) -> DoctorCheck:
    """Compare the secrets and write as the start of a server does, and roll that back."""
    from assent.kernel.ids import SYSTEM_WORKSPACE
    from assent.processes.secret_checks import SECRETS, compare_secrets
    from assent.settings.secret_files import read_secrets
    from assent.sql.loader import statements

    class Rolled(Exception):  # noqa: N818 - ends a transaction that worked
        pass

    try:
        found = read_secrets(settings)
        rings = {home: found.get(home, ()) for home in SECRETS}
    except SettingsError:  # the check of the secrets says it
        rings = {}

    def rehearse() -> Transaction[None]:
        yield from compare_secrets(rings)
        yield statements.set_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name="doctor", value="")
        raise Rolled

    with suppress(Rolled):
        await store.write(rehearse)
    fit = "; the secrets fit" if rings else ""
    return DoctorCheck("writing", True, f"a write was tried and rolled back{fit}")


Look = Callable[[Settings, Store], Awaitable[DoctorCheck]]

LOOKS: Final[tuple[tuple[str, Look], ...]] = (
    ("writing", _rehearse),
    ("sending", _sending),
    ("boundary", _boundary),
    ("jobs", _jobs),
    ("connections", _connections),
    ("wrapped starts", _wrapped),
    ("owner", _owner),
    ("sign-in", _sign_in),
    ("storage", _storage),
    ("audit copies", _copies),
    ("restores", _restores),
)
"""The checks by name. PostgreSQL has one more."""
REPLICATION: Final = ("replication", _replication)
