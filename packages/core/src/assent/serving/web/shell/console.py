"""The console: the common parts of all screens for a signed-in person.

A screen is a path, a view and a template. The console authenticates the request before a view runs
and passes it a `Visit`: the person, the current workspace, the time, forms with nonces, and
rendering inside the frame with its navigation. A view on which a person decides, or that a review
link also opens, renders with `scripts=False`. A view that changes or reveals something with lasting
effect calls `Visit.confirm` first.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar, overload

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from assent.engine.core import freezes, tenancy
from assent.engine.core.services import Services
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import members, people, proofs
from assent.engine.people.members import MemberWorkspace
from assent.engine.people.origins import count_cookie
from assent.engine.people.people import Person, Session
from assent.engine.people.proofs import FormProof
from assent.gate.gate import Decider
from assent.gate.records import Assurance, Freeze
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId, is_uuid
from assent.kernel.structs import Record
from assent.ports import Begin, Transaction
from assent.serving.web.people.confirming import USED_PROOF, Confirming, Consequence
from assent.serving.web.people.people import (
    CONFIRM_FIRST,
    HOW_TO_SIGN_IN,
    SIGN_IN_FIRST,
    Cookies,
    ask_to_sign_in,
)
from assent.serving.web.review.access import VIA
from assent.serving.web.review.naming import know_agents
from assent.serving.web.shell.errors_to_pages import Endpoint, make_routes
from assent.serving.web.shell.forms import Browser, FormNonces, read_form
from assent.serving.web.shell.headers import SCRIPTED_HEADERS, PageResponse, see_other
from assent.serving.web.shell.page_site import PageSite
from assent.serving.web.shell.problems import AnswerInstead, PageProblem, PageRefused
from assent.serving.web.shell.rendering import NAVIGATION, NavigationEntry, page
from assent.serving.web.shell.times import When, reader_zone, when

T = TypeVar("T")

LOOK: Final = ("GET",)
LOOK_AND_SEND: Final = ("GET", "POST")
SEND: Final = ("POST",)


NO_WORKSPACE: Final = PageProblem(
    403,
    "You are in no workspace yet",
    "You can sign in, but you are in no workspace yet.",
    "Ask the person who runs this server to invite you to one.",
    HOW_TO_SIGN_IN,
)

OWNERS_ONLY: Final = PageProblem(
    403,
    "This is for an owner of the server",
    (
        "Members decide in their workspaces. Only an owner chooses who may sign in and which policy a "
        "workspace has."
    ),
    "Ask an owner, or go back.",
    None,
)


@dataclass(frozen=True, slots=True)
class Visit:
    """A signed-in person at a screen."""

    request: Request
    services: Services
    session: Session
    places: tuple[MemberWorkspace, ...]
    place: MemberWorkspace
    waiting: int
    position: str
    now_ms: int
    nav: str
    nonces: FormNonces
    browser: Browser
    cookies: Cookies
    counts: Assurance
    """What the cookie of this request counts for."""
    confirming: Confirming
    frozen: tuple[Freeze, ...]
    """What stops something in the current workspace."""
    templates: Path | None
    """The templates of an extension, if the screen is one of its."""

    @property
    def person(self) -> Person:
        return self.session.person

    @property
    def workspace_id(self) -> WorkspaceId:
        return self.place.workspace_id

    async def read(self, begin: Begin[T]) -> T:
        return await self.services.store.read(begin)

    async def write(self, begin: Begin[T]) -> T:
        """Run a transaction that changes something. Refuses a person who was signed out, removed or
        given another role since the request began."""

        def begin_still() -> Transaction[T]:
            secret = self.request.cookies.get(self.cookies.session, "")
            session = yield from people.authenticate(secret, self.now_ms)
            if session is None:
                raise PageRefused(SIGN_IN_FIRST)
            if session.person.role is not self.person.role:
                raise PageRefused(OWNERS_ONLY)
            return (yield from begin())

        return await self.services.store.write(begin_still)

    @property
    def zone(self) -> tzinfo:
        """The time zone of the person who reads."""
        return reader_zone()

    @overload
    def when(self, ms: int) -> When: ...
    @overload
    def when(self, ms: int | None) -> When | None: ...
    def when(self, ms: int | None) -> When | None:
        return when(ms, self.now_ms)

    def query(self, name: str) -> str:
        """A query parameter, without NUL characters, which no store accepts."""
        return self.request.query_params.get(name, "").replace("\0", "")

    def choice(self, name: str, known: Container[str]) -> str:
        """A query parameter with a known value; empty for any other."""
        value = self.query(name)
        return value if value in known else ""

    def cursor(self) -> str:
        """The id before which a list continues; empty for its first page."""
        value = self.query("before")
        return value if is_uuid(value) else ""

    def part(self, name: str) -> str:
        value: str = self.request.path_params[name]
        return value

    def require_owner(self) -> None:
        if not self.person.is_owner:
            raise PageRefused(OWNERS_ONLY)

    def require_confirmed(self) -> None:
        """Refuse a session of assurance `link`: an agent may have claimed that sign-up itself."""
        if not self.session.is_confirmed:
            raise PageRefused(CONFIRM_FIRST)

    def decider(
        self, workspace_id: WorkspaceId, shown_ms: int, assurance: Assurance | None = None
    ) -> Decider:
        """This person as the one who decides; `assurance` of a proof, else that of the cookie."""
        person = self.person
        return Decider(
            workspace_id,
            person.label,
            assurance or self.counts,
            VIA,
            person.person_id,
            shown_ms,
            person.role.value,
        )

    async def confirm(
        self,
        fields: Mapping[str, str],
        title: str,
        text: str,
        button: str,
        facts: tuple[tuple[str, str], ...] = (),
        *,
        danger: bool = False,
        back: str = "",
        secret_fields: frozenset[str] = frozenset(),
    ) -> None:
        """Require that a person signed this form, and use the proof up before anything is done. Answers
        with the confirm page if nothing was signed. No cookie is enough, also with https: one that was
        stolen must not lead to a passkey, a weaker policy or another person."""
        self.require_confirmed()
        proof = await self.read_proof(fields)
        if proof is None:
            what = Consequence(
                title, text, button, facts, danger=danger, back=back, secret_fields=secret_fields
            )
            await self.ask_to_confirm(fields, what)
        elif not await self.write(lambda: proofs.use(proof, self.now_ms)):
            raise PageRefused(USED_PROOF)

    async def read_proof(self, fields: Mapping[str, str]) -> FormProof | None:
        """The proof of a form, which the caller uses up with what it does."""
        return await self.confirming.read(self.request, self.session, fields)

    async def ask_to_confirm(
        self, fields: Mapping[str, str], what: Consequence, needed: Assurance = Assurance.PERSON
    ) -> NoReturn:
        """Answer a form with the confirm page."""
        raise AnswerInstead(await self.confirming.ask(self.request, self.session, fields, what, needed))

    def here(self, subject: str) -> str:
        """The subject of a form about the current workspace: another tab, or a page on another port, may
        choose another workspace before the form is sent."""
        return f"{subject} of {self.workspace_id}"

    def nonce(self, subject: str) -> str:
        """The nonce of a form about `subject`. Its POST calls `form` with the same subject."""
        return self.nonces.issue(self.browser, f"{self.session.session_id} {subject}", self.now_ms)

    async def form(self, subject: str) -> dict[str, str]:
        """The fields of a form. Refuses a form of another site, browser or subject."""
        return (await self.shown_form_of(lambda fields: subject))[0]

    async def shown_form_of(self, subject: Callable[[dict[str, str]], str]) -> tuple[dict[str, str], int]:
        """`form` for a subject that depends on its fields, with the time at which it was
        rendered."""
        fields = await read_form(self.request)
        about = f"{self.session.session_id} {subject(fields)}"
        try:
            shown_ms = self.nonces.check(self.request, fields.get("nonce", ""), about, self.now_ms)
        except PageRefused as refused:
            raise PageRefused(msgspec.structs.replace(refused.problem, typed=keep_typed(fields))) from None
        return fields, shown_ms

    def page(
        self,
        template: str,
        values: Mapping[str, Any] | None = None,
        *,
        status: int = 200,
        scripts: bool = True,
        headers: Mapping[str, str] | None = None,
    ) -> PageResponse:
        """Render a screen inside the frame. Its template extends `console.html`."""
        known = {**self.frame(scripts=scripts), **(values or {})}
        policy = SCRIPTED_HEADERS if scripts else {}
        given = {**policy, **(headers or {})}
        response = page(self.request, template, known, status=status, headers=given, folder=self.templates)
        self.nonces.remember(self.browser, response)
        return response

    def problem(self, problem: PageProblem) -> PageResponse:
        """An error page that keeps the navigation."""
        return self.page("problem_framed.html", {"problem": problem}, status=problem.status, scripts=False)

    def frame(self, *, scripts: bool) -> dict[str, Any]:
        return {
            "person": self.person,
            "places": self.places,
            "place": self.place,
            "waiting": self.waiting,
            "frozen": self.frozen,
            "nav": self.nav,
            "scripts": scripts,
            "live_after": self.position,
            "here_with_query": self.here_with_query,
            "keys_on": self.request.cookies.get(KEYS_COOKIE) != "off",
            "switch_nonce": self.nonce("workspace"),
            "sign_out_nonce": self.nonces.issue(
                self.browser, f"sign-out {self.session.session_id}", self.now_ms
            ),
            "stop_nonce": self.nonce("stop"),
        }

    @property
    def here_with_query(self) -> str:
        query = self.request.url.query
        return f"{self.request.url.path}?{query}" if query else self.request.url.path

    def go(self, where: str) -> RedirectResponse:
        return see_other(where)


UNTYPED: Final = frozenset({"nonce", "confirm", "proof", "key", "password", "then"})
"""Fields that a person did not type, or that no page shows again."""


def keep_typed(fields: Mapping[str, str]) -> tuple[str, ...]:
    """The sentences of a form that was refused. Short fields are typed again in a moment."""
    return tuple(text for name, text in fields.items() if name not in UNTYPED and " " in text.strip())


View = Callable[[Visit], Awaitable[Response]]

KEYS_COOKIE: Final = "assent-keys"
"""`off` if the person disabled single-key shortcuts."""

PLACE_COOKIE: Final = "assent-workspace"
"""The workspace shown last. Access to it is checked on every request."""


class Screen(Record):
    """One route of the console. `nav` is the name of its entry in the navigation."""

    path: str
    view: View
    nav: str
    methods: tuple[str, ...] = LOOK
    entry: NavigationEntry | None = None
    """The entry that leads to it, for a screen of an extension."""
    templates: Path | None = None
    """The folder of its templates, for a screen of an extension. They may extend those of the server."""
    has_content: Callable[[WorkspaceId], Transaction[bool]] | None = None
    """Whether a workspace has anything to show there. Before that its entry is hidden."""


def arrange_entries(screens: Iterable[Screen]) -> tuple[NavigationEntry, ...]:
    """Return the navigation with the entries of extensions: the last of their group, in a new group at the end."""
    added = [each.entry for each in screens if each.entry is not None]
    groups = list(dict.fromkeys(entry.group for entry in (*NAVIGATION, *added)))
    return tuple(sorted((*NAVIGATION, *added), key=lambda entry: groups.index(entry.group)))


def find_empty_places(screens: Iterable[Screen], workspace_id: WorkspaceId) -> Transaction[frozenset[str]]:
    """Return the names of the entries that lead to nothing yet."""
    empty = set()
    for entry, has_content in ((each.entry, each.has_content) for each in screens):
        if entry is not None and has_content is not None and not (yield from has_content(workspace_id)):
            empty.add(entry.name)
    return frozenset(empty)


class Console:
    """Authenticates the person of a request and builds their `Visit`."""

    def __init__(self, site: PageSite, screens: tuple[Screen, ...]) -> None:
        self._site = site
        self._screens = screens

    def routes(self) -> list[Route]:
        table = ((screen.path, screen.methods, self._endpoint(screen)) for screen in self._screens)
        return make_routes(self._site.base_url, *table)

    def _endpoint(self, screen: Screen) -> Endpoint:
        async def answer(request: Request) -> Response:
            visit = await self.visit(request, screen.nav, screen.templates)
            try:
                return await screen.view(visit)
            except PageRefused as refused:
                if refused.problem is SIGN_IN_FIRST:
                    raise
                return visit.problem(refused.problem)

        return answer

    async def visit(self, request: Request, nav: str, templates: Path | None = None) -> Visit:
        """Raises the sign-in page for anyone who is not signed in."""
        secret = request.cookies.get(self._site.cookies.session)
        if secret is None:
            raise PageRefused(ask_to_sign_in(request))
        now_ms = self._site.services.clock.now_ms()
        wished = request.cookies.get(PLACE_COOKIE, "")

        def look() -> Transaction[
            tuple[Session, tuple[MemberWorkspace, ...], int, tuple[Freeze, ...], list[tenancy.KeyRecord], str]
        ]:
            session = yield from people.authenticate(secret, now_ms)
            if session is None:
                raise PageRefused(ask_to_sign_in(request))
            places = yield from members.list_member_workspaces(session.person)
            waiting = yield from members.count_waiting(session.person, now_ms)
            place = _choose(places, wished) if places else None
            keys = (yield from tenancy.list_keys(place.workspace_id)) if place is not None else []
            if place is not None:
                request.state.empty_places = yield from find_empty_places(self._screens, place.workspace_id)
            frozen = yield from freezes.list_in(place.workspace_id if place is not None else SYSTEM_WORKSPACE)
            return session, places, waiting, frozen, keys, (yield from members.journal_position())

        session, places, waiting, frozen, keys, position = await self._site.services.store.read(look)
        know_agents({f"key:{key.key_id}": key.label for key in keys})
        await self._site.count_session(session)
        if not places:
            raise PageRefused(NO_WORKSPACE)
        nonces = await self._site.nonces()
        place = _choose(places, wished)
        return Visit(
            request=request,
            services=self._site.services.for_workspace(place.workspace_id),
            session=session,
            places=places,
            place=place,
            waiting=waiting,
            position=position,
            now_ms=now_ms,
            nav=nav,
            templates=templates,
            nonces=nonces,
            browser=nonces.browser(request),
            cookies=self._site.cookies,
            counts=count_cookie(self._site.base_url, session.assurance),
            confirming=Confirming(self._site.services, nonces, base_url=self._site.base_url),
            frozen=frozen,
        )


def _choose(places: tuple[MemberWorkspace, ...], wished: str) -> MemberWorkspace:
    by_id = {place.workspace_id: place for place in places}
    for workspace_id in (wished, LOCAL_WORKSPACE):
        if workspace_id in by_id:
            return by_id[WorkspaceId(workspace_id)]
    return places[0]
