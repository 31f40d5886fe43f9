"""Lists missing numbers, the reasons, and the sources that would provide them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from assent.platform.effects import LAUNCH_NEEDS, SuggestedCall
from assent.platform.measurement import NO_SOURCE
from assent.suite.diagnosis.diagnosis import WINDOW_DAYS, DiagnosisFacts, Missing, date_of

GOALS: Final[dict[str, tuple[str, ...]]] = {
    r"sign[ -]?ups?|users?": ("signups", "conversions"),
    r"customers?|sales?|conversions?": ("conversions",),
    r"clicks?": ("clicks", "clicked"),
    r"visits?|visitors?|traffic": ("sessions", "views"),
    r"open rates?|opens": ("opened", "opens"),
    r"repl(?:y|ies)": ("replies",),
    r"comments?": ("comments",),
}
"""Words of a goal, and the numbers of which any one measures it."""

TELLS: Final[dict[str, str]] = {
    "ga4": "It would show what visitors do on the page.",
    "search_console": "It would show which searches lead to the page.",
}
"""The sentence about the use of each source."""


def missing(facts: DiagnosisFacts) -> tuple[Missing, ...]:
    """Return every missing number that a source could provide, each once."""
    gaps = {gap.what: gap for look in GAPS for gap in look(facts)}
    return tuple(gaps.values())


def _nothing_sent(facts: DiagnosisFacts) -> Iterator[Missing]:
    if not any(each.executed_ms is not None for each in facts.actions):
        yield Missing(
            what=f"Nothing has gone out in the last {WINDOW_DAYS} days.",
            how="Numbers come a day after something is published or sent.",
            call=SuggestedCall(
                "chieflab_launch_product",
                {},
                "the user wants to launch something",
                LAUNCH_NEEDS,
            ),
        )


def _not_yet(facts: DiagnosisFacts) -> Iterator[Missing]:
    coming = sorted(due for due in facts.due_ms if due > facts.now_ms)
    if coming:
        yield Missing(
            what=f"{len(coming)} run(s) that went out have not been measured.",
            how=f"They are measured on schedule, first on {date_of(coming[0])}.",
            call=SuggestedCall("chieflab_status", {}, "to see when"),
        )


def _silent(facts: DiagnosisFacts) -> Iterator[Missing]:
    for each in facts.silences:
        by_hand = each.reason == NO_SOURCE
        yield Missing(
            what=f"{facts.label(each.channel)} has no numbers.",
            how="Read them where it was published and tell me."
            if by_hand
            else f"{facts.label(each.source)}: {each.reason}.",
            call=SuggestedCall(
                "chieflab_record_manual_metrics",
                {"channel": each.channel},
                "the user has read numbers there",
                {
                    "runId": "which run it was published in",
                    "metrics": "the numbers, by name",
                    "source": "where the user read them",
                },
            )
            if by_hand
            else SuggestedCall("chieflab_status", {}, "to see when it is read again"),
        )


def _find_unconnected(facts: DiagnosisFacts) -> Iterator[Missing]:
    for provider in facts.unconnected:
        yield Missing(
            what=f"{facts.label(provider)} is not connected.",
            how=TELLS.get(provider, "It reports numbers, too."),
            call=SuggestedCall(
                "chieflab_connect_provider", {"provider": provider}, "the user wants its numbers"
            ),
        )


def _goal(facts: DiagnosisFacts) -> Iterator[Missing]:
    reported = {name for each in facts.observations for name in each.metrics}
    wanted = {
        name
        for words, names in GOALS.items()
        if re.search(rf"\b(?:{words})\b", facts.goal, re.IGNORECASE)
        for name in names
    }
    if wanted and not wanted & reported:
        yield Missing(
            what=f"The goal is not measured: no source reports {' or '.join(sorted(wanted))}.",
            how="Connect a source that does, or tell me the number.",
            call=SuggestedCall("chieflab_list_connectors", {}, "to see which sources there are"),
        )


GAPS: Final = (_nothing_sent, _not_yet, _silent, _find_unconnected, _goal)
