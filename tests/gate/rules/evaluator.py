"""What a policy's words say, worked out a second time: from the plain data of its source, without the server's code."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

RANK = {"agent": 0, "link": 0, "client": 1, "person": 2, "passkey": 3}
PERSON, AGENT, TWO = {"assurance": "person"}, {"assurance": "agent"}, {"assurance": "person", "approvers": 2}
PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "relay": {"low": AGENT, "medium": AGENT, "high": PERSON},
    "people": {"low": PERSON, "medium": PERSON, "high": PERSON},
    "two_people": {"low": PERSON, "medium": PERSON, "high": TWO},
    "none": {},
}


def conjunction(parts: list[bool | None]) -> bool | None:
    """All of them, where None is a value that is missing or of another type."""
    return False if False in parts else None if None in parts else True


def number(value: Any) -> tuple[Decimal, str] | None:
    digits, _, currency = str(value).partition(" ")
    try:
        return None if isinstance(value, bool) else (Decimal(digits), currency)
    except InvalidOperation:
        return None


def equal(wanted: Any, value: Any) -> bool | None:
    if isinstance(wanted, bool) or isinstance(value, bool):
        return wanted is value if type(wanted) is type(value) else None
    if (limit := number(wanted)) is None:
        return wanted == value if isinstance(value, str) else None
    found = number(value)
    return None if found is None or found[1] != limit[1] else found[0] == limit[0]


def bound(key: str, limit: Any, value: Any) -> bool | None:
    """One of at_least, at_most, count_at_least, count_at_most."""
    if key.startswith("count_"):
        value = len(value) if isinstance(value, list | dict | str) else None
    found, most = number(value), number(limit)
    if found is None or most is None or found[1] != most[1]:
        return None
    return found[0] >= most[0] if key.endswith("at_least") else found[0] <= most[0]


def value_holds(wanted: Any, value: Any) -> bool | None:
    if isinstance(wanted, dict):
        return conjunction([bound(key, limit, value) for key, limit in wanted.items()])
    each = [equal(one, value) for one in (wanted if isinstance(wanted, list) else [wanted])]
    return None if set(each) == {None} else any(each)


def condition_holds(key: str, wanted: Any, facts: dict[str, Any]) -> bool | None:
    if key == "arguments":
        return conjunction([value_holds(one, facts[key].get(name)) for name, one in wanted.items()])
    if key == "recipients":
        limits = {name: limit for name, limit in wanted.items() if name != "outside"}
        away = [to for to in facts[key] if "@" + to.split("@")[1] not in wanted.get("outside", ())]
        return bool(value_holds(limits, len(facts[key])) and ("outside" not in wanted or away))
    if key == "amount":
        return value_holds(wanted, facts[key] or None)
    known = facts[key] != ""
    return facts[key] in (wanted if isinstance(wanted, list) else [wanted]) if known else None


def list_asks(policy: dict[str, Any], facts: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Everything that is asked for; None if a rule denies."""
    base, rules = PRESETS[policy["preset"]], policy.get("rule", [])
    asks = [base[facts["risk"]]] if base else []
    strictest = [*base.values(), *(rule["ask"] for rule in rules if "ask" in rule), PERSON]
    for rule in rules:
        held = conjunction([condition_holds(key, one, facts) for key, one in rule.get("when", {}).items()])
        if held and "deny" in rule:
            return None
        asks += strictest if held is None else [rule["ask"]] if held else []
    least = [PERSON] if not base and facts["risk"] == "high" else []
    return [*asks, *least] if asks else strictest


def is_permitted(policy: dict[str, Any], facts: dict[str, Any], yeses: list[dict[str, Any]]) -> bool:
    """Whether these people's approvals are what the policy asks for."""
    if (asks := list_asks(policy, facts)) is None:
        return False
    least = max(RANK[ask.get("assurance", "person")] for ask in asks)
    good = {yes["who"]: yes for yes in yeses if RANK[yes["assurance"]] >= least}
    if any(ask.get("not_proposer") for ask in asks):
        good.pop(facts["proposer"], None)
    return all(
        sum(
            "people" not in ask or who in ask["people"] or yes["role"] in ask["people"]
            for who, yes in good.items()
        )
        >= ask.get("approvers", 1)
        for ask in asks
    )
