"""Arguments that many tools take, each described once."""

from __future__ import annotations

import re
from typing import Annotated, Final

import msgspec

from assent.kernel.limits import (
    DAY_MS,
    HOUR_MS,
    MAX_EMAIL_CHARS,
    MAX_IDEMPOTENCY_KEY_CHARS,
    MAX_PAGE,
    MINUTE_MS,
)
from assent.kernel.refusals import Problem, Reason, Refusal, bad_argument
from assent.kernel.texts import is_one_line
from assent.kernel.times import parse_time
from assent.net.mail_server import Mailbox

ActionIdArgument = Annotated[str, msgspec.Meta(max_length=100)]

IdempotencyKey = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_IDEMPOTENCY_KEY_CHARS)]
"""Explained once for all tools, in the server's instructions."""

RunIdArgument = Annotated[str, msgspec.Meta(max_length=100)]

Cursor = Annotated[str, msgspec.Meta(max_length=100, description="nextCursor of the page before.")]

PageSize = Annotated[int, msgspec.Meta(ge=1, le=MAX_PAGE)]

DigestArgument = Annotated[
    str,
    msgspec.Meta(
        max_length=100, description="Of the content that was shown; refused if it has changed since."
    ),
]

Since = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=40,
        description="A date (2026-03-01), a moment with a time zone, or how long ago (P7D, PT24H).",
    ),
]

_ATOM: Final = r"[^@\s\x00-\x1f\x7f<>,;\".]+"
_ADDRESS: Final = re.compile(rf"{_ATOM}(\.{_ATOM})*@{_ATOM}(\.{_ATOM})*")


def is_address(text: str) -> bool:
    """Whether a text is a single e-mail address."""
    return len(text) <= MAX_EMAIL_CHARS and _ADDRESS.fullmatch(text) is not None


def require_line(path: str, text: str) -> str:
    """Return a text for a header or headline. Refuses line breaks, which could add a header."""
    if not is_one_line(text):
        raise bad_argument(path, "one line without control characters", repr(text[:80]))
    return text


def require_addresses(path: str, given: list[str]) -> tuple[str, ...]:
    """Return e-mail addresses in order without duplicates. Refuses all invalid ones at once."""
    cleaned = [text.strip() for text in given]
    wrong = {
        index: text for index, text in enumerate(cleaned) if not (is_address(text) and _is_domain_right(text))
    }
    if wrong:
        raise Refusal(
            Reason.VALIDATION_ERROR,
            user_message=f"No e-mail address: {', '.join(f'“{text[:80]}”' for text in wrong.values())}. Nothing was "
            "prepared. Tell me the right address, or whether to leave it out.",
            fix="Correct an address that you mistyped. One that the user gave: ask, and do not guess it.",
            problems=[
                Problem(f"{path}.{index}", "an e-mail address such as ada@example.org", repr(text[:80]))
                for index, text in wrong.items()
            ],
        )
    return tuple(dict.fromkeys(cleaned))


def _is_domain_right(text: str) -> bool:
    try:
        return bool(Mailbox.parse(text))
    except ValueError:
        return False


ReasonArgument = Annotated[
    str, msgspec.Meta(max_length=500, description="Why, in one sentence for the person who decides.")
]

TenantIdArgument = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
        description="A client of the workspace; a new id adds one.",
    ),
]


def since_moment(path: str, text: str, now_ms: int) -> int:
    """Parse a date, a time or a duration before now. Refuses anything else, and the future."""
    found = _before(text.strip(), now_ms)
    if found is None or found > now_ms:
        raise bad_argument(path, "a past date (2026-03-01), a moment with a zone, or P7D, PT24H", repr(text))
    return max(0, found)


_DURATION: Final = re.compile(
    r"P(?=\d|T\d)(?:(\d{1,4})W)?(?:(\d{1,4})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?)?"
)


def _before(text: str, now_ms: int) -> int | None:
    if (found := _DURATION.fullmatch(text.upper())) is not None:
        weeks, days, hours, minutes = (int(part or 0) for part in found.groups())
        return now_ms - (7 * weeks + days) * DAY_MS - hours * HOUR_MS - minutes * MINUTE_MS
    return parse_time(f"{text}T00:00:00Z" if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) else text)
