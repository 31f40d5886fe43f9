"""The agent is the writer: it is asked for its text, told what helps to write it, and may replace what was composed."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec
import pytest
from tests.support.answers import calls_of, draft_of, text_of
from tests.support.operators.fixtures import CLUB, LaunchClient

from assent_launch.channels.channel import Channel
from assent_launch.content.note import announces
from assent_launch.content.records import MODEL, ProductFacts, Written
from assent_launch.process import find_suite

POST, SEND, LAUNCH, EDIT = (
    "chieflab_post",
    "chieflab_send",
    "chieflab_launch_product",
    "chieflab_edit_action",
)
FACTS: dict[str, Any] = {"brand": CLUB["brand"], "repoContext": CLUB["repoContext"]}


@pytest.mark.parametrize(
    ("goal", "served"),
    [
        ("hiring post for a senior Go engineer", False),
        ("thank them for the meeting", False),
        ("thank our first users", False),
        ("apologise for the outage", False),
        ("invite customers to the launch event", False),
        ("ask what people think about the new import", False),
        ("Stellenanzeige für eine Entwicklerin", False),
        ("bedanke dich bei den ersten Nutzern", False),
        ("say something nice", False),
        ("photos of the new office", False),
        ("celebrate 1000 stars", False),
        ("launch event on 3 May", False),
        ("announce that we are hiring engineers", False),
        ("hire someone for our event app", False),
        ("announce our webinar next week", False),
        ("remind users to upgrade", False),
        ("users who answer our survey", False),
        ("launch our event app", True),
        ("launch the new invoices feature", True),
        ("release of a job scheduler", True),
        ("Launch Tern, a price tracker", True),
        ("first users for our survey tool", True),
        ("first users for the import", True),
        ("announce the new import", True),
        ("Launch Assent", True),
        ("release notes for v2.1", True),
        ("die neue Version ankündigen", True),
    ],
)
def test_only_an_announcement_is_a_goal_for_the_composer(goal: str, served: bool) -> None:
    assert announces(goal) is served


def test_the_name_of_the_product_says_nothing_about_the_goal() -> None:
    assert announces("Launch Interview Buddy", "Interview Buddy")
    assert not announces("Thank the users of Interview Buddy", "Interview Buddy")


async def test_a_launch_for_another_goal_is_left_to_the_writer_with_what_is_known(
    client: LaunchClient,
) -> None:
    asked = {"goal": "hire a Go engineer", "channels": ["linkedin", "x"], **FACTS}
    outcome = await client.call(LAUNCH, asked)
    refused = outcome.payload

    assert (outcome.reason, refused["retry"]) == ("validation_error", "changed")
    assert [problem["path"] for problem in refused["problems"]] == ["drafts"]
    unknown = (await client.call(LAUNCH, {**asked, "channels": ["x", "discord"]})).payload
    assert [problem["path"] for problem in unknown["problems"]] == ["channels.1"]
    assert "drafts" in refused["fixActionForAgent"]
    tool = refused["recoveryTool"]
    assert (tool["name"], tool["args"]["channels"]) == (LAUNCH, ["linkedin", "x"])
    assert "3,000 characters" in tool["needs"]["drafts"] and "280" in tool["needs"]["drafts"]
    assert refused["writing"]["goal"] == asked["goal"] and refused["writing"]["facts"]
    drafts = {"linkedin": "We look for a Go engineer in Graz.", "x": "We look for a Go engineer."}
    assert (await client.call(LAUNCH, {**asked, "drafts": drafts})).payload["ok"] is True


async def test_a_launch_for_another_goal_gets_no_product_note_beside_the_drafts(client: LaunchClient) -> None:
    drafts = {"linkedin": "We look for a Go engineer in Graz."}
    asked = {"goal": "hire a Go engineer", "channels": ["linkedin", "x"], "drafts": drafts, **FACTS}
    run = (await client.call(LAUNCH, asked)).payload

    assert len(run["actions"]) == 1
    assert [note["channel"] for note in run["launchPack"]["draftsNeeded"]] == ["x"]
    assert "1 of 2 drafts are there: X still needs a text." in text_of(run)
    assert run["images"] == []


@pytest.mark.parametrize("goal", ["1,000 clubs by summer", "help teams plan their meetings"])
async def test_a_launch_with_a_goal_of_its_own_words_is_composed(client: LaunchClient, goal: str) -> None:
    run = (await client.call(LAUNCH, {"goal": goal, **FACTS})).payload

    assert {asset["type"] for asset in run["assets"]} >= {"site", "linkedin"}


async def test_a_post_for_another_goal_is_left_to_the_writer_with_what_is_known(client: LaunchClient) -> None:
    asked = {"channel": "linkedin", "goal": "hiring post for a senior Go engineer", **FACTS}
    outcome = await client.call(POST, asked)
    refused = outcome.payload

    assert (outcome.reason, refused["retry"]) == ("validation_error", "changed")
    assert [problem["path"] for problem in refused["problems"]] == ["body"]
    tool = refused["recoveryTool"]
    assert (tool["name"], tool["args"]["goal"]) == (POST, asked["goal"])
    assert "3,000 characters" in tool["needs"]["body"]
    writing = refused["writing"]
    assert writing["goal"] == asked["goal"] and writing["voice"] == ["plain"]
    assert {"text": CLUB["repoContext"]["whatChanged"], "source": "whatChanged"} in writing["facts"]


@pytest.mark.parametrize(
    "given",
    [
        {"to": "ana@example.org"},
        {"to": "ana@example.org", "goal": "thank her for the meeting"},
        {
            "to": "ana@example.org",
            "goal": "thank her for the meeting",
            "repoContext": {"readme": "# Ledgerleaf\n\nBookkeeping for clubs."},
        },
    ],
)
async def test_a_mail_without_a_text_is_left_to_the_writer(
    client: LaunchClient, given: dict[str, Any]
) -> None:
    outcome = await client.call(SEND, given)
    tool = outcome.payload["recoveryTool"]

    assert outcome.reason == "validation_error"
    assert (tool["name"], tool["args"]) == (SEND, given)
    assert set(tool["needs"]) == {"body", "subject"}
    sent = {**tool["args"], "body": "Dear Ana,\n\nthank you for today.", "subject": "Thank you"}
    assert (await client.call(SEND, sent)).payload["ok"] is True


async def test_a_long_argument_is_not_repeated_in_the_refusal(client: LaunchClient) -> None:
    context = {"readme": "# Ledgerleaf\n\n" + "Bookkeeping for clubs. " * 200}
    asked = {"channel": "linkedin", "goal": "hiring post", "repoContext": context}
    refused = (await client.call(POST, asked)).payload

    assert refused["recoveryTool"]["args"] == {"channel": "linkedin", "goal": "hiring post"}
    assert len(msgspec.json.encode(refused)) < 3_500


async def test_an_announcement_without_facts_asks_for_them_or_for_the_text(client: LaunchClient) -> None:
    launch = await client.call(LAUNCH, {"goal": "announce it"})
    post = await client.call(POST, {"channel": "linkedin", "goal": "announce it"})

    assert launch.reason == post.reason == "missing_repo_context"
    assert "drafts" in launch.payload["fixActionForAgent"]
    assert "body" in post.payload["fixActionForAgent"]


async def test_a_launch_of_which_nothing_can_be_said_asks_for_facts(client: LaunchClient) -> None:
    context = {"recentCommits": "refactor the store\nmove files around"}
    outcome = await client.call(LAUNCH, {"goal": "first users", "repoContext": context})

    assert outcome.reason == "missing_repo_context"
    assert (await client.call("chieflab_list_runs", {})).payload["runs"] == []


async def test_a_composed_text_comes_with_what_helps_to_write_a_better_one(client: LaunchClient) -> None:
    run = (await client.call(LAUNCH, {"channels": ["linkedin", "site"], **CLUB})).payload
    offered = [call for call in calls_of(run) if call["name"] == EDIT and call["args"]]

    assert [call["args"]["actionId"] for call in offered] == [action["id"] for action in run["actions"]]
    assert "3,000 characters" in offered[0]["needs"]["body"]
    assert run["writing"]["goal"] == CLUB["goal"]
    assert len(msgspec.json.encode(run["writing"])) <= 1_500
    assert "plain note" in run["agentGuide"]["userMessage"]
    better = "Treasurers, you get your Sundays back."
    edited = (await client.call(EDIT, {**offered[0]["args"], "body": better})).payload
    assert edited["ok"] is True and better in text_of(edited)


async def test_a_channel_without_a_draft_is_named_with_the_call_that_brings_one(client: LaunchClient) -> None:
    asked = {"channels": ["site", "hn"], "drafts": {"site": "We taught it to read."}, "goal": "announce it"}
    run = (await client.call(LAUNCH, asked)).payload
    (offered,) = [call for call in calls_of(run) if call["name"] == POST]

    for said in (text_of(run), run["agentGuide"]["userMessage"]):
        assert "1 of 2 drafts are there: Hacker News" in said
    assert offered["args"] == {"channel": "hn", "runId": run["runId"]}
    assert "80" in offered["needs"]["body"] and "title" in offered["needs"]
    assert run["writing"]["goal"] == "announce it"
    brought = {**offered["args"], "title": "Show HN: Tern", "body": "Tern turns files into tables."}
    assert (await client.call(POST, brought)).payload["ok"] is True


@pytest.mark.rule("E101")
async def test_a_launch_pack_has_every_part_of_the_contract(client: LaunchClient) -> None:
    run = (await client.call(LAUNCH, CLUB)).payload
    pack = run["launchPack"]

    assert pack["positioning"]
    assert {asset["type"] for asset in run["assets"]} >= {"site", "linkedin", "x", "email", "landing"}
    assert pack["measurement"]["afterHours"] > 0
    assert "**Landing page: for your own page, not staged**" in text_of(run)
    assert "24 hours after it goes out" in text_of(run)
    assert len(run["images"]) == 1
    assert "Positioning" not in text_of(run) and "Picture" not in text_of(run)


async def test_what_is_handed_on_is_whole_sentences_and_bounded(client: LaunchClient) -> None:
    long = "This sentence goes on and on " + "and on " * 60 + "until it ends."
    changed = [f"Change number {number} makes the import better for everybody." for number in range(30)]
    context = {"whatChanged": [long, *changed], "readme": "# Ledgerleaf\n\n" + "Bookkeeping for clubs. " * 90}
    run = (await client.call(POST, {"channel": "site", "repoContext": context})).payload
    facts = run["writing"]["facts"]

    assert 0 < len(facts) <= 10
    assert all(fact["text"].endswith(".") and long not in fact["text"] for fact in facts)
    assert len(msgspec.json.encode(run["writing"])) <= 1_600


async def test_what_a_person_asked_for_is_told_to_the_writer(client: LaunchClient) -> None:
    first = (
        await client.call(POST, {"channel": "linkedin", "body": "Tern v2 is out 🎉 It is quick."})
    ).payload
    why = {"actionId": first["actions"][0]["id"], "reason": "No emoji, please."}
    await client.call("chieflab_reject_action", why)
    refused = (await client.call(POST, {"channel": "linkedin", "goal": "hiring post"})).payload

    assert "No emoji." in refused["writing"]["lessons"]


async def test_a_configured_model_writes_where_the_agent_brought_nothing(client: LaunchClient) -> None:
    asked: list[tuple[str, str]] = []

    async def model(facts: ProductFacts, channel: Channel, goal: str) -> Written | None:
        assert facts.evidence.first("whatChanged")
        asked.append((channel.id, goal))
        return Written(body="Written by the model.", title="From the model", source=MODEL)

    suite = find_suite(client.app.owner_services)
    suite.drafting = dataclasses.replace(suite.drafting, write=model)

    run = (await client.call("chieflab_post", {"channel": "site", **CLUB})).payload
    await client.call("chieflab_post", {"channel": "site", "body": "The agent's own words."})

    assert draft_of(run, "site").endswith("Written by the model.")
    assert asked == [("site", CLUB["goal"])]


async def test_a_risky_claim_is_logged_once_and_said_on_the_action(client: LaunchClient) -> None:
    risky = {"channel": "site", "body": "Ledgerleaf is the best bookkeeping in the world, guaranteed."}

    first = (await client.call("chieflab_post", risky)).payload
    await client.call("chieflab_post", risky)

    assert first["actions"][0]["preflight"]["warnings"]
    logged = (await client.call("chieflab_brain_read", {"kind": "claim_risk"})).payload["entries"]
    assert len(logged) == 1


async def test_an_image_that_is_none_cannot_be_picked(client: LaunchClient) -> None:
    run = (await client.call("chieflab_post", {"channel": "site", **CLUB})).payload

    outcome = await client.call(
        "chieflab_edit_action",
        {"actionId": run["actions"][0]["id"], "imageAssetId": run["assets"][0]["id"]},
    )

    assert outcome.reason == "validation_error"
    assert outcome.payload["problems"][0]["path"] == "imageAssetId"
