"""A policy as people write it: in a TOML file, over the API or on the page, with the same keys.

    preset = "relay"

    [[rule]]
    name = "Large refunds"
    when = { effect = "acme-billing_refund", amount = { at_least = 500 } }
    ask = { assurance = "person", approvers = 2 }

Every key and every value is checked, and all problems are reported at once: a policy with a
misspelt key is not saved. People are named by their e-mail address or id and stored by id. Pure.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from assent.gate.policy import PRESETS, ApproverGroup, Policy, PolicyRule, Requirement, find_preset
from assent.gate.records import Assurance
from assent.gate.rules.matching import (
    ArgumentCondition,
    Condition,
    Match,
    Matched,
    RecipientCondition,
    Scalar,
    match_call,
    read_number,
)
from assent.gate.views import Severity
from assent.kernel.limits import HOUR_MS
from assent.kernel.refusals import Problem
from assent.kernel.structs import Record
from assent.kernel.texts import fold_name

NO_PRESET: Final = "none"
"""The preset of a policy that has rules only."""
MAX_RULES: Final = 100
MAX_LISTED: Final = 100
MAX_APPROVERS: Final = 20
MAX_HOURS: Final = 24 * 90
MAX_TEXT: Final = 300

ROLES: Final = ("role:owner", "role:member")

Reader = Callable[["_Source", str, Any], Any]


class BadPolicy(Exception):  # noqa: N818 - carries problems, not one error
    """A policy that cannot be saved, with every problem."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(
            "; ".join(f"{each.path}: expected {each.expected}, got {each.got}" for each in problems)
        )
        self.problems = problems


def read_policy(data: Any, people: Mapping[str, str]) -> Policy:
    """Return the policy that `data` describes. `people` maps e-mail addresses and ids, in lower case, to
    ids. Raises `BadPolicy`."""
    source = _Source(people)
    found = source.read_table("", data, {"preset": _read_preset, "rule": _read_rules})
    if "preset" not in found and not source.problems:
        source.add("preset", f"one of {', '.join((*PRESETS, NO_PRESET))}", "nothing")
    rules: tuple[PolicyRule, ...] = found.get("rule", ())
    names = [rule.name for rule in rules]
    for name in sorted({name for name in names if names.count(name) > 1}):
        source.add("rule", "another name for each rule", f"{name!r} twice")
    if found.get("preset") == NO_PRESET and not rules and not source.problems:
        source.add("rule", "at least one rule, because the preset is none", "none")
    if source.problems:
        raise BadPolicy(source.problems)
    base = find_preset(found["preset"]) or Policy()
    return Policy(base.low, base.medium, base.high, rules)


class CallMatch(Record):
    """The conditions of a rule about calls that are no actions: on their caller and arguments."""

    match: Match = Match()

    @classmethod
    def read(cls, data: Any) -> CallMatch:
        """Return the conditions that `data` describes. Raises `ValueError` with every problem."""
        source = _Source({})
        found = source.read_table("when", data, {key: MATCH_KEYS[key] for key in ("caller", "arguments")})
        if source.problems:
            raise ValueError(str(BadPolicy(source.problems)))
        return cls(Match(**found))

    def judge(self, callers: tuple[str, ...], arguments: Mapping[str, Any], *, exact: bool) -> Matched:
        """Whether they hold. `callers` are the names of one caller; `exact` as in `match_others`."""
        return match_call(self.match, callers, arguments, exact=exact)


class _Source:
    """Collects the problems of a policy while it is read."""

    def __init__(self, people: Mapping[str, str]) -> None:
        self.people = people
        self.problems: list[Problem] = []

    def add(self, path: str, expected: str, got: object) -> None:
        """Add a problem."""
        self.problems.append(Problem(path or "the policy", expected, str(got)[:MAX_TEXT]))

    def read_table(self, path: str, data: Any, readers: Mapping[str, Reader]) -> dict[str, Any]:
        """Read a table with known keys. An unknown one is a problem that names the nearest."""
        if not isinstance(data, dict):
            self.add(path, f"a table with {', '.join(readers)}", _name_type(data))
            return {}
        found = {}
        for key, value in data.items():
            inside = f"{path}.{key}" if path else str(key)
            if key in readers:
                found[key] = readers[key](self, inside, value)
                continue
            near = difflib.get_close_matches(str(key), readers, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            self.add(inside, f"one of the keys {', '.join(readers)}{hint}", f"the key {key!r}")
        return found


def _name_type(value: Any) -> str:
    names = {dict: "a table", list: "a list", str: "a text", bool: "true or false", int: "a number"}
    return names.get(type(value), "nothing" if value is None else f"{value!r}")


def _read_text(source: _Source, path: str, value: Any) -> str:
    if isinstance(value, str) and 0 < len(value.strip()) <= MAX_TEXT and value.isprintable():
        return value.strip()
    got = f"{len(value)} characters" if isinstance(value, str) else _name_type(value)
    source.add(path, f"a text of one line with at most {MAX_TEXT} characters", got)
    return ""


def _read_sentence(source: _Source, path: str, value: Any) -> str:
    text = _read_text(source, path, value)
    return text if not text or text[-1] in ".!?" else f"{text}."


def _read_texts(source: _Source, path: str, value: Any) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else [value]
    if not 0 < len(listed) <= MAX_LISTED:
        source.add(path, f"one to {MAX_LISTED} texts", f"{len(listed)}")
    return tuple(_read_text(source, path, each) for each in listed)


def _read_parts(source: _Source, path: str, value: Any) -> tuple[str, ...]:
    """Read parts of a text, as they are: white space at their ends counts."""
    listed = value if isinstance(value, list) else [value]
    if not 0 < len(listed) <= MAX_LISTED:
        source.add(path, f"one to {MAX_LISTED} texts", f"{len(listed)}")
    for each in listed:
        # A text of which nothing is left when it is folded would be in every other.
        if not isinstance(each, str) or not fold_name(each) or len(each) > MAX_TEXT:
            source.add(path, f"a text with at most {MAX_TEXT} characters", repr(each)[:MAX_TEXT])
    return tuple(each for each in listed if isinstance(each, str))


def _read_choice(*choices: str) -> Reader:
    def read(source: _Source, path: str, value: Any) -> str:
        if isinstance(value, str) and value in choices:
            return value
        near = difflib.get_close_matches(str(value), choices, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        source.add(path, f"one of {', '.join(choices)}{hint}", repr(value))
        return choices[0]

    return read


def _read_switch(source: _Source, path: str, value: Any) -> bool:
    if not isinstance(value, bool):
        source.add(path, "true or false", repr(value))
    return value is True


def _read_count(least: int, most: int) -> Reader:
    def read(source: _Source, path: str, value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        source.add(path, f"a whole number from {least} to {most}", repr(value))
        return least

    return read


def _read_hours(source: _Source, path: str, value: Any) -> int:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and 0 < value <= MAX_HOURS:
        return max(1, int(value * HOUR_MS))
    source.add(path, f"hours, more than 0 and at most {MAX_HOURS}", repr(value))
    return HOUR_MS


def _read_bound(source: _Source, path: str, value: Any) -> str:
    """Read a number, or an amount with its currency, as a text."""
    found = read_number(value)
    if found is not None:
        number, currency = found
        return f"{_plain(number)} {currency}".strip()
    source.add(path, "a number, or an amount with its currency such as 500 EUR", repr(value))
    return "0"


def _plain(number: Decimal) -> str:
    return format(number, "f")


def _read_risks(source: _Source, path: str, value: Any) -> tuple[Severity, ...]:
    read = _read_choice(*Severity)
    listed = value if isinstance(value, list) else [value]
    return tuple(Severity(read(source, path, each)) for each in listed)


def _read_scalar(source: _Source, path: str, value: Any) -> Scalar:
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float) and read_number(value) is not None:
        return _read_bound(source, path, value)
    return _read_text(source, path, value)


def _read_condition(source: _Source, path: str, value: Any) -> Condition:
    """Read a value (equal), a list (one of), or a table with bounds."""
    if isinstance(value, list):
        if not 0 < len(value) <= MAX_LISTED:
            source.add(path, f"one to {MAX_LISTED} values", f"{len(value)}")
        return Condition(any_of=tuple(_read_scalar(source, path, each) for each in value))
    if not isinstance(value, dict):
        return Condition(any_of=(_read_scalar(source, path, value),))
    found = source.read_table(path, value, CONDITION_KEYS)
    if not value:
        source.add(path, f"one of {', '.join(CONDITION_KEYS)}", "an empty table")
    return Condition(**found)


CONDITION_KEYS: Final[dict[str, Reader]] = {
    "at_least": _read_bound,
    "at_most": _read_bound,
    "count_at_least": _read_count(0, 1_000_000),
    "count_at_most": _read_count(0, 1_000_000),
    "begins_with": _read_parts,
    "contains_none": _read_parts,
}


def _read_recipients(source: _Source, path: str, value: Any) -> RecipientCondition:
    found = source.read_table(path, value, RECIPIENT_KEYS)
    if value == {}:
        source.add(path, f"one of {', '.join(RECIPIENT_KEYS)}", "an empty table")
    return RecipientCondition(**found)


def _read_arguments(source: _Source, path: str, value: Any) -> tuple[ArgumentCondition, ...]:
    if not isinstance(value, dict) or not 0 < len(value) <= MAX_LISTED:
        source.add(path, "a table with names of arguments and their conditions", _name_type(value))
        return ()
    return tuple(
        ArgumentCondition(str(name), _read_condition(source, f"{path}.{name}", each))
        for name, each in value.items()
    )


def _read_addresses(source: _Source, path: str, value: Any) -> tuple[str, ...]:
    found = _read_texts(source, path, value)
    for each in found:
        if each and "@" not in each:
            source.add(path, "e-mail addresses, or domains as @example.org", repr(each))
    return found


RECIPIENT_KEYS: Final[dict[str, Reader]] = {
    "at_least": _read_count(0, 1_000_000),
    "at_most": _read_count(0, 1_000_000),
    "any_of": _read_addresses,
    "outside": _read_addresses,
}

MATCH_KEYS: Final[dict[str, Reader]] = {
    "operator": _read_texts,
    "effect": _read_texts,
    "channel": _read_texts,
    "caller": _read_texts,
    "risk": _read_risks,
    "reversible": _read_switch,
    "recipients": _read_recipients,
    "amount": _read_condition,
    "currency": _read_texts,
    "arguments": _read_arguments,
}


def _read_people(source: _Source, path: str, value: Any) -> ApproverGroup:
    names = _read_texts(source, path, value)
    found = []
    for name in names:
        person_id = source.people.get(name.casefold())
        if name in ROLES:
            found.append(name)
        elif person_id is not None:
            found.append(f"person:{person_id}")
        else:
            expected = (
                f"the e-mail address or id of a person who can sign in here, or one of {', '.join(ROLES)}"
            )
            source.add(path, expected, repr(name))
    return ApproverGroup(tuple(found), 1, tuple(ROLE_NAMES.get(name, name) for name in names))


ROLE_NAMES: Final = {"role:owner": "an owner", "role:member": "a member"}

ASK_KEYS: Final[dict[str, Reader]] = {
    "assurance": _read_choice(*(each for each in Assurance if each is not Assurance.LINK)),
    "approvers": _read_count(1, MAX_APPROVERS),
    "people": _read_people,
    "not_proposer": _read_switch,
    "within_hours": _read_hours,
}


def _read_ask(source: _Source, path: str, value: Any) -> Requirement:
    found = source.read_table(path, value, ASK_KEYS)
    approvers: int = found.get("approvers", 1)
    group: ApproverGroup | None = found.get("people")
    groups = (ApproverGroup(group.people, approvers, group.names),) if group is not None else ()
    return Requirement(
        Assurance(found.get("assurance", Assurance.PERSON)),
        approvers,
        groups,
        found.get("not_proposer", False),
        found.get("within_hours"),
    )


RULE_KEYS: Final[dict[str, Reader]] = {
    "name": _read_text,
    "when": lambda source, path, value: Match(**source.read_table(path, value, MATCH_KEYS)),
    "ask": _read_ask,
    "deny": _read_sentence,
}


def _read_rules(source: _Source, path: str, value: Any) -> tuple[PolicyRule, ...]:
    if not isinstance(value, list) or len(value) > MAX_RULES:
        source.add(path, f"a list of at most {MAX_RULES} rules, each written as [[rule]]", _name_type(value))
        return ()
    return tuple(_read_rule(source, f"{path}[{index}]", each) for index, each in enumerate(value, 1))


def _read_rule(source: _Source, path: str, value: Any) -> PolicyRule:
    found = source.read_table(path, value, RULE_KEYS)
    if isinstance(value, dict) and "name" not in value:
        source.add(f"{path}.name", "a name for the rule", "nothing")
    if isinstance(value, dict) and ("ask" in value) == ("deny" in value):
        both = "both" if "ask" in value else "neither"
        source.add(path, "either ask or deny; there is no rule that allows", both)
    return PolicyRule(
        name=found.get("name", ""),
        when=found.get("when", Match()),
        ask=found.get("ask"),
        deny=found.get("deny", ""),
    )


def _read_preset(source: _Source, path: str, value: Any) -> str:
    known = (*PRESETS, NO_PRESET)
    read: str = _read_choice(*known)(source, path, value)
    return read


def preset_source(preset: str) -> dict[str, Any]:
    """Return the source of a preset without rules."""
    return {"preset": preset}


_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\"}


def write_toml(source: Mapping[str, Any]) -> str:
    """Return the source of a policy as the text of a TOML file."""
    return "\n".join(_write_lines(source)) + "\n"


def _write_lines(source: Mapping[str, Any]) -> Iterator[str]:
    for key, value in source.items():
        if key != "rule":
            yield f"{_write_key(key)} = {_write_value(value)}"
    for rule in source.get("rule", ()):
        yield from ("", "[[rule]]")
        yield from (f"{_write_key(key)} = {_write_value(value)}" for key, value in rule.items())


def _write_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _write_value(key)


def _write_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_write_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_write_key(k)} = {_write_value(v)}' for k, v in value.items())} }}"
    return f'"{"".join(_ESCAPES.get(char, char) for char in str(value))}"'
