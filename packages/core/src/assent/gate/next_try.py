"""When the server tries again to send an approved action that was not sent, and when it stops trying.

A plan belongs to one approval. It is stored with the action, so every text about the action can say what happens
next; whether the action may be sent is judged at each try.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.gate.records import Action
from assent.kernel.limits import HOUR_MS, MINUTE_MS, SECOND_MS
from assent.kernel.structs import WireRecord

RETRY_PAUSES_MS: Final = (10 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS)
"""The pauses after failed tries, also those of jobs: they outlast short failures, mail servers that want to be asked
twice, and an outage of two hours."""

NEXT_TRY: Final = "nextTry"
"""Metadata key of the plan."""


class NextTry(WireRecord, omit_defaults=True):
    """What the server does after a failed try."""

    approval: int
    """`Approval.since` of the approval under which it was tried."""
    tries: int
    """How often it was tried in vain."""
    at_ms: int | None = None
    """When it is tried again; None: it is not."""


def read_next_try(action: Action) -> NextTry | None:
    """Return the plan under the present approval; None if nothing failed under it."""
    found = action.metadata.get(NEXT_TRY)
    planned = msgspec.convert(found, NextTry) if found is not None else None
    if planned is None or action.approval is None or planned.approval != action.approval.since:
        return None
    return planned


def plan_next_try(action: Action, now_ms: int, wait_ms: int) -> Action:
    """Return an approved action with its next try after a growing pause, not before `wait_ms` are over. After the last
    pause, and where the action expires before, there is none. A try on request starts them over."""
    known = read_next_try(action)
    tries = known.tries + 1 if known is not None and known.at_ms is not None else 1
    at_ms = None
    if tries <= len(RETRY_PAUSES_MS):
        at_ms = now_ms + max(RETRY_PAUSES_MS[tries - 1], wait_ms)
        if action.expires_ms is not None and at_ms >= action.expires_ms:
            at_ms = None
    since = action.approval.since if action.approval is not None else 0
    planned = msgspec.to_builtins(NextTry(since, tries, at_ms))
    return msgspec.structs.replace(action, metadata={**action.metadata, NEXT_TRY: planned})


def is_tried_again(action: Action, now_ms: int) -> bool:
    """Whether the server tries it again later."""
    planned = read_next_try(action)
    return planned is not None and planned.at_ms is not None and planned.at_ms > now_ms
