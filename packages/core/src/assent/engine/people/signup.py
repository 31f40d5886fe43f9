"""Signup: a request for a workspace, and the one-time page that delivers its first key to a person.

A request stores only a link. The workspace and its key are created when a person opens the link and
confirms, so the key never enters a chat (C26). The token of the delivery page suffices on the server's own
machine, and after an owner of the server admitted the request. Elsewhere a second token is mailed to the
address of the request, and only its holder gets the key: a stranger who asked in another person's name gets
nothing if that person opens the mail.
"""

from __future__ import annotations

import hmac
import uuid
from typing import Any, Final, Literal

from assent.engine.core import journal, tenancy
from assent.engine.core.tenancy import SIGNUP, IssuedKey, KeyEntropy, create_workspace, hash_key, issue_key
from assent.engine.people.people import Person
from assent.kernel import tokens
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.limits import (
    OPEN_SIGNUPS,
    OPEN_SIGNUPS_PER_CLIENT,
    OPEN_SIGNUPS_PER_EMAIL,
    SECOND_MS,
    SIGNUP_LINK_TTL_MS,
)
from assent.kernel.refusals import Reason, Refusal, Words
from assent.kernel.structs import Record, from_row
from assent.ports import Transaction
from assent.sql.loader import statements

LINK_SECRET_BYTES: Final = 24

Decision = Literal["admitted", "rejected"]

TOO_MANY_WAIT: Final = Words(
    "Too many requests for a workspace wait.",
    "Too many requests for a workspace wait already. Use the page of an earlier one, or ask again later.",
    "STOP. Show the deliveryUrl of the earlier request again. Without one, tell the user to ask the person who runs "
    "this server for a key.",
)


def request_signup(
    workspace_id: WorkspaceId, secret: bytes, email: str, name: str, now_ms: int, *, asked_from: str = ""
) -> Transaction[str]:
    """Store a signup link and return its token. The workspace has an id but does not exist yet. Raises
    `rate_limited` where too many requests wait. `asked_from` is the address of the client."""
    # Under the lock of the server's stream, so that two requests at once do not both take the last place.
    head = yield from journal.lock_head(SYSTEM_WORKSPACE, SYSTEM_WORKSPACE, now_ms)
    rows = yield statements.list_open_signups(now_ms=now_ms)
    for most, waiting in (
        (OPEN_SIGNUPS, rows),
        (OPEN_SIGNUPS_PER_CLIENT, [row for row in rows if row["asked_from"] == asked_from]),
        (OPEN_SIGNUPS_PER_EMAIL, [row for row in rows if row["email"].lower() == email.lower()]),
    ):
        if len(waiting) >= most:
            seconds = -(-(waiting[0]["expires_ms"] - now_ms) // SECOND_MS)
            raise Refusal(Reason.RATE_LIMITED, words=TOO_MANY_WAIT, retry_after_seconds=seconds)
    token = _compose_token(workspace_id, secret)
    yield statements.insert_signup_link(
        workspace_id=workspace_id,
        secret_hash=hash_key(token),
        email=email,
        name=name,
        asked_from=asked_from,
        created_ms=now_ms,
        expires_ms=now_ms + SIGNUP_LINK_TTL_MS,
    )
    asked = journal.NewEvent("signup_requested", {"signup": workspace_id})
    yield from journal.append_to(head, [asked], now_ms)
    return token


class SignupLink(Record):
    """An unclaimed request. Name and address are a stranger's words."""

    workspace_id: WorkspaceId
    email: str
    name: str
    created_ms: int
    decision: Decision | Literal[""] = ""
    mailed: bool = False
    by_mail: bool = False
    """Whether it was found by the mailed token."""

    @property
    def is_rejected(self) -> bool:
        return self.decision == "rejected"

    @property
    def is_confirmed(self) -> bool:
        """Whether the mailbox of the address or an owner stands behind the holder of this token."""
        return self.by_mail or self.decision == "admitted"


def find_signup(token: str, now_ms: int) -> Transaction[SignupLink | None]:
    """Return the unclaimed request of a token; None if it is unknown, claimed or expired."""
    workspace_id = _link_workspace(token)
    rows: Any = []
    if workspace_id is not None:
        rows = yield statements.find_signup_link(workspace_id=workspace_id)
    row = rows[0] if rows else None
    given, mail_hash = hash_key(token), (row["mail_hash"] if row is not None else None) or ""
    own = hmac.compare_digest(given, row["secret_hash"] if row is not None else "")
    by_mail = hmac.compare_digest(given, mail_hash)
    if workspace_id is None or row is None or not (own or by_mail):
        return None
    if row["claimed_ms"] is not None or row["expires_ms"] <= now_ms:
        return None
    return from_row(SignupLink, row, workspace_id=workspace_id, mailed=bool(mail_hash), by_mail=by_mail)


def claim_signup(
    token: str, entropy: KeyEntropy, now_ms: int, *, at_once: bool, reserved: frozenset[str]
) -> Transaction[IssuedKey | None]:
    """Create the workspace and its first key, once. Returns None if the link cannot be claimed. `at_once`:
    the request needs no confirmation (`net.loopback`). The name gets a number if another workspace has it by
    now: a person who holds the key page cannot give another one."""
    link = yield from find_signup(token, now_ms)
    if link is None or not (link.is_confirmed or at_once):
        return None
    claimed = yield statements.claim_signup_link(workspace_id=link.workspace_id, now_ms=now_ms)
    if not claimed:
        return None
    name = yield from tenancy.choose_name(link.name, reserved, numbered=True)
    yield from create_workspace(link.workspace_id, name, now_ms, email=link.email, by=SIGNUP)
    return (yield from issue_key(link.workspace_id, entropy, now_ms, label="signup", by=SIGNUP))


def add_mailed_token(workspace_id: WorkspaceId, secret: bytes) -> Transaction[str | None]:
    """Return the token to mail; None if the request had its mail, or needs none."""
    token = _compose_token(workspace_id, secret)
    done = yield statements.mail_signup_link(workspace_id=workspace_id, mail_hash=hash_key(token))
    return token if done else None


def forget_mailed_token(workspace_id: WorkspaceId) -> Transaction[None]:
    """Forget the token of a mail that was not sent."""
    yield statements.forget_mailed_signup_link(workspace_id=workspace_id)


def list_open(now_ms: int) -> Transaction[tuple[SignupLink, ...]]:
    """List the requests that wait for an owner of the server."""
    rows = yield statements.list_open_signups(now_ms=now_ms)
    asked = (row for row in rows if not row["decision"])
    return tuple(from_row(SignupLink, row, mailed=bool(row["mail_hash"]), by_mail=False) for row in asked)


def decide(workspace_id: WorkspaceId, decision: Decision, by: Person, now_ms: int) -> Transaction[bool]:
    """Admit or reject a request, as an owner of the server. Returns False if it does not wait any more."""
    done = yield statements.decide_signup_link(workspace_id=workspace_id, decision=decision, now_ms=now_ms)
    if done:
        facts = {"signup": workspace_id, "by": by.label, "person": by.person_id}
        yield from journal.note(SYSTEM_WORKSPACE, f"signup_{decision}", facts, now_ms)
    return bool(done)


def forget_expired_links(now_ms: int, most: int) -> Transaction[int]:
    """Delete expired links. Returns the number deleted."""
    return len((yield statements.delete_expired_signup_links(now_ms=now_ms, most=most)))


def _compose_token(workspace_id: WorkspaceId, secret: bytes) -> str:
    return tokens.encode(uuid.UUID(workspace_id).bytes) + tokens.encode(secret)


def _link_workspace(token: str) -> WorkspaceId | None:
    try:
        raw = tokens.decode(token[:22])
    except tokens.TokenInvalid:
        return None
    return WorkspaceId(str(uuid.UUID(bytes=raw))) if len(raw) == 16 else None
