"""The passkeys of the signed-in person: list, add and remove.

The browser makes the passkey first; the form that stores it is then confirmed like every other
change with lasting effect, and the signature covers the new passkey.
"""

from __future__ import annotations

import hashlib
from typing import Final

from starlette.responses import Response

from assent.engine.core.offloading import run_apart
from assent.engine.people import passkeys
from assent.engine.people.origins import origin_of
from assent.serving.web.people.confirming import Consequence
from assent.serving.web.people.devices import name_device
from assent.serving.web.people.people import is_name
from assent.serving.web.shell.console import LOOK_AND_SEND, SEND, Screen, Visit
from assent.serving.web.shell.headers import CONFIRMING_HEADERS
from assent.serving.web.shell.problems import Link, PageProblem, PageRefused

NOT_MADE: Final = PageProblem(
    400,
    "No passkey was added",
    "The browser made none, it was made for another address, or it is here already. Nothing was changed.",
    "Go back, reload the page and try again.",
    Link("/settings/passkeys", "Back to the passkeys"),
)


async def show(visit: Visit) -> Response:
    """List the person's passkeys; on POST, store the one that the browser made."""
    visit.require_confirmed()
    if visit.request.method == "POST":
        return await _add(visit)
    found = await visit.read(lambda: passkeys.list_own(visit.person.person_id))
    base_url = visit.cookies.base_url
    values = {
        "section": "passkeys",
        "rows": [(each, visit.when(each.created_ms), visit.when(each.used_ms)) for each in found],
        "label": name_device(visit.request),
        "nonce": visit.nonce("passkeys"),
        "origin": origin_of(base_url),
        "party": passkeys.relying_party(base_url),
        "known": " ".join(each.credential_id for each in found),
        "is_full": len(found) >= passkeys.MOST_PASSKEYS,
    }
    return visit.page("settings_passkeys.html", values, scripts=False, headers=CONFIRMING_HEADERS)


async def _add(visit: Visit) -> Response:
    form = await visit.form("passkeys")
    challenge = hashlib.sha256(form.get("nonce", "").encode()).digest()
    answer, base_url = form.get("credential", ""), visit.cookies.base_url
    made = await run_apart(passkeys.read_new, answer, challenge, base_url)
    if made is None:
        raise PageRefused(NOT_MADE)
    label = " ".join(form.get("label", "").split())
    label = label if is_name(label) else name_device(visit.request)
    text = "With this passkey you sign in and confirm. Add only one that is yours alone."
    await visit.confirm(form, Consequence("Add this passkey?", text, "Add it", (("Passkey", label),)))
    if not await visit.write(lambda: passkeys.add(visit.person, made, label, visit.now_ms)):
        raise PageRefused(NOT_MADE)
    return visit.go("/settings/passkeys")


async def remove(visit: Visit) -> Response:
    form = await visit.form("passkeys")
    credential_id = visit.part("credential_id")
    held = await visit.read(lambda: passkeys.list_own(visit.person.person_id))
    facts = tuple(("Passkey", each.label) for each in held if each.credential_id == credential_id)
    text = "It no longer works on this server. Remove it from your device, too."
    await visit.confirm(form, Consequence("Remove this passkey?", text, "Remove it", facts, danger=True))
    await visit.write(lambda: passkeys.remove(visit.person, credential_id, visit.now_ms))
    return visit.go("/settings/passkeys")


SCREENS: Final = (
    Screen("/settings/passkeys", show, "settings", LOOK_AND_SEND),
    Screen("/settings/passkeys/{credential_id}/remove", remove, "settings", SEND),
)
