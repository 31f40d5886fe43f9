"""Subscriptions: the addresses that get the events of a workspace's actions.

A person makes them, on a page or by a command. No tool does: an agent with a key could otherwise send
itself everything that happens in the workspace. `events` posts to them.

Results and events go to any public host, unless a person has listed the allowed ones. That is checked when a result is
staged, while the caller can still correct it, and again at every attempt, so that a new limit also applies to queued
deliveries. The host of a URL is parsed by `webhook_host`, as the connection parses it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from assent.engine.core import journal
from assent.engine.core.services import MessageServices
from assent.gate.webhooks import EVENTS, EventName, mask_url
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import DAY_MS, MAX_SUBSCRIPTIONS
from assent.kernel.refusals import Reason, Refusal, bad_argument
from assent.kernel.structs import Record, from_row
from assent.ports import Begin, Transaction
from assent.sql.loader import statements


def find_hosts(workspace_id: WorkspaceId) -> Transaction[tuple[str, ...] | None]:
    """Return the allowed hosts; None if any public one is allowed."""
    rows = yield statements.find_webhook_hosts(workspace_id=workspace_id)
    kept = rows[0]["webhook_hosts"] if rows else None
    return tuple(kept.split()) if kept is not None else None


def limit_hosts(
    workspace_id: WorkspaceId, hosts: Sequence[str] | None, now_ms: int, *, by: str
) -> Transaction[None]:
    """Allow only these hosts; an empty list allows none, None allows any public one."""
    kept = " ".join(hosts) if hosts is not None else None
    if not (yield statements.set_webhook_hosts(workspace_id=workspace_id, webhook_hosts=kept)):
        raise Refusal(Reason.WORKSPACE_NOT_FOUND)
    facts = {"hosts": list(hosts) if hosts is not None else None, "by": by}
    yield from journal.note(workspace_id, "webhook_hosts_changed", facts, now_ms)


def explain_host(hosts: Sequence[str] | None, host: str) -> str | None:
    """Explain why a host is not allowed; None if it is."""
    if hosts is None or host in hosts:
        return None
    if not hosts:
        return "This workspace allows no webhooks."
    return f"This workspace allows webhooks to these hosts only: {', '.join(hosts)}."


def require_host(workspace_id: WorkspaceId, host: str) -> Transaction[None]:
    """Raise `Refusal` for a host that the workspace does not allow."""
    refused = explain_host((yield from find_hosts(workspace_id)), host)
    if refused is not None:
        wanted = f"an address that this workspace allows. {refused}"
        raise bad_argument("webhookUrl", wanted, repr(host))


FAILING_AFTER_MS: Final = DAY_MS
"""How long every try has to fail until a subscription counts as failing: longer than the retries of
one delivery."""


class UnfitSubscription(Exception):  # noqa: N818 - what was asked for
    """A subscription that cannot be made or changed so. The message says why, for a person."""


class Subscription(Record, kw_only=True):
    subscription_id: str
    url: str
    events: tuple[EventName, ...]
    enabled: bool
    created_by: str
    created_ms: int
    delivered_ms: int | None
    failing_since_ms: int | None
    """The first failed try since the last delivery."""

    def is_failing(self, now_ms: int) -> bool:
        """Whether nothing was delivered for a day, although it was tried."""
        since_ms = self.failing_since_ms
        return self.enabled and since_ms is not None and since_ms <= now_ms - FAILING_AFTER_MS


def list_all(workspace_id: WorkspaceId) -> Transaction[tuple[Subscription, ...]]:
    rows = yield statements.list_subscriptions(workspace_id=workspace_id)
    return tuple(map(_read, rows))


def find(workspace_id: WorkspaceId, subscription_id: str) -> Transaction[Subscription | None]:
    rows = yield statements.find_subscription(workspace_id=workspace_id, subscription_id=subscription_id)
    return _read(rows[0]) if rows else None


def _read(row: Any) -> Subscription:
    named = row["events"].split()
    events = tuple(each for each in EVENTS if each in named)
    return from_row(Subscription, row, events=events, enabled=bool(row["enabled"]))


def add(
    services: MessageServices, workspace_id: WorkspaceId, url: str, events: Collection[str], *, by: str
) -> Begin[str]:
    """Return the transaction that subscribes an address to events. It returns the id of the
    subscription, or raises `UnfitSubscription`."""
    now_ms = services.clock.now_ms()
    subscription_id = services.new_id(now_ms)

    def insert() -> Transaction[str]:
        wanted = require_events(events)
        # The workspace's stream is the lock: of two concurrent calls, the second counts the first.
        head = yield from journal.lock_head(workspace_id, workspace_id, now_ms)
        yield from require_fit(services, workspace_id, url)
        yield statements.insert_subscription(
            workspace_id=workspace_id,
            subscription_id=subscription_id,
            url=url,
            events=wanted,
            created_by=by,
            now_ms=now_ms,
        )
        yield from journal.append_to(head, [_event("subscription_added", url, by, wanted)], now_ms)
        return subscription_id

    return insert


def require_fit(services: MessageServices, workspace_id: WorkspaceId, url: str) -> Transaction[None]:
    """Raise `UnfitSubscription` for an address that cannot get events, and for one too many."""
    if (why := services.outgoing.screen_webhook(url)) is not None:
        raise UnfitSubscription(
            f"This address cannot get events: {why[0].lower()}{why[1:]}\nName a public one that begins with https."
        )
    allowed = yield from find_hosts(workspace_id)
    refused = explain_host(allowed, services.outgoing.webhook_host(url))
    if refused is not None:
        raise UnfitSubscription(refused)
    known = yield from list_all(workspace_id)
    if len(known) >= MAX_SUBSCRIPTIONS:
        raise UnfitSubscription(f"There are {len(known)} already, which is the most. Remove one first.")
    if url in [each.url for each in known]:
        raise UnfitSubscription("This address is subscribed already. Change what it gets instead.")


def change(
    workspace_id: WorkspaceId,
    subscription_id: str,
    events: Collection[str],
    now_ms: int,
    *,
    enabled: bool,
    by: str,
) -> Transaction[bool]:
    """Choose the events of a subscription, and whether it is on. Returns False if it is gone.
    Raises `UnfitSubscription`."""
    wanted = require_events(events)
    head = yield from journal.lock_head(workspace_id, workspace_id, now_ms)
    rows = yield statements.change_subscription(
        workspace_id=workspace_id, subscription_id=subscription_id, events=wanted, enabled=int(enabled)
    )
    if not rows:
        return False
    event = _event("subscription_changed", rows[0]["url"], by, wanted if enabled else "")
    yield from journal.append_to(head, [event], now_ms)
    return True


def remove(workspace_id: WorkspaceId, subscription_id: str, now_ms: int, *, by: str) -> Transaction[bool]:
    """Delete a subscription. What waits for it is not sent. Returns False if it was gone."""
    head = yield from journal.lock_head(workspace_id, workspace_id, now_ms)
    rows = yield statements.delete_subscription(workspace_id=workspace_id, subscription_id=subscription_id)
    if not rows:
        return False
    yield from journal.append_to(head, [_event("subscription_removed", rows[0]["url"], by, "")], now_ms)
    return True


def require_events(events: Collection[str]) -> str:
    """Return the names of events as they are stored. Raises `UnfitSubscription` for none or another."""
    if not events or not set(events) <= set(EVENTS):
        raise UnfitSubscription(f"Choose at least one of these events: {', '.join(EVENTS)}.")
    return " ".join(each for each in EVENTS if each in events)


def _event(kind: str, url: str, by: str, events: str) -> journal.NewEvent:
    return journal.NewEvent(kind, {"url": mask_url(url), "events": events.split(), "by": by})
