"""Which client asks: the one whose document is at the address that its id is, or one that registered.

A document is fetched for a signed-in person alone, through the SSRF guard, without redirects and with a bound on its
size; it is kept for a few minutes. A registration is stored nowhere: its id carries it, signed. So a flood of them
fills nothing and pushes no other client out. A client that publishes keys signs its requests (RFC 7523).
"""

from __future__ import annotations

from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import msgspec

from assent.kernel import tokens
from assent.kernel.limits import MINUTE_MS, SECOND_MS
from assent.kernel.tokens import KeyRing, TokenInvalid
from assent.serving.oauth import grammar
from assent.serving.oauth.grammar import BadRequest, ClientKeys, ClientMetadata, OAuthClient

T = TypeVar("T")

FETCH_SECONDS: Final = 5.0
MAX_DOCUMENT_BYTES: Final = 16_384
"""Three times what the specification recommends at most."""
KEPT_MS: Final = 5 * MINUTE_MS
MOST_KEPT: Final = 200
MAX_REGISTERED_BYTES: Final = 900
"""What a client may register: its id is a third longer, and stands in addresses and cookies."""
UNIQUE_BYTES: Final = 6
SIGNATURE_TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
SIGNED_FOR_MS: Final = 10 * MINUTE_MS
PRIVATE: Final = frozenset({"d", "k"})
"""The members of a key that no one may publish."""


class Clients:
    """Finds clients. Keeps the documents that were fetched last."""

    def __init__(self, allow_hosts: tuple[str, ...]) -> None:
        """`allow_hosts` are private hosts that documents of the owner's clients may come from."""
        self._allow_hosts = allow_hosts
        self._kept: dict[tuple[str, bool], tuple[int, OAuthClient]] = {}

    async def find(self, client_id: str, ring: KeyRing, now_ms: int, *, owned: bool) -> OAuthClient:
        """Return a client by its id. Raises `BadRequest`."""
        if not grammar.is_document(client_id):
            return read_registered(client_id, ring)
        since_ms, kept = self._kept.get((client_id, owned), (0, None))
        if kept is not None and 0 <= now_ms - since_ms < KEPT_MS:
            return kept
        metadata = await self._fetch(client_id, ClientMetadata, owned=owned)
        if metadata.client_id != client_id or not metadata.client_name:
            raise BadRequest("invalid_client", "The document is about another client, or gives it no name.")
        secret = metadata.client_secret, metadata.client_secret_expires_at
        if secret != (None, None) or metadata.token_endpoint_auth_method not in grammar.CLIENT_AUTHENTICATION:
            raise BadRequest("invalid_client", "The client wants to use a secret that it cannot have.")
        client = grammar.read_client(client_id, metadata, urlsplit(client_id).hostname or "")
        while len(self._kept) >= MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[client_id, owned] = now_ms, client
        return client

    async def check_signature(
        self, form: dict[str, str], jwks_uri: str, audiences: list[str], now_ms: int, *, owned: bool
    ) -> tuple[str, int]:
        """Return the nonce of a request's signature, to be used up, and its end. Raises `BadRequest`.

        PyJWT verifies it, with asymmetric algorithms alone; times are compared with an argument.
        """
        import jwt

        from assent.net.oidc import match_keys

        published = await self._fetch(jwks_uri, ClientKeys, owned=owned)
        keys = (published.jwks or published).keys
        if any(PRIVATE & key.keys() for key in keys):
            raise BadRequest(
                "invalid_client", "The client publishes a private key, so anyone can sign with it."
            )
        given = (
            form.get("client_assertion", "") if form.get("client_assertion_type") == SIGNATURE_TYPE else ""
        )
        options: Any = {f"verify_{claim}": False for claim in ("exp", "iat", "nbf")}
        options["require"] = ["iss", "sub", "aud", "exp", "jti"]
        for key, algorithm in match_keys(given, keys):
            try:
                claims = jwt.decode(
                    given,
                    jwt.PyJWK(key, algorithm),
                    algorithms=[algorithm],
                    audience=audiences,
                    issuer=form["client_id"],
                    options=options,
                )
                ends_ms = int(claims["exp"]) * SECOND_MS
            except (jwt.PyJWTError, TypeError, ValueError, OverflowError):
                continue
            if claims["sub"] == form["client_id"] and now_ms < ends_ms <= now_ms + SIGNED_FOR_MS:
                return f"client {form['client_id']} {claims['jti']}", ends_ms
        raise BadRequest(
            "invalid_client", "The request is not signed with a key that the client publishes.", 401
        )

    async def _fetch(self, url: str, kind: type[T], *, owned: bool) -> T:
        """Return what a client publishes. Raises `BadRequest`."""
        from assent.net.addresses import FetchRefused, check
        from assent.net.outgoing import send_json

        what = f"{urlsplit(url).hostname} does not describe the client"
        asked: dict[str, Any] = {"headers": {"accept": "application/json"}, "timeout_seconds": FETCH_SECONDS}
        try:
            target = await check(url, allow_hosts=self._allow_hosts if owned else ())
            if target.url.scheme != "https":
                raise FetchRefused("scheme", "Only https addresses are allowed.")
            answer = await send_json("GET", target, b"", **asked, max_bytes=MAX_DOCUMENT_BYTES + 1)
        except FetchRefused as refused:
            raise BadRequest("invalid_client", f"{what}: {refused.text}") from None
        is_json = answer.content_type == "application/json" or answer.content_type.endswith("+json")
        if answer.status != 200 or not is_json or len(answer.body) > MAX_DOCUMENT_BYTES:
            raise BadRequest("invalid_client", f"{what} with a short document.")
        return decode(answer.body, kind, "invalid_client")


def decode(body: bytes, kind: type[T], error: str) -> T:
    """Return JSON that a client wrote. Raises `BadRequest`."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadRequest(error, "The metadata of the client is not JSON as RFC 7591 has it.") from None


def register(metadata: ClientMetadata, ring: KeyRing, entropy: bytes) -> OAuthClient:
    """Return a client with the id that carries what it registered. Raises `BadRequest`.

    Of its redirects those are kept that may be used here (RFC 7591, section 3.2.1): some clients register that of an
    app, which MCP does not allow, beside others.
    """
    client = grammar.read_client("", metadata, "")
    kept = ClientMetadata(client.redirect_uris, client_id=tokens.encode(entropy), client_name=client.name)
    payload = msgspec.json.encode(kept)
    if len(payload) > MAX_REGISTERED_BYTES:
        raise BadRequest("invalid_client_metadata", "Register a shorter name, or fewer redirect_uris.")
    return msgspec.structs.replace(client, client_id=ring.sign(payload))


def read_registered(client_id: str, ring: KeyRing) -> OAuthClient:
    """Return the client that an id of this server carries. Raises `BadRequest`."""
    try:
        payload = ring.verify(client_id)
    except TokenInvalid:
        raise BadRequest("invalid_client", "This server does not know the client.", 401) from None
    return grammar.read_client(client_id, decode(payload, ClientMetadata, "invalid_client"), "")
