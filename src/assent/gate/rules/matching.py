"""Whether the conditions of a policy's rule match an action, in three values.

A condition on a value that the action lacks, or that has another type, is neither true nor false.
One false condition makes a rule not match; otherwise one unknown condition makes the match unknown,
and the policy then asks for its strictest approval (`assent.gate.policy`). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Final

import msgspec

from assent.gate.mail import reached_addresses
from assent.gate.records import Action, read_proposal
from assent.gate.views import Severity
from assent.kernel.structs import Record, WireRecord

Scalar = bool | int | str
"""A value in a rule. Numbers with a fraction are texts of digits, so that they stay exact."""

_NUMBER: Final = re.compile(r"(-?[0-9]{1,40}(?:\.[0-9]{1,20})?)(?: ([A-Z]{3}))?", re.ASCII)
_MISSING: Final = object()


Matched = bool | None
"""Whether conditions hold; None if one of them lacks a value of its type. No enumeration, because
every approval makes and compares one for each rule."""


class Condition(WireRecord, kw_only=True, omit_defaults=True):
    """A condition on one value. All parts that are given must hold."""

    any_of: tuple[Scalar, ...] = ()
    at_least: str = ""
    """A number, or an amount with its currency: `500` or `500 EUR`."""
    at_most: str = ""
    count_at_least: int | None = None
    """The fewest elements of a list or characters of a text."""
    count_at_most: int | None = None


class ArgumentCondition(WireRecord):
    """A condition on an argument. A dotted name leads into objects."""

    name: str
    condition: Condition


class RecipientCondition(WireRecord, kw_only=True, omit_defaults=True):
    """A condition on the recipients: how many, and who. `outside` and `any_of` hold if they are true
    of at least one recipient; an entry is an address or, with @ in front, a domain."""

    at_least: int | None = None
    at_most: int | None = None
    any_of: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()


class Match(WireRecord, kw_only=True, omit_defaults=True):
    """The conditions of a rule. All that are given must hold; without any, it matches everything."""

    operator: tuple[str, ...] = ()
    effect: tuple[str, ...] = ()
    channel: tuple[str, ...] = ()
    caller: tuple[str, ...] = ()
    """Labels or ids of API keys; `local` is a process on the server's machine."""
    risk: tuple[Severity, ...] = ()
    reversible: bool | None = None
    recipients: RecipientCondition | None = None
    amount: Condition | None = None
    currency: tuple[str, ...] = ()
    arguments: tuple[ArgumentCondition, ...] = ()


class CommonValues(Record):
    """The values that every action has. They decide most rules, and few combinations occur."""

    severity: Severity
    channel: str
    type: str
    reversible: bool

    @classmethod
    def of(cls, action: Action) -> CommonValues:
        effect = action.effect
        return cls(action.preflight.severity, effect.channel, effect.type, action.view.reversible)


def match_common(match: Match, values: CommonValues) -> Matched:
    """Judge the conditions on these values. None if they hold and there are others (`match_others`)."""
    holds = (
        (not match.risk or values.severity in match.risk)
        and (not match.channel or values.channel in match.channel)
        and (not match.effect or values.type in match.effect)
        and (match.reversible is None or values.reversible is match.reversible)
    )
    others = msgspec.structs.replace(match, risk=(), channel=(), effect=(), reversible=None)
    return None if holds and others != Match() else holds


def match_others(match: Match, action: Action) -> Matched:
    """Judge all other conditions of a rule: one that is false decides, then one that is unknown."""
    return _conjoin(_judge_others(match, action))


def _conjoin(judged: Iterator[Matched]) -> Matched:
    found: Matched = True
    for each in judged:
        if each is False:
            return False
        if each is None:
            found = None
    return found


def _judge_others(match: Match, action: Action) -> Iterator[Matched]:
    effect, facets = action.effect, action.view.facets
    if match.operator or match.caller:
        proposal = read_proposal(action)
        if match.operator:
            yield _is_one_of((proposal.operator,), match.operator)
        if match.caller:
            yield _is_one_of((proposal.caller, proposal.label), match.caller)
    if match.recipients is not None:
        yield _judge_recipients(match.recipients, reached_addresses(action))
    if match.currency:
        yield _is_one_of((facets.currency,), match.currency)
    if match.amount is not None:
        yield judge_value(match.amount, facets.amount or _MISSING)
    for wanted in match.arguments:
        yield judge_value(wanted.condition, _find_argument(effect.arguments, wanted.name))


def _is_one_of(values: Iterable[str], wanted: tuple[str, ...]) -> Matched:
    """Whether one of the values that are known is wanted."""
    known = [value for value in values if value]
    return any(value in wanted for value in known) if known else None


def _find_argument(arguments: Any, name: str) -> Any:
    value = arguments
    for part in name.split("."):
        if not isinstance(value, dict) or part not in value:
            return _MISSING
        value = value[part]
    return value


def _judge_recipients(wanted: RecipientCondition, reached: frozenset[str]) -> Matched:
    count = len(reached)
    if wanted.at_least is not None and count < wanted.at_least:
        return False
    if wanted.at_most is not None and count > wanted.at_most:
        return False
    if wanted.any_of and not any(_is_among(each, wanted.any_of) for each in reached):
        return False
    return not (wanted.outside and all(_is_among(each, wanted.outside) for each in reached))


def _is_among(address: str, listed: tuple[str, ...]) -> bool:
    domain = f"@{address.rpartition('@')[2]}"
    return any(each.casefold() in (address, domain) for each in listed)


def judge_value(condition: Condition, value: Any) -> Matched:
    """Judge the parts of a condition that are given."""
    return _conjoin(_judge_parts(condition, value))


def _judge_parts(condition: Condition, value: Any) -> Iterator[Matched]:
    if condition.any_of:
        equal = [_equals(value, wanted) for wanted in condition.any_of]
        known = [each for each in equal if each is not None]
        yield True in known if known else None
    if condition.at_least:
        yield _compare(value, condition.at_least, lambda found, bound: found >= bound)
    if condition.at_most:
        yield _compare(value, condition.at_most, lambda found, bound: found <= bound)
    if condition.count_at_least is not None or condition.count_at_most is not None:
        if not isinstance(value, list | tuple | dict | str):
            yield None
            return
        least, most = condition.count_at_least, condition.count_at_most
        yield (least is None or len(value) >= least) and (most is None or len(value) <= most)


def _equals(value: Any, wanted: Scalar) -> bool | None:
    """Whether two values are equal; None if their types cannot be compared."""
    if isinstance(wanted, bool) or isinstance(value, bool):
        return value is wanted if isinstance(value, bool) and isinstance(wanted, bool) else None
    if (number := read_number(wanted)) is not None:
        found = read_number(value)
        return None if found is None or found[1] != number[1] else found[0] == number[0]
    return value == wanted if isinstance(value, str) else None


def _compare(value: Any, bound: str, holds: Any) -> Matched:
    """Compare numbers, or amounts of one currency. Others are unknown."""
    found, limit = read_number(value), read_number(bound)
    if found is None or limit is None or found[1] != limit[1]:
        return None
    return bool(holds(found[0], limit[0]))


def read_number(value: Any) -> tuple[Decimal, str] | None:
    """Return a number with its currency, which is empty for a plain one; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    text = format(Decimal(repr(value)), "f") if isinstance(value, float) else str(value)
    found = _NUMBER.fullmatch(text)
    return (Decimal(found[1]), found[2] or "") if found is not None else None
