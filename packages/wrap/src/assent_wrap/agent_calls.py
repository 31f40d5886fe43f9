"""Calls of tools that an agent runs itself: their effects, the type of all of them, and their connector.

The agent proposes a call; after the approval the server hands it out once, and the agent runs it. What a
person approves is the call, every argument and where it runs. The connector performs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import partial
from typing import Annotated, Any, Final, Literal

import msgspec

from assent import Context, Effect, Facts, NotSent, OutcomeUnknown, View
from assent.platform import (
    Delivered,
    Delivery,
    EffectType,
    Field,
    NoLookUp,
    Preview,
    Problem,
    Readiness,
    Scene,
    action_of,
    hand_out,
    render_labelled,
    report_outcome,
)
from assent.sdk import (
    DECIDES,
    FIRES,
    MAX_CONTENT_CHARS,
    MINUTE_MS,
    WRITES,
    Action,
    ActionId,
    ActionIdArgument,
    Arguments,
    Call,
    ExecutionState,
    IdempotencyKey,
    Preparation,
    PreparedRun,
    Reason,
    ReasonArgument,
    Record,
    Refusal,
    Request,
    Severity,
    StagedEffect,
    Status,
    Tool,
    Transaction,
    WireRecord,
    WorkspaceId,
    bad_argument,
    digest,
    iso_time,
    prepare_run,
    read_action,
    require_action_id,
)
from assent_wrap.effects import find_bad_names
from assent_wrap.repository import Proposed, find_proposed, keep_proposed

AGENT: Final = "agent"
"""The connector of calls that an agent runs."""
CLAIM: Final = "chieflab_claim_call"
RUN_SECONDS: Final = 15 * MINUTE_MS / 1000
"""How long an agent may run a call before its outcome counts as unknown. A later report still counts."""
LONG_CHARS: Final = 200

SOURCES: Final = {"claude-code": "Claude Code", "langgraph": "LangGraph", "pydantic-ai": "Pydantic AI"}
"""Names of known agents for people."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_VERB_CHARS: Final = 80
_KINDS: Final = {str: "string", bool: "boolean", int: "integer", float: "number"}


class AgentCall(WireRecord, kw_only=True):
    """A call that an agent wants to run: its source, its tool, and where it would run."""

    source: str
    tool: str
    context: dict[str, str] = {}
    risk: Severity = Severity.HIGH


def make_effect(call: AgentCall, arguments: dict[str, Any]) -> Effect:
    """Return the effect of a call. The call is part of the approved content."""
    given = Effect(
        channel=call.source,
        verb=_UNSAFE.sub("_", call.tool)[:_VERB_CHARS],
        connector=AGENT,
        body="",
        details=msgspec.to_builtins(call),
        arguments=arguments,
    )
    return _normalise(given, given)


def read_call(effect: Effect) -> AgentCall:
    return msgspec.convert(effect.details, AgentCall)


def name_source(source: str) -> str:
    """Return the name of an agent for people."""
    return SOURCES.get(source) or source.replace("-", " ").capitalize()


def find_problems(effect: Effect) -> list[Problem]:
    """Return the problems of a call that a person could not read whole."""
    found = find_bad_names(effect.arguments)
    if len(effect.body) > MAX_CONTENT_CHARS:
        most = f"arguments that a person can read: at most {MAX_CONTENT_CHARS} characters together"
        found.append(Problem("arguments", most, f"{len(effect.body)} characters"))
    try:
        digest(effect.arguments)
    except ValueError as error:
        found.append(
            Problem(
                "arguments", "values that JSON keeps exactly; write a long number as text", str(error)[:80]
            )
        )
    return found


def _normalise(before: Effect, after: Effect) -> Effect:
    return msgspec.structs.replace(after, body=render_labelled(after.arguments.items()))


def _list_fields(effect: Effect) -> tuple[Field, ...]:
    """Return a field for each argument, by which a person edits it."""
    return tuple(
        Field(
            name=f"arguments.{name}",
            label=name,
            many=not isinstance(value, bool | int | float)
            and (len(str(value)) > LONG_CHARS or "\n" in str(value)),
            required=value != "",
        )
        for name, value in effect.arguments.items()
    )


def _make_schema(effect: Effect) -> dict[str, Any]:
    """Return a schema that keeps each argument and the kind of its value."""
    kinds = {name: _KINDS.get(type(value)) for name, value in effect.arguments.items()}
    properties = {name: {"type": kind} if kind is not None else {} for name, kind in kinds.items()}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _describe(view: View, effect: Effect, scene: Scene) -> View:
    call = read_call(effect)
    label = name_source(call.source)
    rows = tuple((f"The agent says: {label}", text) for label, text in call.context.items())
    return msgspec.structs.replace(
        view,
        label=label,
        noun=f"{label} call",
        title=f"{label} wants to run {call.tool}",
        sentence=f"Lets {label} run “{call.tool}” once, with exactly these arguments. It runs where the agent "
        "runs, not on this server.",
        destination=f"{label}: {call.tool}",
        outcome=f"Done: {call.tool}.",
        via=label,
        look_at=f"where {label} runs",
        preview=Preview("arguments"),
        blocks=(Facts(rows),) if rows else (),
    )


def _explain_risk(effect: Effect) -> str:
    if read_call(effect).risk is Severity.HIGH:
        return "The agent runs it with the rights it has there, and it may be impossible to undo."
    return "The settings of this server give less risk to a tool that the agent calls by this name."


FAMILY: Final = EffectType(
    channel=AGENT,
    verb="call",
    done="Ran",
    executor_tool=CLAIM,
    executes="agent",
    via=(AGENT,),
    risk=lambda effect: read_call(effect).risk,
    why=_explain_risk,
    describe=_describe,
    fields=_list_fields,
    schema=_make_schema,
    normalise=_normalise,
    check=find_problems,
    schedulable=False,
    teaches=False,
    trusted=True,
)


class RiskRule(Record):
    """The risk of the tools of a source whose names match a pattern."""

    source: str
    pattern: str
    risk: Severity


def read_rules(entries: Iterable[str]) -> tuple[RiskRule, ...]:
    """Read entries such as `claude-code:Write=medium`, which the settings have validated."""
    split = (entry.rpartition("=") for entry in entries)
    named = ((left.partition(":"), Severity(risk)) for left, _, risk in split)
    return tuple(RiskRule(source, pattern, risk) for (source, _, pattern), risk in named)


class AgentConnector(NoLookUp):
    """Stands for the agent. It grades calls by the server's settings and never performs one."""

    id = AGENT
    delivery = Delivery("none")
    always_ready = True
    timeout_seconds = RUN_SECONDS
    no_look_up = "only the agent that ran it can say"

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._rules = read_rules(settings["agent_risks"])

    def grade(self, source: str, tool: str, key: str) -> Severity:
        """Return the risk of a tool: that of the first rule that matches, else high. Source and tool are the agent's
        word; a rule for `source@label` holds only for keys with this label."""
        sources = (source, f"{source}@{key}")
        found = (
            each.risk for each in self._rules if each.source in sources and fnmatchcase(tool, each.pattern)
        )
        return next(found, Severity.HIGH)

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return Readiness(ready=True)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action_of(ctx, effect)
        raise NotSent("the agent that proposed it runs it", retry=True, reason=Reason.PROVIDER_NOT_LIVE)


# The tools: propose a call, claim it, report it. To wait for the decision, an agent calls `chieflab_get_action` with
# `waitSeconds`.

PROPOSE: Final = "chieflab_propose_call"
REPORT: Final = "chieflab_report_call"
OWN_CALL: Final = "agentCall"
"""Metadata key: the caller that proposed the call, and the digest of the arguments it proposed."""

Source = Annotated[
    str,
    msgspec.Meta(
        pattern="^[a-z][a-z0-9-]{0,39}$", description="What runs the tool, such as claude-code or langgraph."
    ),
]
ToolName = Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="The tool's name there.")]
Line = Annotated[str, msgspec.Meta(max_length=1_000)]


class ProposeCall(Arguments, kw_only=True):
    source: Source
    tool_name: ToolName
    arguments: Annotated[
        dict[str, Any], msgspec.Meta(description="The arguments of the call, exactly as it would run.")
    ] = {}
    context: Annotated[
        dict[str, Line],
        msgspec.Meta(max_length=8, description="Where it would run, for the person: labels and values."),
    ] = {}
    reason: ReasonArgument | None = None
    idempotency_key: IdempotencyKey | None = None


class ProposeReply(WireRecord, kw_only=True):
    ok: bool
    action_id: str
    run_id: str
    status: str
    execution_state: str
    digest: str
    review_url: str
    joined: bool
    """Whether the same call was proposed before."""
    user_message: str


class ClaimCall(Arguments, kw_only=True):
    action_id: ActionIdArgument


class ClaimReply(WireRecord, kw_only=True):
    """The approved call. It is handed out once."""

    ok: bool
    action_id: str
    claim_id: str
    source: str
    tool_name: str
    arguments: dict[str, Any]
    edited: bool
    """Whether the arguments differ from those that were proposed."""
    report_until: str
    user_message: str


class ReportCall(Arguments, kw_only=True):
    action_id: ActionIdArgument
    claim_id: Annotated[str, msgspec.Meta(max_length=100, description="The claimId of the claim.")]
    outcome: Annotated[
        Literal["executed", "failed", "unknown"],
        msgspec.Meta(description="failed: it certainly did not happen. unknown: it may have happened."),
    ]
    output: Annotated[Any, msgspec.Meta(description="What the tool returned, as JSON.")] = None
    detail: Annotated[str, msgspec.Meta(max_length=2_000, description="Why it failed or is unknown.")] = ""


class OutcomeReply(WireRecord, kw_only=True):
    ok: bool
    action_id: str
    status: str
    execution_state: str
    user_message: str


async def propose_call(call: Call, request: ProposeCall) -> ProposeReply:
    """Stage a call, or join the open action of the same call. With an idempotency key of the caller it is
    an action of its own, and the same key finds it again."""
    connector = call.services.connectors.get(AGENT)
    if not isinstance(connector, AgentConnector):
        raise Refusal(Reason.PROVIDER_NOT_LIVE, facts={"connector": AGENT})
    _refuse_unreadable(request)
    wanted = AgentCall(
        source=request.source,
        tool=request.tool_name,
        context=request.context,
        risk=connector.grade(request.source, request.tool_name, call.caller.label),
    )
    effect = make_effect(wanted, request.arguments)
    if problems := find_problems(effect):
        raise Refusal(Reason.VALIDATION_ERROR, problems=problems)
    asked = {
        "source": wanted.source,
        "toolName": wanted.tool,
        "arguments": request.arguments,
        "context": wanted.context,
    }
    same = digest([call.caller.holder, asked])
    known, action = (None, None) if request.idempotency_key is not None else await _find_newest(call, same)
    if action is not None and not _is_open(action, call.now_ms):
        action = None
    joined = action is not None
    if action is None:
        generation = known.generation + 1 if known is not None else 1
        key = request.idempotency_key or f"agent:{same}:{generation}"
        own = {"holder": call.caller.holder, "proposed": digest(request.arguments)}
        staged = StagedEffect(effect=effect, executor_tool=CLAIM, metadata={OWN_CALL: own})
        why = request.reason or ""
        wish = Request(principal=call.caller, operator=AGENT, tool=PROPOSE, inputs=asked, key=key, reason=why)
        made = await prepare_run(call.services, wish, Preparation(effects=(staged,)), PreparedRun)
        joined = made.replay is not msgspec.UNSET
        proposed = Proposed(generation, made.actions[0].id)
        if request.idempotency_key is None:
            keep = partial(keep_proposed, call.caller.workspace_id, call.caller.holder, same, proposed)
            await call.services.store.write(keep)
        action = await _find_action(call, ActionId(proposed.action_id))
    said = "It waits for a person." if action.status is Status.AWAITING_APPROVAL else "It was decided before."
    return ProposeReply(
        ok=True,
        action_id=action.action_id,
        run_id=action.run_id,
        status=action.status,
        execution_state=action.execution_state,
        digest=action.digest,
        review_url=call.review_url(action.run_id),
        joined=joined,
        user_message=f"{action.view.title}. {said}",
    )


async def _find_newest(call: Call, same: str) -> tuple[Proposed | None, Action | None]:
    """Return the newest proposal of the same call by the same caller, with its action."""

    def begin() -> Transaction[tuple[Proposed | None, Action | None]]:
        found = yield from find_proposed(call.caller.workspace_id, call.caller.holder, same)
        if found is None:
            return None, None
        action, _ = yield from read_action(call.caller.workspace_id, ActionId(found.action_id))
        return found, action

    return await call.services.store.read(begin)


def _is_open(action: Action, now_ms: int) -> bool:
    """Whether the call may still be decided or claimed."""
    waits = action.status in (Status.AWAITING_APPROVAL, Status.APPROVED) and not action.is_expired(now_ms)
    return waits and action.execution_state in (ExecutionState.NONE, ExecutionState.RETRYABLE)


def _refuse_unreadable(request: ProposeCall) -> None:
    """Raise `Refusal` for a name or a context that is not one line."""
    lines = {
        "toolName": request.tool_name,
        **{f"context.{name[:40]}": f"{name} {text}" for name, text in request.context.items()},
    }
    for path, text in lines.items():
        if not text.isprintable():
            raise bad_argument(path, "one line without control characters", repr(text[:80]))


async def claim_call(call: Call, request: ClaimCall) -> ClaimReply:
    """Hand the approved call out, once, to the caller that proposed it."""
    action_id = require_action_id(request.action_id)
    await _require_own(call, action_id)
    action = await hand_out(call.services, call.caller, action_id, CLAIM)
    if action.attempt is None:
        raise TypeError("a claimed action has an attempt")
    effect, wanted = action.effect, read_call(action.effect)
    edited = digest(effect.arguments) != action.metadata[OWN_CALL]["proposed"]
    changed = (
        "A person changed the arguments: run it with these, and do not repeat your own call. "
        if edited
        else ""
    )
    return ClaimReply(
        ok=True,
        action_id=action_id,
        claim_id=action.attempt.attempt_id,
        source=wanted.source,
        tool_name=wanted.tool,
        arguments=effect.arguments,
        edited=edited,
        report_until=str(iso_time(action.attempt.lease_until_ms)),
        user_message=f"{changed}It may run once now.",
    )


async def report_call(call: Call, request: ReportCall) -> OutcomeReply:
    """Record what became of a call that was handed out."""
    action_id = require_action_id(request.action_id)
    outcome: Delivered | NotSent | OutcomeUnknown
    if request.outcome == "executed":
        outcome = Delivered(
            request.claim_id, evidence={"reportedBy": call.caller.name}, output=request.output
        )
    elif request.outcome == "failed":
        outcome = NotSent(request.detail or "the agent did not run it")
    else:
        outcome = OutcomeUnknown(request.detail or "the agent does not know")
    await _require_own(call, action_id)
    action = await report_outcome(
        call.services.clock,
        call.caller.workspace_id,
        action_id,
        request.claim_id,
        outcome,
        lambda begin: call.services.store.write(call.metered(begin)),
    )
    said = {"executed": "It is recorded as done.", "failed": "It is recorded as not done."}
    return OutcomeReply(
        ok=True,
        action_id=action_id,
        status=action.status,
        execution_state=action.execution_state,
        user_message=said.get(action.status, "It is recorded as unknown; a person looks into it."),
    )


async def _find_action(call: Call, action_id: ActionId) -> Action:
    action, _ = await call.services.store.read(lambda: read_action(call.caller.workspace_id, action_id))
    return action


async def _require_own(call: Call, action_id: ActionId) -> None:
    """Raise `Refusal` unless this caller proposed the call."""
    action = await _find_action(call, action_id)
    if action.metadata.get(OWN_CALL, {}).get("holder") != call.caller.holder:
        raise bad_argument("actionId", "a call that this key proposed", action.effect.type)


TOOLS: Final = (
    Tool(
        name=PROPOSE,
        title="Propose a call of your own tool",
        description="Asks a person about a call of a tool that you run yourself: nothing runs yet. USE WHEN a tool of "
        "yours needs consent. The same call joins the one that waits. Then wait with chieflab_get_action and "
        "waitSeconds; once it is approved, claim it with chieflab_claim_call.",
        behaviour=WRITES,
        request=ProposeCall,
        reply=ProposeReply,
        handler=propose_call,
        scope="runs:write",
    ),
    Tool(
        name=CLAIM,
        title="Claim an approved call",
        description="Hands you one approved call to run, once: run exactly the arguments of the answer, then call "
        "chieflab_report_call. USE WHEN a call that you proposed is approved. Refuses with requires_approval unless "
        "the stored status is approved.",
        behaviour=FIRES,
        request=ClaimCall,
        reply=ClaimReply,
        handler=claim_call,
        scope="actions:execute",
    ),
    Tool(
        name=REPORT,
        title="Report a call that you ran",
        description="Records what became of a call that you claimed: executed with its output, failed if it certainly "
        "did not happen, else unknown. USE WHEN the call has ended. Without a report its outcome becomes unknown.",
        behaviour=DECIDES,
        request=ReportCall,
        reply=OutcomeReply,
        handler=report_call,
        scope="actions:execute",
    ),
)
