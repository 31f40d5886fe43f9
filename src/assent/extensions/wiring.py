"""What the registry and the engine get of loaded extensions: types, infos and connectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from assent.engine.connections.oauth import StoredLocks
from assent.engine.learning import pictures
from assent.extensions.channel_types import make_channel_type, make_provider_info
from assent.extensions.connectors import make_connector
from assent.extensions.effect_types import make_connector_info, make_effect_type
from assent.extensions.http.connector import HttpAccess, make_http_connectors
from assent.extensions.http.sections import HttpEffect
from assent.extensions.provider_calls import CallResources, ProviderParts, make_provider_connectors
from assent.gate.connection import ConnectorInfo
from assent.gate.effects import EffectType
from assent.ports import Connector

if TYPE_CHECKING:
    from assent.engine.core.services import Services
    from assent.extensions.registry import Extensions


def list_types(found: Extensions) -> Iterator[EffectType]:
    yield from map(make_effect_type, found.effects)
    yield from (make_channel_type(each, found.connectors) for each in found.channels)


def list_connectors(found: Extensions) -> Iterator[ConnectorInfo]:
    yield from map(make_connector_info, found.effects)
    yield from (make_provider_info(each, found.channels) for each in found.connectors)


def make_connectors(
    found: Extensions,
    services: Callable[[], Services],
    allow_hosts: tuple[str, ...],
    variables: Mapping[str, str],
) -> dict[str, Connector]:
    """Return the connectors by their ids. `variables` are the environment variables, which hold the
    clients of OAuth connectors."""
    server = services()
    functions: dict[str, Connector] = {
        each.tool: make_connector(each, allow_hosts, server.store)
        for each in found.effects
        if not isinstance(each, HttpEffect)
    }
    parts = ProviderParts(
        connections=server.connections,
        locks=StoredLocks(server.store, server.clock, server.new_id),
        clock=server.clock,
        resources=CallResources(
            pictures_of=partial(pictures.of_action, server.store),
            allow_hosts=allow_hosts,
            store=server.store,
        ),
        variables=variables,
    )
    infos = {each.id: each for each in list_connectors(found)}
    return {
        **functions,
        **make_http_connectors(found.effects, HttpAccess(services, allow_hosts)),
        **make_provider_connectors(found.connectors, infos, parts),
    }
