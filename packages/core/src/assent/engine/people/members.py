"""Members: invitations, roles, workspaces and devices.

There are two roles. An owner sees every workspace and invites people; a member sees and decides in
the workspaces they were invited to. An invitation is a sign-in link for a new person, with a longer
life.
"""

from __future__ import annotations

from typing import Final

from assent.engine.core import tenancy
from assent.engine.people import people, targets
from assent.engine.people.people import OWNER, Person, Role, SignedIn
from assent.gate.gate import approver_key
from assent.gate.names import name_with_address
from assent.gate.records import Assurance
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.limits import INVITATION_TTL_MS
from assent.kernel.structs import Record, from_record, from_row
from assent.ports import Bound, Transaction
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
    return statements.insert_person(
        workspace_id=SYSTEM_WORKSPACE,
        person_id=person.person_id,
        name=person.name,
        role=person.role.value,
        email=person.email,
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
