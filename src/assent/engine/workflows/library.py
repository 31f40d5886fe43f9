"""The definitions on disk: built-in, the user's and the project's folders, read anew where a file has changed.

A later folder wins over an earlier one for the same id, so that a project can replace what is built in. A bad file is
listed with everything that is wrong with it, and the others are served (W59). A change is seen by the next call (W55).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from operator import attrgetter
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import msgspec

from assent.engine.workflows.files import SUFFIXES, DocumentRefused, load_document, refuse_size
from assent.workflow import Compiled, Definition, DefinitionRefused, Issue, compile_definition, parse

P = ParamSpec("P")
T = TypeVar("T")

BUILT_IN: Final = Path(__file__).parent / "builtin"
MAX_FILES: Final = 5_000
OTHER_NAMES: Final = {"mr-review-workflow": "assent.merge-request-review"}
"""Names by which the contract knows workflows that are shipped; a file of that very name comes first. Routines of the
public library are also called without its prefix `wr.`."""
_SHIPPED: Final = str(BUILT_IN)
_by_name: Final = attrgetter("name")


TICK_NS: Final = 50_000_000
COARSE_TICK_NS: Final = 2_000_000_000
"""How far a file system's clock may jump at once, and that of one which keeps whole seconds: two changes within it
can bear one time."""

Stamp = tuple[int, int, int, int]
"""Of a file or a folder: when its content and when anything of it changed, its size, and which one it is."""
_ABSENT: Final[Stamp] = (0, 0, -1, 0)
"""Of a file that was not looked at, or a link that leads nowhere."""

_AS_SHIPPED: Final[Stamp] = (0, 0, 0, 0)
"""Of a file that is not watched."""


class Invalid(msgspec.Struct, frozen=True):
    """A file that is no workflow, and why."""

    file: str
    issues: tuple[Issue, ...]
    workflow_id: str = ""
    """What it calls itself, where that can be read."""


class _File(msgspec.Struct, frozen=True):
    stamp: Stamp
    definition: Definition | None
    invalid: Invalid | None


class Catalogue(msgspec.Struct, frozen=True):
    """Everything that was found at one moment."""

    definitions: dict[str, Definition]
    files: dict[str, str]
    invalid: tuple[Invalid, ...]
    shadowed: dict[str, str] = {}
    """Files that are not served, with the file of the same folder that has their id and is."""


class _Drawn(Mapping[str, Definition]):
    """The definitions, noting which ones a compilation asks for."""

    def __init__(self, definitions: Mapping[str, Definition]) -> None:
        self._definitions = definitions
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> Definition:
        self.asked.add(name)
        return self._definitions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions)

    def __len__(self) -> int:
        return len(self._definitions)


def _one_at_a_time(
    method: Callable[Concatenate[WorkflowLibrary, P], T],
) -> Callable[Concatenate[WorkflowLibrary, P], T]:
    @wraps(method)
    def alone(library: WorkflowLibrary, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with library._lock:
            return method(library, *args, **kwargs)

    return alone


class WorkflowLibrary:
    """Reads folders. Keeps what it has read until the file changes, and what it has compiled until anything does.
    Several threads may use it, one at a time; never a transaction, because it waits for the disk."""

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._lock = threading.RLock()
        self._folders = tuple(str(folder.expanduser()) for folder in (BUILT_IN, *folders))
        self._files: dict[str, _File] = {}
        self._seen: dict[str, Stamp] = {}
        self._fresh: frozenset[str] = frozenset()
        self._watched: dict[str, Stamp | None] = {}
        self._directories: tuple[str, ...] = ()
        self._made_of: dict[str, tuple[str, ...]] = {}
        self._paths: dict[str, str] = {}
        self._catalogue: Catalogue | None = None
        self._compiled: dict[str, Compiled] = {}
        self._refused: dict[str, Invalid] = {}

    @_one_at_a_time
    def catalogue(self) -> Catalogue:
        """What is there now."""
        if self._catalogue is not None and self._watched and self._unchanged(self._watched):
            return self._catalogue
        stamps = self._listed()
        if self._catalogue is not None and stamps == self._seen and not self._fresh:
            return self._catalogue
        files = {path: self._read(path, stamp) for path, stamp in stamps.items()}
        if self._catalogue is not None and files == self._files:
            return self._catalogue
        self._files, self._seen = files, stamps
        self._compiled, self._refused, self._made_of = {}, {}, {}
        definitions: dict[str, Definition] = {}
        self._paths = {}
        hidden: list[tuple[str, str]] = []
        for path, file in self._files.items():
            if file.definition is not None:
                if (earlier := self._paths.get(file.definition.id)) is not None:
                    hidden.append((earlier, file.definition.id))
                definitions[file.definition.id] = file.definition
                self._paths[file.definition.id] = path
        invalid = tuple(file.invalid for file in self._files.values() if file.invalid is not None)
        # A later folder replaces what an earlier one holds on purpose; within one it may be an oversight.
        named = {workflow_id: name_of(path) for workflow_id, path in self._paths.items()}
        shadowed = {
            name_of(path): named[workflow_id]
            for path, workflow_id in hidden
            if self._root(path) == self._root(self._paths[workflow_id])
        }
        self._catalogue = Catalogue(definitions, named, invalid, shadowed)
        return self._catalogue

    @_one_at_a_time
    def resolve(self, workflow_id: str) -> str:
        """The id under which a workflow is kept: its own, or that of another name for it."""
        known = self.catalogue().definitions
        others = (OTHER_NAMES.get(workflow_id, ""), f"wr.{workflow_id}")
        return workflow_id if workflow_id in known else next((n for n in others if n in known), workflow_id)

    @_one_at_a_time
    def find(self, workflow_id: str) -> Compiled | Invalid | None:
        """A workflow, compiled; or why it cannot be; or None where there is none of that name."""
        catalogue = self.catalogue()
        workflow_id = self.resolve(workflow_id)
        definition = catalogue.definitions.get(workflow_id)
        if definition is None:
            return next((each for each in catalogue.invalid if each.workflow_id == workflow_id), None)
        return self._compile(catalogue, workflow_id, definition)

    @_one_at_a_time
    def listing(self) -> tuple[Catalogue, tuple[Invalid, ...]]:
        """What is there now, and which of its definitions no program can be made of: one look for all of them."""
        catalogue = self.catalogue()
        made = [
            self._compile(catalogue, name, definition) for name, definition in catalogue.definitions.items()
        ]
        return catalogue, tuple(each for each in made if isinstance(each, Invalid))

    def _compile(self, catalogue: Catalogue, workflow_id: str, definition: Definition) -> Compiled | Invalid:
        if workflow_id in self._refused:
            return self._refused[workflow_id]
        if workflow_id not in self._compiled:
            try:
                drawn = _Drawn(catalogue.definitions)
                self._compiled[workflow_id] = compile_definition(
                    definition, drawn, file=catalogue.files[workflow_id]
                )
                files = (self._paths[name] for name in sorted({workflow_id, *drawn.asked} & set(self._paths)))
                # The shipped folder is replaced with the program, whose next start sees it.
                folders = (path for path in self._directories if path != _SHIPPED)
                self._made_of[workflow_id] = (*folders, *files)
            except DefinitionRefused as refused:
                self._refused[workflow_id] = Invalid(refused.file, refused.issues)
                return self._refused[workflow_id]
        return self._compiled[workflow_id]

    @_one_at_a_time
    def find_again(self, workflow_id: str) -> Compiled | Invalid | None:
        """The same for who looks at every step of a run: at the folders and at what this workflow was made of, however
        many files there are. Only a file that takes over its id without being new is seen later, by `find`."""
        made_of = self._made_of.get(workflow_id)
        if made_of is not None and self._watched and self._unchanged(made_of):
            return self._compiled[workflow_id]
        return self.find(workflow_id)

    @_one_at_a_time
    def check(self, path: Path) -> Compiled | Invalid:
        """One file, with what the folders hold for it to refer to."""
        file = self._read(str(path), _ABSENT)
        if file.invalid is not None or file.definition is None:
            return file.invalid or Invalid(name_of(str(path)), ())
        try:
            return compile_definition(file.definition, self.catalogue().definitions, file=name_of(str(path)))
        except DefinitionRefused as refused:
            return Invalid(name_of(str(path)), refused.issues, file.definition.id)

    def _unchanged(self, paths: Iterable[str]) -> bool:
        """Whether these files and folders are as they were when they were last listed: a look at each, on every
        call."""
        for path in paths:
            stamp = self._watched.get(path, _AS_SHIPPED)
            if stamp is _AS_SHIPPED:
                continue
            try:
                facts = os.stat(path)  # noqa: PTH116 - on every call
            except OSError:
                if stamp is not None:
                    return False
            else:
                if stamp != (facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino):
                    return False
        return True

    def _listed(self) -> dict[str, Stamp]:
        """Every file with its stamp; of equal ids the later one wins."""
        found: dict[str, Stamp] = {}
        watched: dict[str, Stamp | None] = {}
        directories: list[str] = []
        for folder in self._folders:
            waiting = [folder]
            while waiting and len(found) < MAX_FILES:
                path = waiting.pop()
                directories.append(path)
                try:
                    watched[path] = _stamp(os.stat(path))  # noqa: PTH116 - before it is listed
                    entries = sorted(os.scandir(path), key=_by_name)
                except NotADirectoryError:
                    # A file may stand among the folders.
                    if is_definition(path) and (stamp := watched[path]) is not None:
                        found[path] = stamp
                    continue
                except OSError as error:
                    watched[path] = None
                    if isinstance(error, PermissionError):
                        # What is in it would be missed without a word.
                        found[path] = _ABSENT
                    continue
                for entry in entries:
                    if is_definition(entry.name):
                        watched[entry.path] = None
                        with contextlib.suppress(OSError):
                            found[entry.path] = watched[entry.path] = _stamp(entry.stat())
                        if watched[entry.path] is None and entry.is_symlink():
                            found[entry.path] = _ABSENT
                        if folder == _SHIPPED:
                            # They are replaced with the program, which its folder shows.
                            del watched[entry.path]
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        # What changes twice within one tick of the file system's clock shows only the first change.
        now_ns = time.time_ns()
        self._fresh = frozenset(
            path
            for path, stamp in watched.items()
            if stamp is not None and _may_hide_a_change(stamp[0], now_ns)
        )
        self._watched = {} if self._fresh else watched
        self._directories = tuple(directories)
        return found

    def _root(self, path: str) -> str:
        """The folder, of those that are read, in which a file lies."""
        return next((root for root in reversed(self._folders) if Path(path).is_relative_to(root)), "")

    def _read(self, path: str, stamp: Stamp) -> _File:
        known = self._files.get(path)
        if known is not None and known.stamp == stamp and path not in self._fresh:
            return known
        document: Any = None
        try:
            document = load_document(_bytes(path), Path(path).suffix)
            return _File(stamp, parse(document, name_of(path)), None)
        except (DefinitionRefused, DocumentRefused) as refused:
            named = document.get("id") if isinstance(document, dict) else None
            named = named if isinstance(named, str) else ""
            return _File(stamp, None, Invalid(name_of(path), refused.issues, named))
        except OSError as error:
            issue = Issue("$", "unreadable", f"The file cannot be read: {error.strerror}.")
            return _File(stamp, None, Invalid(name_of(path), (issue,)))


def is_definition(name: str) -> bool:
    """Whether a file of that name is read."""
    name = name.lower()
    return name.endswith(SUFFIXES) and not name.endswith(".schema.json")


def _bytes(path: str) -> bytes:
    """What a file holds, unless it is too long to be a definition. A pipe would be waited for; a device never ends."""
    with open(path, "rb", opener=_open_at_once) as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(errno.EINVAL, "it is a pipe or a device, not a file")
        refuse_size(facts.st_size)
        return file.read()


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def name_of(path: str) -> str:
    """A path as it can be written in an answer: names on disk are bytes, and need not be text."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _stamp(facts: os.stat_result) -> Stamp:
    return facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino


def _may_hide_a_change(changed_ns: int, now_ns: int) -> bool:
    tick_ns = TICK_NS if changed_ns % 1_000_000_000 else COARSE_TICK_NS
    return changed_ns > now_ns - tick_ns
