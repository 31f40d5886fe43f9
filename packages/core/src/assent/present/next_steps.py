"""The possible next steps of an action: sentences for the person, and the calls that they lead to.

Pure: present facts (rights, policy, connection) are passed as `Circumstances`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from assent.gate.effects import EXECUTE
from assent.gate.outcomes import Remainder
from assent.gate.records import (
    COSTS,
    CREDITS_MISSING,
    OFFERED_AS,
    PARTLY,
    REFUSED_PEOPLE,
    WORKFLOW,
    Action,
    Assurance,
    bare_address,
    find_wish,
    is_test,
    name_of,
)
from assent.gate.undo import UNDO_NAME, is_reverse
from assent.gate.views import Repair
from assent.kernel.guide import SuggestedCall
from assent.kernel.limits import HOUR_MS
from assent.kernel.structs import Record
from assent.kernel.times import iso_time, zoned_time
from assent.present.calls import about_content, wait_call
from assent.present.workflow_step import calls_after_decision

APPROVE: Final = "chieflab_approve_action"
EDIT: Final = "chieflab_edit_action"
UNDO: Final = "chieflab_undo_action"
REJECT: Final = "chieflab_reject_action"


class Circumstances(Record, kw_only=True):
    """Present facts that are not stored with the action."""

    blocker: str | None = None
    """Why it cannot be delivered yet, in a sentence for the person."""
    help_url: str | None = None
    """The page that removes the blocker."""
    frozen: str = ""
    """Why nothing is sent now, in a sentence for the person; empty where sending goes on."""
    connectable: bool = False
    """Whether a person can remove the blocker by connecting a provider."""
    unfit: bool = False
    """Whether it cannot be approved as it is: the content must be changed, or its type is missing."""
    missing: bool = False
    """Whether its type is not registered any more. It can only be rejected or withdrawn."""
    may_edit: bool = True
    may_decide: bool = True
    """Whether this caller can approve this action in the chat."""
    may_execute: bool = True
    may_write: bool = True
    """Whether this caller may prepare drafts and connect providers."""
    client_asks: bool = False
    """Whether an approval in the chat is confirmed in the client's own dialog."""
    who_decides: str | None = None
    review_url: str | None = None
    views: dict[str, str] = {}
    """URLs that show the pictures to a person who is not signed in, by picture URL."""
    next_try: str = ""
    """Whether the server tries again after a failure, and when, in a sentence for the person."""
    sends: str = ""
    """When the server sends it, because it was approved to go out at once, in a sentence for the person."""
    overdue: bool = False
    """Whether its scheduled time has passed. It needs a new time before it can be approved."""
    expired: bool = False
    """Whether it can no longer be approved or sent."""
    undo: str = ""
    """Until when it can be undone and what that leaves, in a sentence; empty if it cannot."""

    @property
    def decider_note(self) -> str:
        """Tell the person who decides."""
        return self.who_decides or "It is decided on the review page."

    @property
    def obstacle(self) -> str | None:
        """Why it does not go out now, and when the server tries again."""
        if self.frozen or self.blocker is None:
            return self.frozen or None
        return f"{self.blocker} {self.next_try}".rstrip()

    @property
    def help_note(self) -> str:
        """The end of a sentence about the blocker."""
        return f" Connect it here: {self.help_url}" if self.help_url and not self.frozen else ""


PLAIN: Final = Circumstances()
"""No obstacles."""


def ask(action: Action, circumstances: Circumstances) -> str | None:
    """Tell the person which words work now, or who decides instead."""
    name = name_of(action)
    if action.execution_state == "outcome_unknown":
        seen = "If you see it there, tell me where. If not, s" if circumstances.may_edit else "S"
        return f"It is not known whether it went out. {seen}ay so on the review page."
    if circumstances.expired:
        return None if action.effect.connector == WORKFLOW else _after_expiry(action, circumstances)
    if action.status == "approved":
        return _after_approval(action, circumstances)
    if action.status != "awaiting_approval":
        return None
    if circumstances.missing:
        return f"Say “reject {name}” to close it." if circumstances.may_edit else None
    if circumstances.unfit and circumstances.may_edit:
        return "Tell me what to change; it can be approved after that."
    if circumstances.overdue and circumstances.may_edit:
        return (
            "Its time has passed. Say “now” or tell me when it should go out; it can be approved after that."
        )
    if (wish := describe_wish(action)) and not circumstances.may_decide:
        change = " I can write it so." if _is_editable(action, circumstances) else ""
        return f"{wish}{change} As it is, it is approved on the review page."
    if circumstances.may_decide:
        confirm = " Your chat program then asks you to confirm." if circumstances.client_asks else ""
        yes = f"“{say_approve(action)}”"
        if sends_with_yes(action, circumstances):
            yes = f"“{_say_execution(action)}”, {yes} (then it waits)"
        if action.view.fixed:
            return f"Say {yes} or “reject {name}”.{confirm}"
        return f"{wish} Say {yes}, “reject {name}”, or what to change.{confirm}".lstrip()
    change = " You can still tell me what to change." if _is_editable(action, circumstances) else ""
    return f"{circumstances.decider_note}{change}"


def describe_wish(action: Action) -> str:
    """Quote the changes that were asked for last; empty if none of the present content were."""
    asked = find_wish(action)
    if asked is None:
        return ""
    by = "You" if asked["assurance"] == Assurance.AGENT else asked.get("by") or "Someone"
    return f"{by} asked for changes: “{asked.get('text', '')}”."


def say_approve(action: Action) -> str:
    """Return the words of an approval. They name the execution if the approval starts it."""
    return (
        f"approve and execute {name_of(action)}" if _starts_at_once(action) else f"approve {name_of(action)}"
    )


def sends_with_yes(action: Action, circumstances: Circumstances) -> bool:
    """Whether a yes can also send it, in the same call."""
    return (
        action.view.executes == "server"
        and not action.view.approval_executes
        and action.effect.connector != WORKFLOW
        and action.schedule_ms is None
        and circumstances.may_execute
        and circumstances.obstacle is None
    )


def _starts_at_once(action: Action) -> bool:
    return action.view.approval_executes and action.schedule_ms is None


def _is_editable(action: Action, circumstances: Circumstances) -> bool:
    return circumstances.may_edit and not (action.view.fixed or circumstances.missing)


def _list_editable(action: Action) -> dict[str, str]:
    """Return the argument of an edit that replaces the content, and what to ask for."""
    if action.effect.arguments:
        return {"arguments": "an object with the arguments to change"}
    return {"body": "the new text"}


def _after_expiry(action: Action, circumstances: Circumstances) -> str:
    if circumstances.missing:
        return "It has expired and does not go out any more."
    said = "It has expired and does not go out any more. Tell me if you want it prepared again."
    return f"{said} If you did it by hand, tell me that." if is_by_hand_only(action, circumstances) else said


def is_by_hand_only(action: Action, circumstances: Circumstances) -> bool:
    """Whether an action was approved and only a person can perform it."""
    stuck = circumstances.blocker is not None and not circumstances.unfit
    return action.status == "approved" and (action.view.executes == "person" or stuck)


def _after_approval(action: Action, circumstances: Circumstances) -> str | None:
    name = name_of(action)
    if action.execution_state not in ("none", "retryable") or action.effect.connector == WORKFLOW:
        return None
    if action.view.executes == "person":
        if not circumstances.may_execute:
            return "Do it by hand. This chat may not record it; record it on the review page."
        done = ask_to_do(action)
        return f"Not before {say_due(action)}: {done[:1].lower()}{done[1:]}" if action.schedule_ms else done
    if circumstances.frozen:
        return f"It stays approved. Say “withdraw {name}” to take the approval back."
    if is_test(action):
        do = _say_execution(action)
        return f"It is a test: nothing is sent for real. Say “{do}” to try it, or “withdraw {name}”."
    if action.view.executes == "agent":
        return f"The agent that asked may run it now, once. Until it does, say “withdraw {name}” to stop it."
    if circumstances.blocker is not None:
        return None
    if action.schedule_ms is not None and not circumstances.overdue:
        return f"The server sends it on {say_due(action)}. Until then say “withdraw {name}” to stop it."
    if _starts_at_once(action) and action.execution_state == "none":
        return (
            f"It is executed now, because it was approved. Until it starts, say “withdraw {name}” to stop it."
        )
    if circumstances.sends:
        return f"{circumstances.sends} Until then say “withdraw {name}” to stop it."
    (do, _, happens), words = _name_execution(action), _say_execution(action)
    if not circumstances.may_execute:
        return f"This chat may not {do} it. Open the review page and {do} it there."
    if circumstances.next_try:
        return f"{circumstances.next_try} Say “{words}” to try it now, or “withdraw {name}” to stop it."
    return f"Say “{words}” and it {happens}, or “withdraw {name}”."


def is_call(action: Action) -> bool:
    """Whether an action is a call or takes something back, rather than a text that someone wrote."""
    return bool(action.effect.arguments) or action.view.removes


def _name_execution(action: Action) -> tuple[str, str, str]:
    """Return the verb for the execution, its participle, and what then happens."""
    if is_reverse(action.effect):
        return "undo", "undone", "is taken back"
    if action.effect.arguments:
        return "execute", "executed", "is executed"
    return "send", "sent", "goes out"


def _say_execution(action: Action) -> str:
    """Return the words of an execution. What is undone has the name of what it takes back."""
    do, name = _name_execution(action)[0], name_of(action)
    return f"{do} {name.removeprefix(UNDO_NAME)}"


def ask_to_do(action: Action) -> str:
    """Ask the person to perform an action by hand and to report it."""
    if action.view.mail:
        return "Send it from your own mail program, then tell me that you did."
    if action.view.has_address:
        return "Publish it by hand, then tell me the address where it is."
    return "Do it by hand, then tell me that you did."


def describe_decision(move: str, action: Action, circumstances: Circumstances) -> str:
    """Tell the person what a decision did, without a promise that cannot be kept now."""
    if move == "withdraw":
        return (
            "Stopped. Nothing was sent. It waits for your decision again, unchanged: reject it if it should never "
            "go out."
        )
    if action.status == "rejected":
        again = "" if is_call(action) else " I can write another version."
        return f"Rejected. It will never be {_name_execution(action)[1]}; the reason is kept.{again}"
    if action.status == "awaiting_approval":
        if move == "approve":
            return "Your yes is recorded. It still needs the yes of another person."
        if circumstances.may_decide:
            return f"This is the new version. It waits for your approval.{_without_approval(action)}"
        return f"This is the new version. {circumstances.decider_note}"
    if circumstances.obstacle is not None and action.view.executes != "person":
        return f"Approved{_for_its_time(action)}. {_after_obstacle(action, circumstances)}"
    if CREDITS_MISSING in action.preflight.gates:
        costly = next((each for each in action.preflight.warnings if each.startswith(COSTS)), "")
        return f"Approved{_for_its_time(action)}. Nothing has been sent. {costly}".rstrip()
    ending, sent = _after_approval(action, circumstances), _name_execution(action)[1]
    if move == "approve" and _starts_at_once(action):
        return f"Approved. {ending or ''}".rstrip()
    return f"Approved. Nothing has been {sent} yet. {ending or ''}".rstrip()


def say_due(action: Action) -> str:
    """Say when a scheduled action goes out, in the zone that was given."""
    return zoned_time(action.schedule_ms or 0, action.effect.schedule_offset)


def _for_its_time(action: Action) -> str:
    return f" for {say_due(action)}" if action.schedule_ms is not None else ""


def _after_obstacle(action: Action, circumstances: Circumstances) -> str:
    said = f"It cannot be sent yet: {circumstances.obstacle}{circumstances.help_note}"
    return f"{said} {after_connecting(action, circumstances)}".rstrip()


def after_connecting(action: Action, circumstances: Circumstances) -> str:
    """Say what connecting the provider of an approved action does: it may let it go out, but an account that was not
    shown needs another yes. Empty where connecting is not what is missing."""
    if not circumstances.help_note:
        return ""
    if action.effect.target is None:
        return "Once it is connected I show you where it goes, and need your yes once more."
    return LETS_IT_GO


LETS_IT_GO: Final = "It is approved, so it may go out as soon as it is connected."


def say_unrecorded(action: Action, circumstances: Circumstances) -> str:
    """Tell the person that their yes to sending was not recorded, why, and which yes can be."""
    said = f"Your approval was not recorded: {circumstances.blocker}{circumstances.help_note}"
    later = f" To approve it and send it later, say “{say_approve(action)}”."
    return said + later if circumstances.may_decide and not _starts_at_once(action) else said


def _without_approval(action: Action) -> str:
    """Say what a planned action does while nobody approves its new version."""
    return f" Without it nothing goes out on {say_due(action)}." if action.schedule_ms is not None else ""


def describe_outcome(action: Action, measured_after_ms: int | None) -> str:
    """Describe what was delivered and where, and when its results arrive."""
    view = action.view
    by_hand = f"Recorded as done by hand: {view.label}." if action.is_by_hand else ""
    said = str(action.metadata.get(PARTLY) or by_hand or view.outcome)
    # The address on the receipt of a reverse is that of what is gone.
    if not action.view.removes and (action.external_url or said.endswith(":")):
        said += f" {action.external_url or view.label}"
    hours = round((measured_after_ms or 0) / HOUR_MS)
    return said + (f"\nResults arrive in about {hours} hour{'' if hours == 1 else 's'}." if hours else "")


def warn_of_part(left: Remainder) -> str:
    """Warn a reviewer that only a part of an effect went out."""
    return (
        f"Only a part went out: {left.reached}. The rest ({left.why}) did not, and is an action of its own."
    )


ALREADY_OUT: Final = "Already out: "
"""The beginning of that warning, by which it is found again."""


def warn_of_rest(left: Remainder) -> str:
    """Warn a reviewer of the action that was staged for the rest."""
    return f"{ALREADY_OUT}{left.reached}. This is the rest, which was refused ({left.why})."


def rewrite_call(action: Action, needs: dict[str, str]) -> SuggestedCall:
    """Return the call that replaces a plain note by the agent's own text."""
    return SuggestedCall(EDIT, about_content(action), "you have written a better text", needs)


def repair_call(action: Action) -> SuggestedCall:
    """Build the edit that repairs content which cannot be delivered."""
    about: dict[str, Any] = {"actionId": action.action_id}
    repair = action.view.unfit.repair if action.view.unfit is not None else None
    if repair is None:
        return SuggestedCall(EDIT, about, "the user said what to change", _list_editable(action))
    return SuggestedCall(repair.tool, {**about, **repair.args}, repair.when, repair.needs)


def next_calls(action: Action, circumstances: Circumstances) -> tuple[SuggestedCall, ...]:
    """Return the complete next calls for an action that this caller may make, the most likely one first."""
    if action.execution_state == "outcome_unknown":
        return _calls_after_doubt(action, circumstances)
    if circumstances.expired:
        return _calls_after_expiry(action, circumstances)
    if action.status == "awaiting_approval":
        return _calls_before_decision(action, circumstances)
    if action.effect.connector == WORKFLOW:
        return calls_after_decision(action, may_withdraw=circumstances.may_edit)
    if action.status == "approved":
        return _calls_after_approval(action, circumstances)
    if action.status == "executed":
        return _calls_after_execution(action, circumstances)
    again = _call_for_revision(action, circumstances)
    return (again,) if circumstances.may_write and again is not None else ()


def list_calls(shown: Sequence[tuple[Action, Circumstances]]) -> tuple[SuggestedCall, ...]:
    """Return the next calls for actions that are shown together. Beside the first approval, one call stands for
    all of them and needs their ids, so that many actions do not make a long answer."""
    if len(shown) == 1:
        return next_calls(*shown[0])
    ready = [pair for pair in shown if pair[0].status == "awaiting_approval" and _is_ready(pair[1])]
    found = [_approve_call(*pair) for pair in ready[:1]]
    if len(ready) > 1:
        found.append(SuggestedCall(APPROVE, {}, "the user said yes to others", _WHICH))
    for action, around in shown:
        if not around.may_edit or _is_ready(around):
            continue
        found += [call for call in next_calls(action, around) if call.name == EDIT]
    if shown and not found:
        found += next_calls(*shown[0])[:1]
    if any(around.may_edit for _, around in shown):
        found.append(SuggestedCall(REJECT, {}, "the user said no to one", {**_ONE, "reason": "why not"}))
    if any(_is_editable(*pair) for pair in ready):
        found.append(SuggestedCall(EDIT, {}, "the user wants one changed", {**_ONE, "body": "the new text"}))
    return tuple(found)


_ONE: Final = {"actionId": "which"}
_WHICH: Final = {"actions": "actionId and digest of each"}


def _is_ready(circumstances: Circumstances) -> bool:
    """Whether this caller can approve it as it is."""
    return circumstances.may_decide and not (
        circumstances.unfit or circumstances.overdue or circumstances.expired
    )


def _approve_call(action: Action, circumstances: Circumstances, *, send: bool = False) -> SuggestedCall:
    said = f"the user said “{_say_execution(action) if send else say_approve(action)}”"
    asks = "; the client then asks them to confirm" if circumstances.client_asks else ""
    args = about_content(action) | ({"send": True} if send else {})
    return SuggestedCall(APPROVE, args, f"{said}{asks}")


def _calls_before_decision(action: Action, circumstances: Circumstances) -> tuple[SuggestedCall, ...]:
    about: dict[str, Any] = {"actionId": action.action_id}
    name, found = name_of(action), list[SuggestedCall]()
    if _is_ready(circumstances):
        found.append(_approve_call(action, circumstances))
        if sends_with_yes(action, circumstances):
            found.append(_approve_call(action, circumstances, send=True))
    if circumstances.may_edit:
        found.append(SuggestedCall(REJECT, about, f"the user said “reject {name}”", {"reason": "why not"}))
    if _is_editable(action, circumstances):
        if circumstances.unfit:
            return (repair_call(action), *found)
        wanted = _list_editable(action)
        if circumstances.overdue:
            wanted = {"scheduleFor": "now, or when it goes out"}
        if find_wish(action) is not None:
            return (SuggestedCall(EDIT, about, "changes were asked for", wanted), *found)
        found.append(SuggestedCall(EDIT, about, "the user said what to change", wanted))
    return tuple(found) if circumstances.may_decide else (wait_call(action), *found)


def _calls_after_doubt(action: Action, circumstances: Circumstances) -> tuple[SuggestedCall, ...]:
    wait = wait_call(action, "now: the server asks the provider where it can")
    if not circumstances.may_edit:
        return (wait,)
    # "It did not happen" allows another attempt, so only a signed-in person may say it.
    about = {"actionId": action.action_id, "outcome": "happened"}
    needs = {"evidence": "what the user saw and where"}
    tell = SuggestedCall("chieflab_resolve_unknown_outcome", about, "the user has seen it there", needs)
    return (wait, tell)


def _calls_after_expiry(action: Action, circumstances: Circumstances) -> tuple[SuggestedCall, ...]:
    """Suggest to prepare the same content again. An approved action may have been done by hand."""
    again = _call_for_revision(action, circumstances)
    if action.effect.connector == WORKFLOW or again is None:
        return ()
    needs = {name: words for name, words in again.needs.items() if name != "body"}
    args = {**again.args, "body": action.effect.body} if "body" in again.needs else again.args
    found = [SuggestedCall(again.name, args, "the user wants it prepared again", needs)]
    if circumstances.may_execute and is_by_hand_only(action, circumstances):
        found.append(_record(action, _DONE_BY_HAND))
    return tuple(found)


def _calls_after_execution(action: Action, circumstances: Circumstances) -> tuple[SuggestedCall, ...]:
    found = list[SuggestedCall]()
    if (rest := action.metadata.get(OFFERED_AS)) is not None:
        found.append(SuggestedCall("chieflab_get_action", {"actionId": rest}, "now, to show the rest"))
    if action.gives_numbers:
        found.append(SuggestedCall("chieflab_measure", {"runId": action.run_id}, "the user asks how it did"))
    if circumstances.undo and circumstances.may_write and not circumstances.missing:
        about = {"actionId": action.action_id}
        found.append(SuggestedCall(UNDO, about, f"the user wants it undone. {circumstances.undo}"))
    return tuple(found)


def _calls_after_approval(action: Action, circumstances: Circumstances) -> tuple[SuggestedCall, ...]:
    about: dict[str, Any] = {"actionId": action.action_id}
    found = []
    withdraw = SuggestedCall("chieflab_withdraw_approval", about, "the user changes their mind")
    if circumstances.missing or circumstances.frozen:
        return (withdraw,) if circumstances.may_edit else ()
    if action.view.executes == "agent":
        if circumstances.may_execute:
            found.append(SuggestedCall(action.executor_tool, about, "now, if you run it yourself"))
    elif action.view.executes == "person":
        if circumstances.may_execute:
            found.append(_record(action, "the user says that it is out"))
    elif circumstances.blocker is not None:
        if circumstances.may_write and circumstances.connectable:
            provider = {"provider": action.effect.connector}
            found.append(SuggestedCall("chieflab_connect_provider", provider, "the user wants to connect it"))
        if circumstances.may_execute:
            mended = (
                "the user has connected it" if circumstances.connectable else "what was in the way is gone"
            )
            found.append(SuggestedCall(EXECUTE, about, mended))
        brief = "the user wants the text to do it by hand; that needs a new approval"
        if circumstances.may_edit:
            found.append(SuggestedCall("chieflab_use_manual_fallback", about, brief))
        if circumstances.may_execute:
            found.append(_record(action, _DONE_BY_HAND))
    elif _starts_at_once(action) and action.execution_state == "none":
        found.append(wait_call(action, "now: it is executed because it was approved"))
    elif circumstances.sends:
        wait = wait_call(action, "the user asks whether it went out")
        return (withdraw, wait) if circumstances.may_edit else (wait,)
    elif circumstances.may_execute:
        key = execution_key(action.action_id, action.revision)
        at_once = action.schedule_ms is None or circumstances.overdue
        later = f"only after {iso_time(action.schedule_ms)}, and only if it has not gone out"
        when = "the user wants it to go out now" if at_once else later
        found.append(SuggestedCall(EXECUTE, {**about, "idempotencyKey": key}, when))
    if not circumstances.may_execute:
        found.append(wait_call(action, "the user goes on with it on the review page"))
    if circumstances.may_edit:
        found.append(withdraw)
    return tuple(found)


_DONE_BY_HAND: Final = "the user did it by hand and says so"


def _record(action: Action, when: str) -> SuggestedCall:
    needs = {"url": "the address where it is live"} if action.view.has_address else {}
    return SuggestedCall("chieflab_record_manual_publish", {"actionId": action.action_id}, when, needs)


def execution_key(action_id: str, revision: int) -> str:
    """Return the idempotency key of every suggested execution of this content."""
    return f"execute-{action_id}-r{revision}"


def _call_for_revision(action: Action, circumstances: Circumstances) -> SuggestedCall | None:
    """Suggest a new version of rejected or failed content, if its type names a tool for that."""
    again = action.view.again
    if again is None or circumstances.missing:
        return None
    if refused := action.metadata.get(REFUSED_PEOPLE):
        return _call_for_others(action, again, frozenset(refused))
    args = {**again.args, "runId": action.run_id} if again.in_run else again.args or action.effect.arguments
    return SuggestedCall(again.tool, args, again.when, again.needs)


def _call_for_others(action: Action, again: Repair, refused: frozenset[str]) -> SuggestedCall:
    """Suggest the same message without the addresses that were refused."""
    left = {
        name: [each for each in again.args.get(name, ()) if bare_address(each) not in refused]
        for name in ("to", "cc")
    }
    found = {**again.args, **left, "body": action.effect.body}
    args = {name: value for name, value in found.items() if value}
    if left["to"]:
        return SuggestedCall(again.tool, args, "the user wants it sent to the others")
    needs = {"to": "who gets it instead"}
    return SuggestedCall(again.tool, args, "the user named other addresses", needs)
