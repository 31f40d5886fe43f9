"""When an action goes out by itself, and until when it can: a time that is over is refused, and one after the action
would have expired keeps it open for longer.
"""

from __future__ import annotations

from typing import Final

from assent.gate.records import Action
from assent.kernel.limits import DAY_MS, MAX_SCHEDULE_AHEAD_MS
from assent.kernel.refusals import bad_argument
from assent.kernel.times import full_time, iso_time

LEEWAY_MS: Final = DAY_MS
"""How long an action stays open after its time: for a connector that is not ready, or a server that was down."""


def refuse_unfit(schedule_ms: int | None, now_ms: int, path: str = "scheduleFor") -> None:
    """Refuse a time at which nothing can go out any more, or that nobody plans for."""
    if schedule_ms is None:
        return
    if schedule_ms <= now_ms:
        raise bad_argument(path, f"a time after now, which is {iso_time(now_ms)}", "a time that is over")
    if schedule_ms > now_ms + MAX_SCHEDULE_AHEAD_MS:
        latest = iso_time(now_ms + MAX_SCHEDULE_AHEAD_MS)
        raise bad_argument(path, f"a time until {latest}", "a later one")


def overdue(action: Action, now_ms: int) -> bool:
    """Whether the time at which the server was to send an action has passed. A person's own hand is not bound to it."""
    by_hand = action.effect.connector == "manual"
    return action.schedule_ms is not None and action.schedule_ms <= now_ms and not by_hand


def expiry(expires_ms: int | None, schedule_ms: int | None) -> int | None:
    """When an action expires: not before its time has come and gone."""
    if expires_ms is None or schedule_ms is None or schedule_ms < expires_ms:
        return expires_ms
    return schedule_ms + LEEWAY_MS


def explain_expiry(usual_ms: int | None, expires_ms: int | None) -> tuple[str, ...]:
    """What a human is told where the expiry was moved."""
    if usual_ms == expires_ms or usual_ms is None or expires_ms is None:
        return ()
    return (
        f"Its time is after it would have expired ({full_time(usual_ms)}), so it stays open until "
        f"{full_time(expires_ms)}.",
    )
