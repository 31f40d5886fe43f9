"""The inbox: what needs the signed-in person, grouped by run; then what is scheduled and what was sent.

Beside the list, where there is room, a pane shows one item whole. Who has a key in this browser decides there: the
forms are those of the review page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from typing import Any, Final
from urllib.parse import urlencode

from starlette.responses import Response

from assent.engine.actions import actions, indexing
from assent.engine.core import freezes, tenancy
from assent.engine.core.offloading import run_apart
from assent.engine.people import members, signup
from assent.engine.people.signup import Decision, SignupLink
from assent.engine.views import inbox, review
from assent.engine.views.inbox import Inbox, InboxFilter, Waiting
from assent.engine.views.review import RunReview
from assent.gate.effects import EffectTypes
from assent.gate.records import Action, Assurance, find_stop
from assent.gate.transitions import APPROVED, state_of
from assent.gate.views import Severity
from assent.kernel.limits import DAY_MS, SECOND_MS
from assent.ports import Transaction
from assent.present.refusals import describe_freeze
from assent.serving.web.inbox.batch import SEND_ALL, nonce_subject
from assent.serving.web.inbox.rows import EXPIRES_SOON_MS, held_line, inbox_line, pane_values
from assent.serving.web.review.card import build_card
from assent.serving.web.review.forms import FormContext
from assent.serving.web.review.matching import Steps
from assent.serving.web.review.page import say_done, subject
from assent.serving.web.shell.console import SEND, Screen, Visit
from assent.serving.web.shell.lists import find_page, page_number, whole_number
from assent.serving.web.shell.problems import NOT_FOUND, Link, PageProblem, PageRefused
from assent.serving.web.shell.word_diff import PAGE_STEPS
from assent.use_cases.decisions import read_readiness
from assent.use_cases.workspaces import decide_signup

NO_SUCH_ACTION: Final = PageProblem(
    404,
    "There is no such action",
    "The address may be mistyped, or it is about something that you may not see.",
    "Look at what waits for you instead.",
    Link("/inbox", "Open the inbox"),
)

INBOX_PAGE: Final = 50

MAX_SEARCH_CHARS: Final = 100

MAX_FIRST_DIGITS: Final = 7
"""Of the number of actions that earlier searches have read."""

SECTIONS: Final = ("stuck", "agent", "scheduled", "sent")
"""Sections that a chip shows alone."""

DID: Final = {
    "approve": "approved",
    "send": "approved and on their way out",
    "reject": "rejected",
    "release": "released; each waits below",
}
"""What became of the drafts that were decided together."""

SIGNUP_DECIDED: Final = {
    "admitted": "They are let in: the page that they have open now shows their key.",
    "rejected": "Declined. The page that they have open says so.",
}


def read_filter(visit: Visit) -> tuple[InboxFilter, dict[str, str]]:
    """The filter of a query, and the query parameters that express it."""
    risk, channel, text = (
        visit.query("risk"),
        visit.query("channel"),
        visit.query("q").strip()[:MAX_SEARCH_CHARS],
    )
    workspace = visit.query("workspace")
    known = {place.workspace_id for place in visit.places}
    wanted = InboxFilter(
        workspace=workspace if workspace in known else "",
        tenant=visit.query("tenant").strip()[:MAX_SEARCH_CHARS],
        severity=Severity(risk) if risk in tuple(Severity) else None,
        until_ms=visit.now_ms + EXPIRES_SOON_MS if visit.query("soon") else 0,
        channel=channel if channel in visit.services.effects.channels else "",
        text=text,
        first=whole_number(visit.query("first"), MAX_FIRST_DIGITS) or 0,
    )
    query = {
        "q": text,
        "risk": wanted.severity.value if wanted.severity is not None else "",
        "channel": wanted.channel,
        "workspace": wanted.workspace,
        "tenant": wanted.tenant,
        "soon": "1" if wanted.until_ms else "",
        "first": str(wanted.first or ""),
    }
    return wanted, query


async def show(visit: Visit) -> Response:
    wanted, query = read_filter(visit)
    now_ms = visit.now_ms
    skipped = (page_number(visit.query("page")) - 1) * INBOX_PAGE
    today_ms = now_ms - now_ms % DAY_MS
    if wanted.text:
        places = await visit.read(lambda: members.list_member_workspaces(visit.person))
        await indexing.catch_up(visit.services.store, {each.workspace_id for each in places})
    found = await visit.read(
        lambda: inbox.read_inbox(
            visit.person, wanted, (skipped, INBOX_PAGE), today_ms, now_ms + EXPIRES_SOON_MS, now_ms
        )
    )
    section = visit.choice("show", SECTIONS)
    groups = [] if section else _group(visit, found.waiting)
    first = _first(found, section)
    sendable = () if visit.frozen or section not in ("", "agent") else found.with_agent
    send_all = {
        str(each.action.action_id): each.action.digest
        for each in sendable
        if state_of(each.action) == APPROVED and each.action.view.executes == "server"
    }
    values = {
        "section": section,
        "unknown": _lines(visit, found.unknown) if section in ("", "stuck") else [],
        "stopped": _lines(visit, found.stopped) if section in ("", "stuck") else [],
        "with_agent": _lines(visit, found.with_agent) if section in ("", "agent") else [],
        "held": [held_line(each, now_ms) for each in found.held] if not section else [],
        "signups": [signup_line(visit, each) for each in found.signups] if not section else [],
        "groups": groups,
        "scheduled": _lines(visit, found.scheduled) if section in ("", "scheduled") else [],
        "done": _lines(visit, found.done) if section in ("", "sent") else [],
        "found": found.found,
        "searched": found.searched,
        "candidates": found.candidates,
        "search_on": _address(query | {"first": str(found.searched)}),
        "chips": _list_chips(visit, found, query, section),
        "pages": find_page(found.found, INBOX_PAGE, visit.query("page"), "/inbox", query),
        "query": query,
        "tenants": await visit.read(lambda: tenancy.list_tenants(visit.workspace_id)),
        "filtered": wanted != InboxFilter(),
        "done_together": _describe_batch(visit) or SIGNUP_DECIDED.get(visit.query("signup"), ""),
        "batches": any(group["batch"] for group in groups),
        "together": _list_approvable(groups),
        "send_all": send_all,
        "send_all_nonce": visit.nonce(nonce_subject(SEND_ALL, send_all)) if send_all else "",
        "batch_nonce": visit.nonce("batch"),
        "back": _address(query),
        "pane": await _draw_pane(visit, first) if first else None,
    }
    return visit.page("inbox.html", values)


async def show_pane(visit: Visit) -> Response:
    """One item for the pane, as a part of a page."""
    action_id = visit.part("action_id")
    found = await visit.read(lambda: inbox.find_line(visit.person, action_id))
    if found is None:
        raise PageRefused(NO_SUCH_ACTION)
    item = await _draw_pane(visit, found)
    decided = await visit.read(lambda: _find_decided(visit))
    if decided is not None:
        action, stopped = decided
        undo_ms = visit.services.limits.undo_ms
        shown = (item["card"],) if item["card"] is not None else ()
        item["done"] = say_done(visit.request, shown, action, _nonces_of(visit), undo_ms, stopped)
    return visit.page("inbox_pane_only.html", {"pane": item})


def _find_decided(visit: Visit) -> Transaction[tuple[Action, str] | None]:
    """Return the action of the last decision, and what stops it."""
    seen = yield from inbox.find(visit.person, visit.query("action"))
    if seen is None:
        return None
    action = seen[0]
    frozen = yield from freezes.list_in(action.workspace_id)
    return action, describe_freeze(find_stop(frozen, action), action)


async def lead_to_action(visit: Visit) -> Response:
    """Lead from the address of an action, which knows no run, to its place on the page of the run."""
    found = await visit.read(lambda: inbox.find(visit.person, visit.part("action_id")))
    if found is None:
        raise PageRefused(NO_SUCH_ACTION)
    return visit.go(f"/runs/{found[0].run_id}#action-{found[0].action_id}")


async def _draw_pane(visit: Visit, found: Waiting) -> dict[str, Any]:
    """One item, with its decisions where this person can make them here: in a browser with a key, about what the pane
    shows whole. An HTML part is shown on the review page, in its frame."""
    action, effects = found.action, _effects_of(visit, found)
    item = await run_apart(pane_values, effects, found, visit.now_ms)
    card = None
    if item["waits"] and visit.session.public_key is not None and not action.effect.html:
        services = visit.services.for_workspace(action.workspace_id)
        read = await visit.read(
            partial(_read_run, found, effects, visit.now_ms, for_member=visit.session.is_confirmed)
        )
        ready = await read_readiness(services, action)
        decider = visit.decider(action.workspace_id, visit.now_ms)
        looking = FormContext(
            visit.counts,
            "",
            visit.now_ms,
            _nonces_of(visit),
            effects,
            approver=decider.approver,
            role=decider.role,
            reach=Assurance.PASSKEY if visit.session.is_confirmed else visit.counts,
            undo_seconds=visit.services.limits.undo_ms // SECOND_MS,
        )
        card = await run_apart(build_card, read, action, ready, (), looking, Steps(PAGE_STEPS))
    return {**item, "card": card, "done": None}


def _read_run(
    found: Waiting, effects: EffectTypes, now_ms: int, *, for_member: bool
) -> Transaction[RunReview]:
    run = yield from actions.find_run(found.action.workspace_id, found.action.run_id)
    if run is None:
        raise PageRefused(NO_SUCH_ACTION)
    return (yield from review.read_review(run, effects, now_ms, for_member=for_member))


def _nonces_of(visit: Visit) -> Callable[[Action, str], str]:
    """The nonces of the forms of the review page."""
    return lambda action, decision: visit.nonces.issue(
        visit.browser, subject(action.run_id, action.action_id, action.digest, decision), visit.now_ms
    )


def _effects_of(visit: Visit, found: Waiting) -> EffectTypes:
    """The types of the action's workspace: an inbox has actions of several."""
    return visit.services.for_workspace(found.action.workspace_id).effects


def _lines(visit: Visit, found: Iterable[Waiting]) -> list[dict[str, Any]]:
    return [inbox_line(_effects_of(visit, each), each, visit.now_ms) for each in found]


def _group(visit: Visit, found: tuple[Waiting, ...]) -> list[dict[str, Any]]:
    """The waiting actions by their run, the most severe run first, in the order of their staging."""
    by_run: dict[str, list[Waiting]] = {}
    for each in found:
        by_run.setdefault(each.action.run_id, []).append(each)
    groups = []
    for run_id, staged in by_run.items():
        lines = _lines(visit, sorted(staged, key=lambda each: each.action.position))
        goal, agent = staged[0].goal, lines[0]["agent"] or "your agent"
        groups.append(
            {
                "run_id": run_id,
                "name": goal if goal and goal != lines[0]["title"] else f"From {agent}",
                "workspace": staged[0].workspace_name,
                "tenant": staged[0].action.tenant_id,
                "lines": lines,
                "batch": sum(line["batch"] for line in lines),
            }
        )
    return groups


def _list_approvable(groups: list[dict[str, Any]]) -> list[str]:
    """The ids of the low-risk drafts on this page that can be approved in one go."""
    lines = (line for group in groups for line in group["lines"])
    return [line["action_id"] for line in lines if line["batch"] and line["approve_href"]]


def _first(found: Inbox, section: str) -> Waiting | None:
    """The item that the pane shows first."""
    needs_you = (*found.unknown, *found.stopped, *found.waiting)
    beside = {"agent": found.with_agent, "scheduled": found.scheduled, "sent": found.done}
    shown = beside.get(section) if section in beside else (*needs_you, *chain(*beside.values()))
    return shown[0] if shown else None


def _address(query: dict[str, str]) -> str:
    given = urlencode({name: value for name, value in query.items() if value})
    return f"/inbox?{given}" if given else "/inbox"


def _list_chips(visit: Visit, found: Inbox, query: dict[str, str], section: str) -> list[dict[str, Any]]:
    """The filters that apply at once, each with its count. A count of None is not known."""
    base = {name: query[name] for name in ("q", "workspace", "tenant")}
    chosen = {name: value for name, value in query.items() if value and name not in base}
    names = visit.services.effects.channels
    counts = found.counts

    def chip(label: str, count: int | None, **picked: str) -> dict[str, Any]:
        return {
            "label": label,
            "count": count,
            "href": _address({**base, **picked}),
            "current": picked == ({"show": section} if section else chosen),
        }

    chips = [chip("Needs you", visit.waiting)]
    stuck = len(found.unknown) + len(found.stopped)
    if stuck or section == "stuck":
        chips.append(chip("Stuck", stuck, show="stuck"))
    if counts.high or query["risk"]:
        chips.append(chip("High risk", counts.high, risk="high"))
    if counts.soon or query["soon"]:
        chips.append(chip("Expiring", counts.soon, soon="1"))
    if found.with_agent or section == "agent":
        chips.append(chip("With your agent", len(found.with_agent), show="agent"))
    if found.scheduled or section == "scheduled":
        chips.append(chip("Scheduled", len(found.scheduled), show="scheduled"))
    if found.done or section == "sent":
        chips.append(chip("Done today", len(found.done), show="sent"))
    channels = sorted(counts.channels.items(), key=lambda each: (-each[1], each[0]))
    if len(channels) > 1 or query["channel"]:
        chips += [chip(names.get(each, each), count, channel=each) for each, count in channels]
    return chips


def _describe_batch(visit: Visit) -> str:
    """Say how many drafts the last batch decided."""
    count, did = whole_number(visit.query("count"), 3), visit.query("did")
    sent = whole_number(visit.query("sent"), 3) or count
    if did not in DID or count is None:
        return ""
    if half := whole_number(visit.query("half"), 3):
        rest = f" {count - half} approved." if count > half else ""
        return f"{half} approvals recorded; another person must approve, too.{rest}"
    return f"{count} approved, {sent} on their way out." if sent != count else f"{count} {DID[did]}."


# A stranger asks for a workspace of their own: an owner of the server lets them in, or declines (E93). Both need a
# signature, as inviting a person does: no key and no cookie alone admits a stranger.


def signup_line(visit: Visit, asked: SignupLink) -> dict[str, Any]:
    """The row of a request, with the nonce of its two forms."""
    return {
        "asked": asked,
        "at": visit.when(asked.created_ms),
        "nonce": visit.nonce(_signup_subject(asked.workspace_id)),
    }


async def admit_signup(visit: Visit) -> Response:
    text = "They get a key of a new, empty workspace, and nothing of yours. Name and address are their words."
    return await _decide_signup(visit, "admitted", "Let this stranger in?", text, "Let them in")


async def reject_signup(visit: Visit) -> Response:
    text = "They get no workspace and no key. The page that they have open says so."
    return await _decide_signup(visit, "rejected", "Decline this request?", text, "Decline")


async def _decide_signup(visit: Visit, decision: Decision, title: str, text: str, button: str) -> Response:
    visit.require_owner()
    wanted, now_ms = visit.part("workspace_id"), visit.now_ms
    form = await visit.form(_signup_subject(wanted))
    found = await visit.read(lambda: signup.list_open(now_ms))
    asked = next((each for each in found if each.workspace_id == wanted), None)
    if asked is None:
        raise PageRefused(NOT_FOUND)
    facts = (("Name", asked.name), ("Unconfirmed e-mail", asked.email))
    await visit.confirm(form, title, text, button, facts, back="/inbox")
    person = visit.person
    if not await decide_signup(asked.workspace_id, decision, person, now_ms, visit.write):
        raise PageRefused(NOT_FOUND)
    return visit.go(f"/inbox?signup={decision}")


def _signup_subject(workspace_id: str) -> str:
    return f"sign-up {workspace_id}"


SCREENS: Final = (
    Screen("/inbox", show, "inbox"),
    Screen("/inbox/pane/{action_id}", show_pane, "inbox"),
    Screen("/actions/{action_id}", lead_to_action, "inbox"),
    Screen("/inbox/signups/{workspace_id}/admit", admit_signup, "inbox", SEND),
    Screen("/inbox/signups/{workspace_id}/reject", reject_signup, "inbox", SEND),
)
