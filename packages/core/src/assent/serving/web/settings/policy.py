"""The policy of the current workspace: a preset, and rules as sentences, each with what it changed lately; and all of
it as TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from starlette.responses import Response

from assent.engine.actions import policies
from assent.engine.actions.policies import PolicyVersion, ReplayReport
from assent.gate.policy import PRESETS, Policy
from assent.gate.rules.matching import read_number
from assent.gate.rules.source import NO_PRESET, BadPolicy, write_toml
from assent.gate.views import Severity
from assent.kernel.limits import (
    ACTION_TTL_MS,
    DAY_MS,
    REVIEW_TTL_SECONDS,
    SESSION_TTL_MS,
    WORKFLOW_RETENTION_DAYS,
)
from assent.kernel.structs import Record
from assent.ports import Transaction
from assent.present.rule_text import PRESET_WORDS, describe_policy, describe_rule, name_policy
from assent.serving.web.shell.console import LOOK_AND_SEND, SEND, Screen, Visit
from assent.use_cases.workspaces import set_policy

# A rule as a sentence: “When E-mail goes to more than 50 people, ask 2 signed-in people.” Pure.
#
# The same rule stands in the TOML below it. One that says more than such a sentence is shown in the words of
# `present/rule_text.py`.

ANYTHING: Final = "anything"
CONDITIONS: Final = {
    "always": "goes out",
    "recipients": "goes to more than … people",
    "amount": "is about an amount of at least …",
}
WHO: Final = {
    "person": ("signed-in person", "signed-in people"),
    "passkey": ("person with a passkey", "people with passkeys"),
    "owner": ("owner", "owners"),
}
DENY: Final = "deny"
COUNTS: Final = ("1", "2", "3")
DENIED: Final = "The policy of this workspace allows none of it."
OWNER: Final = "role:owner"


def list_subjects(channels: Mapping[str, str]) -> dict[str, str]:
    """What a sentence can be about, by the value of its field: a channel, a risk or anything."""
    risks = {f"risk {each.value}": f"anything of {each.value} risk" for each in reversed(Severity)}
    return {**{f"channel {name}": label for name, label in channels.items()}, **risks, ANYTHING: ANYTHING}


def read_rule(form: Mapping[str, str], channels: Mapping[str, str]) -> dict[str, Any] | str:
    """The rule of a filled-in sentence, or what is wrong with it."""
    subject, condition, who = form.get("subject", ""), form.get("condition", ""), form.get("who", "")
    if subject not in list_subjects(channels) or condition not in CONDITIONS or who not in (*WHO, DENY):
        return "Choose what the rule is about, when it holds and who decides."
    key, _, value = subject.partition(" ")
    when: dict[str, Any] = {key: value} if value else {}
    number = form.get("number", "").strip()
    if condition == "recipients":
        if not number.isascii() or not number.isdigit() or len(number) > 6:
            return "Write how many people, in digits."
        when["recipients"] = {"at_least": int(number) + 1}
    elif condition == "amount":
        if read_number(number.upper()) is None:
            return "Write an amount as digits, with its currency if it has one: 500 EUR."
        when["amount"] = {"at_least": number.upper()}
    rule: dict[str, Any] = {"when": when}
    if who == DENY:
        rule["deny"] = DENIED
    else:
        count = form.get("count", "")
        ask: dict[str, Any] = {
            "assurance": "passkey" if who == "passkey" else "person",
            "approvers": int(count) if count in COUNTS else 1,
        }
        ask |= {"people": [OWNER]} if who == "owner" else {}
        ask |= {"not_proposer": True} if "apart" in form else {}
        rule["ask"] = ask
    return {"name": str(word_rule(rule, channels)).rstrip("."), **rule}


def word_rule(rule: Mapping[str, Any], channels: Mapping[str, str]) -> str | None:
    """The sentence of a rule; None if the rule says more than a sentence can."""
    when, ask = dict(rule.get("when", {})), dict(rule.get("ask", {}))
    found = [key for key in ("channel", "risk") if key in when]
    key = found[0] if found else ""
    named = list_subjects(channels).get(f"{key} {when.pop(key)}" if key else ANYTHING)
    condition, asked_of = "goes out", [each for each in ("recipients", "amount") if each in when]
    for about, words in (("recipients", "goes to more than {:,} people"), ("amount", "is about {} or more")):
        bound = when.get(about)
        if asked_of == [about] and isinstance(bound, dict) and [*bound] == ["at_least"]:
            least = when.pop(about)["at_least"]
            condition = words.format(least - 1 if about == "recipients" else least)
    if named is None or when:
        return None
    opening = f"When {named} {condition}"
    if "deny" in rule:
        return f"{opening}, no one may approve it."
    people = ask.pop("people", None)
    who = "owner" if people == [OWNER] else ask.get("assurance", "person")
    count, apart = ask.pop("approvers", 1), ask.pop("not_proposer", False)
    ask.pop("assurance", None)
    if ask or who not in WHO or people not in (None, [OWNER]):
        return None
    asked = f"{count} {WHO[who][count != 1]}" + (" who did not propose it" if apart else "")
    return f"{opening}, ask {asked}."


RETENTION: Final = (
    ("The audit log and all decisions", "without a limit"),
    ("Drafts expire", f"after {ACTION_TTL_MS // DAY_MS} days"),
    (
        "Review links",
        f"{REVIEW_TTL_SECONDS // 86_400} days unless the settings of the server say otherwise",
    ),
    (
        "Unused workflow sessions",
        f"{WORKFLOW_RETENTION_DAYS} days unless the settings of the server say otherwise",
    ),
    ("A signed-in browser", f"{SESSION_TTL_MS // DAY_MS} days"),
)


CHOICES: Final = {
    **PRESET_WORDS,
    NO_PRESET: (
        "Own rules only",
        (
            "High risk needs a signed-in person. Where no rule matches, "
            "the strictest approval of any rule applies."
        ),
    ),
}


class TypedPolicy(Record):
    """The form as a person filled it in, or as the present policy fills it in."""

    preset: str
    rules: str
    """The rules as TOML."""


async def policy(visit: Visit) -> Response:
    """Show or change who may approve what, as a preset and rules in TOML."""
    typed: TypedPolicy | None = None
    wrong: list[str] = []
    if visit.request.method == "POST":
        visit.require_owner()
        form = await visit.form(visit.here("policy"))
        typed = TypedPolicy(form.get("preset", ""), form.get("rules", "").replace("\r\n", "\n"))
        wrong = await _save_text(visit, form, typed)
        if not wrong:
            return visit.go("/settings/policy?did=saved")
    return await _show(visit, typed, wrong)


async def change_rules(visit: Visit) -> Response:
    """Add a rule that is a sentence, or remove a rule."""
    visit.require_owner()
    form = await visit.form(visit.here("rules"))
    source = dict((await visit.read(lambda: policies.find_version(visit.workspace_id))).source)
    rules, channels = list(source.get("rule", ())), visit.services.effects.channels
    if "remove" in form:
        kept = [each for each in rules if each.get("name") != form["remove"]]
        title, button, wrong = "Remove this rule?", "Remove the rule", []
    else:
        made = read_rule(form, channels)
        kept, title, button = [*rules, made], "Add this rule?", "Add the rule"
        wrong = [made] if isinstance(made, str) else []
    changed = {name: value for name, value in source.items() if name != "rule"}
    if not wrong:
        gone = [word_rule(each, channels) or each["name"] for each in rules if each not in kept]
        wrong = await _save(visit, form, changed | ({"rule": kept} if kept else {}), title, button, *gone)
    return await _show(visit, None, wrong, form) if wrong else visit.go("/settings/policy?did=saved")


async def _show(
    visit: Visit, typed: TypedPolicy | None, wrong: list[str], sentence: Mapping[str, str] | None = None
) -> Response:
    channels = visit.services.effects.channels

    def look() -> Transaction[tuple[Policy, PolicyVersion, list[ReplayReport]]]:
        found = yield from policies.find(visit.workspace_id)
        without = [
            msgspec.structs.replace(found, rules=tuple(other for other in found.rules if other is not each))
            for each in found.rules
        ]
        reports = yield from policies.replay_each(visit.workspace_id, (found, *without), visit.now_ms)
        return found, (yield from policies.find_version(visit.workspace_id)), reports

    found, version, (now, *reports) = await visit.read(look)
    written = version.source.get("rule", [])
    rows = [
        (rule.name, word_rule(source, channels) or describe_rule(rule), _count_changes(now, report))
        for rule, source, report in zip(found.rules, written, reports, strict=True)
    ]
    source = {"rule": written} if written else {}
    values = {
        "section": "policy",
        "choices": CHOICES,
        "typed": typed or TypedPolicy(version.source.get("preset", ""), write_toml(source).strip()),
        "is_text": typed is not None,
        "wrong": wrong,
        "saved": visit.query("did") == "saved" and not wrong,
        "rules": rows,
        "decided": len(now.decisions),
        "subjects": list_subjects(channels),
        "conditions": CONDITIONS,
        "who": [*((key, many) for key, (_, many) in WHO.items()), (DENY, "no one: it is denied")],
        "counts": [(each, each) for each in COUNTS],
        "sentence": sentence if sentence is not None else visit.request.query_params,
        "name": name_policy(found),
        "lines": describe_policy(msgspec.structs.replace(found, rules=())),
        "latest": version,
        "set_at": visit.when(version.at_ms),
        "nonce": visit.nonce(visit.here("policy")),
        "rules_nonce": visit.nonce(visit.here("rules")),
        "retention": RETENTION,
    }
    return visit.page("settings_policy.html", values, status=400 if wrong else 200)


def _count_changes(now: ReplayReport, other: ReplayReport) -> int:
    return sum(one.would_be != two.would_be for one, two in zip(now.decisions, other.decisions, strict=True))


async def _save_text(visit: Visit, form: dict[str, str], typed: TypedPolicy) -> list[str]:
    """Save what was typed and a person confirmed. Returns the problems, each in one sentence."""
    if typed.preset not in (*PRESETS, NO_PRESET):
        return ["Choose one of the policies."]
    try:
        written = tomllib.loads(typed.rules)
    except tomllib.TOMLDecodeError as error:
        return [f"The rules cannot be read: {error}."]
    return await _save(
        visit, form, {"preset": typed.preset, **written}, "Change the policy?", "Change the policy"
    )


async def _save(
    visit: Visit, form: dict[str, str], source: dict[str, Any], title: str, button: str, *gone: str
) -> list[str]:
    """Save a policy that a person confirmed, which leaves out the rules that are `gone`."""

    def look() -> Transaction[tuple[Policy, list[ReplayReport]]]:
        drafted = yield from policies.read(source)
        found = yield from policies.find(visit.workspace_id)
        return drafted, (yield from policies.replay_each(visit.workspace_id, (found, drafted), visit.now_ms))

    try:
        drafted, (now, then) = await visit.read(look)
        facts: tuple[tuple[str, str], ...] = (
            ("Workspace", visit.place.name),
            *(("Removed", each) for each in gone),
            ("Policy", name_policy(drafted)),
        )
        if now.decisions:
            told = f"It would have changed {_count_changes(now, then)} of the last {len(now.decisions)} decisions."
            facts += (("Looking back", told),)
        channels = visit.services.effects.channels
        rules = [
            word_rule(each, channels) or describe_rule(rule)
            for each, rule in zip(source.get("rule", ()), drafted.rules, strict=True)
        ]
        text = " ".join((*describe_policy(msgspec.structs.replace(drafted, rules=())), *rules))
        await visit.confirm(form, title, text, button, facts)
        by = visit.person.label
        await set_policy(visit.workspace_id, source, visit.now_ms, visit.write, by=by)
    except BadPolicy as bad:
        return [f"{each.path} needs {each.expected}; this is {each.got}." for each in bad.problems]
    return []


SCREENS: Final = (
    Screen("/settings/policy", policy, "settings", LOOK_AND_SEND),
    Screen("/settings/policy/rules", change_rules, "settings", SEND),
)
