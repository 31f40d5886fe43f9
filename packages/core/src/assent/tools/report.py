"""Reports what was done for the user since a time, who approved it, and the proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from assent.engine.actions import actions, circumstances, hooks
from assent.engine.actions.hooks import ChannelResult, RunResult
from assent.engine.actions.staging import Reply
from assent.engine.views import reporting
from assent.engine.views.reporting import REFUSED_LISTED, Report, StreamHead
from assent.gate.audit import WHAT_HASHES_PROVE, describe_approval
from assent.gate.records import Action, Asset, Run, name_of, when_undone
from assent.kernel.canonical import short_digest
from assent.kernel.guide import TEXT, Guide, SuggestedCall, make_guide
from assent.kernel.ids import RunId
from assent.kernel.structs import Arguments, Record, WireRecord, from_record
from assent.kernel.times import iso_time, readable_time
from assent.ports import Transaction
from assent.present import guidance
from assent.present.cards import begin_with_due
from assent.present.next_steps import PLAIN, Circumstances, next_calls
from assent.present.status_report import (
    SECTION_TITLES,
    Section,
    explain,
    find_section,
    list_undone,
    run_status,
    state_in_run,
)
from assent.tools.arguments import Cursor, Since, TenantIdArgument, since_moment
from assent.tools.definition import READS, Call, Tool
from assent.tools.runs import require_run

OPEN: Final = (Section.UNKNOWN, Section.APPROVED_NOT_SENT, Section.BY_HAND, Section.WAITING)
"""Sections with something left to do."""


class RunText(Record):
    """What became of the actions of a run."""

    run: Run
    actions: tuple[Action, ...]
    review_url: str
    now_ms: int
    said: str
    """`1 of 4 went out.`"""
    lines: tuple[str, ...]
    """A line of Markdown for each action."""
    first: tuple[SuggestedCall, ...]
    """The call that finishes what is open, if there is one."""
    is_open: bool

    def answer(
        self,
        shape: type[Reply],
        shown: str,
        said: str,
        calls: tuple[SuggestedCall, ...],
        assets: tuple[Asset, ...],
        **more: Any,
    ) -> Reply:
        """Return the answer of a tool that has read what became of the run, and stages nothing."""
        guide = guidance.guide_unstaged(shown, said, calls)
        states = (state_in_run(action, self.now_ms) for action in self.actions)
        return shape(
            ok=True,
            run_id=self.run.run_id,
            workspace_id=self.run.workspace_id,
            tenant_id=self.run.tenant_id,
            assets=tuple(map(guidance.brief_view, assets)),
            actions=(),
            review_url=self.review_url,
            agent_guide=guide,
            stop_rule=guide.stop_rule,
            side_effects_prepared_but_not_fired=(),
            external_actions_executed=sum(action.executed_ms is not None for action in self.actions),
            status=run_status(self.run.status, states, measured=True),
            **more,
        )


async def report_run(call: Call, run_id: RunId) -> RunText:
    """Return what became of the actions of a run. Refuses an id that the workspace does not have."""
    workspace_id = call.caller.workspace_id

    def look() -> Transaction[tuple[Run, tuple[Action, ...]]]:
        run = yield from require_run(workspace_id, run_id)
        return run, (yield from actions.run_actions(workspace_id, run_id))

    run, of_run = await call.services.store.read(look)
    left = [action for action in of_run if find_section(action, call.now_ms) in OPEN]
    around = await circumstances.read_circumstances(call.services, call.caller, left)
    first = [next_calls(each, around[each.action_id])[:1] for each in left[:1]]
    return RunText(
        run,
        of_run,
        call.review_url(run_id),
        call.now_ms,
        _describe_sent(of_run),
        tuple(_result_line(each, around.get(each.action_id, PLAIN), call.now_ms) for each in of_run),
        first[0] if first else (),
        bool(left),
    )


def _describe_sent(of_run: tuple[Action, ...]) -> str:
    meant = [action for action in of_run if not action.view.removes]
    sent = sum(action.executed_ms is not None for action in meant)
    gone = sum(when_undone(action) is not None for action in meant)
    if len(meant) > 1 or not sent:
        return f"{sent} of {len(meant)} went out{f'; {gone} undone since' if gone else ''}."
    return "It went out and was undone since." if gone else "It went out."


def _result_line(action: Action, around: Circumstances, now_ms: int) -> str:
    section = find_section(action, now_ms)
    parts = [f"- {begin_with_due(action, now_ms)}{action.view.label}, “{action.headline}”: "]
    if section is Section.UNDONE:
        parts.append(explain(action, around, now_ms))
    elif action.executed_ms is not None:
        parts.append(f"went out {readable_time(action.executed_ms, now_ms)}. {action.external_url or ''}")
    else:
        parts.append(f"{SECTION_TITLES[section].lower()}. {explain(action, around, now_ms)}")
    return "".join(parts).rstrip()


DEFAULT_SINCE: Final = "P7D"


class ReportRequest(Arguments, kw_only=True):
    since: Since = DEFAULT_SINCE
    tenant_id: TenantIdArgument | None = None
    cursor: Cursor | None = None


class ApprovalView(WireRecord, kw_only=True):
    by: str
    at: str
    assurance: str


class ReportEntry(WireRecord, kw_only=True, omit_defaults=True):
    """An action that changed since then, which is told in the text."""

    action_id: str
    run_id: str
    name: str
    outcome: str
    """The action's current section of the status."""
    tenant_id: str = ""
    sent_at: str | None = None
    external_id: str = ""
    digest: str = ""
    approved: ApprovalView | None = None
    refused_attempts: int = 0


class RefusedAttempt(WireRecord, kw_only=True):
    action_id: str
    at: str
    reason: str
    by: str


class CheckpointView(WireRecord, kw_only=True):
    number: int
    at: str
    digest: str
    public_key: str


class Proof(WireRecord, kw_only=True):
    """The chain heads of the runs above, and the newest signature over all chains."""

    heads: tuple[StreamHead, ...]
    checkpoint: CheckpointView | None


class ReportReply(WireRecord, kw_only=True):
    ok: bool
    since: str
    user_message: str
    agent_guide: Guide | msgspec.UnsetType
    counts: dict[str, int]
    actions: tuple[ReportEntry, ...]
    more: bool
    refused_attempts: tuple[RefusedAttempt, ...]
    confirmed_workflow_steps: int
    proof: Proof


async def report(call: Call, request: ReportRequest) -> ReportReply:
    now_ms = call.now_ms
    since_ms = since_moment("since", request.since, now_ms)
    workspace_id = call.caller.workspace_id

    def begin() -> Transaction[tuple[Report, dict[str, RunResult]]]:
        found = yield from reporting.report(
            workspace_id, since_ms, request.tenant_id, request.cursor or "", now_ms
        )
        sent = tuple(dict.fromkeys(each.run_id for each in found.actions if each.executed_ms is not None))
        return found, (yield from hooks.read_results(workspace_id, sent, call.services.effects))

    found, results = await call.services.store.read(begin)
    of = {
        str(action.action_id): result
        for action in found.actions
        if action.executed_ms is not None and (result := _find_result(action, results)) is not None
    }
    left = [action for action in found.actions if find_section(action, now_ms) in OPEN]
    around = await circumstances.read_circumstances(call.services, call.caller, left)
    why = {
        str(action.action_id): explain(action, around.get(action.action_id, PLAIN), now_ms)
        for action in found.actions
    }
    message = _message(found, since_ms, now_ms)
    link = f"{call.services.links.base_url}/audit"
    refused = Counter(each.action_id for each in found.refused)
    return ReportReply(
        ok=True,
        since=iso_time(since_ms),
        user_message=message,
        agent_guide=make_guide({TEXT: _show(found, why, of, link, now_ms)}, _next(found, request, since_ms)),
        counts={section.value: count for section in Section if (count := found.counts.get(section))},
        actions=tuple(_entry(action, refused[action.action_id], now_ms) for action in found.actions),
        more=found.more,
        refused_attempts=tuple(
            from_record(RefusedAttempt, each, at=iso_time(each.at_ms))
            for each in found.refused[:REFUSED_LISTED]
        ),
        confirmed_workflow_steps=found.steps,
        proof=Proof(
            heads=found.heads,
            checkpoint=from_record(CheckpointView, signed, at=iso_time(signed.at_ms))
            if (signed := found.checkpoint) is not None
            else None,
        ),
    )


def _entry(action: Action, refused: int, now_ms: int) -> ReportEntry:
    return ReportEntry(
        action_id=action.action_id,
        run_id=action.run_id,
        name=name_of(action),
        outcome=find_section(action, now_ms),
        tenant_id=action.tenant_id or "",
        sent_at=iso_time(action.executed_ms),
        external_id=action.external_id or "",
        digest=short_digest(action.digest),
        approved=from_record(ApprovalView, approval, at=iso_time(approval.at_ms))
        if (approval := action.approval) is not None
        else None,
        refused_attempts=refused,
    )


_WORDS: Final = {
    Section.WENT_OUT: "{n} went out",
    Section.UNDONE: "{n} undone",
    Section.UNKNOWN: "of {n} it is not known whether it went out",
    Section.APPROVED_NOT_SENT: "{n} approved and not sent",
    Section.BY_HAND: "{n} to be published by hand",
    Section.WAITING: "{n} waiting for approval",
    Section.FAILED: "{n} failed",
    Section.REJECTED: "{n} rejected",
    Section.EXPIRED: "{n} expired",
}


def _message(found: Report, since_ms: int, now_ms: int) -> str:
    parts = [_WORDS[section].format(n=count) for section in Section if (count := found.counts.get(section))]
    if found.refused:
        count = len(found.refused)
        parts.append("one refused attempt to send" if count == 1 else f"{count} refused attempts to send")
    if found.steps:
        count = found.steps
        parts.append(
            "one workflow step put before you" if count == 1 else f"{count} workflow steps put before you"
        )
    least = "at least " if found.is_bounded else ""
    return f"Since {readable_time(since_ms, now_ms).removeprefix('on ')}: {least}{', '.join(parts) or 'nothing'}."


_FOLLOWING: Final = (
    SuggestedCall("chieflab_status", {}, "the user asks what is open now"),
    SuggestedCall(
        "chieflab_report", {}, "the user asks about another time", {"since": "since when, as a date"}
    ),
)


def _next(found: Report, request: ReportRequest, since_ms: int) -> tuple[SuggestedCall, ...]:
    if not found.more:
        return _FOLLOWING
    args = {"since": iso_time(since_ms), "cursor": found.actions[-1].action_id}
    if request.tenant_id is not None:
        args["tenantId"] = request.tenant_id
    return (SuggestedCall("chieflab_report", args, "the user asks for the earlier ones"), *_FOLLOWING)


def _find_result(action: Action, results: Mapping[str, RunResult]) -> ChannelResult | None:
    # What a run brought is that of what it sent, also after that was taken back.
    result = results.get(action.run_id) if not action.view.removes else None
    return result.channels.get(action.effect.channel) if result is not None else None


def _list_best(found: Report, results: Mapping[str, ChannelResult]) -> list[str]:
    """Return a line for each channel on which several were counted in the same way: the one with the most."""
    counted: dict[tuple[str, str], list[Action]] = {}
    for action in found.actions:
        result = results.get(action.action_id)
        if result is not None and result.counted and when_undone(action) is None:
            counted.setdefault((action.view.label, result.counted), []).append(action)
    best = {
        label: max(several, key=lambda each: results[each.action_id].count)
        for (label, _), several in counted.items()
        if len({each.run_id for each in several}) > 1
    }
    return [
        f"- {label}: “{action.headline}”, {results[action.action_id].words}"
        for label, action in best.items()
        if results[action.action_id].count
    ]


def _show(
    found: Report, why: Mapping[str, str], results: Mapping[str, ChannelResult], link: str, now_ms: int
) -> str:
    parts = []
    if found.total > len(found.actions):
        last = found.skipped + len(found.actions)
        parts.append(f"Listed here: {found.skipped + 1} to {last} of {found.total}, the latest first.")
    for section in Section:
        listed = tuple(action for action in found.actions if find_section(action, now_ms) is section)
        if section is Section.UNDONE:
            listed = list_undone(listed)
        if listed:
            lines = [
                _line(found, action, why[action.action_id], results.get(action.action_id), now_ms)
                for action in listed
            ]
            parts.append("\n".join([f"**{SECTION_TITLES[section]}**", *lines]))
    if best := _list_best(found, results):
        parts.append("\n".join(["**Best so far**", *best]))
    if found.refused:
        lines = [
            f"- {found.named.get(each.action_id, each.action_id)}, {readable_time(each.at_ms, now_ms)}: "
            f"{each.detail or each.reason}"
            for each in found.refused[:REFUSED_LISTED]
        ]
        parts.append("\n".join(["**Refused attempts to send**", *lines]))
    unsigned = "" if found.checkpoint is not None else " Nothing is signed yet."
    parts.append(f"**Proof.** {WHAT_HASHES_PROVE}{unsigned} Every event, and a check of the chain: {link}")
    return "\n\n".join(parts)


def _address(action: Action, now_ms: int) -> str:
    """Return the URL; empty if it was undone."""
    return "" if find_section(action, now_ms) is Section.UNDONE else action.external_url or ""


def _line(found: Report, action: Action, why: str, result: ChannelResult | None, now_ms: int) -> str:
    parts = []
    if action.executed_ms is not None and find_section(action, now_ms) is not Section.UNDONE:
        done = "Recorded" if action.is_by_hand else "Sent"
        parts.append(f"{done} {readable_time(action.executed_ms, now_ms)}.")
    if address := _address(action, now_ms):
        parts.append(address)
    if why:
        parts.append(why)
    if result is not None:
        parts.append(f"Results: {result.words}.")
    if (approval := action.approval) is not None:
        via = found.places.get((action.action_id, approval.at_ms), "")
        when = readable_time(approval.at_ms, now_ms)
        parts.append(f"Approved {when}: {describe_approval(approval, via)}.")
    whose = f" for {action.tenant_id}" if action.tenant_id else ""
    what = f"- {begin_with_due(action, now_ms)}{action.view.label}{whose}, “{action.headline}”"
    return f"{what}: {' '.join(parts)}" if parts else what


TOOLS = (
    Tool(
        name="chieflab_report",
        title="What was done, with proof",
        description="What was done since a given time, such as last week or month: who approved or signed off on each "
        "action and how certain that is, what was sent, where and when, refused attempts, and the proof. USE WHEN the "
        "user asks what you did for them, for a list or summary of everything that was sent and who said yes, or for "
        "proof.",
        behaviour=READS,
        request=ReportRequest,
        reply=ReportReply,
        handler=report,
    ),
)
