"""A policy in plain words: what each risk needs, what each rule asks for, what an action needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from assent.gate.policy import ApproverGroup, Policy, PolicyRule, Requirement, name_preset
from assent.gate.records import Assurance
from assent.gate.rules.matching import Condition, Match, RecipientCondition
from assent.gate.views import Severity
from assent.kernel.limits import HOUR_MS

ONE: Final = {
    Assurance.AGENT: "anyone with the link",
    Assurance.LINK: "anyone with the link",
    Assurance.CLIENT: "a person who answers in their chat program or in a signed-in browser",
    Assurance.CHAT_APP: "a person in a chat app, with the account that they linked here",
    Assurance.PERSON: "a signed-in person",
    Assurance.PASSKEY: "a person with a passkey",
}
MANY: Final = {
    Assurance.AGENT: "{count} different approvers",
    Assurance.LINK: "{count} different approvers",
    Assurance.CLIENT: "{count} different people in signed-in browsers",
    Assurance.CHAT_APP: "{count} different people in chat apps",
    Assurance.PERSON: "{count} different signed-in people",
    Assurance.PASSKEY: "{count} different people with passkeys",
}

PRESET_WORDS: Final = {
    "relay": (
        "Your agent may pass on your yes",
        "For low and medium risk an agent that holds a full key may say that you agreed. High risk needs a "
        "signed-in person.",
    ),
    "people": ("Only people, signed in", "A signed-in person decides everything. No agent can approve."),
    "two_people": (
        "Two people for high risk",
        "High risk needs two signed-in people, the rest one. No agent can approve.",
    ),
}
"""For each preset: its name and its meaning."""


def name_policy(policy: Policy) -> str:
    """Return the name of a policy for people."""
    preset = name_preset(policy)
    title = PRESET_WORDS[preset][0] if preset else "Own rules only"
    own = f"{len(policy.rules)} {'rule' if len(policy.rules) == 1 else 'rules'} of your own"
    return f"{title}; {own}" if preset and policy.rules else title


def describe_policy(policy: Policy) -> list[str]:
    """Return the sentences of a policy: one for each risk, then one for each rule that says more."""
    lines = []
    for severity in reversed(Severity):
        needed = policy.require_for_risk(severity)
        if needed is not None:
            relayed = needed == Requirement(Assurance.AGENT)
            said = ": you, or your agent on your behalf" if relayed else f" needs {describe_need(needed)}"
            lines.append(f"{severity.capitalize()} risk{said}.")
    if policy.high is None:
        lines.append("What no rule matches needs the strictest approval that a rule asks for.")
        lines.append("High risk needs at least a signed-in person.")
    return list(dict.fromkeys((*lines, *map(describe_rule, policy.rules))))


def describe_rule(rule: PolicyRule) -> str:
    """Return a rule as one sentence."""
    when = describe_match(rule.when)
    opening = f"{rule.name}: if {when}, it" if when else f"{rule.name}: everything"
    if _names_its_match(rule):
        opening = rule.name
    if rule.ask is None:
        return f"{opening} is denied. {rule.deny}"
    return f"{opening} needs {describe_need(rule.ask)}."


def describe_match(match: Match) -> str:
    """Return the conditions of a rule as the rest of a sentence after “if”; empty if there are none."""
    return _list(_describe_match(match), "and")


def _names_its_match(rule: PolicyRule) -> bool:
    """Whether a rule for one risk or one channel is named after it: “High risk”, “E-mail”."""
    match, name = rule.when, "".join(filter(str.isalnum, rule.name)).casefold()
    if match == Match(risk=match.risk):
        return [name] == [f"{each}risk" for each in match.risk]
    return match == Match(channel=match.channel) and [name] == [*match.channel]


def describe_need(needed: Requirement) -> str:
    """Return who must approve, as the object of “needs”."""
    table = ONE if needed.approvers == 1 else MANY
    parts = [table[needed.assurance].format(count=needed.approvers)]
    for group in needed.groups:
        parts.append(describe_group(group))
    if needed.not_proposer:
        parts.append("who did not propose it")
    if needed.within_ms is not None:
        parts.append(f"within {_describe_time(needed.within_ms)}")
    return ", ".join(parts)


def describe_group(group: ApproverGroup) -> str:
    names = _list(group.names or group.people, "or")
    return f"of whom {group.approvers} must be {names}" if group.approvers > 1 else f"who must be {names}"


def _describe_time(ms: int) -> str:
    hours = ms / HOUR_MS
    return "1 hour" if hours == 1 else f"{hours:g} hours"


def _describe_match(match: Match) -> Iterator[str]:
    for label, values in (
        ("the operator is", match.operator),
        ("the effect is", match.effect),
        ("the channel is", match.channel),
        ("the caller is", match.caller),
        ("the risk is", match.risk),
        ("the currency is", match.currency),
    ):
        if values:
            yield f"{label} {_list((str(each) for each in values), 'or')}"
    if match.reversible is not None:
        yield f"it {'can' if match.reversible else 'cannot'} be undone completely"
    if match.recipients is not None:
        yield from _describe_recipients(match.recipients)
    if match.amount is not None:
        yield f"the amount {_describe_condition(match.amount)}"
    for each in match.arguments:
        yield f"the argument {each.name} {_describe_condition(each.condition)}"


def _describe_recipients(wanted: RecipientCondition) -> Iterator[str]:
    if wanted.at_least is not None:
        yield f"it has at least {wanted.at_least} recipients"
    if wanted.at_most is not None:
        yield f"it has at most {wanted.at_most} recipients"
    if wanted.any_of:
        yield f"a recipient is {_list(wanted.any_of, 'or')}"
    if wanted.outside:
        yield f"a recipient is outside {_list(wanted.outside, 'or')}"


def _describe_condition(condition: Condition) -> str:
    parts = []
    if condition.any_of:
        parts.append(f"is {_list((str(each) for each in condition.any_of), 'or')}")
    if condition.at_least:
        parts.append(f"is at least {condition.at_least}")
    if condition.at_most:
        parts.append(f"is at most {condition.at_most}")
    if condition.count_at_least is not None:
        parts.append(f"has at least {condition.count_at_least} entries or characters")
    if condition.count_at_most is not None:
        parts.append(f"has at most {condition.count_at_most} entries or characters")
    if condition.begins_with:
        parts.append(f"begins with {_list(map(_quote, condition.begins_with), 'or')}")
    if condition.contains_none:
        parts.append(f"does not contain {_list(map(_quote, condition.contains_none), 'or')}")
    return _list(parts, "and")


def _quote(text: str) -> str:
    """Show where a piece of a text begins and ends: it may be a space or a mark."""
    return f"“{text}”"


def _list(words: Iterable[str], last: str) -> str:
    """Join words as a sentence does: `a, b or c`."""
    *first, end = [*words] or [""]
    return f"{', '.join(first)} {last} {end}" if first else end
