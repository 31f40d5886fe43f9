"""Signing in with an issuer (OpenID Connect): the redirect to it and its callback.

An attempt lives in a signed cookie of this browser for a few minutes: a random state, from which nonce
and PKCE verifier are derived with a key of the server. The callback must bring back the state of the same
browser, once, so no person is signed in by another person's attempt. The callback opens no session: it
redirects to a sign-in link of two minutes, where the person presses the button.

The start is a link, because our content security policy forbids forms that lead to other sites.
"""

from __future__ import annotations

import hmac
import logging
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from assent.engine.people import oidc, people
from assent.engine.people.oidc import AdmissionRules, IdentifiedPerson, SignInDenied
from assent.kernel import tokens
from assent.kernel.tokens import KeyRing, TokenInvalid
from assent.net.oidc import OidcFailed, OidcIssuer, OidcProblem
from assent.ports import Store
from assent.serving.web.people.people import HOW_TO_SIGN_IN
from assent.serving.web.shell.headers import PAGE_HEADERS, see_other
from assent.serving.web.shell.page_site import PageSite
from assent.serving.web.shell.problems import Link, PageProblem, PageRefused

log = logging.getLogger("assent.web")

START: Final = "/sign-in/oidc"
CALLBACK: Final = "/sign-in/oidc/callback"
STATE_BYTES: Final = 32
_EXPIRY_BYTES: Final = 8

_NOT_SIGNED_IN: Final = (
    "You are not signed in. Start again here. If it happens again, tell the person who runs this server."
)
FAILURES: Final[dict[OidcProblem, tuple[int, str, str]]] = {
    "unreachable": (503, "{name} cannot be reached", "Try again in a moment, or sign in another way."),
    "misconfigured": (
        502,
        "Signing in with {name} is not set up right",
        "Tell the person who runs this server; its log has the details.",
    ),
    "refused": (
        403,
        "{name} did not confirm the sign-in",
        "Start again. If it happens again, tell the person who runs this server.",
    ),
    "issuer": (403, "This sign-in comes from elsewhere", _NOT_SIGNED_IN),
    "token": (403, "This sign-in is not valid", _NOT_SIGNED_IN),
    "expired": (
        403,
        "This sign-in has expired",
        "Start again. If it happens again, the clock of this server or of {name} is wrong.",
    ),
}
"""Status, title and next step of each failure."""


@dataclass(slots=True)
class OidcSignIn:
    """An issuer and who may come in."""

    issuer: OidcIssuer
    rules: AdmissionRules

    async def resolve(self, store: Store) -> AdmissionRules:
        """Return the rules with ids of workspaces. A name is read until it is found, and never again."""
        self.rules = await store.read(lambda: oidc.resolve_rules(self.rules))
        return self.rules


class OidcPages:
    """`/sign-in/oidc` and its callback."""

    def __init__(self, site: PageSite, offered: OidcSignIn) -> None:
        self._site = site
        self._offered = offered
        self._issuer = offered.issuer
        self._cookie = site.cookies.named("assent-oidc")
        self._name = offered.issuer.client.name

    async def start(self, request: Request) -> Response:
        """Begin an attempt and redirect to the issuer."""
        await self._site.count_stranger(request.scope)
        at_home = request.headers.get("host", "").lower() == urlsplit(self._site.base_url).netloc.lower()
        if not at_home and "here" not in request.query_params:
            # The callback arrives at our own address, and so must the cookie.
            return see_other(f"{self._site.base_url}{START}?here=1")
        ring, now_ms = await self._ring(), self._site.services.clock.now_ms()
        state = tokens.encode(self._site.services.entropy(STATE_BYTES))
        nonce, verifier = _derive(ring, state)
        try:
            url = await self._issuer.start_url(
                now_ms, redirect_uri=self._callback, state=state, nonce=nonce, verifier=verifier
            )
        except OidcFailed as failed:
            raise self._explain(failed) from None
        response = RedirectResponse(url, status_code=303, headers=PAGE_HEADERS)
        expires = (now_ms + oidc.STATE_TTL_MS).to_bytes(_EXPIRY_BYTES, "big")
        attempt = ring.sign(expires + state.encode())
        self._site.cookies.keep(response, self._cookie, attempt, oidc.STATE_TTL_MS // 1000)
        return response

    async def callback(self, request: Request) -> Response:
        """End an attempt: redirect to a sign-in link of the person whom the issuer identified."""
        await self._site.count_stranger(request.scope)
        given, now_ms = request.query_params, self._site.services.clock.now_ms()
        ring = await self._ring()
        state = self._attempt(request, ring, now_ms)
        if state is None or not hmac.compare_digest(state.encode(), given.get("state", "").encode()):
            raise self._refuse(
                400,
                "This sign-in was not started here",
                "It was started in another browser, or more than ten minutes ago. You are not signed in by it.",
                "Start again in this browser.",
            )
        if not await self._site.services.store.write(lambda: oidc.use_state(state, now_ms)):
            raise self._refuse(
                400,
                "This sign-in was used already",
                f"The answer of {self._name} works once. It did not sign you in again.",
                "Start again if you are not signed in.",
            )
        if "code" not in given or "error" in given:
            title, what = f"{self._name} did not sign you in", "reports a problem and names no person"
            if given.get("error") == "access_denied":
                title, what = "You did not sign in", "says that the sign-in was declined"
            raise self._refuse(403, title, f"{self._name} {what}.", "Start again, or sign in another way.")
        nonce, verifier = _derive(ring, state)
        try:
            await self._issuer.check_sender(given.get("iss"), now_ms)
            claims = await self._issuer.identify(
                given["code"],
                now_ms,
                redirect_uri=self._callback,
                nonce=nonce,
                verifier=verifier,
                claim=self._offered.rules.claim,
            )
            rules = await self._offered.resolve(self._site.services.store)
            token = await self._admit(oidc.judge(rules, claims))
        except OidcFailed as failed:
            raise self._explain(failed) from None
        except SignInDenied as denied:
            log.info("sign-in denied (%s)", denied.denial)
            raise PageRefused(
                PageProblem(
                    403,
                    "You cannot sign in here",
                    f"{self._name} knows you. {denied}",
                    "Ask an owner of this server for access, or sign in with another account.",
                    HOW_TO_SIGN_IN,
                )
            ) from None
        response = see_other(f"/sign-in/{token}")
        self._site.cookies.forget(response, self._cookie)
        return response

    async def _admit(self, who: IdentifiedPerson) -> str:
        services, now_ms = self._site.services, self._site.services.clock.now_ms()
        new_id, entropy = services.new_id(now_ms), services.entropy(people.ENTROPY_BYTES)
        return await services.store.write(lambda: oidc.admit(who, new_id, entropy, now_ms))

    @property
    def _callback(self) -> str:
        return self._site.base_url + CALLBACK

    async def _ring(self) -> KeyRing:
        await self._site.keys()  # the secrets are checked against the store
        return KeyRing.for_purpose(self._site.services.keys.master, "oidc-sign-in")

    def _attempt(self, request: Request, ring: KeyRing, now_ms: int) -> str | None:
        """The state of this browser's attempt, or None."""
        try:
            payload = ring.verify(request.cookies.get(self._cookie, ""))
        except TokenInvalid:
            return None
        expires = int.from_bytes(payload[:_EXPIRY_BYTES], "big")
        return payload[_EXPIRY_BYTES:].decode("ascii") if expires > now_ms else None

    def _explain(self, failed: OidcFailed) -> PageRefused:
        log.warning("signing in with %s failed (%s): %s", self._name, failed.problem, failed)
        status, title, then = FAILURES[failed.problem]
        return self._refuse(status, title.format(name=self._name), str(failed), then.format(name=self._name))

    def _refuse(self, status: int, title: str, what: str, then: str) -> PageRefused:
        again = Link(START, f"Sign in with {self._name}")
        return PageRefused(PageProblem(status, title, what, then, again))


def _derive(ring: KeyRing, state: str) -> tuple[str, str]:
    """Nonce and PKCE verifier of a state. Neither is stored."""
    nonce, verifier = (
        tokens.encode(hmac.digest(ring.keys[0], f"{purpose} {state}".encode(), "sha256"))
        for purpose in ("nonce", "verifier")
    )
    return nonce, verifier
