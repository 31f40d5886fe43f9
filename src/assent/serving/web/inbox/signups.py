"""A stranger asks for a workspace of their own: an owner of the server lets them in, or declines (E93).

Both need a signature, as inviting a person does: no key and no cookie alone admits a stranger.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from assent.engine.people import signup
from assent.engine.people.signup import Decision, SignupLink
from assent.serving.web.people.confirming import Consequence
from assent.serving.web.shell.console import SEND, Screen, Visit
from assent.serving.web.shell.problems import NOT_FOUND, PageRefused


def signup_line(visit: Visit, asked: SignupLink) -> dict[str, Any]:
    """The row of a request, with the nonce of its two forms."""
    return {
        "asked": asked,
        "at": visit.when(asked.created_ms),
        "nonce": visit.nonce(_subject(asked.workspace_id)),
    }


async def admit(visit: Visit) -> Response:
    text = "They get a key of a new, empty workspace, and nothing of yours. Name and address are their words."
    return await _decide(visit, "admitted", "Let this stranger in?", text, "Let them in")


async def reject(visit: Visit) -> Response:
    text = "They get no workspace and no key. The page that they have open says so."
    return await _decide(visit, "rejected", "Decline this request?", text, "Decline")


async def _decide(visit: Visit, decision: Decision, title: str, text: str, button: str) -> Response:
    visit.require_owner()
    wanted, now_ms = visit.part("workspace_id"), visit.now_ms
    form = await visit.form(_subject(wanted))
    found = await visit.read(lambda: signup.list_open(now_ms))
    asked = next((each for each in found if each.workspace_id == wanted), None)
    if asked is None:
        raise PageRefused(NOT_FOUND)
    facts = (("Name", asked.name), ("Unconfirmed e-mail", asked.email))
    await visit.confirm(form, Consequence(title, text, button, facts, back="/inbox"))
    person = visit.person
    if not await visit.write(lambda: signup.decide(asked.workspace_id, decision, person, now_ms)):
        raise PageRefused(NOT_FOUND)
    return visit.go(f"/inbox?signup={decision}")


def _subject(workspace_id: str) -> str:
    return f"sign-up {workspace_id}"


SCREENS: Final = (
    Screen("/inbox/signups/{workspace_id}/admit", admit, "inbox", SEND),
    Screen("/inbox/signups/{workspace_id}/reject", reject, "inbox", SEND),
)
