"""Calls of tools that an agent runs itself: their effects, the type of all of them, and their connector.

The agent proposes a call; after the approval the server hands it out once, and the agent runs it. What a
person approves is the call, every argument and where it runs. The connector performs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec

from assent.platform.services import (
    Context,
    Delivered,
    Delivery,
    NoLookUp,
    NotSent,
    action_of,
    render_labelled,
)
from assent.platform.values import (
    MAX_CONTENT_CHARS,
    MINUTE_MS,
    Effect,
    EffectType,
    Facts,
    Field,
    NotCanonical,
    Preview,
    Problem,
    Readiness,
    Reason,
    Record,
    Scene,
    Severity,
    View,
    WireRecord,
    WorkspaceId,
    digest,
)
from assent.wrap.effects import find_bad_names

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
    except NotCanonical as error:
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
        raise NotSent(Reason.PROVIDER_NOT_LIVE, "the agent that proposed it runs it", curable=True)
