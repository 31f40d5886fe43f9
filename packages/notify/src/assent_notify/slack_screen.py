"""The screen where a person sets Slack up: the manifest of the app, and the code that links an account with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from starlette.responses import Response

from assent.sdk import (
    LOOK_AND_SEND,
    SEND,
    NavigationEntry,
    Screen,
    Visit,
    end_chat_link,
    list_chat_apps,
    list_chat_links,
    make_chat_code,
)
from assent_notify.slack import COMMAND, KIND, PATH

HERE: Final = "/settings/slack"
TEMPLATES: Final = Path(__file__).with_name("templates")
SCOPES: Final = ("chat:write", "commands", "channels:history", "groups:history")


def write_manifest(url: str) -> dict[str, Any]:
    """Return the manifest that a person pastes into Slack."""
    return {
        "display_information": {"name": "Assent", "description": "Decide what your agents may do."},
        "features": {
            "bot_user": {"display_name": "Assent", "always_online": True},
            "slash_commands": [
                {"command": COMMAND, "url": url, "description": "Link your account", "usage_hint": "CODE"}
            ],
        },
        "oauth_config": {"scopes": {"bot": list(SCOPES)}},
        "settings": {
            "interactivity": {"is_enabled": True, "request_url": url},
            "org_deploy_enabled": False,
            "socket_mode_enabled": False,
            "token_rotation_enabled": False,
        },
    }


async def show(visit: Visit) -> Response:
    """Show the manifest and one's own links; with a POST, a new code."""
    services, code = visit.services, ""
    if visit.request.method == "POST":
        visit.require_confirmed()
        form = await visit.form(visit.here("slack"))
        text = "Whoever types the code in Slack within ten minutes decides as you there."
        await visit.confirm(form, "Link a Slack account with you?", text, "Show the code")
        code = make_chat_code(services, visit.person.person_id)
    url = services.links.base_url + PATH.format(workspace_id=visit.workspace_id)
    person_id, workspace_id = visit.person.person_id, visit.workspace_id
    values = {
        "section": "slack",
        "manifest": json.dumps(write_manifest(url), indent=2),
        "installed": len(await visit.read(lambda: list_chat_apps(services, workspace_id, KIND))),
        "links": [
            (each, visit.when(each.linked_ms))
            for each in await visit.read(lambda: list_chat_links(person_id))
        ],
        "typed": f"{COMMAND} {code}" if code else "",
        "nonce": visit.nonce(visit.here("slack")),
    }
    return visit.page("slack.html", values, scripts=False)


async def unlink(visit: Visit) -> Response:
    """End one of the person's own links."""
    visit.require_confirmed()
    form = await visit.form(visit.here("slack"))
    person_id, target_id, account = visit.person.person_id, form.get("target", ""), form.get("account", "")
    await visit.write(lambda: end_chat_link(person_id, target_id, account, visit.now_ms))
    return visit.go(HERE)


SCREENS: Final = (
    Screen(
        HERE,
        show,
        "slack",
        LOOK_AND_SEND,
        entry=NavigationEntry("slack", HERE, "Slack", "comment", "Settings"),
        templates=TEMPLATES,
    ),
    Screen(HERE + "/unlink", unlink, "slack", SEND, templates=TEMPLATES),
)
