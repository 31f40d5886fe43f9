"""A flood of proposals by one key: one list, rejected or released in one step.

The forms are about what the page showed: a proposal that came later stays held.
"""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from assent.engine.actions import flood
from assent.engine.actions.flood import HeldGroup
from assent.gate.records import Action
from assent.kernel.limits import MAX_REASON_CHARS
from assent.ports import Transaction
from assent.serving.web.inbox.rows import held_line
from assent.serving.web.shell.console import SEND, Screen, Visit
from assent.serving.web.shell.problems import Link, PageProblem, PageRefused
from assent.use_cases import decisions

NOTHING_HELD: Final = PageProblem(
    404,
    "Nothing is held here",
    "These proposals were decided or released already, or they have expired.",
    "Look at what waits for you instead.",
    Link("/inbox", "Open the inbox"),
)


async def show(visit: Visit) -> Response:
    return await _show(visit, {})


async def _show(visit: Visit, wrong: dict[str, str]) -> Response:
    def look() -> Transaction[tuple[HeldGroup, tuple[Action, ...]]]:
        group = yield from _find(visit)
        return group, (yield from flood.list_held(group, visit.now_ms, visit.now_ms))

    group, found = await visit.read(look)
    values = {
        "line": held_line(group, visit.now_ms),
        "found": found,
        "more": group.held - len(found),
        "count": group.held,
        "here": visit.request.url.path,
        "reject_nonce": visit.nonce(_subject(visit, "reject")),
        "release_nonce": visit.nonce(_subject(visit, "release")),
        "wrong": wrong,
    }
    return visit.page("held.html", values, scripts=False, status=400 if wrong else 200)


async def decide(visit: Visit) -> Response:
    """Reject or release what the page showed."""
    visit.require_confirmed()
    decision = visit.part("decision")
    form, shown_ms = await visit.shown_form_of(lambda _: _subject(visit, decision))
    reason = form.get("reason", "").strip()[:MAX_REASON_CHARS]
    if decision == "reject" and not reason:
        return await _show(visit, {"reason": "Say why in a few words: the agent reads it."})
    group = await visit.read(lambda: _find(visit))
    decider = visit.decider(group.workspace_id, shown_ms)
    if decision == "release":
        count = await visit.write(lambda: flood.release(decider, group, shown_ms, visit.now_ms))
    elif decision == "reject":
        count = await decisions.reject_held(visit.services, decider, group, reason, shown_ms, visit.write)
    else:
        raise PageRefused(NOTHING_HELD)
    return visit.go(f"/inbox?did={decision}&count={count}")


def _find(visit: Visit) -> Transaction[HeldGroup]:
    """Return the flood of the address, if this person may see it."""
    wanted = visit.part("workspace_id"), visit.part("proposer")
    groups = yield from flood.list_groups(
        visit.person.person_id, visit.now_ms, everywhere=visit.person.is_owner
    )
    found = next((each for each in groups if (each.workspace_id, each.proposed_by) == wanted), None)
    if found is None:
        raise PageRefused(NOTHING_HELD)
    return found


def _subject(visit: Visit, decision: str) -> str:
    return f"held {decision} {visit.part('workspace_id')} {visit.part('proposer')}"


SCREENS: Final = (
    Screen("/inbox/held/{workspace_id}/{proposer}", show, "inbox"),
    Screen("/inbox/held/{workspace_id}/{proposer}/{decision}", decide, "inbox", SEND),
)
