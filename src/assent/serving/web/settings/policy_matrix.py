"""The matrix of a policy: a row for each risk and channel, with how many people must approve. Pure.

A cell is a rule whose `when` is that risk or channel alone. Rules that ask for something else stay as
they are written, in the text below the matrix.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from assent.gate.views import Severity
from assent.kernel.structs import Record
from assent.serving.web.settings import words

WHO: Final = {
    "": words.AS_THE_POLICY_SAYS,
    "person": words.A_SIGNED_IN_PERSON,
    "passkey": words.A_PERSON_WITH_A_PASSKEY,
    "deny": words.NO_ONE_IT_IS_DENIED,
}
COUNTS: Final = {"1": "1 approval", "2": "2 approvals", "3": "3 approvals"}
PEOPLE: Final = {"": words.ANYONE_WHO_MAY_DECIDE, "role:owner": words.OWNERS_ONLY}
DENIED: Final = words.THE_POLICY_OF_THIS_WORKSPACE
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
