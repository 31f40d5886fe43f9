"""Every point at which a package extends the server, on one page.

A distribution names an `Extension` in its entry point group `assent.extensions`. Ours are loaded where they are
installed; any other is loaded only if the settings name its distribution (`extensions`). An installed package never
loads itself, because its code would run with the secrets of the server.

The parts of an extension are functions. Each is called when its part is needed, and imports then what it needs: a
command that verifies the journal asks for the tables and loads no tool. The module of an `Extension` therefore
imports little, and `load_extensions` runs no other code of it.

Operators made of functions need none of this (`assent.Operator`, docs/operators.md). docs/guest-book.md walks through a
package that has most of it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assent.kernel.distribution import DISTRIBUTION, PARTS
from assent.kernel.guide import SuggestedCall
from assent.kernel.structs import Record

if TYPE_CHECKING:
    from starlette.routing import Route

    from assent.engine.actions.hooks import Subscriber
    from assent.engine.core.jobs import JobKind
    from assent.engine.core.services import Services
    from assent.engine.core.tenancy import Principal
    from assent.gate.connection import ConnectorInfo
    from assent.gate.effects import EffectType
    from assent.kernel.ids import RunId
    from assent.ports import Connector, Notifier
    from assent.sql.components import Component

GROUP: Final = "assent.extensions"
OURS: Final = (DISTRIBUTION, *PARTS)
"""Distributions whose extensions load without being named. They alone subscribe to changes."""


class BadExtension(Exception):  # noqa: N818 - what it is
    """An extension cannot be used. `place` is where the mistake is, `fix` what to do."""

    def __init__(self, why: str, *, place: str = "", fix: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.place = place
        self.fix = fix

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.why}{f' {self.fix}' if self.fix else ''}"


class Command(Record, kw_only=True):
    """A command of `assent`. `name` may have a group before it, as in `workspace credits`."""

    name: str
    run: Callable[..., int | None]
    """Its first argument is the session (`CommandSession`); its docstring is the help."""
    group_help: str = ""
    """The help of its group, if no command of the core is in it."""
    has_json: bool = True
    """Whether `--json` is among its flags."""
    has_common_flags: bool = True
    """Whether it has the flags of every command. Without them it gets no session."""


class DoctorCheck(Record):
    """One line of `assent doctor`. `fix` says what to do if it failed."""

    name: str
    ok: bool
    detail: str
    fix: str | None = None


class AgentWords(Record, kw_only=True):
    """What the texts for agents say where an extension is installed. Without one they say this."""

    purpose: str = "do"
    """After “Assent lets an agent”."""
    wish: str = "wants something done that one of the listed tools stages for approval"
    """After “USE WHEN the user”."""
    prepare: str = "Call the tool that stages it."
    """The first step of the loop."""
    group: str = ""
    """The group of tools that must be listed for the next two."""
    first_call: str = ""
    """After “FIRST CALL”."""
    prepare_by_group: str = ""
    """What `{by_group}` in the first step becomes."""
    after: str = ""
    """A line after the loop."""
    summary: str = "Assent stages what its tools are for, and does only what a human approved."
    """The first line of `chieflab_help`."""
    begin: str = "prepare: the tool that does it stages it first; nothing goes out"
    """Its first step."""
    afterwards: tuple[str, ...] = ()
    """Its steps after sending."""
    calls: tuple[SuggestedCall, ...] = ()
    """Calls that start something, where nothing is open. The first one is in the help."""
    has_guides: bool = False
    """Whether the guides of this server, which walk through a post and a launch, are served."""


PLAIN_WORDS: Final = AgentWords()


def find_words(extensions: Iterable[Extension]) -> AgentWords:
    """Return the words of the first of these extensions that has any."""
    return next((each.words for each in extensions if each.words is not None), PLAIN_WORDS)


class ExtensionProcess:
    """An extension in one process: its parts that use the store or the network."""

    gateway: Any = None
    """Tools that are not in the table, those of wrapped servers (`assent.serving.gateway`)."""

    @property
    def wraps_workspaces(self) -> bool:
        """Whether the settings give some workspaces the tools of the gateway."""
        return False

    def check(self) -> None:
        """Read the files that its settings name. Raises `ValueError` with what is wrong and what to do."""

    def with_settings(self, settings: Mapping[str, Any]) -> ExtensionProcess:
        """Return its part for workspaces that are not the owner's, by other settings."""
        return self

    def make_connectors(self) -> Iterable[Connector]:
        return ()

    def make_routes(self, *, base_url: str, trust_proxy: bool) -> list[Route]:
        """Return the routes of the public pages that it serves."""
        return []

    async def prepare_sample(self, principal: Principal) -> RunId | None:
        """Prepare a run with one harmless draft, so that a person can try how it is decided."""
        return None

    def preload(self) -> None:
        """Import the modules that the first action needs."""

    async def close(self) -> None:
        """Finish requests in flight and store values that are still buffered."""


def _start_nothing(services: Services, settings: Mapping[str, Any]) -> ExtensionProcess:
    return ExtensionProcess()


class Extension(Record, kw_only=True):
    """What one distribution adds to the server."""

    name: str

    # What agents can do.
    operators: tuple[str, ...] = ()
    """Modules with operators of the public API (`assent.Operator`): their effects, channels, connectors and tables.
    They are loaded as those that the setting `operators` names, and serve the same workspaces."""
    list_tools: Callable[[], tuple[Any, ...]] = tuple
    """Tools (`assent.sdk.Tool`), in the order of the list."""
    list_operators: Callable[[], tuple[Any, ...]] = tuple
    """The operators as the discovery documents list them (E50)."""
    list_types: Callable[[], Iterable[EffectType]] = tuple
    list_families: Callable[[], Iterable[EffectType]] = tuple
    """The types of effects whose names are not known here (`assent.gate.effects`)."""
    list_connectors: Callable[[], Iterable[ConnectorInfo]] = tuple
    words: AgentWords | None = None
    """What the instructions, `chieflab_help` and `chieflab_status` say about its tools. Ours alone have any."""
    workflows: tuple[Path, ...] = ()
    """Folders with definitions of workflows, which every workspace can follow."""

    # What is stored, and what follows from a change.
    list_components: Callable[[], tuple[Component, ...]] = tuple
    """Its tables with their migrations, and its statements."""
    list_subscribers: Callable[[], tuple[Subscriber, ...]] = tuple
    """What runs inside a transaction of the core (`assent.engine.actions.hooks`). Ours alone have any: others could
    break its promises, and get events after the commit."""
    make_jobs: Callable[[Services], Mapping[str, JobKind]] = lambda services: {}
    """The kinds of its jobs, with their handlers."""

    # What people see.
    list_sentences: Callable[[], Mapping[str, Mapping[str, str | Callable[[Mapping[str, Any]], str]]]] = dict
    """What the audit log says about its events: a sentence for each kind, by the group of kinds that people choose
    (`decisions`, `sending`, `runs`, `workflows`, `access`). Ours alone have any."""
    list_screens: Callable[[], tuple[Any, ...]] = tuple
    """Screens of the console (`assent.sdk.Screen`), with their templates and their entries in the
    navigation."""
    make_notifiers: Callable[[Mapping[str, Any]], Iterable[Notifier]] = lambda settings: ()
    """Ways to notify people, by the settings."""

    # What the person who runs the server uses.
    settings: tuple[Any, ...] = ()
    """Its settings (`assent.sdk.Setting`): keys of its section of the settings file. Ours are read beside the server's
    own instead. Their values are among the settings that its other parts get."""
    list_commands: Callable[[], tuple[Command, ...]] = tuple
    check: Callable[[Mapping[str, Any]], Iterable[DoctorCheck]] = lambda settings: ()
    """What `assent doctor` says about it, by the settings."""

    start: Callable[[Services, Mapping[str, Any]], ExtensionProcess] = _start_nothing
    """Returns its part in one process. The settings are the values by name, without the server's own secrets. Does
    no work."""


@cache
def load_extensions(named: tuple[str, ...] = ()) -> tuple[Extension, ...]:
    """Return the extensions of our distributions, then those of the named ones. Raises `BadExtension` if a named one
    cannot be loaded."""
    from importlib.metadata import Distribution, PackageNotFoundError

    found: dict[str, Extension] = {}
    # A distribution has one name in several spellings, such as Assent_Launch.
    for name in dict.fromkeys((*OURS, *(re.sub(r"[-_.]+", "-", each).lower() for each in named))):
        try:
            # Only this distribution is read: asking all that are installed takes longer.
            points = Distribution.from_name(name).entry_points.select(group=GROUP)
        except (PackageNotFoundError, ValueError):
            if name in OURS:
                continue
            raise BadExtension(f"{name} is not installed.", fix="Install it, or leave it out of extensions.")
        if not points and name not in OURS:
            raise BadExtension(f"{name} has no entry point {GROUP}.", fix="Leave it out of extensions.")
        for point in points:
            where = f"{point.value} of {name}"
            try:
                extension = point.load()
            except Exception as error:
                if name in OURS:
                    raise
                raise BadExtension(
                    f"{where} raised {type(error).__name__}: {error}.", fix="Correct it, or leave it out."
                )
            _refuse_unfit(extension, where, found, is_ours=name in OURS)
            found[extension.name] = extension
    return tuple(found.values())


def list_own_settings() -> tuple[Any, ...]:
    """Return the settings that our distributions bring beside the server's own."""
    return tuple(row for each in load_extensions() for row in each.settings)


CORE: Final = "the server"


def own_name(extension: Extension) -> str:
    """Return the owner of an extension's parts, as `refuse_taken` names it."""
    return f"the extension {extension.name}"


def refuse_taken(
    what: str, parts: Iterable[tuple[str, str]], clash: Callable[[str, str], bool] = operator.eq
) -> None:
    """Raise `BadExtension` if an extension has a part whose name another owner has. `parts` are names with their
    owners, the server's first; `clash` says whether two names cannot both be used."""
    known: list[tuple[str, str]] = []
    for name, owner in parts:
        for other, holder in known:
            if holder != owner and clash(other, name):
                named = name if name == other else f"{name}, which meets {other}"
                raise BadExtension(
                    f"{owner} has the {what} {named} of {holder}.",
                    fix="Rename it there, or leave the extension out of extensions.",
                )
        known.append((name, owner))


def _refuse_unfit(loaded: Any, where: str, found: Mapping[str, Extension], *, is_ours: bool) -> None:
    if not isinstance(loaded, Extension):
        raise BadExtension(f"{where} is {type(loaded).__name__}.", fix="Name an Extension (assent.sdk).")
    if loaded.name in found:
        raise BadExtension(
            f"{where} is called {loaded.name}, as another extension is.", fix="Choose another name."
        )
    if loaded.list_subscribers is not tuple and not is_ours:
        raise BadExtension(
            f"{where} subscribes to changes inside the core's transactions.",
            fix="Receive events instead (docs/webhooks.md).",
        )
