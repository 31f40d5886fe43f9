"""The words of the results screens. Pure."""

from __future__ import annotations

from typing import Final

from assent.engine.views.measure_views import MOST_COUNTED
from assent.gate.measurement.metrics import amount
from assent.gate.measurement.recommend import NO_SOURCE
from assent.serving.web.shell.problems import Link, PageProblem

BY_HAND: Final = "recorded by hand"
"""The source of a reading that a person entered."""

PERIODS: Final = (("28", "28 days"), ("91", "3 months"), ("all", "All time"))
"""The periods by their name in the address; the first one is the default."""

MAIL_FIELDS: Final = ("delivered", "opened", "clicked", "bounced", "unsubscribed")
POST_FIELDS: Final = ("impressions", "views", "clicks", "comments", "reactions", "shares")
"""The numbers that the form asks for."""

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

NUMBER_ADVICE: Final = "Enter a whole number, or leave it empty."
NO_NUMBER_ADVICE: Final = "Enter at least one number."
SOURCE_ADVICE: Final = "Say where you read the numbers, such as “LinkedIn, post analytics”."

NOT_SENT: Final = PageProblem(
    404,
    "There is nothing to add numbers to",
    "Nothing of this run has been sent, or it is not in the workspace you look at.",
    "Choose a run that was sent.",
    Link("/results", "Results"),
)


def describe_change(value: float, usual: float | None, runs: int) -> tuple[str, str]:
    """Compare an average with that of earlier runs: the words and their tone."""
    if usual is None:
        return "No baseline yet", ""
    earlier = "one earlier run" if runs == 1 else f"{runs} earlier runs"
    if usual <= 0 or value == usual:
        return f"{amount(usual)} per run in {earlier}", ""
    share = round(100 * (value - usual) / usual)
    sign = "▲" if value > usual else "▼"
    return f"{sign} {abs(share)} % per run, against {earlier}", "up" if value > usual else "down"


def explain_gap(reason: str) -> str:
    """Why a source has no numbers, as the end of a sentence."""
    if reason == NO_SOURCE:
        return "the channel gives the server none"
    return reason.rstrip(".") or "the source gave no reason"


def write_count(count: int) -> str:
    return f"{count:,}+" if count >= MOST_COUNTED else f"{count:,}"


def describe_counts(failed: int, unknown: int) -> str:
    parts = ((failed, "failed"), (unknown, "unknown"))
    return " · ".join(f"{write_count(count)} {word}" for count, word in parts if count) or "None failed"


def say_funnel(runs: int, lost: str) -> str:
    """How many runs report these numbers, and how much was lost on the way."""
    reports = "One run reports these numbers" if runs == 1 else f"{runs} runs report these numbers"
    return f"{reports}; {lost}." if lost else f"{reports}."


# results.html
PER_RUN: Final = "{chosen} per run"
NO_DATA_ON: Final = "{channel}: no data, because {why}."
ADD_NUMBERS_TO: Final = "Add numbers: {title}"
ADD_NUMBERS: Final = "Add numbers"


# screens.py
ONE_EARLIER_RUN: Final = "one earlier run"
EARLIER_RUNS: Final = "{usual_runs} earlier runs"
AVERAGE_OF: Final = "Average of {earlier}: {usual}"
NO_NUMBER: Final = "no number"
