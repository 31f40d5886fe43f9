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
from assent.serving.web.settings import words
from assent.serving.web.shell.console import LOOK_AND_SEND, SEND, Screen, Visit

MAX_ADDRESS_CHARS: Final = 500
MAX_SUBSCRIPTION_CHARS: Final = 4_000
CAUSE_WORDS: Final = {
    "waiting": words.SOMETHING_WAITS_FOR_A_DECISION,
    "decided": words.IT_WAS_DECIDED_BY_WHOM,
    "problems": words.IT_WAS_NOT_SENT,
    "reminders": words.IT_STILL_WAITS_A_REMINDER,
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
            wrong = "" if await visit.read(is_own) else words.ONLY_CONFIRMED_ADDRESSES
        if chosen is not None and not wrong:
            text = words.WHAT_WAITS_IS_ANNOUNCED
            facts = ((chosen.label, shown or address),)
            await visit.confirm(form, Consequence(words.SEND_NOTIFICATIONS_THERE, text, words.ADD_IT, facts))
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
                labels.get(each.kind, words.NOT_AVAILABLE_ANY_MORE),
                visit.when(each.told_ms),
                each.choices,
            )
            for each in found
        ]

    values = {
        "section": "notifications",
        "groups": (
            (words.WHERE_YOU_ARE_NOTIFIED, MINE, show(mine)),
            (words.THIS_WORKSPACE, "", show(shared)),
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
        return words.CHOOSE_HOW_YOU_WANT
    if known >= targets.MOST_TARGETS:
        return words.THERE_ARE_ALREADY.format(known=known)
    most = MAX_SUBSCRIPTION_CHARS if notifier.by_browser else MAX_ADDRESS_CHARS
    if not notifier.by_browser and (not address or len(address) > most):
        return words.ENTER_THE_WHOLE_ADDRESS
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
        by, text = visit.person.label, words.NOTHING_IS_ANNOUNCED
        facts = tuple(("Address", each.shown) for each in known if each.target_id == target_id)
        await visit.confirm(
            form, Consequence(words.STOP_THESE_NOTIFICATIONS, text, words.STOP_THEM, facts, danger=True)
        )
        await visit.write(lambda: targets.remove(visit.services, owner, target_id, visit.now_ms, by=by))
    elif what == "choose":
        choices, text = read_choices(form), words.ONLY_CHOSEN_NOTIFICATIONS
        await visit.confirm(form, Consequence(words.CHANGE_THESE_NOTIFICATIONS, text, words.CHANGE_THEM))
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
