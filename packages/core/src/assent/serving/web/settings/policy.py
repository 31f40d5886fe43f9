"""The policy of the current workspace: a preset, a matrix by risk and channel, further rules as TOML, and
all of it in words."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from starlette.responses import Response

from assent.engine.actions import policies
from assent.engine.actions.policies import PolicyVersion
from assent.gate.policy import PRESETS, Policy
from assent.gate.rules.source import NO_PRESET, BadPolicy, write_toml
from assent.gate.views import Severity
from assent.kernel.limits import (
    ACTION_TTL_MS,
    DAY_MS,
    IDEMPOTENCY_TTL_MS,
    JOB_RETENTION_MS,
    REVIEW_TTL_SECONDS,
    SESSION_TTL_MS,
    WORKFLOW_RETENTION_DAYS,
)
from assent.kernel.structs import Record
from assent.ports import Transaction
from assent.present.rule_text import PRESET_WORDS, describe_policy, name_policy
from assent.serving.web.shell.console import LOOK_AND_SEND, Screen, Visit
from assent.use_cases.workspaces import set_policy

# The matrix of a policy: a row for each risk and channel, with how many people must approve. Pure.
#
# A cell is a rule whose `when` is that risk or channel alone. Rules that ask for something else stay as they are
# written, in the text below the matrix.

WHO: Final = {
    "": "As the policy says",
    "person": "A signed-in person",
    "passkey": "A person with a passkey",
    "deny": "No one (denied)",
}
COUNTS: Final = {"1": "1 approval", "2": "2 approvals", "3": "3 approvals"}
PEOPLE: Final = {"": "Anyone who may decide", "role:owner": "Owners only"}
DENIED: Final = "The policy of this workspace allows none of it."
MOST_ROWS: Final = 22
"""Four fields of each row fit into one form. Rules about further channels are written as text."""
KEYS: Final = frozenset({"assurance", "approvers", "people", "not_proposer"})


class MatrixRow(Record, kw_only=True):
    """A risk or a channel, and what it needs."""

    key: str
    value: str
    label: str
    who: str = ""
    approvers: str = "1"
    people: str = ""
    not_proposer: bool = False

    @property
    def name(self) -> str:
        """The prefix of its fields in the form."""
        return f"{self.key}.{self.value}"

    @property
    def is_set(self) -> bool:
        return bool(self.who)


def list_rows(channels: Mapping[str, str]) -> tuple[MatrixRow, ...]:
    """The empty matrix of a server with these channels."""
    risks = (
        MatrixRow(key="risk", value=each.value, label=f"{each.value.capitalize()} risk")
        for each in reversed(Severity)
    )
    rows = (MatrixRow(key="channel", value=name, label=label) for name, label in channels.items())
    return tuple(islice((*risks, *rows), MOST_ROWS))


def split_source(
    source: Mapping[str, Any], channels: Mapping[str, str]
) -> tuple[tuple[MatrixRow, ...], list[dict[str, Any]]]:
    """The matrix of a policy, and the rules that do not fit into it."""
    rows = {row.name: row for row in list_rows(channels)}
    rest: list[dict[str, Any]] = []
    for rule in source.get("rule", []):
        row = _read_rule(rule, rows)
        if row is None or rows[row.name].is_set:
            rest.append(rule)
        else:
            rows[row.name] = row
    return tuple(rows.values()), rest


def _read_rule(rule: Mapping[str, Any], rows: Mapping[str, MatrixRow]) -> MatrixRow | None:
    """The row that a rule fills; None if it says more than a row can."""
    when = rule.get("when", {})
    if not isinstance(when, dict) or len(when) != 1:
        return None
    [(key, value)] = when.items()
    known = rows.get(f"{key}.{value}") if isinstance(value, str) else None
    if known is None or rule.get("name") != known.label:
        return None
    if rule.get("deny") == DENIED and "ask" not in rule:
        return MatrixRow(key=known.key, value=known.value, label=known.label, who="deny")
    ask = rule.get("ask")
    if not isinstance(ask, dict) or "deny" in rule or not ask.keys() <= KEYS:
        return None
    people = ask.get("people", [])
    only = people[0] if isinstance(people, list) and len(people) == 1 else "" if not people else None
    who, count = ask.get("assurance", "person"), str(ask.get("approvers", 1))
    if who not in WHO or count not in COUNTS or only not in PEOPLE:
        return None
    return MatrixRow(
        key=known.key,
        value=known.value,
        label=known.label,
        who=who,
        approvers=count,
        people=str(only),
        not_proposer=ask.get("not_proposer") is True,
    )


def read_form(form: Mapping[str, str], channels: Mapping[str, str]) -> tuple[MatrixRow, ...]:
    """The matrix that a person filled in. More than one approval implies signed-in people."""
    return tuple(_read_row(form, row) for row in list_rows(channels))


def _read_row(form: Mapping[str, str], row: MatrixRow) -> MatrixRow:
    who, count = form.get(f"{row.name}.who", ""), form.get(f"{row.name}.count", "1")
    people, apart = form.get(f"{row.name}.people", ""), f"{row.name}.apart" in form
    asks_more = count in ("2", "3") or people == "role:owner" or apart
    if who not in WHO or (not who and asks_more):
        who = "person"
    return MatrixRow(
        key=row.key,
        value=row.value,
        label=row.label,
        who=who,
        approvers=count if count in COUNTS else "1",
        people=people if people in PEOPLE else "",
        not_proposer=apart,
    )


def write_rules(rows: tuple[MatrixRow, ...]) -> list[dict[str, Any]]:
    """The rules of the rows that ask for something."""
    return [_write_rule(row) for row in rows if row.is_set]


def _write_rule(row: MatrixRow) -> dict[str, Any]:
    rule: dict[str, Any] = {"name": row.label, "when": {row.key: row.value}}
    if row.who == "deny":
        return {**rule, "deny": DENIED}
    ask: dict[str, Any] = {"assurance": row.who, "approvers": int(row.approvers)}
    if row.people:
        ask["people"] = [row.people]
    if row.not_proposer:
        ask["not_proposer"] = True
    return {**rule, "ask": ask}


RETENTION: Final = (
    ("The audit log and all decisions", "without a limit"),
    ("Drafts without a decision can be approved", f"{ACTION_TTL_MS // DAY_MS} days"),
    (
        "Review links",
        f"{REVIEW_TTL_SECONDS // 86_400} days unless the settings of the server say otherwise",
    ),
    ("Answers kept for the same idempotency key", f"{IDEMPOTENCY_TTL_MS // DAY_MS} days"),
    ("Finished jobs", f"{JOB_RETENTION_MS // DAY_MS} days"),
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
    rows: tuple[MatrixRow, ...]
    rules: str
    """The rules that do not fit into the matrix, as TOML."""


async def policy(visit: Visit) -> Response:
    """Show or change who may approve what."""
    typed: TypedPolicy | None = None
    wrong: list[str] = []
    channels = visit.services.effects.channels
    if visit.request.method == "POST":
        visit.require_owner()
        form = await visit.form(visit.here("policy"))
        text = form.get("rules", "").replace("\r\n", "\n")
        typed = TypedPolicy(form.get("preset", ""), read_form(form, channels), text)
        wrong = await _save(visit, form, typed)
        if not wrong:
            return visit.go("/settings/policy?did=saved")

    def look() -> Transaction[tuple[Policy, PolicyVersion]]:
        found = yield from policies.find(visit.workspace_id)
        return found, (yield from policies.find_version(visit.workspace_id))

    found, version = await visit.read(look)
    values = {
        "section": "policy",
        "choices": CHOICES,
        "typed": typed or _fill_in(version.source, channels),
        "wrong": wrong,
        "saved": visit.query("did") == "saved" and not wrong,
        "who": WHO,
        "counts": COUNTS,
        "people": PEOPLE,
        "name": name_policy(found),
        "lines": describe_policy(found),
        "latest": version,
        "set_at": visit.when(version.at_ms),
        "nonce": visit.nonce(visit.here("policy")),
        "retention": RETENTION,
    }
    return visit.page("settings_policy.html", values, status=400 if wrong else 200)


def _fill_in(source: dict[str, Any], channels: Mapping[str, str]) -> TypedPolicy:
    rows, rest = split_source(source, channels)
    return TypedPolicy(source.get("preset", ""), rows, write_toml({"rule": rest}).strip() if rest else "")


async def _save(visit: Visit, form: dict[str, str], typed: TypedPolicy) -> list[str]:
    """Save what was typed and a person confirmed. Returns the problems, each in one sentence."""
    if typed.preset not in (*PRESETS, NO_PRESET):
        return ["Choose one of the policies."]
    try:
        written = tomllib.loads(typed.rules)
        own = written.pop("rule", [])
        rules = [*write_rules(typed.rows), *own] if isinstance(own, list) else own
        source = {"preset": typed.preset, **written, **({"rule": rules} if rules else {})}
        drafted = await visit.read(lambda: policies.read(source))
        facts = (("Workspace", visit.place.name), ("Policy", name_policy(drafted)))
        text = " ".join(describe_policy(drafted))
        await visit.confirm(form, "Change the policy?", text, "Change the policy", facts)
        by = visit.person.label
        await set_policy(visit.workspace_id, source, visit.now_ms, visit.write, by=by)
    except tomllib.TOMLDecodeError as error:
        return [f"The rules cannot be read: {error}."]
    except BadPolicy as bad:
        return [f"{each.path}: this must be {each.expected}, and it is {each.got}." for each in bad.problems]
    return []


SCREENS: Final = (Screen("/settings/policy", policy, "settings", LOOK_AND_SEND),)
