"""Signing in: a one-time link from a terminal, an invitation or an e-mail; a button; a session in
this browser.

Opening a link changes nothing, so that a link preview cannot use it up. Unknown, used and expired
links get the same answer. Decisions in a signed-in browser have the assurance `person` (C8).
"""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from assent.engine.core.services import Services
from assent.engine.people import people, sign_in_mail
from assent.engine.people.people import SignedIn
from assent.kernel.limits import MAILED_LINK_TTL_MS, MAX_NAME_CHARS, MINUTE_MS, SESSION_TTL_MS
from assent.ports import Transaction
from assent.serving.http import client_address
from assent.serving.web.people.devices import name_device
from assent.serving.web.people.people import (
    HOW_TO_SIGN_IN,
    SIGN_IN_FIRST,
    Cookies,
    KeysWhenReady,
    find_session,
    is_name,
)
from assent.serving.web.shell import clients
from assent.serving.web.shell.console import NavigationEntry
from assent.serving.web.shell.forms import FormNonces, read_form
from assent.serving.web.shell.headers import see_other
from assent.serving.web.shell.pace import Pace
from assent.serving.web.shell.problems import PageProblem, PageRefused
from assent.serving.web.shell.rendering import page
from assent.tools.arguments import is_address

LINK_ENDED: Final = PageProblem(
    404,
    "This sign-in link does not work",
    "It was used already, has ended, or is not complete. Each link works once, for a short time.",
    "Make a new one in a terminal on the machine of the server, or ask the person who invited you for a new one.",
    HOW_TO_SIGN_IN,
)

NO_MAIL: Final = PageProblem(
    409,
    "This server sends no mail",
    "No mail server is set up for its own messages.",
    "Sign in by a link from a terminal, or ask the person who runs this server to invite you.",
    HOW_TO_SIGN_IN,
)

NAME_ADVICE: Final = f"Enter a name of at most {MAX_NAME_CHARS} characters."


class SignInPages:
    """`/sign-in`, `/sign-in/{token}` and `/sign-out`."""

    def __init__(
        self,
        services: Services,
        keys: KeysWhenReady,
        cookies: Cookies,
        entries: tuple[NavigationEntry, ...],
        *,
        base_url: str,
        trust_proxy: bool = False,
    ) -> None:
        self._trust_proxy = trust_proxy
        self._pace = Pace(services, trust_proxy=trust_proxy)
        self._entries = entries
        self._services = services
        self._keys = keys
        self._cookies = cookies
        self._base_url = base_url

    async def how(self, request: Request) -> Response:
        """Show how to sign in, or who is signed in, with the form that e-mails a link."""
        await self._pace.of_stranger(request.scope)
        mailed_to, wrong = "", ""
        if request.method == "POST":
            mailed_to, wrong = await self._mail(request)
        session = await find_session(self._services, self._cookies, request)
        nonces = await self._nonces()
        browser = nonces.browser(request)
        nonce = ""
        if session is not None:
            nonce = nonces.issue(browser, f"sign-out {session.session_id}", self._services.clock.now_ms())
        values = {
            "person": session.person if session is not None else None,
            "confirmed": session is not None and session.is_confirmed,
            "sign_out_nonce": nonce,
            "entries": self._entries,
            "owner_link": clients.terminal_command(self._services, "owner-link"),
            "can_mail": self._services.outgoing.can_send_notes,
            "email": mailed_to or (session.person.email or "" if session is not None else ""),
            "mailed": bool(mailed_to) and not wrong,
            "advice": {"email": wrong} if wrong else {},
            "minutes": MAILED_LINK_TTL_MS // MINUTE_MS,
        }
        response = page(request, "sign_in_how.html", values, status=400 if wrong else 200)
        nonces.remember(browser, response)
        return response

    async def _mail(self, request: Request) -> tuple[str, str]:
        """E-mail a link. The page is the same whether or not the address is known."""
        email = (await read_form(request)).get("email", "").strip()
        if not self._services.outgoing.can_send_notes:
            raise PageRefused(NO_MAIL)
        if not is_address(email):
            return email, "Enter the e-mail address that you gave here, such as ada@example.org."
        address = client_address(request.scope, trust_proxy=self._trust_proxy)
        await sign_in_mail.ask(self._services, email, address)
        return email, ""

    async def link(self, request: Request) -> Response:
        """Show the button of a link; on POST, sign in."""
        await self._pace.of_stranger(request.scope)
        token = request.path_params["token"]
        form = await read_form(request) if request.method == "POST" else {}
        now_ms = self._services.clock.now_ms()
        name = " ".join(form.get("name", "").split())
        if request.method == "POST" and (is_name(name) or not name):
            entropy = self._services.entropy(people.ENTROPY_BYTES)
            signed_in = await self._services.store.write(
                lambda: people.sign_in(token, entropy, now_ms, name=name or None, device=name_device(request))
            )
            if signed_in is None:
                raise PageRefused(LINK_ENDED)
            return self._welcome(signed_in)
        person = await self._services.store.read(lambda: people.find_link(token, now_ms))
        if person is None:
            raise PageRefused(LINK_ENDED)
        values = {"name": name or person.name, "advice": {"name": NAME_ADVICE} if name else {}}
        return page(request, "sign_in.html", values, status=400 if name else 200)

    def _welcome(self, signed_in: SignedIn) -> Response:
        response = see_other("/inbox")
        self._cookies.keep(response, self._cookies.session, signed_in.secret, SESSION_TTL_MS // 1000)
        return response

    async def sign_out(self, request: Request) -> Response:
        """End this session, or all sessions of the person."""
        form = await read_form(request)
        session = await find_session(self._services, self._cookies, request)
        if session is None:
            raise PageRefused(SIGN_IN_FIRST)
        now_ms = self._services.clock.now_ms()
        nonces = await self._nonces()
        nonces.check(request, form.get("nonce", ""), f"sign-out {session.session_id}", now_ms)

        def end() -> Transaction[None]:
            if form.get("where") == "everywhere":
                yield from people.sign_out_everywhere(session.person.person_id, now_ms)
            else:
                yield from people.sign_out(session, now_ms)

        await self._services.store.write(end)
        response = see_other("/sign-in")
        self._cookies.forget(response, self._cookies.session)
        return response

    async def _nonces(self) -> FormNonces:
        return FormNonces((await self._keys()).forms, self._services.entropy, base_url=self._base_url)
