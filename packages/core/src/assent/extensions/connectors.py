"""The connectors of effects and channels that extensions declare: each performs by calling a function of its author.

A coroutine runs on the operator's own event loop, a plain function in a thread of its own. The
engine's time limit applies: after it the outcome is unknown, unless the function marks its request
with `ctx.sending()` and had not reached it. What it stores are bound statements, no generator: the code of
an extension never runs in the store's writer.

Its requests keep the SSRF rules: `ctx.http` (`assent.ports.HttpClient`). Private addresses need the server's
permission, redirects are not followed, time and size are bounded. No connection and no cookie is kept between
requests, so it works on any event loop. A request that can have an effect marks its call as sent. After that no
failure counts as not sent, because an earlier request may have had the effect.

The connection of a declared connector is opened before a call and closed with it. If the provider does not accept the
access, an OAuth token is renewed and the call repeated once: nothing was sent. After that, and for a key, the
connection is marked expired and a person is asked to connect again. The account that is connected when an effect is
staged is part of the approved content (C29).
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from functools import partial
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from assent.engine.connections.grants import ClientCredentials, Grantor, OAuthProvider
from assent.engine.connections.key_access import KeyAccess
from assent.engine.connections.oauth import ACCESS, ConnectionLocks, OAuthAccess, StoredLocks
from assent.extensions.channels import MAX_ACCOUNT_CHARS, DeclaredConnector, OAuth, ProviderAccount
from assent.extensions.effect_types import (
    TAKE_DOWN,
    make_channel_types,
    make_connector_info,
    make_effect_type,
    make_provider_info,
)
from assent.extensions.operators import Busy, EffectFunction
from assent.extensions.options import MAX_RECEIPT_ID_CHARS, MAX_URL_CHARS, Receipt
from assent.extensions.registry import quote_error
from assent.extensions.signatures import encode_value, select_arguments
from assent.gate.connection import Access, Account, Connection, ConnectorInfo, Verified
from assent.gate.effects import EffectType
from assent.gate.preflight import Readiness
from assent.gate.records import Action, Effect
from assent.gate.undo import RECEIPT, is_reverse
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Reason
from assent.kernel.structs import Record
from assent.kernel.texts import is_one_line
from assent.ports import (
    Bound,
    Clock,
    ConnectionContext,
    Connections,
    Connector,
    Context,
    Deadline,
    Delivered,
    HttpAnswer,
    NotConnected,
    NotSent,
    OpenConnection,
    OutcomeUnknown,
    Reading,
    Rows,
    Store,
    Transaction,
    action_of,
)
from assent.sql.components import Component

if TYPE_CHECKING:
    from assent.engine.core.services import Services
    from assent.extensions.registry import Extensions
    from assent.net.outgoing import Posted

MAX_ANSWER_BYTES: Final = 1_000_000
"""A longer answer is cut."""
HIDDEN: Final = b"[redacted]"
READS: Final = frozenset({"GET", "HEAD"})
"""Methods without an effect."""


class MarkedCall(Protocol):
    """A call that knows whether a request with an effect may have left: a `Context`, or a call that has
    no effect."""

    @property
    def may_have_sent(self) -> bool: ...

    def begin_sending(self) -> None:
        """Mark the call as sent. Raises `NotSent` if it has ended."""
        ...

    def left(self) -> float:
        """Return the seconds that a request may still take."""
        ...


class ReadingCall(Deadline):
    """A call that has no effect, such as a measurement."""

    __slots__ = ()

    @property
    def may_have_sent(self) -> bool:
        return False

    def begin_sending(self) -> None:
        pass


class GuardedHttp:
    """Sends the requests of one call."""

    def __init__(self, call: MarkedCall, allow_hosts: tuple[str, ...]) -> None:
        self._call = call
        self._allow_hosts = allow_hosts

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
        """Send one request and return its answer, of any status, without the token if the provider
        echoes it. `has_effect` is False for a request that no one else sees, such as an upload; by
        default that is a GET. Raises `NotSent` if no request of this call can have had an effect, and
        `OutcomeUnknown` without an answer."""
        method = method.upper()
        reads = method in READS if has_effect is None else not has_effect
        sent = {"content-type": "application/octet-stream"} if content else {}
        sent |= {name.lower(): text for name, text in (headers or {}).items()}
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        earlier = self._call.may_have_sent
        answer = await send_request(
            self._call,
            method,
            url,
            msgspec.json.encode(json) if json is not None else content,
            headers=sent,
            allow_hosts=self._allow_hosts,
            reads=reads,
        )
        body = answer.body.replace(token.encode(), HIDDEN) if token else answer.body
        return HttpAnswer(
            status=answer.status, body=body, retry_after=answer.retry_after, reads=reads, earlier=earlier
        )


async def send_request(
    call: MarkedCall,
    method: str,
    url: str,
    body: bytes,
    *,
    headers: Mapping[str, str],
    allow_hosts: tuple[str, ...],
    reads: bool | None = None,
) -> Posted:
    """Send one request of a call and return its answer, of any status.

    `reads` says that the request has no effect. Raises `NotSent` if no request of the call can have
    arrived, neither this nor an earlier one, and `OutcomeUnknown` without an answer.
    """
    from assent.net.addresses import FetchRefused, check
    from assent.net.outgoing import NOTHING_SENT, send_json

    reads = method in READS if reads is None else reads
    earlier = call.may_have_sent
    try:
        target = await check(url, allow_hosts=allow_hosts)
        if not reads:
            call.begin_sending()
        return await send_json(
            method, target, body, headers=headers, timeout_seconds=call.left(), max_bytes=MAX_ANSWER_BYTES
        )
    except FetchRefused as refused:
        if not earlier and (refused.why in NOTHING_SENT or reads):
            raise NotSent(refused.text, retry=True) from None
        raise OutcomeUnknown(refused.text) from None


class GuardedStore:
    """Runs statements of one component on the server's event loop."""

    def __init__(self, store: Store, component: Component, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._own = f"{component.name}."
        self._loop = loop

    async def read(self, *statements: Bound) -> Rows:
        return await self._run(self._store.read, statements)

    async def write(self, *statements: Bound) -> Rows:
        return await self._run(self._store.write, statements)

    async def _run(
        self,
        run: Callable[[Callable[[], Transaction[Rows]]], Coroutine[Any, Any, Rows]],
        given: tuple[Bound, ...],
    ) -> Rows:
        for bound in given:
            if not isinstance(bound, Bound) or not bound.statement.name.startswith(self._own):
                raise TypeError(f"the store runs statements of {self._own[:-1]}, not {bound!r:.80}")

        def transaction() -> Transaction[Rows]:
            rows: Rows = []
            for bound in given:
                rows = yield bound
            return rows

        done = asyncio.run_coroutine_threadsafe(run(transaction), self._loop)
        return await asyncio.wrap_future(done)


def read_stored_receipt(action: Action) -> Receipt:
    """Return the receipt of a delivered effect."""
    return Receipt(action.external_id or "", action.external_url, action.metadata.get("output"))


def read_metrics(source: str, channel: str, found: Any) -> Reading:
    """Return the reading of numbers by their names."""
    if not isinstance(found, Mapping) or not all(isinstance(name, str) for name in found):
        why = f"{source} returned {type(found).__name__} instead of numbers by their names"
        return Reading(source=source, channel=channel, status="unavailable", reason=why)
    if not found:
        return Reading(
            source=source, channel=channel, status="unavailable", reason=f"{source} gave no numbers"
        )
    return Reading(source=source, channel=channel, status="ok", metrics=dict(found))


log = logging.getLogger("assent.extensions")

MAX_OUTPUT_BYTES: Final = 50_000
"""The longest output of an effect: an agent reads it."""


class FunctionConnector:
    """Performs one effect of an extension."""

    always_ready = True

    def __init__(
        self, effect: EffectFunction, allow_hosts: tuple[str, ...] = (), store: Store | None = None
    ) -> None:
        self.id = effect.tool
        self.info = make_connector_info(effect)
        self.delivery = effect.options.delivery
        self.timeout_seconds = effect.options.timeout_seconds
        self.uses_sending = marks_sending(effect.function)
        self.observes = bool(effect.hooks["observe"])
        self._effect = effect
        self._allow_hosts = allow_hosts
        self._store = store

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return Readiness(ready=True)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        signature = self._effect.signature
        answer = await self._call(self._effect.function, effect, self._own(ctx), signature.read_approved)
        return read_receipt(self._effect.__name__, answer)

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        functions = self._effect.hooks["look_up"]
        if not functions:
            raise OutcomeUnknown("this effect cannot be looked up")
        answer = await self._call(functions[0], effect, self._own(ctx))
        return None if answer is None else read_receipt(self._effect.__name__, answer)

    async def observe(self, workspace_id: WorkspaceId, effect: Effect, timeout_seconds: float) -> Any:
        """Call `observe` of the extension (`assent.ports.Observing`)."""
        own = self._equip(ConnectionContext(), ReadingCall(timeout_seconds))
        return await self._call(self._effect.hooks["observe"][0], effect, own)

    def _own(self, ctx: Context) -> dict[str, Any]:
        return self._equip(ctx, ctx)

    def _equip(self, ctx: ConnectionContext, call: MarkedCall) -> dict[str, Any]:
        component, store = self._effect.operator.component, None
        if self._store is not None and component is not None:
            store = GuardedStore(self._store, component, asyncio.get_running_loop())
        ctx.equip(GuardedHttp(call, self._allow_hosts), store=store)
        return {"ctx": ctx, self._effect.signature.context or "ctx": ctx}

    async def _call(
        self,
        function: Callable[..., Any],
        effect: Effect,
        own: dict[str, Any],
        read: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None,
    ) -> Any:
        """Call a function of the extension with the approved arguments and those of `own` that it has.
        Raises `NotSent` if it was not called."""
        caller = self._effect.operator.caller
        reading = partial(read or self._effect.signature.read, effect.arguments)
        try:
            # Not on the server's event loop: building a dataclass runs code of the extension.
            values = await caller.run_sync(reading)
        except Busy as busy:
            raise NotSent(str(busy), retry=True) from None
        except Exception as problem:
            said = f"the operator has changed and no longer takes these arguments ({quote_error(problem)})"
            raise NotSent(said, retry=True) from None
        names = inspect.signature(function).parameters
        given = {name: value for name, value in own.items() if name in names}
        return await caller.run(function, partial(function, **select_arguments(function, values), **given))


class MeasuredConnector(FunctionConnector):
    """Performs one effect of an extension and measures it."""

    async def measure(self, action: Action, timeout_seconds: float) -> Reading:
        function = self._effect.hooks["measure"][0]
        found = await self._call(function, action.effect, {"receipt": read_stored_receipt(action)})
        return read_metrics(self.id, action.effect.channel, found)


def make_connector(
    effect: EffectFunction, allow_hosts: tuple[str, ...] = (), store: Store | None = None
) -> FunctionConnector:
    return (MeasuredConnector if effect.hooks["measure"] else FunctionConnector)(effect, allow_hosts, store)


def marks_sending(function: Callable[..., Any]) -> bool:
    """Whether the code of a function marks its request with `sending`. Then an error before the mark
    means that nothing was sent."""
    row = [function.__code__] if inspect.isfunction(function) else []
    while row:
        code = row.pop()
        if "sending" in code.co_names:
            return True
        row += [each for each in code.co_consts if isinstance(each, CodeType)]
    return False


def read_receipt(name: str, answer: Any) -> Delivered:
    """Return the delivery that a function reports. The effect has happened, so that a wrong answer
    makes the outcome unknown, and an output that cannot be stored is left out."""
    if isinstance(answer, Delivered):
        return answer
    if not isinstance(answer, Receipt):
        raise _doubt(f"{name} returned {type(answer).__name__}, not a Receipt")
    given: Any = answer.id  # a stranger's code has no type checker
    found = str(given) if type(given) is int else given
    if not isinstance(found, str) or not found or len(found) > MAX_RECEIPT_ID_CHARS or "\0" in found:
        raise _doubt(
            f"the receipt of {name} has no usable id: a text of at most {MAX_RECEIPT_ID_CHARS} characters"
        )
    url = answer.url
    if url is not None and not (
        isinstance(url, str) and url.startswith(("https://", "http://")) and len(url) <= MAX_URL_CHARS
    ):
        log.error("the receipt of %s has an unusable url, which is left out", name)
        url = None
    return Delivered(found, url, output=_read_output(name, answer.output))


def _doubt(why: str) -> OutcomeUnknown:
    log.error("the outcome is unknown: %s", why)
    return OutcomeUnknown(why)


def _read_output(name: str, output: Any) -> Any:
    if output is None:
        return None
    try:
        text = msgspec.json.encode(output, enc_hook=encode_value)
        plain = msgspec.json.decode(text)
        if len(text) <= MAX_OUTPUT_BYTES and b"\\u0000" not in text:
            return plain
        why = f"it has {len(text)} bytes" if len(text) > MAX_OUTPUT_BYTES else "it has a NUL character"
    except (TypeError, ValueError, RecursionError, NotImplementedError) as error:
        why = str(error)[:200]
    log.error("the output of %s is left out: %s", name, why)
    return None


OTHER_ACCOUNT: Final = "this was approved for another account than the one that is connected"


class CallResources(Record, kw_only=True):
    """What a call of a connector may use of the server."""

    allow_hosts: tuple[str, ...] = ()
    store: Store | None = None


class ProviderParts(Record, kw_only=True):
    """What the connectors of extensions are made from."""

    connections: Connections
    locks: ConnectionLocks
    clock: Clock
    resources: CallResources
    variables: Mapping[str, str] = {}
    """The environment variables, which hold the clients of OAuth connectors."""


class ConnectionOpener:
    """A workspace's connection to one provider; this base is that of a provider without any. A key has `KeyAccess`."""

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return Readiness(ready=True)

    async def connection(self, workspace_id: WorkspaceId) -> Connection | None:
        """Return a live connection, else None."""
        return None

    async def access(self, workspace_id: WorkspaceId) -> Access | None:
        """Return the opened connection; None for a provider without any. Raises `NotSent`."""
        return None

    async def renew(self, used: Access) -> Access | None:
        """Return another access after the provider refused `used`; None if there is none."""
        return None

    async def ended(self, used: Access, said: str) -> NotSent:
        """Mark the connection expired, and return the failure."""
        return NotConnected(said)

    def key(self, access: Access) -> str:
        return ""


class OAuthOpener(ConnectionOpener):
    def __init__(self, access: OAuthAccess, connections: Connections) -> None:
        self._access = access
        self._connections = connections

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return await self._access.readiness(workspace_id)

    async def connection(self, workspace_id: WorkspaceId) -> Connection | None:
        found = await self._access.connection(workspace_id)
        return found if found is not None and found.live else None

    async def access(self, workspace_id: WorkspaceId) -> Access | None:
        return await self._access.open(workspace_id)

    async def renew(self, used: Access) -> Access | None:
        return await self._access.open(used.connection.workspace_id, instead_of=used.secrets[ACCESS])

    async def ended(self, used: Access, said: str) -> NotSent:
        label = self._access.label
        await self._connections.mark_expired(used.connection, f"{label} refuses a fresh token")
        return NotConnected(f"The access to {label} has ended. Connect it again on its page.")

    def key(self, access: Access) -> str:
        return access.secrets[ACCESS]


class ChannelConnector:
    """Performs the effects of a declared connector."""

    def __init__(
        self,
        declared: DeclaredConnector,
        info: ConnectorInfo,
        opener: ConnectionOpener | KeyAccess,
        resources: CallResources,
        access: OAuthAccess | None = None,
    ) -> None:
        made = declared.connector
        self.id = declared.id
        self.info = info
        self.access = access
        self.delivery = made.delivery
        self.timeout_seconds = made.timeout_seconds
        self.uses_sending = marks_sending(type(made).perform)
        self.always_ready = info.auth_mode == "none"
        self.observes = declared.defines("observe")
        self._declared = declared
        self._opener = opener
        self._resources = resources

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return await self._opener.readiness(workspace_id)

    async def addressed(self, workspace_id: WorkspaceId, effect: Effect) -> Effect:
        """Set the connected account as the target; none if it is not connected or has no account."""
        account = _find_account(await self._opener.connection(workspace_id), self.id)
        return msgspec.structs.replace(effect, target=account.target if account is not None else None)

    async def readiness_for(self, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
        connection = await self._opener.connection(workspace_id)
        account = _find_account(connection, self.id)
        if connection is None or (account.id if account is not None else None) == effect.account_id:
            return await self.readiness(workspace_id)
        return Readiness.of_another_account(self.info.label, effect)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action_of(ctx, effect)
        if is_reverse(effect):
            receipt = str(effect.details[RECEIPT])
            return read_receipt(
                f"{TAKE_DOWN} of {self.id}", await self._call_opened(TAKE_DOWN, ctx, effect, receipt)
            )
        answer = await self._call_opened("perform", ctx, effect, effect)
        return read_receipt(f"perform of {self.id}", answer)

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        action_of(ctx, effect)
        if is_reverse(effect) or not self._declared.defines("look_up"):
            raise OutcomeUnknown("this effect cannot be looked up")
        answer = await self._call_opened("look_up", ctx, effect, effect)
        return None if answer is None else read_receipt(f"look_up of {self.id}", answer)

    async def measure(self, action: Action, timeout_seconds: float) -> Reading:
        """Return the numbers that the connector reports. What measures a run keeps the credible ones."""
        if not self._declared.defines("measure"):
            channel = action.effect.channel
            return Reading(source=self.id, channel=channel, status="unavailable")
        context = await self._open_reading(action.workspace_id, timeout_seconds)
        found = await self._run("measure", context, action.effect, read_stored_receipt(action))
        return read_metrics(self.id, action.effect.channel, found)

    async def observe(self, workspace_id: WorkspaceId, effect: Effect, timeout_seconds: float) -> Any:
        """Call `observe` of the extension (`assent.ports.Observing`)."""
        return await self._run("observe", await self._open_reading(workspace_id, timeout_seconds), effect)

    async def _open_reading(self, workspace_id: WorkspaceId, timeout_seconds: float) -> ConnectionContext:
        """Return the context of a call that has no effect."""
        access, context = await self._opener.access(workspace_id), ConnectionContext()
        opened = self._open(access, _find_account(access.connection, self.id)) if access is not None else None
        self._equip(context, ReadingCall(timeout_seconds), opened)
        return context

    async def identify(self, token: str, timeout_seconds: float) -> Account | None:
        """Return the account of an access token (`assent.ports.Identifying`)."""
        if not self._declared.defines("verify"):
            return None
        context = ConnectionContext()
        opened = OpenConnection(token=token, label=self.info.label)
        self._equip(context, ReadingCall(timeout_seconds), opened)
        try:
            async with asyncio.timeout(timeout_seconds):
                found = await self._run("verify", context)
        except (NotSent, OutcomeUnknown):
            raise
        except Exception as error:
            log.exception("verify of %s (%s) failed", self.id, self._declared.place)
            raise NotSent(
                f"{self.info.label} could not be asked ({type(error).__name__})", retry=True
            ) from error
        if not isinstance(found, ProviderAccount) or not (_is_name(found.id) and _is_name(found.name)):
            log.error("verify of %s (%s) returned no account", self.id, self._declared.place)
            raise NotSent(f"{self.info.label} named no account", retry=True)
        return Account(found.id, self.id, found.name, default=True)

    def _equip(
        self, context: ConnectionContext, call: MarkedCall, opened: OpenConnection | None = None
    ) -> None:
        component, store = self._declared.operator.component, self._resources.store
        tables = None
        if store is not None and component is not None:
            tables = GuardedStore(store, component, asyncio.get_running_loop())
        context.equip(GuardedHttp(call, self._resources.allow_hosts), opened, tables)

    async def _call_opened(self, method: str, ctx: Context, effect: Effect, given: Any) -> Any:
        """Call a method with an open connection; once more with a renewed token if it was refused."""
        access = await self._opener.access(ctx.workspace_id)
        if access is None:
            self._equip(ctx, ctx)
            return await self._run(method, ctx, given)
        for renewed in (False, True):
            account = _find_account(access.connection, self.id)
            if (account.id if account is not None else None) != effect.account_id:
                raise NotConnected(OTHER_ACCOUNT)
            self._equip(ctx, ctx, self._open(access, account))
            try:
                return await self._run(method, ctx, given)
            except NotSent as refused:
                if refused.reason is not Reason.MISSING_CONNECTOR:
                    raise
                again = None if renewed else await self._opener.renew(access)
                if again is None:
                    raise await self._opener.ended(access, refused.detail) from None
                access = again
                ctx.forget_sending()
        raise AssertionError("unreachable")

    def _open(self, access: Access, account: Account | None) -> OpenConnection:
        found = access.connection
        return OpenConnection(
            token=self._opener.key(access), label=found.label, account=account, settings=found.settings
        )

    async def _run(self, method: str, *arguments: Any) -> Any:
        """Call a method of the extension outside the server's event loop. Raises `NotSent` if it was not
        called."""
        function = getattr(self._declared.connector, method)
        return await self._declared.operator.caller.run(function, partial(function, *arguments))


class KeyChannelConnector(ChannelConnector):
    """A declared connector that is connected by a key."""

    async def verify(self, key: str, timeout_seconds: float) -> Verified:
        """Return the account of a key. A provider that names none has an account for each key."""
        account = await self.identify(key, timeout_seconds)
        if account is None:
            named = f"{self.id}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
            account = Account(named, self.id, self.info.label, default=True)
        return Verified(label=account.name, accounts=(account,))

    async def look_around(self, workspace_id: WorkspaceId, timeout_seconds: float) -> None:
        """Do nothing: the key opens one account, which is fixed when it is connected."""


def _is_name(text: Any) -> bool:
    return isinstance(text, str) and 0 < len(text) <= MAX_ACCOUNT_CHARS and is_one_line(text)


def _find_account(connection: Connection | None, platform: str) -> Account | None:
    accounts = connection.accounts_on(platform) if connection is not None else ()
    return accounts[0] if accounts else None


def make_provider_connectors(
    declared: Iterable[DeclaredConnector], infos: Mapping[str, ConnectorInfo], parts: ProviderParts
) -> dict[str, Connector]:
    """Return the connectors of extensions, by id."""
    return {each.id: _make_connector(each, infos[each.id], parts) for each in declared}


def _make_connector(declared: DeclaredConnector, info: ConnectorInfo, parts: ProviderParts) -> Connector:
    oauth, own = declared.connector.oauth, parts.resources
    if oauth is not None:
        provider = make_oauth_provider(declared.id, info.label, oauth, parts.variables)
        access = OAuthAccess(provider, info.label, parts.connections, parts.locks, parts.clock)
        return ChannelConnector(declared, info, OAuthOpener(access, parts.connections), own, access)
    if declared.connector.key is not None:
        return KeyChannelConnector(declared, info, KeyAccess(info, parts.connections), own)
    return ChannelConnector(declared, info, ConnectionOpener(), own)


def make_oauth_provider(name: str, label: str, oauth: OAuth, variables: Mapping[str, str]) -> OAuthProvider:
    """Return the authorisation of a connector, with the client that the environment variables name."""
    prefix = name.upper().replace("-", "_")
    client_id = oauth.client_id_variable or f"{prefix}_CLIENT_ID"
    client_secret = oauth.client_secret_variable or f"{prefix}_CLIENT_SECRET"
    grantor = Grantor(
        id=name,
        label=label,
        pages="",
        interface="",
        authorize_path=oauth.authorize_url,
        token_path=oauth.token_url,
        revoke_path=oauth.revoke_url,
        extra=dict(oauth.parameters),
        client_id_setting=client_id,
        client_secret_setting=client_secret,
        permissions=f"{label}, in the settings of your account",
        account_field=oauth.account_field,
    )
    client = ClientCredentials(variables.get(client_id), variables.get(client_secret))
    return OAuthProvider(id=name, grantor=grantor, scopes=tuple(oauth.scopes), client=client)


def list_types(found: Extensions) -> Iterator[EffectType]:
    yield from map(make_effect_type, found.effects)
    for each in found.channels:
        yield from make_channel_types(each, found.connectors)


def list_connectors(found: Extensions) -> Iterator[ConnectorInfo]:
    yield from map(make_connector_info, found.effects)
    yield from (make_provider_info(each, found.channels) for each in found.connectors)


def make_connectors(
    found: Extensions,
    declared: Mapping[str, Connector],
    server: Services,
    allow_hosts: tuple[str, ...],
    variables: Mapping[str, str],
) -> dict[str, Connector]:
    """Return the connectors by their ids: `declared` are those of effects that no function performs. `variables` are
    the environment variables, which hold the clients of OAuth connectors."""
    functions = {
        each.tool: make_connector(each, allow_hosts, server.store)
        for each in found.effects
        if each.tool not in declared
    }
    parts = ProviderParts(
        connections=server.connections,
        locks=StoredLocks(server.store, server.clock, server.new_id),
        clock=server.clock,
        resources=CallResources(
            allow_hosts=allow_hosts,
            store=server.store,
        ),
        variables=variables,
    )
    infos = {each.id: each for each in list_connectors(found)}
    return {
        **functions,
        **declared,
        **make_provider_connectors(found.connectors, infos, parts),
    }
