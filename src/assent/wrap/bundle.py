"""Everything that wrapping offers to the server, as one extension. Loaded by its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from assent.platform.services import MissingExtra
from assent.platform.values import ConnectorInfo, EffectType

if TYPE_CHECKING:
    from assent.platform.services import Component, Services
    from assent.platform.tools import Tool
    from assent.wrap.process import Wrapping


def list_tools() -> tuple[Tool, ...]:
    from assent.wrap import agent_tools

    return agent_tools.TOOLS


def list_operators() -> tuple[Any, ...]:
    """Wrapped tools are no operators of the contract."""
    return ()


def list_missing_extras() -> tuple[MissingExtra, ...]:
    return ()


def list_types() -> Iterable[EffectType]:
    return ()


def list_families() -> Iterable[EffectType]:
    from assent.wrap.agent_calls import FAMILY
    from assent.wrap.effects import ACCEPT_FAMILY, CALL_FAMILY

    return CALL_FAMILY, ACCEPT_FAMILY, FAMILY


def list_connectors() -> Iterable[ConnectorInfo]:
    """None is listed: a person does not connect a wrapped server to an account."""
    return ()


def list_components() -> tuple[Component, ...]:
    from assent.wrap.storing import COMPONENT

    return (COMPONENT,)


def start(services: Services, settings: Mapping[str, Any]) -> Wrapping:
    from assent.wrap.process import Wrapping

    return Wrapping(services, settings)
