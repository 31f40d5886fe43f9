"""A fresh process whose suite has two channels more: posts to them through the tools, and prints the answers as
JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from tests.support.surfaces import ManualClock, Surface, settings_for

from assent.app import App

BODY = "Ledgerleaf imports bank statements."


async def main(data_dir: Path) -> dict[str, Any]:
    app = App(settings_for(f"sqlite:///{data_dir}/assent.db", data_dir), clock=ManualClock())
    await app.prepare()
    surface = Surface(app)
    await surface.sign_in()
    answers: dict[str, Any] = {}

    async def ask(name: str, tool: str, **arguments: Any) -> dict[str, Any]:
        answers[name] = (await surface.call(tool, arguments)).payload
        found: dict[str, Any] = answers[name]
        return found

    posted = await ask("posted", "chieflab_post", channel="Fediverse", body=BODY)
    action_id = posted["actions"][0]["id"]
    await ask("long", "chieflab_post", channel="mastodon", body="a" * 501)
    await ask("edited", "chieflab_edit_action", actionId=action_id, body="b" * 501)
    await ask("by_hand", "chieflab_use_manual_fallback", actionId=action_id)
    posted = await ask("paged", "chieflab_post", channel="pager", body=BODY)
    action_id = posted["actions"][0]["id"]
    answers["page"] = (await surface.http.get(posted["reviewUrl"], follow_redirects=True)).text
    await ask("approved", "chieflab_approve_action", actionId=action_id)
    await ask("executed", "chieflab_execute_approved_action", actionId=action_id)
    await ask("connectors", "chieflab_list_connectors")
    answers["tools"] = (await surface.rpc("tools/list"))["result"]["tools"]
    await surface.close()
    return answers


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(Path(sys.argv[1])))))
