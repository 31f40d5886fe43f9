"""Settings of the current workspace for agents: keys and credits. Webhooks are in `outgoing`."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from assent.engine.core import callers, tenancy
from assent.engine.core.tenancy import KEY_ID_BYTES, SECRET_BYTES, KeyEntropy, KeyRecord
from assent.engine.learning import credits
from assent.gate.credits import CreditAccount
from assent.kernel.ids import KeyId
from assent.ports import Transaction
from assent.serving.web.people.confirming import Consequence
from assent.serving.web.people.people import is_name
from assent.serving.web.shell import clients
from assent.serving.web.shell.console import LOOK, LOOK_AND_SEND, Screen, Visit

DRAFTS_ONLY: Final = ("runs:write",)
"""Scopes of a key that prepares and reads, and cannot decide or send."""
ENTRIES: Final = 20
SCOPE_WORDS: Final = {
    "runs:write": "prepare drafts",
    "actions:decide": "pass on your yes",
    "actions:execute": "send what is approved",
    tenancy.POLICY_SCOPE: "change the policy",
}


async def keys(visit: Visit) -> Response:
    """List, create and revoke the keys of agents."""
    issued = ""
    if visit.request.method == "POST":
        visit.require_owner()
        form = await visit.form(visit.here("keys"))
        by = visit.person.label
        workspace = ("Workspace", visit.place.name)
        if "revoke" in form:
            key_id = KeyId(form["revoke"])
            text = "Calls with this key are refused from then on."
            await visit.confirm(
                form,
                Consequence("Revoke this key?", text, "Revoke it", (workspace, ("Key", key_id)), danger=True),
            )
            await visit.write(lambda: tenancy.revoke_key(visit.workspace_id, key_id, visit.now_ms, by=by))
            return visit.go("/settings/keys")
        label = " ".join(form.get("label", "").split())
        label = label if is_name(label) else "console"
        drafts = form.get("rights") == "drafts"
        scopes = DRAFTS_ONLY if drafts else tenancy.SCOPES
        text = "The key is shown once. An agent that has it works in this workspace."
        facts = (workspace, ("For", label), ("It may", ", ".join(SCOPE_WORDS[each] for each in scopes)))
        await visit.confirm(form, Consequence("Create a key?", text, "Create the key", facts))
        entropy = KeyEntropy(visit.services.entropy(KEY_ID_BYTES), visit.services.entropy(SECRET_BYTES))
        made = await visit.write(
            lambda: tenancy.issue_key(
                visit.workspace_id,
                entropy,
                visit.now_ms,
                label=label,
                scopes=scopes,
                person_id=visit.person.person_id,
                by=by,
            )
        )
        issued = made.api_key

    def look() -> Transaction[tuple[list[KeyRecord], dict[str, int], CreditAccount]]:
        found = yield from tenancy.list_keys(visit.workspace_id)
        seen = yield from callers.list_seen(visit.workspace_id)
        return found, seen, (yield from credits.account(visit.workspace_id))

    found, seen, account = await visit.read(look)
    base_url = visit.services.links.base_url
    values = {
        "section": "keys",
        "keys": [
            (
                each,
                visit.when(each.created_ms),
                visit.when(seen.get(f"key:{each.key_id}")),
                [SCOPE_WORDS.get(scope, scope) for scope in each.scopes],
            )
            for each in found
        ],
        "issued": issued,
        "snippets": (
            *clients.http_snippets(base_url, issued),
            clients.stdio_snippet(visit.services, issued),
        )
        if issued
        else (),
        "uses_credits": account != CreditAccount(),
        "nonce": visit.nonce(visit.here("keys")),
    }
    return visit.page("settings_keys.html", values)


async def show_credits(visit: Visit) -> Response:
    """Show the credits of the workspace and its latest entries."""
    account = await visit.read(lambda: credits.account(visit.workspace_id))
    spent = await visit.read(lambda: credits.recent(visit.workspace_id, ENTRIES))
    values = {
        "section": "credits",
        "account": account,
        "spent": [(each, visit.when(each.at_ms)) for each in spent],
    }
    return visit.page("settings_credits.html", values)


SCREENS: Final = (
    Screen("/settings/keys", keys, "settings", LOOK_AND_SEND),
    Screen("/settings/credits", show_credits, "settings", LOOK),
)
