"""Where an agent starts: what waits, what was learned, what to do next."""

from __future__ import annotations

import msgspec

from assent.engine import actions, brain, measurement
from assent.engine.measurement import Scheduled
from assent.kernel.times import iso_time
from assent.lifecycle.guidance import SuggestedCall
from assent.lifecycle.records import Action, ExecutionState
from assent.ports import Transaction
from assent.tools.arguments import TenantIdArgument
from assent.tools.definition import READS, Call, Tool

MOST = 100


class Help(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No arguments."""


class HelpReply(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    ok: bool
    what_this_is: str
    loop: tuple[str, ...]
    rules: tuple[str, ...]
    next_tool_calls: tuple[SuggestedCall, ...]


class Status(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    tenant_id: TenantIdArgument | None = None


class OpenAction(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    action_id: str
    run_id: str
    type: str
    severity: str
    created_at: str
    expires_at: str | None


class DueMeasurement(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    run_id: str
    due_at: str


class Lesson(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    entry_id: str
    kind: str
    body: str


class StatusReply(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Open loops at the start of a session, and the one thing to do about them."""

    ok: bool
    workspace_id: str
    pending_approvals: tuple[OpenAction, ...]
    unknown_outcomes: tuple[OpenAction, ...]
    due_measurements: tuple[DueMeasurement, ...]
    lessons: tuple[Lesson, ...]
    next_action: SuggestedCall
    user_message: str


async def show_help(call: Call, request: Help) -> HelpReply:
    return HelpReply(
        ok=True,
        what_this_is="Assent prepares launches, posts and mails, and sends only what a human approved; it then "
        "measures and remembers.",
        loop=(
            "prepare: chieflab_launch_product, chieflab_post or chieflab_send stage drafts; nothing goes out",
            "review: show every draft in the chat, word for word, and wait",
            "approve: chieflab_approve_action or chieflab_reject_action, as the human said; or the review link",
            "execute: chieflab_execute_approved_action, once per approved action",
            "measure: happens by itself about a day later; chieflab_measure shows it",
            "remember: decisions and results shape the next run; chieflab_brain_read shows them",
        ),
        rules=(
            "Never approve on your own judgement.",
            "On ok:false follow fixActionForAgent; if retryable is false, stop and show userMessage.",
            "Pass idempotencyKey on calls that you may repeat.",
        ),
        next_tool_calls=(
            SuggestedCall("chieflab_status", {}, "at the start of a session"),
            SuggestedCall("chieflab_launch_product", {"goal": "…"}, "the user wants to launch something"),
        ),
    )


async def status(call: Call, request: Status) -> StatusReply:
    workspace_id, tenant_id = call.caller.workspace_id, brain.tenant_of(request.tenant_id)

    def begin() -> Transaction[
        tuple[tuple[Action, ...], list[Scheduled], list[brain.Entry], list[brain.Entry]]
    ]:
        waiting = yield from actions.waiting(workspace_id, "", MOST, call.now_ms)
        to_measure = yield from measurement.due(workspace_id, MOST)
        worked = yield from brain.read(workspace_id, tenant_id, kind="channel_performance", most=3)
        refused = yield from brain.read(workspace_id, tenant_id, kind="rejection", most=3)
        return waiting, to_measure, worked, refused

    waiting, to_measure, worked, refused = await call.services.store.read(begin)
    unknown = [a for a in waiting if a.execution_state is ExecutionState.OUTCOME_UNKNOWN]
    pending = [a for a in waiting if a.execution_state is not ExecutionState.OUTCOME_UNKNOWN]
    following, message = _next(pending, unknown, to_measure, call.now_ms)
    return StatusReply(
        ok=True,
        workspace_id=workspace_id,
        pending_approvals=tuple(_open(action) for action in pending),
        unknown_outcomes=tuple(_open(action) for action in unknown),
        due_measurements=tuple(
            DueMeasurement(run_id=each.run_id, due_at=iso_time(each.due_ms)) for each in to_measure
        ),
        lessons=tuple(
            Lesson(entry_id=entry.entry_id, kind=entry.kind, body=entry.body) for entry in (*worked, *refused)
        ),
        next_action=following,
        user_message=message,
    )


def _next(
    pending: list[Action], unknown: list[Action], to_measure: list[Scheduled], now_ms: int
) -> tuple[SuggestedCall, str]:
    """One thing, the most urgent first: what may have gone out, what waits, what can be learned, something new."""
    if unknown:
        about = {"actionId": unknown[0].action_id}
        return (
            SuggestedCall("chieflab_get_action", about, "to ask the user what they see at the provider"),
            f"It is not known whether {len(unknown)} action(s) went out. Please look and tell me.",
        )
    if pending:
        return (
            SuggestedCall("chieflab_list_pending_actions", {}, "to show what waits for the user"),
            f"{len(pending)} action(s) wait for your approval.",
        )
    overdue = [each for each in to_measure if each.due_ms <= now_ms]
    if overdue:
        return (
            SuggestedCall("chieflab_measure", {"runId": overdue[0].run_id}, "to see how it went"),
            "Results of an earlier run can be read now.",
        )
    return (
        SuggestedCall("chieflab_launch_product", {"goal": "…"}, "the user wants to launch something"),
        "Nothing is open.",
    )


def _open(action: Action) -> OpenAction:
    return OpenAction(
        action_id=action.action_id,
        run_id=action.run_id,
        type=action.effect.type,
        severity=action.preflight.severity,
        created_at=iso_time(action.created_ms),
        expires_at=iso_time(action.expires_ms),
    )


TOOLS = (
    Tool(
        name="chieflab_status",
        title="What is open",
        description="The open loops of this workspace: approvals that wait, unknown outcomes, measurements that are "
        "due, "
        "lessons learned, and one next action. USE WHEN a session starts.",
        category="primary",
        behaviour=READS,
        request=Status,
        reply=StatusReply,
        handler=status,
    ),
    Tool(
        name="chieflab_help",
        title="How this works",
        description="The loop and its rules in a few lines. USE WHEN you are unsure what to call next.",
        category="workspace",
        behaviour=READS,
        request=Help,
        reply=HelpReply,
        handler=show_help,
    ),
)
