"""The workflow tools, named exactly as in S2.

An execution answer is text first, with the JSON payload behind it (W76). Errors in a definition or
a token are data or a refusal, never an exception.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from functools import partial
from pathlib import PurePath
from typing import Annotated, Any, Final, Literal

import msgspec

from assent.engine.actions import circumstances
from assent.engine.definitions.library import Invalid
from assent.engine.workflows import run_search, sessions
from assent.engine.workflows import store as stored
from assent.engine.workflows.answers import (
    ADVANCE,
    IssueView,
    WarningView,
    WorkflowAnswer,
    WorkflowCall,
    WorkflowReply,
    translate_refusal,
)
from assent.engine.workflows.run_search import FoundRun
from assent.gate.effects import EffectTypes
from assent.gate.records import WORKFLOW, Action, Status, is_rewritten, name_of
from assent.gate.views import Severity
from assent.kernel.guide import SuggestedCall, make_guide
from assent.kernel.ids import ActionId, RunId, WorkspaceId
from assent.kernel.refusals import Problem, Reason, Recovery, Refusal, bad_argument
from assent.kernel.structs import Arguments, Record, WireRecord
from assent.kernel.toolsets import Toolset
from assent.ports import Begin
from assent.present.calls import wait_call
from assent.present.cards import quote
from assent.present.next_steps import EDIT, Circumstances, ask, next_calls
from assent.present.workflow_step import OTHER_CONTENT
from assent.tools.arguments import IdempotencyKey, PageSize, ReasonArgument
from assent.tools.definition import DECIDES, READS, TOOLSET_OF, WRITES, Call, Prose, Tool
from assent.workflow import Compiled, ContentRefused, Definition
from assent.workflow.definition import preview
from assent.workflow.machine.history import first_line
from assent.workflow.program import PLAN_RUN
from assent.workflow.text import render_refusal
from assent.workflow.tokens import TokenClaims, read

WorkflowId = Annotated[str, msgspec.Meta(max_length=200, description="From workflow_list.")]
Category = Literal["workflow", "routine", "example"]

DESCRIPTION_CHARS: Final = 140
SUGGESTIONS: Final = 3
_PARTS: Final = re.compile(r"[^a-z0-9]+")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s")
_EXAMPLES: Final = frozenset({"example", "examples", "sample", "demo"})
_OF_TESTS: Final = ("test workflow", "for testing")


class WorkflowList(Arguments, kw_only=True):
    query: Annotated[str, msgspec.Meta(max_length=200, description="What the user wants done.")] | None = None
    category: Annotated[
        Literal["workflow", "routine", "example", "all"],
        msgspec.Meta(description="routine: parts of workflows. example: examples and tests."),
    ] = "workflow"
    limit: PageSize = 30


class WorkflowSummary(WireRecord, kw_only=True):
    workflow_id: str
    name: str
    description: str


class InvalidFile(Record):
    file: str
    issues: tuple[IssueView, ...]


class WorkflowListing(WireRecord, kw_only=True, omit_defaults=True):
    ok: bool
    workflows: tuple[WorkflowSummary, ...]
    invalid: tuple[InvalidFile, ...]
    left_out: dict[str, int] = {}
    """How many more there are, by category; `more` counts those beyond the limit."""
    note: str = ""


class WorkflowInspect(Arguments, kw_only=True):
    workflow_id: WorkflowId
    mode: Annotated[
        Literal["metadata", "preview"], msgspec.Meta(description="The facts, or the facts with a diagram.")
    ] = "preview"


class WorkflowDetails(WireRecord, kw_only=True):
    ok: bool
    workflow_id: str
    workflow_hash: str
    metadata: dict[str, Any]
    diagram: str | None
    warnings: tuple[WarningView, ...]


OURS: Final = "assent."
NONE_OWN: Final = "These come with this server; the user has added none of their own."


async def list_workflows(call: Call, request: WorkflowList) -> WorkflowListing:
    catalogue, refused = call.services.workflows().list_definitions()
    broken = {each.file for each in refused}
    served = [
        each
        for each in sorted(catalogue.definitions.values(), key=lambda each: each.id)
        if catalogue.files[each.id] not in broken
    ]
    wanted = [each for each in served if request.category in ("all", categorize(each))]
    left_out: Counter[str] = Counter(categorize(each) for each in served if each not in wanted)
    note = ""
    if request.query is not None and request.query.strip():
        # A query searches all usable workflows; examples only on request.
        asked = (
            wanted if request.category != "workflow" else [e for e in served if categorize(e) != "example"]
        )
        if fitting := rank(asked, request.query):
            wanted, left_out = fitting, Counter()
        else:
            note = "Nothing fits the query; these are all."
    if all(each.id.startswith(OURS) for each in served):
        note = f"{note} {NONE_OWN}".strip()
    if more := len(wanted[request.limit :]):
        left_out["more"] = more
    return WorkflowListing(
        ok=True,
        workflows=tuple(
            WorkflowSummary(workflow_id=each.id, name=each.name, description=_short(each.description))
            for each in wanted[: request.limit]
        ),
        # The answer to a query does not mention broken files.
        invalid=() if request.query else tuple(_invalid(each) for each in (*catalogue.invalid, *refused)),
        left_out=dict(left_out),
        note=note,
    )


def categorize(definition: Definition) -> Category:
    """Return whether it is a workflow to follow, a part of others, or an example or test."""
    parts = _PARTS.split(definition.id.lower())
    about = definition.description.lower()
    if _EXAMPLES & set(parts) or (parts[0] == "test" and any(words in about for words in _OF_TESTS)):
        return "example"
    return "routine" if "routine" in parts else "workflow"


def rank(definitions: list[Definition], query: str) -> list[Definition]:
    """Return the workflows that match a query, best first. Name and id count double."""
    words = {word for word in _PARTS.split(query.casefold()) if len(word) > 2} or {query.casefold().strip()}

    def fit(definition: Definition) -> int:
        named, about = f"{definition.id} {definition.name}".casefold(), definition.description.casefold()
        return sum(2 * (word in named) + (word in about) for word in words)

    ranked = sorted(
        ((fit(each), each.id, each) for each in definitions), key=lambda each: (-each[0], each[1])
    )
    least = ranked[0][0] / 3 if ranked else 0
    return [each for score, _, each in ranked if score and score >= least]


def _short(description: str) -> str:
    return first_line(_SENTENCE_END.split(description.strip(), maxsplit=1)[0], DESCRIPTION_CHARS)


def _invalid(invalid: Invalid) -> InvalidFile:
    issues = tuple(IssueView(i.path, i.code, i.message) for i in invalid.issues)
    return InvalidFile(PurePath(invalid.file).name, issues)


async def inspect_workflow(call: Call, request: WorkflowInspect) -> WorkflowDetails:
    compiled = find_definition(call, request.workflow_id)
    if isinstance(compiled, Refusal):
        raise compiled
    return WorkflowDetails(
        ok=True,
        workflow_id=compiled.program.id,
        workflow_hash=compiled.workflow_hash,
        metadata=preview.metadata(compiled.program, compiled.workflow_hash),
        diagram=preview.diagram(compiled.program) if request.mode == "preview" else None,
        warnings=tuple(WarningView(w.code, w.message, w.path) for w in compiled.warnings),
    )


def find_definition(call: Call, workflow_id: str) -> Compiled | Refusal:
    """Return a workflow by id or alias; else the refusal, with similar names."""
    found = call.services.workflows().find(workflow_id)
    if isinstance(found, Compiled):
        return found
    if found is None:
        near = _near(workflow_id, list(call.services.workflows().catalogue().definitions.values()))
        suggestion = f" (did you mean {' or '.join(near)}?)" if near else ""
        return Refusal(
            Reason.WORKFLOW_NOT_FOUND,
            facts={"workflow": repr(workflow_id[:80]), "suggestion": suggestion},
            recovery_tool="workflow_list",
            recovery_args={"query": " ".join(_PARTS.split(workflow_id[:200].lower())).strip()},
        )
    first = found.issues[0]
    counted = f" ({len(found.issues)} mistakes in all)" if len(found.issues) > 1 else ""
    mistakes = f"{first.path}: {first.message.rstrip('.')}{counted}"
    return Refusal(
        Reason.WORKFLOW_INVALID,
        facts={"workflow": workflow_id, "file": PurePath(found.file).name, "mistakes": mistakes},
        problems=[Problem(issue.path, issue.message, issue.code) for issue in found.issues],
    )


def _near(workflow_id: str, definitions: list[Definition]) -> list[str]:
    """Return ids with a similar spelling, whole or after their last dot."""
    tails = {each.id.rpartition(".")[2]: each.id for each in definitions}
    known = tails | {each.id: each.id for each in definitions}
    close = difflib.get_close_matches(workflow_id, known, n=2 * SUGGESTIONS)
    return list(dict.fromkeys(known[name] for name in close))[:SUGGESTIONS]


SCOPE: Final = "runs:write"
KEPT_PINS: Final = 1_024

_pins: dict[tuple[WorkspaceId, RunId], tuple[str, str]] = {}
"""The pinned version of runs, cached because it never changes. Used on the event loop only."""

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


class WorkflowStart(Arguments, kw_only=True):
    workflow_id: WorkflowId
    context: Context = {}
    session_id: SessionId | None = None
    idempotency_key: IdempotencyKey | None = None


class WorkflowAdvance(Arguments, kw_only=True):
    state_token: StateToken
    ack_token: AckToken | None = None
    context: Context | None = None
    notes_markdown: Notes | None = None
    output: (
        Annotated[dict[str, Any], msgspec.Meta(description="Structured output, where the step asks for it.")]
        | None
    ) = None
    reason: ReasonArgument | None = None


class WorkflowCheckpoint(Arguments, kw_only=True):
    state_token: StateToken
    notes_markdown: Annotated[str, msgspec.Meta(min_length=1, description="What to keep, in Markdown.")]


class WorkflowResume(Arguments, kw_only=True):
    session_id: SessionId | None = None
    workflow_id: WorkflowId | None = None
    query: (
        Annotated[str, msgspec.Meta(max_length=200, description="Any words of notes, titles or session.")]
        | None
    ) = None
    limit: PageSize = 10


class Resumed(WireRecord, kw_only=True):
    ok: bool
    runs: tuple[FoundRun, ...]
    resumed: WorkflowAnswer | None
    latest: tuple[FoundRun, ...] | msgspec.UnsetType = msgspec.UNSET
    """The newest runs of the workspace, if none matches."""


async def start_workflow(call: Call, request: WorkflowStart) -> Prose:
    found = find_definition(call, request.workflow_id)
    if isinstance(found, Refusal) and request.idempotency_key is None:
        raise found
    workflow_call = await _open_call(call)
    run_id = RunId(call.services.new_id(call.now_ms))
    # A generated session is not part of a repeated call.
    named = request.session_id or _read_ticket(request.context) or ""
    session_id = named or call.services.new_id(call.now_ms)
    return await _write(
        call,
        lambda: sessions.begin_run(
            workflow_call,
            request.workflow_id,
            found,
            request.context,
            session_id,
            run_id,
            request.idempotency_key,
            named,
        ),
    )


async def advance_workflow(call: Call, request: WorkflowAdvance) -> Prose:
    """Advance with both tokens, rehydrate with the state token alone, without content (W21)."""
    workflow_call, state, ack = await _open_run(call, request.state_token, request.ack_token)
    workflow_call = msgspec.structs.replace(workflow_call, reason=request.reason or "")
    if ack is None:
        if request.output is not None or request.notes_markdown is not None or request.context:
            raise bad_argument(
                "ackToken",
                "the ackToken of the step that this completes, or nothing but stateToken",
                "nothing",
            )
        found = await call.services.store.read(lambda: run_search.rehydrate(workflow_call, state))
        return Prose(found.answer, found.text)
    try:
        return await _write(
            call,
            lambda: sessions.step(
                workflow_call, state, ack, request.context, request.notes_markdown, request.output
            ),
        )
    except Refusal as refusal:
        sent = {name: value for name, value in msgspec.to_builtins(request).items() if value is not None}
        raise (await with_gate(call, sent, refusal)) from None


async def checkpoint_workflow(call: Call, request: WorkflowCheckpoint) -> Prose:
    workflow_call = await _open_call(call)
    state = read(workflow_call.keys, request.state_token, "st")
    return await _write(call, lambda: run_search.checkpoint(workflow_call, state, request.notes_markdown))


async def resume_workflow(call: Call, request: WorkflowResume) -> Prose:
    workflow_call = await _open_call(call)
    store = call.services.store
    workflow_id = call.services.workflows().resolve(request.workflow_id) if request.workflow_id else ""
    found = await store.read(
        lambda: run_search.find_runs(
            workflow_call,
            session_id=request.session_id or "",
            workflow_id=workflow_id,
            query=request.query or "",
            most=request.limit,
        )
    )
    if not found:
        latest = await store.read(lambda: run_search.latest_runs(workflow_call))
        return Prose(Resumed(ok=True, runs=(), resumed=None, latest=latest), run_search.write_latest(latest))
    best = _choose(found)
    resumed, state, _ = await _open_run(call, best.state_token)
    reply = await store.read(lambda: run_search.rehydrate(resumed, state, lost=True))
    words = len(run_search.split_query(request.query or ""))
    said = run_search.write_found(reply.text, best, found, words)
    return Prose(Resumed(ok=True, runs=found, resumed=reply.answer), said)


def _choose(found: tuple[FoundRun, ...]) -> FoundRun:
    """Choose the run to resume: of the best matches the newest one that is not complete."""
    fitting = [each for each in found if each.words_found == found[0].words_found]
    return next((each for each in fitting if not each.is_complete), fitting[0])


async def _write(call: Call, begin: Begin[WorkflowReply | Refusal]) -> Prose:
    """Run a transaction whose refusal may be committed: a staged action stays staged."""
    try:
        done = await call.services.store.write(call.metered(begin))
    except ContentRefused as refused:
        raise translate_refusal(refused) from refused
    if isinstance(done, Refusal):
        raise done
    return Prose(done.answer, done.text)


async def _open_call(call: Call) -> WorkflowCall:
    # Tokens are checked with keys that match the store.
    await call.services.store.open()
    keys = call.services.keys
    return WorkflowCall(
        workspace_id=call.caller.workspace_id,
        principal=call.caller,
        keys=keys.workflow_tokens,
        now_ms=call.now_ms,
        new_id=call.services.new_id,
        seals=keys.seals,
        grade_tool=partial(grade_tool, call.services.effects),
    )


async def _open_run(
    call: Call, state_token: str, ack_token: str | None = None
) -> tuple[WorkflowCall, TokenClaims, TokenClaims | None]:
    """Read the tokens of a run. Returns them, and the call with a warning if the workflow's file
    has changed: files are read here, outside the transaction."""
    workflow_call = await _open_call(call)
    state = read(workflow_call.keys, state_token, "st")
    ack = read(workflow_call.keys, ack_token, "ack") if ack_token is not None else None
    key = (workflow_call.workspace_id, state.run_id)
    pin = _pins.get(key) or await call.services.store.read(lambda: stored.find_pin(*key))
    if pin is None:
        return workflow_call, state, ack
    if key not in _pins:
        if len(_pins) >= KEPT_PINS:
            _pins.pop(next(iter(_pins)))
        _pins[key] = pin
    drift = call.services.workflows().find_drift(*pin)
    return msgspec.structs.replace(workflow_call, drift=drift), state, ack


def _read_ticket(context: dict[str, Any]) -> str | None:
    ticket = context.get("ticketId")
    if type(ticket) is int:
        # Issues and pull requests have numbers.
        ticket = str(ticket)
    return ticket if isinstance(ticket, str) and ticket.strip() and len(ticket) <= 200 else None


TOOLS = (
    Tool(
        name="workflow_list",
        title="List workflows",
        description="Lists the workflows that can be followed here, the best fitting first where query says what is "
        "wanted. USE WHEN the user wants a task done step by step, or asks which workflows or procedures there are.",
        behaviour=READS,
        request=WorkflowList,
        reply=WorkflowListing,
        handler=list_workflows,
    ),
    Tool(
        name="workflow_inspect",
        title="Look at a workflow",
        description="Shows what a workflow is for and, as a preview, its steps as a diagram. Starts nothing. USE "
        "WHEN you choose between workflows, or the user wants to see the steps before a start.",
        behaviour=READS,
        request=WorkflowInspect,
        reply=WorkflowDetails,
        handler=inspect_workflow,
    ),
    Tool(
        name="workflow_start",
        title="Start a workflow",
        description="Starts a run of a workflow and gives the first step with its tokens. USE WHEN the user wants to "
        "start, follow or go through one, step by step. Do what pending.prompt says, then call workflow_advance with "
        "both tokens.",
        behaviour=WRITES,
        request=WorkflowStart,
        reply=WorkflowAnswer,
        handler=start_workflow,
        tell_refusal=render_refusal,
        scope=SCOPE,
    ),
    Tool(
        name="workflow_advance",
        title="Complete a step",
        description="Completes the pending step and gives the next one. USE WHEN the step is done. Send stateToken "
        "and ackToken of the same answer unchanged, with notesMarkdown on what was done. The same call again gives "
        "the same answer; other content from an older token makes a branch: so one goes back to a step. With "
        "stateToken alone it says where the run stands. A step that a person must confirm answers requires_approval "
        "until they decided.",
        behaviour=DECIDES,
        request=WorkflowAdvance,
        reply=WorkflowAnswer,
        handler=advance_workflow,
        tell_refusal=render_refusal,
        scope=SCOPE,
    ),
    Tool(
        name="workflow_checkpoint",
        title="Keep notes",
        description="Keeps notes on the current step without completing it. USE WHEN substantial work happens between "
        "steps: a rewound chat forgets it otherwise.",
        behaviour=DECIDES,
        request=WorkflowCheckpoint,
        reply=WorkflowAnswer,
        handler=checkpoint_workflow,
        tell_refusal=render_refusal,
        scope=SCOPE,
    ),
    Tool(
        name="workflow_resume",
        title="Find a run again",
        description="Finds earlier runs by session, workflow or words, and says where the freshest one stands, what "
        "other branches or attempts of it found, and the tokens of its steps. USE WHEN tokens are lost, or the user "
        "wants to continue a procedure where they left off, go back to an earlier step, or know what was found.",
        behaviour=READS,
        request=WorkflowResume,
        reply=Resumed,
        handler=resume_workflow,
        tell_refusal=render_refusal,
    ),
)


# Completes the refusal of an advance that waits for a person: text for the person, and the next calls (W40).
#
# The calls are complete: the approval of exactly this content, and the refused call as it was sent.

MOST_REPEATED_CHARS: Final = 8_000
"""The longest refused call that is repeated in the answer."""
RISKS: Final[dict[Toolset, Severity]] = {
    "workflows": Severity.LOW,
    "memory": Severity.LOW,
    "admin": Severity.LOW,
    "launch": Severity.MEDIUM,
}
"""The worst risk of what the tools of a set stage."""
AS_SENT: Final = "exactly as in the call that was refused"


def grade_tool(effects: EffectTypes, name: str) -> Severity:
    """Return the worst risk of a call that a step makes after its approval: that of the types which the
    tool prepares or executes, else that of its tool set; high for a tool that is not known."""
    return effects.grade_tool(name) or RISKS.get(TOOLSET_OF.get(name, "legacy"), Severity.HIGH)


async def with_gate(call: Call, sent: dict[str, Any], refusal: Refusal) -> Refusal:
    """Complete a refusal that waits for a person. `sent` are the call's arguments."""
    action_id = refusal.action_id
    if refusal.reason is not Reason.REQUIRES_APPROVAL or action_id is None:
        return refusal
    action, outlook = await circumstances.read_action(call.services, call.caller, ActionId(action_id))
    if action.effect.connector != WORKFLOW:
        return _with_plan(call, sent, refusal, action)
    # An approval that is not enough leaves the step waiting, so the policy says who decides.
    around = outlook.describe(msgspec.structs.replace(action, status=Status.AWAITING_APPROVAL))
    recovery = refusal.recovery()
    how = _ways_to_decide(recovery, action, around)
    shown = {name_of(action): render_step(action, around)}
    return Refusal.from_answer(
        msgspec.structs.replace(
            recovery,
            **how,
            review_url=call.review_url(action.run_id),
            agent_guide=make_guide(shown, _next(action, around, sent)),
        )
    )


def _with_plan(call: Call, sent: dict[str, Any], refusal: Refusal, first: Action) -> Refusal:
    """Complete the refusal of a step that needs a plan: with the calls that show what waits of it, and go on."""
    page = call.review_url(first.run_id)
    waits = first.status is Status.AWAITING_APPROVAL and not first.is_expired(call.now_ms)
    if not waits and first.status is not Status.APPROVED:
        tokens = {name: sent[name] for name in _TOKENS}
        calls = [
            SuggestedCall(ADVANCE, tokens, "with other actions", {"context": f"{PLAN_RUN}: their runId"})
        ]
    else:
        show = SuggestedCall(
            "chieflab_list_pending_actions", {"runId": first.run_id}, "now: shows each action that waits"
        )
        calls = [show, _repeat(sent, "once each of them is decided")]
    recovery = msgspec.structs.replace(refusal.recovery(), review_url=page, agent_guide=make_guide({}, calls))
    return Refusal.from_answer(recovery)


def _ways_to_decide(recovery: Recovery, action: Action, around: Circumstances) -> dict[str, str]:
    """Return the texts of a pending step, with where this caller's person can decide it."""
    if action.status is not Status.AWAITING_APPROVAL or is_rewritten(action):
        return {}
    if around.may_decide:
        return {"user_message": f"{recovery.user_message} Approve it in the chat, or open the review link."}
    said = f"{recovery.user_message} {around.decider_note}"
    return {"user_message": said, "fix_action_for_agent": _DECIDED_ELSEWHERE}


_DECIDED_ELSEWHERE: Final = (
    "STOP. Show what was submitted and give the user the review link (reviewUrl): this chat cannot approve it. After "
    "the person approved, make the same advance call again, exactly as it was sent."
)


def render_step(action: Action, around: Circumstances) -> str:
    """Return the text for the person: the question of the workflow, the quoted submission of the step, and the
    answers to give."""
    content = action.effect.body.removeprefix(action.effect.title).lstrip("\n")
    question = str(action.effect.details.get("question", ""))
    parts = [question, quote(content), ask(action, around) or ""]
    return "\n\n".join(part for part in parts if part)


def _next(action: Action, around: Circumstances, sent: dict[str, Any]) -> list[SuggestedCall]:
    if action.status is Status.REJECTED or is_rewritten(action):
        when = "with other content, as the person wants it; that needs a new approval"
        return [SuggestedCall(ADVANCE, {name: sent[name] for name in _TOKENS}, when, OTHER_CONTENT)]
    calls = [wait_call(action)]
    if action.status is Status.AWAITING_APPROVAL:
        # The agent changes a step by submitting it again.
        calls = [each for each in next_calls(action, around) if each.name != EDIT]
    return [*calls, _repeat(sent, "once it is approved")]


_TOKENS: Final = ("stateToken", "ackToken")


def _repeat(sent: dict[str, Any], once: str) -> SuggestedCall:
    """Return the refused call; without what makes it too long to repeat."""
    again = f"{once}: the refused call again, exactly as it was sent"
    if len(msgspec.json.encode(sent)) <= MOST_REPEATED_CHARS:
        return SuggestedCall(ADVANCE, sent, again)
    left = {name: AS_SENT for name in sent if name not in _TOKENS}
    return SuggestedCall(ADVANCE, {name: sent[name] for name in _TOKENS}, again, left)
