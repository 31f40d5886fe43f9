"""The confirm page: a person confirms a form with a key that is bound to this origin, port included.

A form that needs a person and comes with a cookie that counts for less is answered with this page.
It says what will happen and carries every field. Its script signs them with the key that the
browser made when it signed in, or with a passkey, and sends the form again, with two more fields:

    confirm   a nonce, bound to this browser, session, path and fields
    proof     `key:` and a signature, or `passkey:` and the browser's answer

The proof is used up in the transaction of what it confirms (`proofs.use`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from starlette.requests import Request

from assent.engine.core.offloading import run_apart
from assent.engine.core.services import Services
from assent.engine.people import passkeys, proofs
from assent.engine.people.origins import origin_of
from assent.engine.people.passkeys import Passkey
from assent.engine.people.people import Session
from assent.engine.people.proofs import FormProof, FormStatement
from assent.gate.policy import suffices
from assent.gate.records import Assurance
from assent.kernel.canonical import canonical
from assent.kernel.structs import Record
from assent.serving.web.people.people import HOW_TO_SIGN_IN
from assent.serving.web.shell import clients
from assent.serving.web.shell.forms import FormNonces, path_of
from assent.serving.web.shell.headers import CONFIRMING_HEADERS, PageResponse
from assent.serving.web.shell.problems import PageProblem, PageRefused
from assent.serving.web.shell.rendering import page

NONCE_FIELD: Final = "confirm"
PROOF_FIELD: Final = "proof"
OWN_FIELDS: Final = frozenset({NONCE_FIELD, PROOF_FIELD})

_BY_KEY: Final = "key:"
_BY_PASSKEY: Final = "passkey:"

BAD_PROOF: Final = PageProblem(
    403,
    "This was not confirmed",
    "The signature does not fit what was sent, this browser or this address. Nothing was done.",
    "Go back, reload the page and try again. If it happens again, sign in again in this browser.",
    HOW_TO_SIGN_IN,
)
USED_PROOF: Final = PageProblem(
    409,
    "This was confirmed before",
    "Each confirmation works once. Nothing was done a second time.",
    "Go back, reload the page and look at what it says now.",
)


class Consequence(Record):
    """What happens if the person confirms, in words."""

    title: str
    text: str
    button: str
    facts: tuple[tuple[str, str], ...] = ()
    danger: bool = False
    warning: str = ""
    """What no one may overlook."""
    back: str = ""
    """The path that the person came from, if there is one to go back to."""
    secret_fields: frozenset[str] = frozenset()
    """Fields that the page carries sealed. The view opens them with `Confirming.open`."""


class Confirming:
    """Asks for proofs and reads them."""

    def __init__(self, services: Services, nonces: FormNonces, *, base_url: str) -> None:
        self._services = services
        self._nonces = nonces
        self._base_url = base_url

    async def read(self, request: Request, session: Session, fields: Mapping[str, str]) -> FormProof | None:
        """Return the proof of a form, or None if it has none. Refuses one that does not fit."""
        if PROOF_FIELD not in fields:
            return None
        nonce, given, now_ms = fields.get(NONCE_FIELD, ""), fields[PROOF_FIELD], self._services.clock.now_ms()
        expires_ms = self._nonces.check_once(request, nonce, _subject(request, session, fields), now_ms)
        statement = FormStatement(
            origin_of(self._base_url), path_of(request), session.session_id, select_covered(fields), nonce
        )
        proof = None
        if given.startswith(_BY_KEY) and session.public_key is not None:
            signature = given.removeprefix(_BY_KEY)
            if await run_apart(proofs.is_signed, statement.encode(), signature, session.public_key):
                proof = FormProof(session.session_id, Assurance.PERSON, nonce, expires_ms)
        elif given.startswith(_BY_PASSKEY):
            used = await self._read_passkey(given.removeprefix(_BY_PASSKEY), session, statement)
            if used is not None:
                proof = FormProof(session.session_id, Assurance.PASSKEY, nonce, expires_ms, used)
        if proof is None:
            raise PageRefused(BAD_PROOF)
        return proof

    async def _read_passkey(
        self, answer: str, session: Session, statement: FormStatement
    ) -> passkeys.PasskeyUse | None:
        credential_id = read_credential_id(answer)
        found = await self._services.store.read(lambda: passkeys.find(credential_id))
        if found is None or found[0].person_id != session.person.person_id:
            return None
        return await run_apart(passkeys.read_use, answer, found[0], statement.challenge(), self._base_url)

    def open(self, session: Session, fields: Mapping[str, str]) -> dict[str, str]:
        """Return the fields of a form, with those that the confirm page carried sealed opened."""
        return {name: self._nonces.unseal(text, _place(session, name)) for name, text in fields.items()}

    async def ask(
        self,
        request: Request,
        session: Session,
        fields: Mapping[str, str],
        what: Consequence,
        needed: Assurance = Assurance.PERSON,
    ) -> PageResponse:
        """Return the confirm page of a form. Decides nothing."""
        fields = {
            name: self._nonces.seal(text, _place(session, name)) if name in what.secret_fields else text
            for name, text in select_covered(fields).items()
        }
        browser, now_ms = self._nonces.browser(request), self._services.clock.now_ms()
        nonce = self._nonces.issue_once(browser, _subject(request, session, fields), now_ms)
        person_id = session.person.person_id
        held: tuple[Passkey, ...] = ()
        party = passkeys.relying_party(self._base_url)
        if party is not None:
            held = await self._services.store.read(lambda: passkeys.list_own(person_id))
        by_key = suffices(Assurance.PERSON, needed)
        values: dict[str, Any] = {
            "what": what,
            "person": session.person,
            "session_id": session.session_id,
            "path": path_of(request),
            "fields": fields,
            "nonce": nonce,
            "origin": origin_of(self._base_url),
            "public_key": session.public_key if by_key else None,
            "needs_passkey": not by_key,
            "party": party,
            "passkeys": " ".join(each.credential_id for each in held),
            "owner_link": clients.terminal_command(self._services, "owner-link"),
            "can_mail": await self._services.outgoing.can_send_notes(),
        }
        # 200: a browser that shows this page has done nothing wrong.
        response = page(request, "confirm.html", values, headers=CONFIRMING_HEADERS)
        self._nonces.remember(browser, response)
        return response


def select_covered(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the fields that a proof covers: all but its own."""
    return {name: text for name, text in fields.items() if name not in OWN_FIELDS}


def read_credential_id(answer: str) -> str:
    """Return the id of the passkey that an answer names; empty if it is not readable."""
    try:
        said = msgspec.json.decode(answer)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return ""
    found = said.get("id", "") if isinstance(said, dict) else ""
    return found.replace("\0", "") if isinstance(found, str) else ""


def _place(session: Session, name: str) -> str:
    return f"{session.session_id} {name}"


def _subject(request: Request, session: Session, fields: Mapping[str, str]) -> str:
    digest = hashlib.sha256(canonical(select_covered(fields))).hexdigest()
    return f"confirm {session.session_id} {path_of(request)} {digest}"
