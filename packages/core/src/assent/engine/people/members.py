"""Members: invitations, roles, workspaces and devices.

There are two roles. An owner sees every workspace and invites people; a member sees and decides in
the workspaces they were invited to. An invitation is a sign-in link for a new person, with a longer
life.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.engine.core import tenancy
from assent.engine.people import people, targets
from assent.engine.people.people import OWNER, NamedBy, Person, Role, SignedIn
from assent.gate.gate import approver_key
from assent.gate.names import name_with_address
from assent.gate.records import Assurance
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.limits import INVITATION_TTL_MS
from assent.kernel.structs import Record, from_record, from_row
from assent.ports import Bound, Row, Rows, Transaction
from assent.sql.loader import statements

TERMINAL: Final = "terminal"
"""The inviter's name for an invitation by command."""


class MemberWorkspace(Record):
    workspace_id: WorkspaceId
    name: str


class Device(Record):
    session_id: str
    device: str
    created_ms: int
    expires_ms: int


class ListedPerson(Record):
    person: Person
    places: tuple[str, ...]
    devices: int
    invited_until_ms: int | None
    signed_in_ms: int | None = None
    """When they last signed in."""


def invite(
    person: Person, places: tuple[WorkspaceId, ...], entropy: bytes, now_ms: int, *, by: str
) -> Transaction[str]:
    """Create a person and return the token of their first sign-in link."""
    yield from add(person, places, now_ms, by=by)
    return (yield from invite_again(person.person_id, entropy, now_ms, by=by))


def add(person: Person, places: tuple[WorkspaceId, ...], now_ms: int, *, by: str) -> Transaction[None]:
    """Create a person who gets no link yet. Raises `name_taken`."""
    yield from insert(person, places, now_ms)
    yield from people.check_name(person)
    yield from people.note("person_invited", {**describe(person, places), "by": by}, now_ms)


def insert(person: Person, places: tuple[WorkspaceId, ...], now_ms: int) -> Transaction[None]:
    """Store a new person whose e-mail address an owner or an issuer vouches for."""
    yield _insert(person, now_ms)
    yield statements.vouch_for_email(workspace_id=SYSTEM_WORKSPACE, person_id=person.person_id)
    for workspace_id in places:
        yield from join(workspace_id, person, now_ms)
    yield from people.store_name(person)


def _insert(person: Person, now_ms: int) -> Bound:
    return from_record(
        statements.insert_person,
        person,
        workspace_id=SYSTEM_WORKSPACE,
        role=person.role.value,
        created_ms=now_ms,
    )


def describe(person: Person, places: tuple[WorkspaceId, ...]) -> dict[str, object]:
    """The facts of an event about a person's access, whose address an owner or an issuer vouches for."""
    name = name_with_address(person.name, person.email)
    return {"person": person.person_id, "name": name, "role": person.role, "workspaces": places}


def change(person: Person, places: tuple[WorkspaceId, ...], now_ms: int, *, by: str) -> Transaction[bool]:
    """Give a known person this name, role, address and these workspaces. Returns whether that changed
    anything. An owner or an issuer vouches for the address. Raises `name_taken`."""
    before = yield from find(person.person_id)
    if before is None:
        return False
    rows = yield statements.list_workspaces_of(person_id=person.person_id)
    held, wanted = {row["workspace_id"] for row in rows}, set() if person.is_owner else set(places)
    if (before.role, before.email, held) == (person.role, person.email, wanted):
        return (yield from people.give_name(before, person, now_ms))
    yield statements.update_person(
        workspace_id=SYSTEM_WORKSPACE,
        person_id=person.person_id,
        role=person.role.value,
        email=person.email,
    )
    yield statements.vouch_for_email(workspace_id=SYSTEM_WORKSPACE, person_id=person.person_id)
    yield statements.end_memberships(person_id=person.person_id)
    for workspace_id in sorted(wanted):
        yield from join(WorkspaceId(workspace_id), person, now_ms)
    facts = describe(person, tuple(WorkspaceId(each) for each in sorted(wanted)))
    yield from people.note("person_changed", {**facts, "by": by}, now_ms)
    # Where they are now, even a name that stays may be that of another.
    if not (yield from people.give_name(before, person, now_ms)):
        yield from people.check_name(person)
    return True


def invite_again(person_id: str, entropy: bytes, now_ms: int, *, by: str) -> Transaction[str]:
    """Return the token of a new link. Earlier links end."""
    yield statements.end_sign_in_links(workspace_id=SYSTEM_WORKSPACE, person_id=person_id, now_ms=now_ms)
    return (
        yield from people.new_link(person_id, entropy, now_ms, ttl_ms=INVITATION_TTL_MS, facts={"by": by})
    )


def join_by_claim(
    workspace_id: WorkspaceId, person: Person, entropy: bytes, now_ms: int, *, device: str
) -> Transaction[SignedIn]:
    """Add the person who claims a signup to its workspace, with the assurance of a link (C26)."""
    yield _insert(person, now_ms)
    yield from join(workspace_id, person, now_ms)
    facts = {"by": "signup", "assurance": Assurance.LINK.value}
    return (
        yield from people.open_session(
            person, entropy, now_ms, device=device, facts=facts, assurance=Assurance.LINK
        )
    )


def join(workspace_id: WorkspaceId, person: Person, now_ms: int) -> Transaction[None]:
    """Add a known person to a workspace. An owner is in all of them."""
    if person.role is Role.MEMBER:
        yield statements.add_membership(
            workspace_id=workspace_id, person_id=person.person_id, created_ms=now_ms
        )


def find(person_id: str) -> Transaction[Person | None]:
    rows = yield statements.find_person(workspace_id=SYSTEM_WORKSPACE, person_id=person_id)
    return people.person_of(rows[0]) if rows else None


def names_in(workspace_id: WorkspaceId) -> Transaction[tuple[tuple[str, str | None], ...]]:
    """Return the names and addresses of all people who can sign in and decide in a workspace."""
    rows = yield statements.list_names_in(workspace_id=SYSTEM_WORKSPACE, place=workspace_id)
    return tuple((row["name"], row["email"]) for row in rows)


def list_people(now_ms: int) -> Transaction[tuple[ListedPerson, ...]]:
    """List the people who can sign in and those who were invited."""
    rows = yield statements.list_people(workspace_id=SYSTEM_WORKSPACE, now_ms=now_ms)
    members = yield statements.list_memberships()
    places: dict[str, list[str]] = {}
    for row in members:
        places.setdefault(row["person_id"], []).append(row["name"])
    return tuple(
        ListedPerson(
            people.person_of(row),
            tuple(places.get(row["person_id"], ())),
            row["devices"],
            row["invited_until_ms"],
            row["signed_in_ms"],
        )
        for row in rows
    )


def remove(person_id: str, now_ms: int, *, by: str) -> Transaction[bool]:
    """End sessions and links, too. The first owner cannot be removed."""
    if person_id == OWNER:
        return False
    ended = yield statements.end_person(workspace_id=SYSTEM_WORKSPACE, person_id=person_id, now_ms=now_ms)
    if not ended:
        return False
    yield from people.sign_out_everywhere(person_id, now_ms)
    yield statements.end_memberships(person_id=person_id)
    yield statements.end_client_keys(person_id=person_id, now_ms=now_ms)
    yield from targets.forget_person(person_id)
    yield statements.delete_passkeys(workspace_id=SYSTEM_WORKSPACE, person_id=person_id)
    yield from people.note("person_removed", {"person": person_id, "by": by}, now_ms)
    return True


def list_member_workspaces(person: Person) -> Transaction[tuple[MemberWorkspace, ...]]:
    if person.is_owner:
        found = yield from tenancy.list_workspaces()
        return tuple(from_record(MemberWorkspace, each) for each in found)
    rows = yield statements.list_workspaces_of(person_id=person.person_id)
    return tuple(from_row(MemberWorkspace, row) for row in rows)


def is_new(person: Person) -> Transaction[bool]:
    """Whether nothing was ever prepared in the workspaces of a person."""
    for each in (yield from list_member_workspaces(person)):
        if (yield statements.has_run(workspace_id=each.workspace_id)):
            return False
    return True


def may_see(person: Person, workspace_id: WorkspaceId) -> Transaction[bool]:
    if person.is_owner:
        return True
    rows = yield statements.find_membership(workspace_id=workspace_id, person_id=person.person_id)
    return bool(rows)


def is_confirmed(workspace_id: WorkspaceId, email: str, person_id: str) -> Transaction[bool]:
    """Whether an address is surely that of a person who may decide in this workspace. `person_id` chose it."""
    rows = yield statements.find_confirmed_member(
        workspace_id=SYSTEM_WORKSPACE, place=workspace_id, email=email.strip().lower(), person_id=person_id
    )
    return bool(rows)


def devices(person_id: str, now_ms: int) -> Transaction[tuple[Device, ...]]:
    """List the devices of a person, newest first."""
    rows = yield statements.list_sessions(workspace_id=SYSTEM_WORKSPACE, person_id=person_id, now_ms=now_ms)
    return tuple(from_row(Device, row) for row in rows)


def end_device(person_id: str, session_id: str, now_ms: int) -> Transaction[bool]:
    """Sign out one of the person's own devices."""
    ended = yield statements.end_own_session(
        workspace_id=SYSTEM_WORKSPACE, session_id=session_id, person_id=person_id, now_ms=now_ms
    )
    if ended:
        yield from people.note("signed_out", {"person": person_id, "sessionId": session_id}, now_ms)
    return bool(ended)


def count_waiting(person: Person, now_ms: int) -> Transaction[int]:
    """Count the actions that wait where this person may decide."""
    rows = yield statements.count_waiting_for(
        everywhere=int(person.is_owner),
        person_id=person.person_id,
        approver=approver_key(person.person_id, person.name),
        now_ms=now_ms,
    )
    waiting: int = rows[0]["waiting"]
    return waiting


def journal_position() -> Transaction[str]:
    rows = yield statements.journal_position(server=SYSTEM_WORKSPACE)
    position: str = rows[0]["position"]
    return position


# People by file: the differences between a list of people and those who can sign in, and their
# application in one transaction.
#
# A person is named by id or by e-mail address. An address names only a person whom an owner or an issuer
# vouched for: a signup may name any address, and must not be promoted by it. The first owner is never
# removed and stays an owner.

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
            token = yield from invite(person, each.places, entropy[number], now_ms, by=by)
        else:
            yield from add(person, each.places, now_ms, by=by)
        made.append((person, token))
    for each in current.changed:
        yield from change(each.person, each.places, now_ms, by=by)
        yield statements.keep_role_here(workspace_id=SYSTEM_WORKSPACE, person_id=each.person.person_id)
    for gone in current.removed:
        yield from remove(gone.person_id, now_ms, by=by)
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
