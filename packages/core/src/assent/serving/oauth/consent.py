"""The page on which a person lets a client in: `/oauth/authorize`.

A screen of the console: the visitor is signed in, the form has a nonce of this browser, session, workspace and request,
the page cannot be framed and runs no script, and the yes is signed on the confirm page, once. The answer leaves by a
page of ours, because no form may lead to another site. A request that does not fit is shown and sent nowhere: whoever
made the link could otherwise use this server to send people anywhere.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.responses import Response

from assent.engine.actions import policies
from assent.engine.core.tenancy import KEY_ID_BYTES, SECRET_BYTES, KeyEntropy, KeyOptions
from assent.engine.people import client_grants
from assent.engine.people.client_grants import RefreshToken, hash_text
from assent.gate.policy import Policy, suffices
from assent.gate.records import Assurance
from assent.serving.oauth import grammar
from assent.serving.oauth.clients import Clients
from assent.serving.oauth.grammar import AuthorizationRequest, BadRequest, OAuthClient, is_loopback
from assent.serving.web.settings.workspace import SCOPE_WORDS
from assent.serving.web.shell.console import LOOK_AND_SEND, Screen, Visit
from assent.serving.web.shell.problems import Link, PageProblem, PageRefused

PATH: Final = "/oauth/authorize"
TEMPLATES: Final = Path(__file__).parent / "templates"
DECIDE: Final = "actions:decide"


class ConsentPage:
    """Asks a person what a client may do."""

    def __init__(self, clients: Clients, base_url: str) -> None:
        self._clients = clients
        self._issuer = base_url.rstrip("/")
        self._resources = grammar.list_resources(base_url)
        self.screens = (Screen(PATH, self.authorize, "settings", LOOK_AND_SEND, templates=TEMPLATES),)

    async def authorize(self, visit: Visit) -> Response:
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
        by, asked = visit.person.label, request.scopes
        ids = await visit.write(
            lambda: client_grants.allow(
                visit.workspace_id, entropy, visit.now_ms, asked, bound_to, key, by=by
            )
        )
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
            return client, grammar.read_request(given, redirect_uri, self._resources)
        except BadRequest as bad:
            url = grammar.answer_to(back, error=bad.error, state=given.get("state"), iss=self._issuer)
            link = Link(url, f"Go back to {_name_place(back)}") if back else None
            what, then = f"{bad.text} Nothing was allowed.", "Start again from the client."
            raise PageRefused(PageProblem(400, "This client cannot be let in", what, then, link)) from None

    async def _show(self, visit: Visit, client: OAuthClient, request: AuthorizationRequest) -> Response:
        policy = await visit.read(lambda: policies.find(visit.workspace_id))
        values: dict[str, Any] = {
            "client": client,
            "place_back": _name_place(request.redirect_uri),
            "is_here": is_loopback(request.redirect_uri),
            "rights": [(each, SCOPE_WORDS[each], _is_usual(each, policy)) for each in request.scopes],
            "nonce": visit.nonce(_subject(visit)),
            "action": visit.here_with_query,
        }
        return visit.page("oauth_consent.html", values, scripts=False)

    def _leave(
        self, visit: Visit, client: OAuthClient, request: AuthorizationRequest, **answer: str
    ) -> Response:
        url = grammar.answer_to(request.redirect_uri, **answer, state=request.state, iss=self._issuer)
        values = {"url": url, "client": client, "place_back": _name_place(request.redirect_uri)}
        return visit.page("oauth_leaving.html", values, scripts=False)


def _subject(visit: Visit) -> str:
    asked = hashlib.sha256(visit.request.scope["query_string"]).hexdigest()
    return visit.here(f"let a client in {asked}")


def _name_place(redirect_uri: str) -> str:
    host = urlsplit(redirect_uri).netloc
    return f"{host}, on this computer" if is_loopback(redirect_uri) else host


def _is_usual(scope: str, policy: Policy) -> bool:
    """Whether a right is of use in a workspace with this policy: where people decide everything, a client does not."""
    needs = (policy.low, policy.medium, policy.high)
    decides = any(need is not None and suffices(Assurance.AGENT, need.assurance) for need in needs)
    return scope != DECIDE or decides
