"""Requests of an extension's code, with the SSRF rules: `ctx.http` (`assent.ports.HttpClient`).

Private addresses need the server's permission, redirects are not followed, time and size are bounded.
No connection and no cookie is kept between requests, so it works on any event loop.

A request that can have an effect marks its call as sent. After that no failure counts as not sent,
because an earlier request may have had the effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from assent.kernel.structs import Record
from assent.net.http_outcomes import failure, not_now
from assent.ports import Deadline, OutcomeUnknown

if TYPE_CHECKING:
    from assent.net.outgoing import Posted

MAX_ANSWER_BYTES: Final = 1_000_000
"""A longer answer is cut."""
HIDDEN: Final = b"[redacted]"
READS: Final = frozenset({"GET", "HEAD"})
"""Methods without an effect."""
DETAILS: Final = ("message", "error", "detail", "title")
"""Fields in which APIs say why they refuse."""


class MarkedCall(Protocol):
    """A call that knows whether a request with an effect may have left: a `Context`, or a call that has
    no effect."""

    @property
    def may_have_sent(self) -> bool: ...

    def begin_sending(self) -> None:
        """Mark the call as sent. Raises `NotSent` if it has ended."""
        ...

    def left(self) -> float:
        """Return the seconds that a request may still take."""
        ...


class ReadingCall(Deadline):
    """A call that has no effect, such as a measurement."""

    __slots__ = ()

    @property
    def may_have_sent(self) -> bool:
        return False

    def begin_sending(self) -> None:
        pass


class ReceivedAnswer(Record, kw_only=True):
    """The answer to a request of an extension."""

    status: int
    body: bytes
    retry_after: str | None = None
    reads: bool = False
    """Whether the request could have no effect."""
    earlier: bool = False
    """Whether an earlier request of the call may have had the effect."""

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def json(self) -> Any:
        """Return the decoded body. Raises `ValueError` if it is no JSON."""
        return msgspec.json.decode(self.body)

    def raise_for_status(self) -> None:
        """Raise `NotSent` or `OutcomeUnknown` for a status that is no success (C10)."""
        if self.ok:
            return
        failed = failure(self.status, self._find_detail(), self.retry_after)
        if self.earlier:
            raise OutcomeUnknown(str(failed))
        if self.reads and isinstance(failed, OutcomeUnknown):
            raise not_now(str(failed))
        raise failed

    def _find_detail(self) -> str:
        try:
            value = self.json()
        except ValueError:
            return ""
        said = [value.get(name) for name in DETAILS] if isinstance(value, dict) else []
        return next((each for each in said if isinstance(each, str)), "")


class GuardedHttp:
    """Sends the requests of one call."""

    def __init__(self, call: MarkedCall, allow_hosts: tuple[str, ...]) -> None:
        self._call = call
        self._allow_hosts = allow_hosts

    async def request(
        self,
        method: str,
        url: str,
        *,
        json: Any = None,
        content: bytes = b"",
        headers: Mapping[str, str] | None = None,
        token: str | None = None,
        has_effect: bool | None = None,
    ) -> ReceivedAnswer:
        """Send one request and return its answer, of any status, without the token if the provider
        echoes it. `has_effect` is False for a request that no one else sees, such as an upload; by
        default that is a GET. Raises `NotSent` if no request of this call can have had an effect, and
        `OutcomeUnknown` without an answer."""
        method = method.upper()
        reads = method in READS if has_effect is None else not has_effect
        sent = {"content-type": "application/octet-stream"} if content else {}
        sent |= {name.lower(): text for name, text in (headers or {}).items()}
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        earlier = self._call.may_have_sent
        answer = await send_request(
            self._call,
            method,
            url,
            msgspec.json.encode(json) if json is not None else content,
            headers=sent,
            allow_hosts=self._allow_hosts,
            reads=reads,
        )
        body = answer.body.replace(token.encode(), HIDDEN) if token else answer.body
        return ReceivedAnswer(
            status=answer.status, body=body, retry_after=answer.retry_after, reads=reads, earlier=earlier
        )


async def send_request(
    call: MarkedCall,
    method: str,
    url: str,
    body: bytes,
    *,
    headers: Mapping[str, str],
    allow_hosts: tuple[str, ...],
    reads: bool | None = None,
) -> Posted:
    """Send one request of a call and return its answer, of any status.

    `reads` says that the request has no effect. Raises `NotSent` if no request of the call can have
    arrived, neither this nor an earlier one, and `OutcomeUnknown` without an answer.
    """
    from assent.net.addresses import FetchRefused, check
    from assent.net.outgoing import NOTHING_SENT, send_json

    reads = method in READS if reads is None else reads
    earlier = call.may_have_sent
    try:
        target = await check(url, allow_hosts=allow_hosts)
        if not reads:
            call.begin_sending()
        return await send_json(
            method, target, body, headers=headers, timeout_seconds=call.left(), max_bytes=MAX_ANSWER_BYTES
        )
    except FetchRefused as refused:
        if not earlier and (refused.why in NOTHING_SENT or reads):
            raise not_now(refused.text) from None
        raise OutcomeUnknown(refused.text) from None
