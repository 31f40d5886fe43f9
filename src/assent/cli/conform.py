"""`assent conform`: runs the contract's checks against any server, from outside.

Keys come from standard input, because every user of the machine can read command lines.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlsplit

import typer

from assent.cli.failures import Failure
from assent.cli.session import CommandSession, command

if TYPE_CHECKING:
    from assent.conformance.checking import CheckOutcome, ConformanceReport, Need

SIGNS: Final = {"passed": "ok  ", "failed": "FAIL", "not_run": "-   "}


def register(app: typer.Typer) -> None:
    command(app, "conform")(conform)


def conform(
    session: CommandSession,
    url: Annotated[str, typer.Argument(metavar="URL", help="The server's address.", show_default=False)],
    key_stdin: Annotated[
        bool,
        typer.Option(
            "--key-stdin",
            help="Read a workspace's key from standard input, and from a second line that of another workspace.",
        ),
    ] = False,
    allow_effects: Annotated[
        bool, typer.Option("--allow-effects", help="Also publish one post on the server's own site.")
    ] = False,
    rule: Annotated[
        list[str] | None,
        typer.Option("--rule", metavar="ID", help="Only checks of this rule; may be repeated."),
    ] = None,
) -> int:
    """Check a server against the contract. Stages drafts in the key's workspace, so use one made
    for it."""
    _refuse_bad_input(url, rule or [])
    keys = [line.strip() for line in sys.stdin if line.strip()] if key_stdin else []
    from assent.conformance.wire import Unreachable

    try:
        report = asyncio.run(_run(session, url, keys, allow_effects=allow_effects, rules=rule or []))
    except Unreachable as error:
        raise Failure(f"No server answers ({error}). Start it, or correct the address.")
    session.give(report, f"{report.passed} passed, {report.failed} failed, {report.not_run} not run")
    return 0 if report.ok else 1


def _refuse_bad_input(url: str, rules: list[str]) -> None:
    from assent.conformance import ALL_CHECKS

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Failure(
            f"{url!r} is no address of a server. Write it like https://example.com or http://127.0.0.1:8080."
        )
    known = {rule for each in ALL_CHECKS for rule in each.rules}
    if unknown := sorted(set(rules) - known):
        choice = " ".join(sorted(known, key=lambda rule: (rule[0], int(rule[1:]))))
        raise Failure(f"No check from outside looks at {', '.join(unknown)}. Choose from: {choice}.")


async def _run(
    session: CommandSession, url: str, keys: list[str], *, allow_effects: bool, rules: list[str]
) -> ConformanceReport:
    from assent.conformance import ALL_CHECKS
    from assent.conformance.checking import Scene, run_checks
    from assent.conformance.wire import Server

    needs: tuple[Need, ...] = ("key", "other_key")
    has = {*needs[: len(keys)], *(("effects",) if allow_effects else ())}
    nobody = Server(url)
    mine, other = (nobody.as_caller(key) for key in (*keys, None, None)[:2])

    def done(outcome: CheckOutcome) -> None:
        if not session.json:
            session.say(_line(outcome))

    try:
        return await run_checks(ALL_CHECKS, Scene(nobody, mine, other), has=has, only=rules, done=done)
    finally:
        for each in (nobody, mine, other):
            await each.close()


def _line(outcome: CheckOutcome) -> str:
    text = f"{SIGNS[outcome.status]}  {outcome.title}  [{' '.join(outcome.rules)}]"
    return text if outcome.detail is None else f"{text}\n      {outcome.detail}"
