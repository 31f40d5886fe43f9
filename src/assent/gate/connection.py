"""A workspace's connection to a provider, as frozen values: its state, its accounts, and which of them is meant.

Secrets are a value of their own that shows nothing of itself, and no connection carries them. Which account an effect
goes to is decided here and stored with the effect when it is staged, so that it is part of what is approved (C29).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

import msgspec

from assent.kernel.ids import WorkspaceId


class ConnectionState(enum.StrEnum):
    """`expired`: the provider does not accept its secrets any more. `revoked`: somebody disconnected it."""

    CONNECTED = "connected"
    EXPIRED = "expired"
    REVOKED = "revoked"


class Account(msgspec.Struct, frozen=True, rename="camel"):
    """One place at a provider. `chosen`: effects may go there; `default`: they do where nothing else is said;
    `active`: the provider can reach it."""

    id: str
    platform: str
    name: str
    chosen: bool = True
    default: bool = False
    active: bool = True

    @property
    def usable(self) -> bool:
        return self.chosen and self.active


class Connection(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What may be known about a connection. `version` says which making of it somebody has in hand."""

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
    """Why the provider does not accept it any more."""
    version: int

    @property
    def live(self) -> bool:
        return self.state is ConnectionState.CONNECTED

    def account(self, account_id: str) -> Account | None:
        """The account of an id, if effects can go there."""
        return next((each for each in self.accounts if each.id == account_id and each.usable), None)

    def accounts_on(self, platform: str) -> tuple[Account, ...]:
        """Where an effect for a platform goes: the defaults, else the first that may be used. A default that cannot be
        reached is not replaced by somebody else's account."""
        chosen = tuple(each for each in self.accounts if each.platform == platform and each.chosen)
        defaults = tuple(each for each in chosen if each.default)
        if defaults:
            return tuple(each for each in defaults if each.active)
        return tuple(each for each in chosen if each.active)[:1]


class OpenedSecrets:
    """Opened secrets by field. Shows nothing of itself: it may end up in a log or a traceback."""

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


class Access(msgspec.Struct, frozen=True):
    """A connection with its opened secrets, for the moment of a call."""

    connection: Connection
    secrets: OpenedSecrets


class NewConnection(msgspec.Struct, frozen=True, kw_only=True):
    """What a human granted, on its way into the vault."""

    label: str
    secrets: OpenedSecrets
    accounts: tuple[Account, ...] = ()
    scopes: tuple[str, ...] = ()
    settings: dict[str, Any] = {}
    expires_ms: int | None = None


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """What a provider says about a key that it accepts."""

    label: str
    accounts: tuple[Account, ...] = ()
    settings: dict[str, Any] = {}
