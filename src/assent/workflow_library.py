"""The definitions on disk: built-in, the user's and the project's folders, read anew where a file has changed.

A later folder wins over an earlier one for the same id, so that a project can replace what is built in. A bad file is
listed with everything that is wrong with it, and the others are served (W59). A change is seen by the next call (W55).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import msgspec

from assent.workflow import Compiled, Definition, DefinitionRefused, Issue, compile_definition, parse
from assent.workflow_files import SUFFIXES, DocumentRefused, load_document

BUILT_IN: Final = Path(__file__).parent / "workflows_builtin"
MAX_FILES: Final = 5_000
_by_name: Final = attrgetter("name")


Stamp = tuple[int, int]


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


class Shelf(msgspec.Struct, frozen=True):
    """Everything that was found at one moment."""

    definitions: dict[str, Definition]
    files: dict[str, str]
    invalid: tuple[Invalid, ...]


class WorkflowLibrary:
    """Reads folders. Keeps what it has read until the file changes, and what it has compiled until anything does."""

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._folders = tuple(str(folder) for folder in (BUILT_IN, *folders))
        self._files: dict[str, _File] = {}
        self._seen: dict[str, Stamp] = {}
        self._shelf: Shelf | None = None
        self._compiled: dict[str, Compiled] = {}
        self._refused: dict[str, Invalid] = {}

    def shelf(self) -> Shelf:
        """What is there now."""
        stamps = self._stamps()
        if self._shelf is not None and stamps == self._seen:
            return self._shelf
        self._files = {path: self._read(path, stamp) for path, stamp in stamps.items()}
        self._seen = stamps
        self._compiled, self._refused = {}, {}
        definitions: dict[str, Definition] = {}
        files: dict[str, str] = {}
        for path, file in self._files.items():
            if file.definition is not None:
                definitions[file.definition.id] = file.definition
                files[file.definition.id] = path
        invalid = tuple(file.invalid for file in self._files.values() if file.invalid is not None)
        self._shelf = Shelf(definitions, files, invalid)
        return self._shelf

    def find(self, workflow_id: str) -> Compiled | Invalid | None:
        """A workflow, compiled; or why it cannot be; or None where there is none of that name."""
        shelf = self.shelf()
        definition = shelf.definitions.get(workflow_id)
        if definition is None:
            return next((each for each in shelf.invalid if each.workflow_id == workflow_id), None)
        if workflow_id in self._refused:
            return self._refused[workflow_id]
        if workflow_id not in self._compiled:
            try:
                file = shelf.files[workflow_id]
                self._compiled[workflow_id] = compile_definition(definition, shelf.definitions, file=file)
            except DefinitionRefused as refused:
                self._refused[workflow_id] = Invalid(refused.file, refused.issues)
                return self._refused[workflow_id]
        return self._compiled[workflow_id]

    def check(self, path: Path) -> Compiled | Invalid:
        """One file, with what the folders hold for it to refer to."""
        file = self._read(str(path), (0, -1))
        if file.invalid is not None or file.definition is None:
            return file.invalid or Invalid(str(path), ())
        try:
            return compile_definition(file.definition, self.shelf().definitions, file=str(path))
        except DefinitionRefused as refused:
            return Invalid(str(path), refused.issues, file.definition.id)

    def _stamps(self) -> dict[str, Stamp]:
        """Every file with its time and size; of equal ids the later one wins. Asked on every call, so strings only."""
        found: dict[str, Stamp] = {}
        for folder in self._folders:
            waiting = [folder]
            while waiting and len(found) < MAX_FILES:
                try:
                    entries = sorted(os.scandir(waiting.pop()), key=_by_name)
                except OSError:
                    continue
                for entry in entries:
                    if entry.name.endswith(SUFFIXES):
                        if not entry.name.endswith(".schema.json"):
                            with contextlib.suppress(OSError):
                                facts = entry.stat()
                                found[entry.path] = (facts.st_mtime_ns, facts.st_size)
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        return found

    def _read(self, path: str, stamp: Stamp) -> _File:
        known = self._files.get(path)
        if known is not None and known.stamp == stamp:
            return known
        document: Any = None
        try:
            document = load_document(Path(path).read_bytes(), Path(path).suffix)
            return _File(stamp, parse(document, path), None)
        except (DefinitionRefused, DocumentRefused) as refused:
            named = document.get("id") if isinstance(document, dict) else None
            return _File(stamp, None, Invalid(path, refused.issues, named if isinstance(named, str) else ""))
        except OSError as error:
            issue = Issue("$", "unreadable", f"The file cannot be read: {error.strerror}.")
            return _File(stamp, None, Invalid(path, (issue,)))
