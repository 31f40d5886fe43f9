"""`assent doctor`: tries what `serve` does at its start, in the same words, and suggests fixes.

It leaves no directory, secret or schema behind: what it creates to see whether it can, it removes.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from assent import __version__
from assent.cli.session import BaseUrl, CommandSession, Host, Operators, Port, TlsCert, TlsKey, explain
from assent.engine.actions import boundary
from assent.engine.audit import copies
from assent.engine.connections import named_secrets
from assent.engine.core import connection_store, freezes, jobs, tenancy
from assent.extensions.hooks import DoctorCheck, Extension
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId, is_uuid
from assent.kernel.structs import Record
from assent.kernel.times import iso_time
from assent.net.loopback import is_loopback
from assent.ports import Store, Transaction
from assent.processes.listening import bind, reaches_assent, serves_this_data
from assent.processes.start_checks import SECRETS, check_certificate, compare_secrets, refuse_other_files
from assent.processes.system_clock import SystemClock
from assent.settings.client_config import in_shell, own_command
from assent.settings.load import EVERY_WORKSPACE, Settings, SettingsError, hide_password
from assent.settings.secret_files import (
    SHARED_BITS,
    explain_data_dir,
    find_secrets,
    missing_secrets,
    read_secrets,
)
from assent.sql.loader import statements

if TYPE_CHECKING:
    from assent.extensions.registry import Extensions
    from assent.sql.schema import ComponentState

# The checks of `assent doctor` on an open database. Each is a row of `LOOKS`; none changes anything.

NOT_FOUND: Final = (
    "If the database and the data directory are put back together, from a copy that `assent backup` did not write, no "
    "one can tell: what was sent since looks unsent."
)

MANY_JOBS: Final = 100


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

    def look() -> Transaction[bool]:
        rows = yield statements.read_server_history()
        return bool(rows[0]["synchronous"])

    if await store.read(look):
        return DoctorCheck("replication", True, "synchronous: a failover loses no acknowledged write")
    detail = "not synchronous: if a standby takes over, the last acknowledged writes are lost"
    return DoctorCheck(
        "replication", True, detail, "Set synchronous_standby_names on the primary (docs/scale.md)."
    )


async def _pooler(settings: Settings, store: Store) -> DoctorCheck:
    """Show whether a pooler is between, and what follows for prepared statements."""
    from assent.stores.postgres import connect
    from assent.stores.postgres_connection import is_pooled

    async with connect(settings.database_url) as connection:
        pooled = await is_pooled(connection)
    kept = settings.statement_cache == "on" or (settings.statement_cache == "auto" and not pooled)
    detail = f"{'a pooler is' if pooled else 'none is'} between; statements are {'' if kept else 'not '}kept prepared"
    return DoctorCheck("pooler", True, detail)


async def _placement(settings: Settings, store: Store) -> DoctorCheck:
    """Show over which servers the tables are spread, and which of these do not answer."""
    from assent.app import list_components, load_operators
    from assent.stores.postgres import connect
    from assent.stores.postgres_shards import list_nodes, read_placement

    async with connect(settings.database_url) as connection:
        found = await read_placement(connection, list_components(settings, load_operators(settings)))
        if found is None:
            return DoctorCheck("placement", True, "all tables are on one server")
        nodes = await list_nodes(connection)
    silent = ", ".join(name for name, answers in nodes if not answers)
    detail = (
        f"{len(found.spread)} tables by workspace and {len(found.reference)} whole, on {len(nodes)} servers"
    )
    if silent:
        return DoctorCheck(
            "placement", False, f"{detail}; no answer from {silent}", "Start or replace that server."
        )
    return DoctorCheck("placement", True, detail)


async def _sending(settings: Settings, store: Store) -> DoctorCheck:
    """Show where sending is frozen."""
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
    found = await store.read(connection_store.count_all)
    counts = [f"{provider} {state} ({count})" for provider, state, count in found if state != "revoked"]
    ended = sorted({provider for provider, state, _ in found if state == "expired"})
    connect = ("connect", *ended[:1], "--workspace", "ID", "--key-stdin")
    fix = f"Connect it again on its page, or: {paste(settings, *connect)}" if ended else None
    return DoctorCheck("connections", True, ", ".join(counts) or "no provider is connected", fix)


async def _look_at_starts(settings: Settings, store: Store) -> DoctorCheck:
    """Name the wrapped servers that did not start."""
    now_ms = SystemClock().now_ms()
    failed = await store.read(lambda: connection_store.list_failed_starts(now_ms))
    said = "; ".join(f"{each.server} did not start: {each.why}" for each in failed)
    fix = "Correct its command or its environment, and have an agent list the tools again." if said else None
    return DoctorCheck("wrapped starts", not said, said or "no wrapped server failed in the last day", fix)


async def _owner(settings: Settings, store: Store) -> DoctorCheck:
    """Show which workspaces use the operators, effects and mail server of the settings."""
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
    now_ms = SystemClock().now_ms()
    since_ms = await store.read(lambda: copies.find_overdue(now_ms))
    if since_ms is None:
        return DoctorCheck("audit copies", True, "no checkpoint waits for a day to be copied elsewhere")
    detail = f"no checkpoint since {iso_time(since_ms)} is known to be copied to another machine"
    return DoctorCheck("audit copies", True, detail, copies.explain(paste(settings, *copies.COMMAND)))


async def _sign_in(settings: Settings, store: Store) -> DoctorCheck:
    """Check the workspaces of people who sign in with an issuer."""
    from assent.processes.serve import offer_oidc, resolve_workspaces

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
    from assent.engine.recovery import holding, positions

    found = await store.read(positions.list_restores)
    open_ones = await store.read(holding.count_restored)
    if not found:
        return DoctorCheck("restores", True, f"the database was never put back. {NOT_FOUND}")
    fix = "Answer them in the inbox." if open_ones else None
    waits = f"{open_ones} unknown outcomes of restores wait for an answer."
    return DoctorCheck("restores", True, f"{found[-1].describe()} {waits} {NOT_FOUND}", fix)


async def _rehearse(settings: Settings, store: Store) -> DoctorCheck:
    """Compare the secrets and write as the start of a server does, and roll that back."""

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
    ("wrapped starts", _look_at_starts),
    ("owner", _owner),
    ("sign-in", _sign_in),
    ("storage", _storage),
    ("audit copies", _copies),
    ("restores", _restores),
)
"""The checks by name. PostgreSQL has more."""
OF_POSTGRES: Final = (("replication", _replication), ("pooler", _pooler), ("placement", _placement))


HONEST_LIMIT: Final = (
    "An agent with a shell under the same OS user can read the files of a local server, its secrets among them. "
    "Only another OS user or another host is a real boundary; no policy and no passkey helps against it."
)

MIN_FREE_BYTES: Final = 200_000_000
"""A database whose disk is full refuses every write."""


class DoctorReport(Record):
    ok: bool
    version: str
    checks: tuple[DoctorCheck, ...]
    sources: dict[str, str]


def doctor(
    session: CommandSession,
    host: Host = None,
    port: Port = None,
    base_url: BaseUrl = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    operators: Operators = None,
) -> int:
    """Try what `serve` does at its start: settings, files, database, operators, port and pages. Leaves
    everything as it was; exits with 1 where something is wrong."""
    from assent.app import list_installed, load_operators, show_settings

    session.add_flags(host=host, port=port, base_url=base_url, operators=operators or None)
    session.add_flags(tls_cert=tls_cert, tls_key=tls_key)
    try:
        loaded = session.loaded
    except SettingsError as error:
        return _report(session, [fail_as("settings", str(error))], {})
    settings, sources = loaded.settings, dict(loaded.sources)
    try:
        extensions = load_operators(settings)
        installed, shown = list_installed(settings), show_settings(settings)
    except SettingsError as error:
        return _report(session, [fail_as("extensions", str(error))], sources)
    checks = [
        _settings(sources, loaded.warnings),
        _data_dir(settings),
        *_disk(settings),
        _secrets(settings),
        *_certificate(settings),
        *asyncio.run(_database(settings, extensions)),
        *_operators(extensions),
        *_addresses(extensions, settings),
        *_extensions(settings, installed, shown),
        _cap(settings),
        _signup(settings),
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
    if not path.exists():
        if settings.sqlite_path is None:
            detail = (
                f"{path} is not there yet; the first start makes it, for the checkpoints of the audit log"
            )
            return DoctorCheck(name, True, detail)
        parent = next(each for each in path.parents if each.exists())
        try:
            Path(tempfile.mkdtemp(dir=parent)).rmdir()
        except OSError as error:
            return fail_as(name, explain_data_dir(path, error))
        detail = f"{path} is not there yet; the first start makes it"
        return DoctorCheck(name, True, detail, paste(settings, "init"))
    try:
        tempfile.TemporaryFile(dir=path).close()
        mode = path.stat().st_mode
    except OSError as error:
        return fail_as(name, explain_data_dir(path, error))
    if mode & SHARED_BITS:
        fix = in_shell(["chmod", "700", str(path)])
        return DoctorCheck(name, False, f"other users can look into {path} (mode {mode & 0o777:04o})", fix)
    return DoctorCheck(name, True, f"{path}, yours alone")


def _disk(settings: Settings) -> Iterator[DoctorCheck]:
    if settings.sqlite_path is None:
        return
    place = next(
        each for each in (settings.sqlite_path.parent, *settings.sqlite_path.parents) if each.is_dir()
    )
    free = shutil.disk_usage(place).free
    fix = "Make room on this disk, or name another with --data-dir." if free < MIN_FREE_BYTES else None
    yield DoctorCheck("disk", fix is None, f"{free / 1_000_000:,.0f} MB are free for {place}", fix)


def _secrets(settings: Settings) -> DoctorCheck:
    name = "secrets"
    try:
        absent = missing_secrets(settings)
    except SettingsError as error:
        return fail_as(name, str(error))
    if absent:
        names = " and ".join(home.file_name for home in absent)
        detail = f"{names} not made yet; the first start makes them"
        return DoctorCheck(name, True, detail, paste(settings, "init"))
    where = (
        f"{place} ({'set' if given else 'yours alone'})" for place, given in find_secrets(settings).items()
    )
    return DoctorCheck(name, True, ", ".join(where))


def _certificate(settings: Settings) -> Iterator[DoctorCheck]:
    try:
        if (found := check_certificate(settings)) is not None:
            yield DoctorCheck("certificate", True, f"{found[0]} with its key {found[1]}")
    except SettingsError as error:
        yield fail_as("certificate", str(error))


async def _database(settings: Settings, loaded: Extensions) -> list[DoctorCheck]:
    from assent.app import list_components
    from assent.stores import open_store
    from assent.stores.migrate import schema_state

    name, shown = "database", hide_password(settings.database_url)
    if (behind := await _compare(settings)) is not None:
        return [behind]
    try:
        refuse_other_files(settings)
        state = await schema_state(settings.database_url, list_components(settings, loaded))
    except Exception as error:
        return [fail_as(name, explain(error, settings))]
    if state.current == 0:
        detail = f"{shown} is empty; the first start makes its tables"
        return [DoctorCheck(name, True, detail, paste(settings, "init"))]
    embedded = settings.sqlite_path is not None
    if state.pending:
        version = f"{shown} is at schema version {state.current}, this release is at {state.latest}"
        detail = version + ("; the next start migrates it" if embedded else "")
        return [DoctorCheck(name, embedded, detail, paste(settings, "migrate"))]
    checks = [DoctorCheck(name, True, f"{shown}, schema version {state.current}")]
    states = (check_component(settings, each, embedded) for each in state.components)
    checks += (check for check in states if check is not None)
    store = open_store(settings.database_url, pool_size=1, statement_cache=settings.statement_cache)
    try:
        secrets = ("effect secrets", partial(_effect_secrets, loaded))
        for about, look in (*(() if embedded else OF_POSTGRES), *LOOKS, secrets):
            try:
                checks.append(await look(settings, store))
            except Exception as error:
                checks.append(fail_as(about, explain(error, settings)))
    finally:
        await store.close()
    return checks


async def _compare(settings: Settings) -> DoctorCheck | None:
    """Check the database against the recorded head, before it is opened. Returns None if it lacks
    nothing."""
    from assent.processes.store_position import Heads, StoreBehind
    from assent.stores import open_store

    try:
        await Heads(settings, open_store(settings.database_url), SystemClock()).compare()
    except StoreBehind as behind:
        return fail_as("database", str(behind))
    except Exception:  # the checks of the database say it
        return None
    return None


async def _effect_secrets(loaded: Extensions, settings: Settings, store: Store) -> DoctorCheck:
    """Name a secret without which an HTTP effect would be approved and never sent."""
    from assent.extensions.http_effects import HttpEffect

    effects = [effect for effect in loaded.effects if isinstance(effect, HttpEffect)]
    named = [each for each in settings.owner_workspaces or () if each != EVERY_WORKSPACE]
    for workspace_id in map(WorkspaceId, named or (tenancy.LOCAL_WORKSPACE,)):
        found = await store.read(partial(named_secrets.list_secrets, workspace_id))
        stored = {each.name for each in found}
        for effect in effects:
            if missing := next((name for name in effect.request.secrets if name not in stored), None):
                detail = f"{effect.tool} cannot be sent: workspace {workspace_id} has no secret {missing}"
                fix = paste(settings, "secret", "set", missing, "--workspace", workspace_id)
                return DoctorCheck("effect secrets", False, detail, fix)
    return DoctorCheck("effect secrets", True, "every HTTP effect has the secrets that it names")


def _addresses(loaded: Extensions, settings: Settings) -> Iterator[DoctorCheck]:
    """Name the HTTP effects that would be approved and never sent, because of where they go."""
    from assent.extensions.http_effects import HttpEffect
    from assent.net.addresses import FetchRefused, screen

    for effect in loaded.effects:
        if isinstance(effect, HttpEffect):
            try:
                screen(effect.request.fixed_url, allow_hosts=settings.allow_hosts)
            except FetchRefused as refused:
                detail = f"{effect.tool} cannot be sent: {refused.text}"
                yield DoctorCheck("operators", False, detail, "Name its host in allow_hosts.")


def _operators(loaded: Extensions) -> Iterator[DoctorCheck]:
    """Check the operators of other packages."""
    for failure in loaded.failures:
        yield DoctorCheck("operators", False, f"{failure.source} is left out", failure.why)
    named = [f"{operator.id} ({loaded.sources[operator.id]})" for operator in loaded.operators]
    if named or not loaded.failures:
        yield DoctorCheck("operators", True, ", ".join(named) or "none beside those of Assent")
    for note in loaded.notes:
        yield DoctorCheck("operators", True, note)


def _extensions(
    settings: Settings, installed: tuple[Extension, ...], shown: Mapping[str, Mapping[str, Any]]
) -> Iterator[DoctorCheck]:
    """Name the extensions of other packages, and give what all say about themselves."""
    from assent.app import App
    from assent.processes.serve import check_names

    if settings.extensions:
        try:
            check_names(App(settings))
        except SettingsError as error:
            yield fail_as("extensions", str(error))
        else:
            yield DoctorCheck("extensions", True, ", ".join(settings.extensions))
    yield from (check for each in installed for check in each.check(shown[each.name]))


def _signup(settings: Settings) -> DoctorCheck:
    """Say who gets a workspace of their own, and when they see its key."""
    name = "sign-up"
    if not settings.signups_per_hour:
        return DoctorCheck(name, True, "closed: only an owner makes workspaces and keys")
    detail = (
        f"open: {settings.base_url} gives anyone an empty workspace once they confirm their e-mail address"
    )
    if settings.smtp_url is None or settings.smtp_from is None:
        detail += " (if a mail server is connected) or an owner lets them in"
    hosts = settings.host, urlsplit(settings.base_url).hostname or ""
    if all(map(is_loopback, hosts)) and not settings.trust_proxy_headers:
        detail += "; on this machine at once"
    return DoctorCheck(name, True, detail, "Set signups_per_hour = 0 to close it.")


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
    """Listen for a moment where `serve` would, and ask for the pages at the public address."""
    where, served = f"{settings.host}:{settings.port}", False
    try:
        for each in bind(settings):
            each.close()
        yield DoctorCheck("port", True, f"{where} is free")
    except SettingsError as error:
        served = serves_this_data(settings)
        yield (
            DoctorCheck("port", True, f"{where} is served by Assent on this data")
            if served
            else fail_as("port", str(error))
        )
        if not served:
            return
    if reaches_assent(settings.base_url):
        yield DoctorCheck("pages", True, f"{settings.base_url} answers")
    elif served:
        fix = "Set ASSENT_BASE_URL to the address at which a browser reaches this server."
        yield DoctorCheck("pages", False, f"{settings.base_url} does not answer as Assent", fix)
    else:
        detail = f"no server is running for {settings.base_url}"
        yield DoctorCheck("pages", True, detail, paste(settings, "serve"))
