"""People who sign in: one-time links and browser sessions (C8's `person`).

A session from a signup has the assurance `link`, because the agent may hold that address too (C26).

A person who can run commands on the server's data gets an owner link; others are invited
(`engine.people.members`). A link works once and becomes a session in the browser that opened it.
Links and sessions are stored as hashes. Every sign-in is an event in the server's stream.

Randomness is an argument, because a store may run a transaction twice.
"""

from __future__ import annotations

import enum
import hashlib
import hmac
import uuid
from typing import Any, Final

import msgspec

from assent.engine.core import journal
from assent.gate.names import is_taken, name_with_address
from assent.gate.records import Assurance
from assent.kernel import tokens
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.limits import SESSION_TTL_MS, SIGN_IN_LINK_TTL_MS
from assent.kernel.refusals import Reason, Refusal, Words
from assent.kernel.structs import Record, from_row
from assent.ports import Row, Rows, Transaction
from assent.sql.loader import statements

OWNER: Final = "owner"
"""The owner of this server, and their default name."""

ID_BYTES: Final = 16
SECRET_BYTES: Final = 24
ENTROPY_BYTES: Final = ID_BYTES + SECRET_BYTES
"""Randomness of one link or session."""

_ID_CHARS: Final = 22

NAME_TAKEN: Final = Words(
    summary="Another person here has this name or one that reads like it, or it names a role, or it has < or >. Choose "
    "one that tells them apart, such as “Ada Lovelace (Sales)”.",
    user_message="Nothing was changed.",
)
NAME_GIVEN: Final = Words(
    summary="This name comes from the file of people or from the identity provider, and is changed there.",
    user_message="Nothing was changed.",
)


class Role(enum.StrEnum):
    """An owner decides everywhere and invites people; a member decides in their workspaces."""

    OWNER = "owner"
    MEMBER = "member"


class NamedBy(enum.StrEnum):
    """Who gave a person their name. They may change only one that they gave themselves."""

    SELF = ""
    FILE = "file"
    ISSUER = "issuer"


class Person(Record):
    """A person who can sign in. The id does not change with the name."""

    person_id: str
    name: str
    role: Role = Role.OWNER
    email: str | None = None
    email_vouched: bool = False
    """Whether an owner or an issuer vouches for the address. A signup may name any."""
    named_by: NamedBy = NamedBy.SELF
    zone: str = ""
    """The time zone in which they read times, as `Europe/Oslo`; empty if they chose none."""

    @property
    def is_owner(self) -> bool:
        return self.role is Role.OWNER

    @property
    def label(self) -> str:
        """The name in records and on pages, with the address by which others know whose it is."""
        return name_with_address(self.name, self.email if self.email_vouched else None)


class Session(Record):
    session_id: str
    person: Person
    expires_ms: int
    assurance: Assurance = Assurance.PERSON
    """That of the sign-in. What a request counts for is less without a signature (`origins`)."""
    public_key: str | None = None
    """The key that the browser made when it signed in, if it could."""

    @property
    def is_confirmed(self) -> bool:
        """Whether this is surely a person and not an agent with the link."""
        return self.assurance is not Assurance.LINK


class SignedIn(Record):
    session: Session
    secret: str


def issue_link(
    entropy: bytes, now_ms: int, *, shown_to: str, person_id: str = OWNER, name: str | None = None
) -> Transaction[str]:
    """Create the owner's sign-in token. `shown_to` says who could read it."""
    yield statements.insert_person(
        workspace_id=SYSTEM_WORKSPACE,
        person_id=person_id,
        name=person_id,
        role=Role.OWNER.value,
        email=None,
        created_ms=now_ms,
    )
    if name is not None:
        rows = yield statements.find_person(workspace_id=SYSTEM_WORKSPACE, person_id=person_id)
        yield from choose_name(person_of(rows[0]), name, now_ms)
    return (
        yield from new_link(
            person_id, entropy, now_ms, ttl_ms=SIGN_IN_LINK_TTL_MS, facts={"shownTo": shown_to}
        )
    )


def new_link(
    person_id: str, entropy: bytes, now_ms: int, *, ttl_ms: int, facts: dict[str, Any]
) -> Transaction[str]:
    """Create a sign-in link for a known person. Returns its token."""
    link_id, token = _make_secret(entropy)
    yield statements.insert_sign_in_link(
        workspace_id=SYSTEM_WORKSPACE,
        link_id=link_id,
        person_id=person_id,
        secret_hash=_hash(token),
        created_ms=now_ms,
        expires_ms=now_ms + ttl_ms,
    )
    yield from note("sign_in_link_issued", {"person": person_id, "linkId": link_id, **facts}, now_ms)
    return token


def find_link(token: str, now_ms: int) -> Transaction[Person | None]:
    """Unknown, used and expired links give None."""
    found = yield from _link(token, now_ms)
    return found[1] if found is not None else None


def sign_in(
    token: str,
    entropy: bytes,
    now_ms: int,
    *,
    name: str | None = None,
    device: str = "",
    public_key: str | None = None,
    zone: str = "",
) -> Transaction[SignedIn | None]:
    """Consume a link and open a session. Returns None if the link is not usable. `device` names the
    browser in the person's list; `public_key` is the browser's, and `zone` its time
    zone, which a person without one gets."""
    found = yield from _link(token, now_ms)
    if found is None:
        return None
    link_id, person = found
    used = yield statements.use_sign_in_link(workspace_id=SYSTEM_WORKSPACE, link_id=link_id, now_ms=now_ms)
    if not used:
        return None
    if name is not None and person.named_by is NamedBy.SELF:
        person = yield from choose_name(person, name, now_ms)
    if zone and not person.zone:
        yield from set_zone(person.person_id, zone)
        person = msgspec.structs.replace(person, zone=zone)
    facts = {"linkId": link_id}
    return (
        yield from open_session(person, entropy, now_ms, device=device, facts=facts, public_key=public_key)
    )


def open_session(
    person: Person,
    entropy: bytes,
    now_ms: int,
    *,
    device: str,
    facts: dict[str, Any],
    assurance: Assurance = Assurance.PERSON,
    public_key: str | None = None,
) -> Transaction[SignedIn]:
    """Open a session for a browser. `facts` go into the journal. A `public_key` is stored here or
    never: a program that has only the cookie must not add one."""
    session_id, secret = _make_secret(entropy)
    session = Session(session_id, person, now_ms + SESSION_TTL_MS, assurance, public_key)
    yield statements.insert_session(
        workspace_id=SYSTEM_WORKSPACE,
        session_id=session_id,
        person_id=person.person_id,
        secret_hash=_hash(secret),
        created_ms=now_ms,
        expires_ms=session.expires_ms,
        device=device,
        assurance=assurance.value,
        public_key=public_key,
    )
    who = {"person": person.person_id, "name": person.label, "sessionId": session_id}
    yield from note("signed_in", {**who, **facts}, now_ms)
    return SignedIn(session, secret)


def choose_name(person: Person, name: str, now_ms: int) -> Transaction[Person]:
    """Give a person the name that they chose. Raises `name_taken`."""
    if name != person.name and person.named_by is not NamedBy.SELF:
        raise Refusal(Reason.NAME_TAKEN, words=NAME_GIVEN)
    chosen = msgspec.structs.replace(person, name=name)
    yield from give_name(person, chosen, now_ms)
    return chosen


def give_name(before: Person, person: Person, now_ms: int) -> Transaction[bool]:
    """Give a person a name. Returns whether it is another one, or another source of it. Raises `name_taken`."""
    if (before.name, before.named_by) == (person.name, person.named_by):
        return False
    yield from check_name(person)
    yield from store_name(person)
    if before.name != person.name:
        yield from note("person_renamed", {"person": person.person_id, "name": person.label}, now_ms)
    return True


def check_name(person: Person) -> Transaction[None]:
    """Raise `name_taken` if the name reads like that of another person in a workspace of this one. A file and an
    issuer may give two people the same name if their addresses differ. Runs in the transaction that gives the name."""
    yield statements.lock_person_names()
    rows = yield statements.list_names_beside(
        workspace_id=SYSTEM_WORKSPACE, person_id=person.person_id, everywhere=int(person.is_owner)
    )
    known = [(row["name"], row["email"]) for row in rows]
    if person.named_by is not NamedBy.SELF and person.email is not None:
        known = [each for each in known if (each[1] or "").lower() == person.email.lower()]
    if is_taken(person.name, known):
        raise Refusal(Reason.NAME_TAKEN, words=NAME_TAKEN)


def store_name(person: Person) -> Transaction[None]:
    yield statements.rename_person(
        workspace_id=SYSTEM_WORKSPACE,
        person_id=person.person_id,
        name=person.name,
        named_by=person.named_by.value,
    )


def set_zone(person_id: str, zone: str) -> Transaction[None]:
    """Store the time zone in which a person reads times."""
    yield statements.set_zone(workspace_id=SYSTEM_WORKSPACE, person_id=person_id, zone=zone)


def authenticate(secret: str, now_ms: int) -> Transaction[Session | None]:
    """Return the live session of a browser's secret, else None."""
    session_id = _public_part(secret)
    if session_id is None:
        return None
    rows = yield statements.find_session(workspace_id=SYSTEM_WORKSPACE, session_id=session_id)
    if not _genuine(secret, rows) or rows[0]["ended_ms"] is not None or rows[0]["expires_ms"] <= now_ms:
        return None
    found = rows[0]
    return Session(
        session_id, person_of(found), found["expires_ms"], Assurance(found["assurance"]), found["public_key"]
    )


def sign_out(session: Session, now_ms: int) -> Transaction[bool]:
    """End a session. Returns False if it had ended."""
    ended = yield statements.end_session(
        workspace_id=SYSTEM_WORKSPACE, session_id=session.session_id, now_ms=now_ms
    )
    if ended:
        facts = {"person": session.person.person_id, "sessionId": session.session_id}
        yield from note("signed_out", facts, now_ms)
    return bool(ended)


def sign_out_everywhere(person_id: str, now_ms: int) -> Transaction[int]:
    """End sessions and unused links. Returns the number of sessions."""
    ended = yield statements.end_sessions(workspace_id=SYSTEM_WORKSPACE, person_id=person_id, now_ms=now_ms)
    links = yield statements.end_sign_in_links(
        workspace_id=SYSTEM_WORKSPACE, person_id=person_id, now_ms=now_ms
    )
    facts = {"person": person_id, "sessions": len(ended), "links": len(links)}
    yield from note("signed_out_everywhere", facts, now_ms)
    return len(ended)


def forget_ended(now_ms: int, most: int) -> Transaction[int]:
    """Delete expired links, sessions and nonces. Returns the number deleted of one of them."""
    links = yield statements.delete_expired_sign_in_links(now_ms=now_ms, most=most)
    sessions = yield statements.delete_expired_sessions(now_ms=now_ms, most=most)
    nonces = yield statements.delete_expired_nonces(now_ms=now_ms, most=most)
    return max(len(links), len(sessions), len(nonces))


def _link(token: str, now_ms: int) -> Transaction[tuple[str, Person] | None]:
    link_id = _public_part(token)
    if link_id is None:
        return None
    rows = yield statements.find_sign_in_link(workspace_id=SYSTEM_WORKSPACE, link_id=link_id)
    if not _genuine(token, rows) or rows[0]["used_ms"] is not None or rows[0]["expires_ms"] <= now_ms:
        return None
    return link_id, person_of(rows[0])


def person_of(row: Row) -> Person:
    vouched, named_by = bool(row["email_vouched"]), NamedBy(row["named_by"])
    return from_row(Person, row, role=Role(row["role"]), email_vouched=vouched, named_by=named_by)


def _make_secret(entropy: bytes) -> tuple[str, str]:
    """Return the public id and the whole secret. Only its hash is stored."""
    if len(entropy) != ENTROPY_BYTES:
        raise ValueError(f"a link or session needs {ENTROPY_BYTES} random bytes")
    public = entropy[:ID_BYTES]
    return str(uuid.UUID(bytes=public)), tokens.encode(public) + tokens.encode(entropy[ID_BYTES:])


def _public_part(secret: str) -> str | None:
    try:
        public, rest = tokens.decode(secret[:_ID_CHARS]), tokens.decode(secret[_ID_CHARS:])
    except tokens.TokenInvalid:
        return None
    return str(uuid.UUID(bytes=public)) if (len(public), len(rest)) == (ID_BYTES, SECRET_BYTES) else None


def _genuine(secret: str, rows: Rows) -> bool:
    """Compare in constant time. A missing row takes as long as a wrong secret."""
    stored: str = rows[0]["secret_hash"] if rows else ""
    return hmac.compare_digest(_hash(secret), stored)


def _hash(secret: str) -> str:
    # 192 random bits need no slow hash.
    return hashlib.sha256(secret.encode()).hexdigest()


def note(kind: str, facts: dict[str, Any], now_ms: int) -> Transaction[None]:
    """Append an event to the server's stream."""
    yield from journal.note(SYSTEM_WORKSPACE, kind, facts, now_ms)
