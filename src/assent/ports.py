"""The interfaces of Assent and their guarantees.

A transaction is a *generator*: it yields bound statements, receives their rows, and returns its
result. The SQLite writer drives it synchronously in its own thread, which allows group commit; the
PostgreSQL store drives the same generator with await. No other code uses a driver.

A connector performs only an `ApprovedAction`. An operator returns the effects it wants instead of
performing them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Protocol, TypeVar, cast, runtime_checkable

import msgspec

from assent.gate.calls import SuggestedCall
from assent.gate.connection import Access, Account, Connection, OpenedSecrets, Verified
from assent.gate.gate import ApprovedAction
from assent.gate.preflight import Readiness
from assent.gate.records import Action, Effect, Severity
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Reason
from assent.kernel.structs import Record, WireRecord

T = TypeVar("T")


class Row(Protocol):
    """One row: columns by name or by position."""

    def __getitem__(self, key: Any, /) -> Any: ...


Rows = Sequence[Row]


class Statement(Record):
    """A named statement, compiled for both dialects. `params` is the order of its positional
    values, `writes` whether it changes or locks rows, `counted` whether SQLite returns an empty row
    for each changed row."""

    name: str
    sqlite: str
    postgres: str
    params: tuple[str, ...]
    writes: bool = True
    counted: bool = False

    def bound_type(self) -> type[Bound]:
        """Make the class of this statement with values. Its constructor raises TypeError for a
        missing or unknown parameter."""
        made = msgspec.defstruct(
            self.name, self.params, bases=(Bound,), namespace={"statement": self}, frozen=True, kw_only=True
        )
        return cast("type[Bound]", made)


class Bound(Record, kw_only=True):
    """A statement with its values. Each statement has its own subclass, which has a field for each
    parameter, in order; `msgspec.structs.astuple` returns the values."""

    statement: ClassVar[Statement]

    if TYPE_CHECKING:

        def __init__(self, **values: Any) -> None: ...


Transaction = Generator[Bound, Rows, T]
"""Yields statements, receives their rows, returns its result."""

Begin = Callable[[], Generator[Bound, Rows, T]]
"""Creates the generator. A store may run a transaction again after a serialization failure, so it
must have no effects other than the statements it yields."""


class Single(Record):
    """A transaction of one statement that returns its rows: `await
    store.write(Single(statements.x(…)))`.

    One statement is atomic without BEGIN and COMMIT, which saves PostgreSQL two round trips.
    """

    bound: Bound

    def __call__(self) -> Transaction[Rows]:
        return (yield self.bound)


class Signal(Protocol):
    """A flag that a task can wait for, such as `asyncio.Event`."""

    def set(self) -> None: ...

    def clear(self) -> None: ...

    async def wait(self) -> bool: ...


class Store(Protocol):
    """Durable state. `write` returns after the transaction is on disk, or raises and nothing is
    stored.

    Raises `StoreUnavailable` when the database cannot be reached, is read-only or full; nothing is
    stored then, and the next call may succeed without a restart. If a connection breaks during its
    COMMIT, the result is unknown: repeat the call with the same idempotency key. An exception of
    the generator rolls back its transaction and reaches the caller unchanged. A statement that
    violates a constraint ends the transaction with `ConstraintViolation`; the generator does not
    see it, because PostgreSQL has aborted the transaction by then.

    Every statement returns a list of rows, which may be empty. `read` sees one snapshot and cannot
    write. The transaction of a cancelled caller happens completely or not at all.

    Creating a store does no work. `open` connects and checks the schema (`SchemaMismatch`); without
    it the first call does. `close` finishes earlier requests.
    """

    dialect: str

    @property
    def written(self) -> Signal:
        """Set after every write through this object. The task that waits for writes clears it."""
        ...

    async def open(self) -> None: ...

    async def write(self, begin: Begin[T]) -> T: ...

    async def read(self, begin: Begin[T]) -> T: ...

    async def close(self) -> None: ...


class StoreUnavailable(Exception):  # noqa: N818 - a state of the world, not a programming error
    """The database cannot serve this call now. The message is for the log, never for a caller."""


class SchemaMismatch(StoreUnavailable):
    """This release cannot use the schema of the database. The message says what to do."""


class SchemaTooNew(SchemaMismatch):
    """A newer release has migrated this database."""


class SchemaOutdated(SchemaMismatch):
    """The database needs `assent migrate`."""


class ConstraintViolation(Exception):  # noqa: N818 - an outcome, not a fault
    """A statement violated a constraint of the schema; its transaction was rolled back."""


class UniqueViolation(ConstraintViolation):
    """A row with this key exists."""


class Clock(Protocol):
    """The time as a value: milliseconds since the epoch."""

    def now_ms(self) -> int: ...


class Connections(Protocol):
    """A connector's access to its own connections. Secrets are opened for one call and not kept."""

    async def find(self, workspace_id: WorkspaceId, provider: str) -> Connection | None: ...

    async def access(self, workspace_id: WorkspaceId, provider: str) -> Access | None: ...

    async def renew(self, used: Connection, secrets: OpenedSecrets, expires_ms: int | None) -> bool: ...

    async def mark_expired(self, used: Connection, why: str) -> bool: ...

    async def update_accounts(self, used: Connection, accounts: tuple[Account, ...], why: str) -> bool: ...


class Delivery(Record):
    """A connector's guarantee for a repeated send (C30).

    `native_key`: the provider recognises our key for `window_ms`; with `searches` an effect may
    still be found after that, but finding none proves nothing. `natural_key`: the effect is unique,
    so a repetition finds it. `read_back`: the provider can be asked whether it happened. `none`:
    only a person can tell.
    """

    kind: Literal["native_key", "natural_key", "read_back", "none"]
    window_ms: int | None = None
    searches: bool = False

    def __post_init__(self) -> None:
        if (self.kind == "native_key") != (self.window_ms is not None):
            raise ValueError(
                "a native key, and nothing else, has a window in which the provider recognises it"
            )


class Remainder(Record):
    """The part of an effect that was not delivered, offered as a separate action. `reached` says in
    words where the rest was delivered, `why` why this part was not."""

    effect: Effect
    reached: str
    why: str


class Delivered(Record):
    """The effect happened: id, URL, evidence. `rest` is the part that was not delivered."""

    external_id: str
    external_url: str | None = None
    evidence: dict[str, Any] = {}
    rest: Remainder | None = None


class NotSent(Exception):  # noqa: N818 - what is known
    """The effect did not happen. `curable`: the same action may be retried (C10)."""

    def __init__(
        self,
        reason: Reason,
        detail: str,
        *,
        curable: bool,
        retry_after_seconds: int | None = None,
        of_the_effect: bool = False,
    ) -> None:
        """`of_the_effect`: the provider's answer is about the effect, not about the request."""
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.curable = curable
        self.retry_after_seconds = retry_after_seconds
        self.of_the_effect = of_the_effect


REFERENCE: Final = "providerReference"
"""Metadata key of the provider's reference to an effect whose outcome is unknown."""


class OutcomeUnknown(Exception):  # noqa: N818 - what is known
    """The effect may or may not have happened. Every exception other than `NotSent` counts as this.
    `reference` is the provider's reference, if known; it is stored with the action for
    `look_up`."""

    def __init__(self, detail: str = "", *, reference: str | None = None) -> None:
        super().__init__(detail)
        self.reference = reference


SendOutcome = Delivered | NotSent | OutcomeUnknown


class Connector(Protocol):
    """The code for a provider. `perform` is called outside any transaction, only with a claimed and
    approved action, and must end within `timeout_seconds`.

    A connector without account and settings has `always_ready = True`; its readiness is not checked
    before a claim.
    """

    id: str
    delivery: Delivery

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness: ...

    async def perform(self, approved: ApprovedAction, timeout_seconds: float) -> Delivered: ...

    async def look_up(self, approved: ApprovedAction, timeout_seconds: float) -> Delivered | None:
        """For `read_back`: return the delivery, or None if it certainly did not happen. Raises
        `OutcomeUnknown` if the provider cannot tell yet."""
        ...


class Reading(WireRecord, kw_only=True):
    """The metrics of one effect from one source. Unavailable is not zero: `reason` says why there
    is no number (E100)."""

    source: str
    channel: str
    status: Literal["ok", "unavailable"]
    metrics: dict[str, int | float] = {}
    reason: str | None = None
    left_out: tuple[str, ...] = ()
    """Implausible values of the source, in words."""


@runtime_checkable
class Addressed(Protocol):
    """A connector whose effects go to an account. The account is fixed at staging and is part of
    the approved content (C29). Both methods read stored data and call no provider."""

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
class Measurable(Protocol):
    """A connector that can measure an effect."""

    async def measure(self, action: Action, timeout_seconds: float) -> Reading: ...


class Picture(Record, kw_only=True):
    """A picture with its bytes. `alt` describes it; `digest` is the hash of the bytes."""

    content: bytes
    content_type: str
    width: int
    height: int
    alt: str
    digest: str


PicturesOf = Callable[[Action], Awaitable[tuple[Picture, ...]]]
"""Returns the pictures of an action exactly as approved. Raises `NotSent` if one is missing. A
connector takes this as an argument and uploads before the call that has the effect."""


class Campaign(Record, kw_only=True):
    """A run's delivered effects for a source that counts visitors: pages, and since when."""

    workspace_id: WorkspaceId
    connections: Mapping[str, Connection]
    """The workspace's connections, by provider."""
    pages: tuple[str, ...]
    since_ms: int
    until_ms: int


@runtime_checkable
class CampaignSource(Protocol):
    """A connector that can measure a whole run. None: the workspace has not connected it."""

    async def measure_campaign(self, campaign: Campaign, timeout_seconds: float) -> Reading | None: ...


class Draft(Record, kw_only=True):
    """A piece of content that an operator made."""

    type: str
    title: str
    body: str
    channel: str | None = None
    metadata: dict[str, Any] = {}
    picture: Picture | None = None
    """The picture, if the draft is one."""


class StagedEffect(Record, kw_only=True):
    """An effect that an operator requests. `draft` is the index of its content."""

    effect: Effect
    executor_tool: str
    draft: int | None = None
    picture: int | None = None
    """The index of the draft that is the attached picture."""
    severity: Severity | None = None
    warnings: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()
    cost_credits: int = 0
    schedule_ms: int | None = None
    expires_ms: int | None = None
    metadata: dict[str, Any] = {}
    paths: dict[str, str] = {}
    """The path of each part of the content in the call's arguments."""
    rewrite: dict[str, str] = {}
    """Requirements for a text that replaces the composed one, by argument."""


THIS_RUN: Final = "\0this run"
"""Placeholder in a suggested call for the id of the run that is being prepared."""


class Preparation(Record, kw_only=True):
    """The result of an operator's prepare. The engine stores, checks and asks for approval (E9)."""

    drafts: tuple[Draft, ...] = ()
    effects: tuple[StagedEffect, ...] = ()
    outputs: dict[str, Any] = {}
    next_calls: tuple[SuggestedCall, ...] = ()
    """Complete calls that need no decision of the person."""
    notes: tuple[str, ...] = ()
    """Sentences for the person about the whole run."""
    user_message: str = ""
    """For the person, if nothing is staged."""
    show: str = ""
    """Markdown for the person, if nothing is staged and the drafts do not contain it."""
    writing: dict[str, Any] | None = None
    """Material for an agent that writes texts instead of the composed ones."""
