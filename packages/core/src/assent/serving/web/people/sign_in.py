"""Signing in: a one-time link from a terminal, an invitation or an e-mail, or a passkey; a button; a
session in this browser.

Opening a link changes nothing, so that a link preview cannot use it up. Unknown, used and expired
links get the same answer. The request that uses up the link or the passkey's answer may bring the
public key that the browser made; no later request can (C8).
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import Response

from assent.engine.core.offloading import run_apart
from assent.engine.people import mailed_links, members, passkeys, people, proofs
from assent.engine.people.origins import can_hold_keys, count_cookie, origin_of
from assent.engine.people.people import SignedIn
from assent.engine.people.proofs import FormStatement
from assent.gate.policy import suffices
from assent.gate.records import Assurance
from assent.kernel.limits import MAILED_LINK_TTL_MS, MINUTE_MS, SESSION_TTL_MS
from assent.ports import Transaction
from assent.serving.http import client_address
from assent.serving.web.people.confirming import NONCE_FIELD, PROOF_FIELD, read_credential_id, select_covered
from assent.serving.web.people.people import (
    HOW_TO_SIGN_IN,
    NAME_ADVICE,
    SIGN_IN_FIRST,
    THEN_SECONDS,
    find_session,
    is_name,
    is_own_path,
    name_device,
)
from assent.serving.web.shell import clients
from assent.serving.web.shell.forms import path_of, read_form
from assent.serving.web.shell.headers import CONFIRMING_HEADERS, see_other
from assent.serving.web.shell.page_site import PageSite
from assent.serving.web.shell.problems import UNREADABLE_FORM, PageProblem, PageRefused
from assent.serving.web.shell.rendering import page
from assent.serving.web.shell.times import find_zone
from assent.tools.arguments import is_address

LINK_ENDED: Final = PageProblem(
    404,
    "This sign-in link does not work",
    "It was used already, has ended, or is not complete. Each link works once, for a short time.",
    (
        "Make a new one in a terminal on the computer of the server, or ask the person who invited you for a "
        "new one."
    ),
    HOW_TO_SIGN_IN,
)

NO_MAIL: Final = PageProblem(
    409,
    "This server sends no mail",
    "No mail server is set up for its own messages.",
    "Sign in with a link from a terminal, or ask the person who runs this server to invite you.",
    HOW_TO_SIGN_IN,
)

UNKNOWN_PASSKEY: Final = PageProblem(
    403,
    "This passkey does not work here",
    "It is not known to this server, was removed, or was used at another address. You are not signed in.",
    "Sign in with a link instead; then add the passkey at Settings › Passkeys.",
    HOW_TO_SIGN_IN,
)

BY_PASSKEY: Final = "sign in with a passkey"


class SignInPages:
    """`/sign-in`, `/sign-in/{token}`, `/sign-in/passkey` and `/sign-out`."""

    def __init__(self, site: PageSite, issuer: str = "") -> None:
        self._site = site
        self._issuer = issuer

    async def how(self, request: Request) -> Response:
        """Show how to sign in, or who is signed in, with the form that e-mails a link."""
        await self._site.count_stranger(request.scope)
        mailed_to, wrong = "", ""
        if request.method == "POST":
            mailed_to, wrong = await self._mail(request)
        session = await find_session(self._site.services, self._site.cookies, request)
        nonces = await self._site.nonces()
        browser = nonces.browser(request)
        nonce, now_ms = "", self._site.services.clock.now_ms()
        if session is not None:
            nonce = nonces.issue(browser, f"sign-out {session.session_id}", now_ms)
        values = {
            "person": session.person if session is not None else None,
            "confirmed": session is not None and session.is_confirmed,
            "sign_out_nonce": nonce,
            "issuer": self._issuer,
            "owner_link": clients.terminal_command(self._site.services, "owner-link"),
            "can_mail": await self._site.services.outgoing.can_send_notes(),
            "email": mailed_to or (session.person.email or "" if session is not None else ""),
            "mailed": bool(mailed_to) and not wrong,
            "advice": {"email": wrong} if wrong else {},
            "minutes": MAILED_LINK_TTL_MS // MINUTE_MS,
            "party": passkeys.relying_party(self._site.base_url),
            "origin": origin_of(self._site.base_url),
            "passkey_nonce": nonces.issue_once(browser, BY_PASSKEY, now_ms),
            "needs_key": session is not None
            and session.public_key is None
            and not suffices(count_cookie(self._site.base_url, session.assurance), Assurance.PERSON),
            "can_hold_keys": can_hold_keys(self._site.base_url),
        }
        response = page(
            request,
            "sign_in_how.html",
            values,
            status=400 if wrong else 200,
            headers=CONFIRMING_HEADERS if session is None else None,
        )
        nonces.remember(browser, response)
        then = request.query_params.get("then", "")
        if session is None and is_own_path(then):
            self._site.cookies.keep(response, self._site.cookies.then, quote(then), THEN_SECONDS)
        return response

    async def _mail(self, request: Request) -> tuple[str, str]:
        """E-mail a link. The page is the same whether or not the address is known."""
        email = (await read_form(request)).get("email", "").strip()
        if not await self._site.services.outgoing.can_send_notes():
            raise PageRefused(NO_MAIL)
        if not is_address(email):
            return email, "Enter the e-mail address that you gave here, such as ada@example.org."
        address = client_address(request.scope, trust_proxy=self._site.trusts_proxy)
        await mailed_links.ask(self._site.services, email, address)
        return email, ""

    async def link(self, request: Request) -> Response:
        """Show the button of a link; on POST, sign in."""
        await self._site.count_stranger(request.scope)
        token = request.path_params["token"]
        form = await read_form(request) if request.method == "POST" else {}
        now_ms = self._site.services.clock.now_ms()
        name = " ".join(form.get("name", "").split())
        if request.method == "POST" and (is_name(name) or not name):
            entropy = self._site.services.entropy(people.ENTROPY_BYTES)
            key = await _read_key(form)
            signed_in = await self._site.services.store.write(
                lambda: people.sign_in(
                    token,
                    entropy,
                    now_ms,
                    name=name or None,
                    device=name_device(request),
                    public_key=key,
                    zone=find_zone(form.get("zone", "")),
                )
            )
            if signed_in is None:
                raise PageRefused(LINK_ENDED)
            return await self._welcome(request, signed_in)
        person = await self._site.services.store.read(lambda: people.find_link(token, now_ms))
        if person is None:
            raise PageRefused(LINK_ENDED)
        values = {
            "name": name or ("" if person.name == people.OWNER else person.name),
            "advice": {"name": NAME_ADVICE} if name else {},
            "can_hold_keys": can_hold_keys(self._site.base_url),
            "label": person.label if person.named_by else "",
        }
        return page(request, "sign_in.html", values, status=400 if name else 200, headers=CONFIRMING_HEADERS)

    async def passkey(self, request: Request) -> Response:
        """Sign in with a passkey, whose challenge covers the key that the browser made."""
        await self._site.count_stranger(request.scope)
        form, now_ms = await read_form(request), self._site.services.clock.now_ms()
        nonce, nonces = form.get(NONCE_FIELD, ""), await self._site.nonces()
        expires_ms = nonces.check_once(request, nonce, BY_PASSKEY, now_ms)
        answer = form.get(PROOF_FIELD, "").removeprefix("passkey:")
        credential_id = read_credential_id(answer)
        found = await self._site.services.store.read(lambda: passkeys.find(credential_id))
        if found is None:
            raise PageRefused(UNKNOWN_PASSKEY)
        known, person = found
        statement = FormStatement(
            origin_of(self._site.base_url), path_of(request), "", select_covered(form), nonce
        )
        used = await run_apart(passkeys.read_use, answer, known, statement.challenge(), self._site.base_url)
        if used is None:
            raise PageRefused(UNKNOWN_PASSKEY)
        proof = proofs.FormProof("", Assurance.PASSKEY, nonce, expires_ms, used)
        entropy, key = self._site.services.entropy(people.ENTROPY_BYTES), await _read_key(form)

        def enter() -> Transaction[SignedIn | None]:
            if not (yield from proofs.use(proof, now_ms)):
                return None
            return (
                yield from people.open_session(
                    person,
                    entropy,
                    now_ms,
                    device=name_device(request),
                    facts={"passkey": known.label},
                    assurance=Assurance.PASSKEY,
                    public_key=key,
                )
            )

        signed_in = await self._site.services.store.write(enter)
        if signed_in is None:
            raise PageRefused(UNKNOWN_PASSKEY)
        return await self._welcome(request, signed_in)

    async def _welcome(self, request: Request, signed_in: SignedIn) -> Response:
        """Lead to the page that the person wanted to open, else to the inbox; to the first steps where
        nothing was ever prepared."""
        then = unquote(request.cookies.get(self._site.cookies.then, ""))
        where = then if is_own_path(then) else ""
        if not where:
            is_new = await self._site.services.store.read(lambda: members.is_new(signed_in.session.person))
            where = "/start" if is_new else "/inbox"
        response = see_other(where)
        if then:
            self._site.cookies.forget(response, self._site.cookies.then)
        self._site.cookies.keep(
            response, self._site.cookies.session, signed_in.secret, SESSION_TTL_MS // 1000
        )
        return response

    async def sign_out(self, request: Request) -> Response:
        """End this session, or all sessions of the person."""
        form = await read_form(request)
        session = await find_session(self._site.services, self._site.cookies, request)
        if session is None:
            raise PageRefused(SIGN_IN_FIRST)
        now_ms = self._site.services.clock.now_ms()
        nonces = await self._site.nonces()
        nonces.check(request, form.get("nonce", ""), f"sign-out {session.session_id}", now_ms)

        def end() -> Transaction[None]:
            if form.get("where") == "everywhere":
                yield from people.sign_out_everywhere(session.person.person_id, now_ms)
            else:
                yield from people.sign_out(session, now_ms)

        await self._site.services.store.write(end)
        response = see_other("/sign-in")
        self._site.cookies.forget(response, self._site.cookies.session)
        return response


async def _read_key(form: dict[str, str]) -> str | None:
    """The public key that the browser made for its session, if it sent one."""
    key = form.get("key")
    if key is not None and not await run_apart(proofs.is_public_key, key):
        raise PageRefused(UNREADABLE_FORM)
    return key
