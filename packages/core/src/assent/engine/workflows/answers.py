"""Answers of the workflow tools: their shape, their tokens, their refusals (W76).

Uses no store. `assent.workflow.text` writes the text beside an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from assent.engine.core.tenancy import Principal
from assent.engine.workflows.store import StoredRun
from assent.gate.seals import Seals
from assent.gate.views import Severity
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Problem, Reason, Refusal, Retry
from assent.kernel.structs import Record, WireRecord
from assent.workflow import Blocked, ContentRefused, Issue, Pending, Program, Warning, text
from assent.workflow.tokens import Tokens

ADVANCE: Final = "workflow_advance"


class SessionView(WireRecord):
    session_id: str
    run_id: str


class PendingView(WireRecord, kw_only=True, omit_defaults=True):
    """The pending step. The first four fields are S2's; this server adds the others."""

    step_id: str
    title: str
    prompt: str
    require_confirmation: bool
    step_key: str | UnsetType = UNSET
    action: dict[str, Any] | UnsetType = UNSET
    model_tier: str | UnsetType = UNSET


class IssueView(Record):
    path: str
    code: str
    message: str


class WarningView(Record):
    code: str
    message: str
    path: str = ""


class BranchView(WireRecord, kw_only=True, omit_defaults=True):
    """Another branch: its first step, how far it came, and the token to enter it."""

    title: str
    step_key: str
    is_complete: bool
    notes: tuple[str, ...] = ()
    """The first lines of what was noted at its first step and at the newest ones."""
    reached: str = ""
    """Its pending step."""
    state_token: str = ""


class EarlierStep(WireRecord):
    """A completed step, and the token to do it again."""

    title: str
    state_token: str


class WorkflowAnswer(WireRecord, kw_only=True, omit_defaults=True):
    """The answer of every workflow tool. `kind` is step, complete, blocked, resumed or checkpoint.
    It contains no part of the context (W51)."""

    kind: str
    state_token: str
    pending: PendingView | None
    ack_token: str | None
    is_complete: bool
    session: SessionView
    workflow_id: str
    warnings: tuple[WarningView, ...] | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    issues: tuple[IssueView, ...] | UnsetType = UNSET
    example: dict[str, Any] | UnsetType = UNSET
    notes_example: str | UnsetType = UNSET
    recap: str | UnsetType = UNSET
    recap_omitted: int | UnsetType = UNSET
    branches: tuple[BranchView, ...] | UnsetType = UNSET
    other_branches: tuple[BranchView, ...] | UnsetType = UNSET
    """Branches that diverged before this node."""
    branches_omitted: int | UnsetType = UNSET
    earlier_steps: tuple[EarlierStep, ...] | UnsetType = UNSET


class WorkflowReply(Record):
    """An answer and its readable text (W76)."""

    answer: WorkflowAnswer
    text: str


class WorkflowCall(Record, kw_only=True):
    """The context of a call: caller, time, token keys, new ids."""

    workspace_id: WorkspaceId
    principal: Principal
    keys: tuple[bytes, ...]
    now_ms: int
    new_id: Callable[[int], str]
    seals: Seals
    """Verify approvals of this server."""
    grade_tool: Callable[[str], Severity]
    """Returns the worst risk of what a tool does."""
    reason: str = ""
    """Why the agent wants to pass a step that a person confirms, in its own words."""
    drift: tuple[Warning, ...] = ()
    """Warnings that the workflow file differs from the pinned program. Read before the transaction,
    which reads no file."""


def translate_refusal(refused: ContentRefused) -> Refusal:
    """Build the refusal for content that cannot be taken at all."""
    problems = [
        Problem(
            issue.path,
            issue.message if not refused.allowed else f"at most {refused.allowed} bytes",
            f"{refused.measured} bytes" if refused.allowed else issue.code,
        )
        for issue in refused.issues
    ]
    reason = Reason.CONTEXT_TOO_LARGE if refused.code == "context_too_large" else Reason.VALIDATION_ERROR
    facts = {"measured": refused.measured, "allowed": refused.allowed}
    return Refusal(reason, facts=facts, problems=problems)


def build_refusal(issues: Iterable[Issue]) -> Refusal:
    """Build the refusal for invalid content, with its issues."""
    return Refusal(Reason.VALIDATION_ERROR, problems=_problems(issues))


def give_up(issues: Iterable[Issue]) -> Refusal:
    """Build the refusal after ten blocked attempts: the agent must ask the user (W39)."""
    return Refusal(
        Reason.VALIDATION_ERROR,
        problems=_problems(issues),
        user_message="I could not complete this step in ten attempts and need your help with it.",
        fix="Ten attempts in a row were refused. Show the user the step and its problems, and ask how to "
        "complete it; then advance with what they tell you.",
        stop_rule="Do not advance this step again before the user has answered.",
        retry=Retry.NEVER,
    )


def _problems(issues: Iterable[Issue]) -> list[Problem]:
    return [Problem(issue.path, issue.message, issue.code) for issue in issues]


def answer_advance(
    run: StoredRun, program: Program, tokens: Tokens, shown: Pending | None, warnings: tuple[Warning, ...]
) -> WorkflowReply:
    """Build the reply to an advance that created a node."""
    answer = shape_answer(run, tokens, shown, warnings)
    if shown is None:
        return WorkflowReply(answer, text.write_completion(program, warnings))
    return WorkflowReply(answer, text.write_advance(shown, tokens, warnings))


def shape_answer(
    run: StoredRun, tokens: Tokens, shown: Pending | None, warnings: tuple[Warning, ...]
) -> WorkflowAnswer:
    """Build the answer at a node: pending step, warnings, tokens."""
    return WorkflowAnswer(
        kind="step" if shown is not None else "complete",
        state_token=tokens.state_token,
        pending=_view(shown) if shown is not None else None,
        ack_token=tokens.ack_token,
        is_complete=shown is None,
        session=SessionView(run.session_id, run.run_id),
        workflow_id=run.workflow_id,
        warnings=tuple(WarningView(w.code, w.message, w.path) for w in warnings) or UNSET,
    )


def block_answer(answer: WorkflowAnswer, outcome: Blocked) -> WorkflowAnswer:
    """Turn an answer into a blocked one, with issues and a passing example (W32, W60)."""
    return msgspec.structs.replace(
        answer,
        kind="blocked",
        reason=outcome.reason,
        issues=tuple(IssueView(issue.path, issue.code, issue.message) for issue in outcome.issues),
        example=outcome.example if outcome.example is not None else UNSET,
        notes_example=outcome.notes_example if outcome.notes_example is not None else UNSET,
    )


def _view(shown: Pending) -> PendingView:
    return PendingView(
        step_id=shown.step_id,
        title=shown.title,
        prompt=shown.prompt,
        require_confirmation=shown.require_confirmation,
        step_key=shown.step_key,
        action=shown.action if shown.action is not None else UNSET,
        model_tier=shown.model_tier or UNSET,
    )
