"""Emulates an OAuth 2 server: consent page, single-use codes with PKCE, expiring access tokens,
rotating refresh tokens, revocation.

A second use of a code or of a rotated refresh token revokes the whole grant, as RFC 9700 asks for.
`revoke_all` emulates a user who removes the app in their account.
"""

from __future__ import annotations

import base64
import hashlib
import html
import secrets
from typing import Any, Final
from urllib.parse import urlencode

import msgspec

from assent.kernel.structs import Record
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.provider_server import (
    ProviderAnswer,
    ProviderRequest,
    ProviderServer,
    Route,
    json_answer,
    page_answer,
    redirect,
)

CODE_TTL_MS: Final = 60_000

CONSENT: Final = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Consent</title>
<link rel="icon" href="data:,"></head><body>
<main><h1>{client} wants to access your {name} account</h1><p>{scope}</p>
<form method="post" action="/consent">{fields}
<button name="answer" value="allow">Allow</button> <button name="answer" value="deny">Deny</button></form>
</main></body></html>"""


class RegisteredApp(Record):
    client_id: str
    client_secret: str


class Grant(msgspec.Struct):
    """A user's consent, and all tokens issued for it."""

    scope: str
    offline: bool
    redirect_uri: str
    challenge: str
    code_until_ms: int
    code_used: bool = False
    revoked: bool = False
    refresh_token: str | None = None


class OAuthServer(ProviderServer):
    """The authorisation part of a provider."""

    authorize_path = "/authorize"
    token_path = "/token"  # noqa: S105 - an address
    token_seconds = 3599
    access_prefix = "at-"
    refresh_prefix = "rt-"
    rotates = False
    offline_by_asking = False
    """Whether a refresh token is issued only for `access_type=offline`."""

    def __init__(self, ledger: Ledger, client: RegisteredApp, **options: Any) -> None:
        super().__init__(ledger, **options)
        self.client = client
        self.codes: dict[str, Grant] = {}
        self.access: dict[str, tuple[Grant, int]] = {}
        self.refresh: dict[str, Grant] = {}
        self.withhold_refresh_token = False
        """The user has allowed this app before: no refresh token is issued."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return every secret that must never appear in clear text on the other side."""
        return (self.client.client_secret, *self.codes, *self.access, *self.refresh)

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("GET", self.authorize_path, self.authorize, is_page=True),
            Route("POST", "/consent", self.consent, is_page=True),
            Route("POST", self.token_path, self.token, is_open=True),
            Route("POST", "/emulate", self.emulate, is_page=True),
        )

    def oauth_error(self, status: int, error: str, description: str) -> ProviderAnswer:
        return json_answer(status, {"error": error, "error_description": description})

    def token_facts(self, grant: Grant) -> dict[str, Any]:
        return {"scope": grant.scope, "token_type": "Bearer"}

    def valid(self, token: str, scope: str = "") -> bool:
        grant, until_ms = self.access.get(token, (None, 0))
        return (
            grant is not None
            and not grant.revoked
            and self.now_ms() < until_ms
            and (not scope or scope in grant.scope.split())
        )

    def revoke_all(self) -> None:
        """Remove the app, as a user does."""
        for grant in (*self.codes.values(), *self.refresh.values()):
            grant.revoked = True

    def expire_access(self) -> None:
        self.access = dict.fromkeys(self.access, (Grant("", False, "", "", 0, revoked=True), 0))

    def emulate(self, asked: ProviderRequest) -> ProviderAnswer:
        """Run `{"do": "revoke_all" | "expire_access" | "withhold_refresh_token"}`."""
        wanted = asked.json.get("do")
        if wanted == "revoke_all":
            self.revoke_all()
        elif wanted == "expire_access":
            self.expire_access()
        elif wanted == "withhold_refresh_token":
            self.withhold_refresh_token = True
        else:
            return json_answer(400, {"error": "revoke_all, expire_access or withhold_refresh_token"})
        return json_answer(200, {})

    def authorize(self, asked: ProviderRequest) -> ProviderAnswer:
        wrong = [
            name
            for name, good in (
                ("client_id", asked.query.get("client_id") == self.client.client_id),
                ("redirect_uri", asked.query.get("redirect_uri", "").startswith("http")),
                ("response_type", asked.query.get("response_type", "code") == "code"),
                ("scope", bool(asked.query.get("scope"))),
                ("code_challenge_method", asked.query.get("code_challenge_method") == "S256"),
                ("code_challenge", len(asked.query.get("code_challenge", "")) == 43),
            )
            if not good
        ]
        if wrong:
            return page_answer(f"<h1>Error 400: invalid_request</h1><p>{', '.join(wrong)}</p>", 400)
        fields = "".join(
            f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
            for name, value in asked.query.items()
        )
        words = {"client": self.client.client_id, "name": self.name, "scope": asked.query["scope"]}
        return page_answer(
            CONSENT.format(fields=fields, **{name: html.escape(text) for name, text in words.items()})
        )

    def consent(self, asked: ProviderRequest) -> ProviderAnswer:
        form = asked.form
        back, state = form["redirect_uri"], {"state": form["state"]} if "state" in form else {}
        if form.get("answer") != "allow":
            self.done("denied", {"scope": form["scope"]})
            return redirect(f"{back}?{urlencode({'error': 'access_denied', **state})}")
        code = f"code-{secrets.token_urlsafe(24)}"
        offline = form.get("access_type") == "offline" or not self.offline_by_asking
        self.codes[code] = Grant(
            form["scope"], offline, back, form["code_challenge"], self.now_ms() + CODE_TTL_MS
        )
        self.done("consented", {"scope": form["scope"], "offline": offline})
        return redirect(f"{back}?{urlencode({'code': code, 'scope': form['scope'], **state})}")

    def token(self, asked: ProviderRequest) -> ProviderAnswer:
        form = asked.form
        given = (form.get("client_id"), form.get("client_secret"))
        if given != (self.client.client_id, self.client.client_secret):
            return self.oauth_error(401, "invalid_client", "The OAuth client was not found.")
        if form.get("grant_type") == "authorization_code":
            return self._exchange(form)
        if form.get("grant_type") == "refresh_token":
            return self._refresh(form.get("refresh_token", ""))
        return self.oauth_error(400, "unsupported_grant_type", "Invalid grant_type.")

    def _exchange(self, form: dict[str, str]) -> ProviderAnswer:
        grant = self.codes.get(form.get("code", ""))
        if grant is None or grant.revoked or self.now_ms() >= grant.code_until_ms:
            return self.oauth_error(400, "invalid_grant", "Malformed auth code.")
        if grant.code_used:
            grant.revoked = True
            return self.oauth_error(400, "invalid_grant", "The code was used already.")
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        proven = base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == grant.challenge
        if not proven or form.get("redirect_uri") != grant.redirect_uri:
            return self.oauth_error(400, "invalid_grant", "Invalid code verifier or redirect_uri.")
        grant.code_used = True
        said = self._issued(grant)
        if grant.offline and not self.withhold_refresh_token:
            said["refresh_token"] = self._renewed(grant)
        self.done("token_issued", {"scope": grant.scope, "refreshToken": "refresh_token" in said})
        return json_answer(200, said)

    def _refresh(self, token: str) -> ProviderAnswer:
        grant = self.refresh.get(token)
        if grant is None or grant.revoked:
            return self.oauth_error(400, "invalid_grant", "Token has been expired or revoked.")
        if grant.refresh_token != token:
            grant.revoked = True
            return self.oauth_error(400, "invalid_grant", "A rotated token was used again.")
        said = self._issued(grant)
        if self.rotates:
            said["refresh_token"] = self._renewed(grant)
        self.done("token_refreshed", {"scope": grant.scope})
        return json_answer(200, said)

    def _issued(self, grant: Grant) -> dict[str, Any]:
        token = self.access_prefix + secrets.token_urlsafe(32)
        self.access[token] = (grant, self.now_ms() + self.token_seconds * 1000)
        return {"access_token": token, "expires_in": self.token_seconds, **self.token_facts(grant)}

    def _renewed(self, grant: Grant) -> str:
        grant.refresh_token = self.refresh_prefix + secrets.token_urlsafe(32)
        self.refresh[grant.refresh_token] = grant
        return grant.refresh_token
