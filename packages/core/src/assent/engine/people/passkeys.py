"""Passkeys of people who sign in (C8's `passkey`).

A passkey belongs to a host name; the browser puts the whole origin into what it signs, and the
origin is compared exactly, port included. The authenticator must have verified its user.
"""

from __future__ import annotations

import logging
from typing import Any, Final
from urllib.parse import urlsplit

from assent.engine.people import people
from assent.engine.people.origins import is_address, origin_of
from assent.engine.people.people import Person
from assent.kernel import tokens
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.structs import Record, from_record, from_row
from assent.ports import Transaction
from assent.sql.loader import statements

log = logging.getLogger("assent.people")

MOST_PASSKEYS: Final = 10
"""Passkeys of one person."""


class Passkey(Record):
    credential_id: str
    person_id: str
    public_key: str
    sign_count: int
    label: str
    created_ms: int
    used_ms: int | None = None


class NewPasskey(Record):
    """What an authenticator made."""

    credential_id: str
    public_key: str
    sign_count: int


class PasskeyUse(Record):
    """One verified use, whose count is not yet stored."""

    credential_id: str
    person_id: str
    sign_count: int


def relying_party(base_url: str) -> str | None:
    """Return the host name for which passkeys are made; None if the address can have none."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    if is_address(host) or (parts.scheme != "https" and host != "localhost"):
        return None
    return host


def read_new(answer: str, challenge: bytes, base_url: str) -> NewPasskey | None:
    """Read what the browser answers to `navigator.credentials.create`. None if it does not fit."""
    import webauthn

    try:
        made = webauthn.verify_registration_response(
            credential=answer,
            expected_challenge=challenge,
            expected_rp_id=relying_party(base_url) or "",
            expected_origin=origin_of(base_url),
            require_user_verification=True,
        )
    except Exception as error:  # what the library cannot read is no passkey, whatever it raises
        log.info("a new passkey was refused: %s", error)
        return None
    return NewPasskey(
        tokens.encode(made.credential_id), tokens.encode(made.credential_public_key), made.sign_count
    )


def read_use(answer: str, known: Passkey, challenge: bytes, base_url: str) -> PasskeyUse | None:
    """Verify what the browser answers to `navigator.credentials.get`. None if it does not fit."""
    import webauthn

    try:
        used = webauthn.verify_authentication_response(
            credential=answer,
            expected_challenge=challenge,
            expected_rp_id=relying_party(base_url) or "",
            expected_origin=origin_of(base_url),
            credential_public_key=tokens.decode(known.public_key),
            credential_current_sign_count=known.sign_count,
            require_user_verification=True,
        )
    except Exception as error:  # as above: refused, whatever it raises
        log.info("a passkey was refused: %s", error)
        return None
    if tokens.encode(used.credential_id) != known.credential_id:
        return None
    return PasskeyUse(known.credential_id, known.person_id, used.new_sign_count)


def list_own(person_id: str) -> Transaction[tuple[Passkey, ...]]:
    rows = yield statements.list_passkeys(workspace_id=SYSTEM_WORKSPACE, person_id=person_id)
    return tuple(from_row(Passkey, row) for row in rows)


def find(credential_id: str) -> Transaction[tuple[Passkey, Person] | None]:
    """Find a passkey and its person, who can still sign in."""
    rows = yield statements.find_passkey(workspace_id=SYSTEM_WORKSPACE, credential_id=credential_id)
    return (from_row(Passkey, rows[0]), people.person_of(rows[0])) if rows else None


def add(person: Person, made: NewPasskey, label: str, now_ms: int) -> Transaction[bool]:
    """Store a passkey. Returns False if it is known or the person has too many."""
    if len((yield from list_own(person.person_id))) >= MOST_PASSKEYS:
        return False
    added = yield from_record(
        statements.insert_passkey,
        made,
        workspace_id=SYSTEM_WORKSPACE,
        person_id=person.person_id,
        label=label,
        created_ms=now_ms,
    )
    if added:
        yield from people.note("passkey_added", _facts(person, label), now_ms)
    return bool(added)


def remove(person: Person, credential_id: str, now_ms: int) -> Transaction[bool]:
    """Delete one of the person's own passkeys."""
    rows = yield statements.delete_passkey(
        workspace_id=SYSTEM_WORKSPACE, credential_id=credential_id, person_id=person.person_id
    )
    if rows:
        yield from people.note("passkey_removed", _facts(person, rows[0]["label"]), now_ms)
    return bool(rows)


def note_use(used: PasskeyUse, now_ms: int) -> Transaction[bool]:
    """Store the count of a use. Returns False if it did not grow or the passkey is gone."""
    rows = yield from_record(statements.note_passkey_use, used, workspace_id=SYSTEM_WORKSPACE, now_ms=now_ms)
    return bool(rows)


def _facts(person: Person, label: str) -> dict[str, Any]:
    return {"person": person.person_id, "name": person.label, "label": label}
