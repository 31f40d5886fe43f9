"""From a function's signature to the arguments of its tool: schema, reading, text form.

Each parameter has two types: that of the function (`Money`, a dataclass) and that of the wire, which
the published schema describes and the edge decodes. `Signature.read` builds the function's values
from wire values, `Signature.write` the wire values from the function's.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import inspect
import math
import re
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final, Literal, Union, get_args, get_origin

import msgspec

from assent.extensions.hooks import BadExtension
from assent.extensions.options import ArgumentProblem, name_place
from assent.kernel import canonical
from assent.kernel.canonical import MAX_SAFE_INTEGER
from assent.kernel.limits import MAX_CONTENT_CHARS
from assent.kernel.schemas import convert, explain_mismatch, find_published, publish
from assent.kernel.shapes import DECIMAL, MAX_DIGITS, MAX_PLACES, check_shape
from assent.kernel.structs import Record
from assent.ports import Context

DECIMAL_PATTERN: Final = f"^{DECIMAL}$"
MONEY_PATTERN: Final = f"^{DECIMAL.removeprefix('-?')} [A-Z]{{3}}$"
_MONEY: Final = re.compile(f"({DECIMAL}) ([A-Z]{{3}})", re.ASCII)


class Money:
    """An amount in a currency (ISO 4217). `str(money)` is its form on the wire: `12.50 EUR`.

    No struct and no dataclass, because the codec would read those from an object.
    """

    __slots__ = ("_currency", "_value")

    def __init__(self, value: Decimal, currency: str) -> None:
        """Raises `TypeError` for a value that is no Decimal, `ValueError` for one out of bounds."""
        if not isinstance(value, Decimal):
            raise TypeError(f"the value of money is a Decimal, not {type(value).__name__}")
        self._value = value
        self._currency = currency
        if _MONEY.fullmatch(str(self)) is None:
            raise ValueError(
                f"{str(self)[:60]!r} is not an amount with a currency such as 12.50 EUR "
                f"(at most {MAX_DIGITS} digits and {MAX_PLACES} places)"
            )

    @property
    def value(self) -> Decimal:
        return self._value

    @property
    def currency(self) -> str:
        return self._currency

    def __str__(self) -> str:
        bounded = self._value.is_finite() and abs(self._value.adjusted()) < 2 * MAX_DIGITS
        return f"{self._value:f} {self._currency}" if bounded else f"{self._value} {self._currency}"

    def __repr__(self) -> str:
        return f"Money({str(self._value)!r}, {self._currency!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Money):
            return NotImplemented
        return (self._value, self._currency) == (other._value, other._currency)

    def __hash__(self) -> int:
        return hash((self._value, self._currency))

    @classmethod
    def parse(cls, text: str) -> Money:
        """Parse `12.50 EUR`. Raises `ValueError` for any other form."""
        found = _MONEY.fullmatch(text)
        if found is None:
            raise ValueError(f"{text[:40]!r} is not an amount with a currency such as 12.50 EUR")
        return cls(Decimal(found[1]), found[2])


def encode_value(value: Any) -> Any:
    """Encoder hook: return the wire form of a value that the codec does not know."""
    if isinstance(value, Money):
        return str(value)
    raise NotImplementedError(type(value).__name__)


def decode_value(kind: type[Any], value: Any) -> Any:
    """Decoder hook: build a value of a type that the codec does not know."""
    if kind is Money:
        return Money.parse(value)
    raise NotImplementedError(kind.__name__)


CONTEXT: Final = "ctx"
"""The name of the first parameter, which gets the context of the call."""

MAX_NESTING: Final = 6
"""How deep dataclasses may nest: a reviewer reads every level."""

RESERVED: Final = frozenset(
    {"idempotencyKey", "idempotency_key", "tenantId", "tenant_id", "scheduleFor", "schedule_for"}
)
"""Arguments that every prepare tool has."""

SUPPORTED: Final = (
    "str, int, float, bool, Decimal, assent.Money, date, datetime, Literal, Enum, list[…], dict[str, …], "
    "a dataclass, or one of them with | None"
)

WIRE: Final[dict[Any, Any]] = {
    str: Annotated[str, msgspec.Meta(max_length=MAX_CONTENT_CHARS)],
    int: Annotated[int, msgspec.Meta(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)],
    float: float,
    bool: bool,
    type(None): None,
    datetime.date: datetime.date,
    datetime.datetime: Annotated[
        datetime.datetime,
        msgspec.Meta(description="A date and time with its zone, such as 2027-01-31T09:00:00+01:00."),
    ],
    Decimal: Annotated[
        str, msgspec.Meta(pattern=DECIMAL_PATTERN, description="A decimal number such as 12.50, as text.")
    ],
    Money: Annotated[
        str,
        msgspec.Meta(
            pattern=MONEY_PATTERN,
            description="An amount with its currency, such as 12.50 EUR. Ask for the currency, never guess it.",
        ),
    ],
}


PATTERNS: Final = {
    MONEY_PATTERN: "an amount with its currency, such as 12.50 EUR",
    DECIMAL_PATTERN: "a decimal number such as 12.50",
}
"""The patterns of texts on the wire, in words."""


class Parameter(Record, kw_only=True):
    """One argument of an effect."""

    name: str
    label: str
    kind: Any
    """Its type in the function."""
    wire: Any
    """Its type on the wire."""
    optional: bool = False
    default: Any = None
    """Its default on the wire."""
    description: str = ""
    is_text: bool = False
    """Whether it is a text, which may have many lines."""


class Signature(Record, kw_only=True):
    """The arguments of an effect's function."""

    place: str
    parameters: tuple[Parameter, ...]
    context: str | None
    """The name of the first parameter if it takes the context."""

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the function's values. Raises `ArgumentProblem` for a value that does not fit."""
        for name in arguments:
            if all(name != each.name for each in self.parameters):
                raise ArgumentProblem(name, "an argument of this action", "an unknown one")
        found: dict[str, Any] = {}
        for each in self.parameters:
            if each.name not in arguments and not each.optional:
                raise ArgumentProblem(each.name, "a value", "none")
            value = arguments.get(each.name, each.default)
            try:
                convert(value, each.wire)
                found[each.name] = _restore(msgspec.convert(value, each.kind, dec_hook=decode_value))
            except (msgspec.ValidationError, ValueError) as error:
                raise ArgumentProblem(each.name, _explain(each, str(error)), value) from None
        return found

    def read_approved(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the function's values for exactly these arguments. Raises `ArgumentProblem` if the
        function would get a value that is not among them, such as the default of a newer parameter."""
        values = self.read(arguments)
        for name, value in self.write(values).items():
            if name not in arguments or not _is_same(value, arguments[name]):
                raise ArgumentProblem(name, "the approved value", "another one")
        return values

    def write(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the wire values of all arguments, in the order of the parameters. Raises
        `ArgumentProblem` if one has the wrong type."""
        found: dict[str, Any] = {}
        for each in self.parameters:
            try:
                found[each.name] = _write(values[each.name])
                convert(found[each.name], each.wire)
            except (msgspec.ValidationError, ValueError, TypeError, NotImplementedError) as error:
                raise ArgumentProblem(each.name, str(error), values[each.name]) from None
        return found

    def request_type(self, name: str, own: list[tuple[str, Any, Any]]) -> type[Any]:
        """Return the struct of the tool's arguments: the parameters, then `own`."""
        fields: list[Any] = [
            (each.name, each.wire, _make_default(each.default)) if each.optional else (each.name, each.wire)
            for each in self.parameters
        ]
        return msgspec.defstruct(
            name, [*fields, *own], bases=(Record,), kw_only=True, frozen=True, forbid_unknown_fields=True
        )


def _explain(parameter: Parameter, message: str) -> str:
    """Return what the codec expected of an argument, in words."""
    place, expected = explain_mismatch(message)
    if expected.startswith("Invalid enum value") and (choices := _list_choices(parameter.kind)):
        expected = f"one of {', '.join(choices)}"
    elif expected.startswith("matching regex"):
        known = next((text for pattern, text in PATTERNS.items() if repr(pattern) in expected), None)
        expected = known or parameter.description or f"text {expected}"
    return f"{expected} (at {place})" if place else expected


def _list_choices(kind: Any) -> list[str]:
    """Return the values of an Enum or Literal, also of a list of them."""
    kind = _strip(kind)
    if get_origin(kind) is Literal:
        return [str(each) for each in get_args(kind)]
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return [str(each.value) for each in kind]
    return _list_choices(get_args(kind)[0]) if get_origin(kind) in (list, set, frozenset, tuple) else []


def select_arguments(function: Callable[..., Any], values: dict[str, Any]) -> dict[str, Any]:
    """Return the values that a function takes by name."""
    wanted = inspect.signature(function).parameters.values()
    if any(each.kind is each.VAR_KEYWORD for each in wanted):
        return values
    names = {each.name for each in wanted}
    return {name: value for name, value in values.items() if name in names}


def _is_same(one: Any, other: Any) -> bool:
    """Whether two wire values are the same. The order of a list does not count: a set has none."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        pairs = zip(
            sorted(one, key=canonical.canonical), sorted(other, key=canonical.canonical), strict=False
        )
        return len(one) == len(other) and all(_is_same(*pair) for pair in pairs)
    return bool(one == other)


def _make_default(value: Any) -> Any:
    return (
        msgspec.field(default_factory=lambda: type(value)(value)) if isinstance(value, list | dict) else value
    )


def _write(value: Any) -> Any:
    plain = msgspec.to_builtins(_list_fields(value), builtin_types=(Decimal,), enc_hook=encode_value)
    return _spell_decimals(plain)


def _list_fields(node: Any) -> Any:
    """Return a value with dictionaries instead of dataclasses. The codec leaves out the fields of a
    dataclass that it filled with their defaults."""
    if dataclasses.is_dataclass(node) and not isinstance(node, type):
        return {each.name: _list_fields(getattr(node, each.name)) for each in dataclasses.fields(node)}
    if isinstance(node, dict):
        return {name: _list_fields(part) for name, part in node.items()}
    return [_list_fields(part) for part in node] if isinstance(node, list | tuple | set | frozenset) else node


def _spell_decimals(node: Any) -> Any:
    """Write decimals with plain digits: their `str` may be `1E-9`. Refuses NaN and infinity."""
    if isinstance(node, Decimal):
        return f"{node:f}" if node.is_finite() else str(node)
    if isinstance(node, float) and not math.isfinite(node):
        raise ValueError("a finite number")
    if isinstance(node, dict):
        return {name: _spell_decimals(part) for name, part in node.items()}
    return [_spell_decimals(part) for part in node] if isinstance(node, list | tuple) else node


def read_signature(function: Callable[..., Any]) -> Signature:
    """Return the arguments of an effect's function. Raises `BadExtension` with the place, the
    parameter and what to write instead."""
    place = name_place(function)
    try:
        signature = inspect.signature(function)
        hints = typing.get_type_hints(function, include_extras=True)
    except Exception as error:
        # An annotation is code of the extension: it may raise anything.
        why = f"its annotations cannot be read ({type(error).__name__}: {error})."
        raise BadExtension(
            why, place=place, fix="Import every type that they name at the top of the file."
        ) from error
    found = list(signature.parameters.values())
    takes_context = bool(found) and (found[0].name == CONTEXT or hints.get(found[0].name) is Context)
    for each in found[takes_context:]:
        if hints.get(each.name) is Context:
            raise BadExtension(
                f"the context is not the first parameter, but {each.name} is one.",
                place=place,
                fix=f"Write {each.name} first.",
            )
    parameters = tuple(_read_parameter(each, hints, place) for each in found[takes_context:])
    context = found[0].name if takes_context else None
    return Signature(place=place, parameters=distinguish_labels(parameters), context=context)


def distinguish_labels(parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """Return the parameters with different labels: those that people would call the same (`to` and
    `to_`) are labelled with their names."""

    def read_label(each: Parameter) -> str:
        return " ".join(each.label.split()).casefold()

    used = Counter(map(read_label, parameters))
    return tuple(
        msgspec.structs.replace(each, label=each.name) if used[read_label(each)] > 1 else each
        for each in parameters
    )


def _read_parameter(found: inspect.Parameter, hints: Mapping[str, Any], place: str) -> Parameter:
    name = found.name
    if found.kind in (found.VAR_POSITIONAL, found.VAR_KEYWORD):
        star = "*" if found.kind is found.VAR_POSITIONAL else "**"
        raise BadExtension(
            f"the parameter {star}{name} is open-ended, so that no one could see what is approved.",
            place=place,
            fix=f"Write each argument as a parameter with a type, or one {name}: list[str].",
        )
    if found.kind is found.POSITIONAL_ONLY:
        raise BadExtension(
            f"the parameter {name} is positional-only.", place=place, fix="Remove the / from the parameters."
        )
    if name not in hints:
        raise BadExtension(
            f"the parameter {name} has no type.", place=place, fix=f"Write one, such as {name}: str."
        )
    if name in RESERVED or name.startswith("_"):
        raise BadExtension(f"the parameter name {name} is reserved.", place=place, fix="Choose another name.")
    wire = _find_wire(hints[name], name, place)
    try:
        schema = msgspec.json.schema(wire)
        msgspec.json.Decoder(wire)
    except (TypeError, ValueError) as error:
        raise _refuse_type(name, hints[name], place, str(error)) from None
    for bad in check_shape(find_published(wire) or {}, name):
        if bad.code != "unknown_keyword":  # a note of the author
            raise BadExtension(f"the schema at {bad.path} cannot be used.", place=place, fix=bad.message)
    optional = found.default is not found.empty
    default = None
    if optional:
        try:
            default = _write(found.default)
            convert(default, wire)
        except (msgspec.ValidationError, TypeError, ValueError, NotImplementedError) as error:
            raise BadExtension(
                f"the default of the parameter {name} does not fit its type ({error}).",
                place=place,
                fix="Correct the default or the type.",
            ) from None
    return Parameter(
        name=name,
        label=name.replace("_", " ").strip().capitalize(),
        kind=_strip_patterns(hints[name]),
        wire=wire,
        optional=optional,
        default=default,
        description=str(schema.get("description", "")),
        is_text=_strip(hints[name]) is str,
    )


def _strip(kind: Any) -> Any:
    """Return a type without `Annotated` and `| None`."""
    if get_origin(kind) is Annotated:
        return _strip(get_args(kind)[0])
    if get_origin(kind) in (Union, types.UnionType):
        others = [each for each in get_args(kind) if each is not type(None)]
        return _strip(others[0]) if len(others) == 1 else kind
    return kind


def _refuse_type(name: str, kind: Any, place: str, why: str = "") -> BadExtension:
    shown = kind.__name__ if isinstance(kind, type) else str(kind)
    return BadExtension(
        f"the parameter {name} has the type {shown}, which cannot be an argument{f' ({why})' if why else ''}.",
        place=place,
        fix=f"Write {SUPPORTED}.",
    )


def _find_wire(kind: Any, name: str, place: str) -> Any:
    """Return the wire type of an annotation. Raises `BadExtension` if it has none."""
    if _is_hashable(kind) and kind in WIRE:
        return WIRE[kind]
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _annotate(_find_wire(args[0], name, place), args[1:], name, place)
    if origin is Literal or (isinstance(kind, type) and issubclass(kind, enum.Enum)):
        return kind
    if origin in (Union, types.UnionType):
        return Union[tuple(_find_wire(each, name, place) for each in args)]  # noqa: UP007 - a value
    if origin in (list, set, frozenset) and len(args) == 1:
        return list[_find_wire(args[0], name, place)]  # type: ignore[misc]
    if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
        return list[_find_wire(args[0], name, place)]  # type: ignore[misc]
    if origin is dict and len(args) == 2 and args[0] is str:
        return dict[str, _find_wire(args[1], name, place)]  # type: ignore[misc]
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _wire_record(kind, name, place)
    raise _refuse_type(name, kind, place)


def _is_hashable(kind: Any) -> bool:
    try:
        hash(kind)
    except TypeError:
        return False
    return True


LIMITS: Final = frozenset({"gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length", "pattern"})
"""The limits that the codec, annotated_types and pydantic call by the same names."""


def _annotate(wire: Any, notes: Iterable[Any], name: str, place: str) -> Any:
    """Return a wire type with the notes of an annotation. Raises `BadExtension` for one that would be
    dropped: a reviewer and the agent rely on what the author wrote."""
    for note in notes:
        if (found := _read_note(note)) is None:
            raise BadExtension(
                f"the parameter {name} has the annotation {note!r}, which the server does not check.",
                place=place,
                fix="Write a text that describes it, msgspec.Meta, or pydantic's Field with a description, "
                f"examples and limits ({', '.join(sorted(LIMITS))}).",
            )
        for meta in found:
            wire = _limit(wire, meta)
            if (pattern := meta.pattern or (meta.extra_json_schema or {}).get("pattern")) is not None:
                wire = Annotated[wire, publish({"pattern": pattern})]
    return wire


def _limit(wire: Any, meta: msgspec.Meta) -> Any:
    """Return a wire type with another note. Of two limits the closer one holds: the codec takes only one, and every
    text and whole number has one of ours."""
    kind, *notes = get_args(wire) if get_origin(wire) is Annotated else (wire,)
    said = _read_meta(meta)
    kept = []
    for note in notes:
        before = dict(note.__rich_repr__())
        for lower, upper in (("ge", "le"), ("gt", "lt"), ("min_length", "max_length")):
            if lower in before and lower in said:
                said[lower] = max(before.pop(lower), said[lower])
            if upper in before and upper in said:
                said[upper] = min(before.pop(upper), said[upper])
        if "gt" in said:
            before.pop("ge", None)
        if "lt" in said:
            before.pop("le", None)
        kept.append(msgspec.Meta(**{name: value for name, value in before.items() if name not in said}))
    return Annotated[(kind, *kept, msgspec.Meta(**said))]


def _read_meta(note: msgspec.Meta) -> dict[str, Any]:
    """Return the values of a note but its pattern, which the codec would search by `re`."""
    return {name: value for name, value in note.__rich_repr__() if name != "pattern"}


def _read_note(note: Any) -> list[msgspec.Meta] | None:
    """Return what a note says in the codec's form: a text is a description. None if that is not all of it."""
    if isinstance(note, str):
        return [msgspec.Meta(description=note)]
    if isinstance(note, msgspec.Meta):
        return [note]
    if hasattr(note, "metadata") and hasattr(note, "description"):  # `Field` of pydantic
        blank = type(note)()
        written = {slot for slot in type(note).__slots__ if getattr(note, slot) != getattr(blank, slot)}
        if {each for each in written if each[0] != "_"} - {"description", "examples", "metadata"}:
            return None
        limits = [_read_note(each) for each in note.metadata]
        told = msgspec.Meta(description=note.description, examples=note.examples)
        return None if None in limits else [told, *(meta for each in limits for meta in each or ())]
    if hasattr(note, "__is_annotated_types_grouped_metadata__"):
        parts = [_read_note(each) for each in note]
        return None if None in parts else [meta for each in parts for meta in each or ()]
    values = {each: getattr(note, each) for each in LIMITS if getattr(note, each, None) is not None}
    return [msgspec.Meta(**values)] if values and set(getattr(note, "__dict__", ())) <= LIMITS else None


def _strip_pattern(note: Any) -> Any:
    if not isinstance(note, msgspec.Meta):
        return note
    return msgspec.Meta(**_read_meta(note))


def _strip_patterns(kind: Any) -> Any:
    """Return the type of a function's value without patterns, which the codec would search by `re`."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return Annotated[(_strip_patterns(args[0]), *map(_strip_pattern, args[1:]))]
    if origin in (Union, types.UnionType):
        return Union[tuple(map(_strip_patterns, args))]  # noqa: UP007 - a value
    if origin in (list, set, frozenset, tuple, dict):
        return origin[tuple(map(_strip_patterns, args))]
    return _twin(kind) if isinstance(kind, type) and dataclasses.is_dataclass(kind) else kind


class _Twin(Record):
    """Base of structs with the fields of a dataclass, without their patterns."""

    made_from: ClassVar[type[Any]]


def _twin(kind: type[Any]) -> type[Any]:
    """Return the twin of a dataclass, or the dataclass itself if no field has a pattern."""
    hints = typing.get_type_hints(kind, include_extras=True)
    stripped = {name: _strip_patterns(hint) for name, hint in hints.items()}
    if stripped == hints:
        return kind
    fields: list[Any] = [
        (each.name, stripped[each.name] | msgspec.UnsetType, msgspec.UNSET)
        for each in dataclasses.fields(kind)
    ]
    return msgspec.defstruct(
        kind.__name__, fields, bases=(_Twin,), namespace={"made_from": kind}, frozen=True
    )


def _restore(node: Any) -> Any:
    """Return a value with the dataclasses instead of their twins."""
    if isinstance(node, _Twin):
        given = ((name, getattr(node, name)) for name in node.__struct_fields__)
        return node.made_from(**{name: _restore(part) for name, part in given if part is not msgspec.UNSET})
    if isinstance(node, dict):
        return {name: _restore(part) for name, part in node.items()}
    return type(node)(map(_restore, node)) if isinstance(node, list | tuple | set | frozenset) else node


def _wire_record(kind: type[Any], name: str, place: str) -> Any:
    """Return the struct that has the wire types of a dataclass's fields."""
    if name.count(".") >= MAX_NESTING:
        raise _refuse_type(name.partition(".")[0], kind, place, "it nests too deeply")
    try:
        hints = typing.get_type_hints(kind, include_extras=True)
    except Exception as error:
        raise _refuse_type(name, kind, place, f"{type(error).__name__}: {error}") from error
    fields: list[Any] = []
    for each in dataclasses.fields(kind):
        wire = _find_wire(hints[each.name], f"{name}.{each.name}", place)
        if each.default is not dataclasses.MISSING:
            fields.append((each.name, wire, _make_default(_write(each.default))))
        elif each.default_factory is not dataclasses.MISSING:
            fields.append((each.name, wire, _make_default(_write(each.default_factory()))))
        else:
            fields.append((each.name, wire))
    return msgspec.defstruct(kind.__name__, fields, kw_only=True, forbid_unknown_fields=True)
