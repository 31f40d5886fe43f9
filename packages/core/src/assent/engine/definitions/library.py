"""The workflow definitions on disk: built-in, user and project folders. Changed files are read
again.

For the same id a later folder wins, so a project can replace a built-in workflow. An invalid file
is listed with all its errors, and the others are served (W59). The next call sees a change (W55).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from operator import attrgetter
from pathlib import Path
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, TypeVar

from assent.kernel.canonical import depth
from assent.kernel.limits import MAX_JSON_DEPTH, MAX_WORKFLOW_BYTES
from assent.kernel.structs import Record
from assent.kernel.texts import quote
from assent.workflow import Compiled, Definition, DefinitionRefused, Issue, Warning, compile_definition, parse
from assent.workflow.issues import shorten, walk_values

# Parse a definition file: JSON or YAML, bounded, without duplicate keys.

SUFFIXES: Final = (".json", ".yaml", ".yml")
ANSWERS: Final = ".answers"
"""Before the suffix of a file that has answers for a definition and is none."""
_MAX_YAML_NODES: Final = 50_000
"""Bound on a file's nodes after anchors are expanded, against small files that grow huge."""

_TOO_DEEP: Final = f"The file nests deeper than {MAX_JSON_DEPTH} levels, or has an infinite number."
_TOO_MANY: Final = "The file expands to too many values; use fewer anchors."

_ADVICE: Final = {
    "constructor for the tag": "Tags are not read; remove it and write the plain value",
    "recursive node": "An anchor contains itself; write the value out",
    "another document": "A file has one document; put the next one into another file",
    "'\\t'": "A tab is not allowed here; indent with spaces",
}
"""Advice that replaces messages of the YAML parser."""


class DocumentRefused(Exception):  # noqa: N818 - an answer to the author
    """The file holds no document that can be a definition."""

    def __init__(self, issue: Issue) -> None:
        super().__init__(issue.message)
        self.issues = (issue,)


def load_document(text: str | bytes, suffix: str) -> Any:
    """Parse a file's text. `suffix` is one of `SUFFIXES`. Raises `DocumentRefused`."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise _refusal("not_utf8", f"The file is not UTF-8 text (byte {error.start}); save it as UTF-8.")
    refuse_size(len(text.encode("utf-8", "surrogatepass")))
    is_yaml = suffix.lower() in (".yaml", ".yml")
    if not text.strip("\ufeff \t\r\n"):
        code = "not_yaml" if is_yaml else "not_json"
        raise _refusal(code, "The file is empty; write id, name, description, version and steps.")
    value = _yaml(text) if is_yaml else _json(text.removeprefix("\ufeff"))
    if depth(value) > MAX_JSON_DEPTH:
        raise _refusal("too_deep", f"The file nests deeper than {MAX_JSON_DEPTH} levels.")
    return value


def refuse_size(size: int) -> None:
    """Raise `DocumentRefused` for more bytes than a definition may have."""
    if size > MAX_WORKFLOW_BYTES:
        message = (
            f"The file has {size} bytes; at most {MAX_WORKFLOW_BYTES} are taken. Split it into routines."
        )
        raise _refusal("too_large", message)


def _refusal(code: str, message: str) -> DocumentRefused:
    return DocumentRefused(Issue("$", code, message))


class _UnreadableValue(NamedTuple):
    """Placeholder for an unreadable value until its path is known."""

    code: str
    message: str


def _report_duplicate(key: str) -> _UnreadableValue:
    return _UnreadableValue("duplicate_key", f'The key "{key[:60]}" is in one object twice; keep one.')


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        seen[key] = _report_duplicate(key) if key in seen else value
    return seen


def _constant(name: str) -> _UnreadableValue:
    return _UnreadableValue("not_json", f"{name} is no JSON number; write a plain one.")


def _json(text: str) -> Any:
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise _refusal("not_json", f"Line {error.lineno}, column {error.colno}: {error.msg}.")
    except (RecursionError, ValueError):
        raise _refusal("too_deep", _TOO_DEEP)
    for path, part in walk_values(value):
        if isinstance(part, _UnreadableValue):
            raise DocumentRefused(shorten(Issue(path, *part)))
    return value


def _yaml(text: str) -> Any:
    import yaml  # imported late: most folders hold no YAML

    class Loader(yaml.SafeLoader):
        """Plain JSON values only: no dates, no duplicate keys, bounded anchors."""

        nodes = 0
        composed = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            self.composed += 1
            if self.composed > _MAX_YAML_NODES:
                message = f"The file has more than {_MAX_YAML_NODES} values; split it into routines."
                raise _refusal("too_large", message)
            return super().compose_node(parent, index)

        def construct_object(self, node: Any, deep: bool = False) -> Any:
            self.nodes += 1
            if self.nodes > _MAX_YAML_NODES:
                raise _refusal("too_large", _TOO_MANY)
            return super().construct_object(node, deep=deep)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen: set[str] = set()
            for key, _ in node.value:
                name, place = self.construct_object(key, deep=True), f"Line {key.start_mark.line + 1}: "
                if name == "<<":
                    message = 'Merge keys ("<<") are not read, only plain anchors; write the fields out.'
                    raise _refusal("key", place + message)
                if not isinstance(name, str):
                    raise _refusal("key", f"{place}The key {quote(name)} is not a text; write it in quotes.")
                if name in seen:
                    raise _refusal("duplicate_key", place + _report_duplicate(name).message)
                seen.add(name)
            return super().construct_mapping(node, deep=True)

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":merge"))]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    try:
        value = yaml.load(text, Loader)  # noqa: S506 - a safe loader, narrowed further
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"Line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or "not YAML"
        said = next((advice for part, advice in _ADVICE.items() if part in problem), problem)
        raise _refusal("not_yaml", f"{place}{said}.")
    except (RecursionError, ValueError):
        raise _refusal("too_deep", _TOO_DEEP)
    # With its anchors expanded. Not by `walk_values`, whose paths grow without end in an anchor that
    # contains itself.
    stack, count = [value], 0
    while stack:
        node, count = stack.pop(), count + 1
        if count > _MAX_YAML_NODES:
            raise _refusal("too_large", _TOO_MANY)
        stack += node if isinstance(node, list) else node.values() if isinstance(node, dict) else ()
    return value


P = ParamSpec("P")
T = TypeVar("T")

BUILT_IN: Final = Path(__file__).parent / "builtin"
MAX_FILES: Final = 5_000
OTHER_NAMES: Final = {"mr-review-workflow": "assent.merge-request-review"}
"""Names that the contract uses for shipped workflows. A file with that name takes precedence.
Routines of the public library can also be called without the prefix `wr.`."""
_OTHERS: Final = (".schema.json", *(ANSWERS + suffix for suffix in SUFFIXES))
"""Endings of files beside definitions that are none."""
_by_name: Final = attrgetter("name")


TICK_NS: Final = 50_000_000
COARSE_TICK_NS: Final = 2_000_000_000
"""Coarsest resolution of a file system's clock. Two changes within it can have the same time."""

Stamp = tuple[int, int, int, int]
"""Of a file or folder: mtime, ctime, size, inode."""
_ABSENT: Final[Stamp] = (0, 0, -1, 0)
"""The stamp of a file that was not read, or of a dangling link."""

_AS_SHIPPED: Final[Stamp] = (0, 0, 0, 0)
"""The stamp of a file that is not watched."""


class Invalid(Record):
    """A file that is no valid workflow, with its errors."""

    file: str
    issues: tuple[Issue, ...]
    workflow_id: str = ""
    """Its id, if that can be read."""


class _File(Record):
    stamp: Stamp
    definition: Definition | None
    invalid: Invalid | None


class Catalogue(Record):
    """All definitions found at one time."""

    definitions: dict[str, Definition]
    files: dict[str, str]
    invalid: tuple[Invalid, ...]
    shadowed: dict[str, str] = {}
    """Files that are not served, mapped to the file that has their id."""


class _RecordingDefinitions(Mapping[str, Definition]):
    """The definitions; records which ones a compilation reads."""

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
    """Reads and compiles definitions. A file is cached until it changes, a program until any file
    changes. Thread-safe by a lock. Not for transactions, because it reads the disk."""

    def __init__(self, folders: Sequence[Path] = (), *, shipped: Iterable[Path] = ()) -> None:
        """`shipped` are the folders of extensions, which change only with the program, as that of the core does."""
        self._lock = threading.RLock()
        self._shipped = tuple(map(str, (BUILT_IN, *shipped)))
        self._folders = (*self._shipped, *(str(folder.expanduser()) for folder in folders))
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
        """Return the present definitions."""
        if self._catalogue is not None and self._watched and self._is_unchanged(self._watched):
            return self._catalogue
        stamps = self._list_files()
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
        # A later folder replaces an earlier one on purpose; within one folder it may be a mistake.
        named = {workflow_id: decode_path(path) for workflow_id, path in self._paths.items()}
        shadowed = {
            decode_path(path): named[workflow_id]
            for path, workflow_id in hidden
            if self._root(path) == self._root(self._paths[workflow_id])
        }
        self._catalogue = Catalogue(definitions, named, invalid, shadowed)
        return self._catalogue

    @_one_at_a_time
    def resolve(self, workflow_id: str) -> str:
        """Return the id of a workflow, given its id or another name."""
        known = self.catalogue().definitions
        others = (OTHER_NAMES.get(workflow_id, ""), f"wr.{workflow_id}")
        return workflow_id if workflow_id in known else next((n for n in others if n in known), workflow_id)

    @_one_at_a_time
    def find(self, workflow_id: str) -> Compiled | Invalid | None:
        """Return the compiled workflow, its errors, or None if there is none of that name."""
        catalogue = self.catalogue()
        workflow_id = self.resolve(workflow_id)
        definition = catalogue.definitions.get(workflow_id)
        if definition is None:
            return next((each for each in catalogue.invalid if each.workflow_id == workflow_id), None)
        return self._compile(catalogue, workflow_id, definition)

    @_one_at_a_time
    def list_definitions(self) -> tuple[Catalogue, tuple[Invalid, ...]]:
        """Return the present definitions, and those that do not compile."""
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
                drawn = _RecordingDefinitions(catalogue.definitions)
                self._compiled[workflow_id] = compile_definition(
                    definition, drawn, file=catalogue.files[workflow_id]
                )
                files = (self._paths[name] for name in sorted({workflow_id, *drawn.asked} & set(self._paths)))
                folders = (path for path in self._directories if path not in self._shipped)
                self._made_of[workflow_id] = (*folders, *files)
            except DefinitionRefused as refused:
                self._refused[workflow_id] = Invalid(refused.file, refused.issues)
                return self._refused[workflow_id]
        return self._compiled[workflow_id]

    @_one_at_a_time
    def find_again(self, workflow_id: str) -> Compiled | Invalid | None:
        """Like `find`, but cheap enough for every step of a run: checks only the folders and the
        files that this workflow was compiled from. An existing file that takes over the id is seen
        only by `find`."""
        made_of = self._made_of.get(workflow_id)
        if made_of is not None and self._watched and self._is_unchanged(made_of):
            return self._compiled[workflow_id]
        return self.find(workflow_id)

    def find_drift(self, workflow_id: str, pinned: str) -> tuple[Warning, ...]:
        """Warn if the files no longer have the version that a run is pinned to (W55, W56)."""
        found = self.find_again(workflow_id)
        if isinstance(found, Compiled) and pinned == found.workflow_hash:
            return ()
        now = "has changed" if isinstance(found, Compiled) else "is gone or cannot be read"
        message = f"The workflow {workflow_id} {now} since this run started; "
        message += "the run goes on with what it was pinned to."
        return (Warning("workflow_drifted", message, workflow_id),)

    @_one_at_a_time
    def check(self, path: Path) -> Compiled | Invalid:
        """Compile one file, which may refer to definitions of the folders."""
        file = self._read(str(path), _ABSENT)
        if file.invalid is not None or file.definition is None:
            return file.invalid or Invalid(decode_path(str(path)), ())
        try:
            return compile_definition(
                file.definition, self.catalogue().definitions, file=decode_path(str(path))
            )
        except DefinitionRefused as refused:
            return Invalid(decode_path(str(path)), refused.issues, file.definition.id)

    def _is_unchanged(self, paths: Iterable[str]) -> bool:
        """Whether these files and folders have the stamps of the last listing."""
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
                if stamp != _stamp(facts):
                    return False
        return True

    def _list_files(self) -> dict[str, Stamp]:
        """List every file with its stamp."""
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
                    # An entry may be a file instead of a folder.
                    if is_definition(path) and (stamp := watched[path]) is not None:
                        found[path] = stamp
                    continue
                except OSError as error:
                    watched[path] = None
                    if isinstance(error, PermissionError):
                        # Otherwise its files would be missing without a message.
                        found[path] = _ABSENT
                    continue
                for entry in entries:
                    if is_definition(entry.name):
                        watched[entry.path] = None
                        with contextlib.suppress(OSError):
                            found[entry.path] = watched[entry.path] = _stamp(entry.stat())
                        if watched[entry.path] is None and entry.is_symlink():
                            found[entry.path] = _ABSENT
                        if folder in self._shipped:
                            # Shipped files change with the program, which changes their folder.
                            del watched[entry.path]
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        # A second change within one tick of the file system's clock is invisible.
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
        """Return the configured folder that contains a file."""
        return next((root for root in reversed(self._folders) if Path(path).is_relative_to(root)), "")

    def _read(self, path: str, stamp: Stamp) -> _File:
        known = self._files.get(path)
        if known is not None and known.stamp == stamp and path not in self._fresh:
            return known
        document: Any = None
        try:
            document = load_document(_bytes(path), Path(path).suffix)
            return _File(stamp, parse(document, decode_path(path)), None)
        except (DefinitionRefused, DocumentRefused) as refused:
            named = document.get("id") if isinstance(document, dict) else None
            named = named if isinstance(named, str) else ""
            return _File(stamp, None, Invalid(decode_path(path), refused.issues, named))
        except OSError as error:
            issue = Issue("$", "unreadable", f"The file cannot be read: {error.strerror}.")
            return _File(stamp, None, Invalid(decode_path(path), (issue,)))


def is_definition(name: str) -> bool:
    """Whether a file of that name is a definition."""
    name = name.lower()
    return name.endswith(SUFFIXES) and not name.endswith(_OTHERS)


def _bytes(path: str) -> bytes:
    """Read a file. Refuses long ones, and pipes and devices, which may block."""
    with open(path, "rb", opener=_open_at_once) as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(errno.EINVAL, "it is a pipe or a device, not a file")
        refuse_size(facts.st_size)
        return file.read()


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def decode_path(path: str) -> str:
    """Return a path as valid text: names on disk may be any bytes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _stamp(facts: os.stat_result) -> Stamp:
    return facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino


def _may_hide_a_change(changed_ns: int, now_ns: int) -> bool:
    tick_ns = TICK_NS if changed_ns % 1_000_000_000 else COARSE_TICK_NS
    return changed_ns > now_ns - tick_ns
