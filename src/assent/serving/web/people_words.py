"""What waits for somebody, as one line of the inbox. Pure: records in, words out."""

from __future__ import annotations

from typing import Final

import msgspec

from assent.engine.review import Waiting
from assent.kernel.limits import DAY_MS
from assent.lifecycle.records import Assurance
from assent.lifecycle.transitions import AWAITING, UNKNOWN, state_of
from assent.serving.web.review_times import When, when
from assent.serving.web.review_words import (
    SEVERITIES,
    STATES,
    Badge,
    may_approve,
    needs,
    summary,
    title,
    what_happens,
)

EXPIRES_SOON_MS: Final = 3 * DAY_MS
"""What ends within this says so."""


class InboxLine(msgspec.Struct, frozen=True):
    """One thing that waits for somebody."""

    href: str
    title: str
    summary: str
    happens: str
    workspace: str
    badges: tuple[Badge, ...]
    prepared: When
    expires: When | None


def inbox_line(waiting: Waiting, now_ms: int) -> InboxLine:
    action = waiting.action
    severity = action.preflight.severity
    ends = action.expires_ms if state_of(action) == AWAITING else None
    badges = [STATES[UNKNOWN]] if state_of(action) == UNKNOWN else []
    badges.append(SEVERITIES[severity])
    if not may_approve(waiting.policy, severity, Assurance.LINK):
        badges.append(Badge(f"Needs {needs(waiting.policy, severity)}", "warn"))
    return InboxLine(
        href=f"/runs/{action.run_id}#action-{action.action_id}",
        title=title(action.effect),
        summary=summary(action.effect),
        happens=what_happens(action.effect),
        workspace=waiting.workspace_name,
        badges=tuple(badges),
        prepared=when(action.created_ms, now_ms),
        expires=when(ends, now_ms) if ends is not None and ends - now_ms <= EXPIRES_SOON_MS else None,
    )
