"""OAuth 2 consent with PKCE: the redirect to the provider and its callback.

The start is a form, because it stores the state. Our content security policy forbids redirects of a
form to other sites, so the answer is a page of ours that redirects. At the callback the state must
belong to the signed-in person and to this provider, must be a few minutes old at most, and works
once. The callback redirects at once, so that the code leaves the address bar.
"""

from __future__ import annotations

import logging
from typing import Final

from starlette.responses import Response

from assent.engine.connections import grants, oauth
from assent.engine.connections.grants import GrantEnded, GrantFailed, OAuthProvider, OAuthTokens
from assent.engine.connections.oauth import ACCESS, REFRESH, OAuthAccess, expiry
from assent.gate.connection import Account, ConnectionState, NewConnection, OpenedSecrets
from assent.kernel.ids import WorkspaceId
from assent.ports import Identifying, NotSent, OutcomeUnknown
from assent.serving.web.connections.provider import (
    UNKNOWN_PROVIDER,
    ProviderView,
    address,
    confirm,
    find_provider,
    open_form,
)
from assent.serving.web.shell.console import LOOK, SEND, Screen, Visit
from assent.serving.web.shell.problems import Link, PageProblem, PageRefused
from assent.use_cases.connections import connect

log = logging.getLogger("assent.connect")

ASK_SECONDS: Final = 10.0
"""Timeout for the question which account a grant is for."""


async def consent(visit: Visit) -> Response:
    """Store the OAuth state and send the browser to the provider."""
    visit, at, form = await open_form(visit)
    access = _access(at.access)
    base = _base(visit)
    # The browser's own value: a proxy in front of this server may have changed the Host.
    if visit.request.headers.get("origin", base) not in (base, "null"):
        raise PageRefused(_elsewhere(base, address(visit, at.id)))
    text = f"You go to {access.provider.grantor.label} and allow it there. This workspace may use it then."
    await confirm(visit, at, form, "Connect", text)
    state = oauth.make_state(visit.services.keys.oauth_verifiers, visit.services.entropy(oauth.STATE_BYTES))
    await visit.write(
        lambda: oauth.ask(
            state, visit.workspace_id, at.id, visit.session.session_id, visit.person.person_id, visit.now_ms
        )
    )
    url = grants.consent_url(
        access.provider,
        redirect_uri=_callback(base, at.id),
        state=state,
        verifier=oauth.verifier(visit.services.keys.oauth_verifiers, state),
    )
    values = {"url": url, "label": at.info.label, "grantor": access.provider.grantor.label}
    return visit.page("connect_leaving.html", values, scripts=False)


async def callback(visit: Visit) -> Response:
    """Check the state, exchange the code for tokens and store them."""
    at = await find_provider(visit, visit.part("provider"))
    access, label = _access(at.access), at.info.label
    if visit.request.method != "GET":
        return Response(status_code=405)
    state, code, error = visit.query("state"), visit.query("code"), visit.query("error")
    person, session = visit.person.person_id, visit.session.session_id
    asked = await visit.write(lambda: oauth.redeem(state, at.id, session, person, visit.now_ms))
    if asked is None or not any(place.workspace_id == asked for place in visit.places):
        raise _fail("not_requested", at.id, label)
    if error or not code:
        log.info("%s was not consented to", at.id)
        raise _fail("declined", at.id, label)
    granted = await _exchange(visit, access.provider, label, state, code)
    account = await _identify(at, granted)
    kept = NewConnection(
        label=label if account is None else account.name,
        secrets=OpenedSecrets({ACCESS: granted.access_token, REFRESH: granted.refresh_token or ""}),
        accounts=(account,) if account is not None else (),
        scopes=granted.scopes,
        settings=await _settings_kept(visit, at.id, asked),
        expires_ms=expiry(granted.expires_in, visit.now_ms),
    )
    await connect(visit.services.connections, asked, at.id, kept, by=visit.person.label)
    return visit.go(f"/connect/{at.id}?workspace={asked}&did=connected")


async def _exchange(visit: Visit, provider: OAuthProvider, label: str, state: str, code: str) -> OAuthTokens:
    """Refuses tokens that lack a needed scope or a refresh token."""
    try:
        granted = await grants.exchange_code(
            provider,
            code,
            redirect_uri=_callback(_base(visit), provider.id),
            verifier=oauth.verifier(visit.services.keys.oauth_verifiers, state),
        )
    except (GrantEnded, GrantFailed) as failed:
        log.warning("%s gave no tokens: %s", provider.id, failed)
        raise _fail("not_exchanged", provider.id, label, why=str(failed)) from None
    if provider.needed - set(granted.scopes):
        raise _fail("too_little", provider.id, label)
    if granted.refresh_token is None:
        log.warning("%s gave no refresh token", provider.id)
        raise _fail("no_refresh_token", provider.id, label, permissions=provider.grantor.permissions)
    return granted


async def _identify(at: ProviderView, granted: OAuthTokens) -> Account | None:
    """Return the account of a grant: the connector names it, or the token answer does."""
    label = at.info.label
    try:
        found = (
            await at.connector.identify(granted.access_token, ASK_SECONDS)
            if isinstance(at.connector, Identifying)
            else None
        )
    except (NotSent, OutcomeUnknown) as failed:
        raise _fail("not_exchanged", at.id, label, why=str(failed)) from None
    if found is not None or granted.account is None:
        return found
    return Account(granted.account, at.id, f"{label} account {granted.account}", default=True)


async def _settings_kept(visit: Visit, provider: str, workspace_id: WorkspaceId) -> dict[str, str]:
    """Settings that a renewed connection keeps. A disconnect deletes them."""
    before = await visit.services.connections.find(workspace_id, provider)
    if before is None or before.state is ConnectionState.REVOKED:
        return {}
    return dict(before.settings)


def _access(access: OAuthAccess | None) -> OAuthAccess:
    if access is None:
        raise PageRefused(UNKNOWN_PROVIDER)
    if not access.provider.configured:
        raise PageRefused(
            PageProblem(
                503,
                f"{access.label} is not set up on this server",
                (
                    f"{access.provider.grantor.label} does not know this server "
                    "yet, so it cannot ask you for consent."
                ),
                access.provider.what_to_set,
                _back_to(access.provider.id, access.label),
            )
        )
    return access


def _base(visit: Visit) -> str:
    return visit.services.links.page_address() or str(visit.request.base_url).rstrip("/")


def _callback(base: str, provider: str) -> str:
    return f"{base}/connect/{provider}/callback"


PROBLEMS: Final[dict[str, tuple[int, str, str, str]]] = {
    "not_requested": (
        400,
        "This consent was not requested from this browser",
        "{label} sent your browser here, but this browser has no open request for that consent: it was started "
        "elsewhere, was already answered, or is older than ten minutes. Nothing was connected.",
        "Start again from the connect page, in this browser, and answer within ten minutes.",
    ),
    "declined": (
        403,
        "{label} was not connected",
        "Access was not granted: you declined, or {label} blocked the request. Nothing changed.",
        "If that was not what you wanted, start again and press the button that allows access.",
    ),
    "no_refresh_token": (
        502,
        "{label} gave access for an hour only",
        "It sent no refresh token, which happens when this app was allowed before. Nothing was stored, because the "
        "connection would end after an hour.",
        "Remove this app’s access ({permissions}), then start again.",
    ),
    "too_little": (
        403,
        "{label} was not connected",
        "You consented, but not to everything that is needed: a box was left unticked. Nothing was kept.",
        "Start again and leave every box ticked; each is explained on the connect page.",
    ),
    "not_exchanged": (
        502,
        "{label} did not finish connecting",
        "You consented, but the last step between this server and {label} failed: {why}. Nothing was kept.",
        "Start again. If it fails again, the person who runs this server checks the client id, its secret and the "
        "callback address that are registered.",
    ),
}
"""Status, title, cause and next step of each failure."""


def _fail(problem: str, provider: str, label: str, **facts: str) -> PageRefused:
    status, *texts = PROBLEMS[problem]
    title, what, then = (text.format(label=label, **facts) for text in texts)
    return PageRefused(PageProblem(status, title, what, then, _back_to(provider, label)))


def _back_to(provider: str, label: str) -> Link:
    return Link(f"/connect/{provider}", f"Back to {label}")


def _elsewhere(base: str, where: str) -> PageProblem:
    return PageProblem(
        400,
        "Open this page at its own address",
        (
            f"You reach this server by another address than {base}, which is the one the provider "
            "sends you back to: you would not be signed in there."
        ),
        "Sign in there, and connect from there.",
        Link(f"{base}{where}", "Open it there"),
    )


SCREENS: Final = (
    Screen("/connect/{provider}/consent", consent, "connectors", SEND),
    Screen("/connect/{provider}/callback", callback, "connectors", LOOK),
)
