"""Whether the conditions of a policy's rule match an action, in three values.

A condition on a value that the action's type declares it never has (`View.without`) is false. On
any other value that is missing, has another type or only looks like the wanted one, it is unknown.
One false condition makes a rule not match; otherwise one unknown condition makes the match unknown,
and then a rule that denies does so, and one that asks asks for the strictest approval
(`assent.gate.policy`). Texts are compared folded; where a match makes the approval easier (`exact`), one
that is equal only when folded is unknown. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

import msgspec

from assent.gate.names import fold_lookalikes
from assent.gate.records import Action, Proposal, reached_addresses, read_proposal
from assent.gate.views import Facets, Severity
from assent.kernel.domains import ascii_form
from assent.kernel.structs import Record, WireRecord
from assent.kernel.texts import fold_name

Scalar = bool | int | str
"""A value in a rule. Numbers with a fraction are texts of digits, so that they stay exact."""

_NUMBER: Final = re.compile(r"(-?[0-9]{1,40}(?:\.[0-9]{1,20})?)(?: ([A-Z]{3}))?", re.ASCII)


Judged = bool | None
"""Whether one value is as wanted; None if that is unknown."""
Matched = bool | str
"""Whether conditions hold; if that is unknown, the name of the value. No enumeration, because every
approval makes and compares one for each rule."""


class Condition(WireRecord, kw_only=True, omit_defaults=True):
    """A condition on one value. All parts that are given must hold."""

    any_of: tuple[Scalar, ...] = ()
    at_least: str = ""
    """A number, or an amount with its currency: `500` or `500 EUR`."""
    at_most: str = ""
    count_at_least: int | None = None
    """The fewest elements of a list or characters of a text."""
    count_at_most: int | None = None
    begins_with: tuple[str, ...] = ()
    """What a text begins with: one of these."""
    contains_none: tuple[str, ...] = ()
    """What a text has nowhere: none of these."""


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


def match_common(match: Match, values: CommonValues, *, exact: bool = False) -> bool | None:
    """Judge the conditions on these values. None if they hold and there are others, or texts that are
    to be compared exactly (`match_others`)."""
    holds = (
        (not match.risk or values.severity in match.risk)
        and (not match.channel or _is_one_of((values.channel,), match.channel) is True)
        and (not match.effect or _is_one_of((values.type,), match.effect) is True)
        and (match.reversible is None or values.reversible is match.reversible)
    )
    others = msgspec.structs.replace(match, risk=(), reversible=None)
    if not exact:
        others = msgspec.structs.replace(others, channel=(), effect=())
    return None if holds and others != Match() else holds


def match_others(match: Match, action: Action, *, exact: bool = False) -> Matched:
    """Judge all other conditions of a rule."""
    return _combine(_judge_others(match, action, exact))


def _combine(each: Iterable[tuple[str, Judged]]) -> Matched:
    """Combine judgements: one that is false decides, then one that is unknown."""
    found: Matched = True
    for name, judged in each:
        if judged is False:
            return False
        if judged is None and found is True:
            found = name
    return found


def _judge_others(match: Match, action: Action, exact: bool) -> Iterator[tuple[str, Judged]]:
    """Yield the name of each value that is wanted, with its judgement."""
    facets, without = action.view.facets, action.view.without
    if exact and match.channel:
        yield "channel", _is_one_of((action.effect.channel,), match.channel, exact)
    if exact and match.effect:
        yield "effect", _is_one_of((action.effect.type,), match.effect, exact)
    proposal = read_proposal(action) if match.operator or match.caller else Proposal()
    if match.operator:
        yield "operator", _is_one_of((proposal.operator,), match.operator, exact)
    if match.recipients is not None:
        reached = reached_addresses(action)
        absent = not reached and "recipients" in without
        yield "recipients", not absent and _judge_recipients(match.recipients, reached)
    no_amount = not facets.amount and "amount" in without
    if match.currency:
        yield "currency", not no_amount and _is_one_of((facets.currency,), match.currency, exact)
    if match.amount is not None:
        yield "amount", not no_amount and _judge_amount(match.amount, facets, exact)
    callers = (proposal.caller, proposal.label)
    yield from _judge_call(match, callers, action.effect.arguments, exact, known="arguments" in without)


def match_call(
    match: Match, callers: Iterable[str], arguments: Mapping[str, Any], *, exact: bool = False
) -> Matched:
    """Judge the conditions on the caller and the arguments of a call that is no action."""
    return _combine(_judge_call(match, callers, arguments, exact, known=False))


def _judge_call(
    match: Match, callers: Iterable[str], arguments: Mapping[str, Any], exact: bool, *, known: bool
) -> Iterator[tuple[str, Judged]]:
    """`known`: an argument that is not there is absent, not unknown."""
    if match.caller:
        yield "caller", _is_one_of(callers, match.caller, exact)
    for wanted in match.arguments:
        absent = known and wanted.name.partition(".")[0] not in arguments
        judged = judge_value(wanted.condition, _find_argument(arguments, wanted.name), exact)
        yield f"arguments.{wanted.name}", not absent and judged


def _is_one_of(values: Iterable[str], wanted: tuple[str, ...], exact: bool = False) -> Judged:
    """Whether one of the values that are known is wanted."""
    known = tuple(filter(None, values))
    if _fold_listed(known, fold_name).isdisjoint(_fold_listed(wanted, fold_name)):
        return False if known else None
    return None if exact and set(known).isdisjoint(wanted) else True


@lru_cache(maxsize=1024)
def _fold_listed(listed: tuple[str, ...], fold: Callable[[str], str]) -> frozenset[str]:
    """Return texts as they are compared; cached, since those of a rule, and names, are few."""
    return frozenset(map(fold, listed))


def _find_argument(arguments: Any, name: str) -> Any:
    value = arguments
    for part in name.split("."):
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    return value


def _judge_recipients(wanted: RecipientCondition, reached: frozenset[str]) -> Judged:
    if not reached:
        return None
    count = len(reached)
    if wanted.at_least is not None and count < wanted.at_least:
        return False
    if wanted.at_most is not None and count > wanted.at_most:
        return False
    if all(_is_among(each, wanted.outside, _fold_address) for each in reached):
        return False
    if not wanted.any_of or any(_is_among(each, wanted.any_of, _fold_address) for each in reached):
        return True
    foreign = (each for each in reached if not each.isascii())
    return None if any(_is_among(each, wanted.any_of, fold_lookalikes) for each in foreign) else False


def _is_among(address: str, listed: tuple[str, ...], fold: Callable[[str], str]) -> bool:
    folded = fold(address)
    return not _fold_listed(listed, fold).isdisjoint((folded, f"@{folded.rpartition('@')[2]}"))


def _fold_address(address: str) -> str:
    """Return an address, or a domain after @, in lower case with the ASCII form of the domain."""
    lowered = address.lower()
    domain = ascii_form(lowered)
    return lowered if domain is None else f"{lowered.rpartition('@')[0]}@{domain}"


def _judge_amount(condition: Condition, facets: Facets, exact: bool) -> Judged:
    """Judge an amount: a plain bound by the number alone, one with a currency by both."""
    judged = judge_value(condition, facets.amount or None, exact)
    if judged is None and facets.amount:
        return judge_value(condition, f"{facets.amount} {facets.currency}", exact)
    return judged


def judge_value(condition: Condition, value: Any, exact: bool = False) -> Judged:
    """Judge the parts of a condition that are given."""
    judged = [*_judge_parts(condition, value, exact)]
    return False if False in judged else None if None in judged else True


def _judge_parts(condition: Condition, value: Any, exact: bool) -> Iterator[Judged]:
    if condition.any_of:
        yield _is_any(condition.any_of, value, exact)
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
    if condition.begins_with:
        yield _finds(condition.begins_with, value, exact, str.startswith)
    if condition.contains_none:
        found = _finds(condition.contains_none, value, False, str.__contains__)
        # Folding can hide what a program reads, and a text that only looks like a listed one is unknown.
        yield None if found is None else not found


def _finds(listed: Iterable[str], value: Any, exact: bool, has: Callable[[str, str], bool]) -> Judged:
    """Whether a text has one of those listed, at its beginning or anywhere. Unknown if it only looks like it, or
    where it is to be compared exactly and is equal only when folded."""
    if not isinstance(value, str):
        return None
    if any(has(value, each) for each in listed):
        return True
    if any(has(fold_name(value), fold_name(each)) for each in listed):
        return None if exact else True
    return None if any(has(fold_lookalikes(value), fold_lookalikes(each)) for each in listed) else False


def _is_any(listed: tuple[Scalar, ...], value: Any, exact: bool) -> Judged:
    """Whether a value is one of those listed; None if it can be compared with none of them. A text is
    unknown, too, beside one that it cannot be compared with, or if it only looks like one."""
    judged = [_equals(value, wanted) for wanted in listed]
    if True in judged or not isinstance(value, str):
        return True in judged if {True, False} & {*judged} else None
    texts = tuple(each for each in listed if isinstance(each, str))
    if fold_name(value) in _fold_listed(texts, fold_name):
        return None if exact else True
    alike = fold_lookalikes(value) in _fold_listed(texts, fold_lookalikes)
    return None if alike or None in judged else False


def _equals(value: Any, wanted: Scalar) -> Judged:
    """Whether two values are equal; None if their types cannot be compared."""
    if isinstance(wanted, bool):
        return value is wanted if isinstance(value, bool) else None
    if (number := read_number(wanted)) is not None:
        found = read_number(value)
        return None if found is None or found[1] != number[1] else found[0] == number[0]
    return value == wanted if isinstance(value, str) else None


def _compare(value: Any, bound: str, holds: Any) -> Judged:
    """Compare numbers, or amounts of one currency. Others are unknown."""
    found, limit = read_number(value), read_number(bound)
    if found is None or limit is None or found[1] != limit[1]:
        return None
    return bool(holds(found[0], limit[0]))


def read_number(value: Any) -> tuple[Decimal, str] | None:
    """Return a number with its currency, which is empty for a plain one; None for anything else."""
    if not isinstance(value, int | float | str | Decimal):
        return None
    text = format(Decimal(repr(value)), "f") if isinstance(value, float) else str(value)
    found = _NUMBER.fullmatch(text)
    return (Decimal(found[1]), found[2] or "") if found is not None else None
