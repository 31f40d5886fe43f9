"""Reports what was done for the user since a time, who approved it, and the proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from assent.engine.actions import circumstances
from assent.engine.learning.measurement import Measurement, describe_reading
from assent.engine.views import reporting
from assent.engine.views.reporting import Report, StreamHead
from assent.gate.audit import WHAT_HASHES_PROVE, describe_approval
from assent.gate.effects import EffectTypes
from assent.gate.measurement.recommend import describe_usual
from assent.gate.records import Action, is_by_hand, when_taken_down
from assent.kernel.limits import DAY_MS, HOUR_MS
from assent.kernel.refusals import SuggestedCall
from assent.kernel.structs import Arguments, Record, WireRecord, from_record
from assent.kernel.times import iso_time, parse_time, readable_time
from assent.present.next_steps import PLAIN, Circumstances, next_calls
from assent.present.status_report import SECTION_TITLES, Section, explain, find_section, headline
from assent.tools.arguments import Since, since_moment
from assent.tools.definition import READS, Call, Tool

OPEN: Final = (Section.UNKNOWN, Section.APPROVED_NOT_SENT, Section.BY_HAND, Section.WAITING)
"""Sections with something left to do."""


def describe_sent(of_run: tuple[Action, ...]) -> str:
    """`1 of 4 went out.`"""
    sent = sum(action.executed_ms is not None for action in of_run)
    gone = sum(when_taken_down(action) is not None for action in of_run)
    if len(of_run) > 1 or not sent:
        return f"{sent} of {len(of_run)} went out{f'; {gone} taken down since' if gone else ''}."
    return "It went out and was taken down since." if gone else "It went out."


def describe_results(found: Measurement, of_run: tuple[Action, ...], effects: EffectTypes) -> str:
    """The numbers of every source in a sentence: `Site: 0 views, 0 clicks after one day.`"""
    first_ms = min((action.executed_ms for action in of_run if action.executed_ms is not None), default=None)
    read_ms = parse_time(found.measured_at)
    after = (
        f" after {_describe_age(read_ms - first_ms)}" if first_ms is not None and read_ms is not None else ""
    )
    parts = [
        f"{effects.label(each.channel)}: {describe_reading(each, short=True)}{after}."
        for each in found.sources
    ]
    return " ".join(parts)


class MeasuredText(Record):
    """What an agent shows and says about a measured run, and the call that finishes what is left of it."""

    shown: str
    said: str
    first: tuple[SuggestedCall, ...]


async def describe_measured(call: Call, found: Measurement, of_run: tuple[Action, ...]) -> MeasuredText:
    left = [action for action in of_run if find_section(action, call.now_ms) in OPEN]
    around = await circumstances.read_circumstances(call.services, call.caller, left)
    effects = call.services.effects
    first = [next_calls(each.effect.channel, each, around[each.action_id])[:1] for each in left[:1]]
    return MeasuredText(
        show_results(found, of_run, around, effects, call.now_ms),
        f"{describe_sent(of_run)} {describe_results(found, of_run, effects)}",
        first[0] if first else (),
    )


def show_results(
    found: Measurement,
    of_run: tuple[Action, ...],
    around: Mapping[str, Circumstances],
    effects: EffectTypes,
    now_ms: int,
) -> str:
    """Return the whole result as Markdown: what was sent, the numbers, what is left, and the next
    move.

    `around` has the circumstances of open actions, by action id.
    """
    lines = [f"**{describe_sent(of_run)}**"]
    lines += [_result_line(action, around.get(action.action_id, PLAIN), now_ms) for action in of_run]
    parts = ["\n".join(lines)]
    read_ms = parse_time(found.measured_at)
    when = f", read {readable_time(read_ms, now_ms)}" if read_ms is not None else ""
    numbers = [f"- {effects.label(each.channel)}: {describe_reading(each)}" for each in found.sources]
    parts.append("\n".join([f"**Results**{when}", *numbers]))
    if found.baseline:
        usual = [f"- {effects.label(each.channel)} {describe_usual(each)}" for each in found.baseline]
        parts.append("\n".join(["**Earlier**", *usual]))
    if any(find_section(action, now_ms) in OPEN for action in of_run):
        parts.append("**Next:** finish what is still open above.")
    parts.append(f"**Advice:** {found.next_move.move} {found.next_move.why}")
    return "\n\n".join(parts)


def _result_line(action: Action, around: Circumstances, now_ms: int) -> str:
    section = find_section(action, now_ms)
    parts = [f"- {action.view.label}, “{headline(action.effect)}”: "]
    if section is Section.TAKEN_DOWN:
        parts.append(explain(action, None, now_ms))
    elif action.executed_ms is not None:
        parts.append(f"went out {readable_time(action.executed_ms, now_ms)}. {action.external_url or ''}")
    else:
        parts.append(f"{SECTION_TITLES[section].lower()}. {explain(action, around.obstacle, now_ms)}")
    return "".join(parts).rstrip()


def _describe_age(ms: int) -> str:
    """`one day`, `3 days`, `5 hours`."""
    unit_ms, name = (DAY_MS, "day") if ms >= DAY_MS else (HOUR_MS, "hour")
    count = ms // unit_ms
    if count == 0:
        return "less than an hour"
    return f"one {name}" if count == 1 else f"{count} {name}s"


REFUSED_SHOWN: Final = 10
LINES_SHOWN: Final = 20
DEFAULT_SINCE: Final = "P7D"

ORDER: Final = (
    Section.WENT_OUT,
    Section.TAKEN_DOWN,
    Section.UNKNOWN,
    Section.APPROVED_NOT_SENT,
    Section.BY_HAND,
    Section.WAITING,
    Section.FAILED,
    Section.REJECTED,
    Section.EXPIRED,
)


class ReportRequest(Arguments, kw_only=True):
    since: Since = DEFAULT_SINCE


class ApprovalView(WireRecord, kw_only=True):
    by: str
    at: str
    assurance: str
    how_sure: str


class ReportEntry(WireRecord, kw_only=True, omit_defaults=True):
    """An action that changed since then."""

    action_id: str
    run_id: str
    what: str
    channel: str
    outcome: str
    """The action's current section of the status."""
    why: str = ""
    sent_at: str | None = None
    url: str = ""
    external_id: str = ""
    digest: str = ""
    approved: ApprovalView | None = None
    refused_attempts: int = 0


class RefusedAttempt(WireRecord, kw_only=True):
    action_id: str
    at: str
    reason: str
    detail: str
    by: str


class CheckpointView(WireRecord, kw_only=True):
    number: int
    at: str
    digest: str
    public_key: str


class Proof(WireRecord, kw_only=True):
    """The chain heads of the runs above, and the newest signature over all chains."""

    statement: str
    heads: tuple[StreamHead, ...]
    checkpoint: CheckpointView | None
    link: str
    """Where a signed-in person sees every event and can verify the chain."""


class ReportReply(WireRecord, kw_only=True):
    ok: bool
    since: str
    user_message: str
    show: str
    next: tuple[SuggestedCall, ...]
    counts: dict[str, int]
    actions: tuple[ReportEntry, ...]
    more: bool
    refused_attempts: tuple[RefusedAttempt, ...]
    confirmed_workflow_steps: int
    proof: Proof


async def report(call: Call, request: ReportRequest) -> ReportReply:
    since_ms = since_moment("since", request.since, call.now_ms)
    workspace_id = call.caller.workspace_id
    found = await call.services.store.read(lambda: reporting.report(workspace_id, since_ms))
    left = [action for action in found.actions if find_section(action, call.now_ms) in OPEN]
    around = await circumstances.read_circumstances(call.services, call.caller, left)
    why = {
        str(action.action_id): explain(action, around.get(action.action_id, PLAIN).obstacle, call.now_ms)
        for action in found.actions
    }
    counts = Counter(find_section(action, call.now_ms) for action in found.actions)
    counts[Section.TAKEN_DOWN] = len(_pages_taken_down(found.actions, call.now_ms))
    message = _message(found, counts, since_ms, call.now_ms)
    link = f"{call.services.links.base_url}/audit"
    refused = Counter(each.action_id for each in found.refused)
    return ReportReply(
        ok=True,
        since=iso_time(since_ms),
        user_message=message,
        show=_show(found, why, message, link, call.now_ms),
        next=(
            SuggestedCall("chieflab_status", {}, "the user asks what is open now"),
            SuggestedCall(
                "chieflab_report", {}, "the user asks about another time", {"since": "since when, as a date"}
            ),
        ),
        counts={section.value: counts[section] for section in ORDER if counts[section]},
        actions=tuple(
            _entry(action, why[action.action_id], refused[action.action_id], call.now_ms)
            for action in found.actions
        ),
        more=found.more,
        refused_attempts=tuple(
            from_record(RefusedAttempt, each, at=iso_time(each.at_ms))
            for each in found.refused[:REFUSED_SHOWN]
        ),
        confirmed_workflow_steps=found.steps,
        proof=Proof(
            statement=WHAT_HASHES_PROVE,
            heads=found.heads,
            checkpoint=from_record(CheckpointView, signed, at=iso_time(signed.at_ms))
            if (signed := found.checkpoint) is not None
            else None,
            link=link,
        ),
    )


def _pages_taken_down(found: Iterable[Action], now_ms: int) -> set[str]:
    """Return the ids of published actions whose page was taken down."""
    gone = (action for action in found if find_section(action, now_ms) is Section.TAKEN_DOWN)
    return {
        str(action.effect.details["actionId"] if action.view.removes else action.action_id) for action in gone
    }


def _entry(action: Action, why: str, refused: int, now_ms: int) -> ReportEntry:
    return ReportEntry(
        action_id=action.action_id,
        run_id=action.run_id,
        what=headline(action.effect),
        channel=action.view.label,
        outcome=find_section(action, now_ms),
        why=why,
        sent_at=iso_time(action.executed_ms),
        url=_address(action, now_ms),
        external_id=action.external_id or "",
        digest=action.digest,
        approved=from_record(
            ApprovalView, approval, at=iso_time(approval.at_ms), how_sure=describe_approval(approval)
        )
        if (approval := action.approval) is not None
        else None,
        refused_attempts=refused,
    )


_WORDS: Final = {
    Section.WENT_OUT: "{n} went out",
    Section.TAKEN_DOWN: "{n} taken down",
    Section.UNKNOWN: "of {n} it is not known whether it went out",
    Section.APPROVED_NOT_SENT: "{n} approved and not sent",
    Section.BY_HAND: "{n} to be published by hand",
    Section.WAITING: "{n} waiting for approval",
    Section.FAILED: "{n} failed",
    Section.REJECTED: "{n} rejected",
    Section.EXPIRED: "{n} expired",
}


def _message(found: Report, counts: Counter[Section], since_ms: int, now_ms: int) -> str:
    parts = [_WORDS[section].format(n=counts[section]) for section in ORDER if counts[section]]
    if found.refused:
        count = len(found.refused)
        parts.append("one refused attempt to send" if count == 1 else f"{count} refused attempts to send")
    if found.steps:
        parts.append(f"{found.steps} workflow step(s) put before you")
    return f"Since {readable_time(since_ms, now_ms).removeprefix('on ')}: {', '.join(parts) or 'nothing'}."


def _show(found: Report, why: Mapping[str, str], message: str, link: str, now_ms: int) -> str:
    parts = [message]
    left = LINES_SHOWN
    for section in ORDER:
        listed = [action for action in found.actions if find_section(action, now_ms) is section][:left]
        left -= len(listed)
        if listed:
            lines = [_line(action, why[action.action_id], now_ms) for action in listed]
            parts.append("\n".join([f"**{SECTION_TITLES[section]}**", *lines]))
    if found.refused:
        lines = [
            f"- {readable_time(each.at_ms, now_ms)}: {each.detail or each.reason}"
            for each in found.refused[:REFUSED_SHOWN]
        ]
        parts.append("\n".join(["**Refused attempts to send**", *lines]))
    if found.more or left <= 0:
        parts.append("There is more than is listed here; the audit page has all of it.")
    unsigned = "" if found.checkpoint is not None else " Nothing is signed yet."
    parts.append(f"**Proof.** {WHAT_HASHES_PROVE}{unsigned} Every event, and a check of the chain: {link}")
    return "\n\n".join(parts)


def _address(action: Action, now_ms: int) -> str:
    """Return the URL; empty if the page was taken down."""
    return "" if find_section(action, now_ms) is Section.TAKEN_DOWN else action.external_url or ""


def _line(action: Action, why: str, now_ms: int) -> str:
    parts = []
    if action.executed_ms is not None and find_section(action, now_ms) is not Section.TAKEN_DOWN:
        done = "Recorded" if is_by_hand(action) else "Sent"
        parts.append(f"{done} {readable_time(action.executed_ms, now_ms)}.")
    if address := _address(action, now_ms):
        parts.append(address)
    if why:
        parts.append(why)
    if action.approval is not None:
        parts.append(
            f"Approved {readable_time(action.approval.at_ms, now_ms)}: {describe_approval(action.approval)}."
        )
    what = f"- {action.view.label}, “{headline(action.effect)}”"
    return f"{what}: {' '.join(parts)}" if parts else what


TOOLS = (
    Tool(
        name="chieflab_report",
        title="What was done, with proof",
        description="What was done since a given time, such as last week: who approved each action and how certain "
        "that is, what was sent, where and when, refused attempts, and the proof. USE WHEN the user asks what you "
        "did for them, or for proof.",
        category="primary",
        behaviour=READS,
        request=ReportRequest,
        reply=ReportReply,
        handler=report,
    ),
)
