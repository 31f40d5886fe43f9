"""The screens of people: those who may sign in, one's passkeys, and the first steps on a new server."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final, cast

from starlette.responses import Response

from assent.engine.core import brands, callers
from assent.engine.core.brands import WorkspaceBrand
from assent.engine.core.offloading import run_apart
from assent.engine.core.tenancy import LOCAL_PRINCIPAL, LOCAL_WORKSPACE, Principal
from assent.engine.people import members, passkeys, people
from assent.engine.people.origins import origin_of
from assent.engine.people.people import OWNER, Person, Role
from assent.extensions.hooks import ExtensionProcess
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import INVITATION_TTL_MS
from assent.kernel.refusals import Refusal
from assent.ports import NotSent, OutcomeUnknown, Transaction
from assent.serving.web.people.people import NAME_ADVICE, is_name, name_device
from assent.serving.web.shell import clients
from assent.serving.web.shell.console import LOOK, LOOK_AND_SEND, SEND, Screen, Visit
from assent.serving.web.shell.headers import CONFIRMING_HEADERS
from assent.serving.web.shell.problems import NOT_FOUND, Link, PageProblem, PageRefused
from assent.tools.arguments import is_address

INVITE: Final = "invite a colleague"
SUBJECT: Final = "You are invited to decide"
INVITATION: Final = (
    "{by} invites you to {place}: you decide there about what agents prepare.\n"
    "\n"
    "Open this in your browser and sign in. It works once:\n"
    "\n"
    "{link}\n"
    "\n"
    "It lets its reader decide as you, so do not pass it on. You did not expect it? Then do nothing, and "
    "nothing happens.\n"
)


async def show(visit: Visit) -> Response:
    """List everyone, with a form to invite a person."""
    visit.require_owner()
    if visit.request.method == "POST":
        return await _invite(visit)
    return await _page(visit)


async def _invite(visit: Visit) -> Response:
    form = await visit.form(INVITE)
    name, email = " ".join(form.get("name", "").split()), form.get("email", "").strip()
    wrong: dict[str, str] = {}
    if not is_name(name):
        wrong["name"] = NAME_ADVICE
    if email and not is_address(email):
        wrong["email"] = "Enter one e-mail address, or leave it empty."
    places = tuple(
        WorkspaceId(each.workspace_id) for each in visit.places if f"in.{each.workspace_id}" in form
    )
    role = Role.OWNER if form.get("role") == Role.OWNER else Role.MEMBER
    if role is Role.MEMBER and not places:
        wrong["places"] = "Choose at least one workspace for a member."
    if wrong:
        return await _page(visit, typed={"name": name, "email": email}, wrong=wrong)
    labels = ", ".join(each.name for each in visit.places if each.workspace_id in places)
    facts: tuple[tuple[str, str], ...] = (("Name", name), ("E-mail", email or "none"), ("Role", role.value))
    text = "You get a link. The person who opens it signs in under this name and can decide."
    if role is Role.MEMBER:
        facts += (("Workspaces", labels),)
    await visit.confirm(form, "Invite this person?", text, "Create link", facts)
    person = Person(visit.services.new_id(visit.now_ms), name, role, email or None)
    entropy = visit.services.entropy(people.ENTROPY_BYTES)
    token = await visit.write(
        lambda: members.invite(person, places, entropy, visit.now_ms, by=visit.person.label)
    )
    return await _hand_over(visit, form, person, token)


async def _hand_over(visit: Visit, form: dict[str, str], person: Person, token: str) -> Response:
    """Show the link of a person, and mail it where that was asked for."""
    link, mailed = _link(visit, token), ""
    if "mail" in form and person.email:
        text = INVITATION.format(by=visit.person.label, place=visit.place.name, link=link)
        try:
            key = visit.services.new_id(visit.now_ms)
            await visit.services.limits.count_mail(
                "invitation", visit.workspace_id, person.email, visit.now_ms
            )
            await visit.services.outgoing.send_note(person.email, SUBJECT, text, key)
            mailed = f"It was sent to {person.email}."
        except (NotSent, OutcomeUnknown) as failed:
            mailed = f"It could not be mailed: {failed}. Send it yourself."
        except Refusal:
            mailed = "It could not be mailed: this address got too many invitations within an hour. Send it yourself."
    return await _page(visit, invited=(person, link, mailed))


async def again(visit: Visit) -> Response:
    """Issue a new sign-in link for a known person. Earlier links expire."""
    visit.require_owner()
    person_id = visit.part("person_id")
    form = await visit.form(f"invite {person_id} again")
    person = await visit.read(lambda: members.find(person_id))
    if person is None:
        raise PageRefused(NOT_FOUND)
    text = "The person who opens it signs in under this name and can decide. Earlier links end."
    await visit.confirm(form, "Make a new sign-in link?", text, "Make the link", (("For", person.label),))
    entropy = visit.services.entropy(people.ENTROPY_BYTES)
    token = await visit.write(
        lambda: members.invite_again(person_id, entropy, visit.now_ms, by=visit.person.label)
    )
    return await _hand_over(visit, form, person, token)


async def remove(visit: Visit) -> Response:
    visit.require_owner()
    person_id = visit.part("person_id")
    form = await visit.form(f"remove {person_id}")
    person = await visit.read(lambda: members.find(person_id))
    if person is not None and person_id != visit.person.person_id:
        text = "They are signed out everywhere and cannot come back. What they decided stays recorded."
        facts = (("Name", person.label),)
        await visit.confirm(form, "Remove this person?", text, "Remove them", facts, danger=True)
        await visit.write(lambda: members.remove(person_id, visit.now_ms, by=visit.person.label))
    return visit.go("/settings/people")


async def _page(
    visit: Visit,
    *,
    typed: dict[str, str] | None = None,
    wrong: dict[str, str] | None = None,
    invited: tuple[Person, str, str] | None = None,
) -> Response:
    known = await visit.read(lambda: members.list_people(visit.now_ms))
    rows = [
        {
            "known": each,
            "invited": visit.when(each.invited_until_ms),
            "signed_in": visit.when(each.signed_in_ms),
            "may_remove": each.person.person_id not in (OWNER, visit.person.person_id),
            "again_nonce": visit.nonce(f"invite {each.person.person_id} again"),
            "remove_nonce": visit.nonce(f"remove {each.person.person_id}"),
        }
        for each in known
    ]
    values = {
        "section": "people",
        "rows": rows,
        "nonce": visit.nonce(INVITE),
        "typed": typed or {"name": "", "email": ""},
        "wrong": wrong or {},
        "invited": invited,
        "can_mail": await visit.services.outgoing.can_send_notes(),
        "days": INVITATION_TTL_MS // 86_400_000,
    }
    return visit.page("settings_people.html", values, status=400 if wrong else 200)


def _link(visit: Visit, token: str) -> str:
    return f"{visit.services.links.base_url}/sign-in/{token}"


# The passkeys of the signed-in person: list, add and remove.
#
# The browser makes the passkey first; the form that stores it is then confirmed like every other
# change with lasting effect, and the signature covers the new passkey.

PASSKEY_NOT_MADE: Final = PageProblem(
    400,
    "No passkey was added",
    "The browser made none, it was made for another address, or it is here already. Nothing was changed.",
    "Go back, reload the page and try again.",
    Link("/settings/passkeys", "Back to the passkeys"),
)


async def show_passkeys(visit: Visit) -> Response:
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
        raise PageRefused(PASSKEY_NOT_MADE)
    label = " ".join(form.get("label", "").split())
    label = label if is_name(label) else name_device(visit.request)
    text = "With this passkey you sign in and confirm. Add only one that is yours alone."
    await visit.confirm(form, "Add this passkey?", text, "Add it", (("Passkey", label),))
    if not await visit.write(lambda: passkeys.add(visit.person, made, label, visit.now_ms)):
        raise PageRefused(PASSKEY_NOT_MADE)
    return visit.go("/settings/passkeys")


async def remove_passkey(visit: Visit) -> Response:
    form = await visit.form("passkeys")
    credential_id = visit.part("credential_id")
    held = await visit.read(lambda: passkeys.list_own(visit.person.person_id))
    facts = tuple(("Passkey", each.label) for each in held if each.credential_id == credential_id)
    text = "It no longer works on this server. Remove it from your device, too."
    await visit.confirm(form, "Remove this passkey?", text, "Remove it", facts, danger=True)
    await visit.write(lambda: passkeys.remove(visit.person, credential_id, visit.now_ms))
    return visit.go("/settings/passkeys")


# The first-run page: name the workspace, add the server to a client, decide about a first draft.
#
# The page asks again every few seconds until a client has called, and ticks that step.

LOCAL_NAME: Final = LOCAL_PRINCIPAL.workspace_name
"""The name that the default workspace is made with."""


async def start(visit: Visit) -> Response:
    """Four steps; those that are done say so."""
    base_url, key = visit.services.links.base_url, clients.PLACEHOLDER_KEY

    def look() -> Transaction[tuple[WorkspaceBrand, dict[str, int]]]:
        brand = yield from brands.find(visit.workspace_id)
        return brand, (yield from callers.list_seen(visit.workspace_id))

    brand, seen = await visit.read(look)
    on_http = clients.http_snippets(base_url, key)
    is_local = visit.workspace_id == LOCAL_WORKSPACE
    links = visit.services.links
    here = links.client_entry({}) if is_local and links.only_here and links.client_entry else None
    values = {
        "install_links": clients.install_links(base_url, here),
        "needs_key": here is None,
        "is_named": brand.name != LOCAL_NAME,
        "name": brand.name,
        "snippets": (*clients.stdio_snippets(visit.services, None), *on_http) if is_local else on_http,
        "placeholder_key": key,
        "connected": visit.when(max(seen.values())) if seen else None,
        "sample_nonce": visit.nonce(visit.here("sample")),
    }
    return visit.page("start.html", values)


async def make_sample(visit: Visit) -> Response:
    """Prepare the sample run and open it."""
    form = await visit.form(visit.here("sample"))
    text = "One draft for your own site appears in the inbox. Nothing is published unless you approve it."
    await visit.confirm(form, "Make a sample draft?", text, "Make it")
    principal = Principal(
        workspace_id=visit.workspace_id,
        workspace_name=visit.place.name,
        key_id=None,
        mode="live",
        scopes=LOCAL_PRINCIPAL.scopes,
        label="sample",
    )
    for extension in cast(Mapping[str, ExtensionProcess], visit.services.extensions()).values():
        if (run_id := await extension.prepare_sample(principal)) is not None:
            return visit.go(f"/runs/{run_id}")
    return visit.problem(NOT_FOUND)


SCREENS: Final = (
    Screen("/settings/people", show, "settings", LOOK_AND_SEND),
    Screen("/settings/people/{person_id}/again", again, "settings", SEND),
    Screen("/settings/people/{person_id}/remove", remove, "settings", SEND),
    Screen("/settings/passkeys", show_passkeys, "settings", LOOK_AND_SEND),
    Screen("/settings/passkeys/{credential_id}/remove", remove_passkey, "settings", SEND),
    Screen("/start", start, "", LOOK),
    Screen("/start/sample", make_sample, "", SEND),
)
