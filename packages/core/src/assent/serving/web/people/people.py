"""The visitor of a page: cookies, and the signed-in session.

Every cookie is HttpOnly and SameSite=Lax and, on https, `__Host-` and Secure. A cookie that grants
access is signed or holds the secret of a stored session. The reviewer's name grants nothing and is
neither.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import urlencode, urlsplit

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from assent.engine.core.services import Services
from assent.engine.people import people
from assent.engine.people.people import Session
from assent.kernel import tokens
from assent.kernel.limits import MAX_NAME_CHARS
from assent.kernel.structs import Record
from assent.kernel.tokens import KeyRing, TokenInvalid
from assent.serving.web.shell.problems import Link, PageProblem

NAME_SECONDS: Final = 365 * 24 * 3600
"""Lifetime of the cookie with a reviewer's name."""

MOST_SEEN: Final = 60
SEEN_SECONDS: Final = 30 * 24 * 3600
"""Lifetime of the cookie with the revisions seen."""

_REVISION: Final = re.compile(r"[0-9]{1,6}")

HOW_TO_SIGN_IN: Final = Link("/sign-in", "How to sign in")

SIGN_IN_FIRST: Final = PageProblem(
    401,
    "Sign in first",
    "This page is for people who sign in on this server.",
    "Sign in, and you come back here.",
    HOW_TO_SIGN_IN,
)
MAX_PATH_CHARS: Final = 2_500
"""A request of a client that wants to be let in is the longest one. As a cookie it has to stay under 4 KB."""
THEN_SECONDS: Final = 3600
"""How long a browser remembers where a person wanted to go."""


def ask_to_sign_in(request: Request) -> PageProblem:
    """The page for a visitor who is not signed in. Its link remembers the page that they opened."""
    if request.method != "GET":
        return SIGN_IN_FIRST
    query = request.url.query
    path = f"{request.url.path}?{query}" if query else request.url.path
    link = Link(f"/sign-in?{urlencode({'then': path})}", "Sign in")
    return msgspec.structs.replace(SIGN_IN_FIRST, link=link)


def is_own_path(path: str) -> bool:
    """Whether it is a path of this server. A browser reads `//` and `/\\` as another host."""
    return (
        path.startswith("/")
        and not path.startswith(("//", "/\\"))
        and len(path) <= MAX_PATH_CHARS
        and path.isascii()
        and path.isprintable()
    )


CONFIRM_FIRST: Final = PageProblem(
    403,
    "Confirm first that this is you",
    (
        "The page that showed your key signed in this browser, and your agent may know the address of that "
        "page. That is enough to read, and not enough for this."
    ),
    "Sign in with a link: by e-mail if this server sends it, or from the person who runs this server.",
    Link("/sign-in", "Confirm that it is you"),
)


class PageKeys(Record):
    """The key rings of the pages, one for each purpose."""

    review_links: KeyRing
    """RUN_TOKEN_SECRET: signs review links and nothing else."""
    review_cookies: KeyRing
    forms: KeyRing


KeysWhenReady = Callable[[], Awaitable[PageKeys]]
"""The secrets are known once the store is open, which may be at the first page."""


class Cookies:
    """Sets, reads and removes the cookies of one address."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.secure = urlsplit(base_url).scheme == "https"
        self.session = self.named("assent-session")
        self._name = self.named("assent-name")
        self._seen = self.named("assent-seen")
        self.then = self.named("assent-then")

    def named(self, name: str) -> str:
        return f"__Host-{name}" if self.secure else name

    def keep(self, response: Response, name: str, value: str, seconds: int, path: str = "/") -> None:
        """Set a cookie. `__Host-` cookies need the path `/`; others use the given path."""
        response.set_cookie(
            name,
            value,
            max_age=seconds,
            path="/" if self.secure else path,
            secure=self.secure,
            httponly=True,
            samesite="lax",
        )

    def forget(self, response: Response, name: str) -> None:
        response.delete_cookie(name, path="/", secure=self.secure, httponly=True, samesite="lax")

    def keep_name(self, response: Response, name: str) -> None:
        self.keep(response, self._name, tokens.encode(name.encode()), NAME_SECONDS)

    def seen(self, request: Request) -> dict[str, int]:
        """The revision of each action that this browser saw last, by the end of the action's id."""
        pairs = (part.partition(".") for part in request.cookies.get(self._seen, "").split("-"))
        return {short: int(number) for short, _, number in pairs if _REVISION.fullmatch(number)}

    def keep_seen(self, response: Response, seen: dict[str, int]) -> None:
        """In the browser, so that viewing writes nothing here."""
        kept = list(seen.items())[-MOST_SEEN:]
        value = "-".join(f"{short}.{revision}" for short, revision in kept)
        self.keep(response, self._seen, value, SEEN_SECONDS)

    def name_given(self, request: Request) -> str:
        """The name that was last given in this browser, or an empty text."""
        try:
            name = tokens.decode(request.cookies.get(self._name, "")).decode()
        except (TokenInvalid, UnicodeDecodeError):
            return ""
        return name if is_name(name) else ""


NAME_ADVICE: Final = f"Enter a name of at most {MAX_NAME_CHARS} characters."


def is_name(text: str) -> bool:
    """Whether a text can be a person's name in a record and on a page."""
    return 0 < len(text) <= MAX_NAME_CHARS and text == text.strip() and text.isprintable()


async def find_session(services: Services, cookies: Cookies, request: Request) -> Session | None:
    secret = request.cookies.get(cookies.session)
    if secret is None:
        return None
    now_ms = services.clock.now_ms()
    return await services.store.read(lambda: people.authenticate(secret, now_ms))


BROWSERS: Final = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS: Final = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS", "Mac"),
    ("Linux", "Linux"),
)


def name_device(request: Request) -> str:
    """The browser in two words. Nothing else of the header is stored."""
    said = request.headers.get("user-agent", "")
    browser = next((name for sign, name in BROWSERS if sign in said), "A browser")
    system = next((name for sign, name in SYSTEMS if sign in said), "")
    return f"{browser} on {system}" if system else browser
