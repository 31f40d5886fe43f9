"""Read model of the inbox: unknown outcomes, undelivered actions, waiting actions by risk, and
today's results.

Every statement checks access to the workspace: an owner sees all, a member their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

import msgspec

from assent.engine.actions import actions, approvals, flood, search
from assent.engine.actions.approvals import GivenApproval
from assent.engine.actions.flood import HeldGroup
from assent.engine.actions.remainder import AGAIN_AS
from assent.engine.core.tenancy import DEFAULT_TENANT
from assent.engine.people import members, signup
from assent.engine.people.people import Person
from assent.engine.people.signup import SignupLink
from assent.gate.gate import approver_key
from assent.gate.policy import Policy
from assent.gate.records import Action
from assent.gate.views import Severity
from assent.kernel.ids import ActionId, is_uuid
from assent.kernel.limits import DAY_MS
from assent.kernel.structs import Record
from assent.ports import Row, Rows, Transaction
from assent.present.status_report import describe_run
from assent.sql.loader import statements

MOST_UNKNOWN: Final = 50
MOST_STOPPED: Final = 50
FAILED_SHOWN_MS: Final = 7 * DAY_MS
"""How long a failed action stays in the inbox. It needs a new draft."""
MOST_DONE: Final = 20
MOST_SCHEDULED: Final = 20
MOST_COUNTED: Final = 2_000
"""How many waiting actions are counted by channel."""
MOST_SEARCHED: Final = 2_000
"""How many waiting actions a filter by channel reads. A page links to the next ones, so that the work is the same
however much waits."""


class Waiting(Record):
    action: Action
    policy: Policy
    workspace_name: str
    prepared_by: str
    goal: str = ""
    """What its run is for, in the words of its inputs."""
    approvals: tuple[GivenApproval, ...] = ()
    """The approvals so far that count, if several are needed."""


class InboxFilter(Record):
    """A filter of the inbox. `until_ms`: only actions that expire before."""

    workspace: str = ""
    tenant: str = ""
    severity: Severity | None = None
    until_ms: int = 0
    channel: str = ""
    text: str = ""
    first: int = 0
    """How many waiting actions earlier searches have read."""


class InboxCounts(Record):
    """How much waits, before any filter but the workspace. `channels` is empty if too much waits to
    count it by channel."""

    waiting: int
    high: int
    soon: int
    channels: dict[str, int]


class Inbox(Record):
    """Only the first page has the sections other than `waiting`."""

    waiting: tuple[Waiting, ...]
    found: int
    searched: int
    """How many waiting actions the filter was applied to, with those of earlier searches."""
    candidates: int
    """How many there are to apply it to."""
    counts: InboxCounts
    unknown: tuple[Waiting, ...]
    stopped: tuple[Waiting, ...]
    """Approved but not delivered."""
    with_agent: tuple[Waiting, ...]
    """What an agent is asked to change, and what it may send."""
    scheduled: tuple[Waiting, ...]
    """Approved for a later time."""
    done: tuple[Waiting, ...]
    held: tuple[HeldGroup, ...]
    """Floods of proposals, each one question."""
    signups: tuple[SignupLink, ...]
    """Strangers who ask for a workspace of their own, for an owner of the server."""


def read_inbox(
    person: Person, wanted: InboxFilter, page: tuple[int, int], since_ms: int, soon_ms: int, now_ms: int
) -> Transaction[Inbox]:
    """Return a page of the inbox: the number to skip and the number to show. `soon_ms`: what expires
    before is counted as expiring soon."""
    skipped, most = page
    who = {"everywhere": int(person.is_owner), "person_id": person.person_id}
    mine = {
        **who,
        "approver": approver_key(person.person_id, person.name),
        "now_ms": now_ms,
        "workspace": wanted.workspace,
        "tenant": wanted.tenant,
    }
    by_risk = yield statements.count_inbox(**mine, soon_ms=wanted.until_ms or soon_ms)
    counts = yield from _count(by_risk, mine)
    about = {
        **mine,
        "risk": actions.RISKS[wanted.severity] if wanted.severity is not None else -1,
        "until_ms": wanted.until_ms,
    }
    candidates = sum(
        row["soon" if wanted.until_ms else "waiting"] for row in by_risk if about["risk"] in (-1, row["risk"])
    )
    searched, matches = candidates, None
    if wanted.text:
        places = yield from members.list_member_workspaces(person)
        named = yield from search.find([each.workspace_id for each in places], wanted.text)
        matches = frozenset(row["item_id"] for row in named)
    if wanted.channel or wanted.text:
        searched = candidates if matches is not None else min(candidates, wanted.first + MOST_SEARCHED)
        rows = yield statements.search_inbox(
            **about,
            most=most,
            skipped=skipped,
            first=wanted.first,
            searched=MOST_SEARCHED,
            opening=_opening(wanted.channel),
            **search.narrow(matches),
        )
        found: int = rows[0]["found"] if rows else 0
    else:
        found = candidates
        rows = yield statements.list_inbox(**about, most=most, skipped=skipped)
    unknown: Rows = ()
    stopped: Rows = ()
    scheduled: Rows = ()
    done: Rows = ()
    changing: Rows = ()
    held: tuple[HeldGroup, ...] = ()
    signups: tuple[SignupLink, ...] = ()
    # What expires soon still waits: no other section has any of it.
    if skipped == wanted.first == 0 and not wanted.until_ms:
        unknown = yield statements.list_unknown_for(**who, most=MOST_UNKNOWN)
        stopped = yield statements.list_stopped_for(
            **who, now_ms=now_ms, since_ms=now_ms - FAILED_SHOWN_MS, most=MOST_STOPPED
        )
        changing = yield statements.list_with_agent_for(**who, now_ms=now_ms, most=MOST_STOPPED)
        if wanted == InboxFilter():
            held = yield from flood.list_groups(person.person_id, now_ms, everywhere=person.is_owner)
            signups = (yield from signup.list_open(now_ms)) if person.is_owner else ()
        scheduled = yield statements.list_scheduled_for(**who, now_ms=now_ms, most=MOST_SCHEDULED)
        done = yield statements.list_done_for(**who, since_ms=since_ms, most=MOST_DONE)
    waiting = yield from _with_approvals(_lines(rows))
    select = partial(_select, wanted, matches)
    return Inbox(
        waiting=waiting,
        found=found,
        searched=searched,
        candidates=candidates,
        counts=counts,
        unknown=select(unknown),
        stopped=select(row for row in stopped if not row["with_agent"]),
        with_agent=select([*changing, *(row for row in stopped if row["with_agent"])]),
        scheduled=tuple(sorted(select(scheduled), key=lambda each: each.action.schedule_ms or 0)),
        done=select(done),
        held=held,
        signups=signups,
    )


def _count(by_risk: Rows, mine: dict[str, Any]) -> Transaction[InboxCounts]:
    total = sum(row["waiting"] for row in by_risk)
    channels: dict[str, int] = {}
    if 0 < total <= MOST_COUNTED:
        for row in (yield statements.list_inbox_openings(**mine, most=MOST_COUNTED)):
            channel = _read_channel(row["opening"])
            channels[channel] = channels.get(channel, 0) + 1
    high = sum(row["waiting"] for row in by_risk if row["risk"] == actions.RISKS[Severity.HIGH])
    return InboxCounts(total, high, sum(row["soon"] for row in by_risk), channels)


def find_next(person: Person, now_ms: int) -> Transaction[Action | None]:
    """Return the action that this person is asked about next, as the inbox orders them."""
    rows = yield statements.list_inbox(
        everywhere=int(person.is_owner),
        person_id=person.person_id,
        approver=approver_key(person.person_id, person.name),
        now_ms=now_ms,
        workspace="",
        tenant="",
        risk=-1,
        until_ms=0,
        most=1,
        skipped=0,
    )
    return actions.action_of(rows[0]) if rows else None


def _with_approvals(lines: tuple[Waiting, ...]) -> Transaction[tuple[Waiting, ...]]:
    found: list[Waiting] = []
    for line in lines:
        needed = line.policy.require(line.action)
        given: tuple[GivenApproval, ...] = ()
        if needed.approvers > 1 or needed.groups:
            given = yield from approvals.list_given(line.action)
        counted = tuple(each for each in given if approvals.counts(each, line.action, needed))
        found.append(msgspec.structs.replace(line, approvals=counted))
    return tuple(found)


def find(person: Person, action_id: str) -> Transaction[tuple[Action, Policy] | None]:
    """Return an action and its policy; None unless the person may see it."""
    rows = (yield statements.find_action_anywhere(action_id=action_id)) if is_uuid(action_id) else ()
    if not rows or not (yield from members.may_see(person, rows[0]["workspace_id"])):
        return None
    return (yield from actions.find(rows[0]["workspace_id"], ActionId(action_id)))


def find_line(person: Person, action_id: str) -> Transaction[Waiting | None]:
    """Return one action as a line; None unless the person may see it."""
    found = yield from find(person, action_id)
    if found is None:
        return None
    action, policy = found
    named = yield statements.find_workspace(workspace_id=action.workspace_id)
    run = yield from actions.find_run(action.workspace_id, action.run_id)
    line = Waiting(action, policy, named[0]["name"], "", describe_run(run.inputs) if run is not None else "")
    return (yield from _with_approvals((line,)))[0]


def _lines(rows: Iterable[Row]) -> tuple[Waiting, ...]:
    return tuple(_line(row) for row in rows)


def _select(wanted: InboxFilter, matches: frozenset[str] | None, rows: Iterable[Row]) -> tuple[Waiting, ...]:
    """Return the lines of a section that a filter lets through, without failed actions that were staged again. A
    section is short."""
    return tuple(
        line
        for line in _lines(rows)
        if AGAIN_AS not in line.action.metadata
        and wanted.workspace in ("", line.action.workspace_id)
        and wanted.tenant in ("", line.action.tenant_id or DEFAULT_TENANT)
        and wanted.channel in ("", line.action.effect.channel)
        and wanted.severity in (None, line.action.preflight.severity)
        and (matches is None or line.action.action_id in matches)
    )


def _line(row: Row) -> Waiting:
    facts: dict[str, Any] = msgspec.json.decode(row["prepared"] or "{}")
    return Waiting(
        action=actions.action_of(row),
        policy=actions.policy_of(row),
        workspace_name=row["workspace_name"] or row["workspace_id"],
        prepared_by=str(facts.get("by", "")),
        goal=describe_run(msgspec.json.decode(row["run_inputs"])) if row["run_inputs"] else "",
    )


def _opening(channel: str) -> str:
    """Return the beginning of a stored effect of a channel, which is its first field."""
    return f'{{"channel":"{_literal(channel)}",%' if channel else "%"


def _read_channel(opening: str) -> str:
    """Return the channel that the beginning of a stored effect names."""
    return opening.removeprefix('{"channel":"').partition('"')[0]


def _literal(text: str) -> str:
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
