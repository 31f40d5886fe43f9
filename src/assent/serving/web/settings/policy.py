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
from assent.serving.web.settings import policy_matrix
from assent.serving.web.settings.policy_matrix import MatrixRow
from assent.serving.web.shell.console import LOOK_AND_SEND, Screen, Visit

RETENTION: Final = (
    ("The journal, and what was decided", "without a limit"),
    ("Drafts without a decision can be approved", f"{ACTION_TTL_MS // DAY_MS} days"),
    ("Review links", f"{REVIEW_TTL_SECONDS // 86_400} days unless the settings of the server say otherwise"),
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
        "High risk needs a signed-in person; what no rule matches, the strictest approval that a rule asks for.",
    ),
}
EXAMPLE: Final = """[[rule]]
name = "Large refunds"
when = { amount = { at_least = 500 } }
ask = { assurance = "person", approvers = 2 }"""


SAVED: Final = "Saved. It holds from now on, also for approved actions that are not sent yet."


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
        return ["Choose one of the policies."]
    try:
        written = tomllib.loads(typed.rules)
        own = written.pop("rule", [])
        rules = [*policy_matrix.write_rules(typed.rows), *own] if isinstance(own, list) else own
        source = {"preset": typed.preset, **written, **({"rule": rules} if rules else {})}
        drafted = await visit.read(lambda: policies.read(source))
        facts = (("Workspace", visit.place.name), ("Policy", name_policy(drafted)))
        text = " ".join(describe_policy(drafted))
        await visit.confirm(form, Consequence("Change the policy?", text, "Change the policy", facts))
        await visit.write(
            lambda: policies.save(visit.workspace_id, source, visit.now_ms, by=visit.person.name)
        )
    except tomllib.TOMLDecodeError as error:
        return [f"The rules cannot be read: {error}."]
    except BadPolicy as bad:
        return [f"{each.path}: this must be {each.expected}, and it is {each.got}." for each in bad.problems]
    return []


SCREENS: Final = (Screen("/settings/policy", policy, "settings", LOOK_AND_SEND),)
