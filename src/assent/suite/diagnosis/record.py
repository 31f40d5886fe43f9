"""Diagnosis rules about decisions and deliveries, rows of `assent.suite.diagnosis.rules`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from assent.platform.effects import LAUNCH_NEEDS, SuggestedCall
from assent.platform.values import DAY_MS
from assent.suite.diagnosis.diagnosis import ActionFacts, DiagnosisFacts, DiagnosisRule, Finding, make_finding

OLD_DRAFT_DAYS: Final = 2
QUIET_DAYS: Final = 30
REJECTED_OFTEN: Final = 2
HALF: Final = 0.5


def find_lost(rule: DiagnosisRule, facts: DiagnosisFacts) -> Iterator[Finding]:
    lost = [each for each in facts.actions if each.execution_state == "outcome_unknown"]
    if lost:
        yield make_finding(
            rule,
            facts,
            lost[0],
            {"actions": len(lost)},
            f"It is not known whether {_count(lost)} went out.",
            "Look at the provider and say what is there.",
            SuggestedCall("chieflab_get_action", {"actionId": lost[0].action_id}, "to see which one"),
        )


def find_failed(rule: DiagnosisRule, facts: DiagnosisFacts) -> Iterator[Finding]:
    for channel, actions in _by_channel(each for each in facts.actions if each.status == "failed"):
        why = f" The last one: {actions[0].last_attempt}." if actions[0].last_attempt else ""
        yield make_finding(
            rule,
            facts,
            actions[0],
            {"failed": len(actions)},
            f"{_count(actions)} on {facts.label(channel)} were rejected.{why}",
            "Fix what was refused and prepare it again.",
            SuggestedCall("chieflab_send", {"to": ["…"]}, "it has been fixed")
            if channel == "email"
            else SuggestedCall("chieflab_post", {"channel": channel}, "it has been fixed"),
        )


def unready(rule: DiagnosisRule, facts: DiagnosisFacts) -> Iterator[Finding]:
    open_still = [
        each for each in facts.actions if each.status in ("awaiting_approval", "approved") and not each.ready
    ]
    for connector, actions in _group(open_still, lambda each: each.connector):
        yield make_finding(
            rule,
            facts,
            actions[0],
            {"actions": len(actions)},
            f"{_count(actions)} cannot go out because {facts.label(connector)} is not connected.",
            f"Connect {facts.label(connector)}, or publish by hand.",
            SuggestedCall(
                "chieflab_connect_provider", {"provider": connector}, "the user wants to connect it"
            ),
        )


def waiting(rule: DiagnosisRule, facts: DiagnosisFacts) -> Iterator[Finding]:
    old = [
        each
        for each in facts.actions
        if each.status == "awaiting_approval"
        and not each.expired
        and _days(facts, each.created_ms) >= OLD_DRAFT_DAYS
    ]
    if old:
        days = _days(facts, old[-1].created_ms)
        yield make_finding(
            rule,
            facts,
            old[-1],
            {"actions": len(old), "days": days},
            f"{_count(old)} wait for a decision, the oldest for {days} days.",
            "Decide on them: without approval they reach no reader.",
            SuggestedCall("chieflab_list_pending_actions", {}, "to show what waits"),
        )


def find_expired(rule: DiagnosisRule, facts: DiagnosisFacts) -> Iterator[Finding]:
    gone = [each for each in facts.actions if each.expired]
    if gone:
        yield make_finding(
            rule,
            facts,
            gone[0],
            {"actions": len(gone)},
            f"{_count(gone)} expired before they were sent.",
            "Prepare those that are still true again.",
            SuggestedCall("chieflab_launch_product", {}, "the user wants to try again", LAUNCH_NEEDS),
        )


def find_rejected(rule: DiagnosisRule, facts: DiagnosisFacts) -> Iterator[Finding]:
    decided = [
        each for each in facts.actions if each.status in ("rejected", "executed", "approved", "failed")
    ]
    for channel, actions in _by_channel(decided):
        no = [each for each in actions if each.status == "rejected"]
        if len(no) >= REJECTED_OFTEN and len(no) > HALF * len(actions):
            why = f' The last reason: "{no[0].rejection}"' if no[0].rejection else ""
            yield make_finding(
                rule,
                facts,
                no[0],
                {"rejected": len(no), "decided": len(actions)},
                f"Most drafts for {facts.label(channel)} are rejected: {len(no)} of {len(actions)}.{why}",
                "Use the reasons for the next draft, and record the wanted voice.",
                SuggestedCall("chieflab_brain_read", {"kind": "rejection"}, "to read every reason"),
            )


def quiet(rule: DiagnosisRule, facts: DiagnosisFacts) -> Iterator[Finding]:
    out = [each for each in facts.actions if each.executed_ms is not None]
    if not out:
        return
    last = max(out, key=lambda each: each.executed_ms or 0)
    days = _days(facts, last.executed_ms or 0)
    if days >= QUIET_DAYS:
        yield make_finding(
            rule,
            facts,
            last,
            {"days": days},
            f"Nothing has gone out for {days} days.",
            "Publish something new, even something small.",
            SuggestedCall("chieflab_launch_product", {}, "the user wants to say something", LAUNCH_NEEDS),
        )


def _by_channel(actions: Iterable[ActionFacts]) -> Iterator[tuple[str, list[ActionFacts]]]:
    return _group(actions, lambda each: each.channel)


def _group(
    actions: Iterable[ActionFacts], of: Callable[[ActionFacts], str]
) -> Iterator[tuple[str, list[ActionFacts]]]:
    """Group actions by a key, keeping their order."""
    groups: dict[str, list[ActionFacts]] = {}
    for each in actions:
        groups.setdefault(of(each), []).append(each)
    return iter(groups.items())


def _count(actions: list[ActionFacts]) -> str:
    return "One action" if len(actions) == 1 else f"{len(actions)} actions"


def _days(facts: DiagnosisFacts, since_ms: int) -> int:
    return (facts.now_ms - since_ms) // DAY_MS
