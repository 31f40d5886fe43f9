"""The table of metrics: the name of a number in words, its kind and its role (E100).

A metric has the name that its source uses. Spellings are folded (`engagementRate`,
`engagement_rate`), names are never merged: impressions are not views, and opens are not clicks. A
metric outside the table has no role: its number is shown under its name, never added and never
compared.

Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from assent.sdk import Record

Kind = Literal["count", "rate", "money"]
Role = Literal["exposure", "response", "delivery"]

BY_HAND: Final = "recorded by hand"
"""Begins the source of numbers that a person told; where they have them from follows."""
NO_SOURCE: Final = "this channel gives no numbers; tell me those that you see there"
"""The reason why a channel whose connector measures nothing has no numbers."""

LARGEST: Final = 10**12
"""The largest credible number of one message."""


class Metric(Record):
    """One row of the table."""

    plural: str
    kind: Kind = "count"
    role: Role | None = None
    singular: str = ""
    additive: bool = True
    """Whether counts of two messages may be added: not if they count people."""
    sums: bool = False
    """Whether the metric includes other responses of its source, as engagements include likes."""


def _counts(role: Role, *names: str, additive: bool = True, sums: bool = False) -> dict[str, Metric]:
    """Return rows for counts: `view/s` and `reply/replies` have singular and plural."""
    rows = {}
    for name in names:
        stem, _, ending = name.partition("/")
        plural = stem + ending if len(ending) < 2 else ending
        rows[plural] = Metric(plural, "count", role, stem, additive, sums)
    return rows


METRICS: Final[dict[str, Metric]] = {
    **_counts("delivery", "sent", "delivered", "bounced", "complained", "failed", "suppressed", "canceled"),
    **_counts(
        "delivery", "bounces", "complaints", "unsubscribed", "unsubscribes", "delivery delayed", "queued"
    ),
    # The best defined exposure first: a sentence names the first one that a source reports.
    **_counts(
        "exposure", "impression/s", "view/s", "page view/s", "screen page view/s", "video view/s", "play/s"
    ),
    "reach": Metric("people reached", "count", "exposure", "person reached", additive=False),
    **_counts("exposure", "unique impressions", "unique views", "viewers", additive=False),
    **_counts("exposure", "opened", "open/s"),
    **_counts("exposure", "unique opens", additive=False),
    **_counts("exposure", "session/s", "visit/s"),
    **_counts(
        "exposure", "visitors", "unique visitors", "users", "active users", "total users", additive=False
    ),
    # The most telling response first: channels are compared by the first that both have.
    **_counts("response", "conversion/s", "key event/s", "purchase/s", "signup/s", "sign up/s", "download/s"),
    **_counts("response", "clicked", "click/s", "link click/s", "url click/s"),
    **_counts("response", "unique clicks", additive=False),
    **_counts(
        "response", "reply/replies", "comment/s", "answer/s", "repost/s", "retweet/s", "share/s", "quote/s"
    ),
    **_counts("response", "save/s", "bookmark/s", "reaction/s", "like/s", "favourite/s", "favorite/s"),
    **_counts("response", "point/s", "upvote/s", "vote/s", "star/s", "fork/s", "follow/s", "profile visit/s"),
    **_counts("response", "engagement/s", "interaction/s", "total engagement/s", "response/s", sums=True),
    "engagement rate": Metric("engagement rate", "rate", "response"),
    "ctr": Metric("click-through rate", "rate", "response"),
    "click rate": Metric("click rate", "rate", "response"),
    "click through rate": Metric("click-through rate", "rate", "response"),
    "conversion rate": Metric("conversion rate", "rate", "response"),
    "bounce rate": Metric("bounce rate", "rate"),
    "open rate": Metric("open rate", "rate", "exposure"),
    "view rate": Metric("view rate", "rate", "exposure"),
    "delivery rate": Metric("delivery rate", "rate", "delivery"),
    "position": Metric("position in the search results", "rate"),
    "average session duration": Metric("average session in seconds", "rate"),
    "revenue": Metric("revenue", "money", "response"),
    "sales": Metric("sales", "money", "response"),
    "purchase revenue": Metric("revenue", "money", "response"),
    "total revenue": Metric("revenue", "money", "response"),
    "spend": Metric("spend", "money"),
    "cost": Metric("cost", "money"),
}
_MONEY: Final = frozenset(name for name, row in METRICS.items() if row.kind == "money")
ORDER: Final = {name: place for place, name in enumerate(METRICS)}
_CURRENCY: Final = re.compile(r"(.+) (usd|eur|gbp|chf|jpy|cad|aud|sek|nok|dkk|pln|czk|inr|brl|cny)", re.ASCII)


def fold_name(name: str) -> str:
    """Return the table's spelling of a name: `screenPageViews` is `screen page views`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return " ".join(re.split(r"[\s_\-]+", spaced.lower())).strip()


def find_metric(name: str) -> Metric | None:
    """Return the row of a name; None if the table has none."""
    return METRICS.get(_row_name(name))


def sort_names(names: Iterable[str]) -> list[str]:
    """Sort names in the order of the table; unknown ones are last, by name."""
    return sorted(names, key=lambda name: (ORDER.get(_row_name(name), len(ORDER)), name))


class ChannelNumbers(Record):
    """The numbers of a channel, with their names by role in the order of the table."""

    numbers: Mapping[str, int | float]
    rows: dict[str, Metric]
    """The rows of the names that the table has."""
    deliveries: list[str]
    exposures: list[str]
    exposure: str | None
    """The exposure to show: the best defined one above zero, else the best defined one.

    If a source reports 0 for one exposure and more for another, or responses to something that was
    never shown, it does not count the first one: that 0 is left out.
    """
    responses: list[str]
    """The responses to show; a source's own sum only without others."""
    seen: list[str]
    """The exposure to show; its rates if there is none."""
    answered: list[str]
    """The responses and the money to show; rates of response if there is neither."""

    def summarise(self) -> str:
        """Summarise: deliveries, one exposure, the responses, and an e-mail's unknowns."""
        told = [*self.deliveries, *self.seen, *self.answered]
        if not told:
            return describe_numbers(self.numbers)
        said = ", ".join(describe_number(name, self.numbers[name]) for name in told)
        unknown = []
        if self.deliveries:
            unknown = [*([] if self.seen else ["opens"]), *([] if self.answered else ["clicks"])]
        return f"{said}; {' and '.join(unknown)} are not known" if unknown else said


def read_numbers(numbers: Mapping[str, int | float]) -> ChannelNumbers:
    """Find the role of every number of a channel."""
    rows = {name: row for name in sort_names(numbers) if (row := find_metric(name)) is not None}

    def list_names(role: Role, kind: Kind) -> list[str]:
        return [name for name, row in rows.items() if row.role == role and row.kind == kind]

    exposures, exposure_rates = list_names("exposure", "count"), list_names("exposure", "rate")
    counts, money = list_names("response", "count"), list_names("response", "money")
    response_rates = list_names("response", "rate")
    exposure = next((name for name in exposures if numbers[name] > 0), None)
    if exposure is None and exposures:
        contrary = (*exposure_rates, *counts, *money, *response_rates)
        exposure = None if any(numbers[name] > 0 for name in contrary) else exposures[0]
    responses = [name for name in counts if not rows[name].sums] or counts
    return ChannelNumbers(
        numbers=numbers,
        rows=rows,
        deliveries=list_names("delivery", "count"),
        exposures=exposures,
        exposure=exposure,
        responses=responses,
        seen=[exposure] if exposure is not None else exposure_rates,
        answered=[*responses, *money] or response_rates,
    )


def select_credible(given: Mapping[str, object]) -> tuple[dict[str, int | float], tuple[str, ...]]:
    """Return the credible numbers of a source, and the values that were left out.

    Left out are values that cannot be a number of their metric, and a 0 that another exposure or a
    response contradicts. Text, nulls and objects under unknown names are no numbers and are not
    mentioned.
    """
    kept: dict[str, int | float] = {}
    left_out = []
    for name, value in given.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            if math.isfinite(value) and 0 <= value <= LARGEST:
                kept[name] = value
            else:
                left_out.append(f"{name_number(name)} {_shorten(value)}")
        elif value is not None and find_metric(name) is not None:
            left_out.append(f"{name_number(name)} {_shorten(value)}")
    known = read_numbers(kept)
    for name in known.exposures:
        if name == known.exposure:
            break
        left_out.append(describe_number(name, kept.pop(name)))
    return kept, tuple(left_out)


def amount(value: float) -> str:
    """Format a number for a sentence: whole if it is whole, never rounded to powers of ten."""
    if float(value).is_integer():
        return f"{value:,.0f}"
    digits = 1 if abs(value) >= 100 else 2 if abs(value) >= 1 else 4
    written = f"{value:,.{digits}f}".rstrip("0").rstrip(".")
    return written if written not in ("0", "-0") else "almost 0"


def describe_number(name: str, value: float) -> str:
    """`1,234 impressions`, `engagement rate 0.05`, `revenue 12.5 EUR`, else `karma 7`."""
    row = find_metric(name)
    if row is None:
        return f"{name_number(name)} {amount(value)}"
    if row.kind == "count":
        return f"{amount(value)} {row.singular if value == 1 else row.plural}"
    money = _CURRENCY.fullmatch(fold_name(name))
    if row.kind == "money":
        return (
            f"{row.plural} {amount(value)} {money[2].upper()}"
            if money
            else f"{row.plural} in no known currency"
        )
    return f"{row.plural} {amount(value)}"


def name_number(name: str) -> str:
    """Return the name of a metric in words."""
    row = find_metric(name)
    return row.plural if row is not None else " ".join(name.replace("_", " ").split())


def is_told(source: str) -> bool:
    """Whether a person told the numbers of a source."""
    return source.startswith(BY_HAND)


def quote_teller(source: str) -> str:
    """Return where a person has told numbers from, in their words; empty for numbers that were read."""
    if not is_told(source):
        return ""
    words = source.removeprefix(BY_HAND).removeprefix(": ")
    return f" (as told: “{words}”)" if words else " (as told)"


def describe_numbers(metrics: Mapping[str, float]) -> str:
    """Describe every number of a source under its own name."""
    return ", ".join(describe_number(name, metrics[name]) for name in sort_names(metrics)) or "no numbers"


def _row_name(name: str) -> str:
    """Return the name of its row: a sum of money with a currency has the row of its kind."""
    folded = fold_name(name)
    money = _CURRENCY.fullmatch(folded)
    return money[1] if money and money[1] in _MONEY else folded


def _shorten(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 40 else text[:39] + "…"
