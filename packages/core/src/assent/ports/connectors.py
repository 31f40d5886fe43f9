"""The connector port: a connector performs an approved effect and reports what is known of it.

The engine gives `perform` a `Context`, which only an `ApprovedAction` makes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol, runtime_checkable

from assent.gate.connection import Access, Account, Connection, OpenedSecrets, Verified
from assent.gate.outcomes import Delivered, Delivery
from assent.gate.preflight import Readiness
from assent.gate.records import Effect
from assent.kernel.ids import WorkspaceId
from assent.kernel.structs import WireRecord
from assent.ports.context import Context


class Connections(Protocol):
    """A connector's access to its own connections. Secrets are opened for one call and not kept."""

    async def find(self, workspace_id: WorkspaceId, provider: str) -> Connection | None: ...

    async def access(self, workspace_id: WorkspaceId, provider: str) -> Access | None: ...

    async def renew(self, used: Connection, secrets: OpenedSecrets, expires_ms: int | None) -> bool: ...

    async def mark_expired(self, used: Connection, why: str) -> bool: ...

    async def update_accounts(self, used: Connection, accounts: tuple[Account, ...], why: str) -> bool: ...


class Connector(Protocol):
    """The code for a provider. `perform` is called outside any transaction, only for a claimed and
    approved action, and must end within `ctx.timeout_seconds`.

    `info`, a `ConnectorInfo`, describes it to people. A connector without account and settings has
    `always_ready = True`; its readiness is not checked before a claim. A connector that marks its
    requests with `ctx.sending()` has `uses_sending = True`: an undeclared exception before the mark
    then means not sent. One with a time limit of its own has `timeout_seconds`. One that the settings
    point at an emulator on this machine has `emulated = True`: tests may reach it.
    """

    id: str
    delivery: Delivery

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness: ...

    async def perform(self, ctx: Context, effect: Effect) -> Delivered: ...

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        """For `read_back`: return the delivery, or None if it certainly did not happen. Raises
        `OutcomeUnknown` if the provider cannot tell yet."""
        ...


class Reading(WireRecord, kw_only=True):
    """The metrics of one effect from one source. Unavailable is not zero: `reason` says why there
    is no number (E100); without one, the source never gives any."""

    source: str
    channel: str
    status: Literal["ok", "unavailable"]
    metrics: dict[str, int | float] = {}
    """What the source gave. Only credible numbers of it are stored."""
    reason: str | None = None
    left_out: tuple[str, ...] = ()
    """Implausible values of the source, in words."""


@runtime_checkable
class Addressed(Protocol):
    """A connector whose effects go to an account. The account is fixed at staging and is part of
    the approved content (C29). Both methods read stored data and call no provider.

    One whose effects show more of their target has `rereads = True`: an address made of arguments, a
    text that would be replaced. Its `addressed` may ask the provider. It is called again after each
    edit, before an approval and before a claim."""

    async def addressed(self, workspace_id: WorkspaceId, effect: Effect) -> Effect:
        """Return the effect with its account, or without one if none is connected."""
        ...

    async def readiness_for(self, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
        """Return the readiness for this effect."""
        ...


@runtime_checkable
class KeyChecked(Protocol):
    """A connector whose accounts are used with a key that a person enters."""

    async def verify(self, key: str, timeout_seconds: float) -> Verified:
        """Ask the provider about a key. Raises `NotSent` if it rejects it or is unreachable."""
        ...

    async def look_around(self, workspace_id: WorkspaceId, timeout_seconds: float) -> None:
        """Refresh the list of accounts from the provider. A failure changes nothing."""
        ...


@runtime_checkable
class Mailing(Protocol):
    """A connector that can also mail the server's own notes, such as sign-in links."""

    async def can_mail_notes(self, workspace_id: WorkspaceId) -> bool:
        """Whether the workspace's own mail server is connected."""
        ...

    async def mail_note(
        self, workspace_id: WorkspaceId, to: str, subject: str, text: str, key: str, seconds: float
    ) -> None:
        """Mail a note through the workspace's own mail server. Raises `NotSent`, `OutcomeUnknown`."""
        ...


@runtime_checkable
class Identifying(Protocol):
    """A connector that asks its provider for the account of a new OAuth grant."""

    async def identify(self, token: str, timeout_seconds: float) -> Account | None:
        """Return the account of an access token. Raises `NotSent` if the provider rejects it."""
        ...


@runtime_checkable
class Choosing(Protocol):
    """A connector that uses one of several things of its account. A person chooses it."""

    setting: str
    """The name of the choice in the connection's settings."""

    def chosen(self, connection: Connection) -> str | None:
        """Return the id of the choice; None until a person has chosen."""
        ...

    def read_choice(self, typed: str) -> str | None:
        """Return the id that a person typed as the provider writes it; None for an invalid one."""
        ...

    async def choices(
        self, workspace_id: WorkspaceId, timeout_seconds: float
    ) -> tuple[tuple[str, str], ...] | None:
        """Ask the provider for the choices, each with its id and its name. None if it does not list them."""
        ...


@runtime_checkable
class Observing(Protocol):
    """A connector that can read the state of what an effect would change. Its attribute `observes` says
    whether it does so for its effects."""

    id: str
    observes: bool

    async def observe(
        self, workspace_id: WorkspaceId, effect: Effect, timeout_seconds: float
    ) -> Mapping[str, Any]:
        """Return a few facts by name, such as the version of a page: texts and numbers. It has no
        effect. A fact with another value at the execution than at the approval stops the action."""
        ...
