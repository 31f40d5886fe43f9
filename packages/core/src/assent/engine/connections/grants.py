"""OAuth 2 with PKCE (RFC 6749, 7636): the requests for consent, code exchange and refresh.

A connector declares its `Grantor`: consent page, token endpoint, spellings. Tokens and the client's
secret are sent in the body of a POST and never in a URL. Of a refusal only the code is kept, since
its text may repeat secrets.

Knows no provider, and nothing of storage and pages; `assent.engine.connections.oauth` keeps
tokens fresh.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from assent.engine.connections.json_http import Exchanged, exchange
from assent.kernel import tokens
from assent.kernel.structs import Record
from assent.ports import NotSent, OutcomeUnknown

TIMEOUT_SECONDS: Final = 10.0
"""For one request to a token endpoint; a person or a call is waiting."""

ENDED: Final = frozenset({"invalid_grant", "invalid_token"})
"""Error codes of every authorisation server that mean that the grant has ended."""

_CODE: Final = re.compile(r"[A-Za-z_]{1,60}")


class Grantor(Record, kw_only=True):
    """An authorisation server: its consent page and token endpoint."""

    id: str
    label: str
    pages: str
    interface: str
    authorize_path: str
    token_path: str
    revoke_path: str | None
    extra: dict[str, str]
    client_id_setting: str
    client_secret_setting: str
    permissions: str
    """Tells the person where they see and withdraw their grants."""
    ended: frozenset[str] = frozenset()
    """Its own error codes that mean that the grant has ended."""
    implied: frozenset[str] = frozenset()
    """Scopes that are requested and not listed as granted."""
    account_field: str | None = None
    """The field of a token answer that names the account."""


class ClientCredentials(Record):
    """This server's registration with an authorisation server; empty until it is set."""

    client_id: str | None = None
    client_secret: str | None = None

    def __repr__(self) -> str:
        return f"ClientCredentials({self.client_id!r})"


class OAuthProvider(Record, kw_only=True):
    """A connector's authorisation. `base` replaces the public URLs of pages and API."""

    id: str
    grantor: Grantor
    scopes: tuple[str, ...]
    client: ClientCredentials
    base: str | None = None

    @property
    def configured(self) -> bool:
        return bool(self.client.client_id and self.client.client_secret)

    @property
    def needed(self) -> frozenset[str]:
        """The scopes that must be granted."""
        return frozenset(self.scopes) - self.grantor.implied

    @property
    def authorize_url(self) -> str:
        return (self.base or self.grantor.pages) + self.grantor.authorize_path

    @property
    def token_url(self) -> str:
        return (self.base or self.grantor.interface) + self.grantor.token_path

    @property
    def revoke_url(self) -> str | None:
        path = self.grantor.revoke_path
        return (self.base or self.grantor.interface) + path if path is not None else None

    @property
    def not_set_up(self) -> str:
        """The message for a person who wants to connect."""
        return (
            f"{self.grantor.label} does not know this server yet, so it cannot ask you for consent. The person "
            f"who runs the server registers it with {self.grantor.label}."
        )

    @property
    def what_to_set(self) -> str:
        """The message for the server's operator."""
        return (
            f"The person who runs this server registers it as an app with {self.grantor.label}, sets "
            f"{self.grantor.client_id_setting} and {self.grantor.client_secret_setting}, and restarts it."
        )


def make_provider(
    connector: str, grantor: Grantor, scopes: tuple[str, ...], client: ClientCredentials, base: str | None
) -> OAuthProvider:
    """Return a connector's authorisation. A base on the authorisation server's own host replaces
    nothing."""
    own = base is None or urlsplit(base).hostname == urlsplit(grantor.interface).hostname
    return OAuthProvider(
        id=connector,
        grantor=grantor,
        scopes=scopes,
        client=client,
        base=None if own or base is None else base.rstrip("/"),
    )


class OAuthTokens(Record, kw_only=True):
    """The answer of a token endpoint. Its repr shows no secrets."""

    access_token: str
    refresh_token: str | None
    expires_in: int | None
    scopes: tuple[str, ...]
    account: str | None

    def __repr__(self) -> str:
        return "Tokens(…)"


class GrantEnded(Exception):  # noqa: N818 - what is known
    """The grant has ended: the person must consent again."""


class GrantFailed(Exception):  # noqa: N818 - what is known
    """The token endpoint failed for another reason; the message names it and has no secrets."""


def challenge(verifier: str) -> str:
    return tokens.encode(hashlib.sha256(verifier.encode("ascii")).digest())


def consent_url(provider: OAuthProvider, *, redirect_uri: str, state: str, verifier: str) -> str:
    query = {
        "client_id": provider.client.client_id or "",
        "redirect_uri": redirect_uri,
        "response_type": "code",
        "scope": " ".join(provider.scopes),
        "state": state,
        "code_challenge": challenge(verifier),
        "code_challenge_method": "S256",
        **provider.grantor.extra,
    }
    return f"{provider.authorize_url}?{urlencode(query)}"


async def exchange_code(
    provider: OAuthProvider, code: str, *, redirect_uri: str, verifier: str
) -> OAuthTokens:
    given = {"code": code, "redirect_uri": redirect_uri, "code_verifier": verifier}
    return await _request_tokens(provider, grant_type="authorization_code", **given)


async def refresh(provider: OAuthProvider, refresh_token: str) -> OAuthTokens:
    """Return fresh tokens. A provider that rotates refresh tokens invalidates the used one."""
    return await _request_tokens(provider, grant_type="refresh_token", refresh_token=refresh_token)


async def revoke(provider: OAuthProvider, token: str) -> bool:
    """Revoke a token; false if the provider has no endpoint for it or fails."""
    if provider.revoke_url is None:
        return False
    try:
        await _say(provider, provider.revoke_url, {"token": token})
    except (GrantEnded, GrantFailed):
        return False
    return True


async def _say(provider: OAuthProvider, url: str, given: dict[str, str]) -> Exchanged:
    label = provider.grantor.label
    form = {
        **given,
        "client_id": provider.client.client_id or "",
        "client_secret": provider.client.client_secret or "",
    }
    try:
        answer = await exchange("POST", url, form=form, timeout_seconds=TIMEOUT_SECONDS)
    except (NotSent, OutcomeUnknown) as error:
        raise GrantFailed(f"{label} cannot be reached: {error}") from None
    if answer.ok:
        return answer
    codes = [str(each) for each in (answer.at("error"), answer.at("status")) if each is not None]
    code = next((each for each in codes if _CODE.fullmatch(each)), "no code")
    if answer.status in (400, 401, 403) and (ENDED | provider.grantor.ended).intersection(codes):
        raise GrantEnded(f"{label} does not accept the access any more ({code})")
    raise GrantFailed(f"{label} answers HTTP {answer.status} ({code})")


async def _request_tokens(provider: OAuthProvider, **given: str) -> OAuthTokens:
    answer = await _say(provider, provider.token_url, given)
    access, again = _read_field(answer, "access_token"), _read_field(answer, "refresh_token")
    if not isinstance(access, str) or not access:
        raise GrantFailed(f"{provider.grantor.label} gave no access token")
    expires, named = _read_field(answer, "expires_in"), provider.grantor.account_field
    account = _read_field(answer, named) if named is not None else None
    said: Any = answer.at("scope") or answer.at("scopes") or ()
    scopes = tuple(said.split()) if isinstance(said, str) else tuple(str(each) for each in said)
    return OAuthTokens(
        access_token=access,
        refresh_token=again if isinstance(again, str) and again else None,
        expires_in=expires if isinstance(expires, int) and expires > 0 else None,
        scopes=scopes or provider.scopes,
        account=str(account) if account is not None else None,
    )


def _read_field(answer: Exchanged, name: str) -> Any:
    """Return a field by its name in RFC 6749, or in camel case."""
    first, *more = name.split("_")
    found = answer.at(name)
    return found if found is not None else answer.at(first + "".join(each.capitalize() for each in more))
