"""A problem is named by its path in the arguments as they were sent."""

from __future__ import annotations

from typing import Any

import pytest
from tests.suite.operators.conftest import Loop

BODY = "Bookkeeping for clubs, in one file."
HIDDEN = "Dear {{first_name}}, bookkeeping for clubs in one file."
LONG = "a" * 280
"""No subject of a mail."""
MAIL = {"to": ["ada@example.org"]}


@pytest.mark.parametrize(
    ("tool", "arguments", "path"),
    [
        ("chieflab_send", {**MAIL, "subject": LONG, "body": BODY}, "subject"),
        ("chieflab_send", {**MAIL, "subject": "Hello", "body": HIDDEN}, "body"),
        ("chieflab_post", {"channel": "linkedin", "body": HIDDEN}, "body"),
        ("chieflab_post", {"channel": "hn", "title": "Show HN: " + "a" * 100, "body": BODY}, "title"),
        ("chieflab_launch_product", {"drafts": {"linkedin": HIDDEN}}, "drafts.linkedin"),
        (
            "chieflab_launch_product",
            {"drafts": {"email": BODY}, "email": {**MAIL, "subject": LONG}},
            "email.subject",
        ),
    ],
)
async def test_what_is_wrong_with_a_text_is_found_where_it_was_sent(
    loop: Loop, tool: str, arguments: dict[str, Any], path: str
) -> None:
    refused = await loop.call(tool, arguments)

    assert (refused.reason, refused.payload["retry"]) == ("validation_error", "changed")
    assert [problem["path"] for problem in refused.payload["problems"]] == [path]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"body": HIDDEN}, "body"),
        ({"title": "Show HN: " + "a" * 100}, "title"),
        ({"body": BODY + " Now faster.", "title": "Show HN: " + "a" * 100}, "title"),
    ],
)
async def test_what_is_wrong_with_an_edit_is_found_where_it_was_sent(
    loop: Loop, changes: dict[str, str], path: str
) -> None:
    staged = await loop.call("chieflab_post", {"channel": "hn", "title": "Show HN: Clubs", "body": BODY})
    action_id = staged.payload["actions"][0]["id"]

    refused = await loop.call("chieflab_edit_action", {"actionId": action_id, **changes})

    assert (refused.reason, refused.payload["retry"]) == ("validation_error", "changed")
    assert [problem["path"] for problem in refused.payload["problems"]] == [path]
