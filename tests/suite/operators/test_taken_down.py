"""After a page was taken down, no answer says that it is out."""

from __future__ import annotations

from typing import Any

from tests.suite.operators.conftest import Loop

TAKE_DOWN = "chieflab_take_down_post"
APPROVE = "chieflab_approve_action"
EXECUTE = "chieflab_execute_approved_action"
TEXT = "Ledgerleaf reads bank statements now, so that treasurers have their Sundays back."


async def published(loop: Loop) -> tuple[str, dict[str, Any]]:
    run = (await loop.call("chieflab_post", {"channel": "site", "body": TEXT})).payload
    action_id: str = run["actions"][0]["id"]
    return action_id, await loop.approve_and_send(action_id)


async def stage(loop: Loop, action_id: str) -> dict[str, Any]:
    return (await loop.call(TAKE_DOWN, {"actionId": action_id})).payload


async def test_a_page_that_was_taken_down_is_told_as_taken_down_everywhere(loop: Loop) -> None:
    action_id, done = await published(loop)
    loop.clock.advance(hours=26)
    await loop.due()
    removal = (await stage(loop, action_id))["actions"][0]["id"]
    await loop.approve_and_send(removal)
    told = {
        name: (await loop.call(name, arguments)).payload
        for name, arguments in (
            ("chieflab_get_action", {"actionId": action_id}),
            ("chieflab_status", {}),
            ("chieflab_report", {}),
            ("chieflab_measure", {"runId": done["runId"]}),
        )
    }

    for name, answer in told.items():
        assert "taken down" in answer["show"].lower(), name
        assert "Went out" not in answer["show"] and done["externalUrl"] not in answer["show"], name
    assert TAKE_DOWN not in str(told["chieflab_get_action"]["next"])
    status, report = told["chieflab_status"], told["chieflab_report"]
    assert (status["counts"]["wentOut"], status["wentOut"], len(status["takenDown"])) == (0, [], 2)
    assert (report["counts"].get("wentOut"), report["counts"]["takenDown"]) == (None, 1)
    assert "Sent " not in report["show"]
    assert (
        "taken down" in (await loop.call("chieflab_get_action", {"actionId": removal})).payload["userMessage"]
    )


async def test_a_page_is_taken_down_once(loop: Loop) -> None:
    action_id, _ = await published(loop)
    first, second = await stage(loop, action_id), await stage(loop, action_id)
    await loop.approve_and_send(first["actions"][0]["id"])
    about = {"actionId": second["actions"][0]["id"]}
    await loop.call(APPROVE, about)

    assert (await loop.call(EXECUTE, about)).reason == "connector_failed"


async def test_a_take_down_asks_for_yes_or_no_and_for_no_change(loop: Loop) -> None:
    action_id, _ = await published(loop)
    staged = await stage(loop, action_id)

    assert "change" not in staged["show"] and "change" not in staged["agentGuide"]["userMessage"]
