"""The seams of Assent and what each promises.

A transaction is a *generator*: it yields bound statements and receives their rows, and returns its result.
The SQLite writer drives it synchronously inside its own thread (so that group commit stays possible), the
PostgreSQL adapter drives the same generator with await. No other code touches a driver.

A connector takes nothing but an `ApprovedAction`, and an operator returns what it wants to happen instead of doing it.

Nothing here knows a transport or a dialect.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any, Final, Literal, Protocol, TypeVar, runtime_checkable

import msgspec

from assent.gate.calls import SuggestedCall
from assent.gate.connection import Access, Account, Connection, OpenedSecrets, Verified
from assent.gate.gate import ApprovedAction
from assent.gate.preflight import Readiness
from assent.gate.records import Action, Effect, Severity
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Reason

T = TypeVar("T")


class Row(Protocol):
    """One row: columns by name or by position, as both drivers give it."""

    def __getitem__(self, key: Any, /) -> Any: ...


Rows = Sequence[Row]


class Statement(msgspec.Struct, frozen=True):
    """A named statement, compiled once for both dialects. `params` is the order of its positional values,
    `writes` whether it changes or locks anything, `counted` whether SQLite answers with an empty row for each that it
    has changed."""

    name: str
    sqlite: str
    postgres: str
    params: tuple[str, ...]
    writes: bool = True
    counted: bool = False

    def __call__(self, **values: Any) -> Bound:
        try:
            ordered = tuple(map(values.__getitem__, self.params))
        except KeyError:
            raise self._mismatch(values) from None
        if len(ordered) != len(values):
            raise self._mismatch(values)
        return Bound(self, ordered)

    def _mismatch(self, values: dict[str, Any]) -> TypeError:
        odd = sorted(set(values) ^ set(self.params))
        return TypeError(f"statement {self.name}: parameters {odd} do not match")


class Bound(msgspec.Struct, frozen=True):
    """A statement with its values, ready for a driver."""

    statement: Statement
    values: tuple[Any, ...]


Transaction = Generator[Bound, Rows, T]
"""Yields statements, receives their rows, returns its result."""

Begin = Callable[[], Generator[Bound, Rows, T]]
"""Makes a fresh generator: a store may run it again after a serialization failure, so it must be free of
effects other than the statements it yields."""


class Single(msgspec.Struct, frozen=True):
    """A transaction of one statement, which gives its rows: `await store.write(Single(statements.x(…)))`.

    A statement is atomic by itself, so that PostgreSQL is asked once instead of three times.
    """

    bound: Bound

    def __call__(self) -> Transaction[Rows]:
        return (yield self.bound)


class Store(Protocol):
    """Durable state. `write` returns only after the transaction is on disk (or raises and nothing is).

    Raises `StoreUnavailable` when the database cannot be reached, is read-only or full; nothing is half done
    then, and the next call may succeed without a restart. Where a connection breaks while its COMMIT is on
    the way, nobody can know whether the whole transaction is there: repeat with the same idempotency key. An
    exception raised by the generator rolls its transaction back and is re-raised to the caller as it is. A
    statement that breaks a constraint ends the transaction with `ConstraintViolation`; the generator does not
    see it, because PostgreSQL has given the transaction up by then.

    Every statement answers with a list of rows, an empty one where it returns none. `read` sees one snapshot
    and cannot write. A cancelled caller's transaction happens as a whole or not at all.

    Making a store does no work. `open` connects and checks the schema (`SchemaMismatch`); without it the
    first call does the same. `close` finishes what was asked before it.
    """

    dialect: str

    async def open(self) -> None: ...

    async def write(self, begin: Begin[T]) -> T: ...

    async def read(self, begin: Begin[T]) -> T: ...

    async def close(self) -> None: ...


class StoreUnavailable(Exception):  # noqa: N818 - a state of the world, not a programming error
    """The database cannot serve this call now; the message is for the log, never for a caller."""


class SchemaMismatch(StoreUnavailable):
    """The database holds a schema that this release cannot work with; the message says what to do."""


class SchemaTooNew(SchemaMismatch):
    """A newer release has migrated this database."""


class SchemaOutdated(SchemaMismatch):
    """The database waits for `assent migrate`."""


class ConstraintViolation(Exception):  # noqa: N818 - what happened, whoever is to blame
    """A statement would have broken a constraint of the schema; its transaction was rolled back."""


class UniqueViolation(ConstraintViolation):
    """A row with this key is there already."""


class Clock(Protocol):
    """The time as a value: milliseconds since the epoch."""

    def now_ms(self) -> int: ...


class Connections(Protocol):
    """What a connector may know and say about its own connections. Secrets are opened for the moment of a call and
    kept nowhere."""

    async def find(self, workspace_id: WorkspaceId, provider: str) -> Connection | None: ...

    async def access(self, workspace_id: WorkspaceId, provider: str) -> Access | None: ...

    async def renew(self, used: Connection, secrets: OpenedSecrets, expires_ms: int | None) -> bool: ...

    async def mark_expired(self, used: Connection, why: str) -> bool: ...

    async def update_accounts(self, used: Connection, accounts: tuple[Account, ...], why: str) -> bool: ...


class Delivery(msgspec.Struct, frozen=True):
    """What a connector can promise about repeating a send (C30).

    `native_key`: the provider recognises our key for `window_ms`; `searches` says that an effect may still be found
    after that, though finding none proves nothing. `natural_key`: the effect itself is unique, so a repetition finds
    it. `read_back`: the provider can be asked whether it happened. `none`: only a human can say.
    """

    kind: Literal["native_key", "natural_key", "read_back", "none"]
    window_ms: int | None = None
    searches: bool = False

    def __post_init__(self) -> None:
        if (self.kind == "native_key") != (self.window_ms is not None):
            raise ValueError(
                "a native key, and nothing else, has a window in which the provider recognises it"
            )


class Remainder(msgspec.Struct, frozen=True):
    """The part of an effect that did not happen while another did: offered as an action of its own. `reached` says in
    words where it is out, `why` why it is not elsewhere."""

    effect: Effect
    reached: str
    why: str


class Delivered(msgspec.Struct, frozen=True):
    """The effect happened: how the provider names it, where it can be seen, and what it said. `rest` is what of it did
    not happen."""

    external_id: str
    external_url: str | None = None
    evidence: dict[str, Any] = {}
    rest: Remainder | None = None


class NotSent(Exception):  # noqa: N818 - what is known
    """The effect definitely did not happen. Curable: the same action may be tried again later (C10)."""

    def __init__(
        self,
        reason: Reason,
        detail: str,
        *,
        curable: bool,
        retry_after_seconds: int | None = None,
        of_the_effect: bool = False,
    ) -> None:
        """`of_the_effect`: the provider speaks of the effect itself, not of the request that asked about it."""
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.curable = curable
        self.retry_after_seconds = retry_after_seconds
        self.of_the_effect = of_the_effect


REFERENCE: Final = "providerReference"
"""Where an action's metadata keeps how the provider names an effect of which nothing else is known yet."""


class OutcomeUnknown(Exception):  # noqa: N818 - what is known
    """The effect may or may not have happened. Also how every exception is read that is not `NotSent`. `reference` is
    how the provider names it, where it said so much: kept with the action, for `look_up`."""

    def __init__(self, detail: str = "", *, reference: str | None = None) -> None:
        super().__init__(detail)
        self.reference = reference


class Connector(Protocol):
    """One way out into the world. `perform` is called outside any transaction, with a claimed and approved action and
    nothing else; it must end within `timeout_seconds`.

    A connector that needs no account and no settings says `always_ready = True`: then its readiness is not asked for
    before every claim."""

    id: str
    delivery: Delivery

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness: ...

    async def perform(self, approved: ApprovedAction, timeout_seconds: float) -> Delivered: ...

    async def look_up(self, approved: ApprovedAction, timeout_seconds: float) -> Delivered | None:
        """Whether it happened, for `read_back`: the delivery, or None when it definitely did not. Raises
        `OutcomeUnknown` when the provider cannot say yet."""
        ...


class Reading(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What one source says about one effect. Unavailable is not zero: it says why there is no number (E100)."""

    source: str
    channel: str
    status: Literal["ok", "unavailable"]
    metrics: dict[str, int | float] = {}
    reason: str | None = None
    left_out: tuple[str, ...] = ()
    """Values that the source gave and that cannot be right, in words."""


@runtime_checkable
class Addressed(Protocol):
    """A connector whose effects go to an account: which one is fixed when an action is staged and is part of what is
    approved (C29). Both look at what is stored and call nobody."""

    async def addressed(self, workspace_id: WorkspaceId, effect: Effect) -> Effect:
        """The effect with its target, or with none where there is no account for it."""
        ...

    async def readiness_for(self, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
        """Whether this very effect could be performed now."""
        ...


@runtime_checkable
class KeyChecked(Protocol):
    """A connector whose accounts are reached with a key that a human enters."""

    async def verify(self, key: str, timeout_seconds: float) -> Verified:
        """What the provider says about a key. Raises `NotSent` where it does not accept it or cannot be asked."""
        ...

    async def look_around(self, workspace_id: WorkspaceId, timeout_seconds: float) -> None:
        """Ask the provider anew which accounts there are. What it does not answer changes nothing."""
        ...


@runtime_checkable
class Measurable(Protocol):
    """A connector that can be asked what became of an effect."""

    async def measure(self, action: Action, timeout_seconds: float) -> Reading: ...


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """A picture with its bytes. `alt` says in words what it shows; `digest` names the bytes."""

    content: bytes
    content_type: str
    width: int
    height: int
    alt: str
    digest: str


PicturesOf = Callable[[Action], Awaitable[tuple[Picture, ...]]]
"""The pictures that go along with an action, exactly as they were approved. Raises `NotSent` where one is gone.
A connector takes this as an argument and uploads before the call that has the effect."""


class Campaign(msgspec.Struct, frozen=True, kw_only=True):
    """What went out in one run, as a source that counts visitors knows it: which pages it leads to, and since when."""

    workspace_id: WorkspaceId
    pages: tuple[str, ...]
    since_ms: int
    until_ms: int


@runtime_checkable
class CampaignSource(Protocol):
    """A connector that can be asked what became of a whole run. None: the workspace has not connected it."""

    async def measure_campaign(self, campaign: Campaign, timeout_seconds: float) -> Reading | None: ...


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of content that an operator made."""

    type: str
    title: str
    body: str
    channel: str | None = None
    metadata: dict[str, Any] = {}
    picture: Picture | None = None
    """Its bytes, where it is a picture."""


class StagedEffect(msgspec.Struct, frozen=True, kw_only=True):
    """An effect that an operator wants to have, with what it knows to say about it. `draft` is its content's place in
    the preparation."""

    effect: Effect
    executor_tool: str
    draft: int | None = None
    picture: int | None = None
    """The place of the draft that is the picture to go along."""
    severity: Severity | None = None
    warnings: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()
    cost_credits: int = 0
    schedule_ms: int | None = None
    expires_ms: int | None = None
    metadata: dict[str, Any] = {}
    paths: dict[str, str] = {}
    """Where each part of the content stands in the arguments as they were sent."""
    rewrite: dict[str, str] = {}
    """What a text in place of the composed one has to be, by argument."""


THIS_RUN: Final = "\0this run"
"""Stands in a suggested call for the id of the run that is being prepared."""


class Preparation(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator's prepare returns. Persisting, preflight, review and approval are not its to write (E9)."""

    drafts: tuple[Draft, ...] = ()
    effects: tuple[StagedEffect, ...] = ()
    outputs: dict[str, Any] = {}
    next_calls: tuple[SuggestedCall, ...] = ()
    """Complete calls that the agent may make without a decision of the person."""
    notes: tuple[str, ...] = ()
    """Sentences for the person about the whole run."""
    user_message: str = ""
    """For the person, where nothing is staged."""
    show: str = ""
    """Markdown for the person, where nothing is staged and the drafts do not say it."""
    writing: dict[str, Any] | None = None
    """What helps the agent to write texts in place of the composed ones."""
