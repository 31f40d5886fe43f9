"""`assent conform`: runs the contract's checks against any server, from outside.

Keys come from standard input, because every user of the machine can read command lines. A command
gets its key in a variable of its environment, as MCP clients do it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlsplit

import msgspec
import typer

from assent.sdk import CommandSession, Failure

if TYPE_CHECKING:
    from assent_conform.checks.checking import CheckOutcome, ConformanceReport, Need
    from assent_conform.checks.reports import ReportFile
    from assent_conform.checks.wire import Patience, Server

SIGNS: Final = {"passed": "ok  ", "failed": "FAIL", "not_run": "-   "}
OWN_KEY_VARIABLE: Final = "ASSENT_API_KEY"
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
KEY: Final = re.compile(r"[!-~]{1,512}")
MAX_TIMEOUT_SECONDS: Final = 600.0
INTERRUPTED: Final = 143
"""The exit status of a command that was told to end."""


class Target(msgspec.Struct, frozen=True):
    """The server under test: behind an address, or a command that is started; and its callers."""

    words: tuple[str, ...]
    is_url: bool
    keys: tuple[str, ...]
    key_env: str
    seconds: float
    """How long one answer may take."""


def conform(
    session: CommandSession,
    target: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URL | -- COMMAND …",
            help="The server's address, or the command that serves MCP over stdio.",
            show_default=False,
        ),
    ] = None,
    key_stdin: Annotated[
        bool,
        typer.Option(
            "--key-stdin",
            help="Read a workspace's key from standard input, and from a second line that of another workspace.",
        ),
    ] = False,
    key_env: Annotated[
        str | None,
        typer.Option(
            "--key-env",
            metavar="NAME",
            help=f"The variable in which a COMMAND expects its key ({OWN_KEY_VARIABLE}).",
        ),
    ] = None,
    safe: Annotated[
        bool, typer.Option("--safe", help="Only checks that read and change nothing on the server.")
    ] = False,
    allow_effects: Annotated[
        bool, typer.Option("--allow-effects", help="Also publish posts on the server's own site.")
    ] = False,
    profile: Annotated[
        str,
        typer.Option(
            "--profile",
            metavar="NAME",
            help="What the server has: full, or core, which is served with --operators assent_conform.staging.",
        ),
    ] = "full",
    rule: Annotated[
        list[str] | None,
        typer.Option("--rule", metavar="ID", help="Only checks of this rule; may be repeated."),
    ] = None,
    junit: Annotated[
        str | None, typer.Option("--junit", metavar="FILE", help="Also write the results as JUnit XML.")
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="How long one answer may take.")
    ] = 60.0,
) -> int:
    """Check a server against the contract. Stages drafts in the key's workspace, so use one made
    for it, or --safe."""
    words = tuple(target or ())
    is_url = _is_address(words)
    _refuse_bad_options(is_url, key_stdin, key_env, safe, allow_effects, profile, rule or [], timeout)
    keys = _read_keys() if key_stdin else ()
    server = Target(words, is_url, keys, key_env or OWN_KEY_VARIABLE, timeout)
    from assent_conform.checks.wire import Unreachable

    with _reserve_report(junit) as file:
        try:
            run = _run(
                session, server, allow_effects=allow_effects, profile=profile, safe=safe, rules=rule or []
            )
            report = asyncio.run(run)
        except Unreachable as error:
            raise Failure(_explain_unreachable(server, str(error))) from error
        except asyncio.CancelledError:
            return INTERRUPTED
        if file is not None:
            _write_report(file, report)
    session.give(report, f"{report.passed} passed, {report.failed} failed, {report.not_run} not run")
    if not report.passed and not report.failed:
        session.say("Nothing was checked, so this is no success. Each check says what it needs.")
    return 0 if report.ok else 1


def _is_address(words: tuple[str, ...]) -> bool:
    """Tell an address from a command. Raises `Failure` if it is neither."""
    how = "Write an address like https://example.com or http://127.0.0.1:8080, or a command after --."
    if not words:
        raise Failure(f"There is no server to check. {how}")
    first = words[0]
    if "://" in first:
        try:
            parts = urlsplit(first)
            valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            valid = False
        if not valid:
            raise Failure(f"{first!r} is no address of a server. {how}")
        if len(words) > 1:
            raise Failure(f"{words[1]!r} after the address is not understood: give an address alone. {how}")
        return True
    if shutil.which(first) is None:
        raise Failure(f"{first!r} is no address of a server, and there is no such program. {how}")
    return False


def _refuse_bad_options(
    is_url: bool,
    key_stdin: bool,
    key_env: str | None,
    safe: bool,
    allow_effects: bool,
    profile: str,
    rules: list[str],
    seconds: float,
) -> None:
    from assent_conform.checks.catalog import ALL_CHECKS
    from assent_conform.checks.profiles import PROFILES

    if profile not in PROFILES:
        raise Failure(f"--profile {profile} is not known. Choose from: {', '.join(PROFILES)}.")

    if safe and allow_effects:
        raise Failure(
            "--safe changes nothing on the server, and --allow-effects publishes on it. Give one of the two."
        )
    if key_env is not None and (is_url or not key_stdin):
        raise Failure(
            "--key-env names the variable for the key of a command, so it needs a command after -- and --key-stdin. "
            "For an address, give --key-stdin alone."
        )
    if key_env is not None and VARIABLE.fullmatch(key_env) is None:
        raise Failure(
            f"{key_env!r} is no name of a variable. Use letters, digits and _, as in {OWN_KEY_VARIABLE}."
        )
    if not 0 < seconds <= MAX_TIMEOUT_SECONDS:
        raise Failure(
            f"--timeout {seconds:g} is out of range. Give a number of seconds up to {MAX_TIMEOUT_SECONDS:g}."
        )
    known = {rule for each in ALL_CHECKS for rule in each.rules}
    if unknown := sorted(set(rules) - known):
        choice = " ".join(sorted(known, key=lambda rule: (rule[0], int(rule[1:]))))
        raise Failure(f"No check from outside looks at {', '.join(unknown)}. Choose from: {choice}.")


def _read_keys() -> tuple[str, ...]:
    """Read up to two keys. A message about one never shows it."""
    keys = tuple(line.strip() for line in sys.stdin if line.strip())
    where = "Write a workspace's key on the first line, and that of another workspace on the second."
    if not keys:
        raise Failure(f"Standard input holds no key, which --key-stdin promises. {where}")
    if len(keys) > 2:
        raise Failure(f"Standard input has {len(keys)} lines with keys; two are used at most. {where}")
    if not all(KEY.fullmatch(key) for key in keys):
        raise Failure(f"A line of standard input is no key: it has spaces or signs that no key has. {where}")
    if len(set(keys)) < len(keys):
        raise Failure(f"Both keys are the same, so that nothing is foreign to the second one. {where}")
    return keys


@contextlib.contextmanager
def _reserve_report(junit: str | None) -> Iterator[ReportFile | None]:
    """Find out before the checks that the report can be written, and leave no draft behind."""
    if junit is None:
        yield None
        return
    from assent_conform.checks.reports import ReportFile, UnwritableReport

    try:
        file = ReportFile(Path(junit))
    except UnwritableReport as error:
        raise Failure(_explain_unwritable(junit, error)) from error
    try:
        yield file
    finally:
        file.drop()


def _write_report(file: ReportFile, report: ConformanceReport) -> None:
    from assent_conform.checks.reports import UnwritableReport, encode_junit

    try:
        file.write(encode_junit(report))
    except UnwritableReport as error:
        raise Failure(_explain_unwritable(file.name, error)) from error


def _explain_unwritable(path: str, error: Exception) -> str:
    return f"--junit {path} cannot be written: {error}. Name a file in a directory that exists and that you may write."


def _explain_unreachable(target: Target, error: str) -> str:
    from assent_conform.checks.checking import hide

    error = hide(error, target.keys)
    if target.is_url:
        return f"No server answers ({error}). Start it, or correct the address."
    return (
        f"The command serves no MCP over stdio: {error}.\n"
        f"Run it alone to see what it says: {shlex.join(target.words)}\n"
        "If it is only slow to start, give it longer with --timeout."
    )


async def _run(
    session: CommandSession,
    target: Target,
    *,
    allow_effects: bool,
    profile: str,
    safe: bool,
    rules: list[str],
) -> ConformanceReport:
    from assent_conform.checks.catalog import ALL_CHECKS
    from assent_conform.checks.checking import Scene, run_checks
    from assent_conform.checks.profiles import PROFILES
    from assent_conform.checks.wire import Patience

    _cancel_by_signal()
    patience = Patience(
        announce=lambda wait: session.say(f"      The server limits the rate; waiting {wait:g} s.")
    )
    make = _call_address if target.is_url else _start_commands
    nobody, mine, other = make(target, patience)
    keys: tuple[Need, ...] = ("key", "other_key")
    has: set[Need] = {*keys[: len(target.keys)]}
    has |= {"http"} if target.is_url else {"stdio", "key"}
    has |= {"effects"} if allow_effects else set()
    has |= {"launch"} if PROFILES[profile].has_launch else set()

    def done(outcome: CheckOutcome) -> None:
        if not session.json:
            session.say(_line(outcome))

    try:
        for each in {each.wire: each for each in (mine, other)}:
            await each.open()
        scene = Scene(nobody, mine, other, PROFILES[profile])
        return await run_checks(ALL_CHECKS, scene, has=has, only=rules, safe=safe, done=done)
    finally:
        for each in {each.wire: each for each in (nobody, mine, other)}:
            await each.close()


def _cancel_by_signal() -> None:
    """End the run, and with it the processes that it started, where a signal would end this one."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, lambda: task is None or task.cancelling() or task.cancel())


def _call_address(target: Target, patience: Patience) -> tuple[Server, Server, Server]:
    """Return the callers without a key, with the first one and with the second one."""
    from assent_conform.checks.wire import HttpWire, Server

    wire = HttpWire(target.words[0], seconds=target.seconds)
    mine, other = (*target.keys, None, None)[:2]
    return Server(wire, patience), Server(wire, patience, mine), Server(wire, patience, other)


def _start_commands(target: Target, patience: Patience) -> tuple[Server, Server, Server]:
    """As `_call_address`, with a process for each key. Over stdio no caller is without one: the
    server knows its own user, or the key in its environment."""
    from assent_conform.checks.stdio_wire import StdioWire
    from assent_conform.checks.wire import Server

    def start(key: str | None) -> Server:
        given = {target.key_env: key} if key is not None else {}
        wire = StdioWire(target.words, {**os.environ, **given}, seconds=target.seconds)
        return Server(wire, patience, key)

    callers = [start(key) for key in (target.keys or (None,))]
    return callers[0], callers[0], callers[-1]


def _line(outcome: CheckOutcome) -> str:
    text = f"{SIGNS[outcome.status]}  {outcome.title}  [{' '.join(outcome.rules)}]"
    return text if outcome.detail is None else f"{text}\n      {outcome.detail}"
