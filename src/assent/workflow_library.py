"""The definitions on disk: built-in, the user's and the project's folders, read anew where a file has changed.

A later folder wins over an earlier one for the same id, so that a project can replace what is built in. A bad file is
listed with everything that is wrong with it, and the others are served (W59). A change is seen by the next call (W55).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from assent.workflow import Compiled, Definition, DefinitionRefused, Issue, compile_definition, parse
from assent.workflow_files import SUFFIXES, DocumentRefused, load_document

BUILT_IN: Final = Path(__file__).parent / "workflows_builtin"
MAX_FILES: Final = 5_000


class Invalid(msgspec.Struct, frozen=True):
    """A file that is no workflow, and why."""

    file: str
    issues: tuple[Issue, ...]
    workflow_id: str = ""
    """What it calls itself, where that can be read."""


class _File(msgspec.Struct, frozen=True):
    stamp: tuple[int, int]
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
        self._folders = (BUILT_IN, *folders)
        self._files: dict[Path, _File] = {}
        self._seen: dict[Path, tuple[int, int]] = {}
        self._shelf: Shelf | None = None
        self._compiled: dict[str, Compiled] = {}
        self._refused: dict[str, Invalid] = {}

    def shelf(self) -> Shelf:
        """What is there now."""
        stamps = dict(self._stamps())
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
                files[file.definition.id] = str(path)
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
        file = self._read(path, (0, -1))
        if file.invalid is not None or file.definition is None:
            return file.invalid or Invalid(str(path), ())
        try:
            return compile_definition(file.definition, self.shelf().definitions, file=str(path))
        except DefinitionRefused as refused:
            return Invalid(str(path), refused.issues, file.definition.id)

    def _stamps(self) -> Iterator[tuple[Path, tuple[int, int]]]:
        found = 0
        for folder in self._folders:
            for directory, subfolders, names in os.walk(folder):
                subfolders.sort()
                for name in sorted(names):
                    if name.endswith(SUFFIXES) and not name.endswith(".schema.json"):
                        path = Path(directory, name)
                        try:
                            facts = path.stat()
                        except OSError:
                            continue
                        found += 1
                        if found > MAX_FILES:
                            return
                        yield path, (facts.st_mtime_ns, facts.st_size)

    def _read(self, path: Path, stamp: tuple[int, int]) -> _File:
        known = self._files.get(path)
        if known is not None and known.stamp == stamp:
            return known
        document: Any = None
        try:
            document = load_document(path.read_bytes(), path.suffix)
            return _File(stamp, parse(document, str(path)), None)
        except (DefinitionRefused, DocumentRefused) as refused:
            named = document.get("id") if isinstance(document, dict) else None
            return _File(
                stamp, None, Invalid(str(path), refused.issues, named if isinstance(named, str) else "")
            )
        except OSError as error:
            issue = Issue("$", "unreadable", f"The file cannot be read: {error.strerror}.")
            return _File(stamp, None, Invalid(str(path), (issue,)))
