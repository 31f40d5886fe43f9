"""A workspace's connection to a provider, as immutable values: its state, its accounts, and the
selected account.

A connection does not hold its secrets; they are a separate value that hides its content. The
account of an effect is selected here and stored with the effect when it is staged, so that an
approval covers it (C29).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from assent.kernel.ids import WorkspaceId
from assent.kernel.structs import Record, WireRecord


class ConnectionState(enum.StrEnum):
    """`expired`: the provider no longer accepts its secrets. `revoked`: a person disconnected
    it."""

    CONNECTED = "connected"
    EXPIRED = "expired"
    REVOKED = "revoked"


class Account(WireRecord):
    """An account at a provider. `chosen`: effects may go there; `default`: they do unless another
    is named; `active`: the provider can reach it."""

    id: str
    platform: str
    name: str
    chosen: bool = True
    default: bool = False
    active: bool = True

    @property
    def usable(self) -> bool:
        return self.chosen and self.active

    @property
    def target(self) -> dict[str, str]:
        """The target of an effect that goes there."""
        return {"accountId": self.id, "platform": self.platform, "name": self.name}


class Connection(WireRecord, kw_only=True):
    """A connection without its secrets. `version` increases with every new connection."""

    workspace_id: WorkspaceId
    provider: str
    state: ConnectionState
    label: str
    accounts: tuple[Account, ...] = ()
    scopes: tuple[str, ...] = ()
    settings: dict[str, Any] = {}
    expires_ms: int | None = None
    connected_by: str
    connected_ms: int
    changed_ms: int
    problem: str | None = None
    """Why the provider no longer accepts it."""
    version: int

    @property
    def live(self) -> bool:
        return self.state is ConnectionState.CONNECTED

    def account(self, account_id: str) -> Account | None:
        """Return the account of an id if effects can go there, else None."""
        return next((each for each in self.accounts if each.id == account_id and each.usable), None)

    def accounts_on(self, platform: str) -> tuple[Account, ...]:
        """Return the accounts for a platform: the defaults, else the first usable one. An
        unreachable default is not replaced by another account."""
        chosen = tuple(each for each in self.accounts if each.platform == platform and each.chosen)
        defaults = tuple(each for each in chosen if each.default)
        if defaults:
            return tuple(each for each in defaults if each.active)
        return tuple(each for each in chosen if each.active)[:1]


class OpenedSecrets:
    """Opened secrets by field. Its repr hides them, because it may reach a log or a traceback."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = dict(fields)

    def __getitem__(self, field: str) -> str:
        return self._fields[field]

    def get(self, field: str) -> str | None:
        return self._fields.get(field)

    def __iter__(self) -> Any:
        return iter(self._fields)

    def items(self) -> Any:
        return self._fields.items()

    def __repr__(self) -> str:
        return f"Credentials({', '.join(sorted(self._fields))})"


class Access(Record):
    """A connection with its opened secrets, for one call."""

    connection: Connection
    secrets: OpenedSecrets


class NewConnection(Record, kw_only=True):
    """A new connection with its secrets, before they are stored in the vault."""

    label: str
    secrets: OpenedSecrets
    accounts: tuple[Account, ...] = ()
    scopes: tuple[str, ...] = ()
    settings: dict[str, Any] = {}
    expires_ms: int | None = None


class Verified(Record, kw_only=True):
    """A provider's answer about a key that it accepts."""

    label: str
    accounts: tuple[Account, ...] = ()
    settings: dict[str, Any] = {}
