"""Everything that the suite adds to the server, as one extension."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assent.platform import word_install
from assent.sdk import Command, DoctorCheck, Extension
from assent_launch import NAME
from assent_launch.settings import SETTINGS
from assent_launch.words import WORDS

if TYPE_CHECKING:
    from assent.platform import ConnectorInfo, EffectType, Subscriber
    from assent.sdk import Component, JobKind, Screen, Services, Tool
    from assent_launch.operators import OperatorInfo
    from assent_launch.process import Suite


DRAWING_TOOL: Final = "chieflab_create_social_graphics"


def list_tools() -> tuple[Tool, ...]:
    """Return the tools of the reference operators, in the order of the list. Without the extra
    `pictures` none draws."""
    from assent_launch.drafting import can_draw
    from assent_launch.tools import contacts, diagnosis, graphics, measurement, memory, prepare

    return (
        *prepare.TOOLS,
        *(graphics.TOOLS if can_draw() else ()),
        *contacts.TOOLS,
        *measurement.TOOLS,
        *diagnosis.TOOLS,
        *memory.TOOLS,
    )


def list_operators() -> tuple[OperatorInfo, ...]:
    """Return the operators with the tools that this installation has."""
    from assent_launch.drafting import can_draw
    from assent_launch.operators import OPERATORS

    return OPERATORS if can_draw() else tuple(each.without_tools({DRAWING_TOOL}) for each in OPERATORS)


def _check(settings: Mapping[str, Any]) -> Iterable[DoctorCheck]:
    """Name the optional dependency that is not installed."""
    from assent_launch.drafting import can_draw

    if not can_draw():
        without = "not installed: no tool draws pictures, and a launch has none"
        yield DoctorCheck("pictures", True, without, word_install("pictures"))


def list_types() -> Iterable[EffectType]:
    from assent_launch.effect_types import effect_types

    return effect_types()


def list_connectors() -> Iterable[ConnectorInfo]:
    from assent_launch.channels.registry import CONNECTORS

    return CONNECTORS


def _list_components() -> tuple[Component, ...]:
    from assent_launch.component import COMPONENT

    return (COMPONENT,)


def _list_subscribers() -> tuple[Subscriber, ...]:
    from assent_launch.subscribers import list_subscribers

    return list_subscribers()


def _make_jobs(services: Services) -> Mapping[str, JobKind]:
    from assent_launch.subscribers import make_jobs

    return make_jobs(services)


def _list_commands() -> tuple[Command, ...]:
    from assent_launch.commands import show_credits

    return (Command(name="workspace credits", run=show_credits),)


def _list_sentences() -> Mapping[str, Mapping[str, Any]]:
    from assent_launch.learning.reports import SENTENCES

    return SENTENCES


def _list_screens() -> tuple[Screen, ...]:
    from assent_launch.screens import credits, memory, results

    return (*results.SCREENS, *memory.SCREENS, *credits.SCREENS)


def _start(services: Services, settings: Mapping[str, Any]) -> Suite:
    from assent_launch.process import Suite

    return Suite(services, settings)


EXTENSION: Final = Extension(
    name=NAME,
    list_tools=list_tools,
    list_operators=list_operators,
    list_types=list_types,
    list_connectors=list_connectors,
    words=WORDS,
    workflows=(Path(__file__).with_name("workflows"),),
    list_components=_list_components,
    list_subscribers=_list_subscribers,
    make_jobs=_make_jobs,
    list_sentences=_list_sentences,
    list_screens=_list_screens,
    settings=SETTINGS,
    list_commands=_list_commands,
    check=_check,
    start=_start,
)
