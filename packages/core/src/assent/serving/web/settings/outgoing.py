"""Settings of what the server sends to others: events to addresses of the workspace, notifications to people."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, get_args

from starlette.responses import Response

from assent.engine.people import members, notifications, targets
from assent.engine.people.notifications import SHOWS_ACTIONS
from assent.engine.people.targets import CAUSES, REMIND_HOURS, Choices, NotificationTarget, TargetOwner
from assent.engine.webhooks import events as outgoing_events
from assent.engine.webhooks import subscriptions, webhooks
from assent.engine.webhooks.subscriptions import Subscription, UnfitSubscription
from assent.gate.views import Severity
from assent.gate.webhooks import EVENTS, State, mask_url
from assent.ports import Notifier
from assent.serving.web.people.people import name_device
from assent.serving.web.shell.console import LOOK_AND_SEND, SEND, Screen, Visit

HERE: Final = "/settings/outgoing"
DELIVERIES: Final = 20


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
        "Send it again?",
        text,
        "Send it again",
        (("Delivery", delivery_id),),
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
        await visit.confirm(form, "Send events there?", text, "Send them", facts)
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
        await visit.confirm(form, "Stop these events?", text, "Stop them", facts, danger=True)
        await visit.write(lambda: subscriptions.remove(workspace_id, subscription_id, now_ms, by=by))
    elif what == "change":
        # A person who chose nothing wants nothing posted.
        events, enabled = _read_events(form), "enabled" in form
        chosen, enabled = events or known.events, enabled and bool(events)
        said = ("Events", ", ".join(chosen) if enabled else "none")
        text = "From then on only the events that you chose are posted there."
        await visit.confirm(form, "Change these events?", text, "Change them", (*facts, said))
        await visit.write(
            lambda: subscriptions.change(
                workspace_id, subscription_id, chosen, now_ms, enabled=enabled, by=by
            )
        )
    elif what == "test":
        await visit.write(lambda: outgoing_events.send_test(workspace_id, subscription_id, now_ms))
        visit.services.background.wake_jobs()
    return visit.go(HERE)


# Settings of notifications: of the signed-in person, of the current workspace, of this browser.

MAX_ADDRESS_CHARS: Final = 500
MAX_SUBSCRIPTION_CHARS: Final = 4_000
MINE: Final = "me"


async def notify(visit: Visit) -> Response:
    """Show where a person and the workspace are notified, or add an address."""
    notifiers, wrong = visit.services.notifiers, ""
    by_hand = [each for each in notifiers.values() if not each.by_browser]
    first = next(iter(by_hand), None)
    own = visit.person.email if first is not None and first.by_mail else ""
    typed = {"kind": first.kind if first is not None else "", "address": own or "", "whose": MINE}
    if visit.request.method == "POST":
        visit.require_confirmed()
        form = await visit.form(visit.here("notifications"))
        typed = {name: form.get(name, "").strip() for name in typed}
        owner = _owner(visit, typed["whose"])
        known = await visit.read(lambda: targets.list_targets(owner))
        chosen = notifiers.get(typed["kind"])
        address, shown = typed["address"], ""
        if chosen is not None and chosen.by_browser:
            owner, address = (
                _owner(visit, MINE),
                await targets.complete_push(visit.services, address),
            )
            shown = f"{name_device(visit.request)} ({chosen.mask(address)})"
            typed = {**typed, "kind": first.kind if first is not None else "", "address": ""}
        wrong = _explain_unfit(visit, chosen, address, len(known))
        if typed["kind"].endswith(SHOWS_ACTIONS) and owner.person_id and not wrong:
            wrong = f"Messages with buttons are for a workspace: choose “The workspace {visit.place.name}”."
        if chosen is not None and chosen.by_mail and not wrong and not visit.services.owned:
            # The owner's mail server sends this workspace's notes to its own people alone.
            is_own = partial(members.is_confirmed, visit.workspace_id, address, visit.person.person_id)
            wrong = (
                ""
                if await visit.read(is_own)
                else (
                    "This server mails notes of this workspace only to its members, at the "
                    "address with which they signed in. Enter yours."
                )
            )
        if chosen is not None and not wrong:
            text = "Notifications go there, with a link that asks for sign-in."
            facts = ((chosen.label, shown or address),)
            await visit.confirm(form, "Send notifications there?", text, "Add it", facts)
            await targets.add(visit.services, owner, chosen, address, by=visit.person.label, shown=shown)
            return visit.go("/settings/notifications")
    mine = await visit.read(lambda: targets.list_targets(_owner(visit, MINE)))
    shared = await visit.read(lambda: targets.list_targets(_owner(visit, "")))
    labels = {each.kind: each.label for each in notifiers.values()}
    pushes = next((each for each in notifiers.values() if each.by_browser), None)

    def show(found: tuple[NotificationTarget, ...]) -> list[Any]:
        return [
            (
                each,
                labels.get(each.kind, "Not available any more"),
                visit.when(each.told_ms),
                each.choices,
            )
            for each in found
        ]

    values = {
        "section": "notifications",
        "groups": (
            ("Where you are notified", MINE, show(mine)),
            ("This workspace", "", show(shared)),
        ),
        "risks": [each.value for each in Severity],
        "notifiers": by_hand,
        "push": pushes,
        "push_key": await targets.find_push_key(visit.services) if pushes is not None else "",
        "typed": typed,
        "wrong": wrong,
        "nonce": visit.nonce(visit.here("notifications")),
    }
    return visit.page("settings_notifications.html", values, status=400 if wrong else 200)


def _owner(visit: Visit, whose: str) -> TargetOwner:
    """The person, or the current workspace."""
    if whose == MINE:
        return targets.of_person(visit.person.person_id)
    return TargetOwner(visit.workspace_id)


def _explain_unfit(visit: Visit, notifier: Notifier | None, address: str, known: int) -> str:
    """Why notifications cannot go to this address, or an empty text."""
    if notifier is None:
        return "Choose how to be notified."
    if known >= targets.MOST_TARGETS:
        return f"You already have {known}, which is the limit. Remove one first."
    most = MAX_SUBSCRIPTION_CHARS if notifier.by_browser else MAX_ADDRESS_CHARS
    if not notifier.by_browser and (not address or len(address) > most):
        return "Enter the whole address."
    return notifier.check(visit.services.outgoing, address[: most + 1])


async def notify_one(visit: Visit) -> Response:
    """Test, change or remove one notification target."""
    visit.require_confirmed()
    form = await visit.form(visit.here("notifications"))
    target_id, what, owner = visit.part("target_id"), visit.part("what"), _owner(visit, form.get("whose", ""))
    known = await visit.read(lambda: targets.list_targets(owner))
    if target_id not in [each.target_id for each in known]:
        return visit.go("/settings/notifications")
    if what == "remove":
        by, text = visit.person.label, "No notification goes there any more."
        facts = tuple(("Address", each.shown) for each in known if each.target_id == target_id)
        await visit.confirm(form, "Stop these notifications?", text, "Stop them", facts, danger=True)
        await visit.write(lambda: targets.remove(visit.services, owner, target_id, visit.now_ms, by=by))
    elif what == "choose":
        choices, text = read_choices(form), "From then on only what you chose is sent there."
        await visit.confirm(form, "Change these notifications?", text, "Change them")
        await visit.write(lambda: targets.choose(owner, target_id, choices))
    elif what == "test":
        await visit.write(lambda: notifications.enqueue_test(owner, target_id, visit.now_ms))
        visit.services.background.wake_jobs()
    return visit.go("/settings/notifications")


def read_choices(form: dict[str, str]) -> Choices:
    """Read the form of a target: a box for each cause and risk."""
    hours = form.get("hours", "")
    return Choices(
        frozenset(each for each in CAUSES if f"cause-{each}" in form),
        frozenset(each for each in Severity if f"risk-{each.value}" in form),
        "quiet" in form,
        int(hours) if hours.isdigit() and int(hours) in REMIND_HOURS else 24,
    )


SCREENS: Final = (
    Screen(HERE, outgoing, "settings", LOOK_AND_SEND),
    Screen(HERE + "/{subscription_id}/{what}", change_one, "settings", SEND),
    Screen("/settings/notifications", notify, "settings", LOOK_AND_SEND),
    Screen("/settings/notifications/{target_id}/{what}", notify_one, "settings", SEND),
)
