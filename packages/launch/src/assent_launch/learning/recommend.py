"""Sums readings, compares them with earlier runs, and recommends the next move (E32). Pure.

Only numbers that count the same thing are added or compared (E100). Numbers of one source are never
added to each other; a metric that a source does not report is not zero; a channel is called better
only if both have the same exposure and the same response.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal, Protocol

from assent.sdk import Record, WireRecord
from assent_launch.learning.metrics import (
    ChannelNumbers,
    Metric,
    describe_number,
    is_told,
    read_numbers,
    sort_names,
)

ENOUGH_TO_JUDGE: Final = 20
"""With fewer exposures a text is not judged."""
ENOUGH_FOR_A_RATE: Final = 100
"""With fewer exposures a response rate is not judged."""
CLEARLY: Final = 2
"""The better channel needs more than this many times the others' response."""
ENOUGH_MORE: Final = 10
"""How many responses more than expected from the others' rate it also needs."""
MOST_TOLD: Final = 4
"""The most channels that one sentence describes."""

Numbers = Mapping[str, int | float]
Channels = Mapping[str, ChannelNumbers]


class ReadingLike(Protocol):
    """The part of a reading that the rules need, without an import of the ports."""

    @property
    def source(self) -> str: ...
    @property
    def channel(self) -> str: ...
    @property
    def status(self) -> Literal["ok", "unavailable"]: ...
    @property
    def metrics(self) -> dict[str, int | float]: ...


class Usual(WireRecord):
    """The average of one metric on one channel over the earlier runs that have it."""

    channel: str
    metric: str
    average: float
    runs: int


class NextMove(WireRecord):
    """A recommendation, with the numbers behind it."""

    move: str
    why: str
    channel: str | None


class ChannelKinds(Protocol):
    """The part of the registered effect types that the rules need."""

    def label(self, channel: str) -> str: ...
    def has_channel(self, channel: str) -> bool: ...
    def counts_visits(self, channel: str) -> bool: ...


class ChannelRoles(Record):
    """The channels of a run that are not compared like the others."""

    whole_run: frozenset[str]
    """Sources that count the visitors of all channels together, so they cannot rank channels."""
    arrivals: frozenset[str]
    """Channels that the others lead to, with those of `whole_run`. They count a visitor from another
    channel a second time."""


class RunAssessment(Record):
    """The conclusions from the readings of a run."""

    totals: dict[str, float]
    usual: tuple[Usual, ...]
    next_move: NextMove


def assess(
    readings: Iterable[ReadingLike],
    kinds: ChannelKinds,
    earlier: Iterable[Iterable[ReadingLike]] = (),
) -> RunAssessment:
    """Sum a run's readings, compare them with earlier runs, recommend the next move."""
    given = tuple(readings)
    channels = {channel: read_numbers(numbers) for channel, numbers in group_numbers(given).items()}
    labels = {channel: kinds.label(channel) for channel in channels}
    roles = _find_roles(channels, kinds)
    usual = _average_earlier(channels, [group_numbers(each) for each in earlier])
    messages = Counter(reading.channel for reading in given if reading.status == "ok")
    move = _recommend(channels, roles, messages, usual, labels)
    told = {each.channel for each in given if is_told(each.source)}
    if names := [label for channel, label in labels.items() if channel in told and label in move.why]:
        advice = move.move.replace(_RESPONDED, _SAID_TO)
        move = NextMove(advice, f"{move.why} {_TOLD.format(_list(names))}", move.channel)
    return RunAssessment(_total(channels, roles), usual, move)


def _find_roles(channels: Iterable[str], kinds: ChannelKinds) -> ChannelRoles:
    """A channel that no effect goes to is a source about the whole run."""
    whole_run = frozenset(channel for channel in channels if not kinds.has_channel(channel))
    pages = (channel for channel in channels if kinds.counts_visits(channel))
    return ChannelRoles(whole_run, whole_run.union(pages))


def group_numbers(readings: Iterable[ReadingLike]) -> dict[str, dict[str, int | float]]:
    """Group numbers by channel; several messages keep only metrics that may be added."""
    found: dict[str, list[Numbers]] = {}
    for reading in readings:
        if reading.status == "ok":
            found.setdefault(reading.channel, []).append(reading.metrics)
    return {channel: dict(each[0]) if len(each) == 1 else _add(each) for channel, each in found.items()}


def _total(channels: Channels, roles: ChannelRoles) -> dict[str, float]:
    """Sum a run's counts, without those that overlapping channels share."""
    additive = _list_additive(row for each in channels.values() for row in each.rows.items())
    totals = {}
    for name in sort_names(additive):
        having = [channel for channel, each in channels.items() if name in each.numbers]
        if len(having) == 1 or roles.arrivals.isdisjoint(having):
            totals[name] = float(sum(channels[channel].numbers[name] for channel in having))
    return totals


def _average_earlier(channels: Channels, past: Sequence[Mapping[str, Numbers]]) -> tuple[Usual, ...]:
    """Average the same counts on the same channels over earlier runs."""
    found = []
    for channel, known in channels.items():
        for name, row in known.rows.items():
            values = [each[channel][name] for each in past if name in each.get(channel, {})]
            if values and row.kind == "count":
                found.append(Usual(channel, name, sum(values) / len(values), len(values)))
    return tuple(found)


def _recommend(
    every: Channels,
    roles: ChannelRoles,
    messages: Mapping[str, int],
    usual: Sequence[Usual],
    labels: Mapping[str, str],
) -> NextMove:
    if not every:
        return NextMove("Wait for numbers.", "No source has any yet.", None)
    channels = {channel: known for channel, known in every.items() if channel not in roles.whole_run}
    if not channels:
        return _recommend_for_pages(every, usual, labels)
    if (best := _find_best(channels, roles)) is not None:
        channel, response = best
        sources = [each for each in channels if each not in roles.arrivals]
        compared = "; ".join(_rate(labels[each], channels[each], response) for each in sources)
        return NextMove(
            f"Write the next one for {labels[channel]} first.",
            _join(f"{compared}.", _compare({channel: channels[channel]}, usual, labels)),
            channel,
        )
    for applies, move, note in _MOVES:
        chosen = {channel: known for channel, known in channels.items() if applies(known)}
        if chosen:
            names = _list([labels[channel] for channel in chosen])
            several = any(messages[channel] > 1 for channel in chosen)
            said = _TOGETHER.get(note, note) if several else note
            why = _join(_describe(chosen, labels), said, _compare(chosen, usual, labels))
            return NextMove(move.format(names), why, next(iter(chosen)) if len(chosen) == 1 else None)
    raise AssertionError("the last move applies to everything")


def _recommend_for_pages(pages: Channels, usual: Sequence[Usual], labels: Mapping[str, str]) -> NextMove:
    """Recommend for a run known only by its pages' visitors: no channel can be compared."""
    ignored = any(_is_ignored(known) for known in pages.values())
    answered = any(_has_answers(known) for known in pages.values())
    move = (
        "Try other words at the top of the page, and one clear step for visitors."
        if ignored and not answered
        else "Tell me the numbers that you see on each channel, so that they can be compared."
    )
    why = _join(
        _describe(pages, labels), "No channel has numbers of its own.", _compare(pages, usual, labels)
    )
    return NextMove(move, why, None)


def _find_best(channels: Channels, roles: ChannelRoles) -> tuple[str, str] | None:
    """Return the channel that brings clearly more of the same response from the same exposure than
    every other one.

    It leads in the most telling response, and no other channel leads in another one. A page is not
    compared with the channels that lead to it.
    """
    compared = {channel: known for channel, known in channels.items() if channel not in roles.arrivals}
    if len(compared) < 2:
        return None
    exposures = {known.exposure for known in compared.values()}
    exposure = exposures.pop() if len(exposures) == 1 else None
    if exposure is None or any(known.numbers[exposure] < ENOUGH_FOR_A_RATE for known in compared.values()):
        return None
    given = [known.responses for known in compared.values()]
    shared = [name for name in given[0] if all(name in each for each in given[1:])]
    leaders = [_find_leader(compared, exposure, response) for response in shared]
    if not leaders or leaders[0] is None or set(leaders) - {None, leaders[0]}:
        return None
    return leaders[0], shared[0]


def _find_leader(channels: Channels, exposure: str, response: str) -> str | None:
    rated = {
        channel: (known.numbers[response], known.numbers[exposure]) for channel, known in channels.items()
    }
    for first, best in rated.items():
        if all(brings_more(best, other) for channel, other in rated.items() if channel != first):
            return first
    return None


def brings_more(best: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether one channel's responses per exposure are clearly more than another's."""
    expected = best[1] * other[0] / other[1]
    return best[0] > CLEARLY * expected and best[0] - expected >= ENOUGH_MORE


def _rate(label: str, known: ChannelNumbers, response: str) -> str:
    exposure = known.exposure or ""
    answered = describe_number(response, known.numbers[response])
    return f"{label}: {answered} from {describe_number(exposure, known.numbers[exposure])}"


def _has_answers(known: ChannelNumbers) -> bool:
    return any(
        known.numbers[name] >= 1 if name in known.responses else known.numbers[name] > 0
        for name in known.answered
    )


def _is_seen(known: ChannelNumbers, least: float) -> bool:
    if known.exposure is None:
        return least <= 1 and any(known.numbers[name] > 0 for name in known.seen)
    return known.numbers[known.exposure] >= least


def _is_ignored(known: ChannelNumbers) -> bool:
    return bool(known.answered) and not _has_answers(known) and _is_seen(known, ENOUGH_TO_JUDGE)


def _is_seen_by_few(known: ChannelNumbers) -> bool:
    return bool(known.answered) and _is_seen(known, 1)


def _is_unanswered_for_us(known: ChannelNumbers) -> bool:
    return not known.answered and _is_seen(known, 1)


def _is_returned(known: ChannelNumbers) -> bool:
    return known.numbers.get("delivered") == 0 and known.numbers.get("bounced", 0) > 0


def _is_unseen(known: ChannelNumbers) -> bool:
    return bool(known.seen)


def _is_delivered(known: ChannelNumbers) -> bool:
    return bool(known.deliveries) and not known.answered


_RESPONDED: Final = "where people responded"
_SAID_TO: Final = "where people are said to have responded"
_TOLD: Final = "The numbers of {} were told, not read."
_UNANSWERED: Final = "Responses are not known."
_UNCOUNTED: Final = "How often it was seen is not known."
_TOGETHER: Final = {
    _UNANSWERED: "Responses to all messages together are not known.",
    _UNCOUNTED: "How often all messages together were seen is not known.",
}
"""The sentences for a channel with several messages, of which one may have the number."""

_MOVES: Final[tuple[tuple[Callable[[ChannelNumbers], bool], str, str], ...]] = (
    (_has_answers, f"Post a follow-up on {{}}, {_RESPONDED}.", ""),
    (_is_returned, "Check the addresses on {}: every message came back.", ""),
    (_is_ignored, "Try another opening and one clear request on {}.", ""),
    (
        _is_seen_by_few,
        "Measure again later before you change anything on {}.",
        "That is too little to judge.",
    ),
    (_is_unanswered_for_us, "Tell me the clicks, comments or likes that you see on {}.", _UNANSWERED),
    (_is_unseen, "Check that readers can find it ({}), and measure again later.", ""),
    (_is_delivered, "Measure again later: {} has no numbers of readers yet.", ""),
    (lambda known: True, "Tell me how often it was seen on {}, or measure again later.", _UNCOUNTED),
)
"""Conditions on the numbers, each with its move; the first that applies wins."""


def _describe(channels: Channels, labels: Mapping[str, str]) -> str:
    apart = "its messages have no number in common"
    sentences = [
        f"{labels[channel]}: {known.summarise() if known.numbers else apart}."
        for channel, known in channels.items()
    ]
    return " ".join(sentences[:MOST_TOLD])


def _compare(channels: Channels, usual: Sequence[Usual], labels: Mapping[str, str]) -> str:
    """Describe the channels' earlier averages: exposure, or the metric they have."""
    sentences = []
    for channel, known in list(channels.items())[:MOST_TOLD]:
        before = {each.metric: each for each in usual if each.channel == channel}
        names = (known.exposure, *known.responses, *known.deliveries)
        if (found := next((before[name] for name in names if name in before), None)) is not None:
            sentences.append(f"{labels[channel]} {describe_usual(found)}.")
    return " ".join(sentences)


def describe_usual(usual: Usual) -> str:
    """`averaged 2,101.5 impressions over 2 earlier runs`."""
    runs = "in one earlier run" if usual.runs == 1 else f"over {usual.runs} earlier runs"
    verb = "had" if usual.runs == 1 else "averaged"
    return f"{verb} {describe_number(usual.metric, usual.average)} {runs}"


def _add(messages: Sequence[Numbers]) -> dict[str, int | float]:
    """Add the counts that every message has: one that is missing somewhere is not zero there."""
    names = _list_additive(read_numbers(messages[0]).rows.items())
    shared = [name for name in names if all(name in numbers for numbers in messages[1:])]
    return {name: sum(numbers[name] for numbers in messages) for name in shared}


def _list_additive(rows: Iterable[tuple[str, Metric]]) -> list[str]:
    return list(dict.fromkeys(name for name, row in rows if row.kind == "count" and row.additive))


def _join(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
