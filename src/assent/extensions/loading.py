"""Loads extensions: files and modules that the settings name, and entry points of packages.

Importing runs code of a stranger: it may raise, exit, hang or define nothing. Each import runs in a
thread with a time limit, and each failure becomes a message. One bad extension never stops the
others or the server.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import logging
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from assent.extensions.operators import Operator
from assent.extensions.problems import BadExtension
from assent.extensions.registry import Extensions, LoadFailure, Names, Source, quote_error, register

log = logging.getLogger("assent.extensions")

GROUP: Final = "assent.operators"
IMPORT_SECONDS: Final = 10.0
HOME: Final = str(Path(__file__).parents[1])


def load_extensions(
    named: tuple[str, ...] = (),
    taken: Names = Names(),  # noqa: B008 - a frozen value
    *,
    sections: Any = None,
    settings_file: str = "",
    seconds: float = IMPORT_SECONDS,
    find_entry_points: Callable[[], tuple[EntryPoint, ...]] | None = None,
) -> Extensions:
    """Import the named files and modules, then the entry points, read the sections `[effect.NAME]` of
    the settings file, and return what they offer. Logs each extension that is left out."""
    found = _load_all(named, seconds, find_entry_points or _find_entry_points)
    loaded = register(chain(found, _read_sections(sections, settings_file)), taken)
    for failure in loaded.failures:
        log.error("the extension %s is left out: %s", failure.source, failure.why)
    return loaded


def are_offered(named: tuple[str, ...], sections: Any) -> bool:
    """Whether there is any extension to load."""
    return bool(named) or sections is not None or bool(_find_entry_points())


@cache
def _find_entry_points() -> tuple[EntryPoint, ...]:
    """Read the metadata of all installed packages once: a start asks twice, and each reading takes 5 ms or more."""
    return tuple(entry_points(group=GROUP))


def _read_sections(
    sections: Any, settings_file: str
) -> Iterator[tuple[Source, tuple[Operator, ...] | LoadFailure]]:
    if sections is None:
        return
    from assent.extensions.http.sections import read_sections

    yield from read_sections(sections, settings_file)


def _load_all(
    named: tuple[str, ...], seconds: float, find: Callable[[], tuple[EntryPoint, ...]]
) -> Iterator[tuple[Source, tuple[Operator, ...] | LoadFailure]]:
    for name in dict.fromkeys(named):
        if _names_a_file(name):
            yield _load(Source("file", name), partial(_import_file, Path(name)), seconds)
        else:
            yield _load(Source("module", name), partial(importlib.import_module, name), seconds)
    for point in find():
        package = f" of {point.dist.name}" if point.dist is not None else ""
        yield _load(Source("entry point", f"{point.name}{package}"), point.load, seconds)


def _names_a_file(name: str) -> bool:
    return name.endswith(".py") or "/" in name


def _load(
    source: Source, load: Callable[[], Any], seconds: float
) -> tuple[Source, tuple[Operator, ...] | LoadFailure]:
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


def _find_operators(loaded: Any) -> tuple[Operator, ...]:
    """Return the operators of a module, or the one that an entry point names. Raises `BadExtension`."""
    if issubclass(type(loaded), Operator):
        return (loaded,)
    if not issubclass(type(loaded), ModuleType):
        raise BadExtension(
            f"its entry point is {type(loaded).__name__}.",
            fix="Name a module, or an Operator in one (module:operator).",
        )
    # Not isinstance, which asks the value for its class: a proxy answers with code of its own.
    values = [value for value in list(vars(loaded).values()) if issubclass(type(value), Operator)]
    found = tuple({id(each): each for each in values}.values())
    if not found:
        raise BadExtension(
            "it defines no operator.",
            fix='Write one at the top level: billing = assent.Operator("acme-billing").',
        )
    return found
