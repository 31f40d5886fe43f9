"""What an effect answers, and what it declares about repeated calls."""

from __future__ import annotations

from typing import Any, Final

from assent.kernel.limits import HOUR_MS, MINUTE_MS
from assent.kernel.reasons import Reason
from assent.kernel.structs import Record
from assent.ports import Delivery, NotSent

MAX_ID_CHARS: Final = 500
MAX_URL_CHARS: Final = 2_000


class Receipt(Record):
    """The proof that an effect happened: the provider's id, its address, and `output` (JSON) for the
    agent."""

    id: str
    url: str | None = None
    output: Any = None


class EffectNotSent(NotSent):
    """Raised by an effect that certainly did not happen. With `retry` the same action may be executed
    again under its approval."""

    def __init__(self, detail: str, *, retry: bool = True, retry_after_seconds: int | None = None) -> None:
        super().__init__(
            Reason.CONNECTOR_FAILED, str(detail), curable=retry, retry_after_seconds=retry_after_seconds
        )


class NotConnected(NotSent):
    """Raised by a connector whose provider does not accept the token or key. Nothing was sent. The server
    renews an OAuth token and calls once more; then a person has to connect again."""

    def __init__(self, detail: str = "the provider does not accept the access") -> None:
        super().__init__(Reason.MISSING_CONNECTOR, str(detail), curable=True)


def native_key(*, hours: float = 0, minutes: float = 0, searches: bool = False) -> Delivery:
    """The provider recognises `ctx.key` for this long, so a repetition has no second effect."""
    window_ms = int(hours * HOUR_MS + minutes * MINUTE_MS)
    if window_ms <= 0:
        raise ValueError("native_key needs the hours or minutes for which the provider recognises the key")
    return Delivery("native_key", window_ms, searches)


def natural_key() -> Delivery:
    """The effect is unique, such as an upsert: a repetition finds the first."""
    return Delivery("natural_key")


def read_back() -> Delivery:
    """The provider can be asked whether the effect happened. Needs `look_up`."""
    return Delivery("read_back")


def no_key() -> Delivery:
    """Only a person can tell whether the effect happened. The default."""
    return Delivery("none")
