"""A workspace's connection to a provider, as immutable values: its state, its accounts, and the
selected account.

A connection does not hold its secrets; they are a separate value that hides its content. The
account of an effect is selected here and stored with the effect when it is staged, so that an
approval covers it (C29).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Final, Literal

from assent.kernel.ids import WorkspaceId
from assent.kernel.structs import Record, WireRecord

API_KEY: Final = "apiKey"
"""The field of the secrets that has the key a person entered."""

ANY_ADDRESS: Final = "anyAddress"
"""A connection setting: a person at this server's terminal may name a host in a private network."""


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

    @property
    def any_address(self) -> bool:
        """Whether its host may be in a private network."""
        return self.settings.get(ANY_ADDRESS) is True

    @property
    def ended(self) -> bool:
        """Whether the provider no longer accepts it."""
        return self.state is ConnectionState.EXPIRED

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

    @property
    def key(self) -> str | None:
        """The key that a person entered, if it is connected by one."""
        return self.secrets.get(API_KEY)


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


AuthMode = Literal["none", "api_key", "oauth", "password"]
"""`password`: a mail server with user and password, of the workspace or of the whole server."""


class KeyWords(Record):
    """The field for a key: where the provider gives it out, what it looks like, what it is called."""

    where: str
    looks: str
    label: str = "Key"
    page: str = ""
    """The page of the provider that gives it out."""
    starts: str = ""
    """How every key begins."""


class ChoiceWords(Record):
    """The form for one of several things of an account (`assent.ports.Choosing`)."""

    title: str
    label: str
    hint: str
    wrong: str


class ProviderWords(Record, kw_only=True):
    """The page on which a person connects a provider."""

    gives: str
    asks: str
    key: KeyWords | None = None
    choice: ChoiceWords | None = None


class ConnectorInfo(WireRecord):
    """A connector: its channels, how it is connected and how it treats an effect. Not whether it
    works now."""

    id: str
    label: str
    description: str
    auth_mode: AuthMode
    channels: tuple[str, ...]
    does: tuple[str, ...]
    """Its activities: `publish`, `send`, `measure`, or another word."""
    needed: str = ""
    """Tells a person what they need to connect it."""
    on_page: bool = False
    """Whether a person connects it on a page of this server."""
    sends_link: bool = False
    """Whether it puts the link of an effect beside its text."""
    hides_recipients: bool = False
    """Whether it hides the recipients of a message from each other."""
    most_recipients: int | None = None
    sends_pictures: bool = True
    decodes_headers: bool = False
    """Whether its provider composes the mail and might decode an encoded word in a header."""
    connect: ProviderWords | None = None
    """The words of the page on which a person connects it."""
    activities: tuple[str, ...] = ()
    """Its activities in words for people, where `does` has other words than these three."""
    platforms: dict[str, str] = {}
    """Names for people of platforms that the provider calls otherwise than the channel."""
    icon: str = ""
    """Its drawing on pages; without one, a drawing of what it does."""

    @property
    def name_inside(self) -> str:
        """Its name in the middle of a sentence."""
        return self.label.replace("Your ", "your ", 1)
