"""Loads the operators of a process: files and modules that the settings or an extension name, and sections of the
settings file. An installed package never loads itself. Their names are unique: one in use is refused with both places.

Importing runs code of a stranger: it may raise, exit, hang or define nothing. Each import runs in a thread with a time
limit, and each failure becomes a message. One bad extension never stops the others or the server.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import logging
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from functools import partial
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import msgspec

from assent.extensions.channels import ChannelEffect, DeclaredConnector
from assent.extensions.hooks import BadExtension
from assent.extensions.operators import EffectFunction, Operator
from assent.gate.content.cleaning import printable
from assent.gate.effects import EXECUTE, MANUAL
from assent.gate.records import WORKFLOW
from assent.kernel.patterns import ASCII_ONLY, is_ascii_only, list_patterns
from assent.kernel.structs import Record
from assent.sql.components import Component, ComponentError, check_component

RESERVED_PREFIXES: Final = ("chieflab_", "chiefmo_", "workflow_", "assent_", "testing_")
"""Prefixes of the contracts' own tools."""
RESERVED_IDS: Final = frozenset({WORKFLOW, MANUAL})
CORE: Final = "Assent"
ERROR_CHARS: Final = 300


class Source(Record):
    """Where an operator comes from: `file` or `module`, and its name."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class LoadFailure(Record):
    """An extension that was left out, and why."""

    source: Source
    why: str


Found = tuple[Source, tuple[Operator, ...] | LoadFailure]
"""Where an extension comes from, and its operators or why it is left out."""


class Names(Record):
    """Names that are taken, each with the place that took it."""

    operators: Mapping[str, str] = {}
    tools: Mapping[str, str] = {}
    types: Mapping[str, str] = {}
    connectors: Mapping[str, str] = {}
    components: Mapping[str, str] = {}
    prefixes: Mapping[str, str] = {}
    """The prefixes of tables."""
    executors: frozenset[str] = frozenset({EXECUTE})
    """The tools that execute an approved action."""


class Extensions(Record):
    """The operators that were loaded, and the extensions that were left out."""

    operators: tuple[Operator, ...] = ()
    failures: tuple[LoadFailure, ...] = ()
    sources: Mapping[str, Source] = {}
    """The source of each operator."""

    @property
    def effects(self) -> tuple[EffectFunction, ...]:
        """Every effect that a tool prepares, and what takes it back."""
        declared = (effect for operator in self.operators for effect in operator.effects)
        return tuple(each for effect in declared for each in effect.with_reverses)

    @property
    def channels(self) -> tuple[ChannelEffect, ...]:
        return tuple(channel for operator in self.operators for channel in operator.channels)

    @property
    def connectors(self) -> tuple[DeclaredConnector, ...]:
        return tuple(each for operator in self.operators for each in operator.connectors)

    @property
    def components(self) -> tuple[Component, ...]:
        """The tables of the operators. Operators of one extension may share a component."""
        found = (operator.component for operator in self.operators)
        return tuple({id(each): each for each in found if each is not None}.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """What the authors of these effects should know about their patterns."""
        return tuple(
            f"the pattern {pattern} of {each.name} ({effect.place}): {ASCII_ONLY}"
            for effect in self.effects
            for each in effect.signature.parameters
            for pattern in list_patterns(msgspec.json.schema(each.wire))
            if is_ascii_only(pattern)
        )

    def describe(self) -> tuple[dict[str, Any], ...]:
        """Return the operators as the discovery documents list them (E50)."""
        return tuple(
            {
                "id": operator.id,
                "label": operator.label,
                "function": operator.does,
                "primaryTool": operator.declared[0].tool,
                "connectors": [
                    *(effect.tool for effect in operator.effects),
                    *dict.fromkeys(name for channel in operator.channels for name in channel.declared.via),
                ],
                "status": "live",
                "tools": list(
                    dict.fromkeys(
                        [
                            *(each.tool for each in operator.declared),
                            *(each.options.executor_tool for each in operator.declared),
                        ]
                    )
                ),
            }
            for operator in self.operators
        )


def quote_error(error: BaseException) -> str:
    """Return the class and the text of an extension's error as one line. Its text is code of the
    extension, which may fail."""
    try:
        said = " ".join(printable(str(error)[:ERROR_CHARS]).split())
    except BaseException:
        said = ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def register(found: Iterable[Found], taken: Names) -> Extensions:
    """Return the extensions whose names are free. Each other one is left out as a whole."""
    operators: list[Operator] = []
    failures: list[LoadFailure] = []
    sources: dict[str, Source] = {}
    names: dict[str, dict[str, str]] = {
        "operator": dict(taken.operators),
        "tool": dict(taken.tools),
        "type": dict(taken.types),
        "connector": dict(taken.connectors),
        "component": dict(taken.components),
        "table prefix": dict(taken.prefixes),
    }
    known: set[int] = set()
    for source, loaded in found:
        if isinstance(loaded, LoadFailure):
            failures.append(loaded)
            continue
        fresh = [each for each in loaded if id(each) not in known]
        claimed = {kind: dict(places) for kind, places in names.items()}
        try:
            _refuse_unknown_connectors(fresh)
            for operator in fresh:
                _claim(operator, source, claimed)
            _claim_components(fresh, source, claimed)
            _refuse_executors(fresh, taken.executors)
        except BadExtension as bad:
            failures.append(LoadFailure(source, str(bad)))
            continue
        except Exception as error:
            # It has changed its operators after they were checked.
            failures.append(LoadFailure(source, f"its operators cannot be read ({quote_error(error)})."))
            continue
        names = claimed
        operators += fresh
        known.update(map(id, fresh))
        sources.update((operator.id, source) for operator in fresh)
    return Extensions(tuple(operators), tuple(failures), sources)


def _take(names: dict[str, dict[str, str]], kind: str, name: str, place: str) -> None:
    """Note that a name is used. Raises `BadExtension` if it is taken."""
    if (other := names[kind].get(name)) is not None:
        raise BadExtension(
            f"the {kind} {name} exists already: {other}.", place=place, fix="Rename one of the two."
        )
    names[kind][name] = place


def _claim(operator: Operator, source: Source, names: dict[str, dict[str, str]]) -> None:
    """Take the names that an operator needs. Raises `BadExtension` for one that is reserved or taken."""
    if not operator.declared:
        raise BadExtension(
            f"the operator {operator.id} has no effects.",
            place=str(source),
            fix="Decorate a function with @operator.effect(), or declare an operator.channel(…).",
        )
    if operator.prefix.startswith(RESERVED_PREFIXES) or operator.id in RESERVED_IDS:
        raise BadExtension(
            f"the operator id {operator.id} is reserved for {CORE}.",
            place=str(source),
            fix="Choose another id, such as your company's name and what it does.",
        )
    wanted = [("operator", operator.id, str(source))]
    for each in operator.declared:
        if each.options.channel in RESERVED_IDS:
            raise BadExtension(
                f"the channel {each.options.channel} is reserved for {CORE}.",
                place=each.place,
                fix="Leave channel out, or name another.",
            )
    for effect in (each for declared in operator.effects for each in declared.with_reverses):
        place = effect.place
        if effect.options.reversible and (effect.reverse is None or effect.reverse[1].leaves):
            raise BadExtension(
                f"{effect.__name__} says that it is reversible, but nothing takes all of it back.",
                place=place,
                fix=f"Add @{effect.__name__}.undo without leaves, or leave reversible out.",
            )
        if effect.options.delivery.kind == "read_back" and not effect.reads_back:
            raise BadExtension(
                f"{effect.__name__} declares read_back, but nothing reads back.",
                place=place,
                fix=f"Add @{effect.__name__}.look_up, or declare no_key().",
            )
        wanted += [
            ("tool", effect.tool, place),
            ("type", effect.type_id, place),
            ("connector", effect.tool, place),
        ]
    for channel in operator.channels:
        ways = [
            each
            for each in operator.connectors
            if each.id in channel.declared.via and each.defines("take_down")
        ]
        if channel.options.reversible and (not ways or any(each.undo.leaves for each in ways)):
            raise BadExtension(
                f"{channel.type_id} says that it is reversible, but nothing takes all of it back.",
                place=channel.place,
                fix="Write take_down in its connector without take_down_leaves, or leave reversible out.",
            )
        wanted += [("tool", channel.tool, channel.place), ("type", channel.type_id, channel.place)]
    for connector in operator.connectors:
        if connector.id in RESERVED_IDS:
            raise BadExtension(
                f"the connector id {connector.id} is reserved for {CORE}.",
                place=connector.place,
                fix="Choose another id.",
            )
        wanted.append(("connector", connector.id, connector.place))
    for kind, name, place in wanted:
        _take(names, kind, name, place)


def _refuse_executors(operators: Iterable[Operator], known: frozenset[str]) -> None:
    """Refuse an executor tool that does not exist: the action could not be executed with it."""
    for effect in (each for operator in operators for each in operator.declared):
        if effect.options.executor_tool not in list(known):
            raise BadExtension(
                f"the executor tool {effect.options.executor_tool!r} does not exist.",
                place=effect.place,
                fix=f"Leave executor_tool out, or write one of {', '.join(sorted(known))}.",
            )


def _refuse_unknown_connectors(operators: Sequence[Operator]) -> None:
    """Refuse a channel whose connector this extension does not have."""
    known = {each.id for operator in operators for each in operator.connectors}
    for channel in (each for operator in operators for each in operator.channels):
        for name in channel.declared.via:
            if name not in known:
                raise BadExtension(
                    f"{channel.type_id} goes via {name}, which is no connector of this extension.",
                    place=channel.place,
                    fix=f'Add @operator.connector to a class with id = "{name}".',
                )


def _claim_components(
    operators: Iterable[Operator], source: Source, names: dict[str, dict[str, str]]
) -> None:
    """Take the names and table prefixes that the operators of one extension need. Raises
    `BadExtension` for one that is taken, and for a component that breaks a rule."""
    checked: list[Component] = []
    for component in (each.component for each in operators):
        if component is None or component in checked:
            continue
        try:
            check_component(component)
        except ComponentError as wrong:
            raise BadExtension(str(wrong), place=str(source)) from wrong
        _take(names, "component", component.name, str(source))
        for prefix, other in names["table prefix"].items():
            if component.overlaps(prefix):
                raise BadExtension(
                    f"the table prefix {component.prefix} meets {prefix}: {other}.",
                    place=str(source),
                    fix="Choose another prefix.",
                )
        names["table prefix"][component.prefix] = str(source)
        checked.append(component)


log = logging.getLogger("assent.extensions")

IMPORT_SECONDS: Final = 10.0
HOME: Final = str(Path(__file__).parents[1])


def load_extensions(
    named: tuple[str, ...] = (),
    taken: Names = Names(),  # noqa: B008 - a frozen value
    *,
    declared: Iterable[Found] = (),
    seconds: float = IMPORT_SECONDS,
) -> Extensions:
    """Import the named files and modules, and return what they and `declared`, which was found elsewhere, offer. Logs
    each extension that is left out."""
    loaded = register(chain(_load_all(named, seconds), declared), taken)
    for failure in loaded.failures:
        log.error("the extension %s is left out: %s", failure.source, failure.why)
    return loaded


def _load_all(named: tuple[str, ...], seconds: float) -> Iterator[Found]:
    for name in dict.fromkeys(named):
        if _names_a_file(name):
            yield _load(Source("file", name), partial(_import_file, Path(name)), seconds)
        else:
            yield _load(Source("module", name), partial(importlib.import_module, name), seconds)


def _names_a_file(name: str) -> bool:
    return name.endswith(".py") or "/" in name


def _load(source: Source, load: Callable[[], Any], seconds: float) -> Found:
    """Import one extension. Every failure becomes a `LoadFailure`."""
    found: list[Any] = []
    raised: list[BaseException] = []

    def work() -> None:
        try:
            found.append(load())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work, name=f"loading-{source.name}", daemon=True)
    # What it prints must not get into the answer of a command.
    with redirect_stdout(sys.stderr):
        thread.start()
        thread.join(seconds)
    if raised:
        return source, LoadFailure(source, _explain(raised[0], source))
    if not found:
        why = f"importing it did not end within {seconds:g} seconds. Move slow work into the functions."
        return source, LoadFailure(source, why)
    try:
        return source, _find_operators(found[0])
    except BadExtension as bad:
        return source, LoadFailure(source, str(bad))


def _explain(error: BaseException, source: Source) -> str:
    """Say why an import failed and what to do."""
    if isinstance(error, BadExtension):
        return str(error)
    if isinstance(error, FileNotFoundError) and error.filename == source.name:
        return "there is no such file. Correct the path."
    if isinstance(error, ModuleNotFoundError):
        missing = f"there is no module named {error.name}."
        if source.kind == "module" and error.name == source.name.partition(".")[0]:
            return f"{missing} Install it, or name a file: ./{source.name}.py."
        return f"{missing} It imports that; install it into the same environment."
    if isinstance(error, SystemExit):
        return "it ends the process while it is imported (sys.exit). Remove that from its top level."
    if isinstance(error, SyntaxError):
        where = f"{error.filename or source.name}:{error.lineno}" if error.lineno else source.name
        return f"{where}: it is no valid Python ({error.msg})."
    where = _find_line(error)
    return f"{where}importing it raised {quote_error(error)}"


def _find_line(error: BaseException) -> str:
    """Return the file and line that raised it: the last that is not of this package, where the mistake
    of its author is."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [each for each in frames if not each.filename.startswith((HOME, "<frozen"))]
    return f"{theirs[-1].filename}:{theirs[-1].lineno}: " if theirs else ""


def _import_file(path: Path) -> ModuleType:
    """Import a file under a private name. Its folder goes to the end of `sys.path`, so that it can
    import its neighbours and hides no other module."""
    if path.is_dir():
        raise BadExtension(f"{path} is a folder.", fix="Name a Python file in it, or a module.")
    if not path.is_file():
        raise FileNotFoundError(2, "no such file", str(path))
    whole = path.resolve()
    name = f"_assent_operators_{hashlib.sha256(str(whole).encode()).hexdigest()[:12]}_{whole.stem}"
    if (made := sys.modules.get(name)) is not None:
        return made
    spec = importlib.util.spec_from_file_location(name, whole)
    if spec is None or spec.loader is None:
        raise BadExtension(f"{path} is no Python file.", fix="Name a file that ends with .py.")
    if (folder := str(whole.parent)) not in sys.path:
        sys.path.append(folder)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _find_operators(loaded: ModuleType) -> tuple[Operator, ...]:
    """Return the operators of a module. Raises `BadExtension`."""
    # Not isinstance, which asks the value for its class: a proxy answers with code of its own.
    values = [value for value in list(vars(loaded).values()) if issubclass(type(value), Operator)]
    found = tuple({id(each): each for each in values}.values())
    if not found:
        raise BadExtension(
            "it defines no operator.",
            fix='Write one at the top level: billing = assent.Operator("acme-billing").',
        )
    return found
