"""The interfaces of Assent and their guarantees: stores, connectors, operators, notifiers."""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Protocol, TypeVar, cast, runtime_checkable

import msgspec

from assent.gate.connection import Access, Account, Connection, OpenedSecrets, Verified
from assent.gate.gate import ApprovedAction
from assent.gate.outcomes import REFERENCE as REFERENCE
from assent.gate.outcomes import Delivered as Delivered
from assent.gate.outcomes import Delivery as Delivery
from assent.gate.outcomes import NotConnected as NotConnected
from assent.gate.outcomes import NotSent as NotSent
from assent.gate.outcomes import OutcomeUnknown as OutcomeUnknown
from assent.gate.outcomes import Remainder as Remainder
from assent.gate.outcomes import SendOutcome as SendOutcome
from assent.gate.outcomes import failure
from assent.gate.preflight import Readiness
from assent.gate.records import Action, Effect
from assent.gate.views import Severity
from assent.kernel.canonical import digest_of_bytes
from assent.kernel.guide import SuggestedCall
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.structs import Record, WireRecord

if TYPE_CHECKING:
    from assent.gate.webhooks import WebhookReply
    from assent.present.notes import NoteCard

# The store port: a transaction is a *generator* that yields bound statements, receives their rows
# and returns its result.
#
# The SQLite writer drives it synchronously in its own thread, which allows group commit; the
# PostgreSQL store drives the same generator with await. No other code uses a driver.


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


class Guarded(Bound):
    """A part of a transaction whose fault must not end it: `rows = yield Guarded(begin=…)`.

    The store runs it under a savepoint. If it raises an exception or one of its statements fails, everything that it
    wrote is taken back, and the outer transaction gets one row with the exception, and goes on; otherwise no row.
    What concerns the whole transaction still ends it: `StoreUnavailable`, and a serialization failure, after which it
    runs again.
    """

    statement: ClassVar[Statement] = Statement("guarded", "", "", ("begin",), writes=False)
    begin: Begin[Any]


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
    see it, because PostgreSQL has aborted the transaction by then (but see `Guarded`).

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


class CountingStore(Store, Protocol):
    """A store that counts the committed writes through this object."""

    writes: int


class StoreUnavailable(Exception):  # noqa: N818 - a state of the world, not a programming error
    """The database cannot serve this call now. The message is for the log, never for a caller."""


class SchemaMismatch(StoreUnavailable):
    """This release cannot use the database as it is set up. The message says what to do."""


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


# The context of one call: of a connector, which only an `ApprovedAction` makes, and of an operator, which
# returns the effects it wants instead of performing them (E9).


PATIENCE: Final = 0.9
"""Share of the timeout that requests may use, so that the caller still gets the answer."""

LEAST_SECONDS: Final = 0.05
TOO_LATE: Final = "there was no time left to send it"


class Deadline:
    """The end of the time that requests may use."""

    __slots__ = ("_ends",)

    def __init__(self, timeout_seconds: float) -> None:
        self._ends = time.monotonic() + timeout_seconds * PATIENCE

    def left(self) -> float:
        """Return the seconds that are left, at least a fraction."""
        return max(LEAST_SECONDS, self._ends - time.monotonic())


class Picture(Record, kw_only=True):
    """A picture with its bytes. `alt` describes it; `digest` is the hash of the bytes."""

    content: bytes
    content_type: str
    width: int
    height: int
    alt: str
    digest: str

    @classmethod
    def of(cls, content: bytes, content_type: str, width: int, height: int, alt: str) -> Picture:
        return cls(
            content=content,
            content_type=content_type,
            width=width,
            height=height,
            alt=alt,
            digest=digest_of_bytes(content),
        )


class OpenConnection(Record, kw_only=True):
    """A workspace's connection, opened for one call. Its repr hides the token, because it may reach a
    log or a traceback."""

    token: str
    """The access token, or the key that a person entered."""
    label: str
    account: Account | None = None
    """The account that the call uses; the approved one, if the effect names it."""
    settings: Mapping[str, Any] = {}

    def __repr__(self) -> str:
        return f"OpenConnection({self.label!r})"


DETAILS: Final = ("message", "error", "detail", "title")
"""Fields in which APIs say why they refuse."""


class HttpAnswer(Record, kw_only=True):
    """The answer to a request of an extension."""

    status: int
    body: bytes
    retry_after: str | None = None
    reads: bool = False
    """Whether the request could have no effect."""
    earlier: bool = False
    """Whether an earlier request of the call may have had the effect."""

    @property
    def ok(self) -> bool:
        """Whether the status is a success."""
        return 200 <= self.status < 300

    def json(self) -> Any:
        """Return the decoded body. Raises `ValueError` if it is no JSON."""
        return msgspec.json.decode(self.body)

    def raise_for_status(self) -> None:
        """Raise `NotSent` or `OutcomeUnknown` for a status that is no success (C10)."""
        if self.ok:
            return
        failed = failure(self.status, self._find_detail(), self.retry_after)
        if self.earlier:
            raise OutcomeUnknown(str(failed))
        if self.reads and isinstance(failed, OutcomeUnknown):
            raise NotSent(str(failed), retry=True)
        raise failed

    def _find_detail(self) -> str:
        try:
            value = self.json()
        except ValueError:
            return ""
        said = [value.get(name) for name in DETAILS] if isinstance(value, dict) else []
        return next((each for each in said if isinstance(each, str)), "")


class HttpClient(Protocol):
    """Sends requests under the SSRF rules: public addresses only, except for hosts that the settings
    allow; no redirect is followed; time and size are bounded."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        json: Any = None,
        content: bytes = b"",
        headers: Mapping[str, str] | None = None,
        token: str | None = None,
        has_effect: bool | None = None,
    ) -> HttpAnswer:
        """Send one request and return its answer. `token` is sent as a bearer token; `has_effect` is
        False for a request that no one else sees, such as an upload. Raises `NotSent` if no request of
        the call can have had an effect, `OutcomeUnknown` without an answer."""
        ...


class ComponentStore(Protocol):
    """Runs statements of an operator's component. The statements of a call are one transaction; the
    rows of the last are returned."""

    async def read(self, *statements: Bound) -> Rows: ...

    async def write(self, *statements: Bound) -> Rows: ...


class ConnectionContext:
    """What the server opens for one call of an extension's code: the workspace's connection, an HTTP
    client and the tables of its component. `verify` and `measure` get this alone: they have no
    effect."""

    __slots__ = ("_connection", "_http", "_store")

    def __init__(self) -> None:
        self._connection: OpenConnection | None = None
        self._http: HttpClient | None = None
        self._store: ComponentStore | None = None

    def equip(
        self,
        http: HttpClient,
        connection: OpenConnection | None = None,
        store: ComponentStore | None = None,
    ) -> None:
        """Set what the server opened."""
        self._http, self._connection, self._store = http, connection, store

    @property
    def connection(self) -> OpenConnection:
        """The connection of the workspace. Raises RuntimeError for a connector without one."""
        if self._connection is None:
            raise RuntimeError("this connector declares no connection: neither oauth nor key")
        return self._connection

    @property
    def http(self) -> HttpClient:
        """Sends requests under the SSRF rules."""
        if self._http is None:
            raise RuntimeError("this connector sends its requests otherwise")
        return self._http

    @property
    def store(self) -> ComponentStore:
        """Runs the statements of the operator's component."""
        if self._store is None:
            raise RuntimeError("the operator of this effect declares no component")
        return self._store


class Context(ConnectionContext):
    """One call of a connector for an approved action. Only an `ApprovedAction` makes one (E47).

    `sending` marks the part of the call that can have an effect. Safe for threads: after `close`
    no request can begin. A connector of an extension also finds here what the server opened for the
    call: the connection, an HTTP client, the approved pictures, its tables.
    """

    __slots__ = (
        "_closed",
        "_lock",
        "_sent",
        "action",
        "deadline",
        "pictures",
        "timeout_seconds",
    )

    def __init__(self, approved: ApprovedAction, timeout_seconds: float) -> None:
        """Raises TypeError for any object that the gate did not make."""
        if type(approved) is not ApprovedAction:
            raise TypeError(f"a connector performs an ApprovedAction, not {type(approved).__name__}")
        self.action = approved.action
        self.timeout_seconds = timeout_seconds
        self.deadline = Deadline(timeout_seconds)
        super().__init__()
        self.pictures: tuple[Picture, ...] = ()
        """The pictures of the effect, exactly as approved."""
        self._lock = threading.Lock()
        self._sent = self._closed = False

    @property
    def key(self) -> str:
        """The idempotency key for the provider: one per action and revision."""
        return self.action.provider_key

    @property
    def action_id(self) -> ActionId:
        return self.action.action_id

    @property
    def revision(self) -> int:
        return self.action.revision

    @property
    def workspace_id(self) -> WorkspaceId:
        return self.action.workspace_id

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The stored metadata of the action."""
        return self.action.metadata

    @property
    def reference(self) -> str | None:
        """The provider's reference to an effect whose outcome is unknown."""
        return self.action.metadata.get(REFERENCE)

    def left(self) -> float:
        """Return the seconds that a request may still take."""
        return self.deadline.left()

    def sending(self) -> Sending:
        """Mark the part of a call that can have an effect, for `with` and `async with`. Entering
        it raises `NotSent` if the call has ended."""
        return Sending(self)

    def begin_sending(self) -> None:
        with self._lock:
            if self._closed:
                raise NotSent(TOO_LATE, retry=True)
            self._sent = True

    @property
    def may_have_sent(self) -> bool:
        """Whether a request may have left."""
        with self._lock:
            return self._sent

    def forget_sending(self) -> None:
        """Take the mark back, after the connector declared that nothing was sent."""
        with self._lock:
            self._sent = False

    def close(self) -> bool:
        """End the call. Returns whether a request may have left."""
        with self._lock:
            self._closed = True
            return self._sent


class Sending:
    """The part of a call that can have an effect. An undeclared exception before it means not sent;
    inside and after it the outcome is unknown."""

    __slots__ = ("_ctx",)

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def __enter__(self) -> None:
        self._ctx.begin_sending()

    def __exit__(self, *raised: object) -> None:
        pass

    async def __aenter__(self) -> None:
        self._ctx.begin_sending()

    async def __aexit__(self, *raised: object) -> None:
        pass


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
    schedule_offset: str = ""
    """The zone of that time (`Effect.schedule_offset`)."""
    expires_ms: int | None = None
    metadata: dict[str, Any] = {}
    paths: dict[str, str] = {}
    """The path of each part of the content in the call's arguments."""
    own_words: bool = False
    """Whether it is a mail that is not part of a launch (`Action.is_in_own_words`)."""
    rewrite: dict[str, str] = {}
    """Requirements for a text that replaces a plain note, by argument."""


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
    shown: str = ""
    """For the chat, as Markdown, if nothing is staged."""
    writing: dict[str, Any] | None = None
    """Material for an agent that writes texts instead of plain notes."""
    fetched: dict[str, Any] | None = None
    """The page that was read for it, when, and its status; the journal keeps it."""


def action_of(ctx: Context, effect: Effect) -> Action:
    """Return the claimed action. Raises TypeError for any object that the gate did not make, and
    for an effect that is not the approved one (E47)."""
    if type(ctx) is not Context:
        raise TypeError(f"a connector takes a Context, not {type(ctx).__name__}")
    if effect != ctx.action.effect:
        raise TypeError("this effect is not the approved one")
    return ctx.action


class NoLookUp:
    """A connector whose provider cannot be asked for an effect. `no_look_up` says why."""

    no_look_up: str

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        raise OutcomeUnknown(self.no_look_up)


# The connector port: a connector performs an approved effect and reports what is known of it.
#
# The engine gives `perform` a `Context`, which only an `ApprovedAction` makes.


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


# The port by which the server reaches people: a notifier carries a short note to one address.
#
# A notifier is registered by an extension. The core knows its kind and its words, never the service
# behind it.


class Notification(Record):
    """The text of a notification, with the time of sending."""

    title: str
    text: str
    link: str
    at_ms: int = 0
    subject: str = ""
    """What it is about. Notes with one subject are about the same run."""
    replaces: str = ""
    """The message that it replaces where the service can edit; otherwise it follows that one."""
    quiet: bool = False
    """Whether it should arrive without a sound."""
    cards: tuple[NoteCard, ...] = ()
    """The actions themselves, for the notifiers of a workspace whose kind ends with `_app`. Such a message replaces
    the one of its run at every change, so that it always shows the present state."""


class NotificationReceipt(Record):
    """The result of sending a note: the problem, or the message's id if the service edits."""

    problem: str = ""
    message: str = ""
    gone: bool = False
    """Whether the address will never work again."""


class NotifierContext(Protocol):
    """The network as a notifier may use it."""

    @property
    def screen_webhook(self) -> Callable[[str], str | None]:
        """Returns why a URL can never get a delivery, in words, or None."""
        ...

    @property
    def post_webhook(self) -> Callable[[str, bytes, Mapping[str, str]], Awaitable[WebhookReply]]:
        """One POST under the SSRF rules. Raises no exception of the network."""
        ...

    @property
    def send_note(self) -> Callable[[str, str, str, str], Awaitable[None]]:
        """Mails a note (to, subject, text, key). Raises `NotSent`, `OutcomeUnknown`."""
        ...


class Notifier(Protocol):
    """Notifies people in one way."""

    @property
    def kind(self) -> str:
        """Its id, stored with every target."""
        ...

    @property
    def label(self) -> str: ...

    @property
    def hint(self) -> str:
        """Tells a person what to enter as the address."""
        ...

    @property
    def by_mail(self) -> bool:
        """Whether its addresses are e-mail addresses, so that a person's own one is offered."""
        ...

    @property
    def by_browser(self) -> bool:
        """Whether a browser makes its addresses, by a web push subscription (`net.webpush`)."""
        ...

    def check(self, ctx: NotifierContext, address: str) -> str:
        """Return why an address cannot be used, in words for a person, or an empty text."""
        ...

    def mask(self, address: str) -> str:
        """Return the address for display, without the part that is a secret."""
        ...

    async def send(
        self, ctx: NotifierContext, address: str, note: Notification, key: str
    ) -> NotificationReceipt:
        """Send a note. A repeated key is the same note."""
        ...
