"""Builds a struct from another record or from a row of the store, by the names of its fields."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

S = TypeVar("S", bound=msgspec.Struct)


def from_record(shape: type[S], record: object, **other: Any) -> S:
    """Build `shape` from the attributes of `record` with the same names. `other` has the fields that differ."""
    same = {name: getattr(record, name) for name in shape.__struct_fields__ if name not in other}
    return shape(**same, **other)


def from_row(shape: type[S], row: Any, **other: Any) -> S:
    """Build `shape` from the columns of `row` with the same names. `other` has the fields that differ."""
    return shape(**{name: row[name] for name in shape.__struct_fields__ if name not in other}, **other)
