"""Decide in a chat app: what the platform signed is resolved to the person who linked that account.

The caller says who tapped as the platform reported it, never which person that is. The decision has the assurance
`chat_app`, whatever the app says; the policy says what that may decide.
"""

from __future__ import annotations

from typing import Final, Literal

from assent.engine.actions import actions
from assent.engine.core.services import Services
from assent.engine.people import chat, notifications
from assent.engine.people.chat import WINDOW_MS, ChatEvent
from assent.engine.people.people import Person
from assent.engine.people.proofs import use_nonce
from assent.gate.gate import Decider, SeenVersion
from assent.gate.records import Action, Assurance
from assent.gate.transitions import REJECTED, state_of
from assent.kernel.ids import require_action_id
from assent.kernel.limits import MAX_REASON_CHARS
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.structs import Record
from assent.ports import Begin, Transaction
from assent.present.cards import explain_unshown
from assent.use_cases import decisions
from assent.use_cases.decisions import DecisionOrder

ChatMove = Literal["approve", "reject", "ask"]

UNLINKED: Final = (
    "This account is not linked with a person who may decide here. Sign in to Assent, open Slack there, and link it "
    "with the code that is shown. Nothing was decided."
)
REPLAYED: Final = "This tap was handled before. Nothing was done a second time."
STALE: Final = (
    "It has changed, or someone else was faster. Nothing was decided; the message shows it as it is now."
)


class ChatAnswer(Record):
    """What to tell the one who tapped, and whether it is decided as they wanted."""

    text: str
    decided: bool


async def link(services: Services, event: ChatEvent, code: str) -> ChatAnswer:
    """Link the account of an event with the person who was shown a code."""
    now_ms = services.clock.now_ms()
    person = await services.store.write(lambda: chat.link(services, event, code, now_ms))
    if person is None:
        return ChatAnswer(
            "This code is unknown, used or too old. Get another one in Assent: Settings, Slack.", False
        )
    return ChatAnswer(
        f"Linked. What you tap here counts as {person.label}, as far as the policy lets it.", True
    )


async def decide(
    services: Services, event: ChatEvent, action_id: str, digest: str, move: ChatMove, text: str = ""
) -> ChatAnswer:
    """Decide about exactly the content with this digest, as the person who linked the account of the event. Whatever
    comes of it, the message is brought up to date."""
    services = services.for_workspace(event.workspace_id)
    now_ms = services.clock.now_ms()
    if abs(now_ms - event.at_ms) > WINDOW_MS:
        return ChatAnswer(REPLAYED, False)
    try:
        person, action = await services.store.read(lambda: _look(event, action_id))
    except Refusal:
        return ChatAnswer(STALE, False)
    try:
        return await _decide(services, event, person, action, digest, move, text)
    except Refusal as refusal:
        overtaken = refusal.reason in (
            Reason.STALE_REVISION,
            Reason.ACTION_CLOSED,
            Reason.EXECUTION_IN_PROGRESS,
        )
        said = STALE if overtaken else refusal.recovery().user_message

    def refuse() -> Transaction[None]:
        # Delivered again, it must not decide what may be decided by then.
        yield from _use(event)
        about = event.event_id[-16:]
        yield from notifications.ask(event.workspace_id, action.run_id, "changed", now_ms, about=about)

    await services.store.write(refuse)
    services.background.wake_jobs()
    return ChatAnswer(said, False)


def _look(event: ChatEvent, action_id: str) -> Transaction[tuple[Person | None, Action]]:
    action, _ = yield from actions.find(event.workspace_id, require_action_id(action_id))
    return (yield from chat.find_person(event)), action


def _use(event: ChatEvent) -> Transaction[bool]:
    """Use an event up. Returns False for one that was handled before."""
    return use_nonce(event.event_id, event.at_ms + 2 * WINDOW_MS)


async def _decide(
    services: Services,
    event: ChatEvent,
    person: Person | None,
    action: Action,
    digest: str,
    move: ChatMove,
    text: str,
) -> ChatAnswer:
    if person is None:
        raise Refusal(Reason.INSUFFICIENT_SCOPE, user_message=UNLINKED)
    if move == "approve" and (unshown := explain_unshown(action, "A message")):
        raise Refusal(Reason.REQUIRES_APPROVAL, user_message=f"{unshown} Open it to decide.")

    async def write(begin: Begin[Action]) -> Action:
        def once() -> Transaction[Action]:
            # The link, the person and their access are looked up again where it is decided.
            if (yield from chat.find_person(event)) != person:
                raise Refusal(Reason.INSUFFICIENT_SCOPE, user_message=UNLINKED)
            if not (yield from _use(event)):
                raise Refusal(Reason.IDEMPOTENCY_CONFLICT, user_message=REPLAYED)
            return (yield from begin())

        return await services.store.write(once)

    decider = Decider(
        event.workspace_id,
        person.label,
        Assurance.CHAT_APP,
        event.via,
        person.person_id,
        role=person.role.value,
    )
    sends = action.view.executes == "server" and action.schedule_ms is None
    wish = DecisionOrder(decider, action, SeenVersion(digest=digest), send=sends and move == "approve")
    clock, said = services.clock, text.strip()[:MAX_REASON_CHARS]
    if move == "ask" and not said:
        raise Refusal(Reason.VALIDATION_ERROR, user_message="Say what should be different.")
    if move == "approve":
        done = await decisions.approve(services, wish, write, undo=True)
    elif move == "reject":
        done = await decisions.reject(clock, wish, said or "Rejected in a chat.", write)
    else:
        done = await decisions.ask_for_changes(clock, wish, said, write)
    services.background.wake_jobs()
    return ChatAnswer("", state_of(done) == REJECTED or move != "reject")
