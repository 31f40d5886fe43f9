"""The workflow tools, exactly as S2 names them (W1–W76).

An execution answer is text first, with the JSON payload behind it (W76). What a definition or a token gets wrong is
data or a refusal, never a fault.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

import msgspec

from assent.engine import health, recollection, sessions
from assent.engine import workflow_store as stored
from assent.engine.recollection import Found
from assent.engine.workflow_answers import (
    Answer,
    Desk,
    IssueView,
    Spoken,
    WarningView,
    content_refusal,
    handle_of,
)
from assent.kernel.ids import RunId, WorkspaceId
from assent.kernel.refusals import Reason, Refusal, bad_argument
from assent.ports import StoreUnavailable, Transaction
from assent.tools.arguments import IdempotencyKey, PageSize
from assent.tools.definition import DECIDES, READS, WRITES, Call, Prose, Tool
from assent.workflow import Compiled, ContentRefused, Warning, preview
from assent.workflow.refusal_text import render_refusal
from assent.workflow_library import Invalid

SCOPE = "runs:write"
KEPT_PINS: Final = 1_024

_pins: dict[tuple[WorkspaceId, RunId], tuple[str, str]] = {}
"""What runs are pinned to, so that an advance need not ask: that never changes. For the event loop alone."""

WorkflowId = Annotated[str, msgspec.Meta(max_length=200, description="From workflow_list.")]
StateToken = Annotated[str, msgspec.Meta(description="As the last answer gave it, unchanged.")]
AckToken = Annotated[str, msgspec.Meta(description="As the same answer gave it, unchanged.")]
SessionId = Annotated[
    str,
    msgspec.Meta(
        min_length=1, max_length=200, description="The workstream: a ticket, a pull request, a chat."
    ),
]
Context = Annotated[
    dict[str, Any],
    msgspec.Meta(description="Facts for conditions and loops; null deletes a key. Not progress, not notes."),
]
Notes = Annotated[str, msgspec.Meta(description="What was done and found, in Markdown; kept for later.")]


class WorkflowList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No arguments."""


class WorkflowSummary(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    workflow_id: str
    name: str
    description: str
    version: str


class InvalidFile(msgspec.Struct, frozen=True):
    file: str
    issues: tuple[IssueView, ...]


class WorkflowListing(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    ok: bool
    workflows: tuple[WorkflowSummary, ...]
    invalid: tuple[InvalidFile, ...]


class WorkflowInspect(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    workflow_id: WorkflowId
    mode: Annotated[
        Literal["metadata", "preview"], msgspec.Meta(description="The facts, or the facts with a diagram.")
    ] = "preview"


class WorkflowDetails(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    ok: bool
    workflow_id: str
    workflow_hash: str
    metadata: dict[str, Any]
    diagram: str | None
    warnings: tuple[WarningView, ...]


class WorkflowStart(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    workflow_id: WorkflowId
    context: Context = {}
    session_id: SessionId | None = None
    idempotency_key: IdempotencyKey | None = None


class WorkflowAdvance(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    state_token: StateToken
    ack_token: AckToken | None = None
    context: Context | None = None
    notes_markdown: Notes | None = None
    output: (
        Annotated[dict[str, Any], msgspec.Meta(description="Structured output, where the step asks for it.")]
        | None
    ) = None


class WorkflowCheckpoint(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    state_token: StateToken
    notes_markdown: Annotated[str, msgspec.Meta(min_length=1, description="What to keep, in Markdown.")]


class WorkflowResume(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    session_id: SessionId | None = None
    workflow_id: WorkflowId | None = None
    query: (
        Annotated[str, msgspec.Meta(max_length=200, description="Words of the notes or the session.")] | None
    ) = None
    limit: PageSize = 10


class Resumed(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    ok: bool
    runs: tuple[Found, ...]
    resumed: Answer | None


async def list_workflows(call: Call, request: WorkflowList) -> WorkflowListing:
    shelf, refused = call.services.workflows().listing()
    broken = {each.file for each in refused}
    return WorkflowListing(
        ok=True,
        workflows=tuple(
            WorkflowSummary(
                workflow_id=each.id, name=each.name, description=each.description, version=each.version
            )
            for each in sorted(shelf.definitions.values(), key=lambda each: each.id)
            if shelf.files[each.id] not in broken
        ),
        invalid=tuple(_invalid(each) for each in (*shelf.invalid, *refused)),
    )


async def inspect_workflow(call: Call, request: WorkflowInspect) -> WorkflowDetails:
    compiled = _compiled(call, request.workflow_id)
    return WorkflowDetails(
        ok=True,
        workflow_id=compiled.program.id,
        workflow_hash=compiled.workflow_hash,
        metadata=preview.metadata(compiled.program, compiled.workflow_hash),
        diagram=preview.diagram(compiled.program) if request.mode == "preview" else None,
        warnings=tuple(WarningView(w.code, w.message, w.path) for w in compiled.warnings),
    )


async def start_workflow(call: Call, request: WorkflowStart) -> Prose:
    found = _found(call, request.workflow_id)
    if isinstance(found, Refusal) and request.idempotency_key is None:
        raise found
    desk = await _desk(call)
    run_id = RunId(call.services.new_id(call.now_ms))
    session_id = request.session_id or _ticket(request.context) or call.services.new_id(call.now_ms)
    # A generated session is not part of what a caller repeats.
    named = request.session_id or _ticket(request.context) or ""
    return _spoken(
        await _write(
            call,
            lambda: sessions.begin_run(
                desk,
                request.workflow_id,
                found,
                request.context,
                session_id,
                run_id,
                request.idempotency_key,
                named,
            ),
        )
    )


async def advance_workflow(call: Call, request: WorkflowAdvance) -> Prose:
    desk = await _desk(call)
    state = handle_of(desk.keys, request.state_token, "st")
    desk = await _with_drift(call, desk, state.run_id)
    if request.ack_token is None:
        if request.output is not None or request.notes_markdown is not None or request.context:
            raise bad_argument(
                "ackToken",
                "the ackToken of the step that this completes, or nothing but stateToken",
                "nothing",
            )
        return _spoken(await call.services.store.read(lambda: recollection.rehydrate(desk, state)))
    ack = handle_of(desk.keys, request.ack_token, "ack")
    return _spoken(
        await _write(
            call,
            lambda: sessions.step(desk, state, ack, request.context, request.notes_markdown, request.output),
        )
    )


async def checkpoint_workflow(call: Call, request: WorkflowCheckpoint) -> Prose:
    desk = await _desk(call)
    state = handle_of(desk.keys, request.state_token, "st")
    return _spoken(await _write(call, lambda: recollection.checkpoint(desk, state, request.notes_markdown)))


async def resume_workflow(call: Call, request: WorkflowResume) -> Prose:
    desk = await _desk(call)
    found = await call.services.store.read(
        lambda: recollection.find_runs(
            desk,
            session_id=request.session_id or "",
            workflow_id=request.workflow_id or "",
            query=request.query or "",
            most=request.limit,
        )
    )
    spoken = await _rehydrated(call, desk, found) if found else None
    said = (
        spoken.text
        if spoken is not None
        else "No earlier run was found. workflow_list shows what can be started."
    )
    if len(found) > 1:
        others = "\n".join(
            f"- {each.name} in session {each.session_id}: {each.state_token}" for each in found
        )
        said += f"\n\n## All that was found\n{others}"
    return Prose(Resumed(ok=True, runs=found, resumed=spoken.answer if spoken is not None else None), said)


async def _rehydrated(call: Call, desk: Desk, found: tuple[Found, ...]) -> Spoken:
    """Where the freshest run stands that is not complete."""
    open_first = next((each for each in found if not each.is_complete), found[0])
    state = handle_of(desk.keys, open_first.state_token, "st")
    told = await _with_drift(call, desk, state.run_id)
    return await call.services.store.read(lambda: recollection.rehydrate(told, state))


async def _write(call: Call, begin: Callable[[], Transaction[Any]]) -> Spoken:
    """Run a transaction whose refusal may have to be kept: an action that was staged stays staged."""
    try:
        done = await call.services.store.write(call.metered(begin))
    except ContentRefused as refused:
        raise content_refusal(refused) from refused
    if isinstance(done, Refusal):
        raise done
    spoken: Spoken = done
    return spoken


def _spoken(spoken: Spoken) -> Prose:
    return Prose(spoken.answer, spoken.text)


async def _desk(call: Call) -> Desk:
    try:
        keys = call.services.workflow_keys()
    except StoreUnavailable:
        # The first call of a process: its secrets are known once the store is open.
        await call.services.store.read(health.ping)
        keys = call.services.workflow_keys()
    return Desk(
        principal=call.caller,
        keys=keys,
        now_ms=call.now_ms,
        new_id=call.services.new_id,
        seals=call.services.seals(),
        review_url=call.review_url,
    )


async def _with_drift(call: Call, desk: Desk, run_id: RunId) -> Desk:
    """With the warning that the workflow's file has changed. Files are looked at here, not in the transaction."""
    key = (desk.workspace_id, run_id)
    pin = _pins.get(key) or await call.services.store.read(lambda: stored.find_pin(*key))
    if pin is None:
        return desk
    if key not in _pins:
        if len(_pins) >= KEPT_PINS:
            _pins.pop(next(iter(_pins)))
        _pins[key] = pin
    return msgspec.structs.replace(desk, drift=_drift(call, *pin))


def _drift(call: Call, workflow_id: str, pinned: str) -> tuple[Warning, ...]:
    """Whether the file is still what the run was pinned to (W55, W56)."""
    found = call.services.workflows().find_again(workflow_id)
    if isinstance(found, Compiled) and pinned in (found.workflow_hash, found.older_hash):
        return ()
    now = "has changed" if isinstance(found, Compiled) else "is gone or cannot be read"
    message = (
        f"The file of {workflow_id} {now} since this run started; the run goes on with what it was pinned to."
    )
    return (Warning("workflow_drifted", message, workflow_id),)


def _compiled(call: Call, workflow_id: str) -> Compiled:
    found = _found(call, workflow_id)
    if isinstance(found, Refusal):
        raise found
    return found


def _found(call: Call, workflow_id: str) -> Compiled | Refusal:
    found = call.services.workflows().find(workflow_id)
    if isinstance(found, Compiled):
        return found
    if found is None:
        known = call.services.workflows().shelf().definitions
        close = difflib.get_close_matches(workflow_id, known, n=1)
        suggestion = f" (did you mean {close[0]}?)" if close else ""
        return Refusal(
            Reason.WORKFLOW_NOT_FOUND, facts={"workflow": repr(workflow_id[:80]), "suggestion": suggestion}
        )
    issues = "; ".join(f"{issue.path}: {issue.message}" for issue in found.issues[:5])
    return bad_argument("workflowId", f"a workflow without mistakes ({found.file}: {issues})", workflow_id)


def _ticket(context: dict[str, Any]) -> str | None:
    ticket = context.get("ticketId")
    if type(ticket) is int:
        # Issues and pull requests have numbers.
        ticket = str(ticket)
    return ticket if isinstance(ticket, str) and ticket.strip() and len(ticket) <= 200 else None


def _invalid(invalid: Invalid) -> InvalidFile:
    return InvalidFile(invalid.file, tuple(IssueView(i.path, i.code, i.message) for i in invalid.issues))


TOOLS = (
    Tool(
        name="workflow_list",
        title="List workflows",
        description="Lists the workflows that can be followed here. USE WHEN the user wants a task done step by "
        "step, "
        "or asks which workflows there are.",
        category="workflow",
        behaviour=READS,
        request=WorkflowList,
        reply=WorkflowListing,
        handler=list_workflows,
    ),
    Tool(
        name="workflow_inspect",
        title="Look at a workflow",
        description="Shows what a workflow is for and, as a preview, its steps as a diagram. Starts nothing.",
        category="workflow",
        behaviour=READS,
        request=WorkflowInspect,
        reply=WorkflowDetails,
        handler=inspect_workflow,
    ),
    Tool(
        name="workflow_start",
        title="Start a workflow",
        description="Starts a run of a workflow and gives the first step with its tokens. USE WHEN the user wants to "
        "follow one. Do what pending.prompt says, then call workflow_advance with both tokens.",
        category="workflow",
        behaviour=WRITES,
        request=WorkflowStart,
        reply=Answer,
        handler=start_workflow,
        tell_refusal=render_refusal,
        scope=SCOPE,
    ),
    Tool(
        name="workflow_advance",
        title="Complete a step",
        description="Completes the pending step and gives the next one. Send stateToken and ackToken of the same "
        "answer "
        "unchanged, with notesMarkdown on what was done. The same call again gives the same answer; other content "
        "from "
        "an older token makes a branch. With stateToken alone it says where the run stands and changes nothing. A "
        "step "
        "that a person must confirm answers requires_approval until they decided.",
        category="workflow",
        behaviour=DECIDES,
        request=WorkflowAdvance,
        reply=Answer,
        handler=advance_workflow,
        tell_refusal=render_refusal,
        scope=SCOPE,
    ),
    Tool(
        name="workflow_checkpoint",
        title="Keep notes",
        description="Keeps notes on the current step without completing it. USE WHEN substantial work happens "
        "between "
        "steps: a rewound chat forgets it otherwise.",
        category="workflow",
        behaviour=DECIDES,
        request=WorkflowCheckpoint,
        reply=Answer,
        handler=checkpoint_workflow,
        tell_refusal=render_refusal,
        scope=SCOPE,
    ),
    Tool(
        name="workflow_resume",
        title="Find a run again",
        description="Finds earlier runs by session, workflow or words, and says where the freshest one stands. USE "
        "WHEN "
        "tokens are lost or the user comes back to something.",
        category="workflow",
        behaviour=READS,
        request=WorkflowResume,
        reply=Resumed,
        handler=resume_workflow,
        tell_refusal=render_refusal,
    ),
)
