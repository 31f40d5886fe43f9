"""What an error of the PostgreSQL driver means to a caller: one table over SQLSTATE codes and classes."""

from __future__ import annotations

import asyncpg

from assent.ports import ConstraintViolation, StoreUnavailable, UniqueViolation

AGAIN = frozenset({"40001", "40P01"})
"""Serialization failure and deadlock: the whole transaction may simply run again."""

UNAVAILABLE_CLASSES = frozenset({"08", "28", "53", "57", "58", "3D", "F0"})
"""Connection, authorization, resources (disk, memory, connections), operator intervention, system, no such
database, configuration file."""

UNAVAILABLE_CODES = frozenset({"25006", "25P03", "25P04", "42501", "55P03", "XX001", "XX002"})
"""Read-only server, idle time-outs, missing privilege, lock time-out, damaged data or index."""

CONNECTION_LOST = frozenset({"08", "57"})


class Again(StoreUnavailable):
    """Nothing was committed; running the transaction again may work."""


def meaning(error: Exception, *, before_commit: bool = False) -> Exception:
    """The error to raise instead; anything else is a bug and stays as it is.

    `before_commit` says that COMMIT was not sent yet, so that a lost connection has changed nothing.
    """
    if isinstance(error, asyncpg.PostgresError):
        return _by_state(error, before_commit)
    if isinstance(error, asyncpg.InterfaceError) and not isinstance(error, ValueError):
        # A bad value is a ValueError; what is left is a connection that closed under us.
        return _lost(error, before_commit)
    if isinstance(error, (OSError, TimeoutError)):
        return StoreUnavailable(f"postgres: {type(error).__name__}: {error}")
    return error


def _by_state(error: asyncpg.PostgresError, before_commit: bool) -> Exception:
    state = error.sqlstate or ""
    text = f"postgres: {error} ({state})"
    if state == "23505":
        return UniqueViolation(text)
    if state.startswith("23"):
        return ConstraintViolation(text)
    if state in AGAIN or isinstance(error, asyncpg.InvalidCachedStatementError):
        return Again(text) if before_commit else StoreUnavailable(text)
    if state[:2] in CONNECTION_LOST:
        return _lost(error, before_commit)
    if state[:2] in UNAVAILABLE_CLASSES or state in UNAVAILABLE_CODES:
        return StoreUnavailable(text)
    return error


def _lost(error: Exception, before_commit: bool) -> Exception:
    text = f"postgres: connection lost: {error}"
    return Again(text) if before_commit else StoreUnavailable(text)
