"""The context of one call: of a connector, which only an `ApprovedAction` makes, and of an operator, which
returns the effects it wants instead of performing them (E9)."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any, Final, Protocol

from assent.gate.connection import Account
from assent.gate.gate import ApprovedAction
from assent.gate.outcomes import REFERENCE, Delivered, NotSent, OutcomeUnknown
from assent.gate.records import Action, Effect
from assent.gate.views import Severity
from assent.kernel.canonical import digest_of_bytes
from assent.kernel.guide import SuggestedCall
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.structs import Record
from assent.ports.store import Bound, Rows

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


class HttpAnswer(Protocol):
    """The answer to a request."""

    @property
    def status(self) -> int: ...

    @property
    def body(self) -> bytes: ...

    @property
    def ok(self) -> bool:
        """Whether the status is a success."""
        ...

    def json(self) -> Any:
        """Return the decoded body. Raises `ValueError` if it is no JSON."""
        ...

    def raise_for_status(self) -> None:
        """Raise `NotSent` or `OutcomeUnknown` for a status that is no success."""
        ...


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
