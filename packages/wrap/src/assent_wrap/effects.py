"""The effects of wrapping: a call of a wrapped tool, and the acceptance of new definitions.

The names of tools are not known here, so that each is a family (`assent.gate.effects`): the effect
itself has the server as its channel and the tool as its verb. Its arguments are those of the call,
untouched; `details` says which tool of which profile it is, and by which definition. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

import msgspec

from assent import Diff, Effect, Facets, Facts, Table, View
from assent.platform import (
    OPTIONAL_VALUES,
    ConnectorInfo,
    EffectType,
    Field,
    Preview,
    Problem,
    Reverse,
    Scene,
    cut,
    render_labelled,
)
from assent.sdk import MAX_CONTENT_CHARS, Action, Severity, WireRecord, bad_argument, full_time, is_one_line

OPERATOR: Final = "assent-wrap"
CALL: Final = "mcp"
REPEATABLE: Final = "mcp-repeatable"
"""The connector of calls that a rule allows to be made again."""
ACCEPT: Final = "mcp-tools"
ACCEPT_VERB: Final = "accept_tool"

LARGEST_INTEGER: Final = 2**53 - 1
"""Above it, programs disagree about the value of a number in JSON."""
TITLE_CHARS: Final = 120
LONG_CHARS: Final = 120
TABLE_COLUMNS: Final = 8

NAME_CHARS: Final = 200
_NAME: Final = re.compile(r"[\w.$@/-]+(?: [\w.$@/-]+)*")
_HALF: Final = re.compile(r"[\ud800-\udfff]")
_PLACE: Final = re.compile(r"\{([A-Za-z0-9_.-]+)\}")


class CallUndo(WireRecord, omit_defaults=True):
    """How a call is taken back, as its rule said when it was proposed."""

    tool: str
    pin: str
    arguments: Mapping[str, str]
    within_ms: int | None = None
    leaves: str = ""
    risk: Severity = Severity.HIGH
    """Of the tool that does it, as are the values that its calls never have."""
    without: tuple[str, ...] = ()


class CallDetails(WireRecord, kw_only=True, omit_defaults=True):
    """Which tool a call is for, as the effect keeps it."""

    profile: str
    server: str
    tool: str
    pin: str
    """The hash of the definition by which the call was proposed."""
    risk: Severity = Severity.HIGH
    title: str = ""
    """The template of a rule."""
    table: str = ""
    without: tuple[str, ...] = ()
    after: str = ""
    """The argument with the text that replaces `before`."""
    before: str | None = None
    as_of: str = ""
    """When `before` was read."""
    command: str = ""
    """The command of the server, or its address."""
    folder: str = ""
    variables: str = ""
    """The variables that someone chose for the server, by name."""
    differs: str = ""
    """The variables in which the server differs from others of the same command, by name."""
    undo: CallUndo | None = None
    action_id: str = ""
    """Of a call that takes another one back: which one, what people call it, and what stays (`assent.gate.undo`)."""
    undoes: str = ""
    leaves: str = ""


def make_call(details: CallDetails, arguments: Mapping[str, Any], *, repeat: bool) -> Effect:
    """Return the effect of a call."""
    given = Effect(
        channel=details.server,
        verb=details.tool,
        connector=REPEATABLE if repeat else CALL,
        body="",
        arguments=dict(arguments),
        details=msgspec.to_builtins(details),
    )
    return _normalise(given, given)


def read_details(effect: Effect) -> CallDetails:
    return msgspec.convert(effect.details, CallDetails)


def find_bad_names(arguments: Mapping[str, Any]) -> list[Problem]:
    """Return the names of arguments that could look like another argument in the text that people read."""
    return [
        Problem(f"arguments.{name[:80]}", "a name of letters, digits and . $ @ / - _", repr(name[:80]))
        for name in arguments
        if len(name) > NAME_CHARS or _NAME.fullmatch(name) is None
    ]


def find_problems(arguments: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the values that cannot be kept, shown and sent exactly as they are."""
    waiting: list[tuple[str, Any]] = [("arguments", dict(arguments))]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{path}.{name}", each) for name, each in value.items()]
            waiting += [(f"{path}, a name", name) for name in value]
        elif isinstance(value, list):
            waiting += [(f"{path}[{number}]", each) for number, each in enumerate(value)]
        elif isinstance(value, str) and ("\0" in value or not is_unicode(value)):
            yield Problem(path, "a text without NUL characters and lone surrogates", repr(value[:40]))
        elif isinstance(value, int) and abs(value) > LARGEST_INTEGER:
            yield Problem(
                path, f"a whole number up to {LARGEST_INTEGER}, or the number as text", str(value)[:40]
            )


def is_unicode(text: str) -> bool:
    """Whether a text can be written in UTF-8: JSON can have half of a character, as in "\\ud800"."""
    return _HALF.search(text) is None


def show_present(effect: Effect, text: str, now_ms: int) -> Effect:
    """Return a call with the text that it would replace, read now. The same text keeps its time: the
    call is then the one that was shown."""
    details = read_details(effect)
    if text == details.before and details.as_of:
        return effect
    changed = msgspec.structs.replace(details, before=text, as_of=full_time(now_ms))
    return msgspec.structs.replace(effect, details=msgspec.to_builtins(changed))


def hide_present(effect: Effect) -> Effect:
    """Return a call without the text that it would replace."""
    details = msgspec.structs.replace(read_details(effect), before=None, as_of="")
    return msgspec.structs.replace(effect, details=msgspec.to_builtins(details))


def _normalise(before: Effect, after: Effect) -> Effect:
    if after.arguments != before.arguments:
        # They may name another text than the one that was read.
        after = hide_present(after)
    return msgspec.structs.replace(after, body=render_labelled(after.arguments.items()))


def check_call(effect: Effect) -> list[Problem]:
    """Return the problems of a call. One that cannot be shown whole cannot be approved."""
    found = [*find_bad_names(effect.arguments), *find_problems(effect.arguments)]
    if len(effect.body) > MAX_CONTENT_CHARS:
        longest = max(
            effect.arguments, key=lambda name: len(str(effect.arguments[name])), default="arguments"
        )
        expected = f"arguments that a person can read: at most {MAX_CONTENT_CHARS} characters together"
        found.append(Problem(f"arguments.{longest}", expected, f"{len(effect.body)} characters"))
    return found


def _infer_schema(effect: Effect) -> dict[str, Any]:
    """Return a schema by the present values: a text stays a text, anything else is JSON."""
    kinds = {
        name: {"type": "string"} if isinstance(value, str) else {} for name, value in effect.arguments.items()
    }
    return {"type": "object", "properties": kinds, "required": list(kinds)}


def _list_fields(effect: Effect) -> tuple[Field, ...]:
    return tuple(
        Field(
            name=f"arguments.{name}",
            label=name,
            many=isinstance(value, dict | list) or (isinstance(value, str) and not _is_short(value)),
            required=value != "",
        )
        for name, value in effect.arguments.items()
    )


def _is_short(text: str) -> bool:
    return is_one_line(text) and len(text) <= LONG_CHARS


def name_call(tool: str, template: str, arguments: Mapping[str, Any]) -> str:
    """Return a call in one line: by the template of its rule, else the tool and its first short text."""

    def fill(found: re.Match[str]) -> str:
        value = arguments.get(found[1])
        return value if isinstance(value, str) else msgspec.json.encode(value).decode()

    spoken = (
        re.sub(r"[_./-]+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", tool)).strip().lower().capitalize()
    )
    if template:
        title = _PLACE.sub(fill, template)
    else:
        shown = next(
            (each for each in arguments.values() if isinstance(each, str) and _is_short(each) and each), ""
        )
        title = f"{spoken}: {shown}" if shown else spoken
    return cut(" ".join(title.split()), TITLE_CHARS)


def _describe_call(view: View, effect: Effect, scene: Scene) -> View:
    details = read_details(effect)
    title = name_call(details.tool, details.title, effect.arguments)
    return msgspec.structs.replace(
        view,
        label=details.server,
        noun=f"{details.server} call",
        title=title,
        sentence=f"Calls the tool {details.tool} of {details.server} once, with exactly these arguments.",
        destination=f"{details.server}: {details.tool}",
        summary=cut(" ".join(effect.body.split()), 110),
        outcome=f"Called: {title}.",
        via=details.server,
        preview=Preview("arguments"),
        without=details.without,
        blocks=tuple(_list_blocks(details, effect.arguments)),
        technical=("profile", "pin", "server", "tool"),
        look_at=details.server,
    )


def _list_blocks(details: CallDetails, arguments: Mapping[str, Any]) -> Iterator[Facts | Diff | Table]:
    named = "Command" if details.folder else "Address"
    origin = (
        (named, details.command),
        ("Folder", details.folder),
        ("Variables", details.variables),
        ("Differs in", details.differs),
    )
    if shown := tuple(row for row in origin if row[1]):
        yield Facts(shown)
    after = arguments.get(details.after)
    if details.before is not None and isinstance(after, str):
        when = f" (present text as of {details.as_of})" if details.as_of else ""
        yield Diff(f"{details.after}{when}", details.before, after)
    rows = arguments.get(details.table)
    if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
        columns = list(dict.fromkeys(str(name) for row in rows for name in row))[:TABLE_COLUMNS]
        yield Table(
            details.table, tuple(columns), tuple(tuple(_write(row.get(c)) for c in columns) for row in rows)
        )


def _write(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _find_reverse(effect: Effect) -> Reverse | None:
    undo = read_details(effect).undo
    if undo is None:
        return None
    return Reverse(make=partial(_make_reverse, undo), within_ms=undo.within_ms, leaves=undo.leaves)


def _make_reverse(undo: CallUndo, action: Action) -> Effect:
    """Return the call that takes another one back. Raises `Refusal` if its tool reported an error, and for a value that
    its result does not have."""
    output = action.metadata.get("output")
    if isinstance(output, dict) and output.get("isError") is True:
        raise bad_argument("actionId", "a call that its tool made", "one that it answered with an error")
    known = {"arguments": action.effect.arguments, "result": read_result(output)}
    given = {}
    for name, path in undo.arguments.items():
        value: Any = known
        for step in path.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
        if value is None:
            raise bad_argument(
                "actionId", f"a call whose result has {path}, which its undo needs", "a call without it"
            )
        given[name] = value
    first = read_details(hide_present(action.effect))
    details = msgspec.structs.replace(
        first,
        tool=undo.tool,
        pin=undo.pin,
        risk=undo.risk,
        without=undo.without,
        title="",
        table="",
        after="",
        undo=None,
    )
    return make_call(details, given, repeat=False)


def read_result(output: Any) -> Any:
    """Return what a call answered as data: its structured content, else its first text if that is JSON."""
    found = output if isinstance(output, dict) else {}
    if (structured := found.get("structuredContent")) is not None:
        return structured
    texts = (each.get("text") for each in found.get("content") or () if isinstance(each, dict))
    with suppress(msgspec.DecodeError):
        return msgspec.json.decode(next((text for text in texts if isinstance(text, str)), ""))
    return None


CALL_FAMILY: Final = EffectType(
    channel=CALL,
    verb="call",
    operator=OPERATOR,
    done="Called",
    approval_executes=True,
    via=(CALL, REPEATABLE),
    risk=lambda effect: read_details(effect).risk,
    why="It changes something in another program, perhaps for good.",
    reverse=_find_reverse,
    describe=_describe_call,
    facets=lambda effect: Facets(target=f"{effect.channel}/{effect.verb}"),
    fields=_list_fields,
    normalise=_normalise,
    check=check_call,
    schema=_infer_schema,
    proposer_edits=True,
    schedulable=False,
    teaches=False,
    trusted=True,
)


class ToolOffer(WireRecord, kw_only=True, omit_defaults=True):
    """A new or changed tool, as its question shows it."""

    name: str
    pin: str
    after: str
    """The definition that is accepted (`write_definition`)."""
    before: str = ""
    """The one that was accepted before; empty for a new tool."""
    passes: bool = False
    """Whether its calls are made without asking afterwards, under any kept profile."""

    @property
    def definition(self) -> dict[str, Any]:
        return msgspec.json.decode(self.after, type=dict[str, Any])


class AcceptDetails(WireRecord, kw_only=True, omit_defaults=True):
    """Which definitions are accepted, as the effect keeps them."""

    server: str
    command: str
    folder: str
    tools: tuple[ToolOffer, ...]
    more: int = 0
    """How many others are asked about after these."""


def make_acceptance(details: AcceptDetails) -> Effect:
    """Return the effect of accepting definitions."""
    return Effect(
        channel=details.server,
        verb=ACCEPT_VERB,
        connector=ACCEPT,
        body="\n".join(each.name for each in details.tools),
        arguments={each.name: each.pin for each in details.tools},
        details=msgspec.to_builtins(details),
    )


def read_acceptance(effect: Effect) -> AcceptDetails:
    return msgspec.convert(effect.details, AcceptDetails)


def write_definition(definition: Mapping[str, Any]) -> str:
    """Return a definition as text; without indentation if that would make it too long to read."""
    plain = msgspec.json.encode(definition, order="deterministic")
    text = msgspec.json.format(plain, indent=2)
    return (text if len(text) <= MAX_CONTENT_CHARS else plain).decode()


def _describe_acceptance(view: View, effect: Effect, scene: Scene) -> View:
    found = read_acceptance(effect)
    server, count = found.server, len(found.tools)
    changed = ", ".join(each.name for each in found.tools if each.before)
    new = ", ".join(each.name for each in found.tools if not each.before)
    place = (("Command" if found.folder else "Address", found.command), ("Folder", found.folder))
    facts = (*place, ("New", new), ("Changed", changed))
    passing = [each.name for each in found.tools if each.passes]
    what = " or ".join(word for word, names in (("new", new), ("changed", changed)) if names)
    named = f"{count} {what} tools of {server}" if count > 1 else f"the {what} tool {effect.body} of {server}"
    title, said = f"Accept {named}", ["Lets agents see and call what is defined below."]
    if passing:
        # It comes first, because lists cut titles at their end.
        title = f"Calls{f' of {len(passing)}' if count > 1 else ''} without asking: accept {named}"
        said.append(f"Calls of {', '.join(passing)} are made without asking.")
    if len(passing) < count:
        said.append(f"{'All other calls' if passing else 'Calls'} are asked about.")
    if found.more:
        said.append(f"You are asked about {found.more} more tools afterwards.")
    return msgspec.structs.replace(
        view,
        label=server,
        noun="Tool definitions",
        title=title,
        danger=f"Agents can then call {', '.join(passing)} without asking." if passing else "",
        sentence=" ".join(said),
        destination=f"{server}: tool definitions",
        summary=f"No agent can call {named} until you accept.",
        outcome=f"Accepted: {named}.",
        via=server,
        preview=Preview("arguments"),
        blocks=(
            Facts(tuple(row for row in facts if row[1])),
            *(Diff(f"Definition of {each.name}", each.before, each.after) for each in found.tools),
        ),
        in_blocks=True,
    )


ACCEPT_FAMILY: Final = EffectType(
    channel=ACCEPT,
    verb=ACCEPT_VERB,
    operator=OPERATOR,
    done="Accepted",
    approval_executes=True,
    via=(ACCEPT,),
    risk=Severity.HIGH,
    why="The words of a definition steer the agents that read it.",
    describe=_describe_acceptance,
    without=OPTIONAL_VALUES,
    version=2,  # the first one asked about each tool alone
    fixed="the definitions of tools, which only their server can change",
    schedulable=False,
    teaches=False,
    trusted=True,
)

CONNECTORS: Final = tuple(
    ConnectorInfo(id, "Wrapped server", "Calls a tool of a wrapped MCP server.", "none", (), ("publish",))
    for id in (CALL, REPEATABLE, ACCEPT)
)
