"""Diagnosis of running campaigns: facts, findings with suggestions, their order and their text.

A finding rests on numbers and names their source and time. Without numbers there is no finding; the
diagnosis says instead where numbers would come from (E100). The rules are one table, `RULES`.

Pure. Knows nothing of where the facts come from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Final, Literal

from assent.platform.values import (
    DAY_MS,
    ENOUGH_FOR_A_RATE,
    ENOUGH_TO_JUDGE,
    LAUNCH_NEEDS,
    NO_SOURCE,
    Record,
    SuggestedCall,
    WireRecord,
    amount,
    brings_more,
    describe_number,
    iso_time,
    read_numbers,
    sort_names,
)
from assent.suite.channels.registry import TABLE

Weight = Literal["high", "medium", "low"]

WINDOW_DAYS: Final = 90
"""How many days back actions count."""

OWN_RECORD: Final = "this server's record of actions"
"""The source name of facts about decisions and deliveries of this server."""


class Observation(WireRecord, kw_only=True):
    """Numbers of one channel of one run, from one source at one time."""

    channel: str
    source: str
    at_ms: int
    run_id: str
    metrics: dict[str, float]


class Silence(WireRecord, kw_only=True):
    """A source without numbers, and the reason. Never read as zero."""

    channel: str
    source: str
    reason: str


class ActionFacts(Record, kw_only=True):
    action_id: str
    run_id: str
    channel: str
    connector: str
    status: str
    execution_state: str
    created_ms: int
    executed_ms: int | None = None
    expired: bool = False
    ready: bool = True
    rejection: str = ""
    last_attempt: str = ""


class Learned(WireRecord, kw_only=True):
    """A recorded lesson, with its author and time."""

    entry_id: str
    body: str
    source: str
    at: str


class DiagnosisFacts(Record, kw_only=True):
    """The facts of a diagnosis. Observations and actions are newest first."""

    now_ms: int
    goal: str = ""
    observations: tuple[Observation, ...] = ()
    silences: tuple[Silence, ...] = ()
    actions: tuple[ActionFacts, ...] = ()
    due_ms: tuple[int, ...] = ()
    """The times at which runs that were sent are measured automatically."""
    lessons: tuple[Learned, ...] = ()
    unconnected: tuple[str, ...] = ()
    """Sources of numbers that this server has and this workspace has not connected."""
    labels: dict[str, str] = {}
    """The names of connectors and channels for people, by id."""

    def label(self, name: str) -> str:
        return self.labels.get(name, name)


class Finding(WireRecord, kw_only=True):
    """A problem: the numbers that show it, their source and time, and a suggestion."""

    rule: str
    weight: Weight
    problem: str
    numbers: dict[str, float]
    source: str
    read_at: str
    channel: str | None
    run_id: str | None
    try_next: str
    call: SuggestedCall


class Found(Record):
    """What a rule finds in a reading, or in a decision or delivery of this server."""

    of: Observation | ActionFacts
    numbers: dict[str, float]
    problem: str
    try_next: str
    call: SuggestedCall


class DiagnosisRule(Record):
    """A rule: its name, the weight of its findings, and the function that finds them."""

    id: str
    weight: Weight
    look: Callable[[DiagnosisFacts], Iterable[Found]]

    def judge(self, facts: DiagnosisFacts) -> Iterator[Finding]:
        for found in self.look(facts):
            read = found.of if isinstance(found.of, Observation) else None
            yield Finding(
                rule=self.id,
                weight=self.weight,
                problem=found.problem,
                numbers=found.numbers,
                source=read.source if read is not None else OWN_RECORD,
                read_at=iso_time(read.at_ms if read is not None else facts.now_ms),
                channel=found.of.channel,
                run_id=found.of.run_id,
                try_next=found.try_next,
                call=found.call,
            )


class Missing(WireRecord, kw_only=True):
    """Missing numbers, why they are missing, and what would provide them."""

    what: str
    how: str
    call: SuggestedCall


class Diagnosis(WireRecord, kw_only=True):
    """The findings. `has_data` is about an audience's numbers, not the server's record."""

    has_data: bool
    window_days: int
    findings: tuple[Finding, ...]
    missing_data: tuple[Missing, ...]
    observations: tuple[Observation, ...]
    lessons: tuple[Learned, ...]


WEIGHTS: Final[tuple[Weight, ...]] = ("high", "medium", "low")


def order(findings: Iterable[Finding], goal: str) -> tuple[Finding, ...]:
    """Sort findings by weight; within a weight, those about the goal first."""
    words = set(re.findall(r"\w+", goal.lower()))

    def rank(finding: Finding) -> tuple[int, int]:
        names = {name.lower() for name in (*finding.numbers, finding.channel or "")}
        return WEIGHTS.index(finding.weight), 0 if names & words else 1

    return tuple(sorted(findings, key=rank))


def as_text(found: Diagnosis) -> str:
    parts = [_opening(found)]
    parts += [
        f"{number}. {each.problem} ({each.source}, read {each.read_at[:10]})\n   Try: {each.try_next}"
        for number, each in enumerate(found.findings, start=1)
    ]
    if found.lessons:
        learned = (f"- {each.body} ({each.source}, {each.at[:10]})" for each in found.lessons)
        parts.append("\n".join(["What was learned before:", *learned]))
    if found.missing_data:
        known = "What would bring more numbers:" if found.has_data else "What would bring numbers:"
        parts.append("\n".join([known, *(f"- {each.what} {each.how}" for each in found.missing_data)]))
    return "\n\n".join(parts)


def summarise(found: Diagnosis) -> str:
    """Summarise the diagnosis: the state, and the heaviest finding."""
    first = found.findings[:1]
    return " ".join([_opening(found), *(f"{each.problem} Try: {each.try_next}" for each in first)])


def _opening(found: Diagnosis) -> str:
    days, count = found.window_days, len(found.findings)
    things = "one thing is" if count == 1 else f"{count} things are"
    if found.has_data and count:
        return f"From the numbers and decisions of the last {days} days, {things} worth changing."
    if found.has_data:
        read = len(found.observations)
        return f"{read} reading(s) of the last {days} days were looked at, and none shows anything wrong."
    blind = f"There are no numbers from the last {days} days, so I cannot say what your audience does or does not do."
    return f"{blind} From what was decided and sent here, {things} worth changing." if count else blind


def date_of(ms: int) -> str:
    return iso_time(ms)[:10]


# Rules about decisions and deliveries.

OLD_DRAFT_DAYS: Final = 2
QUIET_DAYS: Final = 30
REJECTED_OFTEN: Final = 2


def find_lost(facts: DiagnosisFacts) -> Iterator[Found]:
    lost = [each for each in facts.actions if each.execution_state == "outcome_unknown"]
    if lost:
        yield Found(
            lost[0],
            {"actions": len(lost)},
            f"It is not known whether {_count(lost)} went out.",
            "Look at the provider and say what is there.",
            SuggestedCall("chieflab_get_action", {"actionId": lost[0].action_id}, "to see which one"),
        )


def find_failed(facts: DiagnosisFacts) -> Iterator[Found]:
    for channel, actions in _by_channel(each for each in facts.actions if each.status == "failed"):
        why = f" The last one: {actions[0].last_attempt}." if actions[0].last_attempt else ""
        yield Found(
            actions[0],
            {"failed": len(actions)},
            f"{_count(actions)} on {facts.label(channel)} were rejected.{why}",
            "Fix what was refused and prepare it again.",
            SuggestedCall("chieflab_send", {"to": ["…"]}, "it has been fixed")
            if channel == "email"
            else SuggestedCall("chieflab_post", {"channel": channel}, "it has been fixed"),
        )


def unready(facts: DiagnosisFacts) -> Iterator[Found]:
    open_still = [
        each for each in facts.actions if each.status in ("awaiting_approval", "approved") and not each.ready
    ]
    for connector, actions in _group(open_still, lambda each: each.connector):
        yield Found(
            actions[0],
            {"actions": len(actions)},
            f"{_count(actions)} cannot go out because {facts.label(connector)} is not connected.",
            f"Connect {facts.label(connector)}, or publish by hand.",
            SuggestedCall(
                "chieflab_connect_provider", {"provider": connector}, "the user wants to connect it"
            ),
        )


def waiting(facts: DiagnosisFacts) -> Iterator[Found]:
    old = [
        each
        for each in facts.actions
        if each.status == "awaiting_approval"
        and not each.expired
        and _days(facts, each.created_ms) >= OLD_DRAFT_DAYS
    ]
    if old:
        days = _days(facts, old[-1].created_ms)
        yield Found(
            old[-1],
            {"actions": len(old), "days": days},
            f"{_count(old)} wait for a decision, the oldest for {days} days.",
            "Decide on them: without approval they reach no reader.",
            SuggestedCall("chieflab_list_pending_actions", {}, "to show what waits"),
        )


def find_expired(facts: DiagnosisFacts) -> Iterator[Found]:
    gone = [each for each in facts.actions if each.expired]
    if gone:
        yield Found(
            gone[0],
            {"actions": len(gone)},
            f"{_count(gone)} expired before they were sent.",
            "Prepare those that are still true again.",
            SuggestedCall("chieflab_launch_product", {}, "the user wants to try again", LAUNCH_NEEDS),
        )


def find_rejected(facts: DiagnosisFacts) -> Iterator[Found]:
    decided = [
        each for each in facts.actions if each.status in ("rejected", "executed", "approved", "failed")
    ]
    for channel, actions in _by_channel(decided):
        no = [each for each in actions if each.status == "rejected"]
        if len(no) >= REJECTED_OFTEN and len(no) > HALF * len(actions):
            why = f' The last reason: "{no[0].rejection}"' if no[0].rejection else ""
            yield Found(
                no[0],
                {"rejected": len(no), "decided": len(actions)},
                f"Most drafts for {facts.label(channel)} are rejected: {len(no)} of {len(actions)}.{why}",
                "Use the reasons for the next draft, and record the wanted voice.",
                SuggestedCall("chieflab_brain_read", {"kind": "rejection"}, "to read every reason"),
            )


def quiet(facts: DiagnosisFacts) -> Iterator[Found]:
    out = [each for each in facts.actions if each.executed_ms is not None]
    if not out:
        return
    last = max(out, key=lambda each: each.executed_ms or 0)
    days = _days(facts, last.executed_ms or 0)
    if days >= QUIET_DAYS:
        yield Found(
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


# Rules about the reactions of an audience.
#
# A rule judges only numbers that exist. A metric that a source does not report is not zero, and small view counts are
# not judged. Rules are independent of each other.

WHOLE_RUN: Final = frozenset({"web", "search"})
"""Sources that count the visitors of all channels together."""

ARRIVALS: Final = WHOLE_RUN | {row.id for row in TABLE if row.shape == "page"}
"""Channels that the others lead to."""

FEW_RESPOND: Final = 0.01
HALF: Final = 0.5
BOUNCES: Final = 0.05
"""The bounce rate at which providers begin to distrust a sender."""
FIRST_PAGE: Final = 10
NEW_WORDS: Final = SuggestedCall(
    "chieflab_launch_product", {"channels": ["landing"]}, "to get new words for the page"
)


def read_views(observation: Observation) -> tuple[str, float] | None:
    """Return the name and number of views, if the source reports them. Deliveries are not views."""
    name = read_numbers(observation.metrics).exposure
    return (name, observation.metrics[name]) if name is not None else None


def read_responses(observation: Observation) -> dict[str, float]:
    """Return the responses that the source reports. Unreported ones are left out, not zero."""
    return {name: observation.metrics[name] for name in read_numbers(observation.metrics).responses}


def latest(facts: DiagnosisFacts) -> tuple[Observation, ...]:
    """Return the newest reading of each channel by each source."""
    newest: dict[tuple[str, str], Observation] = {}
    for each in facts.observations:
        newest.setdefault((each.channel, each.source), each)
    return tuple(newest.values())


def fresh(facts: DiagnosisFacts, observation: Observation) -> bool:
    """Whether a reading is from within a day of publishing, too early to judge."""
    out = [
        each.executed_ms for each in facts.actions if each.run_id == observation.run_id and each.executed_ms
    ]
    return bool(out) and observation.at_ms - max(out) < DAY_MS


def not_seen(facts: DiagnosisFacts) -> Iterator[Found]:
    for each in latest(facts):
        views = read_views(each)
        if views is None or fresh(facts, each):
            continue
        if views[1] == 0:
            delivered = {name: each.metrics[name] for name in ("delivered",) if each.metrics.get(name)}
            yield Found(
                each,
                {**delivered, views[0]: 0},
                f"Nothing shows that the last one on {facts.label(each.channel)} was seen: "
                f"{_describe({**delivered, views[0]: 0})}.",
                "Check that it can be found there; then try another time or another channel.",
                _again(facts, each.channel),
            )


def not_answered(facts: DiagnosisFacts) -> Iterator[Found]:
    for each in latest(facts):
        if each.channel in WHOLE_RUN:
            continue
        views, responses = read_views(each), read_responses(each)
        if views is not None and responses and views[1] >= ENOUGH_TO_JUDGE and not any(responses.values()):
            yield Found(
                each,
                {views[0]: views[1], **responses},
                f"It is seen on {facts.label(each.channel)} without a response: "
                f"{_describe({views[0]: views[1], **responses})}.",
                "Rewrite the opening and ask for one thing only.",
                _again(facts, each.channel),
            )


def few_answer(facts: DiagnosisFacts) -> Iterator[Found]:
    for each in latest(facts):
        views, responses = read_views(each), read_responses(each)
        # One reader may respond in several ways, so the sum is an upper bound of the readers who
        # responded.
        most = sum(responses.values())
        if views is None or views[1] < ENOUGH_FOR_A_RATE or not 0 < most < FEW_RESPOND * views[1]:
            continue
        yield Found(
            each,
            {views[0]: views[1], **responses},
            f"Few respond on {facts.label(each.channel)}: {_describe({views[0]: views[1], **responses})}.",
            "Say earlier what is in it for the reader, and make the next step one click.",
            _again(facts, each.channel),
        )


def falling(facts: DiagnosisFacts) -> Iterator[Found]:
    by_place = sorted(facts.observations, key=lambda each: (each.channel, each.source, -each.at_ms))
    for _, group in groupby(by_place, key=lambda each: (each.channel, each.source)):
        runs = list({each.run_id: each for each in reversed(list(group))}.values())[::-1]
        views = read_views(runs[0])
        if views is None or fresh(facts, runs[0]):
            continue
        earlier = [each.metrics[views[0]] for each in runs[1:] if views[0] in each.metrics]
        usual = sum(earlier) / len(earlier) if len(earlier) > 1 else 0
        if usual >= ENOUGH_TO_JUDGE and views[1] < HALF * usual:
            yield Found(
                runs[0],
                {views[0]: views[1], f"usual {views[0]}": usual},
                f"{facts.label(runs[0].channel)} is seen less than before: {describe_number(*views)}, and "
                f"{amount(usual)} on average over the {len(earlier)} before.",
                "Return to the style of the earlier posts, or pause the channel for a while.",
                SuggestedCall(
                    "chieflab_brain_read", {"kind": "channel_performance"}, "to see what worked before"
                ),
            )


def weaker_than_best(facts: DiagnosisFacts) -> Iterator[Found]:
    rated: dict[tuple[str, str], dict[str, tuple[float, Observation]]] = {}
    for each in latest(facts):
        views = read_views(each)
        if views is not None and views[1] >= ENOUGH_FOR_A_RATE and each.channel not in ARRIVALS:
            # Only the same response per the same kind of view is compared: opening an e-mail is not
            # liking a post.
            for name, value in read_responses(each).items():
                rated.setdefault((views[0], name), {}).setdefault(each.channel, (value / views[1], each))
    compared: set[str] = set()
    places = sort_names(response for _, response in rated)
    for names in sorted(rated, key=lambda pair: places.index(pair[1])):
        alike = {channel: rate for channel, rate in rated[names].items() if channel not in compared}
        if len(alike) < 2:
            continue
        compared |= set(alike)
        best = max(alike.values(), key=lambda pair: pair[0])[1]
        for rate, each in alike.values():
            counted, leading = ((of.metrics[names[1]], of.metrics[names[0]]) for of in (each, best))
            if rate > 0 and brings_more(leading, counted):
                yield Found(
                    each,
                    {name: each.metrics[name] for name in names},
                    f"{facts.label(each.channel)} brings less than half of what {facts.label(best.channel)} "
                    f"brings: {_rate(each, names)}, against {_rate(best, names)} "
                    f"({best.source}, {date_of(best.at_ms)}).",
                    f"Spend the effort on {facts.label(best.channel)} first.",
                    _again(facts, best.channel),
                )


def bounces(facts: DiagnosisFacts) -> Iterator[Found]:
    for each in latest(facts):
        bounced, delivered = each.metrics.get("bounced", 0), each.metrics.get("delivered")
        sent = bounced + (delivered or 0)
        if delivered is None or not bounced or bounced / sent < BOUNCES:
            continue
        yield Found(
            each,
            {"bounced": bounced, "delivered": delivered},
            f"Mail comes back: {amount(bounced)} bounced and {amount(delivered)} arrived "
            f"({_share(bounced, sent)} lost).",
            "Take the addresses that bounced off the list before the next mail.",
            SuggestedCall("chieflab_send", {"to": ["…"]}, "the list has been cleaned"),
        )


def complaints(facts: DiagnosisFacts) -> Iterator[Found]:
    for each in latest(facts):
        if complained := each.metrics.get("complained", 0):
            yield Found(
                each,
                {"complained": complained},
                f"Readers reported the mail as spam: {amount(complained)} complaint(s).",
                "Write only to people who asked for it, and say in the first line why they get it.",
                SuggestedCall(
                    "chieflab_brain_read", {"kind": "lesson"}, "to see what is known about the readers"
                ),
            )


def far_down(facts: DiagnosisFacts) -> Iterator[Found]:
    for each in latest(facts):
        place, shown = each.metrics.get("position"), each.metrics.get("impressions", 0)
        if place is not None and place > FIRST_PAGE and shown >= ENOUGH_TO_JUDGE:
            yield Found(
                each,
                {"position": place, "impressions": shown},
                f"In search the page is at position {amount(place)} on average, below the first ten "
                f"({amount(shown)} impressions).",
                "Use the words that people search for in the page's title and first paragraph.",
                NEW_WORDS,
            )


def no_conversion(facts: DiagnosisFacts) -> Iterator[Found]:
    for each in latest(facts):
        visits = each.metrics.get("sessions", 0)
        if visits >= ENOUGH_TO_JUDGE and each.metrics.get("conversions") == 0:
            yield Found(
                each,
                {"sessions": visits, "conversions": 0},
                f"Visitors come and do nothing: {amount(visits)} sessions, 0 conversions.",
                "Put one clear step on the page that the posts lead to.",
                NEW_WORDS,
            )


def _again(facts: DiagnosisFacts, channel: str) -> SuggestedCall:
    """Suggest another post on the channel; if the numbers are for the whole run, another launch."""
    differently = "the user wants to try it differently"
    if channel == "email":
        return SuggestedCall("chieflab_send", {"to": ["…"]}, differently)
    if any(each.channel == channel for each in facts.actions):
        return SuggestedCall("chieflab_post", {"channel": channel}, differently)
    return NEW_WORDS


def _describe(numbers: dict[str, float]) -> str:
    return ", ".join(describe_number(name, value) for name, value in numbers.items())


def _rate(of: Observation, names: tuple[str, str]) -> str:
    exposure, response = (describe_number(name, of.metrics[name]) for name in names)
    return f"{response} from {exposure}"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %"


# All rules, the heaviest first.

RULES: Final = (
    DiagnosisRule("outcome_unknown", "high", find_lost),
    DiagnosisRule("sends_fail", "high", find_failed),
    DiagnosisRule("not_connected", "high", unready),
    DiagnosisRule("mail_bounces", "high", bounces),
    DiagnosisRule("mail_complaints", "high", complaints),
    DiagnosisRule("not_seen", "high", not_seen),
    DiagnosisRule("seen_not_answered", "high", not_answered),
    DiagnosisRule("visitors_do_nothing", "high", no_conversion),
    DiagnosisRule("few_respond", "medium", few_answer),
    DiagnosisRule("reach_falls", "medium", falling),
    DiagnosisRule("weaker_than_best", "medium", weaker_than_best),
    DiagnosisRule("far_down_in_search", "medium", far_down),
    DiagnosisRule("drafts_rejected", "medium", find_rejected),
    DiagnosisRule("decisions_wait", "medium", waiting),
    DiagnosisRule("drafts_expired", "low", find_expired),
    DiagnosisRule("nothing_sent_lately", "low", quiet),
)


def diagnose(facts: DiagnosisFacts) -> Diagnosis:
    found = [finding for rule in RULES for finding in rule.judge(facts)]
    return Diagnosis(
        has_data=bool(facts.observations),
        window_days=WINDOW_DAYS,
        findings=order(found, facts.goal),
        missing_data=missing(facts),
        observations=facts.observations,
        lessons=facts.lessons,
    )


# Missing numbers, the reasons, and the sources that would provide them.

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
