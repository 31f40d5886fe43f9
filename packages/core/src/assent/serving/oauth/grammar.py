"""What a client may be and ask for: OAuth 2.1 as the MCP authorization specification narrows it (2026-07-28). Pure.

One response type, PKCE with S256 alone, redirects to https or to this machine, one resource. No parameter may come
twice, so that no two readers see different requests.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import SplitResult, urlencode, urlsplit

import msgspec

from assent.engine.core.tenancy import SCOPES
from assent.kernel.limits import MAX_NAME_CHARS
from assent.kernel.structs import Record
from assent.kernel.texts import truncate, write_name
from assent.net.loopback import LOOPBACK_HOSTS

MAX_URI_CHARS: Final = 512
MAX_REDIRECTS: Final = 10
MAX_STATE_CHARS: Final = 1_000
MCP_ENDPOINTS: Final = ("/api/mcp", "/mcp")
SHARED_SECRETS: Final = frozenset({"client_secret_post", "client_secret_basic", "client_secret_jwt"})
SIGNED: Final = "private_key_jwt"

_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER: Final = re.compile(r"[A-Za-z0-9._~-]{43,128}")
_URI: Final = re.compile(r"[!-\[\]-~]+")
"""Printable ASCII without spaces and backslashes, which browsers read as slashes."""


class BadRequest(Exception):  # noqa: N818 - what a client did wrong
    """`error` is a code of OAuth; the text is for a person and a log."""

    def __init__(self, error: str, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.error = error
        self.text = text
        self.status = status


class ClientMetadata(msgspec.Struct, frozen=True, omit_defaults=True):
    """The part of a client's metadata that is used (RFC 7591)."""

    redirect_uris: tuple[str, ...] = ()
    client_id: str = ""
    client_name: str = ""
    token_endpoint_auth_method: str = ""
    jwks_uri: str = ""
    grant_types: tuple[str, ...] = ("authorization_code",)
    response_types: tuple[str, ...] = ("code",)


class Client(Record, kw_only=True):
    """Who asks. `name` is what it calls itself, `publisher` the host that publishes its metadata: a fact; empty for a
    client that registered itself."""

    client_id: str
    name: str
    publisher: str
    redirect_uris: tuple[str, ...]
    jwks_uri: str = ""
    """Where it publishes the keys with which it signs its requests, if it does."""

    def allows(self, redirect_uri: str) -> bool:
        return any(_same_redirect(known, redirect_uri) for known in self.redirect_uris)


class AuthorizationRequest(Record):
    """A request of a known client that can be shown to a person."""

    redirect_uri: str
    state: str | None
    challenge: str
    scopes: tuple[str, ...]


def read_client(client_id: str, metadata: ClientMetadata, publisher: str) -> Client:
    """Return a client by its metadata. Raises `BadRequest`."""
    redirects = tuple(filter(is_redirect, metadata.redirect_uris[:MAX_REDIRECTS]))
    if not redirects:
        raise BadRequest(
            "invalid_redirect_uri",
            "A client needs a redirect_uri with https://, or with http:// and a loopback host, without a fragment.",
        )
    if "authorization_code" not in metadata.grant_types or "code" not in metadata.response_types:
        raise BadRequest("invalid_client_metadata", "Only the authorization code flow is served.")
    name = truncate(write_name(metadata.client_name), MAX_NAME_CHARS // 2)
    return Client(
        client_id=client_id,
        name=name or publisher or "A client without a name",
        publisher=publisher,
        redirect_uris=redirects,
        jwks_uri=metadata.jwks_uri if metadata.token_endpoint_auth_method == SIGNED else "",
    )


def is_redirect(uri: str) -> bool:
    """Whether an answer may be sent there: by https, or to a program on the person's own machine."""
    parts = _split(uri)
    if parts is None or parts.username is not None or parts.password is not None:
        return False
    return bool(parts.hostname) and (parts.scheme == "https" or is_loopback(uri))


def is_document(client_id: str) -> bool:
    """Whether a client's id is the address of its metadata (OAuth Client ID Metadata Document, section 3)."""
    parts = _split(client_id)
    if parts is None or parts.scheme != "https" or not parts.hostname or "@" in parts.netloc:
        return False
    return parts.path.strip("/") != "" and not {".", ".."} & set(
        parts.path.lower().replace("%2e", ".").split("/")
    )


def is_loopback(uri: str) -> bool:
    """Whether a redirect leads to a program on the machine of the browser (RFC 8252)."""
    parts = _split(uri)
    return parts is not None and parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS


def _split(uri: str) -> SplitResult | None:
    if len(uri) > MAX_URI_CHARS or "#" in uri or _URI.fullmatch(uri) is None:
        return None
    try:
        parts = urlsplit(uri)
        return parts if parts.port is None or parts.port else None
    except ValueError:
        return None


def _same_redirect(known: str, given: str) -> bool:
    """Compare as strings. The port of a loopback address is chosen when a client starts, and any will do."""
    if known == given:
        return True
    return is_loopback(known) and is_loopback(given) and _drop_port(known) == _drop_port(given)


def _drop_port(uri: str) -> SplitResult:
    parts = urlsplit(uri)
    host = parts.netloc.lower()
    return parts._replace(
        netloc=host.removesuffix(f":{parts.port}") if parts.port else host.removesuffix(":")
    )


def read_once(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return parameters by name. Raises `BadRequest` if one comes twice."""
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found:
            raise BadRequest("invalid_request", f"The parameter {truncate(name, 40)} comes more than once.")
        found[name] = value
    return found


def read_redirect(client: Client, given: dict[str, str]) -> str:
    """Return where the answer goes. Raises `BadRequest`, which is shown and sent nowhere."""
    redirect_uri = given.get("redirect_uri", "")
    if not is_redirect(redirect_uri) or not client.allows(redirect_uri):
        raise BadRequest(
            "invalid_request", "The client wants the answer at an address that it did not publish."
        )
    return redirect_uri


def read_request(given: dict[str, str], redirect_uri: str, resources: frozenset[str]) -> AuthorizationRequest:
    """Return a request by its parameters. Raises `BadRequest`."""
    if given.get("response_type") != "code":
        raise BadRequest("unsupported_response_type", "The client asked for something else than a code.")
    if given.get("response_mode", "query") != "query":
        raise BadRequest("invalid_request", "The client wants its answer in a form that is not served.")
    if given.get("code_challenge_method") != "S256" or not _CHALLENGE.fullmatch(
        given.get("code_challenge", "")
    ):
        raise BadRequest("invalid_request", "The client did not protect its request (PKCE with S256).")
    check_resource(given.get("resource"), resources)
    if len(given.get("state", "")) > MAX_STATE_CHARS:
        raise BadRequest("invalid_request", "The state of the client is too long.")
    return AuthorizationRequest(
        redirect_uri, given.get("state"), given["code_challenge"], read_scopes(given.get("scope"))
    )


def read_scopes(asked: str | None) -> tuple[str, ...]:
    """Return the known scopes that were asked for, all without any. Others, such as `offline_access`, are ignored."""
    if not asked:
        return SCOPES
    named = asked.split()
    scopes = tuple(scope for scope in SCOPES if scope in named)
    if not scopes:
        raise BadRequest("invalid_scope", "The client asked for no right that this server has.")
    return scopes


def check_resource(named: str | None, resources: frozenset[str]) -> None:
    """Refuse a request for a token of another server (RFC 8707)."""
    if named is not None and ("?" in named or _split(named) is None or _fold(named) not in resources):
        raise BadRequest("invalid_target", "The client asked for access to another server than this one.")


def list_resources(base_url: str) -> frozenset[str]:
    """Return every name that this server has as a resource. The names of this machine are one, ports are not."""
    parts = urlsplit(_fold(base_url))
    hosts = {parts.netloc}
    if parts.hostname in LOOPBACK_HOSTS:
        port = f":{parts.port}" if parts.port else ""
        hosts = {f"{host}{port}" for host in ("localhost", "127.0.0.1", "[::1]")}
    return frozenset(f"{parts.scheme}://{host}{path}" for host in hosts for path in ("", *MCP_ENDPOINTS))


def _fold(uri: str) -> str:
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def make_challenge(verifier: str) -> str | None:
    """Return what a verifier was announced by; None if it is none (RFC 7636)."""
    if _VERIFIER.fullmatch(verifier) is None:
        return None
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def answer_to(redirect_uri: str, **answer: str | None) -> str:
    """Return the address that carries an answer to a client."""
    query = urlencode({name: value for name, value in answer.items() if value is not None})
    return f"{redirect_uri}{'&' if '?' in redirect_uri else '?'}{query}"
