"""A kit for authors of operators: prepare and execute an effect without a server.

`prepare` runs with the network blocked, as an effect's own code gets no connection before approval.
`execute` performs the effect as if a person had approved exactly these arguments. Both take a function
or a channel.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final, NoReturn

from assent.extensions.channels import ChannelEffect
from assent.extensions.connectors import CallResources, ChannelConnector, ConnectionOpener, FunctionConnector
from assent.extensions.effect_types import (
    make_channel_types,
    make_connector_info,
    make_effect_type,
    make_provider_info,
    prepare_effect,
    prepare_message,
)
from assent.extensions.operators import EffectFunction
from assent.extensions.options import ArgumentProblem
from assent.gate.connection import Access, Connection, ConnectionState, OpenedSecrets
from assent.gate.effects import EffectTypes
from assent.gate.gate import open_gate
from assent.gate.records import (
    Action,
    Approval,
    Assurance,
    Attempt,
    Effect,
    ExecutionState,
    Preflight,
    Status,
)
from assent.gate.views import Severity, View
from assent.kernel.ids import ActionId, RunId, WorkspaceId
from assent.kernel.refusals import Refusal
from assent.kernel.structs import Record
from assent.ports import Connector, Context, Delivered, Picture, Store
from assent.sql.components import ComponentError, check_component
from assent.stores import open_store
from assent.stores.migrate import migrate

SECONDS: Final = 20.0
LOCAL: Final = ("127.0.0.1", "localhost")
"""Hosts that `ctx.http` reaches in a test: the author's own emulator."""
BASE_URL: Final = "http://127.0.0.1"
WORKSPACE: Final = WorkspaceId("wsp_testing")


class NetworkBlocked(Exception):  # noqa: N818 - what happened
    """Code that only prepares an effect tried to use the network."""


class PreparedAction(Record):
    """What a reviewer approves: the content, and the view of it."""

    effect: Effect
    view: View


@contextmanager
def blocked_network() -> Iterator[None]:
    """Refuse every new connection and look-up of a name in this process."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise NetworkBlocked("an effect may use the network only when it is performed")

    places: list[tuple[Any, str]] = [
        (socket.socket, name) for name in ("connect", "connect_ex", "sendto", "bind", "listen")
    ]
    places += [(socket, name) for name in ("getaddrinfo", "gethostbyname", "create_connection")]
    before = [(where, name, vars(where).get(name)) for where, name in places]
    for where, name in places:
        setattr(where, name, refuse)
    try:
        yield
    finally:
        for where, name, was in before:
            if was is None:
                delattr(where, name)  # inherited from the C class
            else:
                setattr(where, name, was)


def prepare(effect: EffectFunction | ChannelEffect, arguments: Mapping[str, Any]) -> PreparedAction:
    """Return the content and the view of a call, with the network blocked. Raises `Problem` for an
    argument that is refused, and the exception of a function that fails."""
    try:
        with blocked_network():
            if isinstance(effect, ChannelEffect):
                return _prepare_message(effect, dict(arguments))
            return _prepare_function(effect, arguments)
    except Refusal as refusal:
        if refusal.__cause__ is not None:
            raise refusal.__cause__ from None
        problems = refusal.recovery().problems
        first = problems[0] if isinstance(problems, list) else None
        if first is None:
            raise
        raise ArgumentProblem(first.path, first.expected, first.got) from None


def _prepare_function(effect: EffectFunction, arguments: Mapping[str, Any]) -> PreparedAction:
    effects = EffectTypes([make_effect_type(effect)], [make_connector_info(effect)])
    complete = {
        each.name: arguments.get(each.name, each.default)
        for each in effect.signature.parameters
        if each.optional or each.name in arguments
    }
    unknown = {name: value for name, value in arguments.items() if name not in complete}
    made = prepare_effect(effect, complete | unknown)
    return PreparedAction(made, effects.describe(made, workspace_id=WORKSPACE, base_url=BASE_URL))


def _prepare_message(channel: ChannelEffect, arguments: dict[str, Any]) -> PreparedAction:
    declared = channel.operator.connectors
    infos = [make_provider_info(each, channel.operator.channels) for each in declared]
    effects = EffectTypes(make_channel_types(channel, declared), infos)
    if unknown := arguments.keys() - {"body", "title", "subject", "link", "to"}:
        raise ArgumentProblem(min(unknown), "an argument of this message", "an unknown one")
    recipients, options = tuple(arguments.pop("to", ())), channel.options
    given = Effect(
        channel=options.channel,
        verb=options.verb,
        connector=channel.declared.via[0],
        recipients=recipients,
        **{"body": "", **arguments},
    )
    made = prepare_message(channel, given, {"recipients": "to"})
    return PreparedAction(made, effects.describe(made, workspace_id=WORKSPACE, base_url=BASE_URL))


def execute(
    effect: EffectFunction | ChannelEffect,
    arguments: Mapping[str, Any],
    *,
    key: str = "act_testing",
    token: str = "",
    pictures: tuple[Picture, ...] = (),
    database_url: str | None = None,
) -> Delivered:
    """Perform an effect as approved, with the network as it is. Returns its delivery; raises what the
    function raises. Two calls with the same `key` have the same `ctx.key`. A connector gets `token` with
    its connection, and `pictures`. An operator with a component stores in the database at
    `database_url`, which is created and migrated."""
    prepared, ctx = _claim(effect, arguments, key)
    ctx.pictures = pictures

    async def perform() -> Delivered:
        async with _open_store(effect, database_url) as store:
            return await _make_connector(effect, token, store).perform(ctx, prepared.effect)

    return asyncio.run(perform())


def look_up(
    effect: EffectFunction | ChannelEffect,
    arguments: Mapping[str, Any],
    *,
    key: str = "act_testing",
    token: str = "",
    database_url: str | None = None,
) -> Delivered | None:
    """Ask the provider for an effect, as after an unknown outcome."""
    prepared, ctx = _claim(effect, arguments, key)

    async def ask() -> Delivered | None:
        async with _open_store(effect, database_url) as store:
            return await _make_connector(effect, token, store).look_up(ctx, prepared.effect)

    return asyncio.run(ask())


@asynccontextmanager
async def _open_store(
    effect: EffectFunction | ChannelEffect, database_url: str | None
) -> AsyncIterator[Store | None]:
    """Open the database of an operator with a component. Raises `ComponentError` for one that a server
    would refuse."""
    component = effect.operator.component
    if component is None or database_url is None:
        yield None
        return
    check_component(component)
    report = await migrate(database_url, 0, [component])
    if report.failures:
        raise ComponentError(report.failures[0])
    store = open_store(database_url, list_components=lambda: [component])
    try:
        yield store
    finally:
        await store.close()


class _OpenedByTest(ConnectionOpener):
    """A connection with the token that a test gives."""

    def __init__(self, provider: str, token: str) -> None:
        self._token = token
        self._connection = Connection(
            workspace_id=WORKSPACE,
            provider=provider,
            state=ConnectionState.CONNECTED,
            label=provider,
            connected_by="a test",
            connected_ms=0,
            changed_ms=0,
            version=1,
        )

    async def access(self, workspace_id: WorkspaceId) -> Access | None:
        return Access(self._connection, OpenedSecrets({}))

    def key(self, access: Access) -> str:
        return self._token


def _make_connector(
    effect: EffectFunction | ChannelEffect,
    token: str,
    store: Store | None,
) -> Connector:
    """Return the connector of a function, or the first one of a channel."""
    if isinstance(effect, EffectFunction):
        return FunctionConnector(effect, LOCAL, store)
    name = effect.declared.via[0]
    declared = next(each for each in effect.operator.connectors if each.id == name)
    info = make_provider_info(declared, effect.operator.channels)
    opener = ConnectionOpener() if info.auth_mode == "none" else _OpenedByTest(name, token)

    resources = CallResources(allow_hosts=LOCAL)
    return ChannelConnector(declared, info, opener, resources)


def _claim(
    effect: EffectFunction | ChannelEffect, arguments: Mapping[str, Any], key: str
) -> tuple[PreparedAction, Context]:
    prepared = prepare(effect, arguments)
    seconds = effect.options.timeout_seconds or SECONDS
    return prepared, Context(open_gate(_approve(prepared, ActionId(key))), seconds)


def _approve(prepared: PreparedAction, action_id: ActionId) -> Action:
    """Return the action as it is when a connector gets it: approved and claimed."""
    digest = prepared.effect.digest()
    return Action(
        workspace_id=WORKSPACE,
        action_id=action_id,
        run_id=RunId("run_testing"),
        tenant_id=None,
        asset_id=None,
        position=0,
        version=2,
        effect=prepared.effect,
        digest=digest,
        revision=1,
        executor_tool="chieflab_execute_approved_action",
        status=Status.APPROVED,
        execution_state=ExecutionState.EXECUTING,
        preflight=Preflight(severity=Severity.HIGH, connector_ready=True),
        created_ms=0,
        expires_ms=None,
        approval=Approval(by="a test", at_ms=0, assurance=Assurance.PERSON, digest=digest),
        attempt=Attempt(attempt_id="1", fence=1, started_ms=0, lease_until_ms=0, tool="testing"),
        view=prepared.view,
    )
