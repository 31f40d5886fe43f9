"""HTTP effects: sections `[effect.NAME]` of the settings file that send an approved JSON request.

Each section becomes an operator with one effect, through the same registry as an extension in
Python. A mistake is a message with file, section and key, and leaves out that section only.

The JSON Schema of the arguments is published and checked as it is written, with the limits that every
argument has. A keyword that is not enforced is refused: a reviewer relies on the limits that it states.

The request carries both webhook signatures, the id of the action, the declared headers with their secrets, and the
idempotency key where the section names a header for it. Method and address are part of the approved content: after a
change in the settings a person approves again. The rules of every outgoing request hold (`assent.net.addresses`):
public addresses only, except for hosts that the settings allow; no redirect is followed; time and size are bounded.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import quote, urlsplit

import msgspec

from assent.engine.connections.named_secrets import SECRET_NAME, open_secrets
from assent.engine.core.services import Services
from assent.engine.core.vault import SealBroken
from assent.engine.webhooks.webhooks import signing_secret
from assent.extensions.connectors import read_receipt, send_request
from assent.extensions.hooks import BadExtension
from assent.extensions.operators import EffectFunction, Operator
from assent.extensions.options import (
    MAX_DOC_CHARS,
    MAX_LABEL_CHARS,
    ArgumentProblem,
    EffectOptions,
    Receipt,
    check_options,
    check_undo,
    native_key,
)
from assent.extensions.registry import Found, LoadFailure, Source
from assent.extensions.signatures import (
    DECIMAL_PATTERN,
    MAX_NESTING,
    MONEY_PATTERN,
    RESERVED,
    Parameter,
    Signature,
    distinguish_labels,
)
from assent.gate import webhooks
from assent.gate.connection import OpenedSecrets
from assent.gate.effects import EXECUTE
from assent.gate.outcomes import failure
from assent.gate.preflight import Readiness
from assent.gate.records import Effect
from assent.gate.undo import RECEIPT
from assent.gate.views import View
from assent.kernel.canonical import MAX_SAFE_INTEGER
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import HOUR_MS, MAX_CONTENT_CHARS, SECOND_MS
from assent.kernel.patterns import compile_pattern
from assent.kernel.refusals import Reason
from assent.kernel.schemas import convert, publish
from assent.kernel.shapes import FORMATS, TYPES, Shape, check_shape, has_type, list_inner
from assent.kernel.structs import Record
from assent.kernel.texts import truncate
from assent.ports import (
    Connector,
    Context,
    Delivered,
    Delivery,
    NotConnected,
    NotSent,
    OutcomeUnknown,
    action_of,
)

if TYPE_CHECKING:
    from assent.net.outgoing import Posted

NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}", re.ASCII)
"""A property that can be an argument of a tool."""

_LIMITS: Final[Mapping[str, frozenset[str]]] = {
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
    "array": frozenset({"items", "minItems", "maxItems", "uniqueItems"}),
    "object": frozenset(
        {
            "properties",
            "patternProperties",
            "additionalProperties",
            "required",
            "minProperties",
            "maxProperties",
        }
    ),
}
"""Keywords that are about values of one type."""
_PATTERNS: Final = {"money": MONEY_PATTERN, "decimal": DECIMAL_PATTERN}
"""Formats that no client knows."""


def read_schema(schema: Any, place: str) -> Signature:
    """Return the arguments that a schema declares. Raises `BadExtension` with the place of the
    mistake."""
    if not isinstance(schema, dict):
        raise BadExtension("it is no table.", place=place, fix='Write a JSON Schema with type = "object".')
    if schema.get("type") != "object" or not isinstance(schema.get("properties", {}), dict):
        raise BadExtension(
            "it does not describe an object.",
            place=place,
            fix='Write type = "object" and properties = { NAME = { type = "string" } }.',
        )
    if schema.get("additionalProperties", False) is not False:
        raise BadExtension(
            "additionalProperties is not false, so that no one could see what is approved.",
            place=place,
            fix="Leave it out, and write each argument into properties.",
        )
    for bad in check_shape(schema, place):
        raise BadExtension("the schema cannot be used.", place=bad.path, fix=bad.message)
    if unread := sorted(schema.keys() & (_LIMITS["object"] | {"anyOf", "oneOf", "allOf", "not"}) - _READ):
        raise BadExtension(
            f"the keyword {unread[0]} is not checked here.", place=place, fix="Write it into the properties."
        )
    _refuse_unchecked(schema, place)
    required = _read_required(schema, place)
    parameters = tuple(
        _read_parameter(name, part, name in required, f"{place}.properties.{name}")
        for name, part in schema.get("properties", {}).items()
    )
    return Signature(place=place, parameters=distinguish_labels(parameters), context=None)


_READ: Final = frozenset({"properties", "required", "additionalProperties"})
"""What the arguments as a whole may have: they are checked one by one."""


def allows_text(part: Mapping[str, Any], text: str) -> bool:
    """Whether a schema that this text satisfies permits it expressly: by a pattern that matches the
    whole of it, or as one of its choices."""
    if "enum" in part or "const" in part:
        return True
    return "pattern" in part and compile_pattern(part["pattern"]).matches_whole(text)


def _refuse_unchecked(part: Shape, place: str) -> None:
    """Refuse what the validator would ignore, in a schema and all schemas inside it."""
    if "format" in part and part["format"] not in FORMATS:
        raise BadExtension(
            f"the format {part['format']!r} is not checked here.",
            place=f"{place}.format",
            fix=f"Write one of {', '.join(FORMATS)}, or a pattern.",
        )
    if isinstance(kind := part.get("type"), str):
        own = _LIMITS.get("number" if kind == "integer" else kind, frozenset())
        if others := sorted(part.keys() & frozenset().union(*_LIMITS.values()) - own):
            raise BadExtension(
                f"the keyword {others[0]} says nothing about a value of the type {kind}.",
                place=place,
                fix="Leave it out.",
            )
        choices = part.get("enum", [part["const"]] if "const" in part else [])
        if not all(has_type(each, kind) for each in choices):
            raise BadExtension(
                "its choices do not have its type.", place=place, fix='Write such as enum = ["EUR", "USD"].'
            )
    for at, inner in list_inner(part):
        _refuse_unchecked(inner, f"{place}.{at}")


def _read_parameter(name: str, part: Shape, required: bool, place: str) -> Parameter:
    if NAME.fullmatch(name) is None or name in RESERVED:
        raise BadExtension(
            f"{name[:60]!r} cannot be the name of an argument.",
            place=place,
            fix="Use letters, digits and _, beginning with a letter.",
        )
    closed = _close(part, place, 1)
    label = part.get("title", _space(name))
    if not label.isprintable() or not 0 < len(label) <= MAX_LABEL_CHARS:
        raise BadExtension(
            f"its title is no line of at most {MAX_LABEL_CHARS} characters.", place=place, fix="Shorten it."
        )
    optional = not required or "default" in part
    default = part.get("default")
    if optional and default is None:
        closed = {"anyOf": [closed, {"type": "null"}]}
    wire = Annotated[Any, publish(closed)]
    if optional and default is not None:
        try:
            convert(default, wire)
        except msgspec.ValidationError as error:
            raise BadExtension(
                f"its default does not fit (expected {error}).",
                place=place,
                fix="Correct the default or the schema.",
            ) from None
    return Parameter(
        name=name,
        label=label,
        kind=Any,
        wire=wire,
        optional=optional,
        default=default,
        description=part.get("description", ""),
        is_text=part["type"] == "string" and not {"format", "enum", "const"} & part.keys(),
    )


def _space(name: str) -> str:
    """`orderId` and `order_id` become `Order id`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").strip()
    return words[:1].upper() + words[1:].lower()


def _close(part: Shape, place: str, level: int) -> Shape:
    """Return a schema with the limits that all values have, so that it names whatever is sent."""
    if not isinstance(kind := part.get("type"), str):
        raise BadExtension(
            "it has no type.", place=place, fix=f'Write type = "string", or one of {", ".join(TYPES)}.'
        )
    if level > MAX_NESTING:
        raise BadExtension("it nests too deeply to be read.", place=place, fix="Use fewer levels.")
    match kind:
        case "string":
            longest = min(part.get("maxLength", MAX_CONTENT_CHARS), MAX_CONTENT_CHARS)
            return {**_describe(part), "maxLength": longest}
        case "integer":
            lowest = {} if "exclusiveMinimum" in part else {"minimum": -MAX_SAFE_INTEGER}
            highest = {} if "exclusiveMaximum" in part else {"maximum": MAX_SAFE_INTEGER}
            return {**lowest, **highest, **part}
        case "array":
            return {**part, "items": _close(part.get("items", {}), f"{place}.items", level + 1)}
        case "object":
            return _close_object(part, place, level)
    return part


def _describe(part: Shape) -> Shape:
    """Return the schema of a text with its format as a pattern, which clients know."""
    if part.get("format") not in _PATTERNS:
        return part
    words = FORMATS[part["format"]][0]
    described = f"{words[0].upper()}{words[1:]}."
    return {"description": described, "pattern": _PATTERNS[part["format"]], **part}


def _close_object(part: Shape, place: str, level: int) -> Shape:
    more = part.get("additionalProperties", False)
    if more is True or not (more or part.get("properties") or part.get("patternProperties")):
        raise BadExtension(
            "it declares no properties.",
            place=place,
            fix="Write properties, or additionalProperties = { type = … } alone.",
        )
    _read_required(part, place)
    for name in part.get("properties", {}):
        if NAME.fullmatch(name) is None:
            raise BadExtension(
                f"{name[:60]!r} cannot be the name of a property.",
                place=place,
                fix="Use letters, digits and _, beginning with a letter.",
            )
    closed: Shape = {
        key: {name: _close(each, f"{place}.{key}.{name}", level + 1) for name, each in part[key].items()}
        for key in ("properties", "patternProperties")
        if key in part
    }
    others = more and _close(more, f"{place}.additionalProperties", level + 1)
    return {**part, **closed, "additionalProperties": others}


def _read_required(schema: Shape, place: str) -> frozenset[str]:
    required = schema.get("required", [])
    for each in required:
        if each not in schema.get("properties", {}):
            raise BadExtension(
                f"it requires {each}, which is no property.", place=place, fix=f"Add {each} to properties."
            )
    return frozenset(required)


KEY: Final = "action.key"
ACTION: Final = "action.id"
OWN: Final = (KEY, ACTION)
"""Placeholders beside the arguments: the idempotency key, and the id of the action."""

_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_STEP: Final = re.compile(r"[^.\s]{1,100}")
_DIVIDES: Final = re.compile(r"[/\\%\x00-\x1f\x7f-\x9f]")
"""What servers and proxies may read as part of the path, although it is sent encoded."""


def check_template(text: str, names: Iterable[str], place: str) -> None:
    """Refuse braces that are no placeholder, and a placeholder without a value."""
    known = tuple(names)
    for name in _PLACEHOLDER.findall(text):
        if name not in known:
            raise BadExtension(
                f"the placeholder {{{name}}} names no argument.",
                place=place,
                fix=f"Known: {', '.join(known) or 'none'}.",
            )
    if set("{}") & set(_PLACEHOLDER.sub("", text)):
        raise BadExtension("a brace is not closed.", place=place, fix="Write placeholders as {name}.")


def find_placeholders(template: str) -> list[str]:
    return _PLACEHOLDER.findall(template)


def fill_text(template: str, values: Mapping[str, Any]) -> str:
    return _PLACEHOLDER.sub(lambda found: write_value(values.get(found[1])), template)


def fill_url(template: str, values: Mapping[str, Any], allows: Callable[[str, str], bool]) -> str:
    """Return the URL with every value percent-encoded; our own placeholders stay if they have none.
    Raises `ArgumentProblem` for a value that could change its path: an empty one, `.` and `..`, and
    one that divides it, unless the argument `allows` this text."""

    def encode(found: re.Match[str]) -> str:
        name = found[1]
        if name in OWN and name not in values:
            return found[0]
        text = write_value(values.get(name))
        in_path = "?" not in template[: found.start()]
        divides = _DIVIDES.search(text) is not None and not allows(name, text)
        if in_path and (divides or text in ("", ".", "..")):
            expected = (
                "one part of an address: not empty, . or .., and without /, \\, % and control characters. "
                "The settings of this effect can allow them by a pattern for this argument"
            )
            raise ArgumentProblem(name, expected, text)
        return quote(text, safe="")

    return _PLACEHOLDER.sub(encode, template)


def write_value(value: Any) -> str:
    """Return a JSON value as text: a text as it is, none as an empty text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def parse_path(text: str, place: str) -> tuple[str, ...]:
    """Return the steps of a path such as `data.0.id`. Raises `BadExtension`."""
    steps = tuple(text.split("."))
    if not all(_STEP.fullmatch(step) for step in steps):
        raise BadExtension(
            f"{text[:80]!r} is no path into a JSON answer.",
            place=place,
            fix="Write names and positions with dots, such as data.0.id.",
        )
    return steps


def follow(value: Any, path: Iterable[str]) -> Any:
    """Return the value at a path; None if there is none."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def read_text(value: Any, path: Iterable[str]) -> str:
    """Return a text or whole number at a path as text; empty if there is none."""
    found = follow(value, path)
    return found if isinstance(found, str) else str(found) if type(found) is int else ""


METHODS: Final = ("POST", "PUT", "PATCH", "DELETE")
VERB: Final = "request"
MAX_TITLE_CHARS: Final = 200
MAX_URL_CHARS: Final = 1_900
"""Below the limit of outgoing requests, because the action's key may follow."""
MAX_HEADER_CHARS: Final = 1_000
MAX_WINDOW_HOURS: Final = 24 * 365
SETTLE_SECONDS: Final = 60

_HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,80}", re.ASCII)
_SECRET: Final = re.compile(r"(?:^|(?<=\s))secret:(\S*)")
TAKEN_HEADERS: Final = frozenset(
    {
        "host",
        "content-type",
        "content-length",
        "transfer-encoding",
        "connection",
        "accept-encoding",
        "user-agent",
        "x-chieflab-signature",
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
        "assent-action-id",
    }
)
"""Headers that the server sets."""


class ReadBack(Record, kw_only=True):
    """How to find out whether the request had its effect."""

    url: str
    proof: tuple[str, ...]
    equals: str | None = None
    """The proof must have this value; without it any value but null and false proves."""
    id: tuple[str, ...] | None = None
    page: tuple[str, ...] | None = None
    settle_seconds: int = SETTLE_SECONDS
    """How long after the request a missing proof proves nothing."""


class HttpRequest(Record, kw_only=True):
    """The request of an effect, as its section declares it."""

    method: str
    url: str
    headers: Mapping[str, str] = {}
    idempotency_header: str | None = None
    id: tuple[str, ...] | None = None
    page: tuple[str, ...] | None = None
    read_back: ReadBack | None = None
    properties: Mapping[str, Any] = {}
    """The schema of each argument."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the secrets in its headers."""
        return tuple(dict.fromkeys(name for text in self.headers.values() for name in _SECRET.findall(text)))

    @property
    def fixed_url(self) -> str:
        """The address without placeholders, to judge its host."""
        return urlsplit(self.url)._replace(path="/", query="").geturl()

    def fill(self, template: str, values: Mapping[str, Any]) -> str:
        """Return an address with values. Raises `ArgumentProblem`."""
        return fill_url(template, values, lambda name, text: allows_text(self.properties[name], text))

    def make_target(self, arguments: Mapping[str, Any]) -> dict[str, str]:
        """Return where it goes, as part of the approved content. Key and id of the action are filled in
        when it is sent. Raises `ArgumentProblem`."""
        return {"accountId": f"{self.method} {self.fill(self.url, arguments)}"}

    def fill_headers(self, secrets: Mapping[str, str]) -> dict[str, str]:
        return {
            name: _SECRET.sub(lambda found: secrets[found[1]], text) for name, text in self.headers.items()
        }


class HttpEffect(EffectFunction):
    """An effect without code: its connector sends a request."""

    def __init__(
        self,
        operator: Operator,
        options: EffectOptions,
        signature: Signature,
        description: str,
        request: HttpRequest,
        title: str,
    ) -> None:
        self.declare(operator, options, signature, description, name=operator.id)
        self.request = request
        host = urlsplit(request.url).netloc

        def describe(**values: Any) -> View:
            line = truncate(" ".join(fill_text(title, signature.write(values)).split()), MAX_TITLE_CHARS)
            said = f"Sends a {request.method} request with exactly these arguments to {host}."
            return View(title=line, sentence=said, destination=f"To {host}")

        def check(**values: Any) -> None:
            given = {**signature.write(values), **dict.fromkeys(OWN, "-")}
            if request.read_back is not None:
                request.fill(request.read_back.url, given)
            if len(request.fill(request.url, given)) > MAX_URL_CHARS:
                longest = max(find_placeholders(request.url), key=lambda name: len(str(values.get(name, ""))))
                raise ArgumentProblem(
                    longest, f"a value with which the address has {MAX_URL_CHARS} characters at most"
                )

        self.hooks["describe"].append(describe)
        self.hooks["check"].append(check)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self.__name__} is a request and no function")

    @property
    def reads_back(self) -> bool:
        return self.request.read_back is not None


def read_sections(sections: Any, file: str) -> Iterator[Found]:
    """Yield the operator of each section, or why it is left out."""
    if not isinstance(sections, dict):
        source = Source("settings", f"{file} [effect]")
        yield source, LoadFailure(source, "effect is no table. Write sections such as [effect.refund].")
        return
    for name, section in sections.items():
        source = Source("settings", f"{file} [effect.{name}]")
        try:
            yield source, (_read_section(name, section, source.name),)
        except BadExtension as bad:
            yield source, LoadFailure(source, str(bad))


class _Section:
    """A table of the settings file. Every mistake names its key."""

    def __init__(self, values: Any, place: str, known: tuple[str, ...]) -> None:
        self.place = place
        if not isinstance(values, dict):
            raise BadExtension("it is no table.", place=place, fix="Write keys with values below it.")
        for key in values:
            if key not in known:
                hint = next(iter(difflib.get_close_matches(key, known, n=1, cutoff=0.6)), None)
                raise BadExtension(
                    f"the key {key} is unknown.",
                    place=place,
                    fix=f"Did you mean {hint}?" if hint else f"Known keys: {', '.join(known)}.",
                )
        self.values: dict[str, Any] = values

    def at(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place else key

    def refuse(self, key: str, why: str, fix: str) -> BadExtension:
        return BadExtension(why, place=self.at(key), fix=fix)

    def text(self, key: str, example: str, *, most: int = 2_000, needed: bool = False) -> str:
        value = self.values.get(key, "")
        if not isinstance(value, str) or len(value) > most or (needed and not value.strip()):
            missing = key not in self.values
            raise self.refuse(
                key,
                "it is missing." if missing else f"it is no text of at most {most} characters.",
                f'Write {key} = "{example}".',
            )
        return value.strip()

    def number(self, key: str, most: float) -> float | None:
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
            raise self.refuse(key, f"{value!r} is no such number.", f"Write a number up to {most:g}.")
        return value

    def switch(self, key: str, default: bool) -> bool:
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.refuse(key, f"{value!r} is neither true nor false.", f"Write {key} = true or false.")
        return value

    def path(self, key: str) -> tuple[str, ...] | None:
        text = self.text(key, "data.0.id")
        return parse_path(text, self.at(key)) if text else None


_REQUEST_KEYS: Final = (
    "url",
    "method",
    "arguments",
    "headers",
    "idempotency_header",
    "idempotency_hours",
    "result",
    "read_back",
)
"""The keys of an effect and of what takes it back."""
_KEYS: Final = (
    *_REQUEST_KEYS,
    "risk",
    "timeout_seconds",
    "description",
    "label",
    "verb",
    "title",
    "reversible",
    "schedulable",
    "without",
    "undo",
)


def _read_section(name: str, values: Any, place: str) -> Operator:
    section = _Section(values, "", _KEYS)
    operator = Operator(
        name,
        label=section.text("label", "Billing", most=MAX_LABEL_CHARS),
        function=section.text("description", "Refund a customer.", most=MAX_DOC_CHARS, needed=True),
    )
    if "arguments" not in section.values:
        raise section.refuse(
            "arguments", "it is missing.", 'Write a JSON Schema with type = "object" and properties.'
        )
    declared = read_schema(section.values["arguments"], section.at("arguments"))
    signature = msgspec.structs.replace(declared, place=place)
    names = tuple(each.name for each in signature.parameters)
    request = _read_request(section, names)
    title = section.text("title", "Refund {amount} to {customer}", most=MAX_TITLE_CHARS)
    check_template(title, names, section.at("title"))
    options = EffectOptions(
        risk=section.text("risk", "high") or "high",  # type: ignore[arg-type]  # checked below
        reversible=section.switch("reversible", False),
        delivery=_read_delivery(section, request),
        channel=operator.id,
        verb=section.text("verb", "refund") or VERB,
        executor_tool=EXECUTE,
        approval_executes=False,
        timeout_seconds=section.number("timeout_seconds", 3_600),
        schedulable=section.switch("schedulable", True),
        title=operator.label,
        without=section.values.get("without", ()),
    )
    effect = HttpEffect(operator, check_options(options, ""), signature, operator.does, request, title)
    if "undo" in section.values:
        _add_undo(section, effect)
    operator.add(effect)
    return operator


def _add_undo(section: _Section, effect: HttpEffect) -> None:
    """Read the request that takes an effect back. Its arguments are some of the effect's, and the id on the receipt."""
    part = _Section(section.values["undo"], section.at("undo"), (*_REQUEST_KEYS, "hours", "leaves"))
    own = {
        RECEIPT: {"type": "string", "title": "Receipt"},
        **section.values["arguments"].get("properties", {}),
    }
    names = part.values.get("arguments", [RECEIPT])
    url = part.text("url", "https://billing.example.com/refunds/{receipt}", needed=True)
    # A secret goes to another host only where that part names it.
    if url.split("/")[:3] == effect.request.url.split("/")[:3]:
        part.values = {"headers": section.values.get("headers", {}), **part.values}
    if not isinstance(names, list) or not names or not all(name in own for name in names):
        raise part.refuse("arguments", f"{names!r} names others.", f"List some of {', '.join(own)}.")
    required = (RECEIPT, *section.values["arguments"].get("required", ()))
    schema = {
        "type": "object",
        "properties": {name: own[name] for name in names},
        "required": [name for name in names if name in required],
    }
    declared = read_schema(schema, part.at("arguments"))
    part.values = {**part.values, "arguments": schema}
    request = _read_request(part, tuple(names))
    undo = check_undo(part.values.get("hours"), part.values.get("leaves", ""), part.place)
    options = check_options(effect.make_undo_options(_read_delivery(part, request)), part.place)
    signature = msgspec.structs.replace(declared, place=effect.place)
    does = f"Takes back: {effect.description}"
    effect.set_reverse(HttpEffect(effect.operator, options, signature, does, request, options.title), undo)


def _read_request(section: _Section, names: tuple[str, ...]) -> HttpRequest:
    method = section.text("method", "POST").upper() or "POST"
    if method not in METHODS:
        raise section.refuse(
            "method", f"{method!r} is none of the methods.", f"Write one of {', '.join(METHODS)}."
        )
    result = _Section(section.values.get("result", {}), section.at("result"), ("id", "url"))
    header = section.text("idempotency_header", "Idempotency-Key")
    if header and (_HEADER.fullmatch(header) is None or header.lower() in TAKEN_HEADERS):
        raise section.refuse(
            "idempotency_header", f"{header!r} cannot be a header of yours.", 'Write "Idempotency-Key".'
        )
    headers = _read_headers(section)
    if header and header.lower() in map(str.lower, headers):
        raise section.refuse("idempotency_header", f"headers has {header} too.", "Leave it out there.")
    return HttpRequest(
        method=method,
        url=_read_url(section, "https://billing.example.com/refunds", names),
        headers=headers,
        idempotency_header=header or None,
        id=result.path("id"),
        page=result.path("url"),
        read_back=_read_read_back(section, names) if "read_back" in section.values else None,
        properties=section.values["arguments"].get("properties", {}),
    )


def _read_url(section: _Section, example: str, names: tuple[str, ...]) -> str:
    url = section.text("url", example, needed=True)
    check_template(url, (*names, *OWN), section.at("url"))
    try:
        parts = urlsplit(url)
        _ = parts.port
        fixed = bool(parts.hostname) and "{" not in parts.netloc and not parts.username and not parts.fragment
    except ValueError:
        fixed = False
        parts = urlsplit("")
    if parts.scheme not in ("https", "http") or not fixed or re.search(r"\s", url):
        raise section.refuse(
            "url",
            f"{url[:80]!r} is no web address with a fixed host.",
            f'Write url = "{example}"; placeholders belong into the path or after the ?.',
        )
    return url


def _read_headers(section: _Section) -> dict[str, str]:
    headers = section.values.get("headers", {})
    place = section.at("headers")
    if not isinstance(headers, dict):
        raise BadExtension(
            "it is no table.", place=place, fix='Write headers = { Authorization = "secret:NAME" }.'
        )
    for name, text in headers.items():
        at = f"{place}.{name}"
        if _HEADER.fullmatch(name) is None or name.lower() in TAKEN_HEADERS:
            raise BadExtension(
                "this header cannot be yours.", place=at, fix="Leave it out; the server sets it."
            )
        if (
            not isinstance(text, str)
            or not text.isascii()
            or not text.isprintable()
            or len(text) > MAX_HEADER_CHARS
        ):
            raise BadExtension(
                "its value is no line of printable ASCII characters.",
                place=at,
                fix='Write "secret:NAME" or a text.',
            )
        for secret in _SECRET.findall(text):
            if SECRET_NAME.fullmatch(secret) is None:
                raise BadExtension(
                    f"secret:{secret[:40]} is no name of a secret.",
                    place=at,
                    fix="Write secret:NAME with small letters, digits, - and _, as stored by: assent secret set NAME",
                )
    return headers


def _read_read_back(section: _Section, names: tuple[str, ...]) -> ReadBack:
    part = _Section(
        section.values["read_back"],
        section.at("read_back"),
        ("url", "proof", "equals", "id", "result_url", "settle_seconds"),
    )
    equals = part.text("equals", "{action.key}")
    check_template(equals, (*names, *OWN), part.at("equals"))
    part.text("proof", "data.0.id", needed=True)
    return ReadBack(
        url=_read_url(part, "https://billing.example.com/refunds?key={action.key}", names),
        proof=part.path("proof") or (),
        equals=equals or None,
        id=part.path("id"),
        page=part.path("result_url"),
        settle_seconds=int(part.number("settle_seconds", 86_400) or SETTLE_SECONDS),
    )


def _read_delivery(section: _Section, request: HttpRequest) -> Delivery:
    """Return the guarantee for a repeated request that the section declares."""
    hours = section.number("idempotency_hours", MAX_WINDOW_HOURS)
    if (request.idempotency_header is None) != (hours is None):
        missing = "idempotency_hours" if hours is None else "idempotency_header"
        raise section.refuse(
            missing,
            "it is missing; header and hours belong together.",
            'Write idempotency_header = "Idempotency-Key" and idempotency_hours = 24, as the API documents them.',
        )
    if hours is not None:
        if int(hours * HOUR_MS) <= 0:
            raise section.refuse("idempotency_hours", "it is too short.", "Write the hours, such as 24.")
        return native_key(hours=hours, searches=request.read_back is not None)
    return Delivery("read_back" if request.read_back is not None else "none")


HIDDEN: Final = "[redacted]"
LEAST_HIDDEN_CHARS: Final = 4
"""A shorter secret would be found in every answer."""


class HttpAccess(Record):
    """What HTTP effects use of the server: its store and vault, and the hosts that the settings
    allow."""

    services: Callable[[], Services]
    allow_hosts: tuple[str, ...] = ()


class HttpConnector:
    """Performs one HTTP effect."""

    uses_sending = True
    rereads = True

    def __init__(self, effect: HttpEffect, access: HttpAccess) -> None:
        self.id = effect.tool
        self.delivery = effect.options.delivery
        self.timeout_seconds = effect.options.timeout_seconds
        self._effect = effect
        self._request: HttpRequest = effect.request
        self._access = access

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        from assent.net.addresses import FetchRefused, screen

        try:
            screen(self._request.fixed_url, allow_hosts=self._access.allow_hosts)
        except FetchRefused as refused:
            hint = f"{refused.text} Allow the host in the settings: allow_hosts."
            return Readiness(False, Reason.PROVIDER_NOT_LIVE.value, hint)
        stored = await self._open(workspace_id)
        missing = next((name for name in self._request.secrets if stored.get(name) is None), None)
        if missing is not None:
            return Readiness.unconnected(
                _explain_missing(missing, workspace_id), f"The secret {missing} is not stored."
            )
        return Readiness(ready=True)

    async def addressed(self, workspace_id: WorkspaceId, effect: Effect) -> Effect:
        """Set method and address, so that the approval covers them."""
        with suppress(ArgumentProblem):  # `readiness_for` says it
            return msgspec.structs.replace(effect, target=self._request.make_target(effect.arguments))
        return effect

    async def readiness_for(self, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
        try:
            target = self._request.make_target(effect.arguments)
        except ArgumentProblem as problem:
            said = f"The settings no longer take these arguments ({problem})."
            return Readiness.unconnected(f"{said} Change them, or prepare it again.", said)
        if effect.target != target:
            said = "The settings send this to another address than the one it was prepared for."
            return Readiness.unconnected(
                f"{said} Ask for it again: you then see where it goes.", said, nameable=True
            )
        return await self.readiness(workspace_id)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action_of(ctx, effect)
        request, target = self._request, effect.target
        try:
            self._effect.signature.read(effect.arguments)
            if target is None or target != request.make_target(effect.arguments):
                raise NotSent("the settings name another address than the approved one", retry=True)
            # The approved address itself is asked, with what is known of the action now.
            approved = target["accountId"].removeprefix(f"{request.method} ")
            url = request.fill(approved, {KEY: ctx.key, ACTION: ctx.action_id})
        except ArgumentProblem as problem:
            raise NotSent(f"the settings no longer take these arguments ({problem})", retry=True) from None
        given = {name: value for name, value in effect.arguments.items() if value is not None}
        body = msgspec.json.encode(given)
        secrets, headers = await self._headers(ctx, body)
        if request.idempotency_header is not None:
            headers[request.idempotency_header] = ctx.key
        answer = await self._send(ctx, request.method, url, body, headers)
        value = _decode(answer.body, secrets)
        if not 200 <= answer.status < 300:
            raise failure(answer.status, _find_detail(value), answer.retry_after)
        return self._read_result(value, ctx)

    def _read_result(self, value: Any, ctx: Context) -> Delivered:
        request = self._request
        found = read_text(value, request.id) if request.id is not None else ctx.key
        if not found:
            raise OutcomeUnknown(f"the answer has no id at {'.'.join(request.id or ())}")
        page = read_text(value, request.page) if request.page is not None else ""
        return read_receipt(self._effect.__name__, Receipt(found, url=page or None, output=value))

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        back = self._request.read_back
        if back is None:
            raise OutcomeUnknown("this effect cannot be looked up")
        values = {**effect.arguments, KEY: ctx.key, ACTION: ctx.action_id}
        secrets, headers = await self._headers(ctx, b"")
        try:
            url = self._request.fill(back.url, values)
        except ArgumentProblem as problem:
            raise OutcomeUnknown(str(problem)) from None
        answer = await self._send(ctx, "GET", url, b"", headers)
        value = _decode(answer.body, secrets)
        if 200 <= answer.status < 300 and value is not None:
            proof = follow(value, back.proof)
            if _proves(back, proof, values):
                found = read_text(value, back.id or back.proof) or ctx.key
                page = read_text(value, back.page) if back.page is not None else ""
                return read_receipt(self._effect.__name__, Receipt(found, url=page or None, output=value))
        elif answer.status not in (404, 410):
            raise OutcomeUnknown(f"the address that reads back answered {answer.status}")
        self._refuse_early(back, ctx)
        return None

    def _refuse_early(self, back: ReadBack, ctx: Context) -> None:
        """Raise OutcomeUnknown while the request may still be on its way."""
        attempt, now_ms = ctx.action.attempt, self._access.services().clock.now_ms()
        if attempt is not None and now_ms - attempt.started_ms < back.settle_seconds * SECOND_MS:
            raise OutcomeUnknown(
                f"it is not there, less than {back.settle_seconds} seconds after the request"
            )

    async def _open(self, workspace_id: WorkspaceId) -> OpenedSecrets:
        services = self._access.services()
        if not self._request.secrets:
            return OpenedSecrets({})
        try:
            return await services.store.read(
                partial(open_secrets, services.vault, workspace_id, self._request.secrets)
            )
        except SealBroken:
            return OpenedSecrets({})

    async def _headers(self, ctx: Context, body: bytes) -> tuple[OpenedSecrets, dict[str, str]]:
        """Return the secrets and the headers of one request. Raises `NotSent` for a missing secret."""
        services = self._access.services()
        secrets = await self._open(ctx.workspace_id)
        for name in self._request.secrets:
            if secrets.get(name) is None:
                raise NotConnected(_explain_missing(name, ctx.workspace_id))
        signing = await signing_secret(services, ctx.workspace_id)
        signed = webhooks.headers(signing, ctx.key, services.clock.now_ms(), body)
        declared = self._request.fill_headers(dict(secrets.items()))
        return secrets, {
            "accept": "application/json",
            **{name.lower(): text for name, text in declared.items()},
            **signed,
            "assent-action-id": ctx.action_id,
        }

    async def _send(
        self, ctx: Context, method: str, url: str, body: bytes, headers: Mapping[str, str]
    ) -> Posted:
        allow_hosts = self._access.allow_hosts
        return await send_request(ctx, method, url, body, headers=headers, allow_hosts=allow_hosts)


def _explain_missing(name: str, workspace_id: WorkspaceId) -> str:
    return (
        f"The secret {name} is not stored in this workspace. Store it in a terminal of this server: "
        f"assent secret set {name} --workspace {workspace_id}"
    )


def _proves(back: ReadBack, proof: Any, values: Mapping[str, Any]) -> bool:
    if back.equals is not None:
        return proof is not None and write_value(proof) == fill_text(back.equals, values)
    return proof is not None and proof is not False


def _decode(body: bytes, secrets: OpenedSecrets) -> Any:
    """Return the JSON of an answer without the secrets that it repeats; None if it is no JSON."""
    hidden = [secret for _, secret in secrets.items() if len(secret) >= LEAST_HIDDEN_CHARS]
    try:
        return _hide(json.loads(body), hidden)
    except (ValueError, RecursionError):
        return None


def _hide(value: Any, secrets: Sequence[str]) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, HIDDEN)
        return value
    if isinstance(value, dict):
        return {_hide(name, secrets): _hide(part, secrets) for name, part in value.items()}
    return [_hide(part, secrets) for part in value] if isinstance(value, list) else value


def _find_detail(value: Any) -> str:
    """Return the message of a refusal, as APIs usually name it."""
    paths = (("error", "message"), ("message",), ("error",), ("detail",), ("title",))
    return next((text for path in paths if (text := read_text(value, path))), "")


def make_http_connectors(effects: Iterable[EffectFunction], access: HttpAccess) -> dict[str, Connector]:
    """Return the connector of each HTTP effect, by its id."""
    return {each.tool: HttpConnector(each, access) for each in effects if isinstance(each, HttpEffect)}
