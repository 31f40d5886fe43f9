"""What a policy's words say, worked out a second time: from the plain data of its source, without the server's code."""

from __future__ import annotations

import unicodedata
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


ALIKE = {"\u0445": "x", "\u043e": "o"}
"""The Cyrillic letters that the policies of the tests meet."""


def conjunction(parts: list[bool | None]) -> bool | None:
    """All of them, where None is a value that is unknown."""
    return False if False in parts else None if None in parts else True


def number(value: Any) -> tuple[Decimal, str] | None:
    digits, _, currency = str(value).partition(" ")
    try:
        return None if isinstance(value, bool) or not digits.isascii() else (Decimal(digits), currency)
    except InvalidOperation:
        return None


def folded(text: Any) -> str | None:
    """A text without case, compatible forms and outer white space."""
    if not isinstance(text, str):
        return None
    return " ".join(unicodedata.normalize("NFKC", text.replace("\u200b", "")).casefold().split())


def seen(text: str) -> str:
    """The text as it looks."""
    return "".join(ALIKE.get(char, char) for char in folded(text) or "")


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


def value_holds(wanted: Any, value: Any, exact: bool) -> bool | None:
    if isinstance(wanted, dict):
        return conjunction([bound(key, limit, value) for key, limit in wanted.items()])
    listed = wanted if isinstance(wanted, list) else [wanted]
    each = [equal(one, value) for one in listed]
    if True in each:
        return True
    if not isinstance(value, str):
        return None if set(each) == {None} else False
    texts = [one for one in listed if isinstance(one, str)]
    if any(folded(one) == folded(value) for one in texts):
        return None if exact else True
    return None if None in each or any(seen(one) == seen(value) for one in texts) else False


def recipient_holds(listed: list[str], to: str) -> bool | None:
    address = to.lower()
    if address in listed or "@" + address.split("@")[1] in listed:
        return True
    return None if seen(address) in listed or "@" + seen(address).split("@")[1] in listed else False


def recipients_hold(wanted: dict[str, Any], reached: list[str]) -> bool | None:
    parts = [
        bound(key, limit, len(reached)) for key, limit in wanted.items() if key in ("at_least", "at_most")
    ]
    if "any_of" in wanted:
        each = [recipient_holds(wanted["any_of"], to) for to in reached]
        parts.append(True if True in each else None if None in each else False)
    if "outside" in wanted:
        parts.append(any(recipient_holds(wanted["outside"], to) is not True for to in reached))
    return conjunction(parts)


def argument_holds(wanted: Any, name: str, facts: dict[str, Any], exact: bool) -> bool | None:
    if "arguments" in facts["without"] and name not in facts["arguments"]:
        return False
    return value_holds(wanted, facts["arguments"].get(name), exact)


def condition_holds(key: str, wanted: Any, facts: dict[str, Any], exact: bool) -> bool | None:
    if key == "arguments":
        return conjunction([argument_holds(one, name, facts, exact) for name, one in wanted.items()])
    if key in ("recipients", "amount") and not facts[key]:
        return False if key in facts["without"] else None
    if key == "recipients":
        return recipients_hold(wanted, facts[key])
    if key == "amount":
        plain = value_holds(wanted, facts[key], exact)
        priced = f"{facts[key]} {facts['currency']}".strip()
        return plain if plain is not None else value_holds(wanted, priced, exact)
    if key == "currency" and not facts["amount"] and "amount" in facts["without"]:
        return False
    if key == "reversible":
        return wanted is facts[key]
    listed = wanted if isinstance(wanted, list) else [wanted]
    if not facts[key] or facts[key] in listed:
        return True if facts[key] else None
    is_folded = folded(facts[key]) in [folded(one) for one in listed]
    return None if is_folded and exact else is_folded


def list_asks(policy: dict[str, Any], facts: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Everything that is asked for; None if a rule denies, for certain or because it cannot be judged."""
    base, rules = PRESETS[policy["preset"]], policy.get("rule", [])
    asks = [base[facts["risk"]]] if base else []
    strictest = [*base.values(), *(rule["ask"] for rule in rules if "ask" in rule), PERSON]
    for rule in rules:
        exact = not base and "ask" in rule
        when = rule.get("when", {}).items()
        held = conjunction([condition_holds(key, one, facts, exact) for key, one in when])
        if held is not False and "deny" in rule:
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
