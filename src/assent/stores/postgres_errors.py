"""Translate errors of the PostgreSQL driver, by SQLSTATE codes and classes."""

from __future__ import annotations

import asyncpg

from assent.ports import ConstraintViolation, StoreUnavailable, UniqueViolation

AGAIN = frozenset({"40001", "40P01"})
"""Serialization failure and deadlock: the server rolled back, so the transaction may run again."""

LOST_CODES = frozenset({"57P01", "57P02", "57P05", "25P03", "25P04"})
"""The server has closed the connection: shutdown, crash, idle time-outs."""

UNAVAILABLE_CLASSES = frozenset({"08", "28", "53", "57", "58", "3D", "F0"})
"""Connection, authorization, resources (disk, memory, connections), operator intervention, system,
no such database, configuration file."""

UNAVAILABLE_CODES = frozenset({"25006", "42501", "55P03", "XX001", "XX002"})
"""Read-only server, missing privilege, lock time-out, damaged data or index."""


class Again(StoreUnavailable):
    """Nothing was committed; another run of the transaction may succeed."""


class Lost(Again):
    """Nothing was committed, because the connection broke before."""


def meaning(error: Exception, *, lost: bool = False, committing: bool = False) -> Exception:
    """Return the error to raise instead. An error that is not in the tables is a bug and is
    returned unchanged.

    `lost` says that the connection is closed. `committing` says that a COMMIT was sent; if the
    connection is lost, its result is unknown.
    """
    state = getattr(error, "sqlstate", None) or ""
    text = f"postgres: {type(error).__name__}: {error}"
    if state == "23505":
        return UniqueViolation(text)
    if state.startswith("23"):
        return ConstraintViolation(text)
    if state in AGAIN or isinstance(error, asyncpg.InvalidCachedStatementError):
        return Again(text)
    if isinstance(error, TimeoutError):
        return StoreUnavailable(text)
    if lost or state in LOST_CODES:
        return StoreUnavailable(text) if committing else Lost(text)
    if state[:2] in UNAVAILABLE_CLASSES or state in UNAVAILABLE_CODES or isinstance(error, OSError):
        return StoreUnavailable(text)
    return error
