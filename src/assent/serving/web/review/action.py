"""The page of one action: its state, its timeline, where it was published, and its data as JSON.

Read-only. Decisions are made on the review page, which runs no scripts.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from starlette.responses import Response

from assent.engine.core import journal, tenancy
from assent.engine.core.journal import Event
from assent.engine.core.offloading import run_apart
from assent.engine.views import inbox
from assent.engine.views.review import HISTORY_EVENTS
from assent.gate.audit import build_record
from assent.gate.policy import Policy
from assent.gate.preflight import is_expired
from assent.gate.records import Action
from assent.gate.transitions import AWAITING, UNKNOWN, state_of
from assent.kernel.texts import indent_json
from assent.kernel.times import parse_time
from assent.ports import Transaction
from assent.serving.web.review import history as review_history
from assent.serving.web.review import naming
from assent.serving.web.review.blocks import draw_blocks
from assent.serving.web.review.history import HistoryEntry
from assent.serving.web.review.preview import build_preview
from assent.serving.web.shell.console import Screen, Visit
from assent.serving.web.shell.problems import Link, PageProblem, PageRefused
from assent.serving.web.shell.times import when

NO_SUCH_ACTION: Final = PageProblem(
    404,
    "There is no such action",
    "The address may be mistyped, or it is about something that you may not see.",
    "Look at what waits for you instead.",
    Link("/inbox", "Open the inbox"),
)


async def show(visit: Visit) -> Response:
    action_id = visit.part("action_id")

    def look() -> Transaction[tuple[Action, Policy, list[Event], str]]:
        found = yield from inbox.find(visit.person, action_id)
        if found is None:
            raise PageRefused(NO_SUCH_ACTION)
        action, policy = found
        place = action.workspace_id
        head = yield from journal.read_head(place, action.run_id)
        events = yield from journal.read_latest(head, HISTORY_EVENTS)
        return action, policy, events, (yield from tenancy.get_workspace(place)).name

    action, policy, events, place = await visit.read(look)
    now_ms = visit.now_ms
    record = indent_json(build_record(action, now_ms))
    here = f"/runs/{action.run_id}"
    values: dict[str, Any] = {
        "action": action,
        "title_of": naming.say_effect(action),
        "risk": action.preflight.severity.value,
        "goes_to": naming.say_place(action),
        "summary": action.view.summary,
        "badge": naming.status_badge(action, now_ms),
        "why": naming.explain_severity(action),
        "needs": naming.needs(policy.require(action)),
        "cost": naming.cost(action.preflight.estimated_cost_credits),
        "destination": action.view.destination,
        "connector": action.view.via,
        "place_name": place,
        "preview": await run_apart(build_preview, action, html=True),
        "blocks": await run_apart(draw_blocks, action.view.blocks),
        "timeline": moments(events, action, now_ms),
        "record": record,
        "decide": f"{here}#action-{action.action_id}",
        "waits": state_of(action) in (AWAITING, UNKNOWN) and not is_expired(action, now_ms),
        "approve": f"{here}?action={action.action_id}&open=approve#action-{action.action_id}",
        "reject": f"{here}?action={action.action_id}&open=reject#action-{action.action_id}",
        "edit": f"{here}/actions/{action.action_id}/edit",
        "url": action.external_url if str(action.external_url).startswith(("https://", "http://")) else None,
    }
    return visit.page("action.html", values)


def moments(events: list[Event], action: Action, now_ms: int) -> list[HistoryEntry]:
    """A decision made on a page also shows when that page was rendered."""
    found: list[HistoryEntry] = []
    entries = review_history.entries(events, now_ms)
    for event, (about, entry) in zip(events, entries, strict=True):
        if about not in (review_history.EVERY_ACTION, action.action_id) and event.kind not in OF_RUNS:
            continue
        facts = msgspec.json.decode(event.body)
        shown_ms = parse_time(str(facts.get("shownAt", ""))) if isinstance(facts, dict) else None
        if shown_ms is not None:
            found.append(
                HistoryEntry(f"Viewed by {review_history.name_actor(facts)}", "", when(shown_ms, now_ms))
            )
        found.append(entry)
    return found


OF_RUNS: Final = frozenset({"run_measured", "measurement_empty"})
"""Events of a run that its actions' timelines include."""


SCREENS: Final = (Screen("/actions/{action_id}", show, "inbox"),)
