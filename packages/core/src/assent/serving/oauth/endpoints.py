"""The authorization server: the page on which a person lets a client in, and what programs call.

The page is a screen of the console: the visitor is signed in, the form has a nonce of this browser, session, workspace
and request, the page cannot be framed and runs no script, and the yes is signed on the confirm page, once. The answer
leaves by a page of ours, because no form may lead to another site. A request that does not fit is shown and not
redirected: the author of the link could otherwise use this server to send people anywhere.

Programs read metadata (RFC 8414, RFC 9728), exchange codes and refresh tokens, revoke (RFC 7009) and register
(RFC 7591). None of that reads a cookie. Every answer about a grant that does not work is the same `invalid_grant`.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from assent.engine.actions import policies
from assent.engine.core import tenancy
from assent.engine.core.rate import Window
from assent.engine.core.services import Services
from assent.engine.core.tenancy import KEY_ID_BYTES, SCOPES, SECRET_BYTES, KeyEntropy, KeyIds, KeyOptions
from assent.engine.people import client_grants, proofs
from assent.engine.people.client_grants import SALT_BYTES, ClientTokens, RefreshToken, hash_text, read_token
from assent.gate.policy import suffices
from assent.gate.records import Assurance
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.limits import ACCESS_TOKEN_TTL_MS, HOUR_MS, REGISTRATIONS_PER_HOUR, SECOND_MS
from assent.kernel.refusals import Refusal
from assent.net.oidc import SIGNING_KEYS
from assent.ports import Row, StoreUnavailable
from assent.serving.edge import unavailable_refusal
from assent.serving.http import BodyTooLarge, client_address, read_body
from assent.serving.oauth import grammar
from assent.serving.oauth.clients import UNIQUE_BYTES, Clients, decode, register
from assent.serving.oauth.grammar import AuthorizationRequest, BadRequest, ClientMetadata, OAuthClient
from assent.serving.oauth.resource import MCP_ENDPOINTS, WELL_KNOWN, ProtectedResource
from assent.serving.web.settings.workspace import SCOPE_WORDS
from assent.serving.web.shell.console import LOOK_AND_SEND, Screen, Visit
from assent.serving.web.shell.page_site import PageRate
from assent.serving.web.shell.problems import Link, PageProblem, PageRefused

log = logging.getLogger("assent.oauth")

TEMPLATES: Final = Path(__file__).parent / "templates"
AUTHORIZE: Final = "/oauth/authorize"
TOKEN: Final = "/oauth/token"  # noqa: S105 - a path
REVOKE: Final = "/oauth/revoke"
REGISTER: Final = "/oauth/register"
MAX_BYTES: Final = 16_384
REGISTRATIONS: Final = Window("registrations", "this address", REGISTRATIONS_PER_HOUR, HOUR_MS)
NOT_STORED: Final = {"Cache-Control": "no-store", "Pragma": "no-cache"}

Endpoint = Callable[[Request], Awaitable[Response]]


class AuthorizationServer:
    """The authorization server of one address: its endpoints, and its page in the console."""

    def __init__(self, services: Services, resource: ProtectedResource, allow_hosts: tuple[str, ...]) -> None:
        self._services = services
        self.resource = resource
        self._clients = Clients(allow_hosts)
        self.screens = (Screen(AUTHORIZE, self._authorize, "keys", LOOK_AND_SEND, templates=TEMPLATES),)
        self._rate = PageRate(services, trust_proxy=resource.trust_proxy)
        self._base = resource.base_url
        self._exchange = {"authorization_code": self._redeem, "refresh_token": self._renew}

    def routes(self) -> list[Route]:
        posts = {TOKEN: self._issue, REVOKE: self._revoke, REGISTER: self._register}
        return [
            *(Route(f"{WELL_KNOWN}{path}", self._describe_resource) for path in ("", *MCP_ENDPOINTS)),
            Route("/.well-known/oauth-authorization-server", self._describe_server),
            *(Route(path, self._guard(endpoint), methods=["POST"]) for path, endpoint in posts.items()),
        ]

    async def _authorize(self, visit: Visit) -> Response:
        """Show who asks for what. On POST, give the client a code for what is left of it, or a no."""
        client, request = await self._read(visit)
        if visit.request.method != "POST":
            return await self._show(visit, client, request)
        form = await visit.form(_subject(visit))
        if "deny" in form:
            return self._leave(visit, client, request, error="access_denied")
        scopes = tuple(scope for scope in request.scopes if form.get(scope) == "on")
        is_test = form.get("test") == "on"
        facts = (
            ("Client", f"“{client.name}”, as it calls itself"),
            ("Published by", client.publisher or "no one: it registered itself"),
            ("It answers at", _name_place(request.redirect_uri)),
            ("Workspace", visit.place.name),
            ("It may", ", ".join(["read", *(SCOPE_WORDS[each] for each in scopes)])),
            *((("Only for tests", "nothing that it prepares is sent"),) if is_test else ()),
        )
        text = "It works in this workspace until you revoke it among the keys."
        await visit.confirm(form, "Let this client in?", text, "Let it in", facts)
        entropy = KeyEntropy(visit.services.entropy(KEY_ID_BYTES), visit.services.entropy(SECRET_BYTES))
        bound_to = {
            "asked": " ".join(request.scopes),
            "client_hash": hash_text(client.client_id),
            "jwks_uri": client.jwks_uri,
            "redirect_hash": hash_text(request.redirect_uri),
            "challenge": request.challenge,
        }
        key: KeyOptions = {
            "mode": "dev" if is_test else "live",
            "label": client.name,
            "scopes": scopes,
            "person_id": visit.person.person_id,
            "client": client.publisher or urlsplit(request.redirect_uri).hostname,
        }
        place, now_ms, by = visit.workspace_id, visit.now_ms, visit.person.label
        ids = await visit.write(lambda: client_grants.allow(place, entropy, now_ms, key, bound_to, by=by))
        code = RefreshToken(ids, 0, b"").sign(visit.services.keys.client_codes)
        return self._leave(visit, client, request, code=code)

    async def _read(self, visit: Visit) -> tuple[OAuthClient, AuthorizationRequest]:
        back, given = "", dict[str, str]()
        try:
            given = grammar.read_once(visit.request.query_params.multi_items())
            client_id, redirect_uri = given.get("client_id", ""), given.get("redirect_uri", "")
            ring, owned = visit.services.keys.client_ids, visit.services.owned
            client = await self._clients.find(client_id, ring, visit.now_ms, owned=owned)
            if not client.allows(redirect_uri):
                text = "The client wants the answer at an address that it did not publish."
                raise BadRequest("invalid_request", text)
            back = redirect_uri
            self.resource.check(given.get("resource"))
            return client, grammar.read_request(given, redirect_uri)
        except BadRequest as bad:
            url = grammar.answer_to(back, error=bad.error, state=given.get("state"), iss=self._base)
            link = Link(url, f"Go back to {_name_place(back)}") if back else None
            what, then = f"{bad.text} Nothing was allowed.", "Start again from the client."
            raise PageRefused(PageProblem(400, "This client cannot be let in", what, then, link)) from None

    async def _show(self, visit: Visit, client: OAuthClient, request: AuthorizationRequest) -> Response:
        policy = await visit.read(lambda: policies.find(visit.workspace_id))
        needs = (policy.low, policy.medium, policy.high)
        # Where people decide everything, a client has no use for that right.
        decides = any(need is not None and suffices(Assurance.AGENT, need.assurance) for need in needs)
        values: dict[str, Any] = {
            "client": client,
            "place_back": _name_place(request.redirect_uri),
            "is_here": grammar.is_loopback(request.redirect_uri),
            "rights": [
                (each, SCOPE_WORDS[each], decides or each != "actions:decide") for each in request.scopes
            ],
            "nonce": visit.nonce(_subject(visit)),
            "action": visit.here_with_query,
        }
        return visit.page("oauth_consent.html", values, scripts=False)

    def _leave(
        self, visit: Visit, client: OAuthClient, request: AuthorizationRequest, **answer: str
    ) -> Response:
        url = grammar.answer_to(request.redirect_uri, **answer, state=request.state, iss=self._base)
        values = {"url": url, "client": client, "place_back": _name_place(request.redirect_uri)}
        return visit.page("oauth_leaving.html", values, scripts=False)

    async def _describe_resource(self, request: Request) -> Response:
        return JSONResponse(self.resource.describe(request.scope), headers={"Vary": "Host"})

    async def _describe_server(self, request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self._base,
                "authorization_endpoint": self._base + AUTHORIZE,
                "token_endpoint": self._base + TOKEN,
                "revocation_endpoint": self._base + REVOKE,
                "registration_endpoint": self._base + REGISTER,
                "scopes_supported": SCOPES,
                "response_types_supported": ["code"],
                "response_modes_supported": ["query"],
                "grant_types_supported": list(self._exchange),
                "token_endpoint_auth_methods_supported": grammar.CLIENT_AUTHENTICATION,
                "token_endpoint_auth_signing_alg_values_supported": [*SIGNING_KEYS],
                "revocation_endpoint_auth_methods_supported": grammar.CLIENT_AUTHENTICATION,
                "revocation_endpoint_auth_signing_alg_values_supported": [*SIGNING_KEYS],
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
        form = await _read_form(request, "grant_type", "client_id")
        self.resource.check(form.get("resource"))
        if form["grant_type"] not in self._exchange:
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
        grammar.require(form, "code", "code_verifier")
        code = read_token(self._services.keys.client_codes, form["code"])
        challenge = grammar.make_challenge(form["code_verifier"])
        if code is None or challenge is None:
            return None
        await self._check_client(form, code.ids)
        client_hash = hash_text(form["client_id"])
        redirect_hash = hash_text(form["redirect_uri"]) if "redirect_uri" in form else None
        secret, now_ms = self._services.entropy(SECRET_BYTES), self._services.clock.now_ms()
        return await self._services.store.write(
            lambda: client_grants.redeem(code, client_hash, redirect_hash, challenge, secret, now_ms)
        )

    async def _renew(self, form: dict[str, str]) -> ClientTokens | None:
        grammar.require(form, "refresh_token")
        given = read_token(self._services.keys.client_renewals, form["refresh_token"])
        found = await self._check_client(form, given.ids) if given is not None else None
        if given is None or found is None:
            return None
        granted = tuple(found["scopes"].split())
        scopes = grammar.read_scopes(form["scope"]) if "scope" in form else granted
        if not set(scopes) <= set(granted):
            raise BadRequest("invalid_scope", "A refresh token gives no more than what was allowed.")
        client_hash, salt = hash_text(form["client_id"]), self._services.entropy(SALT_BYTES)
        now_ms = self._services.clock.now_ms()
        return await self._services.store.write(
            lambda: client_grants.renew(given, client_hash, scopes, salt, now_ms)
        )

    async def _revoke(self, request: Request) -> Response:
        """End the grant of a token of this client. An unknown token, and a key that no client got, changes nothing."""
        form, now_ms = await _read_form(request, "token", "client_id"), self._services.clock.now_ms()
        renewal = read_token(self._services.keys.client_renewals, form["token"])
        ids = renewal.ids if renewal is not None else await self._find_ids(form["token"], now_ms)
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
        """Return the grant that a request is about. Refuses one that is not signed if its client signs requests."""
        found = await self._services.store.read(lambda: client_grants.find(ids))
        if found is None or not found["jwks_uri"] or found["client_hash"] != hash_text(form["client_id"]):
            return found
        owned = self._services.for_workspace(ids.workspace_id).owned
        audiences, now_ms = [self._base, self._base + TOKEN], self._services.clock.now_ms()
        signed = await self._clients.check_signature(form, found["jwks_uri"], audiences, now_ms, owned=owned)
        if not await self._services.store.write(lambda: proofs.use_nonce(*signed)):
            raise BadRequest("invalid_client", "The client sent the same signature before.", 401)
        return found

    async def _register(self, request: Request) -> Response:
        now_ms = self._services.clock.now_ms()
        who = f"client {client_address(request.scope, trust_proxy=self.resource.trust_proxy)}"
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


def _subject(visit: Visit) -> str:
    asked = hashlib.sha256(visit.request.scope["query_string"]).hexdigest()
    return visit.here(f"let a client in {asked}")


def _name_place(redirect_uri: str) -> str:
    host = urlsplit(redirect_uri).netloc
    return f"{host}, on this computer" if grammar.is_loopback(redirect_uri) else host


def _refuse(bad: BadRequest, headers: dict[str, str] | None = None) -> Response:
    answer = {"error": bad.error, "error_description": bad.text}
    return JSONResponse(answer, bad.status, {**NOT_STORED, **(headers or {})})


async def _read_body(request: Request) -> bytes:
    try:
        return await read_body(request.scope, request.receive, MAX_BYTES)
    except BodyTooLarge:
        raise BadRequest("invalid_request", f"The body is over {MAX_BYTES} bytes.", 413) from None


async def _read_form(request: Request, *required: str) -> dict[str, str]:
    body = await _read_body(request)
    try:
        form = grammar.read_once(parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict"))
    except ValueError:
        raise BadRequest("invalid_request", "The body has to be a form of ASCII characters.") from None
    grammar.require(form, *required)
    return form
