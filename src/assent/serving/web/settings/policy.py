"""The policy of the current workspace: a preset, rules as TOML, and both in words."""

from __future__ import annotations

import tomllib
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
from assent.ports import Transaction
from assent.serving.web.people.confirming import Consequence
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
    NO_PRESET: ("Own rules only", "What no rule matches needs the strictest approval that a rule asks for."),
}
EXAMPLE: Final = """[[rule]]
name = "Large refunds"
when = { amount = { at_least = 500 } }
ask = { assurance = "person", approvers = 2 }"""


async def policy(visit: Visit) -> Response:
    """Show or change who may approve what."""
    typed: dict[str, str] | None = None
    wrong: list[str] = []
    if visit.request.method == "POST":
        visit.require_owner()
        form = await visit.form(visit.here("policy"))
        typed = {"preset": form.get("preset", ""), "rules": form.get("rules", "").replace("\r\n", "\n")}
        wrong = await _save(visit, form, typed)
        if not wrong:
            return visit.go("/settings/policy")

    def look() -> Transaction[tuple[Policy, PolicyVersion]]:
        found = yield from policies.find(visit.workspace_id)
        return found, (yield from policies.find_version(visit.workspace_id))

    found, version = await visit.read(look)
    values = {
        "section": "policy",
        "choices": CHOICES,
        "typed": typed or _fill_in(version.source),
        "wrong": wrong,
        "name": name_policy(found),
        "lines": describe_policy(found),
        "latest": version,
        "set_at": visit.when(version.at_ms),
        "example": EXAMPLE,
        "nonce": visit.nonce(visit.here("policy")),
        "retention": RETENTION,
    }
    return visit.page("settings_policy.html", values, status=400 if wrong else 200)


def _fill_in(source: dict[str, Any]) -> dict[str, str]:
    rules = source.get("rule", [])
    return {"preset": source.get("preset", ""), "rules": write_toml({"rule": rules}).strip() if rules else ""}


async def _save(visit: Visit, form: dict[str, str], typed: dict[str, str]) -> list[str]:
    """Save what was typed and a person confirmed. Returns the problems, each in one sentence."""
    if typed["preset"] not in (*PRESETS, NO_PRESET):
        return ["Choose one of the policies."]
    try:
        rules = tomllib.loads(typed["rules"])
        source = {"preset": typed["preset"], **rules}
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
