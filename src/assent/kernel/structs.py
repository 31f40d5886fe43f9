"""The kinds of structs, and building one from another record or from a row of the store by the names of its fields."""

from __future__ import annotations

from typing import Any, TypeVar, dataclass_transform

import msgspec

S = TypeVar("S", bound=msgspec.Struct)


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Record(msgspec.Struct, frozen=True):
    """A value that does not change. The decorator tells the type checker that subclasses are frozen, too."""


class WireRecord(Record, rename="camel"):
    """A record that is written as JSON, with names in camel case."""


class Arguments(WireRecord, forbid_unknown_fields=True):
    """The arguments of a tool. Unknown ones are refused."""


def from_record(shape: type[S], record: object, **other: Any) -> S:
    """Build `shape` from the attributes of `record` with the same names. `other` has the fields that differ."""
    same = {name: getattr(record, name) for name in shape.__struct_fields__ if name not in other}
    return shape(**same, **other)


def from_row(shape: type[S], row: Any, **other: Any) -> S:
    """Build `shape` from the columns of `row` with the same names. `other` has the fields that differ."""
    return shape(**{name: row[name] for name in shape.__struct_fields__ if name not in other}, **other)
