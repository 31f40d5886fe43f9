"""What a refusal names as the way out can be called as it is given, or with what it says to ask the person for."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.contract.talk import request, say
from tests.support.surfaces import Surface

from assent.kernel.reasons import MEANINGS, Reason
from assent.kernel.refusals import Refusal

TOLD = {"email": "ada@example.org", "provider": "resend"}
"""What a person answers when they are asked."""
RECOVERABLE = [reason for reason, meaning in MEANINGS.items() if meaning.recovery_tool is not None]


@pytest.mark.parametrize("reason", RECOVERABLE, ids=str)
async def test_every_recovery_tool_can_be_called_with_what_its_refusal_says(
    surface: Surface, reason: Reason
) -> None:
    way = Refusal(reason).recovery().recovery_tool
    assert way is not None
    if reason is not Reason.MISSING_API_KEY:
        await surface.sign_in()

    outcome = await surface.call(way.name, {**way.args, **{name: TOLD[name] for name in way.needs}})

    assert not outcome.is_error, outcome.payload
    assert all(way.needs.values())


async def test_without_a_key_the_way_out_works_as_the_refusal_gives_it(surface: Surface) -> None:
    if surface.transport == "stdio":
        return  # the user of the process needs no key (C32)
    refused = await surface.call("chieflab_get_workspace")
    way = refused.payload["recoveryTool"]

    assert (refused.reason, refused.payload["retry"]) == ("missing_api_key", "after_recovery")
    answer = await surface.call(way["name"], {**way["args"], **{name: TOLD[name] for name in way["needs"]}})
    assert answer.payload["deliveryUrl"]


@pytest.mark.parametrize(
    ("called", "meant"),
    [
        ("chieflab_refund_order", None),
        ("refund_order", None),
        ("chieflab_delete_page", None),
        ("send_refund", None),
        ("launch_product", "chieflab_launch_product"),
        ("chieflab_lunch_product", "chieflab_launch_product"),
        ("chieflab_get_actions", "chieflab_get_action"),
    ],
)
async def test_an_unknown_tool_is_answered_with_a_close_spelling_or_with_what_the_server_does(
    web: Surface, called: str, meant: str | None
) -> None:
    await web.sign_in()
    refused = await web.call(called)
    names = {tool["name"] for tool in (await say(web, request("tools/list"))).result["tools"]}
    fix: str = refused.payload["fixActionForAgent"]

    assert (refused.reason, refused.payload["retry"]) == ("unknown_tool", "changed")
    assert {name for name in names if f"{name}?" in fix} == ({meant} if meant is not None else set[Any]())
    assert "such as a refund, needs an operator" in refused.payload["userMessage"]
