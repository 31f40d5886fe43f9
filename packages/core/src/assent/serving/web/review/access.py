"""Access to a run (S0 §4, C3, C24, C25): by its signed review link, or by a signed-in session.

A link is verified before anything is read. A missing link is 401; every invalid one gets the same
403. A valid link is exchanged for a cookie, so that the token leaves the address bar, the history
and the referrer. The cookie is signed with a different key than the link, is valid for that run
only and expires with the link.

The transaction that reads or decides checks access again, so that a link or session that was just
revoked no longer works.
"""

from __future__ import annotations

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from assent.engine.actions import actions
from assent.engine.people import members, people
from assent.engine.people.origins import count_cookie
from assent.engine.people.people import Session
from assent.engine.people.proofs import FormProof
from assent.engine.views import review
from assent.gate import review_link
from assent.gate.gate import Decider
from assent.gate.names import name_by_link
from assent.gate.records import Assurance, Run
from assent.gate.review_link import ReviewClaims
from assent.kernel.ids import RunId, is_uuid
from assent.kernel.structs import Record
from assent.kernel.tokens import TokenInvalid
from assent.ports import Transaction
from assent.serving.web.people.people import HOW_TO_SIGN_IN, Cookies, PageKeys, ask_to_sign_in
from assent.serving.web.shell.headers import see_other
from assent.serving.web.shell.problems import Link, PageProblem, PageRefused

VIA: Final = "review page"

MOST_REVIEW_COOKIES: Final = 20
"""Limit of review cookies per browser on https, where every request carries all of them."""

NO_LINK: Final = PageProblem(
    401,
    "Sign in to open this page",
    "It is for people who sign in on this server, and for those who hold its review link.",
    "Sign in, and you come back here. If your agent gave you a review link, open that instead.",
    HOW_TO_SIGN_IN,
)
BAD_LINK: Final = PageProblem(
    403,
    "This review link does not work",
    "It has expired, was ended, belongs to another run, or is not complete. Nothing was changed, and nothing goes out "
    "without an approval.",
    "Ask your agent for a fresh review link: “Show me what waits for my approval.” If the link came in a message, "
    "check that all of it was copied. If you run this server, you can sign in instead.",
    HOW_TO_SIGN_IN,
)
NO_SUCH_RUN: Final = PageProblem(
    404,
    "There is no such run",
    "It may have been mistyped or removed.",
    "Look at what waits for you instead.",
    Link("/inbox", "Open the inbox"),
)


class Viewer(Record):
    """A person who may view a run: signed in, or holding its link."""

    run: Run
    session: Session | None
    scope: review_link.Scope = review_link.REVIEW
    """The scope of the link. It does not bind a signed-in person."""
    assurance: Assurance = Assurance.LINK
    """What this request counts for: the link, the cookie, or what was signed."""

    @property
    def reach(self) -> Assurance:
        """What this person can come to by confirming."""
        can_confirm = self.session is not None and self.session.is_confirmed
        return Assurance.PASSKEY if can_confirm else self.assurance

    @property
    def approver(self) -> str:
        """The approver key of the signed-in person; empty for the holder of a link."""
        return self.decider("").approver if self.session is not None else ""

    def decider(self, claimed_name: str, shown_ms: int | None = None) -> Decider:
        """The signed-in person, or the link's holder under the given name."""
        workspace_id = self.run.workspace_id
        if self.session is None or not self.session.is_confirmed:
            by = name_by_link(claimed_name if self.session is None else self.session.person.name)
            return Decider(workspace_id, by, self.assurance, VIA, shown_ms=shown_ms)
        person = self.session.person
        return Decider(workspace_id, person.label, self.assurance, VIA, person.person_id, shown_ms, self.role)

    @property
    def role(self) -> str:
        """The role of a person who surely is one; empty for others."""
        sure = self.session is not None and self.session.is_confirmed
        return self.session.person.role.value if sure and self.session is not None else ""


class PresentedAccess(Record):
    """Credentials that are not yet compared with the store."""

    run_id: str
    base_url: str
    session_secret: str | None
    claims: ReviewClaims | None
    bad_cookie: bool = False
    proof: FormProof | None = None
    """A verified signature over the form, which the decision uses up."""


class ReviewAccess:
    def __init__(self, keys: PageKeys, cookies: Cookies) -> None:
        self._links = keys.review_links
        self._signed = keys.review_cookies
        self._cookies = cookies

    def link(self, request: Request, run_id: str, now_ms: int) -> ReviewClaims | None:
        """Return the claims of the URL's link, or None. An invalid link gets 403 (E41)."""
        given = request.query_params.getlist("token")
        if not given:
            return None
        try:
            return review_link.read_token(self._links, given[0] if len(given) == 1 else "", run_id, now_ms)
        except TokenInvalid:
            raise PageRefused(BAD_LINK) from None

    def swap(self, request: Request, claims: ReviewClaims, now_ms: int) -> Response:
        """Redirect to the URL without the token, and set the cookie."""
        path = f"/runs/{claims.run_id}"
        response = see_other(path)
        value = self._signed.sign(msgspec.json.encode(claims))
        seconds = claims.exp - now_ms // 1000
        self._cookies.keep(response, self._cookie(claims.run_id), value, seconds, path)
        for surplus in self._kept(request)[MOST_REVIEW_COOKIES - 1 :]:
            self._cookies.forget(response, surplus)
        return response

    def shown(self, request: Request, run_id: str, now_ms: int) -> PresentedAccess:
        value = request.cookies.get(self._cookie(run_id))
        secret = request.cookies.get(self._cookies.session)
        if value is None:
            return PresentedAccess(run_id, self._cookies.base_url, secret, None)
        try:
            claims = review_link.read_token(self._signed, value, run_id, now_ms)
            return PresentedAccess(run_id, self._cookies.base_url, secret, claims)
        except TokenInvalid:
            return PresentedAccess(run_id, self._cookies.base_url, secret, None, bad_cookie=True)

    def _cookie(self, run_id: str) -> str:
        return self._cookies.named(
            f"assent-run-{run_id.replace('-', '')}" if is_uuid(run_id) else "assent-run"
        )

    def _kept(self, request: Request) -> list[str]:
        return [name for name in request.cookies if name.startswith(self._cookies.named("assent-run-"))]


def lead_back(refused: PageRefused, request: Request) -> PageRefused:
    """The same refusal; for want of a sign-in, with a link that leads back to this page after it."""
    if refused.problem is not NO_LINK:
        return refused
    return PageRefused(msgspec.structs.replace(NO_LINK, link=ask_to_sign_in(request).link))


def find_run(claims: ReviewClaims) -> Transaction[Run]:
    """The run of a link, unless its links were ended."""
    run = yield from actions.find_run(claims.workspace_id, claims.run_id)
    if run is None or review_link.ends_early(claims, run.links_from_ms):
        raise PageRefused(BAD_LINK)
    return run


def admit(shown: PresentedAccess, now_ms: int) -> Transaction[Viewer]:
    """Refuses invalid credentials. A session precedes a link."""
    session = None
    if shown.session_secret is not None:
        session = yield from people.authenticate(shown.session_secret, now_ms)
    if session is not None:
        run = None
        if is_uuid(shown.run_id):
            run = yield from review.find_anywhere(RunId(shown.run_id))
        if run is None or not (yield from members.may_see(session.person, run.workspace_id)):
            raise PageRefused(NO_SUCH_RUN)
        counts = count_cookie(shown.base_url, session.assurance)
        proof = shown.proof
        if proof is not None and proof.session_id == session.session_id:
            counts = proof.assurance
        return Viewer(run, session, assurance=counts)
    if shown.claims is None:
        raise PageRefused(BAD_LINK if shown.bad_cookie else NO_LINK)
    return Viewer((yield from find_run(shown.claims)), None, shown.claims.scope)
