"""Everything that the suite offers to the server, as one extension. Loaded by its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from assent.platform.declarations import MissingExtra
from assent.platform.values import ConnectorInfo, EffectType

if TYPE_CHECKING:
    from assent.platform.declarations import Component
    from assent.platform.services import Services
    from assent.platform.tools import Tool
    from assent.suite.operators import OperatorInfo
    from assent.suite.process import Suite


def list_tools() -> tuple[Tool, ...]:
    """Return the tools of the reference operators, in the order of the list. Without the extra
    `pictures` none draws."""
    from assent.suite.drafting import can_draw
    from assent.suite.site import removal
    from assent.suite.tools import contacts, diagnosis, graphics, measurement, memory, prepare

    return (
        *prepare.TOOLS,
        *removal.TOOLS,
        *(graphics.TOOLS if can_draw() else ()),
        *contacts.TOOLS,
        *measurement.TOOLS,
        *diagnosis.TOOLS,
        *memory.TOOLS,
    )


def list_operators() -> tuple[OperatorInfo, ...]:
    """Return the operators with the tools that this installation has."""
    from assent.suite.operators import OPERATORS

    missing = {name for extra in list_missing_extras() for name in extra.tools}
    return tuple(each.without_tools(missing) for each in OPERATORS) if missing else OPERATORS


def list_missing_extras() -> tuple[MissingExtra, ...]:
    from assent.suite.drafting import can_draw

    if can_draw():
        return ()
    tools = ("chieflab_create_social_graphics",)
    return (MissingExtra("pictures", tools, "not installed: no tool draws pictures, and a launch has none"),)


def list_types() -> Iterable[EffectType]:
    from assent.suite.effect_types import effect_types

    return effect_types()


def list_families() -> Iterable[EffectType]:
    return ()


def list_connectors() -> Iterable[ConnectorInfo]:
    from assent.suite.channels.registry import CONNECTORS

    return CONNECTORS


def list_components() -> tuple[Component, ...]:
    from assent.suite.component import COMPONENT

    return (COMPONENT,)


def start(services: Services, settings: Mapping[str, Any]) -> Suite:
    from assent.suite.process import Suite

    return Suite(services, settings)
