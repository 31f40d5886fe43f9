"""What programs call: metadata (RFC 8414, RFC 9728), token, revocation (RFC 7009) and registration (RFC 7591).

Nothing here reads a cookie. Every answer about a grant that does not work is the same `invalid_grant`.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from assent.engine.core import tenancy
from assent.engine.core.rate import Window
from assent.engine.core.services import Services
from assent.engine.core.tenancy import SCOPES, SECRET_BYTES, KeyIds
from assent.engine.people import client_grants, proofs
from assent.engine.people.client_grants import SALT_BYTES, ClientTokens, hash_text, read_token
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.limits import ACCESS_TOKEN_TTL_MS, HOUR_MS, REGISTRATIONS_PER_HOUR, SECOND_MS
from assent.kernel.refusals import Refusal
from assent.ports import Row, StoreUnavailable
from assent.serving.edge import unavailable_refusal
from assent.serving.http import BodyTooLarge, client_address, read_body
from assent.serving.oauth import grammar
from assent.serving.oauth.assertions import ALGORITHMS, read_assertion
from assent.serving.oauth.clients import UNIQUE_BYTES, Clients, decode, register
from assent.serving.oauth.consent import PATH, ConsentPage
from assent.serving.oauth.grammar import MCP_ENDPOINTS, SIGNED, BadRequest, ClientKeys, ClientMetadata
from assent.serving.oauth.resource import WELL_KNOWN, ProtectedResource
from assent.serving.web.shell.page_site import PageRate

log = logging.getLogger("assent.oauth")

TOKEN: Final = "/oauth/token"  # noqa: S105 - a path
REVOKE: Final = "/oauth/revoke"
REGISTER: Final = "/oauth/register"
MAX_BYTES: Final = 16_384
REGISTRATIONS: Final = Window("registrations", "this address", REGISTRATIONS_PER_HOUR, HOUR_MS)
NOT_STORED: Final = {"Cache-Control": "no-store", "Pragma": "no-cache"}

Endpoint = Callable[[Request], Awaitable[Response]]


class AuthorizationServer:
    """The authorization server of one address: its endpoints, and its page in the console."""

    def __init__(
        self,
        services: Services,
        resource: ProtectedResource,
        *,
        trust_proxy: bool,
        allow_hosts: tuple[str, ...],
    ) -> None:
        """`allow_hosts` are private hosts from which documents of clients may come, in the owner's workspaces."""
        self._services = services
        self.resource = resource
        self._clients = Clients(allow_hosts)
        self.screens = ConsentPage(self._clients, resource.base_url).screens
        self._trust_proxy = trust_proxy
        self._rate = PageRate(services, trust_proxy=trust_proxy)
        self._base = resource.base_url
        self._resources = grammar.list_resources(resource.base_url)
        self._exchange = {"authorization_code": self._redeem, "refresh_token": self._renew}

    def routes(self) -> list[Route]:
        posts = {TOKEN: self._issue, REVOKE: self._revoke, REGISTER: self._register}
        return [
            *(Route(f"{WELL_KNOWN}{path}", self._describe_resource) for path in ("", *MCP_ENDPOINTS)),
            Route("/.well-known/oauth-authorization-server", self._describe_server),
            *(Route(path, self._guard(endpoint), methods=["POST"]) for path, endpoint in posts.items()),
        ]

    async def _describe_resource(self, request: Request) -> Response:
        return JSONResponse(self.resource.describe(request.scope), headers={"Vary": "Host"})

    async def _describe_server(self, request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self._base,
                "authorization_endpoint": self._base + PATH,
                "token_endpoint": self._base + TOKEN,
                "revocation_endpoint": self._base + REVOKE,
                "registration_endpoint": self._base + REGISTER,
                "scopes_supported": SCOPES,
                "response_types_supported": ["code"],
                "response_modes_supported": ["query"],
                "grant_types_supported": list(self._exchange),
                "token_endpoint_auth_methods_supported": ["none", SIGNED],
                "token_endpoint_auth_signing_alg_values_supported": ALGORITHMS,
                "revocation_endpoint_auth_methods_supported": ["none", SIGNED],
                "revocation_endpoint_auth_signing_alg_values_supported": ALGORITHMS,
                "code_challenge_methods_supported": ["S256"],
                "client_id_metadata_document_supported": True,
                "authorization_response_iss_parameter_supported": True,
            }
        )

    def _guard(self, endpoint: Endpoint) -> Endpoint:
        async def answer(request: Request) -> Response:
            try:
                await self._rate.count_stranger(request.scope)
                await self._services.store.open()  # the keys are those of the store
                return await endpoint(request)
            except BadRequest as bad:
                return _refuse(bad)
            except Refusal as refused:
                refusal = refused
            except StoreUnavailable as unavailable:
                log.error("store unavailable: %s", unavailable)
                refusal = unavailable_refusal()
            later = BadRequest("temporarily_unavailable", "Try again later.", refusal.http_status)
            return _refuse(later, {"Retry-After": str(refusal.retry_after_seconds or 1)})

        return answer

    async def _issue(self, request: Request) -> Response:
        form = await _read_form(request)
        grammar.check_resource(form.get("resource"), self._resources)
        if form.get("grant_type") not in self._exchange:
            raise BadRequest("unsupported_grant_type", f"Grant types are {' and '.join(self._exchange)}.")
        issued = await self._exchange[form["grant_type"]](form)
        if issued is None:
            raise BadRequest("invalid_grant", "It was used, revoked, has ended, or is for another request.")
        answer = {
            "access_token": issued.access_token,
            "token_type": "Bearer",
            "expires_in": ACCESS_TOKEN_TTL_MS // SECOND_MS,
            "refresh_token": issued.refresh_token.sign(self._services.keys.client_renewals),
            "scope": " ".join(issued.scopes),
        }
        return JSONResponse(answer, headers=NOT_STORED)

    async def _redeem(self, form: dict[str, str]) -> ClientTokens | None:
        services = self._services
        code = read_token(services.keys.client_codes, form.get("code", ""))
        challenge = grammar.make_challenge(form.get("code_verifier", ""))
        if code is None or challenge is None:
            return None
        await self._check_client(form, code.ids)
        client_hash = hash_text(form["client_id"])
        redirect_hash = hash_text(form["redirect_uri"]) if "redirect_uri" in form else None
        secret, salt = services.entropy(SECRET_BYTES), services.entropy(SALT_BYTES)
        now_ms = services.clock.now_ms()
        return await services.store.write(
            lambda: client_grants.redeem(
                code, client_hash, redirect_hash, challenge, secret=secret, salt=salt, now_ms=now_ms
            )
        )

    async def _renew(self, form: dict[str, str]) -> ClientTokens | None:
        given = read_token(self._services.keys.client_renewals, form.get("refresh_token", ""))
        found = await self._check_client(form, given.ids) if given is not None else None
        if given is None or found is None:
            return None
        granted = tuple(found["scopes"].split())
        scopes = grammar.read_scopes(form["scope"]) if form.get("scope") else granted
        if not set(scopes) <= set(granted):
            raise BadRequest("invalid_scope", "A refresh token gives no more than what was allowed.")
        client_hash, salt = hash_text(form["client_id"]), self._services.entropy(SALT_BYTES)
        now_ms = self._services.clock.now_ms()
        return await self._services.store.write(
            lambda: client_grants.renew(given, client_hash, scopes, salt, now_ms)
        )

    async def _revoke(self, request: Request) -> Response:
        """End the grant of a token of this client. An unknown token, and a key that no client got, changes nothing."""
        form = await _read_form(request)
        token, now_ms = form.get("token", ""), self._services.clock.now_ms()
        renewal = read_token(self._services.keys.client_renewals, token)
        ids = renewal.ids if renewal is not None else await self._find_ids(token, now_ms)
        found = await self._check_client(form, ids) if ids is not None else None
        if ids is not None and found is not None and found["client_hash"] == hash_text(form["client_id"]):
            workspace_id, key_id = ids.workspace_id, ids.key_id
            await self._services.store.write(
                lambda: tenancy.revoke_key(workspace_id, key_id, now_ms, by=client_grants.BY_CLIENT)
            )
        return Response(status_code=200, headers=NOT_STORED)

    async def _find_ids(self, access_token: str, now_ms: int) -> KeyIds | None:
        try:
            await self._services.store.read(lambda: tenancy.authenticate(access_token, now_ms))
        except Refusal:
            return None
        return tenancy.parse_key(access_token)

    async def _check_client(self, form: dict[str, str], ids: KeyIds) -> Row | None:
        """Return the grant that a request is about. Refuses a request without the client's id, and one that is not
        signed if its client signs its requests."""
        if not (client_id := form.get("client_id")):
            raise BadRequest("invalid_request", "The client_id is missing.")
        found = await self._services.store.read(lambda: client_grants.find(ids))
        if found is None or not found["jwks_uri"] or found["client_hash"] != hash_text(client_id):
            return found
        owned = self._services.for_workspace(ids.workspace_id).owned
        keys = (await self._clients.fetch(found["jwks_uri"], ClientKeys, owned=owned)).keys
        audiences, now_ms = [self._base, self._base + TOKEN], self._services.clock.now_ms()
        nonce, ends_ms = read_assertion(form, keys, client_id, audiences, now_ms)
        if not await self._services.store.write(lambda: proofs.use_nonce(nonce, ends_ms)):
            raise BadRequest("invalid_client", "The client sent the same signature before.", 401)
        return found

    async def _register(self, request: Request) -> Response:
        now_ms = self._services.clock.now_ms()
        who = f"client {client_address(request.scope, trust_proxy=self._trust_proxy)}"
        limiter = self._services.limits.page_limiter
        await limiter.count(REGISTRATIONS, SYSTEM_WORKSPACE, who, now_ms)
        metadata = decode(await _read_body(request), ClientMetadata, "invalid_client_metadata")
        client = register(metadata, self._services.keys.client_ids, self._services.entropy(UNIQUE_BYTES))
        answer = {
            "client_id": client.client_id,
            "client_id_issued_at": now_ms // SECOND_MS,
            "client_name": client.name,
            "redirect_uris": client.redirect_uris,
            "grant_types": list(self._exchange),
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }
        return JSONResponse(answer, 201, NOT_STORED)


def _refuse(bad: BadRequest, headers: dict[str, str] | None = None) -> Response:
    answer = {"error": bad.error, "error_description": bad.text}
    return JSONResponse(answer, bad.status, {**NOT_STORED, **(headers or {})})


async def _read_body(request: Request) -> bytes:
    try:
        return await read_body(request.scope, request.receive, MAX_BYTES)
    except BodyTooLarge:
        raise BadRequest("invalid_request", f"The body is over {MAX_BYTES} bytes.", 413) from None


async def _read_form(request: Request) -> dict[str, str]:
    body = await _read_body(request)
    try:
        return grammar.read_once(parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict"))
    except ValueError:
        raise BadRequest("invalid_request", "The body has to be a form of ASCII characters.") from None
