"""Defines a check, its failure, and the report of a run.

A check is an async function of a `Scene`; it fails by raising with the expected and the found
value. Its decorator carries its rule ids and its title, so that the rules manifest can be compared
with it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import Any, Final, Literal

import msgspec

from assent.conformance.wire import Server

RULE: Final = re.compile(r"[EW][1-9][0-9]*")
Need = Literal["key", "other_key", "effects"]
Status = Literal["passed", "failed", "not_run"]

MISSING: Final[dict[Need, str]] = {
    "key": "needs a workspace's key",
    "other_key": "needs the key of a second workspace",
    "effects": "publishes on the server's own site, so it needs --allow-effects",
}


class Failed(AssertionError):  # noqa: N818 - what a server did
    """A server does not do what the contract says. The message is for the reader of the report."""


def expect(holds: object, what: str, found: object = None) -> None:
    """Fail unless `holds`, naming the value that was found."""
    if not holds:
        shown = "" if found is None else f" (found {_short(found)})"
        raise Failed(what + shown)


def _short(found: object) -> str:
    text = found if isinstance(found, str) else repr(found)
    return text if len(text) <= 200 else f"{text[:200]}…"


class Scene:
    """The state that the checks of a run share: the server as each caller, and one prepared run."""

    def __init__(self, nobody: Server, server: Server, other: Server) -> None:
        self.nobody = nobody
        self.server = server
        self.other = other
        self._prepared: dict[str, Any] | None = None

    async def prepared(self) -> dict[str, Any]:
        """Return a staged run that no check decides on."""
        if self._prepared is None:
            self._prepared = await self.prepare()
        return self._prepared

    async def prepare(self) -> dict[str, Any]:
        """Prepare a new run with one action, on the channel that needs no account."""
        answer = await self.server.call("chieflab_post", channel="site", goal=GOAL, repoContext=EVIDENCE)
        expect(not answer.refused, "a post for the site is prepared", answer.payload or answer.text)
        return answer.payload


GOAL: Final = "Announce it to the people who waited for it"
EVIDENCE: Final = {
    "whatChanged": "Reports are made in the background, so that a large one no longer holds up the page.",
    "targetCustomer": "people who close the books at the end of a month",
}


Run = Callable[[Scene], Awaitable[None]]


class ConformanceCheck(msgspec.Struct, frozen=True):
    """A check and the rules that it covers."""

    name: str
    title: str
    rules: tuple[str, ...]
    needs: tuple[Need, ...]
    run: Run


def check(*rules_and_title: str, needs: tuple[Need, ...] = ("key",)) -> Callable[[Run], ConformanceCheck]:
    """Make a function a check. Arguments: rule ids, then a sentence that holds if it passes."""
    *rules, title = rules_and_title
    if not rules or not all(RULE.fullmatch(rule) for rule in rules) or RULE.fullmatch(title):
        raise ValueError("a check names its rules, and then its title")

    def make(run: Run) -> ConformanceCheck:
        return ConformanceCheck(run.__name__, title, tuple(rules), needs, run)

    return make


class CheckOutcome(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    name: str
    title: str
    rules: tuple[str, ...]
    status: Status
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
    done: Callable[[CheckOutcome], None] = lambda outcome: None,
) -> ConformanceReport:
    """Run the checks one after the other. `only` keeps those that cover a named rule."""
    outcomes = []
    for each in checks:
        if only and not set(only) & set(each.rules):
            continue
        outcome = CheckOutcome(each.name, each.title, each.rules, *await _run(each, scene, has))
        done(outcome)
        outcomes.append(outcome)
    count = Counter(each.status for each in outcomes)
    return ConformanceReport(
        server=scene.server.url,
        ok=count["passed"] > 0 and count["failed"] == 0,
        passed=count["passed"],
        failed=count["failed"],
        not_run=count["not_run"],
        outcomes=tuple(outcomes),
    )


async def _run(each: ConformanceCheck, scene: Scene, has: Collection[Need]) -> tuple[Status, str | None]:
    missing = next((need for need in each.needs if need not in has), None)
    if missing is not None:
        return "not_run", MISSING[missing]
    try:
        await each.run(scene)
    except Failed as failed:
        return "failed", str(failed)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        # A server may answer anything; an unreadable answer is a finding, not an error of the
        # checker.
        return "failed", f"an answer of another shape: {error!r}"
    return "passed", None
