"""Settings of the current workspace: the addresses that get events, the log of deliveries."""

from __future__ import annotations

from typing import Any, Final, get_args

from starlette.responses import Response

from assent.engine.webhooks import events as outgoing_events
from assent.engine.webhooks import subscriptions, webhooks
from assent.engine.webhooks.subscriptions import Subscription, UnfitSubscription
from assent.gate.webhooks import EVENTS, State, mask_url
from assent.serving.web.people.confirming import Consequence
from assent.serving.web.shell.console import LOOK_AND_SEND, SEND, Screen, Visit

HERE: Final = "/settings/outgoing"
DELIVERIES: Final = 20
EVENT_WORDS: Final = {
    "waiting": "It waits for a decision, also again after an edit",
    "approved": "Enough people said yes",
    "rejected": "Someone said no, and why",
    "executed": "It was done, with its receipt",
    "failed": "It was not done, and why",
    "unknown": "It may have been done; a person must look",
}


async def outgoing(visit: Visit) -> Response:
    """Show where events go, the deliveries; subscribe an address, or resend."""
    events: tuple[str, ...] = EVENTS
    url, wrong = "", ""
    if visit.request.method == "POST":
        visit.require_confirmed()
        form = await visit.form(visit.here("outgoing"))
        if "delivery" in form:
            return await _resend(visit, form)
        url, events = form.get("url", "").strip(), _read_events(form)
        wrong = await _subscribe(visit, form, url, events)
        if not wrong:
            return visit.go(HERE)
    known = await visit.read(lambda: subscriptions.list_all(visit.workspace_id))
    chosen = {
        "subscription_id": visit.choice("subscription", [each.subscription_id for each in known]),
        "state": visit.choice("state", get_args(State)),
    }
    found = await visit.read(
        lambda: webhooks.recent(visit.workspace_id, visit.cursor(), DELIVERIES + 1, **chosen)
    )
    values = {
        "section": "outgoing",
        "subscriptions": [_show(visit, each) for each in known],
        "events": EVENT_WORDS,
        "typed": {"url": url, "events": events},
        "wrong": wrong,
        "states": get_args(State),
        "chosen": chosen,
        "deliveries": [
            (each, mask_url(each.url), visit.when(each.created_ms)) for each in found[:DELIVERIES]
        ],
        "older": found[DELIVERIES - 1].delivery_id if len(found) > DELIVERIES else "",
        "nonce": visit.nonce(visit.here("outgoing")),
    }
    return visit.page("settings_outgoing.html", values, status=400 if wrong else 200)


def _show(visit: Visit, each: Subscription) -> dict[str, Any]:
    return {
        "id": each.subscription_id,
        "url": mask_url(each.url),
        "events": each.events,
        "enabled": each.enabled,
        "failing": each.is_failing(visit.now_ms),
        "since": visit.when(each.failing_since_ms),
        "delivered": visit.when(each.delivered_ms),
        "by": each.created_by,
        "made": visit.when(each.created_ms),
    }


def _read_events(form: dict[str, str]) -> tuple[str, ...]:
    """Read a form with a box for each event."""
    return tuple(each for each in EVENTS if f"event-{each}" in form)


async def _resend(visit: Visit, form: dict[str, str]) -> Response:
    delivery_id, by = form["delivery"], visit.person.label
    text = "The same delivery is posted to the same address once more."
    await visit.confirm(
        form,
        Consequence("Send it again?", text, "Send it again", (("Delivery", delivery_id),)),
    )
    await visit.write(lambda: webhooks.resend(visit.workspace_id, delivery_id, visit.now_ms, by=by))
    visit.services.background.wake_jobs()
    return visit.go(HERE)


async def _subscribe(visit: Visit, form: dict[str, str], url: str, events: tuple[str, ...]) -> str:
    """Subscribe an address as a person confirmed. Returns what is wrong, or an empty text."""
    visit.require_owner()
    try:
        subscriptions.require_events(events)
        await visit.read(lambda: subscriptions.require_fit(visit.services, visit.workspace_id, url))
        text = "From then on the events that you chose are posted there: what each action is and who decided."
        facts = (("Workspace", visit.place.name), ("Address", url), ("Events", ", ".join(events)))
        await visit.confirm(form, Consequence("Send events there?", text, "Send them", facts))
        by = visit.person.label
        await visit.write(subscriptions.add(visit.services, visit.workspace_id, url, events, by=by))
    except UnfitSubscription as unfit:
        return str(unfit)
    return ""


async def change_one(visit: Visit) -> Response:
    """Test, change or remove one subscription."""
    visit.require_confirmed()
    visit.require_owner()
    form = await visit.form(visit.here("outgoing"))
    workspace_id, subscription_id = visit.workspace_id, visit.part("subscription_id")
    what, by, now_ms = visit.part("what"), visit.person.label, visit.now_ms
    known = await visit.read(lambda: subscriptions.find(workspace_id, subscription_id))
    if known is None:
        return visit.go(HERE)
    facts = (("Workspace", visit.place.name), ("Address", mask_url(known.url)))
    if what == "remove":
        text = "No event is posted there any more, also none that waits. The log is kept for 30 days."
        await visit.confirm(form, Consequence("Stop these events?", text, "Stop them", facts, danger=True))
        await visit.write(lambda: subscriptions.remove(workspace_id, subscription_id, now_ms, by=by))
    elif what == "change":
        # A person who chose nothing wants nothing posted.
        events, enabled = _read_events(form), "enabled" in form
        chosen, enabled = events or known.events, enabled and bool(events)
        said = ("Events", ", ".join(chosen) if enabled else "none")
        text = "From then on only the events that you chose are posted there."
        await visit.confirm(form, Consequence("Change these events?", text, "Change them", (*facts, said)))
        await visit.write(
            lambda: subscriptions.change(
                workspace_id, subscription_id, chosen, now_ms, enabled=enabled, by=by
            )
        )
    elif what == "test":
        await visit.write(lambda: outgoing_events.send_test(workspace_id, subscription_id, now_ms))
        visit.services.background.wake_jobs()
    return visit.go(HERE)


SCREENS: Final = (
    Screen(HERE, outgoing, "settings", LOOK_AND_SEND),
    Screen(HERE + "/{subscription_id}/{what}", change_one, "settings", SEND),
)
