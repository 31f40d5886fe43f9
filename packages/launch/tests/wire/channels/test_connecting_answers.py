"""What an agent and a person are told about connectors: which work, which need somebody, and what to do about it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.answers import bodies_of, calls_of, text_of
from tests.support.channels.hosted import Hosted
from tests.support.channels.kit import KEYS
from tests.support.surfaces import BASE_URL, Surface

CONNECT = "chieflab_connect_provider"
LIST = "chieflab_list_connectors"
LOOK = "chieflab_get_action"
NOT_FOR_PEOPLE = ("chieflab_", "chiefmo_", "ASSENT_", "…")


async def listed(surface: Surface) -> dict[str, dict[str, Any]]:
    payload = (await surface.call(LIST)).payload
    return {each["id"]: each for each in payload["connectors"]}


def texts(reply: dict[str, Any]) -> list[str]:
    return [text_of(reply), *bodies_of(reply).values()]


@pytest.mark.rule("E86")
async def test_the_list_tells_what_works_now_from_what_needs_somebody(hosted: Hosted) -> None:
    before = await listed(hosted)
    assert {name: each["status"] for name, each in before.items()} == {
        "site": "live",
        "manual": "live",
        "smtp": "needs_connection",
        "zernio": "needs_connection",
        "bluesky": "needs_connection",
        "slack": "needs_connection",
        "resend": "needs_connection",
        "ga4": "needs_configuration",
        "search_console": "needs_configuration",
        "hubspot": "needs_configuration",
    }
    assert before["zernio"]["connectUrl"] == f"{BASE_URL}/connect/zernio?workspace={hosted.workspace_id}"
    assert "LinkedIn" in before["zernio"]["description"]
    assert "person who runs" in before["ga4"]["says"]
    for each in before.values():
        assert not any(name in each["says"] for name in NOT_FOR_PEOPLE), each

    await hosted.connect("zernio")
    there = (await listed(hosted))["zernio"]
    assert there["status"] == "live" and "Acme on linkedin" in there["says"]
    hosted.key = (await hosted.new_workspace("other")).api_key
    assert (await listed(hosted))["zernio"]["status"] == "needs_connection"
    if hosted.transport == "http":
        hosted.key = None
        public = await listed(hosted)
        assert public["zernio"]["status"] == "needs_connection" and "connectUrl" not in public["zernio"]
        assert str(hosted.workspace_id) not in str(public)


async def test_what_the_list_says_and_what_connecting_says_agree(hosted: Hosted) -> None:
    for name, each in (await listed(hosted)).items():
        answer = await hosted.call(CONNECT, {"provider": name})
        found = answer.reason or ("live" if answer.payload["connected"] else "needs_connection")
        assert found.replace("provider_not_live", "needs_configuration") == each["status"], name
        if answer.is_error:
            for text in (answer.payload["userMessage"], answer.payload["summaryForUser"]):
                assert not any(word in text for word in NOT_FOR_PEOPLE), text
            assert "runs" in answer.payload["userMessage"] and answer.payload["retryable"] is False


async def test_connecting_shows_the_link_and_what_waits_for_it(hosted: Hosted) -> None:
    run = await hosted.tool("chieflab_post", channel="linkedin", body="Dark mode is here.")
    action_id = run["actions"][0]["id"]
    await hosted.tool("chieflab_post", channel="bluesky", body="Dark mode is here.")
    reply = await hosted.tool(CONNECT, provider="zernio")
    assert "One draft is waiting for it." in text_of(reply)  # the other one has a way of its own
    url = f"{BASE_URL}/connect/zernio?workspace={hosted.workspace_id}"
    assert (reply["connected"], reply["connectUrl"]) == (False, url)
    assert reply["agentGuide"]["renderInChat"]
    for text in texts(reply):
        assert url in text and not any(word in text for word in NOT_FOR_PEOPLE), text
    assert f"assent connect zernio --workspace {hosted.workspace_id} --key-stdin" in text_of(reply)
    assert "approve" not in reply["stopRule"] and "link" in reply["stopRule"]
    assert {"name": LOOK, "args": {"actionId": action_id}} in [
        {"name": each["name"], "args": each["args"]} for each in calls_of(reply)
    ]
    assert "…" not in str(calls_of(reply))

    await hosted.connect("zernio")
    there = await hosted.tool(CONNECT, provider="zernio")
    assert there["connected"]
    assert "is connected" in there["agentGuide"]["userMessage"] and "Acme" in text_of(there)
    assert calls_of(there)[0]["name"] == LOOK and calls_of(there)[0]["args"] == {"actionId": action_id}


async def test_a_channel_is_connected_by_its_own_name(hosted: Hosted) -> None:
    for name, provider, said in (
        ("x", "zernio", "X goes out through Zernio"),
        ("twitter", "zernio", "X goes out through Zernio"),
        ("LinkedIn", "zernio", "LinkedIn goes out through Zernio"),
        ("linkedin", "zernio", "you need an account there, in it the networks you post to, and a key"),
        ("email", "smtp", "E-mail goes out through your mail server or Resend"),
        ("bluesky", "bluesky", "Zernio"),
    ):
        reply = await hosted.tool(CONNECT, provider=name)
        assert reply["provider"] == provider
        assert said in text_of(reply), name


async def test_a_channel_is_served_by_the_provider_that_is_connected(hosted: Hosted) -> None:
    await hosted.connect("resend")
    reply = await hosted.tool(CONNECT, provider="email")
    assert (reply["provider"], reply["connected"]) == ("resend", True)


async def test_a_connection_that_ended_is_told_as_one(hosted: Hosted) -> None:
    await hosted.connect("zernio")
    run = await hosted.tool("chieflab_post", channel="linkedin", body="Dark mode is here.")
    await hosted.tool("chieflab_approve_action", actionId=run["actions"][0]["id"])
    hosted.zernio.revoked.append(KEYS["zernio"])
    await hosted.tool("chieflab_execute_approved_action", actionId=run["actions"][0]["id"])
    reply = await hosted.tool(CONNECT, provider="zernio")
    assert reply["agentGuide"]["userMessage"] == (await listed(hosted))["zernio"]["says"]


async def test_without_a_mail_server_resend_is_offered_too(hosted: Hosted) -> None:
    reply = await hosted.tool(CONNECT, provider="smtp")
    for name in ("smtp", "resend"):
        assert f"{BASE_URL}/connect/{name}?workspace={hosted.workspace_id}" in text_of(reply)
    assert "Resend" in text_of(reply)


async def test_what_is_published_by_hand_has_nothing_to_connect(hosted: Hosted) -> None:
    reply = await hosted.tool(CONNECT, provider="hn")
    assert (reply["provider"], reply["connected"], reply["connectUrl"]) == ("manual", True, None)
    assert "by hand" in text_of(reply)


async def test_a_channel_with_several_ways_names_them_all_with_its_own_first_wherever_it_is_blocked(
    hosted: Hosted,
) -> None:
    run = await hosted.tool("chieflab_post", channel="bluesky", body="Dark mode is here.")
    about = {"actionId": run["actions"][0]["id"]}
    answers = [run, await hosted.tool("chieflab_status"), await hosted.tool(CONNECT, provider="bluesky")]
    approved = await hosted.tool("chieflab_approve_action", **about)
    refused = await hosted.tool("chieflab_execute_approved_action", **about)
    for text in (*map(text_of, answers), approved["userMessage"], refused["userMessage"]):
        assert "Bluesky goes out through Bluesky or Zernio. Bluesky is not connected." in text
        assert "/connect/bluesky" in text
    assert refused["recoveryTool"]["args"] == {"provider": "bluesky"}


async def test_a_channel_that_goes_out_through_another_service_says_so(hosted: Hosted) -> None:
    run = await hosted.tool("chieflab_post", channel="linkedin", body="Dark mode is here.")
    assert "LinkedIn goes out through Zernio, which is not connected." in text_of(run)


async def test_the_feed_of_this_server_is_not_taken_for_the_blog_of_the_user(hosted: Hosted) -> None:
    reply = await hosted.tool(CONNECT, provider="blog")
    assert (reply["provider"], reply["connected"]) == ("site", True)
    for text in texts(reply):
        assert "not of another website or blog" in text and "is connected" not in text


@pytest.mark.parametrize("channel", ["instagram", "reddit"])
async def test_a_channel_without_an_account_at_a_connected_service_is_not_called_connected(
    hosted: Hosted, channel: str
) -> None:
    await hosted.connect("zernio")
    reply = await hosted.tool(CONNECT, provider=channel)
    there = await hosted.tool(CONNECT, provider="linkedin")
    url = f"{BASE_URL}/connect/zernio?workspace={hosted.workspace_id}"

    assert (reply["connected"], reply["connectUrl"]) == (False, url)
    for text in texts(reply):
        assert f"no {channel.capitalize()} account" in text and url in text
    assert (there["connected"], "@acme" in text_of(there)) == (True, False)


async def test_what_waits_for_a_channel_is_only_what_goes_out_there(hosted: Hosted) -> None:
    await hosted.connect("zernio")
    await hosted.tool("chieflab_post", channel="instagram", body="Dark mode is here.")
    reply = await hosted.tool(CONNECT, provider="bluesky")
    assert LOOK not in {each["name"] for each in calls_of(reply)}


async def test_an_unknown_name_lists_providers_and_channels(hosted: Hosted) -> None:
    refused = await hosted.call(CONNECT, {"provider": "myspace"})
    assert refused.reason == "validation_error"
    expected = refused.payload["problems"][0]["expected"]
    assert "zernio" in expected and "linkedin" in expected
