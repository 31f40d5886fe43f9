"""The words of the operations page. Pure."""

from __future__ import annotations

from typing import Final

from assent.gate.policy import RANK, Requirement
from assent.gate.records import Assurance
from assent.kernel.limits import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from assent.present.rule_text import describe_need
from assent.serving.web.operations.figures import Repeated

AGES: Final = ("Under 1 hour", "1 to 4 hours", "4 to 24 hours", "1 to 3 days", "3 to 7 days", "Over 7 days")
"""The names of the ages, the youngest first."""
RISKS: Final = ("High-risk", "Medium-risk", "Low-risk")
PERIODS: Final = (("7", "7 days"), ("28", "28 days"), ("91", "3 months"))
"""The periods by their name in the address."""
DEFAULT_PERIOD: Final = "28"

_SPANS: Final = (
    (DAY_MS, "day", "days"),
    (HOUR_MS, "h", "h"),
    (MINUTE_MS, "min", "min"),
    (SECOND_MS, "s", "s"),
)


def write_span(ms: float) -> str:
    """`42 min`, `3 h`, `2 days`."""
    for size, one, many in _SPANS:
        if ms >= size:
            count = round(ms / size)
            return f"{count:,} {one if count == 1 else many}"
    return "0 s"


def name_agent(proposed_by: str, labels: dict[str, str]) -> str:
    """Name the agent that proposed something, by the label of its key."""
    if proposed_by in labels:
        return labels[proposed_by]
    if proposed_by.startswith("key:"):
        return f"Key {proposed_by.removeprefix('key:')[:8]}"
    return {"local": "your agent on this computer", "": "an agent"}.get(proposed_by, proposed_by)


def describe_repeated(found: Repeated, channel: str, agent: str) -> str:
    """`Low-risk LinkedIn posts by Claude were approved unchanged 41 of 41 times.`"""
    place = channel[0].lower() + channel[1:] if channel.startswith("Your ") else channel
    kind = f"{RISKS[found.risk]} actions on {place} by {agent}"
    return f"{kind} were approved unchanged {found.approved} of {found.approved} times."


def advise(needed: Requirement) -> tuple[str, str, str]:
    """What would ask less, given what the policy asks now: the advice, a button and where it leads."""
    asked = describe_need(needed)
    if needed.rules:
        named = ", ".join(f"“{name}”" for name in needed.rules)
        return f"Your rule {named} asks for {asked}. It could ask for less here.", "Open the policy", POLICY
    if RANK[needed.assurance] > RANK[Assurance.AGENT] or needed.approvers > 1:
        return (
            f"Your policy asks for {asked}. With “Your agent passes on your yes” you could answer these in the chat.",
            "Open the policy",
            POLICY,
        )
    return (
        "Your agent may already pass on your yes. Decide them together: select the whole group in the inbox.",
        "Open the inbox",
        "/inbox",
    )


POLICY: Final = "/settings/policy"
