"""Defines a check, its failure, and the report of a run.

A check is an async function of a `Scene`; it fails by raising with the expected and the found
value. Its decorator carries its rule ids, its title, what it needs and whether it changes anything
on the server; the rules manifest is compared with it.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import Any, Final, Literal

import msgspec

from assent_conform.checks.profiles import FULL, ServerProfile
from assent_conform.checks.wire import Server, Throttled, Unreachable, WireAnswer

RULE: Final = re.compile(r"[EW][1-9][0-9]*")
Need = Literal["key", "other_key", "effects", "http", "stdio", "launch"]
Status = Literal["passed", "failed", "not_run"]

MISSING: Final[dict[Need, str]] = {
    "key": "needs a workspace's key",
    "other_key": "needs the key of a second workspace",
    "effects": "publishes on the server's own site, so it needs --allow-effects",
    "http": "is about HTTP (pages, statuses, keys in headers), which a command over stdio does not serve",
    "stdio": "looks at the standard output of a command",
    "launch": "is about tools of assent-launch, which --profile core leaves out",
}
CHANGES: Final = "changes something on the server, which --safe leaves out"
MAX_LOSSES: Final = 3
LOST: Final = f"the server was lost {MAX_LOSSES} times before"
MAX_DETAIL: Final = 2_000
HIDDEN: Final = "[hidden]"
REVIEW_TOKEN: Final = re.compile(r"(?<=token=)[\w.~-]+")


class Failed(AssertionError):  # noqa: N818 - what a server did
    """A server does not do what the contract says. The message is for the reader of the report."""


class NotJudged(Exception):  # noqa: N818 - what a check met
    """The server offers nothing that this check could look at. The message says what."""


def expect(holds: object, what: str, found: object = None) -> None:
    """Fail unless `holds`, naming the value that was found."""
    if not holds:
        shown = "" if found is None else f" (found {_short(found)})"
        raise Failed(what + shown)


def _short(found: object) -> str:
    text = found if isinstance(found, str) else repr(found)
    return text if len(text) <= 200 else f"{text[:200]}…"


def make_printable(text: str) -> str:
    """Escape what is no visible character: an answer may hold control codes of a terminal."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def hide(text: str, keys: Iterable[str | None]) -> str:
    """Make a text of a server fit for a report: printable, bounded, without keys and review
    links."""
    text = REVIEW_TOKEN.sub(HIDDEN, text)
    for key in filter(None, keys):
        text = text.replace(key, HIDDEN)
    text = make_printable(text)
    return text if len(text) <= MAX_DETAIL else f"{text[:MAX_DETAIL]}…"


class Scene:
    """The state that the checks of a run share: the server as each caller, its profile, one prepared run, and a
    workflow whose first step can be passed."""

    def __init__(self, nobody: Server, server: Server, other: Server, profile: ServerProfile = FULL) -> None:
        self.nobody = nobody
        self.server = server
        self.other = other
        self.profile = profile
        self.walkable: str | None = None
        self._prepared: dict[str, Any] | None = None

    async def prepared(self) -> dict[str, Any]:
        """Return a staged run that no check decides on."""
        if self._prepared is None:
            self._prepared = await self.prepare()
        return self._prepared

    async def prepare(self) -> dict[str, Any]:
        """Prepare a new run with one action that needs no account."""
        answer = await self.stage()
        expect(not answer.refused, "an action is prepared", answer.payload or answer.text)
        return answer.payload

    async def stage(self, **changed: Any) -> WireAnswer:
        return await self.server.call(self.profile.stage_tool, **{**self.profile.arguments, **changed})

    async def edit(self, action_id: str, text: str) -> WireAnswer:
        """Give an action of `prepare` another text."""
        changed = {self.profile.text_argument: text}
        edit = changed if self.profile.text_argument == "body" else {"arguments": changed}
        return await self.server.call("chieflab_edit_action", actionId=action_id, **edit)

    def describe(self, problem: object) -> str:
        """Return a problem as text for a report."""
        return hide(str(problem), (self.server.key, self.other.key))


Run = Callable[[Scene], Awaitable[None]]


class ConformanceCheck(msgspec.Struct, frozen=True):
    """A check and the rules that it covers."""

    name: str
    title: str
    rules: tuple[str, ...]
    needs: tuple[Need, ...]
    writes: bool
    """Whether a server can be another one afterwards: a conforming one, or one that fails."""
    run: Run


def check(
    *rules_and_title: str, needs: tuple[Need, ...] = ("key",), writes: bool = True
) -> Callable[[Run], ConformanceCheck]:
    """Make a function a check. Arguments: rule ids, then a sentence that holds if it passes."""
    *rules, title = rules_and_title
    if not rules or not all(RULE.fullmatch(rule) for rule in rules) or RULE.fullmatch(title):
        raise ValueError("a check names its rules, and then its title")

    def make(run: Run) -> ConformanceCheck:
        return ConformanceCheck(run.__name__, title, tuple(rules), needs, writes, run)

    return make


class CheckOutcome(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    name: str
    title: str
    rules: tuple[str, ...]
    status: Status
    seconds: float
    detail: str | None = None


class ConformanceReport(msgspec.Struct, frozen=True, rename="camel"):
    """The results of all checks. `ok` means that something was checked and nothing failed."""

    server: str
    ok: bool
    passed: int
    failed: int
    not_run: int
    outcomes: tuple[CheckOutcome, ...]


async def run_checks(
    checks: Iterable[ConformanceCheck],
    scene: Scene,
    *,
    has: Collection[Need],
    only: Collection[str] = (),
    safe: bool = False,
    done: Callable[[CheckOutcome], None] = lambda outcome: None,
    clock: Callable[[], float] = time.monotonic,
) -> ConformanceReport:
    """Run the checks one after the other. `only` keeps those that cover a named rule, `safe` runs
    those alone that change nothing on the server."""
    outcomes = []
    losses = 0
    for each in checks:
        if only and not set(only) & set(each.rules):
            continue
        started = clock()
        status: Status = "not_run"
        detail = _leave_out(each, has, safe=safe, lost=losses >= MAX_LOSSES)
        try:
            if detail is None:
                status, detail = await _run(each, scene)
        except Unreachable as lost:
            losses += 1
            status, detail = "failed", scene.describe(f"the server was lost: {lost}")
        seconds = round(clock() - started, 3)
        outcome = CheckOutcome(each.name, each.title, each.rules, status, seconds, detail)
        done(outcome)
        outcomes.append(outcome)
    count = Counter(each.status for each in outcomes)
    return ConformanceReport(
        server=scene.describe(scene.server.wire.name),
        ok=count["passed"] > 0 and count["failed"] == 0,
        passed=count["passed"],
        failed=count["failed"],
        not_run=count["not_run"],
        outcomes=tuple(outcomes),
    )


def _leave_out(each: ConformanceCheck, has: Collection[Need], *, safe: bool, lost: bool) -> str | None:
    """Return why a check is not run, if it is not."""
    if safe and each.writes:
        return CHANGES
    missing = next((need for need in each.needs if need not in has), None)
    return MISSING[missing] if missing is not None else LOST if lost else None


async def _run(each: ConformanceCheck, scene: Scene) -> tuple[Status, str | None]:
    try:
        await each.run(scene)
    except Failed as failed:
        return "failed", scene.describe(failed)
    except (NotJudged, Throttled) as reason:
        return "not_run", scene.describe(reason)
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as error:
        # A server may answer anything; an unreadable answer is a finding, not an error of the
        # checker.
        return "failed", scene.describe(f"an answer of another shape: {error!r}")
    return "passed", None
