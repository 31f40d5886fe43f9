"""Error pages: the problem and the next step, worded for a person.

`kernel.refusals` words the same reasons for agents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from assent.kernel.refusals import MEANINGS, Reason, Refusal
from assent.kernel.structs import Record
from assent.serving.web.shell import words
from assent.serving.web.shell.headers import PageResponse
from assent.serving.web.shell.rendering import page


class Link(Record):
    """The one button of an error page."""

    href: str
    text: str


HOME: Final = Link("/", words.OPEN_THE_START_PAGE)
NEW_KEY: Final = Link("/get-key", words.GET_A_NEW_KEY)


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
    words.THERE_IS_NO_SUCH_PAGE,
    words.THE_ADDRESS_MAY_BE_MISTYPED,
    words.CHECK_THE_ADDRESS_OR_START,
)
LOST: Final = PageProblem(
    404,
    NOT_FOUND.title,
    NOT_FOUND.what,
    words.CHECK_THE_ADDRESS_OR_GO,
    Link("/inbox", words.OPEN_THE_INBOX),
)
"""The same for a signed-in person, whose navigation stays."""
WRONG_METHOD: Final = PageProblem(
    405,
    words.THAT_CANNOT_BE_DONE_HERE,
    words.THIS_ADDRESS_EXISTS_BUT,
    words.OPEN_THE_PAGE,
)
FOREIGN_FORM: Final = PageProblem(
    403,
    words.THIS_REQUEST_CAME_FROM_ANOTHER,
    words.A_FORM_ON_THIS_SERVER,
    words.IF_YOU_MEANT,
)
STALE_FORM: Final = PageProblem(
    403,
    words.THIS_FORM_IS_OUT,
    words.IT_WAS_OPENED_TOO_LONG,
    words.GO_BACK_RELOAD_THE_PAGE,
)
TOO_LARGE: Final = PageProblem(
    413,
    words.THAT_IS_TOO_MUCH_TEXT,
    words.THE_FORM_WAS_LARGER_THAN,
    words.GO_BACK_SHORTEN_THE_TEXT,
)
NOT_A_FORM: Final = PageProblem(
    415,
    words.THAT_IS_NOT_A_FORM,
    words.THIS_ADDRESS_TAKES,
    words.OPEN_THE_PAGE,
)
UNREADABLE_FORM: Final = PageProblem(
    400,
    words.THE_FORM_COULD,
    words.IT_HOLDS_CHARACTERS,
    words.GO_BACK_TYPE_THE_TEXT,
)
LINK_ENDED: Final = PageProblem(
    404,
    words.THIS_LINK_DOES_NOT_WORK,
    words.IT_WAS_USED_ALREADY,
    words.GET_A_NEW_KEY_YOURSELF,
    NEW_KEY,
)
UNAVAILABLE: Final = PageProblem(
    503,
    words.THIS_IS_NOT_AVAILABLE_RIGHT,
    words.THE_SERVER_IS_RUNNING_BUT,
    words.TRY_AGAIN_IN_A_MOMENT,
)


def _rate_limited(refusal: Refusal) -> PageProblem:
    return PageProblem(
        429,
        words.THAT_WAS_A_LITTLE_TOO,
        words.TOO_MANY_REQUESTS_CAME,
        words.TRY_AGAIN_IN.format(retry_after_seconds=_duration(refusal.retry_after_seconds or 60)),
    )


_FOR_PEOPLE: Final[dict[Reason, Callable[[Refusal], PageProblem]]] = {
    Reason.RATE_LIMITED: _rate_limited,
    Reason.TEMPORARILY_UNAVAILABLE: lambda _: UNAVAILABLE,
}


def show(request: Request, problem: PageProblem, headers: Mapping[str, str] | None = None) -> PageResponse:
    return page(request, "problem.html", {"problem": problem}, status=problem.status, headers=headers)


def refusal_page(request: Request, refusal: Refusal) -> PageResponse:
    made = _FOR_PEOPLE.get(refusal.reason)
    problem = made(refusal) if made is not None else _from_table(refusal)
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
    known = words.ITS_LOG_HAS_THE_DETAILS.format(request_id=request_id) if request_id is not None else ""
    return PageProblem(
        500,
        words.SOMETHING_WENT_WRONG,
        words.THIS_IS_OUR_MISTAKE.format(known=known),
        words.GO_BACK_AND_TRY_ONCE,
    )


def _from_table(refusal: Refusal) -> PageProblem:
    recovery = refusal.recovery()
    return PageProblem(
        MEANINGS[refusal.reason].status,
        recovery.summary_for_user,
        recovery.user_message,
        words.GO_BACK_AND_LOOK,
    )


def _duration(seconds: int) -> str:
    if seconds < 90:
        return f"{seconds} seconds"
    minutes = -(-seconds // 60)
    return f"{minutes} minutes" if minutes < 90 else f"{-(-minutes // 60)} hours"
