"""Diagnosis of running campaigns: facts, findings with suggestions, their order and their text.

A finding rests on numbers and names their source and time. Without numbers there is no finding; the
diagnosis says instead where numbers would come from (E100). The rules are one table, `RULES`.

Pure. Knows nothing of where the facts come from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal

from assent.sdk import DAY_MS, Record, SuggestedCall, WireRecord, iso_time
from assent_launch import LAUNCH_NEEDS
from assent_launch.learning.metrics import NO_SOURCE, describe_number, read_numbers
from assent_launch.learning.recommend import ENOUGH_TO_JUDGE

Weight = Literal["high", "medium", "low"]

WINDOW_DAYS: Final = 90
"""How many days back actions count."""

OWN_RECORD: Final = "this server's record of actions"
"""The source name of facts about decisions and deliveries of this server."""


class ChannelReading(WireRecord, kw_only=True):
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
    observations: tuple[ChannelReading, ...] = ()
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
    observations: tuple[ChannelReading, ...]
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


# The rules. One about readings judges the newest reading of each channel by each source, one about actions the
# decisions and deliveries of this server. A metric that a source does not report is not zero, and small view counts
# are not judged.

Numbers = dict[str, float]
ActionFinder = Callable[[DiagnosisFacts, list[ActionFacts]], tuple[list[ActionFacts], Numbers]]
"""Returns the actions with the problem, and its numbers."""

OLD_DRAFT_DAYS: Final = 2
REJECTED_OFTEN: Final = 2
HALF: Final = 0.5
BOUNCES: Final = 0.05
"""The bounce rate at which providers begin to distrust a sender."""
WHOLE_RUN: Final = frozenset({"web", "search"})
"""Sources that count the visitors of all channels together."""
NEW_WORDS: Final = SuggestedCall(
    "chieflab_launch_product", {"channels": ["landing"]}, "to get new words for the page"
)


class ReadingRule(Record):
    """A rule about one reading. `find` returns the numbers that show the problem, if there is one."""

    id: str
    weight: Weight
    find: Callable[[ChannelReading], Numbers | None]
    problem: str
    try_next: str
    call: SuggestedCall | None = None
    """By default, another try on the channel."""
    judges_fresh: bool = True
    """Whether a reading from within a day of publishing is judged."""

    def judge(self, facts: DiagnosisFacts) -> Iterator[Finding]:
        for each in _latest(facts):
            numbers = self.find(each)
            if numbers and (self.judges_fresh or not _is_fresh(facts, each)):
                said = self.problem.format(channel=facts.label(each.channel), numbers=_describe(numbers))
                call = self.call or _again(facts, each.channel)
                yield _make_finding(self, facts, each, numbers, said, self.try_next, call)


class ActionRule(Record):
    """A rule about the actions of this server, which it judges by channel or connector, or together."""

    id: str
    weight: Weight
    by: Callable[[ActionFacts], str]
    find: ActionFinder
    problem: str
    try_next: str
    call: Callable[[ActionFacts], SuggestedCall]

    def judge(self, facts: DiagnosisFacts) -> Iterator[Finding]:
        groups: dict[str, list[ActionFacts]] = {}
        for each in facts.actions:
            groups.setdefault(self.by(each), []).append(each)
        for name, actions in groups.items():
            found, numbers = self.find(facts, actions)
            if found:
                words = {"name": facts.label(name), "count": _count(found), **numbers}
                problem = self.problem.format(**words)
                said = problem[0].upper() + problem[1:] + _quote(found[0])
                try_next = self.try_next.format(**words)
                yield _make_finding(self, facts, found[0], numbers, said, try_next, self.call(found[0]))


def _make_finding(
    rule: DiagnosisRule,
    facts: DiagnosisFacts,
    of: ChannelReading | ActionFacts,
    numbers: Numbers,
    problem: str,
    try_next: str,
    call: SuggestedCall,
) -> Finding:
    read = of if isinstance(of, ChannelReading) else None
    return Finding(
        rule=rule.id,
        weight=rule.weight,
        problem=problem,
        numbers=numbers,
        source=read.source if read is not None else OWN_RECORD,
        read_at=iso_time(read.at_ms if read is not None else facts.now_ms),
        channel=of.channel,
        run_id=of.run_id,
        try_next=try_next,
        call=call,
    )


def read_views(observation: ChannelReading) -> tuple[str, float] | None:
    """Return the name and number of views, if the source reports them. Deliveries are not views."""
    name = read_numbers(observation.metrics).exposure
    return (name, observation.metrics[name]) if name is not None else None


def _latest(facts: DiagnosisFacts) -> Iterable[ChannelReading]:
    """Return the newest reading of each channel by each source."""
    newest: dict[tuple[str, str], ChannelReading] = {}
    for each in facts.observations:
        newest.setdefault((each.channel, each.source), each)
    return newest.values()


def _is_fresh(facts: DiagnosisFacts, observation: ChannelReading) -> bool:
    """Whether a reading is from within a day of publishing, too early to judge."""
    out = [
        each.executed_ms for each in facts.actions if each.run_id == observation.run_id and each.executed_ms
    ]
    return bool(out) and observation.at_ms - max(out) < DAY_MS


def _find_unseen(of: ChannelReading) -> Numbers | None:
    views = read_views(of)
    if views is None or views[1] > 0:
        return None
    return {**{name: of.metrics[name] for name in ("delivered",) if of.metrics.get(name)}, views[0]: 0}


def _find_unanswered(of: ChannelReading) -> Numbers | None:
    views = read_views(of)
    responses = {name: of.metrics[name] for name in read_numbers(of.metrics).responses}
    if views is None or views[1] < ENOUGH_TO_JUDGE or of.channel in WHOLE_RUN:
        return None
    return None if not responses or any(responses.values()) else {views[0]: views[1], **responses}


def _find_bounces(of: ChannelReading) -> Numbers | None:
    bounced, delivered = of.metrics.get("bounced", 0), of.metrics.get("delivered")
    if delivered is None or not bounced or bounced / (bounced + delivered) < BOUNCES:
        return None
    return {"bounced": bounced, "delivered": delivered}


def _find_complaints(of: ChannelReading) -> Numbers | None:
    complained = of.metrics.get("complained", 0)
    return {"complained": complained} if complained else None


def _find_idle_visitors(of: ChannelReading) -> Numbers | None:
    visits = of.metrics.get("sessions", 0)
    if visits < ENOUGH_TO_JUDGE or of.metrics.get("conversions") != 0:
        return None
    return {"sessions": visits, "conversions": 0}


def _again(facts: DiagnosisFacts, channel: str) -> SuggestedCall:
    """Suggest another post on the channel; if the numbers are for the whole run, another launch."""
    if channel == "email" or any(each.channel == channel for each in facts.actions):
        return _prepare_again(channel, "the user wants to try it differently")
    return NEW_WORDS


def _prepare_again(channel: str, when: str) -> SuggestedCall:
    if channel == "email":
        needs = {"to": "the addresses", "subject": "the subject", "body": "the text, written by you"}
        return SuggestedCall("chieflab_send", {}, when, needs)
    return SuggestedCall("chieflab_post", {"channel": channel}, when, {"body": "the text, written by you"})


def _describe(numbers: Numbers) -> str:
    return ", ".join(describe_number(name, value) for name, value in numbers.items())


def _find_where(test: Callable[[ActionFacts], bool]) -> ActionFinder:
    """Make a rule's `find` that counts the actions of which something is true."""

    def find(facts: DiagnosisFacts, actions: list[ActionFacts]) -> tuple[list[ActionFacts], Numbers]:
        found = [each for each in actions if test(each)]
        return found, {"actions": len(found)}

    return find


def _find_waiting(facts: DiagnosisFacts, actions: list[ActionFacts]) -> tuple[list[ActionFacts], Numbers]:
    """Return the drafts that wait for a decision, the oldest first."""
    waiting = [each for each in reversed(actions) if each.status == "awaiting_approval" and not each.expired]
    days = [(facts.now_ms - each.created_ms) // DAY_MS for each in waiting]
    old = [each for each, age in zip(waiting, days, strict=True) if age >= OLD_DRAFT_DAYS]
    return old, {"actions": len(old), "days": max(days, default=0)}


def _find_rejected(facts: DiagnosisFacts, actions: list[ActionFacts]) -> tuple[list[ActionFacts], Numbers]:
    decided = [each for each in actions if each.status in ("rejected", "executed", "approved", "failed")]
    rejected = [each for each in decided if each.status == "rejected"]
    often = len(rejected) >= REJECTED_OFTEN and len(rejected) > HALF * len(decided)
    return rejected if often else [], {"rejected": len(rejected), "decided": len(decided)}


def _quote(action: ActionFacts) -> str:
    """Quote what the last one ended with."""
    if action.status == "rejected" and action.rejection:
        return f' The last reason: "{action.rejection}"'
    if action.status == "failed" and action.last_attempt:
        return f" The last one: {action.last_attempt}."
    return ""


def _count(actions: list[ActionFacts]) -> str:
    return "one action" if len(actions) == 1 else f"{len(actions)} actions"


DiagnosisRule = ReadingRule | ActionRule

RULES: Final[tuple[DiagnosisRule, ...]] = (
    ActionRule(
        "outcome_unknown",
        "high",
        lambda each: "",
        _find_where(lambda each: each.execution_state == "outcome_unknown"),
        "It is not known whether {count} went out.",
        "Look at the provider and say what is there.",
        lambda each: SuggestedCall("chieflab_get_action", {"actionId": each.action_id}, "to see which one"),
    ),
    ActionRule(
        "sends_fail",
        "high",
        lambda each: each.channel,
        _find_where(lambda each: each.status == "failed"),
        "The provider refused {count} on {name}.",
        "Fix what was refused and prepare it again.",
        lambda each: _prepare_again(each.channel, "it has been fixed"),
    ),
    ActionRule(
        "not_connected",
        "high",
        lambda each: each.connector,
        _find_where(lambda each: each.status in ("awaiting_approval", "approved") and not each.ready),
        "{count} cannot go out because {name} is not connected.",
        "Connect {name}, or publish by hand.",
        lambda each: SuggestedCall(
            "chieflab_connect_provider", {"provider": each.connector}, "the user wants to connect it"
        ),
    ),
    ReadingRule(
        "mail_bounces",
        "high",
        _find_bounces,
        "Mail comes back: {numbers}.",
        "Take the addresses that bounced off the list before the next mail.",
        _prepare_again("email", "the list has been cleaned"),
    ),
    ReadingRule(
        "mail_complaints",
        "high",
        _find_complaints,
        "Readers reported the mail as spam: {numbers}.",
        "Write only to people who asked for it, and say in the first line why they get it.",
        SuggestedCall("chieflab_brain_read", {"kind": "lesson"}, "to see what is known about the readers"),
    ),
    ReadingRule(
        "not_seen",
        "high",
        _find_unseen,
        "Nothing shows that the last one on {channel} was seen: {numbers}.",
        "Check that it can be found there; then try another time or another channel.",
        judges_fresh=False,
    ),
    ReadingRule(
        "seen_not_answered",
        "high",
        _find_unanswered,
        "It is seen on {channel} without a response: {numbers}.",
        "Rewrite the opening and ask for one thing only.",
    ),
    ReadingRule(
        "visitors_do_nothing",
        "high",
        _find_idle_visitors,
        "Visitors come and do nothing: {numbers}.",
        "Put one clear step on the page that the posts lead to.",
        NEW_WORDS,
    ),
    ActionRule(
        "drafts_rejected",
        "medium",
        lambda each: each.channel,
        _find_rejected,
        "Most drafts for {name} are rejected: {rejected} of {decided}.",
        "Use the reasons for the next draft, and record the wanted voice.",
        lambda each: SuggestedCall("chieflab_brain_read", {"kind": "rejection"}, "to read every reason"),
    ),
    ActionRule(
        "decisions_wait",
        "medium",
        lambda each: "",
        _find_waiting,
        "There is no decision yet about {count}; the oldest has waited {days} days.",
        "Decide on them: without approval they reach no reader.",
        lambda each: SuggestedCall("chieflab_list_pending_actions", {}, "to show what waits"),
    ),
)
"""All rules, the heaviest first."""


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
            how=f"They are measured on schedule, first on {iso_time(coming[0])[:10]}.",
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
