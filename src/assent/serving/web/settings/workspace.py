"""Settings of the current workspace: policy, keys, notifications, webhook deliveries and cost."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from starlette.responses import Response

from assent.engine.actions import credits, policies
from assent.engine.core import tenancy
from assent.engine.core.tenancy import KEY_ID_BYTES, SECRET_BYTES, KeyEntropy
from assent.engine.people import notifications
from assent.engine.webhooks import webhooks
from assent.gate.policy import PRESETS
from assent.gate.records import Severity
from assent.kernel.ids import KeyId
from assent.kernel.limits import (
    ACTION_TTL_MS,
    DAY_MS,
    IDEMPOTENCY_TTL_MS,
    JOB_RETENTION_MS,
    REVIEW_TTL_SECONDS,
    SESSION_TTL_MS,
    WORKFLOW_RETENTION_DAYS,
)
from assent.serving.web.people.people import is_name
from assent.serving.web.review.words import needs
from assent.serving.web.shell.console import LOOK_AND_SEND, SEND, Screen, Visit
from assent.tools.arguments import is_address

PRESET_WORDS: Final = {
    "default": ("Default", "High risk needs a signed-in person; the rest may be approved in a chat."),
    "strict": ("Strict", "Everything needs a signed-in person."),
    "two_people": ("Two people", "Everything needs a signed-in person, and high risk needs two of them."),
}
MAX_ADDRESS_CHARS: Final = 500
DELIVERIES: Final = 20
KINDS: Final = {
    "email": ("E-mail", "An address, such as ada@example.org"),
    "slack": ("Slack-compatible webhook", "The address that Slack, Mattermost or Discord (/slack) gives you"),
    "ntfy": ("ntfy-compatible push", "The address of a topic, such as https://ntfy.sh/a-name-hard-to-guess"),
}
RETENTION: Final = (
    ("The journal, and what was decided", "for ever"),
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


async def policy(visit: Visit) -> Response:
    """Show or change the approval that each risk requires."""
    if visit.request.method == "POST":
        visit.require_owner()
        form = await visit.form("policy")
        preset = form.get("preset", "")
        if preset in PRESETS:
            by = visit.person.name
            await visit.write(lambda: policies.choose(visit.workspace_id, preset, visit.now_ms, by=by))
        return visit.go("/settings/policy")
    found = await visit.read(lambda: policies.find(visit.workspace_id))
    values = {
        "section": "policy",
        "presets": PRESET_WORDS,
        "chosen": policies.name_of(found),
        "needs": [(severity.value, needs(found, severity)) for severity in Severity],
        "nonce": visit.nonce("policy"),
        "retention": RETENTION,
    }
    return visit.page("settings_policy.html", values)


async def keys(visit: Visit) -> Response:
    """List, create and revoke the keys of agents."""
    issued = ""
    if visit.request.method == "POST":
        visit.require_owner()
        form = await visit.form("keys")
        by = visit.person.name
        if "revoke" in form:
            key_id = KeyId(form["revoke"])
            await visit.write(lambda: tenancy.revoke_key(visit.workspace_id, key_id, visit.now_ms, by=by))
            return visit.go("/settings/keys")
        label = " ".join(form.get("label", "").split())
        label = label if is_name(label) else "console"
        entropy = KeyEntropy(visit.services.entropy(KEY_ID_BYTES), visit.services.entropy(SECRET_BYTES))
        made = await visit.write(
            lambda: tenancy.issue_key(visit.workspace_id, entropy, visit.now_ms, label=label, by=by)
        )
        issued = made.api_key
    found = await visit.read(lambda: tenancy.list_keys(visit.workspace_id))
    values = {
        "section": "keys",
        "keys": [(each, visit.when(each.created_ms)) for each in found],
        "issued": issued,
        "nonce": visit.nonce("keys"),
    }
    return visit.page("settings_keys.html", values)


async def notify(visit: Visit) -> Response:
    """Show or change where people are notified."""
    wrong = ""
    typed = {"kind": "email", "address": visit.person.email or ""}
    if visit.request.method == "POST":
        visit.require_confirmed()
        form = await visit.form("notifications")
        typed = {"kind": form.get("kind", ""), "address": form.get("address", "").strip()}
        known = await visit.read(lambda: notifications.targets(visit.workspace_id))
        wrong = _unfit(visit, typed["kind"], typed["address"], len(known))
        if not wrong:
            for kind in notifications.KINDS:
                if kind == typed["kind"]:
                    await notifications.add(
                        visit.services, visit.workspace_id, kind, typed["address"], by=visit.person.name
                    )
            return visit.go("/settings/notifications")
    found = await visit.read(lambda: notifications.targets(visit.workspace_id))
    values = {
        "section": "notifications",
        "targets": [(each, KINDS[each.kind][0], visit.when(each.told_ms)) for each in found],
        "kinds": KINDS,
        "typed": typed,
        "wrong": wrong,
        "nonce": visit.nonce("notifications"),
    }
    return visit.page("settings_notifications.html", values, status=400 if wrong else 200)


def _unfit(visit: Visit, kind: str, address: str, known: int) -> str:
    """Why notifications cannot go to this address, or an empty text."""
    if kind not in KINDS:
        return "Choose how you want to be told."
    if known >= notifications.MOST_TARGETS:
        return f"There are {known} already, which is the most. Remove one first."
    if kind == "email":
        return "" if is_address(address) else "Enter one e-mail address, such as ada@example.org."
    if len(address) > MAX_ADDRESS_CHARS or not address.startswith(("https://", "http://")):
        return "Enter the whole address, beginning with https://."
    if kind == "ntfy" and not urlsplit(address).path.strip("/"):
        return "Name the topic, too, as in https://ntfy.sh/your-topic."
    return visit.services.outgoing.screen_webhook(address) or ""


async def notify_one(visit: Visit) -> Response:
    """Test or remove one notification target."""
    visit.require_confirmed()
    await visit.form("notifications")
    target_id, what = visit.part("target_id"), visit.part("what")
    if what == "remove":
        await visit.write(
            lambda: notifications.remove(
                visit.services, visit.workspace_id, target_id, visit.now_ms, by=visit.person.name
            )
        )
    elif what == "test":
        await visit.write(lambda: notifications.enqueue_test(visit.workspace_id, target_id, visit.now_ms))
        visit.services.background.wake_jobs()
    return visit.go("/settings/notifications")


async def outgoing(visit: Visit) -> Response:
    """Show webhook deliveries and the cost of actions."""
    if visit.request.method == "POST":
        visit.require_confirmed()
        form = await visit.form("outgoing")
        delivery_id, by = form.get("delivery", ""), visit.person.name
        await visit.write(lambda: webhooks.resend(visit.workspace_id, delivery_id, visit.now_ms, by=by))
        visit.services.background.wake_jobs()
        return visit.go("/settings/outgoing")
    found = await visit.read(lambda: webhooks.recent(visit.workspace_id, "", DELIVERIES))
    account = await visit.read(lambda: credits.account(visit.workspace_id))
    spent = await visit.read(lambda: credits.recent(visit.workspace_id, DELIVERIES))
    values = {
        "section": "outgoing",
        "deliveries": [(each, webhooks.mask_url(each.url), visit.when(each.created_ms)) for each in found],
        "account": account,
        "spent": [(each, visit.when(each.at_ms)) for each in spent],
        "nonce": visit.nonce("outgoing"),
    }
    return visit.page("settings_outgoing.html", values)


SCREENS: Final = (
    Screen("/settings/policy", policy, "settings", LOOK_AND_SEND),
    Screen("/settings/keys", keys, "settings", LOOK_AND_SEND),
    Screen("/settings/notifications", notify, "settings", LOOK_AND_SEND),
    Screen("/settings/notifications/{target_id}/{what}", notify_one, "settings", SEND),
    Screen("/settings/outgoing", outgoing, "settings", LOOK_AND_SEND),
)
