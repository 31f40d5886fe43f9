"""Read model of the status report: sections of open actions and of recent results.

Every list is bounded and read in the order of a partial index, newest first, and every count is
bounded, so the cost does not grow with the history.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from assent.engine.actions import actions, hooks
from assent.engine.actions.hooks import StatusPart, StatusQuery
from assent.engine.core import tenancy
from assent.gate.effects import EffectTypes
from assent.gate.records import WORKFLOW, Action, Assurance, Status
from assent.kernel.ids import ActionId, WorkspaceId, first_uuid7
from assent.kernel.limits import DAY_MS
from assent.kernel.structs import Record
from assent.ports import Transaction
from assent.present.status_report import Section, find_section, list_undone
from assent.sql.loader import statements

RECENT_MS: Final = 30 * DAY_MS
"""How far back closed actions are listed. Open ones are listed at any age."""

LISTED: Final = 10
"""Entries of a section of open actions."""

RECENT_LISTED: Final = 5
"""Entries of a section of closed actions."""

SENT_READ: Final = 20
"""Executed actions that are read; some of them are listed as undone."""

MOST_COUNTED: Final = 1_000
"""Bound of a count."""


REVIEWED_MS: Final = 2 * DAY_MS
"""How far back rejections and edits are told."""

REVIEWS_READ: Final = 30


class Review(Record):
    """A rejection or an edit that still stands."""

    action: Action
    by: str
    assurance: str
    at_ms: int
    changed: tuple[str, ...]
    """The parts of the content that an edit changed."""


class Overview(Record, kw_only=True):
    """The entries of each section, newest first, and their totals."""

    sections: dict[Section, tuple[Action, ...]]
    counts: dict[str, int]
    edited: dict[ActionId, Review]
    """Who changed what waits."""
    rejected: tuple[Review, ...]
    parts: tuple[StatusPart, ...]
    """What extensions add."""


def read_overview(
    workspace_id: WorkspaceId, tenant_id: str | None, effects: EffectTypes, now_ms: int
) -> Transaction[Overview]:
    """Read the whole report, of one tenant if it is named."""
    since_ms = max(0, now_ms - RECENT_MS)
    query = StatusQuery(
        workspace_id=workspace_id, tenant_id=tenant_id, effects=effects, since_ms=since_ms, now_ms=now_ms
    )
    if tenant_id is not None:
        sections = yield from _read_tenant(workspace_id, tenant_id, since_ms, now_ms)
        counts = {section.value: len(sections.get(section, ())) for section in Section}
        counts[Section.UNDONE.value] = len(list_undone(sections.get(Section.UNDONE, ())))
    else:
        sections, counts = yield from _read_everyone(workspace_id, since_ms, now_ms)
    reviews = yield from _read_reviews(workspace_id, tenant_id, now_ms)
    rejected = tuple(each for each in reviews if each.action.status is Status.REJECTED)
    counts[Section.REJECTED.value] = len(rejected)
    return Overview(
        sections={
            section: (list_undone(listed) if section is Section.UNDONE else listed)[: _most_listed(section)]
            for section, listed in sections.items()
        },
        counts=counts,
        edited={each.action.action_id: each for each in reviews if each.changed},
        rejected=rejected[:RECENT_LISTED],
        parts=(yield from hooks.read_status(query)),
    )


def _read_reviews(workspace_id: WorkspaceId, tenant_id: str | None, now_ms: int) -> Transaction[list[Review]]:
    """Read the rejections and the people's edits of what waits, the newest of each action."""
    rows = yield statements.list_reviews(
        workspace_id=workspace_id, since_ms=now_ms - REVIEWED_MS, most=REVIEWS_READ
    )
    found: dict[ActionId, Review] = {}
    for row in sorted(rows, key=lambda row: row["event_ms"], reverse=True):
        action, facts = actions.action_of(row), msgspec.json.decode(row["event_body"])
        if tenant_id is not None and tenancy.name_tenant(tenant_id) != action.tenant_id:
            continue
        stands = (
            action.status is Status.REJECTED
            if row["event_kind"] == "action_reject"
            else action.status is Status.AWAITING_APPROVAL
            and facts.get("revision") == action.revision
            and facts.get("assurance") not in (None, Assurance.AGENT)
        )
        if stands:
            by, how = str(facts.get("by", "")), str(facts.get("assurance", ""))
            changed = tuple(facts.get("changed", ()))
            found.setdefault(action.action_id, Review(action, by, how, row["event_ms"], changed))
    return list(found.values())


Sections = dict[Section, tuple[Action, ...]]


def _read_tenant(
    workspace_id: WorkspaceId, tenant_id: str, since_ms: int, now_ms: int
) -> Transaction[Sections]:
    """Read the actions of one tenant by their status, which is an index of its own. What ended is read from
    before the time, because it may have been prepared before."""
    earlier = first_uuid7(max(0, since_ms - RECENT_MS))
    found: list[Action] = []
    for status in (Status.AWAITING_APPROVAL, Status.APPROVED, Status.FAILED, Status.EXECUTED):
        since = earlier if status in (Status.FAILED, Status.EXECUTED) else ""
        listed = yield from actions.list_in_status(workspace_id, tenant_id, status, since, MOST_COUNTED)
        found += (each for each in listed if _is_reported(each, since_ms, now_ms))
    return _divide(found, now_ms)


def _is_reported(action: Action, since_ms: int, now_ms: int) -> bool:
    """Whether the report of all tenants would have it, too."""
    if action.status is Status.AWAITING_APPROVAL:
        return not action.is_expired(now_ms)
    if action.effect.connector == WORKFLOW:
        return False
    if action.is_expired(now_ms):
        return (action.expires_ms or 0) > since_ms
    ended = action.status in (Status.FAILED, Status.EXECUTED)
    return not ended or (action.executed_ms or action.created_ms) > since_ms


def _read_everyone(
    workspace_id: WorkspaceId, since_ms: int, now_ms: int
) -> Transaction[tuple[Sections, dict[str, int]]]:
    named: dict[str, Any] = {"workspace_id": workspace_id}
    open_now = {**named, "now_ms": now_ms, "most": LISTED}
    since = first_uuid7(since_ms)
    unknown = yield statements.list_unknown_actions(**named, most=LISTED)
    awaiting = yield statements.list_awaiting_actions(**open_now)
    unsent = yield statements.list_unsent_actions(**{**open_now, "most": 2 * LISTED})
    lapsed = yield statements.list_lapsed_actions(**open_now, since_ms=since_ms)
    failed = yield statements.list_failed_actions(**named, since=since, most=RECENT_LISTED)
    sent = yield statements.list_sent_actions(**named, since_ms=since_ms, most=SENT_READ)
    counted = yield statements.count_status(
        **named, now_ms=now_ms, since=since, since_ms=since_ms, most=MOST_COUNTED
    )
    found = (unknown, awaiting, unsent, lapsed, failed, sent)
    sections = _divide((actions.action_of(row) for rows in found for row in rows), now_ms)
    return sections, _counts(counted[0], sections)


def _divide(found: Iterable[Action], now_ms: int) -> Sections:
    sections: dict[Section, list[Action]] = {}
    for action in found:
        sections.setdefault(find_section(action, now_ms), []).append(action)
    return {section: tuple(listed) for section, listed in sections.items()}


def _most_listed(section: Section) -> int:
    return RECENT_LISTED if section in (Section.WENT_OUT, Section.UNDONE) else LISTED


def _counts(row: Any, sections: Sections) -> dict[str, int]:
    by_hand = min(LISTED, len(sections.get(Section.BY_HAND, ())))
    gone = sections.get(Section.UNDONE, ())
    return {
        Section.UNKNOWN.value: row["unknown"],
        Section.WAITING.value: row["waiting"],
        Section.APPROVED_NOT_SENT.value: max(0, row["unsent"] - by_hand),
        Section.BY_HAND.value: by_hand,
        Section.FAILED.value: row["failed"],
        Section.WENT_OUT.value: max(0, row["sent"] - len(gone)),
        Section.UNDONE.value: len(list_undone(gone)),
        Section.EXPIRED.value: row["lapsed"],
    }
