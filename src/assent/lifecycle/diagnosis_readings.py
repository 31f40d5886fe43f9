"""The rules of a diagnosis that judge what an audience did, each a row of `assent.lifecycle.diagnosis_rules`.

A rule judges only numbers that are there. A metric that a source does not report is not zero, and too few views to mean
anything are not judged. Rules know nothing of each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from assent.kernel.limits import DAY_MS
from assent.kernel.times import iso_time
from assent.lifecycle.calls import SuggestedCall
from assent.lifecycle.diagnosis import Facts, Finding, Observation, Rule, date_of
from assent.lifecycle.measurement import amount

SEEN: Final = ("impressions", "views", "reach", "sessions", "delivered")
"""How often something was seen: the first of these that a source reports. They count the same, so are never added."""

ANSWERED: Final = (
    "clicks",
    "clicked",
    "replies",
    "comments",
    "likes",
    "shares",
    "saves",
    "signups",
    "points",
    "opened",
    "opens",
)
"""What somebody does who cares."""

ENOUGH_TO_JUDGE: Final = 20
"""Views below this say nothing about a text."""
ENOUGH_FOR_A_RATE: Final = 100
FEW_RESPOND: Final = 0.01
HALF: Final = 0.5
BOUNCES: Final = 0.05
"""Providers begin to distrust a sender at about this."""
FIRST_PAGE: Final = 10


def seen(observation: Observation) -> tuple[str, float] | None:
    """The name and value of the number of views, if the source reports one."""
    return next(((name, observation.metrics[name]) for name in SEEN if name in observation.metrics), None)


def answered(observation: Observation) -> dict[str, float]:
    """The responses that the source reports; empty where it reports none, which is not zero."""
    return {name: observation.metrics[name] for name in ANSWERED if name in observation.metrics}


def latest(facts: Facts) -> tuple[Observation, ...]:
    """The newest reading of each channel by each source."""
    newest: dict[tuple[str, str], Observation] = {}
    for each in facts.observations:
        newest.setdefault((each.channel, each.source), each)
    return tuple(newest.values())


def fresh(facts: Facts, observation: Observation) -> bool:
    """Whether it was counted before it had been out for a day: what only grows with time is not judged by then."""
    out = [each.executed_ms for each in facts.deeds if each.run_id == observation.run_id and each.executed_ms]
    return bool(out) and observation.at_ms - max(out) < DAY_MS


def not_seen(rule: Rule, facts: Facts) -> Iterator[Finding]:
    for each in latest(facts):
        views = seen(each)
        if views is None or fresh(facts, each):
            continue
        if views[1] == 0 and not any(answered(each).values()):
            yield _about(
                rule,
                each,
                {views[0]: 0},
                f"Nobody has seen the last one on {each.channel}: 0 {views[0]}.",
                "Put it where its readers already are, at another time, or on another channel.",
                _again(facts, each.channel),
            )


def not_answered(rule: Rule, facts: Facts) -> Iterator[Finding]:
    for each in latest(facts):
        views, responses = seen(each), answered(each)
        if views is not None and responses and views[1] >= ENOUGH_TO_JUDGE and not any(responses.values()):
            named = ", ".join(f"0 {name}" for name in responses)
            yield _about(
                rule,
                each,
                {views[0]: views[1], **responses},
                f"It is seen on {each.channel} and nobody responds: {amount(views[1])} {views[0]}, {named}.",
                "Rewrite the opening and ask for one thing only.",
                _again(facts, each.channel),
            )


def few_answer(rule: Rule, facts: Facts) -> Iterator[Finding]:
    for each in latest(facts):
        views, responses = seen(each), answered(each)
        total = sum(responses.values())
        if views is None or views[1] < ENOUGH_FOR_A_RATE or not 0 < total < FEW_RESPOND * views[1]:
            continue
        yield _about(
            rule,
            each,
            {views[0]: views[1], **responses},
            f"Few respond on {each.channel}: {amount(total)} from {amount(views[1])} {views[0]} "
            f"({_share(total, views[1])}).",
            "Say earlier what is in it for the reader, and make the next step one click.",
            _again(facts, each.channel),
        )


def falling(rule: Rule, facts: Facts) -> Iterator[Finding]:
    by_place = sorted(facts.observations, key=lambda each: (each.channel, each.source, -each.at_ms))
    for _, group in groupby(by_place, key=lambda each: (each.channel, each.source)):
        runs = list({each.run_id: each for each in reversed(list(group))}.values())[::-1]
        views = seen(runs[0])
        if views is None or fresh(facts, runs[0]):
            continue
        earlier = [each.metrics[views[0]] for each in runs[1:] if views[0] in each.metrics]
        usual = sum(earlier) / len(earlier) if len(earlier) > 1 else 0
        if usual >= ENOUGH_TO_JUDGE and views[1] < HALF * usual:
            yield _about(
                rule,
                runs[0],
                {views[0]: views[1], f"usual {views[0]}": usual},
                f"{runs[0].channel} reaches fewer people than it did: {amount(views[1])} {views[0]}, and "
                f"{amount(usual)} on average over the {len(earlier)} before.",
                "Go back to what the earlier ones did, or rest the channel for a while.",
                SuggestedCall(
                    "chieflab_brain_read", {"kind": "channel_performance"}, "to see what worked before"
                ),
            )


def weaker_than_best(rule: Rule, facts: Facts) -> Iterator[Finding]:
    rated: dict[str, list[tuple[float, Observation]]] = {}
    for each in latest(facts):
        views, responses = seen(each), answered(each)
        if views is not None and responses and views[1] >= ENOUGH_FOR_A_RATE:
            # Only what is counted alike is compared: an opened mail is not a liked post.
            rated.setdefault(views[0], []).append((sum(responses.values()) / views[1], each))
    for alike in rated.values():
        best_rate, best = max(alike, key=lambda pair: pair[0])
        for rate, each in alike:
            if each.channel != best.channel and 0 < rate < HALF * best_rate:
                yield _about(
                    rule,
                    each,
                    {"responses per view": rate, f"responses per view on {best.channel}": best_rate},
                    f"{each.channel} brings less than half of what {best.channel} brings: {_share(rate, 1)} respond, "
                    f"against {_share(best_rate, 1)} ({best.source}, {date_of(best.at_ms)}).",
                    f"Spend the effort on {best.channel} first, and bring its angle to {each.channel}.",
                    _again(facts, best.channel),
                )


def bounces(rule: Rule, facts: Facts) -> Iterator[Finding]:
    for each in latest(facts):
        bounced, delivered = each.metrics.get("bounced", 0), each.metrics.get("delivered")
        sent = bounced + (delivered or 0)
        if delivered is None or not bounced or bounced / sent < BOUNCES:
            continue
        yield _about(
            rule,
            each,
            {"bounced": bounced, "delivered": delivered},
            f"Mail comes back: {amount(bounced)} bounced and {amount(delivered)} arrived "
            f"({_share(bounced, sent)} lost).",
            "Take the addresses that bounced off the list before the next mail.",
            SuggestedCall("chieflab_send", {"to": ["…"]}, "the list has been cleaned"),
        )


def complaints(rule: Rule, facts: Facts) -> Iterator[Finding]:
    for each in latest(facts):
        if complained := each.metrics.get("complained", 0):
            yield _about(
                rule,
                each,
                {"complained": complained},
                f"Somebody called the mail spam: {amount(complained)} complaint(s).",
                "Write only to people who asked for it, and say in the first line why they get it.",
                SuggestedCall(
                    "chieflab_brain_read", {"kind": "lesson"}, "to see what is known about the readers"
                ),
            )


def far_down(rule: Rule, facts: Facts) -> Iterator[Finding]:
    for each in latest(facts):
        place, shown = each.metrics.get("position"), each.metrics.get("impressions", 0)
        if place is not None and place > FIRST_PAGE and shown >= ENOUGH_TO_JUDGE:
            yield _about(
                rule,
                each,
                {"position": place, "impressions": shown},
                f"In search the page stands at place {amount(place)} on average, beyond the first ten "
                f"({amount(shown)} impressions).",
                "Let title and first paragraph of the page say what people look for.",
                SuggestedCall(
                    "chieflab_launch_product", {"channels": ["landing"]}, "to get new words for the page"
                ),
            )


def no_conversion(rule: Rule, facts: Facts) -> Iterator[Finding]:
    for each in latest(facts):
        visits = each.metrics.get("sessions", 0)
        if visits >= ENOUGH_TO_JUDGE and each.metrics.get("conversions") == 0:
            yield _about(
                rule,
                each,
                {"sessions": visits, "conversions": 0},
                f"People come and do nothing: {amount(visits)} sessions, 0 conversions.",
                "Put one clear step on the page that the posts lead to.",
                SuggestedCall(
                    "chieflab_launch_product", {"channels": ["landing"]}, "to get new words for the page"
                ),
            )


def _about(
    rule: Rule, of: Observation, numbers: dict[str, float], problem: str, try_next: str, call: SuggestedCall
) -> Finding:
    """A finding that rests on a reading."""
    return Finding(
        rule=rule.id,
        weight=rule.weight,
        problem=problem,
        numbers=numbers,
        source=of.source,
        read_at=iso_time(of.at_ms),
        channel=of.channel,
        run_id=of.run_id,
        try_next=try_next,
        call=call,
    )


def _again(facts: Facts, channel: str) -> SuggestedCall:
    """Another try on a channel; where the numbers are a whole run's, another launch."""
    differently = "the user wants to try it differently"
    if channel == "email":
        return SuggestedCall("chieflab_send", {"to": ["…"]}, differently)
    if any(each.channel == channel for each in facts.deeds):
        return SuggestedCall("chieflab_post", {"channel": channel}, differently)
    return SuggestedCall(
        "chieflab_launch_product", {"channels": ["landing"]}, "to get new words for the page"
    )


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %"
