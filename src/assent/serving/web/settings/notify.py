"""Settings of notifications: of the signed-in person, of the current workspace, of this browser."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from starlette.responses import Response

from assent.engine.people import members, notifications, push, targets
from assent.engine.people.notifiers import Notifier
from assent.engine.people.targets import CAUSES, REMIND_HOURS, Choices, NotificationTarget, TargetOwner
from assent.gate.views import Severity
from assent.serving.web.people.confirming import Consequence
from assent.serving.web.people.devices import name_device
from assent.serving.web.shell.console import LOOK_AND_SEND, SEND, Screen, Visit

MAX_ADDRESS_CHARS: Final = 500
MAX_SUBSCRIPTION_CHARS: Final = 4_000
CAUSE_WORDS: Final = {
    "waiting": "Something waits for a decision",
    "decided": "It was decided, by whom and when",
    "problems": "It was not sent, or its outcome is unknown",
    "reminders": "It still waits: a reminder, and one before it expires",
}
HOUR_WORDS: Final = {0: "Never", 1: "1 hour", 4: "4 hours", 24: "24 hours", 72: "3 days"}
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
            owner, address = _owner(visit, MINE), await push.complete_subscription(visit.services, address)
            shown = f"{name_device(visit.request)} ({chosen.mask(address)})"
            typed = {**typed, "kind": first.kind if first is not None else "", "address": ""}
        wrong = _explain_unfit(visit, chosen, address, len(known))
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
            await visit.confirm(form, Consequence("Send notifications there?", text, "Add it", facts))
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
        "causes": CAUSE_WORDS,
        "risks": [each.value for each in Severity],
        "hours": HOUR_WORDS,
        "notifiers": by_hand,
        "push": pushes,
        "push_key": await push.find_public_key(visit.services) if pushes is not None else "",
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
        await visit.confirm(
            form, Consequence("Stop these notifications?", text, "Stop them", facts, danger=True)
        )
        await visit.write(lambda: targets.remove(visit.services, owner, target_id, visit.now_ms, by=by))
    elif what == "choose":
        choices, text = read_choices(form), "From then on only what you chose is sent there."
        await visit.confirm(form, Consequence("Change these notifications?", text, "Change them"))
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
    Screen("/settings/notifications", notify, "settings", LOOK_AND_SEND),
    Screen("/settings/notifications/{target_id}/{what}", notify_one, "settings", SEND),
)
