"""Accounts of chat apps that people linked, and the installations of such an app.

An installation is a notification target of a workspace; its address holds the app's secrets. A link says that an
account, as that installation reports it, is a person. It is stored as an identity whose issuer is the installation, so
that another installation, whose owner can sign anything, speaks for no one here. Removing a person removes the link.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.engine.core.services import MessageServices, Services
from assent.engine.people import members, people, targets
from assent.engine.people.people import Person
from assent.engine.people.proofs import use_nonce
from assent.engine.people.targets import TargetOwner
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.limits import MINUTE_MS
from assent.kernel.structs import Record
from assent.kernel.tokens import TokenInvalid
from assent.ports import Transaction
from assent.sql.loader import statements

CODE_MS: Final = 10 * MINUTE_MS
WINDOW_MS: Final = 5 * MINUTE_MS
"""How old or new an event may be."""
RANDOM_BYTES: Final = 9


class ChatEvent(Record, kw_only=True):
    """What someone did in a chat app, as its platform signed it with the secret of the installation `target_id`."""

    workspace_id: WorkspaceId
    target_id: str
    account: str
    """The account of the one who did it, as the platform names it."""
    event_id: str
    """The same for a repeated delivery, such as the signature."""
    at_ms: int
    via: str
    """The name of the app."""


class ChatInstallation(Record):
    """An app in a chat: its target, and its address with the secrets."""

    target_id: str
    address: str

    def __repr__(self) -> str:
        return f"ChatInstallation({self.target_id!r})"


class ChatLink(Record):
    """An account that a person has linked."""

    target_id: str
    account: str
    linked_ms: int


class _Code(msgspec.Struct, array_like=True):
    person_id: str
    expires_ms: int
    salt: str


def list_installations(
    services: MessageServices, workspace_id: WorkspaceId, kind: str
) -> Transaction[tuple[ChatInstallation, ...]]:
    """Return the installations of an app in a workspace."""
    known = yield from targets.list_targets(TargetOwner(workspace_id))
    found = []
    for each in known:
        if each.kind == kind:
            found.append(ChatInstallation(each.target_id, (yield from targets.open_address(services, each))))
    return tuple(found)


def make_code(services: Services, person_id: str) -> str:
    """Return a code by which a signed-in person links an account once, within a few minutes."""
    now_ms, salt = services.clock.now_ms(), services.entropy(RANDOM_BYTES).hex()
    return services.keys.chat_codes.sign(msgspec.json.encode(_Code(person_id, now_ms + CODE_MS, salt)))


def link(services: Services, event: ChatEvent, code: str, now_ms: int) -> Transaction[Person | None]:
    """Link the account of an event with the person who got the code. Returns None for a code that is unknown, old or
    used, and for a person who may not decide there."""
    try:
        said = msgspec.json.decode(services.keys.chat_codes.verify(code.strip()), type=_Code)
    except (TokenInvalid, msgspec.MsgspecError, UnicodeError):
        return None
    person = yield from members.find(said.person_id)
    if (
        person is None
        or said.expires_ms <= now_ms
        or not (yield from members.may_see(person, event.workspace_id))
    ):
        return None
    if not (yield from use_nonce(code.strip(), said.expires_ms)):
        return None
    account = {"issuer": _issuer(event.target_id), "subject": event.account}
    named = {"workspace_id": SYSTEM_WORKSPACE, **account}
    yield statements.delete_chat_account(**named)
    yield statements.insert_identity(**named, person_id=person.person_id, follows_claims=0, linked_ms=now_ms)
    facts = {"person": person.person_id, "name": person.name, **account}
    yield from people.note("person_linked", facts, now_ms)
    return person


def find_person(event: ChatEvent) -> Transaction[Person | None]:
    """Return the person who did something in a chat, if they linked that account and may still decide there."""
    rows = yield statements.find_identity(
        workspace_id=SYSTEM_WORKSPACE, issuer=_issuer(event.target_id), subject=event.account
    )
    if not rows or rows[0]["ended_ms"] is not None:
        return None
    person = people.person_of(rows[0])
    return person if (yield from members.may_see(person, event.workspace_id)) else None


def list_links(person_id: str) -> Transaction[tuple[ChatLink, ...]]:
    rows = yield statements.list_chat_links(workspace_id=SYSTEM_WORKSPACE, person_id=person_id)
    return tuple(
        ChatLink(row["issuer"].removeprefix("chat:"), row["subject"], row["linked_ms"]) for row in rows
    )


def end_link(person_id: str, target_id: str, account: str, now_ms: int) -> Transaction[bool]:
    """End a link of a person, at once."""
    gone = yield statements.delete_chat_link(
        workspace_id=SYSTEM_WORKSPACE, issuer=_issuer(target_id), subject=account, person_id=person_id
    )
    if gone:
        yield from people.note("person_unlinked", {"person": person_id, "subject": account}, now_ms)
    return bool(gone)


def _issuer(target_id: str) -> str:
    return f"chat:{target_id}"
