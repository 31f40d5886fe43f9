"""What is known of an effect after a call, and what a connector guarantees for a repeated one."""

from __future__ import annotations

from typing import Any, Final, Literal

from assent.gate.records import Effect
from assent.gate.views import View
from assent.kernel.refusals import Reason
from assent.kernel.structs import Record


class Delivery(Record):
    """A connector's guarantee for a repeated send (C30).

    `native_key`: the provider recognises our key for `window_ms`; with `searches` an effect may
    still be found after that, but finding none proves nothing. `natural_key`: the effect is unique,
    so a repetition finds it. `read_back`: the provider can be asked whether it happened. `none`:
    only a person can tell.
    """

    kind: Literal["native_key", "natural_key", "read_back", "none"]
    window_ms: int | None = None
    searches: bool = False

    def __post_init__(self) -> None:
        if (self.kind == "native_key") != (self.window_ms is not None):
            raise ValueError(
                "a native key, and nothing else, has a window in which the provider recognises it"
            )


class Remainder(Record):
    """The part of an effect that was not delivered, offered as a separate action. `reached` says in
    words where the rest was delivered, `why` why this part was not."""

    effect: Effect
    reached: str
    why: str
    view: View = View()
    """Set by the engine before the remainder is stored."""


class Delivered(Record):
    """The effect happened: id, URL, evidence. `rest` is the part that was not delivered, `output` the
    JSON that the agent gets."""

    external_id: str
    external_url: str | None = None
    evidence: dict[str, Any] = {}
    rest: Remainder | None = None
    output: Any = None


class NotSent(Exception):  # noqa: N818 - what is known
    """The effect certainly did not happen, and has failed for good; with `retry` the same action may be executed again
    under its approval (C10)."""

    def __init__(
        self,
        detail: str,
        *,
        retry: bool = False,
        retry_after_seconds: int | None = None,
        reason: Reason = Reason.CONNECTOR_FAILED,
        of_the_effect: bool = False,
        refused: tuple[str, ...] = (),
    ) -> None:
        """`of_the_effect`: the provider's answer is about the effect, not about the request. `refused`:
        the addresses because of which nothing was sent to anyone."""
        super().__init__(str(detail))
        self.reason = reason
        self.detail = str(detail)
        self.curable = retry
        self.retry_after_seconds = retry_after_seconds
        self.of_the_effect = of_the_effect
        self.refused = refused


class NotConnected(NotSent):
    """The provider does not accept the token or key, or there is none. Nothing was sent. The server renews an OAuth
    token and calls once more; then a person has to connect again."""

    def __init__(self, detail: str = "the provider does not accept the access") -> None:
        super().__init__(detail, retry=True, reason=Reason.MISSING_CONNECTOR)


REFERENCE: Final = "providerReference"
"""Metadata key of the provider's reference to an effect whose outcome is unknown."""


class OutcomeUnknown(Exception):  # noqa: N818 - what is known
    """The effect may or may not have happened. Every exception other than `NotSent` counts as this.
    `reference` is the provider's reference, if known; it is stored with the action for
    `look_up`."""

    def __init__(self, detail: str = "", *, reference: str | None = None) -> None:
        super().__init__(detail)
        self.reference = reference


SendOutcome = Delivered | NotSent | OutcomeUnknown


# Outcomes of failed attempts: one table by HTTP status (C10).
#
# Not sent, can be retried: no connection, 401, 429. Not sent, final: 400, 403, 404, 422. Anything
# else that is no well-formed success is ambiguous: the effect may have happened.
#
# Knows no provider and no HTTP client.

MAX_DETAIL_CHARS: Final = 200

MAX_RETRY_AFTER_SECONDS: Final = 24 * 3600
"""If a provider asks for more, a person should look at the account."""


CURABLE: Final = {401: Reason.MISSING_CONNECTOR, 429: Reason.RATE_LIMITED}
FINAL: Final = frozenset({400, 403, 404, 422})


def failure(status: int, detail: str, retry_after: str | None = None) -> NotSent | OutcomeUnknown:
    """Return the outcome of an answer that is no success. `retry_after` is the header's value."""
    said = f"HTTP {status}: {detail[:MAX_DETAIL_CHARS]}" if detail else f"HTTP {status}"
    reason = Reason.CONNECTOR_FAILED if status in FINAL else CURABLE.get(status)
    if reason is None:
        return OutcomeUnknown(said)
    return NotSent(said, reason=reason, retry=status in CURABLE, retry_after_seconds=_seconds(retry_after))


def _seconds(header: str | None) -> int | None:
    if header is None or not header.strip().isascii() or not header.strip().isdigit():
        return None
    return min(int(header.strip()), MAX_RETRY_AFTER_SECONDS)
