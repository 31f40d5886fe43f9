"""The entry point for agents: what was sent, what is open, what was learned, what is next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assent.engine.actions import circumstances
from assent.engine.learning.measurement import decode_measurement, describe_reading
from assent.engine.learning.memory import Entry
from assent.engine.views import overview
from assent.engine.views.overview import MOST_COUNTED, Measured, Overview
from assent.gate.effects import EffectTypes
from assent.gate.records import Action
from assent.kernel.distribution import LAUNCH
from assent.kernel.refusals import SuggestedCall
from assent.kernel.structs import Arguments, Record, WireRecord, from_record
from assent.kernel.texts import truncate
from assent.kernel.times import iso_time, readable_time
from assent.present.calls import LAUNCH_NEEDS, wait_call
from assent.present.next_steps import Circumstances, next_calls
from assent.present.outlook import WRITE_RIGHT
from assent.present.status_report import SECTION_TITLES, Section, explain, find_section, headline
from assent.tools.arguments import TenantIdArgument
from assent.tools.definition import READS, Call, Tool

LESSONS_SHOWN: Final = 3
MOST_CALLS: Final = 4
MAX_LESSON: Final = 200

CANNOT: Final = (
    "This server does only what its tools are for: without one it cannot refund, charge, or delete anything outside "
    "itself. It sends nothing that a person has not approved."
)

WITH_LAUNCH: Final = (
    "Assent prepares launches, posts and mails, and sends only what a human approved; it then measures and "
    "remembers."
)
WITHOUT: Final = "Assent stages what its tools are for, and does only what a human approved."
PREPARE: Final = (
    "prepare: chieflab_launch_product, chieflab_post or chieflab_send stage drafts; nothing goes out"
)
AFTERWARDS: Final = (
    "measure: a day later the server measures; chieflab_measure shows it",
    "remember: decisions and results shape the next run; chieflab_brain_read shows them",
)

SHOWN: Final = (
    Section.WENT_OUT,
    Section.TAKEN_DOWN,
    Section.UNKNOWN,
    Section.APPROVED_NOT_SENT,
    Section.BY_HAND,
    Section.WAITING,
    Section.FAILED,
    Section.EXPIRED,
)
"""The sections of actions, in display order."""


class Help(Record, forbid_unknown_fields=True):
    """No arguments."""


class HelpReply(WireRecord, kw_only=True):
    ok: bool
    what_this_is: str
    cannot: str
    loop: tuple[str, ...]
    rules: tuple[str, ...]
    next: tuple[SuggestedCall, ...]


class StatusRequest(Arguments, kw_only=True):
    tenant_id: TenantIdArgument | None = None


class StatusEntry(WireRecord, kw_only=True, omit_defaults=True):
    """One action of a section."""

    action_id: str
    run_id: str
    what: str
    channel: str
    when: str
    why: str = ""
    url: str = ""
    help_url: str = ""
    severity: str = ""
    expires_at: str | None = None
    schedule_for: str | None = None


class MeasuredEntry(WireRecord, kw_only=True):
    run_id: str
    what: str
    when: str
    totals: dict[str, float]
    next_move: str
    results: str = ""
    """The numbers of every channel in words."""


class DueMeasurement(WireRecord, kw_only=True):
    run_id: str
    due_at: str


class Lesson(WireRecord, kw_only=True):
    entry_id: str
    tenant_id: str
    kind: str
    body: str


class StatusReply(WireRecord, kw_only=True):
    """Every section, newest first, with its count (`counts` stops at a thousand)."""

    ok: bool
    workspace_id: str
    user_message: str
    show: str
    next: tuple[SuggestedCall, ...]
    counts: dict[str, int]
    went_out: tuple[StatusEntry, ...]
    approved_not_sent: tuple[StatusEntry, ...]
    waiting: tuple[StatusEntry, ...]
    by_hand: tuple[StatusEntry, ...]
    failed: tuple[StatusEntry, ...]
    unknown: tuple[StatusEntry, ...]
    measured: tuple[MeasuredEntry, ...]
    due_measurements: tuple[DueMeasurement, ...]
    lessons: tuple[Lesson, ...]
    taken_down: tuple[StatusEntry, ...] = ()
    expired: tuple[StatusEntry, ...] = ()
    """Approved actions that expired recently without being sent."""


async def show_help(call: Call, request: Help) -> HelpReply:
    has_launch = LAUNCH in call.services.extensions()
    return HelpReply(
        ok=True,
        what_this_is=WITH_LAUNCH if has_launch else WITHOUT,
        cannot=CANNOT,
        loop=(
            PREPARE if has_launch else "prepare: the tool that does it stages it first; nothing goes out",
            "review: paste show into the chat, word for word, and wait",
            "approve: chieflab_approve_action with the digest (send: true also sends), or chieflab_reject_action, as "
            "the human said; or the review link, and chieflab_get_action with waitSeconds tells what they decided",
            "execute: chieflab_execute_approved_action, once per approved action",
            *(AFTERWARDS if has_launch else ()),
            "report: chieflab_status says how things are, chieflab_report what was done and how it can be proven",
        ),
        rules=(
            "Never approve on your own judgement.",
            "On ok:false follow fixActionForAgent; retry says what to repeat. If it is never, stop and show "
            "userMessage.",
            "Pass idempotencyKey on calls that you may repeat.",
        ),
        next=(
            SuggestedCall("chieflab_status", {}, "at the start of a session"),
            *((LAUNCH_CALL,) if has_launch else ()),
        ),
    )


async def status(call: Call, request: StatusRequest) -> StatusReply:
    workspace_id, now_ms, effects = call.caller.workspace_id, call.now_ms, call.services.effects
    found = await call.services.store.read(
        lambda: overview.read_overview(workspace_id, request.tenant_id, effects, now_ms)
    )
    listed = tuple(action for section in SHOWN for action in found.sections.get(section, ()))
    around = await circumstances.read_circumstances(call.services, call.caller, listed)
    entries = {
        section: tuple(
            entry(action, around[action.action_id], now_ms) for action in found.sections.get(section, ())
        )
        for section in SHOWN
    }
    measured = tuple(_make_entry(each, effects) for each in found.measured)
    return StatusReply(
        ok=True,
        workspace_id=workspace_id,
        user_message=_message(found),
        show=_show(found, entries, measured, now_ms),
        next=_next(found, around, now_ms, call),
        counts=found.counts,
        went_out=entries[Section.WENT_OUT],
        approved_not_sent=entries[Section.APPROVED_NOT_SENT],
        waiting=entries[Section.WAITING],
        by_hand=entries[Section.BY_HAND],
        failed=entries[Section.FAILED],
        unknown=entries[Section.UNKNOWN],
        taken_down=entries[Section.TAKEN_DOWN],
        expired=entries[Section.EXPIRED],
        measured=measured,
        due_measurements=tuple(
            DueMeasurement(run_id=each.run_id, due_at=iso_time(each.due_ms)) for each in found.due
        ),
        lessons=tuple(from_record(Lesson, each, body=_short(each)) for each in found.lessons),
    )


def entry(action: Action, around: Circumstances, now_ms: int) -> StatusEntry:
    open_still = action.executed_ms is None
    return StatusEntry(
        action_id=action.action_id,
        run_id=action.run_id,
        what=headline(action.effect),
        channel=action.view.label,
        when=iso_time(_moment(action)),
        why=explain(action, around.obstacle, now_ms),
        url="" if find_section(action, now_ms) is Section.TAKEN_DOWN else action.external_url or "",
        help_url=(around.help_url or "") if open_still else "",
        severity=action.preflight.severity if action.status == "awaiting_approval" else "",
        expires_at=iso_time(action.expires_ms) if action.status == "awaiting_approval" else None,
        schedule_for=iso_time(action.schedule_ms) if open_still else None,
    )


def _moment(action: Action) -> int:
    """Return the time of an action's last change of state, as far as its record shows it."""
    approved_ms = action.approval.at_ms if action.approval is not None else None
    return action.executed_ms or approved_ms or action.created_ms


def _make_entry(found: Measured, effects: EffectTypes) -> MeasuredEntry:
    body = found.scheduled.body
    measured = decode_measurement(body) if body is not None else None
    known = [each for each in measured.sources if each.status == "ok"] if measured is not None else []
    lines = [f"{effects.label(each.channel)}: {describe_reading(each, short=True)}." for each in known]
    return MeasuredEntry(
        run_id=found.scheduled.run_id,
        what=found.about,
        when=iso_time(found.scheduled.measured_ms or 0),
        totals=measured.totals if measured is not None else {},
        next_move=measured.next_move.move if measured is not None else "",
        results=" ".join(lines) or "No numbers.",
    )


_COUNTED: Final = (
    (Section.UNKNOWN, "of {n} it is not known whether it went out"),
    (Section.WENT_OUT, "{n} went out in the last 30 days"),
    (Section.TAKEN_DOWN, "{n} taken down"),
    (Section.APPROVED_NOT_SENT, "{n} approved but not sent"),
    (Section.BY_HAND, "{n} to be published by hand"),
    (Section.WAITING, "{n} waiting for your approval"),
    (Section.FAILED, "{n} failed"),
    (Section.EXPIRED, "{n} approved and expired before going out"),
)


def _message(found: Overview) -> str:
    lines = [words.format(n=_number(n)) for section, words in _COUNTED if (n := found.counts[section])]
    counted = f"{', '.join(lines)}." if lines else "Nothing is open and nothing went out lately."
    learned = f" Learned lately: {_short(found.lessons[0])}" if found.lessons else ""
    return counted[0].upper() + counted[1:] + learned


def _number(count: int) -> str:
    return f"{count}" if count < MOST_COUNTED else f"{MOST_COUNTED} or more"


def _short(lesson: Entry) -> str:
    return truncate(" ".join(lesson.body.split()), MAX_LESSON)


def _show(
    found: Overview,
    entries: dict[Section, tuple[StatusEntry, ...]],
    measured: tuple[MeasuredEntry, ...],
    now_ms: int,
) -> str:
    parts = []
    for section in SHOWN:
        if not entries[section]:
            continue
        total = found.counts[section]
        more = f", the newest {len(entries[section])}" if total > len(entries[section]) else ""
        lines = [f"**{SECTION_TITLES[section]}** ({_number(total)}{more})"]
        by_id = {str(action.action_id): action for action in found.sections[section]}
        lines += [_line(each, _moment(by_id[each.action_id]), now_ms) for each in entries[section]]
        parts.append("\n".join(lines))
    if measured:
        lines = [f"- {each.what or 'A run'}: {each.results} Next: {each.next_move}" for each in measured]
        parts.append("\n".join(["**Measured lately**", *lines]))
    if waiting := [each for each in found.due if each.due_ms > now_ms]:
        parts.append(f"The next results arrive {readable_time(waiting[0].due_ms, now_ms)}.")
    if found.lessons:
        lines = [f"- {each.tenant_id}: {_short(each)}" for each in found.lessons[:LESSONS_SHOWN]]
        parts.append("\n".join(["**Learned lately**", *lines]))
    return "\n\n".join(parts) or "Nothing is open and nothing went out lately."


def _line(each: StatusEntry, at_ms: int, now_ms: int) -> str:
    what = f"- {each.channel}: “{each.what}”, {readable_time(at_ms, now_ms)}."
    return " ".join(part for part in (what, each.why, each.help_url, each.url) if part)


def _next(
    found: Overview, around: dict[str, Circumstances], now_ms: int, call: Call
) -> tuple[SuggestedCall, ...]:
    """The most urgent calls first; else the calls that start something."""
    urgent = tuple(_open_calls(found, around, now_ms))[:MOST_CALLS]
    may_begin = WRITE_RIGHT in call.caller.scopes and LAUNCH in call.services.extensions()
    return urgent or (BEGIN if may_begin else (REPORT,))


def _open_calls(found: Overview, around: dict[str, Circumstances], now_ms: int) -> Iterator[SuggestedCall]:
    """Yield calls for unknown outcomes first, then for pending, blocked and unmeasured actions."""
    if unknown := found.sections.get(Section.UNKNOWN):
        about: dict[str, Any] = {"actionId": unknown[0].action_id}
        yield SuggestedCall("chieflab_get_action", about, "to ask the user what they see at the provider")
    if waiting := found.sections.get(Section.WAITING):
        if any(around[action.action_id].may_decide for action in waiting):
            yield SuggestedCall("chieflab_list_pending_actions", {}, "to show what waits for the user")
        else:
            yield wait_call(waiting[0])
    for section in (Section.APPROVED_NOT_SENT, Section.BY_HAND):
        following = (
            next_calls(action.effect.channel, action, around[action.action_id])
            for action in found.sections.get(section, ())
        )
        if (calls := next(filter(None, following), None)) is not None:
            yield calls[0]
    overdue = [each for each in found.due if each.due_ms <= now_ms]
    if overdue:
        yield SuggestedCall("chieflab_measure", {"runId": overdue[0].run_id}, "to see how it went")


LAUNCH_CALL: Final = SuggestedCall(
    "chieflab_launch_product",
    {},
    "the user wants to launch something",
    LAUNCH_NEEDS,
)
POST: Final = SuggestedCall(
    "chieflab_post",
    {},
    "the user wants one post",
    {"channel": "where it appears, such as linkedin, x or site", "body": "the text, written by you"},
)
SEND: Final = SuggestedCall(
    "chieflab_send",
    {},
    "the user wants to write to someone",
    {"to": "the addresses", "subject": "the subject", "body": "the text, written by you"},
)
BEGIN: Final = (LAUNCH_CALL, POST, SEND)
REPORT: Final = SuggestedCall("chieflab_report", {}, "the user asks what was done")

TOOLS = (
    Tool(
        name="chieflab_status",
        title="How things are",
        description="One table of this workspace: what went out, what is approved but not sent and why, what waits, "
        "what is to be done by hand, what failed, what is unknown, what was measured, lessons learned, and next "
        "calls. USE WHEN a session starts, or the user asks how things are, or whether a post or mail was published "
        "or did go out.",
        category="primary",
        behaviour=READS,
        request=StatusRequest,
        reply=StatusReply,
        handler=status,
    ),
    Tool(
        name="chieflab_help",
        title="How this works",
        description="The loop, its rules and what this server cannot do, in a few lines. USE WHEN you are unsure what "
        "to call next.",
        category="workspace",
        behaviour=READS,
        request=Help,
        reply=HelpReply,
        handler=show_help,
    ),
)
