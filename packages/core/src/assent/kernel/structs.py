"""Kinds of structs, and building one from a record or row by the names of its fields."""

from __future__ import annotations

from typing import Any, TypeVar, dataclass_transform

import msgspec

S = TypeVar("S", bound=msgspec.Struct)


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Record(msgspec.Struct, frozen=True):
    """A value that does not change. The decorator freezes subclasses for the type checker."""


class WireRecord(Record, rename="camel"):
    """A record that is written as JSON, with names in camel case."""


class Arguments(WireRecord, forbid_unknown_fields=True):
    """The arguments of a tool. Unknown ones are refused."""


def from_record(shape: type[S], record: object, **other: Any) -> S:
    """Build `shape` from equally named attributes of `record`; `other` has the rest."""
    same = {name: getattr(record, name) for name in shape.__struct_fields__ if name not in other}
    return shape(**same, **other)


def from_row(shape: type[S], row: Any, **other: Any) -> S:
    """Build `shape` from equally named columns of `row`; `other` has the rest."""
    return shape(**{name: row[name] for name in shape.__struct_fields__ if name not in other}, **other)
