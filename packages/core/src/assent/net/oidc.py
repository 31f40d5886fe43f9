"""OpenID Connect as a relying party: authorization code with PKCE, ID token checked by the issuer's keys.

Requests go through the SSRF guard. Exactly the configured issuer may be on a private address; other
hosts that its metadata names must be public, or be allowed by the operator. No redirect is followed.

The signature is PyJWT's work; algorithms are a fixed list of asymmetric ones, and a key is used only
with an algorithm of its own type. Times are compared with an argument and not with the clock.

Knows nothing of people, cookies and pages. Imports httpx and jwt with the first request.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from assent.kernel import tokens
from assent.kernel.limits import MINUTE_MS
from assent.kernel.structs import Record

T = TypeVar("T")

TIMEOUT_SECONDS: Final = 10.0
"""For one request to the issuer: a person waits."""
MAX_ANSWER_BYTES: Final = 262_144
"""Limit of an answer. Metadata, keys and tokens are far smaller."""
METADATA_TTL_MS: Final = 10 * MINUTE_MS
LEEWAY_SECONDS: Final = 60
"""How far the clocks of issuer and server may differ."""
MAX_KEYS: Final = 20
"""Keys that are tried; an issuer publishes two or three."""
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})

SIGNING_KEYS: Final = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA"),
    **dict.fromkeys(("ES256", "ES384", "ES512"), "EC"),
    "EdDSA": "OKP",
}
"""The accepted algorithms with their type of key. None is symmetric: the client id is no secret."""

OidcProblem = Literal["unreachable", "misconfigured", "refused", "issuer", "token", "expired"]


class OidcFailed(Exception):  # noqa: N818 - what is known
    """Why no person was identified. The text is a sentence for a person and has no secrets."""

    def __init__(self, problem: OidcProblem, text: str) -> None:
        super().__init__(text)
        self.problem = problem


class OidcClient(Record, kw_only=True):
    """This server's registration with an issuer."""

    issuer: str
    client_id: str
    client_secret: str | None
    name: str
    """The issuer's name for people."""
    allow_hosts: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"OidcClient({self.issuer!r})"


class OidcMetadata(msgspec.Struct, frozen=True):
    """The part of the issuer's metadata that is used (OpenID Connect Discovery 1.0)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


class _TokenAnswer(msgspec.Struct, frozen=True):
    id_token: str
    access_token: str | None = None


class OidcIssuer:
    """The conversation with one issuer. Its metadata is kept for a few minutes."""

    def __init__(self, client: OidcClient) -> None:
        self.client = client
        parts = urlsplit(client.issuer)
        port = parts.port or {"https": 443, "http": 80}[parts.scheme]
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        self._allow_hosts = (*client.allow_hosts, f"{host}:{port}")
        self._metadata: tuple[int, OidcMetadata] | None = None

    async def discover(self, now_ms: int) -> OidcMetadata:
        """Return the issuer's metadata. Raises `OidcFailed`."""
        if self._metadata is not None and 0 <= now_ms - self._metadata[0] < METADATA_TTL_MS:
            return self._metadata[1]
        self._require_tls()
        answer = await self._ask("GET", f"{self.client.issuer}/.well-known/openid-configuration")
        found = self._decode(answer, OidcMetadata)
        if found.issuer.rstrip("/") != self.client.issuer:
            raise OidcFailed(
                "issuer",
                f"{self.client.name} describes itself as another issuer than the one that is set up here.",
            )
        self._metadata = (now_ms, found)
        return found

    async def start_url(
        self, now_ms: int, *, redirect_uri: str, state: str, nonce: str, verifier: str
    ) -> str:
        """Return the address at which a person signs in with the issuer. Raises `OidcFailed`."""
        metadata = await self.discover(now_ms)
        self._require_web(metadata.authorization_endpoint)
        query = {
            "response_type": "code",
            "client_id": self.client.client_id,
            "redirect_uri": redirect_uri,
            "scope": "openid email profile",
            "state": state,
            "nonce": nonce,
            "code_challenge": tokens.encode(hashlib.sha256(verifier.encode("ascii")).digest()),
            "code_challenge_method": "S256",
        }
        joint = "&" if urlsplit(metadata.authorization_endpoint).query else "?"
        return f"{metadata.authorization_endpoint}{joint}{urlencode(query)}"

    async def check_sender(self, iss: str | None, now_ms: int) -> None:
        """Check the `iss` of an authorization response (RFC 9207), against a mix-up of issuers. Raises
        `OidcFailed`."""
        metadata = await self.discover(now_ms)
        missing = iss is None and metadata.authorization_response_iss_parameter_supported
        if missing or (iss is not None and iss != metadata.issuer):
            raise OidcFailed("issuer", f"The answer does not come from {self.client.name}.")

    async def identify(
        self, code: str, now_ms: int, *, redirect_uri: str, nonce: str, verifier: str, claim: str
    ) -> dict[str, Any]:
        """Exchange the code and return the verified claims of the person. Claims that the ID token lacks
        are read from the userinfo endpoint: the e-mail address, and `claim`. Raises `OidcFailed`."""
        metadata = await self.discover(now_ms)
        answer = await self._exchange(metadata, code, redirect_uri, verifier)
        keys = self._decode(await self._ask("GET", metadata.jwks_uri), dict[str, Any]).get("keys")
        claims = verify_id_token(
            answer.id_token,
            keys if isinstance(keys, list) else [],
            issuer=metadata.issuer,
            client_id=self.client.client_id,
            nonce=nonce,
            now_ms=now_ms,
        )
        if all(name in claims for name in ("email", claim)):
            return claims
        return {**await self._read_userinfo(metadata, answer.access_token, claims["sub"]), **claims}

    async def _exchange(
        self, metadata: OidcMetadata, code: str, redirect_uri: str, verifier: str
    ) -> _TokenAnswer:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
            "client_id": self.client.client_id,
        }
        headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
        if self.client.client_secret is not None:
            if "client_secret_basic" in metadata.token_endpoint_auth_methods_supported:
                pair = f"{quote(self.client.client_id, safe='')}:{quote(self.client.client_secret, safe='')}"
                headers["authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
            else:
                form["client_secret"] = self.client.client_secret
        body = urlencode(form).encode()
        return self._decode(await self._ask("POST", metadata.token_endpoint, body, headers), _TokenAnswer)

    async def _read_userinfo(
        self, metadata: OidcMetadata, access_token: str | None, subject: str
    ) -> dict[str, Any]:
        if metadata.userinfo_endpoint is None or access_token is None:
            return {}
        headers = {"authorization": f"Bearer {access_token}", "accept": "application/json"}
        answer = await self._ask("GET", metadata.userinfo_endpoint, headers=headers)
        claims = self._decode(answer, dict[str, Any])
        if claims.get("sub") != subject:
            raise OidcFailed("token", f"{self.client.name} answers with claims about another person.")
        return claims

    async def _ask(
        self, method: str, url: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> bytes:
        """One request. A refusal of the token endpoint counts as refused, everything else as an outage."""
        from assent.net.addresses import FetchRefused, check
        from assent.net.outgoing import send_json

        name = self.client.name
        try:
            target = await check(url, allow_hosts=self._allow_hosts)
            answer = await send_json(
                method,
                target,
                body,
                headers=headers or {"accept": "application/json"},
                timeout_seconds=TIMEOUT_SECONDS,
                max_bytes=MAX_ANSWER_BYTES,
            )
        except FetchRefused as refused:
            raise OidcFailed("unreachable", f"{name} cannot be reached: {refused.text}") from None
        if method == "POST" and answer.status in (400, 401, 403):
            raise OidcFailed("refused", f"{name} does not accept this sign-in (HTTP {answer.status}).")
        if answer.status != 200:
            raise OidcFailed("unreachable", f"{name} answers with HTTP status {answer.status}.")
        return answer.body

    def _decode(self, body: bytes, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.DecodeError, RecursionError):
            text = f"{self.client.name} answers with something else than OpenID Connect."
            raise OidcFailed("misconfigured", text) from None

    def _require_tls(self) -> None:
        """Plain http is for this machine and for hosts that the operator allows."""
        from assent.net.addresses import is_allowed

        parts = urlsplit(self.client.issuer)
        host = parts.hostname or ""
        allowed = host in LOOPBACK or is_allowed(host, parts.port or 80, self.client.allow_hosts)
        if parts.scheme != "https" and not allowed:
            raise OidcFailed(
                "misconfigured", f"The address of {self.client.name} does not start with https://."
            )

    def _require_web(self, url: str) -> None:
        parts = urlsplit(url)
        local = parts.scheme == "http" and urlsplit(self.client.issuer).scheme == "http"
        if not parts.hostname or not (parts.scheme == "https" or local):
            raise OidcFailed("misconfigured", f"{self.client.name} names no sign-in page that can be opened.")


def verify_id_token(
    token: str, keys: list[Any], *, issuer: str, client_id: str, nonce: str, now_ms: int
) -> dict[str, Any]:
    """Return the claims of an ID token: signed by one of the keys (JWK), from the issuer, for this
    client, for this sign-in (nonce), at this time. Raises `OidcFailed`."""
    import jwt

    claims: dict[str, Any] | None = None
    for key, algorithm in match_keys(token, keys):
        try:
            claims = jwt.decode(
                token,
                jwt.PyJWK(key, algorithm),
                algorithms=[algorithm],
                audience=client_id,
                issuer=issuer,
                # Times are compared below, with the given one.
                options={
                    "require": ["iss", "sub", "aud", "exp", "iat"],
                    "verify_exp": False,
                    "verify_iat": False,
                    "verify_nbf": False,
                },
            )
            break
        except jwt.InvalidSignatureError:
            continue
        except jwt.InvalidAudienceError:
            raise OidcFailed("token", "The sign-in was made for another application.") from None
        except jwt.InvalidIssuerError:
            raise OidcFailed("issuer", "The sign-in comes from another issuer.") from None
        except jwt.PyJWTError:
            raise OidcFailed("token", "The sign-in cannot be read.") from None
    if claims is None:
        raise OidcFailed("token", "The sign-in is not signed with a key of the issuer.")
    _check_claims(claims, client_id, nonce, now_ms)
    return claims


def match_keys(token: str, keys: list[Any]) -> list[tuple[dict[str, Any], str]]:
    """The keys that may have signed the token, with the algorithm that its header names."""
    import jwt

    try:
        header = jwt.get_unverified_header(token)
    except jwt.PyJWTError:
        return []
    algorithm, named = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in SIGNING_KEYS:
        return []
    return [
        (key, algorithm)
        for key in keys[:MAX_KEYS]
        if isinstance(key, dict)
        and key.get("kty") == SIGNING_KEYS[algorithm]
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and (named is None or key.get("kid", named) == named)
    ]


def _check_claims(claims: dict[str, Any], client_id: str, nonce: str, now_ms: int) -> None:
    from hmac import compare_digest

    now = now_ms // 1000
    times = [claims["exp"], claims["iat"], claims.get("nbf", claims["iat"])]
    if not all(isinstance(each, int | float) and not isinstance(each, bool) for each in times):
        raise OidcFailed("token", "The sign-in cannot be read.")
    expires, *begins = times
    if expires <= now - LEEWAY_SECONDS or max(begins) > now + LEEWAY_SECONDS:
        raise OidcFailed("expired", "The sign-in is no longer valid, or not yet.")
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp", None if several else client_id) != client_id:
        raise OidcFailed("token", "The sign-in was made for another application.")
    if not isinstance(claims.get("nonce"), str) or not compare_digest(
        claims["nonce"].encode(), nonce.encode()
    ):
        raise OidcFailed("token", "The sign-in does not belong to this attempt.")
    if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= 255:
        raise OidcFailed("token", "The sign-in names no person.")
