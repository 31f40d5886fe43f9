"""Everything that wrapping adds to the server, as one extension."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from assent.sdk import Command, DoctorCheck, Extension, ExtensionProcess, Kind, Setting

if TYPE_CHECKING:
    from assent.platform import Connector, EffectType
    from assent.sdk import Component, Screen, Services, Tool
    from assent_wrap.gateway import Gateway


class Wrapping(ExtensionProcess):
    """Made once per process; each part at its first use."""

    def __init__(self, services: Services, settings: Mapping[str, Any]) -> None:
        self._services = services
        self._settings = settings

    @property
    def wraps_workspaces(self) -> bool:
        return self._settings["wrap_config"] is not None

    def check(self) -> None:
        read_settings_files(self._settings)

    @cached_property
    def gateway(self) -> Gateway:
        from assent_wrap.gateway import Gateway

        return Gateway(self._services, self._settings)

    def make_connectors(self) -> Iterable[Connector]:
        return self._connectors

    @cached_property
    def _connectors(self) -> tuple[Connector, ...]:
        """Made once: they hold the processes of wrapped servers."""
        from assent_wrap.agent_calls import AgentConnector
        from assent_wrap.connector import make_connectors
        from assent_wrap.effects import CONNECTORS

        infos = {each.id: each for each in CONNECTORS}
        wrapped = make_connectors(self._services, self.gateway.upstreams, self.gateway.pace, infos)
        return (*wrapped, AgentConnector(self._settings))

    async def close(self) -> None:
        """End the wrapped servers."""
        if "gateway" in vars(self):
            await self.gateway.close()


def read_settings_files(settings: Mapping[str, Any]) -> None:
    """Read the files of wrapped servers. Raises `ValueError` with what is wrong and what to do."""
    if settings["wrap_config"] is None:
        return
    from assent_wrap.gateway import read_files

    try:
        read_files(settings["wrap_config"], settings["wrap_rules"])
    except ValueError as error:
        raise ValueError(f"{error}\nCorrect the file, or leave wrap_config out.") from error


def _check(settings: Mapping[str, Any]) -> Iterable[DoctorCheck]:
    """Name the file of wrapped servers, or say why it cannot be used."""
    if settings["wrap_config"] is None:
        return
    try:
        read_settings_files(settings)
    except ValueError as error:
        why, _, fix = str(error).partition("\n")
        yield DoctorCheck("wrapped servers", False, why, fix)
    else:
        yield DoctorCheck("wrapped servers", True, str(settings["wrap_config"]))


def _list_tools() -> tuple[Tool, ...]:
    from assent_wrap import agent_calls

    return agent_calls.TOOLS


def _list_families() -> Iterable[EffectType]:
    from assent_wrap.agent_calls import FAMILY
    from assent_wrap.effects import ACCEPT_FAMILY, CALL_FAMILY

    return CALL_FAMILY, ACCEPT_FAMILY, FAMILY


def _list_components() -> tuple[Component, ...]:
    from assent_wrap.component import COMPONENT

    return (COMPONENT,)


def _list_commands() -> tuple[Command, ...]:
    from assent_wrap.commands import end_rule, hook_claude_code, list_rules, set_rules, unwrap, wrap

    about_hooks = "Ask the gate from the hooks of an agent."
    about_rules = "List, set and end the rules for wrapped tools."
    # They parse their own flags, and --config of `wrap` is a client's file.
    return (
        Command(name="wrap", run=wrap, has_common_flags=False),
        Command(name="unwrap", run=unwrap, has_common_flags=False),
        Command(
            name="hook claude-code", run=hook_claude_code, group_help=about_hooks, has_common_flags=False
        ),
        Command(name="rules list", run=list_rules, group_help=about_rules),
        Command(name="rules set", run=set_rules, group_help=about_rules),
        Command(name="rules end", run=end_rule, group_help=about_rules),
    )


def _list_sentences() -> Mapping[str, Mapping[str, str]]:
    set_rule, ended = (
        "The rule “{rule}” for wrapped tools was set by {agent}: {says}",
        "The rule “{rule}” was ended by {agent}",
    )
    return {"access": {"tool_rule_set": set_rule, "tool_rule_ended": ended}}


def _list_screens() -> tuple[Screen, ...]:
    from assent_wrap.screens import SCREENS

    return SCREENS


EXTENSION: Final = Extension(
    name="wrap",
    list_screens=_list_screens,
    list_tools=_list_tools,
    # Wrapped tools are no operators of the contract, and a person connects no wrapped server to an account.
    list_families=_list_families,
    list_components=_list_components,
    list_sentences=_list_sentences,
    list_commands=_list_commands,
    check=_check,
    settings=(
        Setting(
            name="wrap_config",
            kind=Kind.FILE,
            doc="A client's file with `mcpServers`: the keys of `wrap_workspaces` see these tools; see "
            "[wrap.md](wrap.md).",
        ),
        Setting(name="wrap_rules", kind=Kind.FILE, doc="Rules for the tools of `wrap_config`, in TOML."),
        Setting(
            name="wrap_workspaces",
            kind=Kind.NAMES,
            default=(),
            doc="The ids of workspaces that use `wrap_config`.",
        ),
        Setting(
            name="agent_risks",
            kind=Kind.RISKS,
            default=(),
            doc="The risk of tools that an agent proposes and runs itself, such as `claude-code:Write=medium` or "
            "`langgraph:search_*=low`; the first that matches counts, and the others are high. Both names are the "
            "agent's word: write whole names, and `claude-code@LABEL:Write=medium` for the keys with that label alone.",
        ),
    ),
    start=Wrapping,
)
