"""Texts for people name the place and the reason in plain words; a provider's own words are for the agent."""

from __future__ import annotations

from typing import Any

import pytest
from tests.suite.operators.conftest import Loop
from tests.suite.operators.test_cards import APPROVE, post

from assent.engine.actions import policies
from assent.gate.preflight import Readiness
from assent.net.http_outcomes import failure


@pytest.mark.parametrize("status", [422, 429])
async def test_what_a_provider_refused_is_told_without_its_status_or_its_id(loop: Loop, status: int) -> None:
    async def refuse(ctx: Any, effect: Any) -> Any:
        raise failure(status, "the text is a duplicate")

    loop.zernio.perform = refuse  # type: ignore[method-assign]
    run = await post(loop, "linkedin")
    about = {"actionId": run["actions"][0]["id"]}
    answer = (await loop.call(APPROVE, {**about, "send": True})).payload
    later = (await loop.call("chieflab_get_action", about)).payload

    for said in (answer["userMessage"], answer["show"], later["userMessage"]):
        assert "HTTP" not in said and "zernio" not in said
    assert "It was not sent: Nothing was sent" not in answer["userMessage"]
    assert "LinkedIn" in answer["userMessage"]
    assert later["result"]["detail"] == f"HTTP {status}: the text is a duplicate"


async def test_a_call_of_nothing_that_exists_is_explained_to_the_person_without_its_name(loop: Loop) -> None:
    told = (await loop.call("chieflab_refund_order", {})).payload

    assert "tool" not in told["summaryForUser"] and "chieflab_" not in told["summaryForUser"]
    assert "chieflab_refund_order" in told["fixActionForAgent"]


async def test_a_diagnosis_names_connectors_by_their_labels(loop: Loop) -> None:
    loop.zernio.ready = Readiness(False, "missing_connector", "Zernio is not connected.")
    await post(loop, "linkedin")
    found = (await loop.call("chieflab_diagnose_marketing", {})).payload["diagnosis"]
    said = [each["problem"] for each in found["findings"]] + [each["what"] for each in found["missingData"]]

    assert any("Zernio is not connected" in each for each in said)
    assert not [each for each in said if each.startswith(("zernio", "ga4", "search_console"))]
    assert not [each for each in said if "because zernio" in each]


async def test_a_post_that_joins_an_unknown_run_is_told_about_the_run(loop: Loop) -> None:
    told = await post(loop, runId="01a0c450-6c00-7072-a1da-357552ccc206")

    assert told["reason"] == "wrong_workspace" and "no run with that id" in told["userMessage"]


async def test_under_a_strict_policy_an_edit_and_the_way_by_hand_say_who_decides(loop: Loop) -> None:
    workspace_id = loop.workspace_id
    assert workspace_id is not None
    await loop.app.store.write(lambda: policies.choose(workspace_id, "people", 1, by="test"))
    about = {"actionId": (await post(loop, "linkedin"))["actions"][0]["id"]}
    edited = (await loop.call("chieflab_edit_action", {**about, "body": "Another text of ours."})).payload
    by_hand = (await loop.call("chieflab_use_manual_fallback", about)).payload

    assert "waits for your approval" not in edited["userMessage"] and "sign" in edited["userMessage"]
    assert "Say yes" not in by_hand["userMessage"] and "sign" in by_hand["userMessage"]


async def test_a_page_that_is_not_ours_is_shown_with_the_word_that_nothing_was_published(loop: Loop) -> None:
    run = await post(loop, "landing")

    assert "Nothing was published" in run["show"] and "Ledgerleaf reads bank statements" in run["show"]


@pytest.mark.rule("E19")
async def test_what_is_told_about_an_account_that_is_missing_names_no_tool_and_no_setting(loop: Loop) -> None:
    run = await post(loop, "facebook")
    about = {"actionId": run["actions"][0]["id"]}
    answers = [
        (await loop.call(tool, arguments)).payload
        for tool, arguments in (
            ("chieflab_connect_provider", {"connector": "ga4"}),
            ("chieflab_connect_provider", {"connector": "facebook"}),
            ("chieflab_retry_blocked_action", about),
            (APPROVE, about),
            ("chieflab_publish_approved_post", about),
            ("chieflab_measure", {"runId": run["runId"]}),
        )
    ]

    for answer in (run, *answers):
        said = f"{answer.get('userMessage', '')} {answer.get('summaryForUser', '')} {answer.get('show', '')}"
        assert "chieflab_" not in said and "ASSENT_" not in said
