"""People whom an issuer identifies (OpenID Connect): who may come in, as whom, and with which role.

`judge` decides by the verified claims: a verified e-mail address of an allowed domain, or a value of the
claim that gives roles. `admit` finds the person by issuer and subject. An e-mail address finds only a
person whom an owner invited or named in a file with that address and who was never linked. A person who
was removed here stays removed until an owner invites them again.

The issuer decides the role of people whom a sign-in created, at every sign-in. This server decides the
role of those whom its owners invited. The issuer names both, unless a file of people does.

`admit` opens no session: it returns the token of a sign-in link with a short life, for the browser that
came back from the issuer.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from assent.engine.core import tenancy
from assent.engine.people import members, people
from assent.engine.people.people import NamedBy, Person, Role
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.limits import MAX_EMAIL_CHARS, MAX_NAME_CHARS, MINUTE_MS
from assent.kernel.refusals import Refusal
from assent.kernel.structs import Record
from assent.kernel.texts import truncate, write_name
from assent.ports import Row, Transaction
from assent.sql.loader import statements

STATE_TTL_MS: Final = 10 * MINUTE_MS
"""Life of an attempt: signing in with an issuer takes a few minutes."""
LINK_TTL_MS: Final = 2 * MINUTE_MS
"""Life of the link to which the browser is redirected at once."""

Denial = Literal["no_email", "unverified", "domain", "no_role", "no_workspace", "removed", "ambiguous"]


class SignInDenied(Exception):  # noqa: N818 - what was decided
    """The issuer identified a person who may not come in. The text is a sentence for that person."""

    def __init__(self, denial: Denial, text: str) -> None:
        super().__init__(text)
        self.denial = denial


class AdmissionRules(Record, kw_only=True):
    """Who may come in, from the settings. `members` are pairs of a claim's value and a workspace;
    `workspaces` are those of everyone with an address of one of the domains. A workspace is named by
    its name or its id until `resolve_rules` replaced the name."""

    domains: tuple[str, ...] = ()
    claim: str = "groups"
    owners: tuple[str, ...] = ()
    members: tuple[tuple[str, str], ...] = ()
    workspaces: tuple[str, ...] = ()


def resolve_rules(rules: AdmissionRules) -> Transaction[AdmissionRules]:
    """Return the rules with ids instead of names of workspaces, so that a later workspace of the same name gets no one.
    A name that is unknown stays. Raises `SignInDenied` if a name is that of several."""
    known = yield from tenancy.list_workspaces()

    def find(place: str) -> str:
        found = [each.workspace_id for each in known if each.workspace_id == place]
        found = found or [each.workspace_id for each in known if each.name == place]
        if len(found) > 1:
            raise SignInDenied("ambiguous", f"Several workspaces are called {place!r}.")
        return found[0] if found else place

    members = tuple((value, find(place)) for value, place in rules.members)
    return msgspec.structs.replace(rules, members=members, workspaces=tuple(map(find, rules.workspaces)))


class IdentifiedPerson(Record, kw_only=True):
    """A person who may come in. `email` is verified or None."""

    issuer: str
    subject: str
    name: str
    email: str | None
    role: Role
    workspaces: tuple[str, ...]


def judge(rules: AdmissionRules, claims: Mapping[str, Any]) -> IdentifiedPerson:
    """Return whom the claims identify, with the role that the rules give. Raises `SignInDenied`."""
    said, verified = claims.get("email"), claims.get("email_verified")
    email = said.strip().lower() if isinstance(said, str) and 3 <= len(said) <= MAX_EMAIL_CHARS else None
    trusted = email if email is not None and (verified is True or verified == "true") else None
    values = _read_values(claims, rules.claim)
    in_domain = trusted is not None and trusted.rpartition("@")[2] in {each.lower() for each in rules.domains}
    is_owner = bool(values & set(rules.owners))
    by_claim = tuple(workspace for value, workspace in rules.members if value in values)
    if not (is_owner or by_claim or in_domain):
        raise _deny(rules, email, trusted)
    return IdentifiedPerson(
        issuer=claims["iss"],
        subject=claims["sub"],
        name=_name(claims, email),
        email=trusted,
        role=Role.OWNER if is_owner else Role.MEMBER,
        workspaces=tuple(dict.fromkeys((*by_claim, *(rules.workspaces if in_domain else ())))),
    )


def _deny(rules: AdmissionRules, email: str | None, trusted: str | None) -> SignInDenied:
    if not rules.domains:
        return SignInDenied("no_role", "Your account has no role that lets you sign in here.")
    domains = " or ".join(rules.domains)
    if email is None:
        return SignInDenied("no_email", f"Your account names no e-mail address; one at {domains} is needed.")
    if trusted is None:
        return SignInDenied("unverified", f"The e-mail address {email} of your account is not verified.")
    return SignInDenied("domain", f"Your e-mail address is {email}; one at {domains} is needed.")


def _read_values(claims: Mapping[str, Any], claim: str) -> frozenset[str]:
    """The values of a claim: one text or a list. `a.b` also names `b` inside of `a`."""
    found: Any = claims.get(claim)
    if found is None and "." in claim:
        found = claims
        for part in claim.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
    listed = found if isinstance(found, list) else [found]
    return frozenset(each for each in listed if isinstance(each, str))


def _name(claims: Mapping[str, Any], email: str | None) -> str:
    for said in (claims.get("name"), claims.get("preferred_username"), email, claims["sub"]):
        # The brackets mark an address, which no name may look like.
        shown = write_name(re.sub("[<>]", " ", said)) if isinstance(said, str) else ""
        if (text := shown[:MAX_NAME_CHARS].strip()) and text.isprintable():
            return text
    return "Someone"


def use_state(state: str, now_ms: int) -> Transaction[bool]:
    """Consume the state of an attempt. Returns False if it was used before."""
    yield statements.delete_old_sign_in_states(workspace_id=SYSTEM_WORKSPACE, now_ms=now_ms)
    rows = yield statements.use_sign_in_state(
        workspace_id=SYSTEM_WORKSPACE,
        state_hash=hashlib.sha256(state.encode()).hexdigest(),
        expires_ms=now_ms + STATE_TTL_MS,
    )
    return bool(rows)


def admit(who: IdentifiedPerson, new_person_id: str, entropy: bytes, now_ms: int) -> Transaction[str]:
    """Find or create the person, update the role, and return the token of a sign-in link. Raises
    `SignInDenied`."""
    places = yield from _find_workspaces(who)
    rows = yield statements.find_identity(
        workspace_id=SYSTEM_WORKSPACE, issuer=who.issuer, subject=who.subject
    )
    if not rows:
        person_id = yield from _meet(who, places, new_person_id, now_ms)
    elif rows[0]["ended_ms"] is not None:
        person_id = yield from _return(who, rows[0]["ended_ms"], now_ms)
    else:
        person_id = rows[0]["person_id"]
        if rows[0]["follows_claims"]:
            _require_place(who, places)
            known = people.person_of(rows[0])
            changed = msgspec.structs.replace(known, role=who.role, email=who.email or known.email)
            try:
                yield from members.change(changed, places, now_ms, by=who.issuer)
            except Refusal:
                apart = msgspec.structs.replace(changed, name=_write_subject(who))
                yield from members.change(apart, places, now_ms, by=who.issuer)
    yield from _name_person(who, person_id, now_ms)
    facts = {"shownTo": "browser", "issuer": who.issuer, "subject": who.subject}
    return (yield from people.new_link(person_id, entropy, now_ms, ttl_ms=LINK_TTL_MS, facts=facts))


def _name_person(who: IdentifiedPerson, person_id: str, now_ms: int) -> Transaction[None]:
    """Give a person the issuer's name, unless a file named them. Without an address, the subject tells them from
    a namesake."""
    known = yield from members.find(person_id)
    if known is None or known.named_by is NamedBy.FILE:
        return
    named = msgspec.structs.replace(known, name=who.name, named_by=NamedBy.ISSUER)
    try:
        yield from people.give_name(known, named, now_ms)
    except Refusal:
        yield from people.give_name(known, msgspec.structs.replace(named, name=_write_subject(who)), now_ms)


def _write_subject(who: IdentifiedPerson) -> str:
    return truncate(f"{who.name} ({who.subject})", MAX_NAME_CHARS)


def _meet(
    who: IdentifiedPerson, places: tuple[WorkspaceId, ...], new_person_id: str, now_ms: int
) -> Transaction[str]:
    """A first sign-in: link the person who was invited with this address, or create one."""
    found = (yield from _at_address(who)) if who.email is not None else ()
    invited = [row for row in found if row["ended_ms"] is None and not row["linked"]]
    if len(invited) > 1:
        raise SignInDenied("ambiguous", f"Several people were invited with the address {who.email}.")
    if not invited and any(row["ended_ms"] is not None for row in found):
        raise _removed()
    if not invited:
        _require_place(who, places)
    person_id: str = invited[0]["person_id"] if invited else new_person_id
    linked = yield statements.insert_identity(
        workspace_id=SYSTEM_WORKSPACE,
        issuer=who.issuer,
        subject=who.subject,
        person_id=person_id,
        follows_claims=int(not invited),
        linked_ms=now_ms,
    )
    if not linked:
        # Another browser of the same person came back at this moment and created the person.
        rows = yield statements.find_identity(
            workspace_id=SYSTEM_WORKSPACE, issuer=who.issuer, subject=who.subject
        )
        return str(rows[0]["person_id"])
    name = invited[0]["name"] if invited else who.name
    facts: dict[str, object] = {
        "person": person_id,
        "name": name,
        "issuer": who.issuer,
        "subject": who.subject,
    }
    if not invited:
        person = Person(person_id, who.name, who.role, who.email)
        yield from members.insert(person, places, now_ms)
        facts |= members.describe(person, places)
    yield from people.note("person_linked" if invited else "person_admitted", facts, now_ms)
    return person_id


def _return(who: IdentifiedPerson, removed_ms: int, now_ms: int) -> Transaction[str]:
    """A removed person comes back only as the one who was invited after that."""
    found = (yield from _at_address(who)) if who.email is not None else ()
    invited = [
        row
        for row in found
        if row["ended_ms"] is None and not row["linked"] and row["created_ms"] > removed_ms
    ]
    if len(invited) != 1:
        raise _removed()
    person_id: str = invited[0]["person_id"]
    yield statements.move_identity(
        workspace_id=SYSTEM_WORKSPACE,
        issuer=who.issuer,
        subject=who.subject,
        person_id=person_id,
        linked_ms=now_ms,
    )
    facts = {"person": person_id, "name": invited[0]["name"], "issuer": who.issuer, "subject": who.subject}
    yield from people.note("person_linked", facts, now_ms)
    return person_id


def _at_address(who: IdentifiedPerson) -> Transaction[tuple[Row, ...]]:
    rows = yield statements.list_vouched_at(workspace_id=SYSTEM_WORKSPACE, email=who.email or "")
    return tuple(rows)


def _find_workspaces(who: IdentifiedPerson) -> Transaction[tuple[WorkspaceId, ...]]:
    """The workspaces of a member that exist."""
    if who.role is Role.OWNER:
        return ()
    known = yield from tenancy.list_workspaces()
    return tuple(each.workspace_id for each in known if each.workspace_id in who.workspaces)


def _require_place(who: IdentifiedPerson, places: tuple[WorkspaceId, ...]) -> None:
    if who.role is Role.MEMBER and not places:
        raise SignInDenied("no_workspace", "Your account belongs to no workspace of this server.")


def _removed() -> SignInDenied:
    return SignInDenied("removed", "An owner of this server removed your access.")
