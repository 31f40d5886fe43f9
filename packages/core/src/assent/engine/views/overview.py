"""Read model of the status report: sections of open actions and of recent results.

Every list is bounded and read in the order of a partial index, newest first, and every count is
bounded, so the cost does not grow with the history.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.engine.actions import actions
from assent.engine.learning import measurement
from assent.engine.learning import memory as brain
from assent.engine.learning.measurement import Scheduled
from assent.engine.learning.memory import Entry
from assent.gate.effects import EffectTypes
from assent.gate.records import Action
from assent.kernel.ids import WorkspaceId, first_uuid7
from assent.kernel.limits import DAY_MS
from assent.kernel.structs import Record
from assent.ports import Rows, Transaction
from assent.present.status_report import Section, describe_run, find_section
from assent.sql.loader import statements

RECENT_MS: Final = 30 * DAY_MS
"""How far back closed actions are listed. Open ones are listed at any age."""

LISTED: Final = 10
"""Entries of a section of open actions."""

RECENT_LISTED: Final = 5
"""Entries of a section of closed actions."""

SENT_READ: Final = 20
"""Executed actions that are read; some of them are listed as taken down."""

MOST_COUNTED: Final = 1_000
"""Bound of a count."""

LESSONS: Final = 6
LESSONS_READ: Final = 4 * LESSONS
"""More than are shown: a rejection may not be about the text."""
LESSON_KINDS: Final = ("channel_performance", "rejection", "lesson")


class Measured(Record):
    """A run whose results were read."""

    about: str
    scheduled: Scheduled


class Overview(Record, kw_only=True):
    """The entries of each section, newest first, and their totals."""

    sections: dict[Section, tuple[Action, ...]]
    counts: dict[str, int]
    measured: tuple[Measured, ...]
    due: tuple[Scheduled, ...]
    lessons: tuple[Entry, ...]


def read_overview(
    workspace_id: WorkspaceId, tenant_id: str | None, effects: EffectTypes, now_ms: int
) -> Transaction[Overview]:
    """Read the whole report. `tenant_id` limits the lessons to one tenant."""
    since_ms = max(0, now_ms - RECENT_MS)
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
    measured = yield statements.list_read_measurements(**named, since_ms=since_ms, most=RECENT_LISTED)
    due = []
    for each in (yield from measurement.due(workspace_id, 2 * RECENT_LISTED)):
        if (yield from measurement.has_source(workspace_id, each.run_id)):
            due.append(each)
    lessons = yield from _lessons(workspace_id, tenant_id, effects)
    sections = _sections((unknown, awaiting, unsent, lapsed, failed, sent), now_ms)
    return Overview(
        sections={section: listed[: _most_listed(section)] for section, listed in sections.items()},
        counts=_counts(counted[0], sections),
        measured=tuple(
            Measured(describe_run(msgspec.json.decode(row["inputs"])), measurement.read_scheduled(row))
            for row in measured
        ),
        due=tuple(due[:RECENT_LISTED]),
        lessons=tuple(lessons),
    )


def _lessons(
    workspace_id: WorkspaceId, tenant_id: str | None, effects: EffectTypes
) -> Transaction[list[Entry]]:
    if tenant_id is None:
        rows = yield statements.list_brain_lessons(workspace_id=workspace_id, most=LESSONS_READ)
        found = [brain.entry_of(row) for row in rows]
    else:
        found = []
        for kind in LESSON_KINDS:
            found += yield from brain.read(workspace_id, tenant_id, kind=kind, most=LESSONS_READ)
    taught = [
        entry
        for entry in found
        if entry.kind != "rejection" or effects.is_lesson(entry.channel, entry.facts.get("reason", ""))
    ]
    return sorted(taught, key=lambda entry: entry.entry_id, reverse=True)[:LESSONS]


def _sections(found: tuple[Rows, ...], now_ms: int) -> dict[Section, tuple[Action, ...]]:
    sections: dict[Section, tuple[Action, ...]] = {}
    for rows in found:
        for row in rows:
            action = actions.action_of(row)
            section = find_section(action, now_ms)
            sections[section] = (*sections.get(section, ()), action)
    return sections


def _most_listed(section: Section) -> int:
    return RECENT_LISTED if section in (Section.WENT_OUT, Section.TAKEN_DOWN) else LISTED


def _counts(row: Any, sections: dict[Section, tuple[Action, ...]]) -> dict[str, int]:
    by_hand = min(LISTED, len(sections.get(Section.BY_HAND, ())))
    gone = len(sections.get(Section.TAKEN_DOWN, ()))
    return {
        Section.UNKNOWN.value: row["unknown"],
        Section.WAITING.value: row["waiting"],
        Section.APPROVED_NOT_SENT.value: max(0, row["unsent"] - by_hand),
        Section.BY_HAND.value: by_hand,
        Section.FAILED.value: row["failed"],
        Section.WENT_OUT.value: max(0, row["sent"] - gone),
        Section.TAKEN_DOWN.value: gone,
        Section.EXPIRED.value: row["lapsed"],
    }
