"""Settings of the current workspace: keys of its agents, its name, logo and colour."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from starlette.responses import Response

from assent.engine.core import brands, callers, tenancy
from assent.engine.core.brands import WorkspaceBrand
from assent.engine.core.offloading import run_apart
from assent.engine.core.tenancy import KEY_ID_BYTES, SECRET_BYTES, KeyEntropy, KeyRecord
from assent.kernel.canonical import DIGEST_PREFIX
from assent.kernel.distribution import LAUNCH
from assent.kernel.ids import KeyId
from assent.kernel.images import MAX_IMAGE_BYTES, BadImage, clean_image
from assent.kernel.limits import MAX_NAME_CHARS
from assent.ports import Transaction
from assent.serving.web.people.people import NAME_ADVICE, is_name
from assent.serving.web.shell import clients
from assent.serving.web.shell.console import LOOK, LOOK_AND_SEND, SEND, Screen, Visit
from assent.serving.web.shell.forms import read_upload
from assent.serving.web.shell.picture_files import PICTURE_HEADERS
from assent.serving.web.shell.problems import NOT_FOUND, Link, PageProblem, PageRefused

DRAFTS_ONLY: Final = ("runs:write",)
"""Scopes of a key that prepares and reads, and cannot decide or send."""
SCOPE_WORDS: Final = {
    "runs:write": "prepare drafts",
    "actions:decide": "pass on your yes",
    "actions:execute": "send what is approved",
    tenancy.POLICY_SCOPE: "change the policy",
}


async def keys(visit: Visit) -> Response:
    """The agents: list, create and revoke their keys, and stop one of them."""
    issued = ""
    if visit.request.method == "POST":
        form = await visit.form(visit.here("keys"))
        by = visit.person.label
        workspace = ("Workspace", visit.place.name)
        if "revoke" in form:
            key_id, known = (
                KeyId(form["revoke"]),
                await visit.read(lambda: tenancy.list_keys(visit.workspace_id)),
            )
            if not any(
                each.key_id == key_id and each.can_be_ended_by(visit.person.person_id) for each in known
            ):
                visit.require_owner()
            text = "Calls with this key are refused from then on."
            await visit.confirm(
                form,
                "Revoke this key?",
                text,
                "Revoke it",
                (
                    workspace,
                    ("Agent", next((each.label for each in known if each.key_id == key_id), "unknown")),
                ),
                danger=True,
            )
            await visit.write(lambda: tenancy.revoke_key(visit.workspace_id, key_id, visit.now_ms, by=by))
            return visit.go("/settings/keys")
        visit.require_owner()
        label = " ".join(form.get("label", "").split())
        label = label if is_name(label) else "console"
        drafts = form.get("rights") == "drafts"
        scopes = DRAFTS_ONLY if drafts else tenancy.SCOPES
        text = "The key is shown once. An agent that has it works in this workspace."
        facts = (workspace, ("For", label), ("It may", ", ".join(SCOPE_WORDS[each] for each in scopes)))
        await visit.confirm(form, "Create a key?", text, "Create the key", facts)
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

    def look() -> Transaction[tuple[list[KeyRecord], dict[str, int]]]:
        found = yield from tenancy.list_keys(visit.workspace_id)
        return found, (yield from callers.list_seen(visit.workspace_id))

    found, seen = await visit.read(look)
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
            *clients.stdio_snippets(visit.services, issued),
        )
        if issued
        else (),
        "stopped": {each.agent for each in visit.frozen},
        "local": visit.when(seen.get("local")),
        "nonce": visit.nonce(visit.here("keys")),
    }
    return visit.page("settings_keys.html", values)


# `/settings/workspace`: the name, the logo and the colour of a workspace (B20).
#
# A logo is uploaded first and shown; the form that puts it into use is confirmed like every change with
# lasting effect. The upload alone changes nothing that anyone else can see.

MAX_UPLOAD_BYTES: Final = MAX_IMAGE_BYTES + 4_096
"""The picture with the rest of its form."""

TOO_LARGE: Final = PageProblem(
    413,
    "This picture is too large",
    f"A logo has at most {MAX_IMAGE_BYTES // 1024} KB. Nothing was changed.",
    "Save it smaller, and choose that file.",
    Link("/settings/workspace", "Back to the workspace"),
)
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


async def show_brand(visit: Visit) -> Response:
    """Show the brand, or change it."""
    before = await visit.read(lambda: brands.find(visit.workspace_id))
    advice: dict[str, str] = {}
    drafted = visit.query("logo") if _DIGEST.fullmatch(visit.query("logo")) else ""
    wanted = msgspec.structs.replace(before, logo_digest=DIGEST_PREFIX + drafted) if drafted else before
    if visit.request.method == "POST":
        visit.require_owner()
        form = await visit.form(visit.here("brand"))
        wanted = _read(form, before)
        advice = await _advise(visit, wanted)
        if not advice:
            await visit.confirm(
                form,
                "Change how the workspace looks?",
                "Everyone sees this on public posts, and people see the name in mails.",
                "Change it",
                _describe(before, wanted),
            )
            await visit.write(lambda: brands.save(wanted, visit.now_ms, by=visit.person.label))
            return visit.go("/settings/workspace?did=saved")
    return _page(visit, before, wanted, advice)


def _page(visit: Visit, before: WorkspaceBrand, wanted: WorkspaceBrand, advice: dict[str, str]) -> Response:
    values: dict[str, Any] = {
        "section": "workspace",
        "brand": wanted,
        "logo": wanted.logo_name,
        "is_new_logo": wanted.logo_digest != before.logo_digest and bool(wanted.logo_digest),
        "advice": advice,
        "saved": visit.query("did") == "saved" and not advice,
        "nonce": visit.nonce(visit.here("brand")),
        "logo_kb": MAX_IMAGE_BYTES // 1024,
        "max_name_chars": MAX_NAME_CHARS,
        "feed": f"/feed/{visit.workspace_id}/" if LAUNCH in visit.services.extensions() else None,
    }
    return visit.page("settings_workspace.html", values, status=400 if advice else 200)


def _read(form: dict[str, str], before: WorkspaceBrand) -> WorkspaceBrand:
    digest = form.get("logo", "")
    return WorkspaceBrand(
        before.workspace_id,
        " ".join(form.get("name", before.name).split()),
        form.get("accent", "").lower() if form.get("painted") == "on" else "",
        DIGEST_PREFIX + digest if _DIGEST.fullmatch(digest) else "",
    )


async def _advise(visit: Visit, wanted: WorkspaceBrand) -> dict[str, str]:
    advice = {}
    if not is_name(wanted.name):
        advice["name"] = NAME_ADVICE
    if wanted.accent and not brands.is_accent(wanted.accent):
        advice["accent"] = "Choose a colour."

    def look() -> Transaction[bool]:
        return (yield from brands.find_logo(visit.workspace_id, wanted.logo_digest)) is not None

    if wanted.logo_digest and not await visit.read(look):
        advice["picture"] = "This logo is not here any more. Upload it again."
    return advice


def _describe(before: WorkspaceBrand, wanted: WorkspaceBrand) -> tuple[tuple[str, str], ...]:
    logo = "none"
    if wanted.logo_digest:
        logo = "a new one" if wanted.logo_digest != before.logo_digest else "as it is"
    return ("Name", wanted.name), ("Colour", wanted.accent or "the usual one"), ("Logo", logo)


async def upload(visit: Visit) -> Response:
    """Store a logo that is not in use yet, and show it."""
    visit.require_owner()
    sent = await read_upload(visit.request, MAX_UPLOAD_BYTES, TOO_LARGE)
    about = f"{visit.session.session_id} {visit.here('brand')}"
    visit.nonces.check(visit.request, sent.fields.get("nonce", ""), about, visit.now_ms)
    try:
        image = await run_apart(clean_image, sent.files.get("picture", b""))
    except BadImage as bad:
        before = await visit.read(lambda: brands.find(visit.workspace_id))
        return _page(visit, before, before, {"picture": str(bad)})
    digest = await visit.write(lambda: brands.upload_logo(visit.workspace_id, image))
    return visit.go(f"/settings/workspace?logo={digest.removeprefix(DIGEST_PREFIX)}")


async def show_logo(visit: Visit) -> Response:
    """A logo of this workspace, in use or not."""
    digest = DIGEST_PREFIX + visit.part("digest")
    logo = await visit.read(lambda: brands.find_logo(visit.workspace_id, digest))
    if logo is None:
        raise PageRefused(NOT_FOUND)
    return Response(logo.content, media_type=logo.media_type, headers=PICTURE_HEADERS)


SCREENS: Final = (
    Screen("/settings/keys", keys, "agents", LOOK_AND_SEND),
    Screen("/settings/workspace", show_brand, "settings", LOOK_AND_SEND),
    Screen("/settings/workspace/logo", upload, "settings", SEND),
    Screen("/settings/workspace/logo/{digest}", show_logo, "settings", LOOK),
)
