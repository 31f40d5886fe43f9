"""The scheduled time of an action, and its expiry, which a later time extends."""

from __future__ import annotations

from typing import Final

from assent.kernel.limits import DAY_MS, MAX_SCHEDULE_AHEAD_MS
from assent.kernel.refusals import bad_argument
from assent.kernel.times import full_time, iso_time

LEEWAY_MS: Final = DAY_MS
"""How long an action stays open after its time, in case sending is delayed."""


def refuse_unfit(schedule_ms: int | None, now_ms: int, path: str = "scheduleFor") -> None:
    """Raise `Refusal` for a time in the past or too far ahead."""
    if schedule_ms is None:
        return
    if schedule_ms <= now_ms:
        raise bad_argument(path, f"a time after now, which is {iso_time(now_ms)}", "a time that is over")
    if schedule_ms > now_ms + MAX_SCHEDULE_AHEAD_MS:
        latest = iso_time(now_ms + MAX_SCHEDULE_AHEAD_MS)
        raise bad_argument(path, f"a time until {latest}", "a later one")


def expiry(expires_ms: int | None, schedule_ms: int | None) -> int | None:
    """Return when an action expires: not before its scheduled time plus `LEEWAY_MS`."""
    if expires_ms is None or schedule_ms is None or schedule_ms < expires_ms:
        return expires_ms
    return schedule_ms + LEEWAY_MS


def explain_expiry(usual_ms: int | None, expires_ms: int | None) -> tuple[str, ...]:
    """Tell the reviewer that the expiry was extended; empty if it was not."""
    if usual_ms == expires_ms or usual_ms is None or expires_ms is None:
        return ()
    return (
        f"Its time is after it would have expired ({full_time(usual_ms)}), so it stays open until "
        f"{full_time(expires_ms)}.",
    )
