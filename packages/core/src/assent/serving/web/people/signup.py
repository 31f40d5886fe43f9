"""Getting a key as a person (E85, C26). An agent that asks for a key gets a one-time link for the person;
the form does the same for a person without an agent.

On the server's own machine the button of the page creates the workspace and shows the key once. Elsewhere it
mails a link to the address of the request, where mail is sent, and the page of that link shows the key; or
the page waits for an owner of the server (`net.loopback`, `engine.people.signup`).

Opening a link changes nothing, so that a mail scanner or a link preview cannot use it up. Used,
expired and unknown links get the same answer.

The person who takes the key is signed in with the assurance `link`, because the agent may have had
the link too. That is enough for the inbox and for reviewing. The page explains how to reach the
assurance `person`, which connecting providers and changing settings need.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from assent.engine.actions import policies
from assent.engine.core import tenancy
from assent.engine.core.services import Services
from assent.engine.people import mailed_links, members, people, signup
from assent.engine.people.people import Person, Role, Session
from assent.kernel.limits import MAX_EMAIL_CHARS, MAX_NAME_CHARS, SESSION_TTL_MS
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.structs import Record
from assent.net.loopback import is_local
from assent.ports import Transaction
from assent.serving.http import client_address
from assent.serving.web.people.people import Cookies, name_device
from assent.serving.web.shell import clients
from assent.serving.web.shell.forms import read_form
from assent.serving.web.shell.headers import CONFIRMING_HEADERS, see_other
from assent.serving.web.shell.problems import LINK_ENDED, PageProblem, PageRefused
from assent.serving.web.shell.rendering import page
from assent.tools.workspaces import SignupWorkspace, start_signup

REFRESH_SECONDS: Final = "15"

SIGNUP_REJECTED: Final = PageProblem(
    403,
    "The owner of this server declined",
    "No workspace was made, and this page will show no key.",
    "If that is a mistake, ask the person who runs this server, then ask for a key again.",
    None,
)

FIELD_ADVICE: Final = {
    "email": "Enter an e-mail address such as ada@example.org.",
    "name": f"Choose a name of at most {MAX_NAME_CHARS} characters.",
}


class BadSignup(Exception):  # noqa: N818 - a state of the form
    """Fields to fill in again."""

    def __init__(self, fields: set[str]) -> None:
        super().__init__(", ".join(sorted(fields)))
        self.fields = fields


class ClaimedKey(Record):
    """The result of claiming a link. `secret` is the new session's, unless the browser keeps the
    session that it has."""

    link: signup.SignupLink
    issued: tenancy.IssuedKey
    session: Session
    secret: str | None
    for_one: bool
    """Whether its policy asks for one person where this server asks for two."""


class SignupPages:
    """`/get-key` and `/claim/{token}`."""

    def __init__(self, services: Services, *, base_url: str, trust_proxy: bool, bound_to: str) -> None:
        self._services = services
        self._base_url = base_url
        self._trust_proxy = trust_proxy
        self._bound_to = bound_to
        self._cookies = Cookies(base_url)

    async def get_key(self, request: Request) -> Response:
        """Show the form; on POST, ask for a workspace as the tool does and press the button of its page."""
        self._require_open()
        if request.method != "POST":
            return _key_form(request)
        form = await read_form(request)
        address = client_address(request.scope, trust_proxy=self._trust_proxy)
        try:
            delivery_url = await self._start(form, address)
        except BadSignup as bad:
            return _key_form(request, form, bad.fields)
        return await self._press(request, urlsplit(delivery_url).path.rpartition("/")[2])

    async def claim(self, request: Request) -> Response:
        """Show a request, with its button or with what it waits for; on POST, press the button."""
        self._require_open()
        token = request.path_params["token"]
        if request.method == "POST":
            await read_form(request)
            return await self._press(request, token)
        return await self._show(request, await self._find(token))

    def _require_open(self) -> None:
        if not self._services.limits.signup_open:
            raise tenancy.lack_key(signup_open=False)

    async def _find(self, token: str) -> signup.SignupLink:
        now_ms = self._services.clock.now_ms()
        link = await self._services.store.read(lambda: signup.find_signup(token, now_ms))
        if link is None:
            raise PageRefused(LINK_ENDED)
        if link.is_rejected:
            raise PageRefused(SIGNUP_REJECTED)
        return link

    def _is_local(self, request: Request) -> bool:
        """Whether this process may show the key at once."""
        return is_local(
            bound_to=self._bound_to,
            base_host=urlsplit(self._services.links.configured_url).hostname or "",
            trusts_proxy=self._trust_proxy,
            peer=request.client.host if request.client is not None else "",
            host=request.headers.get("host", ""),
            headers=request.headers,
        )

    async def _press(self, request: Request, token: str) -> Response:
        """Show the key if that needs no more; else mail the link that confirms the address, if mail is sent
        here and none was."""
        link = await self._find(token)
        if link.is_confirmed or self._is_local(request):
            return await self._take(request, token)
        can_mail = not link.mailed and await self._services.outgoing.can_send_notes()
        failed = can_mail and not await mailed_links.mail_signup_link(self._services, link)
        return see_other(f"/claim/{token}{'?mail=failed' if failed else ''}")

    async def _show(self, request: Request, link: signup.SignupLink) -> Response:
        if link.is_confirmed or self._is_local(request):
            return page(request, "claim.html", {"link": link})
        values = {
            "link": link,
            "mailbox": _hide(link.email),
            "can_mail": await self._services.outgoing.can_send_notes(),
            "mail_failed": request.query_params.get("mail") == "failed",
        }
        # The header, because the page runs no script.
        return page(request, "claim_waits.html", values, headers={"Refresh": REFRESH_SECONDS})

    async def _start(self, form: dict[str, str], address: str) -> str:
        asked = {"email": form.get("email", "").strip(), "name": form.get("name", "").strip() or None}
        try:
            # The tool has the same limits.
            asked_for = msgspec.convert(asked, SignupWorkspace)
            return await start_signup(self._services, asked_for.email, asked_for.name, address)
        except msgspec.ValidationError as error:
            raise BadSignup({name for name in FIELD_ADVICE if f"$.{name}`" in str(error)}) from None
        except Refusal as refusal:
            problems = refusal.recovery().problems
            if refusal.reason is Reason.VALIDATION_ERROR and problems:
                raise BadSignup({problem.path for problem in problems}) from None
            raise

    async def _take(self, request: Request, token: str) -> Response:
        services, now_ms = self._services, self._services.clock.now_ms()
        entropy = tenancy.KeyEntropy(
            services.entropy(tenancy.KEY_ID_BYTES), services.entropy(tenancy.SECRET_BYTES)
        )

        person_id, random = services.new_id(now_ms), services.entropy(people.ENTROPY_BYTES)
        secret = request.cookies.get(self._cookies.session)
        at_once = self._is_local(request)

        def claim() -> Transaction[ClaimedKey | None]:
            link = yield from signup.find_signup(token, now_ms)
            issued = yield from signup.claim_signup(
                token, entropy, now_ms, at_once=at_once, reserved=services.limits.reserved_names
            )
            if link is None or issued is None:
                return None
            wanted = yield from policies.choose_first(services.limits.policy)
            preset = policies.FOR_ONE.get(wanted, wanted)
            yield from policies.begin(link.workspace_id, preset, now_ms, by="signup")
            session = (yield from people.authenticate(secret, now_ms)) if secret is not None else None
            if session is not None and (session.is_confirmed or session.person.email == link.email):
                yield from members.join(link.workspace_id, session.person, now_ms)
                return ClaimedKey(link, issued, session, None, preset != wanted)
            person = Person(person_id, link.email[:MAX_NAME_CHARS], Role.MEMBER, link.email)
            signed_in = yield from members.join_by_claim(
                link.workspace_id, person, random, now_ms, device=name_device(request)
            )
            return ClaimedKey(link, issued, signed_in.session, signed_in.secret, preset != wanted)

        claimed = await services.store.write(claim)
        if claimed is None:
            raise PageRefused(LINK_ENDED)
        key = claimed.issued.api_key
        snippets = (*clients.http_snippets(self._base_url, key), *clients.stdio_snippets(services, key))
        values = {
            "link": claimed.link,
            "key": key,
            "snippets": snippets,
            "session": claimed.session,
            "for_one": claimed.for_one,
            "can_mail": await services.outgoing.can_send_notes(),
            "owner_link": clients.terminal_command(services, "owner-link"),
        }
        response = page(request, "key.html", values, headers=CONFIRMING_HEADERS)
        if claimed.secret is not None:
            self._cookies.keep(response, self._cookies.session, claimed.secret, SESSION_TTL_MS // 1000)
        return response


def _hide(email: str) -> str:
    """Return an address with its beginning hidden: the page of a request may be open before strangers."""
    name, _, host = email.rpartition("@")
    return f"{name[:1]}***@{host}"


def _key_form(
    request: Request, form: dict[str, str] | None = None, bad_fields: set[str] | None = None
) -> Response:
    values = {
        "form": {name: (form or {}).get(name, "") for name in FIELD_ADVICE},
        "advice": {name: FIELD_ADVICE[name] for name in FIELD_ADVICE if name in (bad_fields or ())},
        "max_chars": {"email": MAX_EMAIL_CHARS, "name": MAX_NAME_CHARS},
    }
    return page(request, "get_key.html", values, status=200 if bad_fields is None else 400)
