"""What a client may be and ask for: OAuth 2.1 as the MCP authorization specification narrows it (2026-07-28). Pure.

One response type, PKCE with S256 alone, redirects to https or to this machine, one resource. No parameter may come
twice, so that no two readers see different requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import SplitResult, urlencode, urlsplit

import msgspec

from assent.engine.connections.grants import challenge
from assent.engine.core.tenancy import SCOPES
from assent.kernel.limits import MAX_NAME_CHARS
from assent.kernel.structs import Record
from assent.kernel.texts import truncate, write_name

MAX_URI_CHARS: Final = 512
MAX_STATE_CHARS: Final = 1_000
SIGNED: Final = "private_key_jwt"
CLIENT_AUTHENTICATION: Final = ("none", SIGNED)

_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER: Final = re.compile(r"[A-Za-z0-9._~-]{43,128}")
_URI: Final = re.compile(r"[!-\[\]-~]+")
"""Printable ASCII without spaces and backslashes, which browsers read as slashes."""
_LOOPBACK: Final = re.compile(r"^(http://(?:localhost|127\.0\.0\.1|\[::1\]))(?::[1-9]\d{0,4})?(?=[/?]|$)")


class BadRequest(Exception):  # noqa: N818 - what a client did wrong
    """`error` is a code of OAuth; the text is for a person and a log."""

    def __init__(self, error: str, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.error, self.text, self.status = error, text, status


class ClientMetadata(msgspec.Struct, frozen=True, omit_defaults=True):
    """The part of a client's metadata that is used (RFC 7591)."""

    redirect_uris: tuple[str, ...] = ()
    client_id: str = ""
    client_name: str = ""
    token_endpoint_auth_method: str = CLIENT_AUTHENTICATION[0]
    jwks_uri: str = ""
    grant_types: tuple[str, ...] = ("authorization_code",)
    response_types: tuple[str, ...] = ("code",)
    client_secret: Any = None
    client_secret_expires_at: Any = None


class ClientKeys(msgspec.Struct, frozen=True):
    """The keys of a client: a document of their own, or `jwks` in the one about the client (RFC 7517)."""

    keys: list[dict[str, Any]] = []
    jwks: ClientKeys | None = None


class OAuthClient(Record):
    """A client that asks. `name` is what it calls itself. `publisher` is the host that publishes its metadata, which is
    a fact; empty for a client that registered itself. `jwks_uri` has its keys, if it signs its requests."""

    client_id: str
    name: str
    publisher: str
    redirect_uris: tuple[str, ...]
    jwks_uri: str

    def allows(self, redirect_uri: str) -> bool:
        """Compare as strings. The port of a loopback address is chosen when a client starts, and any will do."""
        return _drop_port(redirect_uri) in map(_drop_port, self.redirect_uris)


class AuthorizationRequest(Record):
    """A request that can be shown to a person."""

    redirect_uri: str
    state: str | None
    challenge: str
    scopes: tuple[str, ...]


def read_client(client_id: str, metadata: ClientMetadata, publisher: str) -> OAuthClient:
    """Return a client by its metadata. Raises `BadRequest`."""
    redirects = tuple(filter(is_redirect, metadata.redirect_uris))
    if not redirects:
        text = "No redirect_uri has https://, or http:// with a loopback host, and no fragment."
        raise BadRequest("invalid_redirect_uri", text)
    if "authorization_code" not in metadata.grant_types or "code" not in metadata.response_types:
        raise BadRequest("invalid_client_metadata", "Only the authorization code flow is served.")
    name = truncate(write_name(metadata.client_name), MAX_NAME_CHARS // 2) or publisher
    signs = metadata.token_endpoint_auth_method == SIGNED
    jwks_uri = (metadata.jwks_uri or client_id) if signs else ""
    return OAuthClient(client_id, name or "A client without a name", publisher, redirects, jwks_uri)


def is_redirect(uri: str) -> bool:
    """Whether an answer may be sent there: by https, or to a program on the person's own machine."""
    parts = split_uri(uri)
    return parts is not None and (parts.scheme == "https" or is_loopback(uri))


def is_loopback(redirect_uri: str) -> bool:
    """Whether a redirect leads to a program on the machine of the browser (RFC 8252)."""
    return _LOOPBACK.match(redirect_uri) is not None


def is_document(client_id: str) -> bool:
    """Whether a client's id is the address of its metadata (OAuth Client ID Metadata Document, section 3)."""
    parts = split_uri(client_id)
    if parts is None or parts.scheme != "https" or not parts.path.strip("/"):
        return False
    return not {".", ".."} & {*parts.path.lower().replace("%2e", ".").split("/")}


def split_uri(uri: str) -> SplitResult | None:
    """Return the parts of an address with a host and without a user and a fragment, else None."""
    if len(uri) > MAX_URI_CHARS or "#" in uri or _URI.fullmatch(uri) is None:
        return None
    try:
        parts = urlsplit(uri)
        return parts if parts.hostname and "@" not in parts.netloc and parts.port != 0 else None
    except ValueError:
        return None


def _drop_port(redirect_uri: str) -> str:
    return _LOOPBACK.sub(r"\1", redirect_uri, count=1)


def read_once(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return parameters by name; one without a value counts as omitted. Raises `BadRequest` if one comes twice."""
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found:
            raise BadRequest("invalid_request", f"The parameter {truncate(name, 40)} comes more than once.")
        found[name] = value
    return {name: value for name, value in found.items() if value}


def require(given: dict[str, str], *names: str) -> None:
    """Refuse a request that lacks a parameter."""
    for name in names:
        if name not in given:
            raise BadRequest("invalid_request", f"The parameter {name} is missing.")


def read_request(given: dict[str, str], redirect_uri: str) -> AuthorizationRequest:
    """Return a request by its parameters. Raises `BadRequest`."""
    challenge, state = given.get("code_challenge", ""), given.get("state")
    is_protected = given.get("code_challenge_method") == "S256" and _CHALLENGE.fullmatch(challenge)
    for error, fits, text in (
        ("unsupported_response_type", given.get("response_type") == "code", "asked for no code"),
        ("invalid_request", given.get("response_mode", "query") == "query", "wants another form of answer"),
        ("invalid_request", is_protected, "did not protect its request (PKCE with S256)"),
        ("invalid_request", len(state or "") <= MAX_STATE_CHARS, "sent too long a state"),
    ):
        if not fits:
            raise BadRequest(error, f"The client {text}.")
    return AuthorizationRequest(redirect_uri, state, challenge, read_scopes(given.get("scope")))


def read_scopes(asked: str | None) -> tuple[str, ...]:
    """Return the known scopes that were asked for, all without any. Others, such as `offline_access`, are ignored."""
    if not asked:
        return SCOPES
    if not (scopes := tuple(scope for scope in SCOPES if scope in asked.split())):
        raise BadRequest("invalid_scope", "The client asked for no right that this server has.")
    return scopes


def make_challenge(verifier: str) -> str | None:
    """Return the challenge of a verifier; None if it is not one (RFC 7636)."""
    return challenge(verifier) if _VERIFIER.fullmatch(verifier) is not None else None


def answer_to(redirect_uri: str, **answer: str | None) -> str:
    """Return the address that carries an answer to a client."""
    query = urlencode({name: value for name, value in answer.items() if value is not None})
    return f"{redirect_uri}{'&' if '?' in redirect_uri else '?'}{query}"
