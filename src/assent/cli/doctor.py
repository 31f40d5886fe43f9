"""`assent doctor`: tries what `serve` does at its start, in the same words, and suggests fixes.

It leaves no directory, secret or schema behind: what it creates to see whether it can, it removes.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import typer

from assent import __version__
from assent.cli.failures import explain
from assent.cli.operating.store_checks import (
    LOOKS,
    REPLICATION,
    DoctorCheck,
    check_component,
    fail_as,
    paste,
)
from assent.cli.session import BaseUrl, CommandSession, Host, Operators, Port, TlsCert, TlsKey, command
from assent.kernel.distribution import word_install
from assent.kernel.structs import Record
from assent.net.loopback import is_loopback
from assent.net.probes import reaches_assent
from assent.settings.load import Settings, SettingsError, hide_password
from assent.settings.secret_files import (
    HOMES,
    MASTER,
    RUN_TOKEN,
    SHARED_BITS,
    explain_data_dir,
    missing_secrets,
)
from assent.settings.table import TABLE
from assent.settings.welcome import in_shell

if TYPE_CHECKING:
    from assent.extensions.registry import Extensions
    from assent.sql.components import Component

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


def register(app: typer.Typer) -> None:
    command(app, "doctor")(doctor)


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
    from assent.app import list_components, load_operators

    session.add_flags(host=host, port=port, base_url=base_url, operators=operators or None)
    session.add_flags(tls_cert=tls_cert, tls_key=tls_key)
    try:
        loaded = session.loaded
    except SettingsError as error:
        return _report(session, [fail_as("settings", str(error))], {})
    settings = loaded.settings
    # Only settings that exist under their own name: a value combined from two is shown as the two.
    sources = {row.name: loaded.sources[row.name] for row in TABLE}
    extensions = load_operators(settings)
    checks = [
        _settings(sources, loaded.warnings),
        _data_dir(settings),
        *_disk(settings),
        _secrets(settings),
        *_certificate(settings),
        *asyncio.run(_database(settings, list_components(extensions))),
        *_operators(extensions),
        *_wrapped(settings),
        *_extras(),
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
            return DoctorCheck(name, True, f"{path} is not needed with PostgreSQL")
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
    given = {RUN_TOKEN: settings.run_token_secrets, MASTER: settings.secrets}
    where = [
        f"{home.env} (set)" if given[home] else f"{settings.data_dir / home.file_name} (yours alone)"
        for home in HOMES
    ]
    return DoctorCheck(name, True, ", ".join(where))


def _certificate(settings: Settings) -> Iterator[DoctorCheck]:
    from assent.processes.start_checks import check_certificate

    try:
        if (found := check_certificate(settings)) is not None:
            yield DoctorCheck("certificate", True, f"{found[0]} with its key {found[1]}")
    except SettingsError as error:
        yield fail_as("certificate", str(error))


def _wrapped(settings: Settings) -> Iterator[DoctorCheck]:
    """Check the files of wrapped servers."""
    from assent.app import App
    from assent.processes.start_checks import check_wrapped

    if settings.wrap_config is None:
        return
    try:
        check_wrapped(App(settings))
    except SettingsError as error:
        yield fail_as("wrapped servers", str(error))
    else:
        yield DoctorCheck("wrapped servers", True, str(settings.wrap_config))


async def _database(settings: Settings, components: tuple[Component, ...]) -> list[DoctorCheck]:
    from assent.processes.start_checks import refuse_other_files
    from assent.stores import open_store
    from assent.stores.migrate import schema_state

    name, shown = "database", hide_password(settings.database_url)
    if (behind := await _compare(settings)) is not None:
        return [behind]
    try:
        refuse_other_files(settings)
        state = await schema_state(settings.database_url, components)
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
    store = open_store(settings.database_url, pool_size=1)
    try:
        for about, look in (*(() if embedded else (REPLICATION,)), *LOOKS):
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
    from assent.processes.heads import Heads, StoreBehind
    from assent.processes.system_clock import SystemClock
    from assent.stores import open_store

    try:
        await Heads(settings, open_store(settings.database_url), SystemClock()).compare()
    except StoreBehind as behind:
        return fail_as("database", str(behind))
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
    for note in loaded.notes:
        yield DoctorCheck("operators", True, note)


def _extras() -> Iterator[DoctorCheck]:
    """Name the optional dependencies that are not installed."""
    from assent.extensions.bundles import load_bundles

    for extra in (each for bundle in load_bundles() for each in bundle.list_missing_extras()):
        yield DoctorCheck(extra.name, True, extra.without, word_install(extra.name))


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
    from assent.processes.listening import bind, serves_this_data

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
