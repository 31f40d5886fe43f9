"""Error pages: the problem and the next step, worded for a person.

The texts for agents are in `kernel.reasons` and `present.refusals`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from assent.kernel.refusals import MEANINGS, Reason, Refusal
from assent.kernel.structs import Record
from assent.serving.web.shell.headers import PageResponse
from assent.serving.web.shell.rendering import page


class Link(Record):
    """The one button of an error page."""

    href: str
    text: str


HOME: Final = Link("/", "Open the start page")
NEW_KEY: Final = Link("/get-key", "Get a new key")


class PageProblem(Record):
    """One error page: status, headline, what happened, what to do."""

    status: int
    title: str
    what: str
    next_step: str
    link: Link | None = HOME
    typed: tuple[str, ...] = ()
    """Texts of the form that was not accepted, so that a person can copy them."""


class PageRefused(Exception):  # noqa: N818 - an answer, not a fault
    """Raised by a page and rendered by the page edge."""

    def __init__(self, problem: PageProblem) -> None:
        super().__init__(problem.title)
        self.problem = problem


class AnswerInstead(Exception):  # noqa: N818 - an answer, not a fault
    """A page to answer with before anything is done. Returned by the page edge."""

    def __init__(self, response: PageResponse) -> None:
        super().__init__("another page first")
        self.response = response


NOT_FOUND: Final = PageProblem(
    404,
    "There is no such page",
    "The address may be mistyped, or the page has moved.",
    "Check the address, or start over from the start page.",
)
LOST: Final = PageProblem(
    404,
    NOT_FOUND.title,
    NOT_FOUND.what,
    "Check the address, or go on from the inbox.",
    Link("/inbox", "Open the inbox"),
)
"""The same for a signed-in person, whose navigation stays."""
WRONG_METHOD: Final = PageProblem(
    405,
    "That cannot be done here",
    "This address exists, but not for this kind of request.",
    "Open the page in a browser and use its buttons.",
)
FOREIGN_FORM: Final = PageProblem(
    403,
    "This request came from another site",
    "A form on this server was sent from a page that is not ours, so nothing was done.",
    "If you meant to do this, open the page here and press the button yourself.",
)
STALE_FORM: Final = PageProblem(
    403,
    "This form is out of date",
    (
        "It was opened too long ago, in another browser, or what it is "
        "about has changed since. Nothing was done."
    ),
    "Go back, reload the page, look at it again and repeat what you wanted to do.",
)
TOO_LARGE: Final = PageProblem(
    413,
    "That is too much text",
    "The form was larger than this page accepts, so nothing was stored.",
    "Go back, shorten the text and send it again.",
)
NOT_A_FORM: Final = PageProblem(
    415,
    "That is not a form",
    "This address takes what a web form sends (application/x-www-form-urlencoded).",
    "Open the page in a browser and use its buttons.",
)
UNREADABLE_FORM: Final = PageProblem(
    400,
    "The form could not be read",
    "It holds characters that no text has, or is damaged. Nothing was done.",
    "Go back, type the text again and send it.",
)
LINK_ENDED: Final = PageProblem(
    404,
    "This link does not work any more",
    "It was used already, has expired, or was never complete. Each link works once, for one day.",
    "Get a new key yourself, or ask your agent to request a new link.",
    NEW_KEY,
)
UNAVAILABLE: Final = PageProblem(
    503,
    "This is not available right now",
    "The server is running, but cannot do this at the moment. Nothing was changed and nothing was lost.",
    (
        "Try again in a moment. If it stays like this, the person who runs this server finds the cause in "
        "its log."
    ),
)


def show(request: Request, problem: PageProblem, headers: Mapping[str, str] | None = None) -> PageResponse:
    return page(request, "problem.html", {"problem": problem}, status=problem.status, headers=headers)


def refusal_page(request: Request, refusal: Refusal) -> PageResponse:
    problem = UNAVAILABLE if refusal.reason is Reason.TEMPORARILY_UNAVAILABLE else _word(refusal)
    seconds = refusal.retry_after_seconds
    return show(request, problem, {"Retry-After": str(seconds)} if seconds is not None else None)


async def http_problem(request: Request, error: Exception) -> Response:
    """Answer unknown paths and methods: a page, or JSON for programs."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    if "text/html" not in request.headers.get("accept", ""):
        text = error.detail if isinstance(error, HTTPException) else "Internal Server Error"
        return JSONResponse({"error": text}, status_code=status, headers=headers)
    problem = {404: NOT_FOUND, 405: WRONG_METHOD}.get(status)
    return show(request, problem or fault(request), headers)


def fault(request: Request) -> PageProblem:
    """Return a page without details, only with the request id of the log."""
    request_id = getattr(request.state, "request_id", None)
    known = f" The server’s log has the details under {request_id}." if request_id is not None else ""
    return PageProblem(
        500,
        "Something went wrong on the server",
        f"This is our mistake, not yours.{known}",
        "Go back and try once more. If it happens again, tell the person who runs this server.",
    )


def _word(refusal: Refusal) -> PageProblem:
    if refusal.reason is Reason.RATE_LIMITED:
        return PageProblem(
            429,
            "That was a little too often",
            "Too many requests came in a short time, so this one was not carried out.",
            f"Try again in {_duration(refusal.retry_after_seconds or 60)}.",
        )
    recovery = refusal.recovery()
    return PageProblem(
        MEANINGS[refusal.reason].status,
        recovery.summary_for_user,
        recovery.user_message,
        "Go back and look at what it says there.",
    )


def _duration(seconds: int) -> str:
    if seconds < 90:
        return f"{seconds} seconds"
    minutes = -(-seconds // 60)
    return f"{minutes} minutes" if minutes < 90 else f"{-(-minutes // 60)} hours"
