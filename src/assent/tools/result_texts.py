"""Describes results to the person: what was sent, the numbers, and what is left to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from assent.engine.learning.measured import Measurement, describe_reading
from assent.gate.effects import EffectTypes
from assent.gate.measurement.recommend import describe_usual
from assent.gate.records import Action, when_taken_down
from assent.kernel.limits import DAY_MS, HOUR_MS
from assent.kernel.times import parse_time, readable_time
from assent.present.next_steps import PLAIN, Circumstances
from assent.present.status_report import SECTION_TITLES, Section, explain, find_section, headline

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
    lines += [_line(action, around.get(action.action_id, PLAIN), now_ms) for action in of_run]
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


def _line(action: Action, around: Circumstances, now_ms: int) -> str:
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
