"""The connectors of extensions behind the connector port: connection, account, call, receipt.

The connection is opened before a call and closed with it. If the provider does not accept the access,
an OAuth token is renewed and the call repeated once: nothing was sent. After that, and for a key, the
connection is marked expired and a person is asked to connect again.

The account that is connected when an effect is staged is part of the approved content (C29).
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import logging
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from assent.engine.connections.grants import Grantor, OAuthClient, OAuthProvider
from assent.engine.connections.key_access import API_KEY, KeyAccess, no_account
from assent.engine.connections.oauth_access import ACCESS, ConnectionLocks, OAuthAccess
from assent.extensions.calling import Busy
from assent.extensions.connectors import (
    GuardedStore,
    marks_sending,
    read_metrics,
    read_receipt,
    read_stored_receipt,
)
from assent.extensions.providers import (
    MAX_ACCOUNT_CHARS,
    DeclaredConnector,
    OAuth,
    ProviderAccount,
)
from assent.extensions.requests import GuardedHttp, MarkedCall, ReadingCall
from assent.gate.connection import Access, Account, Connection, ConnectorInfo, Verified
from assent.gate.measurement.recommend import NO_SOURCE
from assent.gate.preflight import Readiness
from assent.gate.records import Action, Effect
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Reason
from assent.kernel.structs import Record
from assent.kernel.texts import is_one_line
from assent.net.http_outcomes import not_connected, not_now
from assent.ports import (
    Clock,
    ConnectionContext,
    Connections,
    Connector,
    Context,
    Delivered,
    NotSent,
    OpenConnection,
    OutcomeUnknown,
    PicturesOf,
    Reading,
    Store,
)
from assent.ports.context import action_of

log = logging.getLogger("assent.extensions")

OTHER_ACCOUNT: Final = "this was approved for another account than the one that is connected"


class CallResources(Record, kw_only=True):
    """What a call of a connector may use of the server."""

    pictures_of: PicturesOf
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
    """A workspace's connection to one provider; this base is that of a provider without any."""

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return Readiness(ready=True)

    async def find(self, workspace_id: WorkspaceId) -> Connection | None:
        """Return a live connection, else None."""
        return None

    async def open(self, workspace_id: WorkspaceId) -> Access | None:
        """Return the opened connection; None for a provider without any. Raises `NotSent`."""
        return None

    async def renew(self, used: Access) -> Access | None:
        """Return another access after the provider refused `used`; None if there is none."""
        return None

    async def end(self, used: Access, said: str) -> NotSent:
        """Mark the connection expired, and return the failure."""
        return not_connected(said)

    def token(self, access: Access) -> str:
        return ""


class KeyOpener(ConnectionOpener):
    def __init__(self, access: KeyAccess) -> None:
        self._access = access

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return await self._access.readiness(workspace_id)

    async def find(self, workspace_id: WorkspaceId) -> Connection | None:
        return await self._access.connection(workspace_id)

    async def open(self, workspace_id: WorkspaceId) -> Access | None:
        return await self._access.access(workspace_id)

    async def end(self, used: Access, said: str) -> NotSent:
        return await self._access.ended(used, said)

    def token(self, access: Access) -> str:
        return access.secrets[API_KEY]


class OAuthOpener(ConnectionOpener):
    def __init__(self, access: OAuthAccess, connections: Connections) -> None:
        self._access = access
        self._connections = connections

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return await self._access.readiness(workspace_id)

    async def find(self, workspace_id: WorkspaceId) -> Connection | None:
        found = await self._access.connection(workspace_id)
        return found if found is not None and found.live else None

    async def open(self, workspace_id: WorkspaceId) -> Access | None:
        return await self._access.open(workspace_id)

    async def renew(self, used: Access) -> Access | None:
        return await self._access.open(used.connection.workspace_id, instead_of=used.secrets[ACCESS])

    async def end(self, used: Access, said: str) -> NotSent:
        label = self._access.label
        await self._connections.mark_expired(used.connection, f"{label} refuses a fresh token")
        return not_connected(f"The access to {label} has ended. Connect it again on its page.")

    def token(self, access: Access) -> str:
        return access.secrets[ACCESS]


class ChannelConnector:
    """Performs the effects of a declared connector."""

    def __init__(
        self,
        declared: DeclaredConnector,
        info: ConnectorInfo,
        opener: ConnectionOpener,
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
        account = _find_account(await self._opener.find(workspace_id), self.id)
        return msgspec.structs.replace(effect, target=account.target if account is not None else None)

    async def readiness_for(self, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
        connection = await self._opener.find(workspace_id)
        account = _find_account(connection, self.id)
        if connection is None or (account.id if account is not None else None) == effect.account_id:
            return await self.readiness(workspace_id)
        return no_account(self.info.label, effect)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action_of(ctx, effect)
        ctx.pictures = await self._resources.pictures_of(ctx.action)
        answer = await self._call_opened("perform", ctx, effect)
        return read_receipt(f"perform of {self.id}", answer)

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        action_of(ctx, effect)
        if not self._declared.defines("look_up"):
            raise OutcomeUnknown("this effect cannot be looked up")
        answer = await self._call_opened("look_up", ctx, effect)
        return None if answer is None else read_receipt(f"look_up of {self.id}", answer)

    async def measure(self, action: Action, timeout_seconds: float) -> Reading:
        """Return the numbers that the connector reports, without implausible ones (E100)."""
        if not self._declared.defines("measure"):
            channel = action.effect.channel
            return Reading(source=self.id, channel=channel, status="unavailable", reason=NO_SOURCE)
        context = await self._open_reading(action.workspace_id, timeout_seconds)
        found = await self._run("measure", context, action.effect, read_stored_receipt(action))
        return read_metrics(self.id, action.effect.channel, found)

    async def observe(self, workspace_id: WorkspaceId, effect: Effect, timeout_seconds: float) -> Any:
        """Call `observe` of the extension (`assent.ports.Observing`)."""
        return await self._run("observe", await self._open_reading(workspace_id, timeout_seconds), effect)

    async def _open_reading(self, workspace_id: WorkspaceId, timeout_seconds: float) -> ConnectionContext:
        """Return the context of a call that has no effect."""
        access, context = await self._opener.open(workspace_id), ConnectionContext()
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
            raise not_now(f"{self.info.label} could not be asked ({type(error).__name__})") from error
        if not isinstance(found, ProviderAccount) or not (_is_name(found.id) and _is_name(found.name)):
            log.error("verify of %s (%s) returned no account", self.id, self._declared.place)
            raise not_now(f"{self.info.label} named no account")
        return Account(found.id, self.id, found.name, default=True)

    def _equip(
        self, context: ConnectionContext, call: MarkedCall, opened: OpenConnection | None = None
    ) -> None:
        component, store = self._declared.operator.component, self._resources.store
        tables = None
        if store is not None and component is not None:
            tables = GuardedStore(store, component, asyncio.get_running_loop())
        context.equip(GuardedHttp(call, self._resources.allow_hosts), opened, tables)

    async def _call_opened(self, method: str, ctx: Context, effect: Effect) -> Any:
        """Call a method with an open connection; once more with a renewed token if it was refused."""
        access = await self._opener.open(ctx.workspace_id)
        if access is None:
            self._equip(ctx, ctx)
            return await self._run(method, ctx, effect)
        for renewed in (False, True):
            account = _find_account(access.connection, self.id)
            if (account.id if account is not None else None) != effect.account_id:
                raise not_connected(OTHER_ACCOUNT)
            self._equip(ctx, ctx, self._open(access, account))
            try:
                return await self._run(method, ctx, effect)
            except NotSent as refused:
                if refused.reason is not Reason.MISSING_CONNECTOR:
                    raise
                again = None if renewed else await self._opener.renew(access)
                if again is None:
                    raise await self._opener.end(access, refused.detail) from None
                access = again
                ctx.forget_sending()
        raise AssertionError("unreachable")

    def _open(self, access: Access, account: Account | None) -> OpenConnection:
        found = access.connection
        return OpenConnection(
            token=self._opener.token(access), label=found.label, account=account, settings=found.settings
        )

    async def _run(self, method: str, *arguments: Any) -> Any:
        """Call a method of the extension outside the server's event loop. Raises `NotSent` if it was not
        called."""
        function, caller = getattr(self._declared.connector, method), self._declared.operator.caller
        call = partial(function, *arguments)
        try:
            if inspect.iscoroutinefunction(function):
                return await caller.run_async(call)
            return await caller.run_sync(call)
        except Busy as busy:
            raise not_now(str(busy)) from None


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
        return KeyChannelConnector(declared, info, KeyOpener(KeyAccess(info, parts.connections)), own)
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
    client = OAuthClient(variables.get(client_id), variables.get(client_secret))
    return OAuthProvider(id=name, grantor=grantor, scopes=tuple(oauth.scopes), client=client)
