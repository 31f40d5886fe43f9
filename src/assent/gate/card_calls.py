"""The commands that a person may say about an action, and the calls that make sense next."""

from __future__ import annotations

from typing import Any

from assent.gate.calls import (
    Command,
    SuggestedCall,
    about_content,
    execute_call,
    wait_call,
)
from assent.gate.cards import EDIT, MANUAL, UNPUBLISH, Circumstances, is_by_hand_only
from assent.gate.mail import is_mail
from assent.gate.preflight import blocking_gate
from assent.gate.records import Action, when_taken_down
from assent.gate.step_calls import WORKFLOW, calls_after_decision
from assent.kernel.times import iso_time


def commands(key: str, action: Action, circumstances: Circumstances) -> tuple[Command, ...]:
    """Return the commands for this action with their calls, only those that this caller may make."""
    about: dict[str, Any] = {"actionId": action.action_id}
    if circumstances.expired:
        return ()
    if action.status == "approved" and action.execution_state in ("none", "retryable"):
        return _commands_after_approval(key, action, circumstances)
    if action.status != "awaiting_approval":
        return ()
    found = []
    if circumstances.may_decide and not (circumstances.unfit or circumstances.overdue):
        found.append(Command(f"approve {key}", "chieflab_approve_action", about_content(action)))
    if circumstances.may_edit:
        found.append(Command(f"reject {key}", "chieflab_reject_action", about, {"reason": "why not"}))
    if circumstances.may_edit and action.effect.verb != UNPUBLISH:
        if circumstances.unfit:
            repair = repair_call(action)
            return (Command(f"edit {key}", repair.name, repair.args, repair.needs), *found)
        wanted = {"scheduleFor": "when it goes out"} if circumstances.overdue else {"body": "the new text"}
        found.append(Command(f"edit {key}", EDIT, about, wanted))
    return tuple(found)


def repair_call(action: Action) -> SuggestedCall:
    """Build the edit that repairs content which cannot be delivered."""
    about: dict[str, Any] = {"actionId": action.action_id}
    if blocking_gate(action.effect) == "picture_cannot_be_sent":
        return SuggestedCall(EDIT, {**about, "imageAssetId": ""}, "the user agrees to leave the picture out")
    return SuggestedCall(EDIT, about, "the user said who gets it", {"to": "who gets it"})


def _commands_after_approval(key: str, action: Action, circumstances: Circumstances) -> tuple[Command, ...]:
    if action.effect.connector == WORKFLOW:
        return ()
    calls = {
        "chieflab_execute_approved_action": f"send {key}",
        "chieflab_record_manual_publish": f"{key} is out",
        "chieflab_withdraw_approval": f"withdraw {key}",
    }
    return tuple(
        Command(calls[call.name], call.name, call.args, call.needs)
        for call in next_calls(key, action, circumstances)
        if call.name in calls
    )


def next_calls(key: str, action: Action, circumstances: Circumstances) -> tuple[SuggestedCall, ...]:
    """Return the next possible calls for an action, complete, only those that this caller may make."""
    if action.execution_state == "outcome_unknown":
        return _calls_after_doubt(action, circumstances)
    if circumstances.expired:
        return _calls_after_expiry(action, circumstances)
    if action.status == "awaiting_approval":
        said = tuple(
            SuggestedCall(each.tool, each.args, f"the user said “{each.say}”", each.needs)
            for each in commands(key, action, circumstances)
        )
        if circumstances.may_decide or (circumstances.unfit and circumstances.may_edit):
            return said
        return (wait_call(action, "the user decides on the review page"), *said)
    if action.effect.connector == WORKFLOW:
        return calls_after_decision(action, may_withdraw=circumstances.may_edit)
    if action.status == "approved":
        return _calls_after_approval(action, circumstances)
    if action.status == "executed":
        return _calls_after_execution(action, circumstances)
    may_revise = circumstances.may_write and action.effect.verb != UNPUBLISH
    return (_call_for_revision(action),) if may_revise else ()


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
    if action.effect.connector == WORKFLOW or action.effect.verb == UNPUBLISH:
        return ()
    again = _call_for_revision(action)
    args = {**again.args, "body": action.effect.body}
    found = [SuggestedCall(again.name, args, "the user wants it prepared again")]
    if circumstances.may_execute and is_by_hand_only(action, circumstances):
        found.append(_record(action, "the user did it by hand and says so"))
    return tuple(found)


def _calls_after_execution(action: Action, circumstances: Circumstances) -> tuple[SuggestedCall, ...]:
    effect = action.effect
    if effect.verb == UNPUBLISH:
        return ()
    found = [SuggestedCall("chieflab_measure", {"runId": action.run_id}, "the user asks how it did")]
    if effect.connector == "site" and circumstances.may_write and when_taken_down(action) is None:
        about = {"actionId": action.action_id}
        found.append(SuggestedCall("chieflab_take_down_post", about, "the user wants the page gone"))
    return tuple(found)


def _calls_after_approval(action: Action, circumstances: Circumstances) -> tuple[SuggestedCall, ...]:
    about: dict[str, Any] = {"actionId": action.action_id}
    found = []
    if action.effect.connector == MANUAL:
        if circumstances.may_execute:
            found.append(_record(action, "the user says that it is out"))
    elif circumstances.blocker is not None:
        if circumstances.may_write and not circumstances.nameable:
            provider = {"provider": action.effect.connector}
            found.append(SuggestedCall("chieflab_connect_provider", provider, "the user wants to connect it"))
        when = "now, to show where it goes" if circumstances.nameable else "the user has connected it"
        if circumstances.may_write:
            found.append(SuggestedCall("chieflab_retry_blocked_action", about, when))
        brief = "the user wants the text to do it by hand; that asks for a new yes"
        if circumstances.may_edit:
            found.append(SuggestedCall("chieflab_use_manual_fallback", about, brief))
        if circumstances.may_execute:
            found.append(_record(action, "the user did it by hand and says so"))
    elif circumstances.may_execute:
        found.append(execute_call(action, when_to_send(action, overdue=circumstances.overdue)))
    if not circumstances.may_execute:
        found.append(wait_call(action, "the user goes on with it on the review page"))
    if circumstances.may_edit:
        found.append(SuggestedCall("chieflab_withdraw_approval", about, "the user changes their mind"))
    return tuple(found)


def _record(action: Action, when: str) -> SuggestedCall:
    needs = {} if is_mail(action.effect) else {"url": "the address where it is live"}
    return SuggestedCall("chieflab_record_manual_publish", {"actionId": action.action_id}, when, needs)


def when_to_send(action: Action, *, overdue: bool = False) -> str:
    if action.schedule_ms is None or overdue:
        return "the user wants it to go out now"
    return f"only after {iso_time(action.schedule_ms)}, and only if it has not gone out"


def _call_for_revision(action: Action) -> SuggestedCall:
    """Suggest a new version of rejected or failed content."""
    effect = action.effect
    if is_mail(effect):
        args: dict[str, Any] = {"to": list(effect.recipients), "subject": effect.subject}
        return SuggestedCall(
            "chieflab_send", args, "the user wants another version", {"body": "the new text"}
        )
    args = {"channel": effect.channel, "runId": action.run_id}
    return SuggestedCall("chieflab_post", args, "the user wants another version", {"body": "the new text"})
