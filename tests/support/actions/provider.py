"""A provider in this process with a ledger of what it really did: the oracle of the gate's tests.

What a call does is planned by the test; what a repetition does follows from what the connector declares, as it would at
a real provider. It raises when two calls about one action overlap.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from assent.gate.preflight import Readiness
from assent.gate.records import Action, Effect
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import DAY_MS
from assent.kernel.refusals import Reason
from assent.ports import Context, Delivered, Delivery, NotSent, OutcomeUnknown

DELIVERIES = {
    "native": Delivery("native_key", DAY_MS),
    "natural": Delivery("natural_key"),
    "readback": Delivery("read_back"),
    "unaware": Delivery("none"),
}
"""One connector for each declaration, by its id; the tests stage to one of them."""


class Sent(NamedTuple):
    """One line of the ledger: an effect that happened."""

    action_id: str
    revision: int
    provider_key: str
    digest: str
    body: str


Step = Callable[["Provider", Action], Awaitable[Delivered]]


async def happens(provider: Provider, action: Action) -> Delivered:
    """It works."""
    return provider.deliver(action)


async def refused(provider: Provider, action: Action) -> Delivered:
    """A final no."""
    raise NotSent("the text is too long for this channel")


async def unreachable(provider: Provider, action: Action) -> Delivered:
    """Nothing was sent, and it may work later."""
    raise NotSent("no route to the provider", retry=True)


async def slowed(provider: Provider, action: Action) -> Delivered:
    """The provider's own limit."""
    raise NotSent("slow down", retry=True, reason=Reason.RATE_LIMITED, retry_after_seconds=17)


async def signed_out(provider: Provider, action: Action) -> Delivered:
    """The provider does not know us any more."""
    raise NotSent("the token was revoked", retry=True, reason=Reason.MISSING_CONNECTOR)


async def lost_before(provider: Provider, action: Action) -> Delivered:
    """The line broke and nothing had happened."""
    raise OutcomeUnknown("connection reset")


async def lost_after(provider: Provider, action: Action) -> Delivered:
    """The line broke after it had happened."""
    provider.deliver(action)
    raise OutcomeUnknown("connection reset")


async def hangs_before(provider: Provider, action: Action) -> Delivered:
    """No answer, and nothing happened."""
    await asyncio.Event().wait()
    raise AssertionError


async def hangs_after(provider: Provider, action: Action) -> Delivered:
    """It happened, and no answer comes."""
    provider.deliver(action)
    await asyncio.Event().wait()
    raise AssertionError


async def breaks(provider: Provider, action: Action) -> Delivered:
    """A connector with a bug: it sends and then falls over."""
    provider.deliver(action)
    raise KeyError("id")


@dataclass
class Provider:
    """One connector and the provider behind it."""

    id: str
    delivery: Delivery
    ledger: list[Sent] = field(default_factory=list)
    calls: int = 0
    look_ups: int = 0
    ready: Readiness = field(default_factory=lambda: Readiness(True))
    plan: deque[Step] = field(default_factory=deque)
    emulated: bool = False
    blind: bool = False
    """The provider cannot say yet whether something happened."""
    busy: set[str] = field(default_factory=set)
    seen: list[Action] = field(default_factory=list)

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return self.ready

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action = ctx.action
        if action.action_id in self.busy:
            raise AssertionError(f"two calls at once about {action.action_id}")
        self.busy.add(action.action_id)
        self.calls += 1
        self.seen.append(action)
        try:
            await asyncio.sleep(0)
            step = self.plan.popleft() if self.plan else happens
            return await step(self, action)
        finally:
            self.busy.discard(action.action_id)

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        self.look_ups += 1
        if self.blind:
            raise OutcomeUnknown("not indexed yet")
        for sent in self.ledger:
            if sent.provider_key == ctx.key:
                return _answer(sent)
        return None

    def deliver(self, action: Action) -> Delivered:
        """Do it, unless this provider recognises it as done."""
        if self.delivery.kind in ("native_key", "natural_key"):
            for sent in self.ledger:
                if sent.provider_key == action.provider_key:
                    return _answer(sent)
        sent = Sent(
            action.action_id,
            action.revision,
            action.provider_key,
            action.effect.digest(),
            action.effect.body,
        )
        self.ledger.append(sent)
        return _answer(sent)

    def of(self, action_id: str) -> list[Sent]:
        """What happened of one action."""
        return [sent for sent in self.ledger if sent.action_id == action_id]


def _answer(sent: Sent) -> Delivered:
    return Delivered(
        f"post-{sent.provider_key}", f"https://provider.example/{sent.action_id}", {"accepted": True}
    )


def providers() -> dict[str, Provider]:
    """A provider of every declaration, and one whose posts weigh little (the own site)."""
    made = {name: Provider(name, delivery) for name, delivery in DELIVERIES.items()}
    return made | {"site": Provider("site", Delivery("natural_key"))}
