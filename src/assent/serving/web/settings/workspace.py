"""Settings of the current workspace: the keys of agents."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from assent.engine.core import tenancy
from assent.engine.core.tenancy import KEY_ID_BYTES, SECRET_BYTES, KeyEntropy
from assent.kernel.ids import KeyId
from assent.serving.web.people.confirming import Consequence
from assent.serving.web.people.people import is_name
from assent.serving.web.shell.console import LOOK_AND_SEND, Screen, Visit

DRAFTS_ONLY: Final = ("runs:write",)
"""Scopes of a key that prepares and reads, and cannot decide or send."""


async def keys(visit: Visit) -> Response:
    """List, create and revoke the keys of agents."""
    issued = ""
    if visit.request.method == "POST":
        visit.require_owner()
        form = await visit.form(visit.here("keys"))
        by = visit.person.name
        workspace = ("Workspace", visit.place.name)
        if "revoke" in form:
            key_id = KeyId(form["revoke"])
            text = "Calls with this key are refused from then on."
            await visit.confirm(
                form,
                Consequence("End this key?", text, "End it", (workspace, ("Key", key_id)), danger=True),
            )
            await visit.write(lambda: tenancy.revoke_key(visit.workspace_id, key_id, visit.now_ms, by=by))
            return visit.go("/settings/keys")
        label = " ".join(form.get("label", "").split())
        label = label if is_name(label) else "console"
        drafts = form.get("rights") == "drafts"
        rights = "prepare only" if drafts else "prepare, pass on your yes, and send"
        text = "The key is shown once. An agent that has it works in this workspace."
        facts = (workspace, ("For", label), ("It may", rights))
        await visit.confirm(form, Consequence("Make a key?", text, "Make the key", facts))
        entropy = KeyEntropy(visit.services.entropy(KEY_ID_BYTES), visit.services.entropy(SECRET_BYTES))
        scopes = DRAFTS_ONLY if drafts else tenancy.SCOPES
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
    found = await visit.read(lambda: tenancy.list_keys(visit.workspace_id))
    values = {
        "section": "keys",
        "keys": [(each, visit.when(each.created_ms)) for each in found],
        "issued": issued,
        "nonce": visit.nonce(visit.here("keys")),
    }
    return visit.page("settings_keys.html", values)


SCREENS: Final = (Screen("/settings/keys", keys, "settings", LOOK_AND_SEND),)
