"""People by file: the differences between a list of people and those who can sign in, and their
application in one transaction.

A person is named by id or by e-mail address. An address names only a person whom an owner or an issuer
vouched for: a signup may name any address, and must not be promoted by it. The first owner is never
removed and stays an owner.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.engine.core import tenancy
from assent.engine.people import members, people
from assent.engine.people.people import OWNER, NamedBy, Person, Role
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.structs import Record
from assent.ports import Row, Rows, Transaction
from assent.sql.loader import statements

NEW: Final = ""
"""The id of a person who does not exist yet."""


class RosterProblem(Exception):  # noqa: N818 - what was found
    """An entry that cannot be applied. `entry` is its position, `key` the part that is wrong."""

    def __init__(self, entry: int, key: str, text: str) -> None:
        super().__init__(text)
        self.entry = entry
        self.key = key


class RosterEntry(Record, kw_only=True):
    """One wanted person. `workspaces` are names or ids; an owner needs none."""

    person_id: str | None = None
    email: str | None = None
    name: str
    role: Role = Role.MEMBER
    workspaces: tuple[str, ...] = ()


class RosterChange(Record, kw_only=True):
    """A person as they shall be, and the differences in words. A new one has no id yet."""

    person: Person
    places: tuple[WorkspaceId, ...]
    differences: tuple[str, ...] = ()


class RosterPlan(Record, kw_only=True):
    """What applying a list does. `kept` can sign in and are not in the list."""

    added: tuple[RosterChange, ...]
    changed: tuple[RosterChange, ...]
    removed: tuple[Person, ...]
    kept: tuple[Person, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.changed or self.removed)


class RosterMoved(Exception):  # noqa: N818 - what was found
    """People changed between the plan and its application."""


def plan(entries: tuple[RosterEntry, ...], *, prune: bool) -> Transaction[RosterPlan]:
    """Compare a list with the people who can sign in. Raises `RosterProblem`."""
    rows = yield statements.list_roster(workspace_id=SYSTEM_WORKSPACE)
    workspaces = yield from tenancy.list_workspaces()
    memberships = yield statements.list_memberships()
    names = {each.workspace_id: each.name for each in workspaces}
    held: dict[str, set[str]] = {}
    for row in memberships:
        held.setdefault(row["person_id"], set()).add(row["workspace_id"])
    added: list[RosterChange] = []
    changed: list[RosterChange] = []
    found: dict[str, int] = {}
    for position, entry in enumerate(entries):
        match = _find(position, entry, rows)
        places = _find_places(position, entry, names)
        if match is None:
            added.append(RosterChange(person=_name(NEW, entry, entry.email), places=places))
            continue
        known = people.person_of(match)
        if known.person_id in found:
            first = found[known.person_id] + 1
            raise RosterProblem(position, "email", f"names the same person as entry {first}")
        found[known.person_id] = position
        if known.person_id == OWNER and entry.role is not Role.OWNER:
            raise RosterProblem(
                position, "role", "cannot change: this is the first owner, who stays an owner"
            )
        wanted = _name(known.person_id, entry, entry.email or known.email)
        differences = _compare(known, wanted, held.get(known.person_id, set()), set(places), names)
        if match["follows_claims"]:
            differences += ("role decided by the issuer → by this file",)
        if known.named_by is not wanted.named_by:
            differences += ("name given by this file, so that they cannot change it",)
        if differences:
            changed.append(RosterChange(person=wanted, places=places, differences=differences))
    missing = tuple(people.person_of(row) for row in rows if row["person_id"] not in found)
    removed = tuple(each for each in missing if prune and each.person_id != OWNER)
    return RosterPlan(
        added=tuple(added),
        changed=tuple(changed),
        removed=removed,
        kept=tuple(each for each in missing if each not in removed),
    )


def apply(
    entries: tuple[RosterEntry, ...],
    expected: RosterPlan,
    new_ids: tuple[str, ...],
    entropy: tuple[bytes, ...],
    now_ms: int,
    *,
    prune: bool,
    by: str,
) -> Transaction[tuple[tuple[Person, str | None], ...]]:
    """Apply a plan. Returns the new people, with the tokens of their invitations if there is entropy for
    them. Raises `RosterMoved` if the plan is no longer the one that was shown."""
    current = yield from plan(entries, prune=prune)
    if current != expected:
        raise RosterMoved("people changed in the meantime")
    made: list[tuple[Person, str | None]] = []
    for number, each in enumerate(current.added):
        person = msgspec.structs.replace(each.person, person_id=new_ids[number])
        token = None
        if entropy:
            token = yield from members.invite(person, each.places, entropy[number], now_ms, by=by)
        else:
            yield from members.add(person, each.places, now_ms, by=by)
        made.append((person, token))
    for each in current.changed:
        yield from members.change(each.person, each.places, now_ms, by=by)
        yield statements.keep_role_here(workspace_id=SYSTEM_WORKSPACE, person_id=each.person.person_id)
    for gone in current.removed:
        yield from members.remove(gone.person_id, now_ms, by=by)
    return tuple(made)


def _name(person_id: str, entry: RosterEntry, email: str | None) -> Person:
    return Person(person_id, entry.name, entry.role, email, email_vouched=True, named_by=NamedBy.FILE)


def _find(position: int, entry: RosterEntry, rows: Rows) -> Row | None:
    if entry.person_id is not None:
        found = [row for row in rows if row["person_id"] == entry.person_id]
        if not found:
            raise RosterProblem(position, "id", f"{entry.person_id!r} is no person who can sign in here")
        return found[0]
    email = (entry.email or "").lower()
    found = [row for row in rows if row["email_vouched"] and (row["email"] or "").lower() == email]
    if len(found) > 1:
        ids = ", ".join(row["person_id"] for row in found)
        raise RosterProblem(position, "email", f"is that of several people; name one by its id: {ids}")
    return found[0] if found else None


def _find_places(position: int, entry: RosterEntry, names: dict[WorkspaceId, str]) -> tuple[WorkspaceId, ...]:
    places = []
    for wanted in entry.workspaces:
        found = [place for place, name in names.items() if wanted in (place, name)]
        if len(found) != 1:
            text = (
                f"{wanted!r} is no workspace"
                if not found
                else f"{wanted!r} is the name of several; use an id"
            )
            raise RosterProblem(position, "workspaces", text)
        places.append(found[0])
    if entry.role is Role.OWNER:
        return ()
    if not places:
        raise RosterProblem(
            position, "workspaces", "is missing or empty: a member needs at least one workspace"
        )
    return tuple(sorted(set(places)))


def _compare(
    known: Person, wanted: Person, held: set[str], places: set[WorkspaceId], names: dict[WorkspaceId, str]
) -> tuple[str, ...]:
    """The differences, in words."""
    said = [
        f"{label} {before or 'none'} → {after}"
        for label, before, after in (
            ("name", known.name, wanted.name),
            ("e-mail", known.email, wanted.email),
            ("role", known.role.value, wanted.role.value),
        )
        if before != after
    ]
    if wanted.is_owner:
        return tuple(said)
    for sign, some in (("+", set(places) - held), ("-", held - set(places))):
        said += [f"{sign} workspace {names.get(WorkspaceId(each), each)}" for each in sorted(some)]
    return tuple(said)
