"""Reads a file of people (TOML). Every mistake is named with its line and key.

Checks what the file alone can tell; `engine.people.roster` compares it with the people who are there.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from assent.cli.failures import Failure
from assent.engine.people.people import Role
from assent.engine.people.roster import RosterEntry
from assent.kernel.limits import MAX_NAME_CHARS
from assent.settings.load import suggestion
from assent.tools.arguments import is_address

TABLE: Final = "person"
KEYS: Final = ("name", "email", "id", "role", "workspaces")
_HEADER: Final = re.compile(rf"\s*\[\[\s*{TABLE}\s*\]\]")

EXAMPLE: Final = """\
[[person]]
name = "Grace Hopper"
email = "grace@example.org"
role = "member"          # or "owner"
workspaces = ["local"]   # names or ids; an owner needs none
"""


class PeopleFile:
    """The entries of a file, and the lines that they are on."""

    def __init__(self, path: Path) -> None:
        """Raises `Failure`."""
        self._path = path
        try:
            self._text = path.read_text(encoding="utf-8")
            found = tomllib.loads(self._text)
        except OSError as error:
            raise Failure(f"The file {path} cannot be read: {error.strerror}.\nName another one.") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise Failure(f"The file {path} is not TOML: {error}.\nCorrect that line.") from None
        for key in found:
            if key != TABLE:
                line = self._line_of(re.compile(rf"\s*\[*\s*\"?{re.escape(key)}\b"))
                raise Failure(
                    f"{self._at(line)}: the key {key!r} is unknown. Every person is a [[{TABLE}]]:\n\n{EXAMPLE}"
                )
        listed = found.get(TABLE, [])
        if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
            raise Failure(f"{path}: {TABLE} is not a list. Write every person as [[{TABLE}]]:\n\n{EXAMPLE}")
        self.entries = tuple(self._read(position, each) for position, each in enumerate(listed))
        self._refuse_repeated()

    def fail(self, position: int, key: str, text: str, next_step: str = "Correct that line.") -> Failure:
        """The failure for one key of one entry."""
        return Failure(
            f"{self._at(self._line(position, key))}: {key} {text}.\n{next_step} Nothing was changed."
        )

    def _read(self, position: int, given: dict[str, Any]) -> RosterEntry:
        for key in given:
            if key not in KEYS:
                meant = suggestion(key, [*KEYS])
                hint = f"Did you mean {meant!r}? " if meant else ""
                raise self.fail(position, key, "is unknown", f"{hint}Known keys: {', '.join(KEYS)}.")
        for key in ("name", "email", "id", "role"):
            if key in given and (not isinstance(given[key], str) or not given[key].strip()):
                raise self.fail(position, key, "must be a text that is not empty")
        name = " ".join(given.get("name", "").split())
        if not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
            raise self.fail(
                position, "name", f"is missing or is no name of at most {MAX_NAME_CHARS} characters"
            )
        email, person_id = given.get("email"), given.get("id")
        if email is None and person_id is None:
            raise self.fail(position, "email", "is missing", "Name the person by email, or by id.")
        if email is not None and not is_address(email.strip()):
            raise self.fail(position, "email", f"{email!r} is no e-mail address")
        if given.get("role", Role.MEMBER) not in list(Role):
            raise self.fail(position, "role", f"{given['role']!r} is neither owner nor member")
        places = given.get("workspaces", [])
        if not isinstance(places, list) or not all(isinstance(each, str) for each in places):
            raise self.fail(position, "workspaces", "must be a list of texts")
        return RosterEntry(
            person_id=person_id.strip() if person_id is not None else None,
            email=email.strip() if email is not None else None,
            name=name,
            role=Role(given.get("role", Role.MEMBER)),
            workspaces=tuple(places),
        )

    def _refuse_repeated(self) -> None:
        seen: dict[str, int] = {}
        for position, each in enumerate(self.entries):
            for key, value in (("id", each.person_id), ("email", (each.email or "").lower() or None)):
                if value is None:
                    continue
                if (named := f"{key} {value}") in seen:
                    first = self._line(seen[named], key)
                    raise self.fail(position, key, f"{value!r} is there twice, first in line {first}")
                seen[named] = position

    def _at(self, line: int | None) -> str:
        return f"{self._path}, line {line}" if line is not None else str(self._path)

    def _line(self, position: int, key: str) -> int | None:
        """The line of a key in an entry, or of the entry's header if the key is not there."""
        headers = [number for number, line in enumerate(self._text.splitlines(), 1) if _HEADER.match(line)]
        if position >= len(headers):
            return None  # written in another way, such as an inline table
        after = headers[position + 1] if position + 1 < len(headers) else None
        wanted = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]")
        return self._line_of(wanted, headers[position], after) or headers[position]

    def _line_of(self, wanted: re.Pattern[str], first: int = 0, after: int | None = None) -> int | None:
        lines = self._text.splitlines()[first : after - 1 if after is not None else None]
        return next((number for number, line in enumerate(lines, first + 1) if wanted.match(line)), None)
