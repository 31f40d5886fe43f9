"""The entry point for agents: what was sent, what is open, what was learned, what is next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from assent.engine.actions import circumstances
from assent.engine.views import overview
from assent.engine.views.overview import MOST_COUNTED, Overview, Review
from assent.extensions.hooks import AgentWords, find_words, load_extensions
from assent.gate.records import OPEN, Action, Assurance, Status, is_with_agent, name_of
from assent.kernel.guide import TEXT, Guide, SuggestedCall, make_guide
from assent.kernel.structs import Arguments, Record, WireRecord
from assent.kernel.times import iso_time, readable_time
from assent.present.calls import wait_call
from assent.present.cards import begin_with_due
from assent.present.next_steps import Circumstances, next_calls
from assent.present.outlook import WRITE_RIGHT
from assent.present.status_report import SECTION_TITLES, Section, describe_edit, explain, find_section
from assent.tools.arguments import TenantIdArgument
from assent.tools.definition import READS, Call, Tool

MOST_CALLS: Final = 4

CANNOT: Final = (
    "This server does only what its tools are for: without one it cannot refund, charge, or delete anything outside "
    "itself. It sends nothing that a person has not approved."
)

SHOWN: Final = tuple(each for each in Section if each is not Section.REJECTED)
"""The sections of actions, in display order."""


class Help(Record, forbid_unknown_fields=True):
    """No arguments."""


class HelpReply(WireRecord, kw_only=True):
    ok: bool
    what_this_is: str
    cannot: str
    loop: tuple[str, ...]
    rules: tuple[str, ...]
    agent_guide: Guide | msgspec.UnsetType


class StatusRequest(Arguments, kw_only=True):
    tenant_id: TenantIdArgument | None = None


class StatusEntry(WireRecord, kw_only=True, omit_defaults=True):
    """One action of a section, which is told in the text."""

    action_id: str
    name: str
    tenant_id: str = ""
    schedule_for: str | None = None


class StatusReply(WireRecord, kw_only=True, omit_defaults=True):
    """Every section, newest first, with its count (`counts` stops at a thousand)."""

    ok: bool
    workspace_id: str
    user_message: str
    agent_guide: Guide | msgspec.UnsetType
    counts: dict[str, int]
    went_out: tuple[StatusEntry, ...] = ()
    approved_not_sent: tuple[StatusEntry, ...] = ()
    waiting: tuple[StatusEntry, ...] = ()
    by_hand: tuple[StatusEntry, ...] = ()
    failed: tuple[StatusEntry, ...] = ()
    unknown: tuple[StatusEntry, ...] = ()
    undone: tuple[StatusEntry, ...] = ()
    expired: tuple[StatusEntry, ...] = ()
    """Approved actions that expired recently without being sent."""
    rejected: tuple[StatusEntry, ...] = ()
    """What was rejected in the last two days."""
    extra: dict[str, Any] = {}
    """What extensions add, such as the lessons of measured runs."""


async def show_help(call: Call, request: Help) -> HelpReply:
    words = _find_words(call)
    return HelpReply(
        ok=True,
        what_this_is=words.summary,
        cannot=CANNOT,
        loop=(
            words.begin,
            "review: paste each body of renderInChat into the chat, word for word, and wait",
            "approve: chieflab_approve_action with the digest (send: true also sends), or chieflab_reject_action, as "
            "the human said; or the review link, and chieflab_get_action with waitSeconds tells what they decided",
            "execute: chieflab_execute_approved_action, once per approved action",
            *words.afterwards,
            "report: chieflab_status says how things are, chieflab_report what was done and how it can be proven",
        ),
        rules=(
            "Never approve on your own judgement.",
            "On ok:false follow fixActionForAgent; retry says what to repeat. If it is never, stop and show "
            "userMessage.",
            "Pass idempotencyKey on calls that you may repeat.",
        ),
        agent_guide=make_guide(
            {}, (SuggestedCall("chieflab_status", {}, "at the start of a session"), *words.calls[:1])
        ),
    )


def _find_words(call: Call) -> AgentWords:
    here = call.services.extensions()
    return find_words(each for each in load_extensions() if each.name in here)


async def status(call: Call, request: StatusRequest) -> StatusReply:
    workspace_id, now_ms, effects = call.caller.workspace_id, call.now_ms, call.services.effects
    found = await call.services.store.read(
        lambda: overview.read_overview(workspace_id, request.tenant_id, effects, now_ms)
    )
    listed = tuple(action for section in SHOWN for action in found.sections.get(section, ()))
    around = await circumstances.read_circumstances(call.services, call.caller, listed)
    entries = {section: tuple(map(entry, found.sections.get(section, ()))) for section in SHOWN}
    return StatusReply(
        ok=True,
        workspace_id=workspace_id,
        user_message=_message(found, around),
        agent_guide=make_guide(
            {TEXT: shown} if (shown := _show(found, around, now_ms)) else {},
            _next(found, around, now_ms, call),
        ),
        counts=found.counts,
        went_out=entries[Section.WENT_OUT],
        approved_not_sent=entries[Section.APPROVED_NOT_SENT],
        waiting=entries[Section.WAITING],
        by_hand=entries[Section.BY_HAND],
        failed=entries[Section.FAILED],
        unknown=entries[Section.UNKNOWN],
        undone=entries[Section.UNDONE],
        expired=entries[Section.EXPIRED],
        rejected=tuple(entry(each.action) for each in found.rejected),
        extra={name: value for part in found.parts for name, value in part.extra.items()},
    )


def entry(action: Action) -> StatusEntry:
    return StatusEntry(
        action_id=action.action_id,
        name=name_of(action),
        tenant_id=action.tenant_id or "",
        schedule_for=iso_time(action.schedule_ms) if action.executed_ms is None else None,
    )


def _moment(action: Action) -> int:
    """Return the time of an action's last change of state, as far as its record shows it."""
    approved_ms = action.approval.at_ms if action.approval is not None else None
    return action.executed_ms or approved_ms or action.created_ms


_COUNTED: Final = (
    (Section.UNKNOWN, "of {n} it is not known whether it went out"),
    (Section.WENT_OUT, "{n} went out in the last 30 days"),
    (Section.UNDONE, "{n} undone"),
    (Section.APPROVED_NOT_SENT, "{n} approved but not sent"),
    (Section.BY_HAND, "{n} to be published by hand"),
    (Section.WAITING, "{n} waiting for your approval"),
    (Section.FAILED, "{n} failed"),
    (Section.REJECTED, "{n} rejected in the last two days"),
    (Section.EXPIRED, "{n} approved and expired before going out"),
)


def _message(found: Overview, around: dict[str, Circumstances]) -> str:
    """Say what is how often: first whether sending is stopped, and last what extensions add."""
    sent_back = sum(map(is_with_agent, found.sections.get(Section.WAITING, ())))
    counts = {**found.counts, Section.WAITING: found.counts[Section.WAITING] - sent_back}
    lines = [words.format(n=_number(n)) for section, words in _COUNTED if (n := counts[section])]
    lines += [f"{sent_back} sent back for changes"] if sent_back else []
    counted = f"{', '.join(lines)}." if lines else "Nothing is open and nothing went out lately."
    added = "".join(f" {part.said}" for part in found.parts if part.said)
    stopped = next((f"{each.frozen} " for each in around.values() if each.frozen), "")
    return stopped + counted[0].upper() + counted[1:] + added


def _number(count: int) -> str:
    return f"{count}" if count < MOST_COUNTED else f"{MOST_COUNTED} or more"


def _show(found: Overview, around: dict[str, Circumstances], now_ms: int) -> str:
    parts = []
    for section in SHOWN:
        listed = found.sections.get(section, ())
        if not listed:
            continue
        total = found.counts[section]
        more = f", the newest {len(listed)}" if total > len(listed) else ""
        lines = [f"**{SECTION_TITLES[section]}** ({_number(total)}{more})"]
        lines += [
            _line(action, around[action.action_id], found.edited.get(action.action_id), now_ms)
            for action in listed
        ]
        parts.append("\n".join(lines))
    if found.rejected:
        total = found.counts[Section.REJECTED]
        more = f", the newest {len(found.rejected)}" if total > len(found.rejected) else ""
        lines = [_tell_rejection(each, now_ms) for each in found.rejected]
        parts.append("\n".join([f"**{SECTION_TITLES[Section.REJECTED]}** ({total}{more})", *lines]))
    parts += (text for part in found.parts for text in part.shown)
    return "\n\n".join(parts)


def _tell_rejection(review: Review, now_ms: int) -> str:
    action, by = review.action, f" by {review.by}" if review.assurance != Assurance.AGENT else " in a chat"
    whose = f" for {action.tenant_id}" if action.tenant_id else ""
    what = f"- {action.view.label}{whose}: “{action.headline}”, rejected {readable_time(review.at_ms, now_ms)}{by}"
    return f"{what}: “{action.rejection}”" if action.rejection else f"{what}."


def _line(action: Action, around: Circumstances, edit: Review | None, now_ms: int) -> str:
    """Return the line of an action. What has a time begins with it."""
    is_open = action.status in OPEN  # the name of any other is given again
    name = f" ({name_of(action)})" if is_open and name_of(action) != action.effect.channel else ""
    done = {Status.APPROVED: "approved ", Status.AWAITING_APPROVAL: "prepared "}.get(action.status, "")
    whose = f" for {action.tenant_id}" if action.tenant_id else ""
    when = readable_time(_moment(action), now_ms)
    due = begin_with_due(action, now_ms)
    what = f"{due}{action.view.label}{name}{whose}: “{action.headline}”, {done}{when}."
    why = explain(action, around, now_ms)
    if edit is not None:
        said = f"{describe_edit(edit.by, edit.changed)} {readable_time(edit.at_ms, now_ms)}; it waits again."
        why = f"{said} {why}".rstrip()
    help_url = around.help_url if action.executed_ms is None else None
    url = None if find_section(action, now_ms) is Section.UNDONE else action.external_url
    return " ".join(filter(None, ("-", what, why, help_url, url)))


def _next(
    found: Overview, around: dict[str, Circumstances], now_ms: int, call: Call
) -> tuple[SuggestedCall, ...]:
    """The most urgent calls first; else the calls that start something."""
    urgent = tuple(_open_calls(found, around, now_ms))[:MOST_CALLS]
    beginning = _find_words(call).calls if WRITE_RIGHT in call.caller.scopes else ()
    return urgent or beginning or (REPORT,)


def _open_calls(found: Overview, around: dict[str, Circumstances], now_ms: int) -> Iterator[SuggestedCall]:
    """Yield calls for unknown outcomes first, then for pending and blocked actions, then what extensions add."""
    if unknown := found.sections.get(Section.UNKNOWN):
        about: dict[str, Any] = {"actionId": unknown[0].action_id}
        yield SuggestedCall("chieflab_get_action", about, "to ask the user what they see at the provider")
    if waiting := found.sections.get(Section.WAITING):
        if (back := next(filter(is_with_agent, waiting), None)) is not None:
            yield from next_calls(back, around[back.action_id])[:1]
        if any(around[action.action_id].may_decide for action in waiting):
            yield SuggestedCall("chieflab_list_pending_actions", {}, "to show what waits for the user")
        else:
            yield wait_call(waiting[0])
    for section in (Section.APPROVED_NOT_SENT, Section.BY_HAND, Section.FAILED, Section.EXPIRED):
        following = (
            next_calls(action, around[action.action_id]) for action in found.sections.get(section, ())
        )
        if (calls := next(filter(None, following), None)) is not None:
            yield calls[0]
    for part in found.parts:
        yield from part.next


REPORT: Final = SuggestedCall("chieflab_report", {}, "the user asks what was done")

TOOLS = (
    Tool(
        name="chieflab_status",
        title="How things are",
        description="One table of this workspace: what went out, what is approved but not sent and why, what waits, "
        "is stuck, is to be done by hand, failed or is unknown, what was measured, and lessons learned. USE WHEN a "
        "session starts, or the user asks how things are, what happened while they were away, or whether a post or "
        "mail was published, did work or go out or go through, and why not.",
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
        behaviour=READS,
        request=Help,
        reply=HelpReply,
        handler=show_help,
    ),
)
