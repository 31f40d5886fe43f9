"""How much an agent has to read: the bytes of `content[0].text` of a launch and of a one-line post."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import pytest
from tests.support.surfaces import Surface

LAUNCH_BYTES: Final = 12_000
"""Of a launch on four channels, beside its texts."""
POST_BYTES: Final = 3_000

LINE: Final = "Tern v2 is out."
TEXTS: Final = {
    "linkedin": "Tern v2 is out. A refresh imports only the rows that changed since the last one, so that a large "
    "table is current again in seconds instead of minutes. One command does it, and nothing has to be configured. If "
    "you keep spreadsheets and a database in step, we would like to hear how it works for you.",
    "site": "# Tern v2\n\nTern keeps a database in step with the files that people edit. Version 2 refreshes only what "
    "changed. A table that took minutes is current in seconds, and an interrupted refresh goes on where it stopped.",
    "email": "Hello,\n\nTern v2 is here. A refresh imports only the rows that changed and is done in seconds. Update "
    "with the usual command; your settings stay as they are.\n\nThe Tern team",
    "hn": "Tern turns a folder of spreadsheets into tables that can be queried. Version 2 imports only changed rows. "
    "It hashes each block of a file and compares it with the last refresh. The code is open; comments are welcome.",
}


async def size(surface: Surface, tool: str, arguments: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    payload = (await surface.call(tool, arguments)).payload
    assert payload["ok"] is True, payload
    return len(msgspec.json.encode(payload)), payload


@pytest.mark.parametrize("channel", ["site", "linkedin", "hn"])
async def test_a_one_line_post_answers_in_three_kilobytes(surface: Surface, channel: str) -> None:
    await surface.sign_in()
    found, _ = await size(surface, "chieflab_post", {"channel": channel, "title": "Tern v2", "body": LINE})

    assert found <= POST_BYTES


async def test_a_one_line_post_with_a_warning_answers_in_three_kilobytes(surface: Surface) -> None:
    await surface.sign_in()
    risky = {"channel": "site", "title": "Tern v2", "body": "Tern is the best tool."}
    found, run = await size(surface, "chieflab_post", risky)

    assert len(run["actions"][0]["preflight"]["warnings"]) == 1
    assert found <= POST_BYTES


async def test_a_launch_answers_in_twelve_kilobytes_beside_its_texts(surface: Surface) -> None:
    await surface.sign_in()
    launch = {
        "goal": "teams that wait for imports",
        "drafts": TEXTS,
        "email": {"to": ["ana@example.org", "bo@example.org"], "subject": "Tern v2"},
        "repoContext": {
            "whatChanged": "Refresh imports only changed rows.",
            "readme": "# Tern\n\nFiles to tables.",
        },
    }
    found, run = await size(surface, "chieflab_launch_product", launch)

    assert len(run["actions"]) == 4
    assert found - sum(len(text.encode()) for text in TEXTS.values()) <= LAUNCH_BYTES
