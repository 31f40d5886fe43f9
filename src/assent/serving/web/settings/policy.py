"""The policy of the current workspace: a preset, a matrix by risk and channel, further rules as TOML, and
all of it in words."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from assent.engine.actions import policies
from assent.engine.actions.policies import PolicyVersion
from assent.gate.policy import PRESETS, Policy
from assent.gate.rules.source import NO_PRESET, BadPolicy
from assent.gate.rules.toml import write_toml
from assent.gate.rules.words import PRESET_WORDS, describe_policy, name_policy
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
from assent.serving.web.people.confirming import Consequence
from assent.serving.web.settings import policy_matrix, words
from assent.serving.web.settings.policy_matrix import MatrixRow
from assent.serving.web.shell.console import LOOK_AND_SEND, Screen, Visit

RETENTION: Final = (
    (words.THE_JOURNAL, words.KEPT_WITHOUT_A_LIMIT),
    (words.DRAFTS_WITHOUT_A_DECISION, f"{ACTION_TTL_MS // DAY_MS} days"),
    (
        words.REVIEW_LINKS,
        words.LINK_DAYS.format(review_ttl_seconds=REVIEW_TTL_SECONDS // 86_400),
    ),
    (words.ANSWERS_KEPT_FOR_THE_SAME, f"{IDEMPOTENCY_TTL_MS // DAY_MS} days"),
    (words.FINISHED_JOBS, f"{JOB_RETENTION_MS // DAY_MS} days"),
    (
        words.UNUSED_WORKFLOW_SESSIONS,
        words.SESSION_DAYS.format(workflow_retention_days=WORKFLOW_RETENTION_DAYS),
    ),
    (words.A_SIGNED_IN_BROWSER, f"{SESSION_TTL_MS // DAY_MS} days"),
)


CHOICES: Final = {
    **PRESET_WORDS,
    NO_PRESET: (
        words.OWN_RULES_ONLY,
        words.HIGH_RISK_NEEDS_A_SIGNED,
    ),
}
EXAMPLE: Final = """[[rule]]
name = "Large refunds"
when = { amount = { at_least = 500 } }
ask = { assurance = "person", approvers = 2 }"""


SAVED: Final = words.SAVED_IT_HOLDS_FROM_NOW


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
        typed = TypedPolicy(form.get("preset", ""), policy_matrix.read_form(form, channels), text)
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
        "said": SAVED if visit.query("did") == "saved" and not wrong else "",
        "who": policy_matrix.WHO,
        "counts": policy_matrix.COUNTS,
        "people": policy_matrix.PEOPLE,
        "name": name_policy(found),
        "lines": describe_policy(found),
        "latest": version,
        "set_at": visit.when(version.at_ms),
        "example": EXAMPLE,
        "nonce": visit.nonce(visit.here("policy")),
        "retention": RETENTION,
    }
    return visit.page("settings_policy.html", values, status=400 if wrong else 200)


def _fill_in(source: dict[str, Any], channels: Mapping[str, str]) -> TypedPolicy:
    rows, rest = policy_matrix.split_source(source, channels)
    return TypedPolicy(source.get("preset", ""), rows, write_toml({"rule": rest}).strip() if rest else "")


async def _save(visit: Visit, form: dict[str, str], typed: TypedPolicy) -> list[str]:
    """Save what was typed and a person confirmed. Returns the problems, each in one sentence."""
    if typed.preset not in (*PRESETS, NO_PRESET):
        return [words.CHOOSE_ONE_OF_THE_POLICIES]
    try:
        written = tomllib.loads(typed.rules)
        own = written.pop("rule", [])
        rules = [*policy_matrix.write_rules(typed.rows), *own] if isinstance(own, list) else own
        source = {"preset": typed.preset, **written, **({"rule": rules} if rules else {})}
        drafted = await visit.read(lambda: policies.read(source))
        facts = (("Workspace", visit.place.name), ("Policy", name_policy(drafted)))
        text = " ".join(describe_policy(drafted))
        await visit.confirm(
            form, Consequence(words.CHANGE_THE_POLICY_QUESTION, text, words.CHANGE_THE_POLICY, facts)
        )
        await visit.write(
            lambda: policies.save(visit.workspace_id, source, visit.now_ms, by=visit.person.label)
        )
    except tomllib.TOMLDecodeError as error:
        return [words.THE_RULES_CANNOT_BE_READ.format(error=error)]
    except BadPolicy as bad:
        return [
            words.THIS_MUST.format(path=each.path, expected=each.expected, got=each.got)
            for each in bad.problems
        ]
    return []


SCREENS: Final = (Screen("/settings/policy", policy, "settings", LOOK_AND_SEND),)
