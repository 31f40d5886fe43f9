"""Pictures through the tools: made, refused, taken along by posts, picked by a human, over every surface."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import pytest
from tests.support.answers import text_of
from tests.support.operators.fixtures import CLUB
from tests.support.surfaces import BASE_URL, Surface

from assent.engine.actions import actions, pictures
from assent.kernel.canonical import digest_of_bytes
from assent.kernel.ids import ActionId, WorkspaceId
from assent_launch import extension
from assent_launch.pictures.graphics import PictureJob, PictureResult, PicturesFailed
from assent_launch.process import find_suite

pytestmark = pytest.mark.slow

TOOL = "chieflab_create_social_graphics"
BRAND = {"name": "Ledgerleaf", "colors": ["#0b6e4f", "#ffd400"]}


async def graphics(surface: Surface, **arguments: Any) -> dict[str, Any]:
    if surface.key is None:
        await surface.sign_in()
    given = {"headline": "Bookkeeping for clubs", "brand": BRAND, "channels": ["linkedin"], **arguments}
    return (await surface.call(TOOL, given)).payload


async def list_pictures(surface: Surface, run: dict[str, Any]) -> list[dict[str, Any]]:
    """The pictures of a run as assets, with their addresses."""
    listed = (await surface.call("chieflab_list_assets", {"runId": run["runId"]})).payload["assets"]
    by_id = {each["id"]: each for each in listed}
    return [by_id[each["id"]] for each in run["images"]]


async def launch(surface: Surface, **arguments: Any) -> dict[str, Any]:
    if surface.key is None:
        await surface.sign_in()
    given = {**CLUB, "channels": ["linkedin", "site", "email"], "imagesNeeded": True, **arguments}
    return (await surface.call("chieflab_launch_product", given)).payload


@pytest.mark.rule("E4", "E11", "E12", "E13")
async def test_pictures_are_assets_with_words_for_who_cannot_see_them(surface: Surface) -> None:
    run = await graphics(surface)

    assert run["ok"] and run["externalActionsExecuted"] == 0 and run["actions"] == []
    said = run["agentGuide"]["userMessage"]
    assert "3 pictures for LinkedIn" in said and "Nothing was published" in said
    assert [image["variant"] for image in run["images"]] == ["dark", "light", "solid"]
    for image in await list_pictures(surface, run):
        facts = image["metadata"]
        assert (image["type"], image["channel"]) == ("image", "linkedin")
        assert (facts["width"], facts["height"]) == (1200, 627)
        assert image["body"] == "Bookkeeping for clubs (Ledgerleaf)"
        assert f"/runs/{run['runId']}/pictures/{facts['digest'][7:]}.png?token=" in facts["viewUrl"]
        shown = await surface.http.get(facts["viewUrl"])
        assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
        assert digest_of_bytes(shown.content) == facts["digest"]
    in_chat = run["agentGuide"]["renderInChat"]
    assert list(in_chat) == ["linkedin", "linkedin:light", "linkedin:solid"]
    assert "> Bookkeeping for clubs (Ledgerleaf)\n> http" in in_chat["linkedin"]["body"]


async def test_the_same_headline_and_brand_give_the_same_pictures(surface: Surface) -> None:
    first = await graphics(surface, idempotencyKey="once")
    again = await graphics(surface, idempotencyKey="once")
    other = await graphics(surface)

    assert again == first
    digests = [
        [image["metadata"]["digest"] for image in await list_pictures(surface, run)] for run in (first, other)
    ]
    assert digests[0] == digests[1]
    assert other["runId"] != first["runId"]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"headline": "word " * 80}, "headline"),
    ({"headline": "한국어 제목"}, "headline"),
    ({"headline": " \n "}, "headline"),
    ({"headline": "🚀"}, "headline"),
    ({"brand": {"name": "長い名前の会社" * 6}}, "brand.name"),
    ({"brand": {"name": "X", "colors": ["reddish"]}}, "brand.colors.0"),
    ({"channels": ["linkedin", "email"]}, "channels.1"),
    ({"channels": ["myspace"]}, "channels.0"),
]


async def test_what_cannot_be_drawn_is_refused_with_what_to_change(surface: Surface) -> None:
    for arguments, path in REFUSED:
        refused = await graphics(surface, **arguments)

        assert refused["reason"] == "validation_error", arguments
        assert refused["problems"][0]["path"] == path
    assert (await surface.call("chieflab_list_runs", {})).payload["runs"] == []


async def test_a_brand_may_be_just_a_name_and_emoji_are_said_to_be_left_out(surface: Surface) -> None:
    run = await graphics(surface, headline="Ship it 🚀", brand="Acme")

    assert run["assets"][0]["body"] == "Ship it (Acme)"
    assert "🚀" in run["images"][0]["warnings"][0]


async def test_a_launch_that_asks_for_pictures_stages_posts_with_them(surface: Surface) -> None:
    run = await launch(surface)

    by_channel = {action["channel"]: action for action in run["actions"]}
    records = {
        channel: (await surface.call("chieflab_get_action", {"actionId": action["id"]})).payload
        for channel, action in by_channel.items()
    }
    images = await list_pictures(surface, run)
    assert {image["channel"] for image in images} == {"linkedin", "site"}
    assert len(images) == 6
    for channel in ("linkedin", "site"):
        (media,) = records[channel]["content"]["media"]
        first = next(image for image in images if image["channel"] == channel)
        assert (media["digest"], media["alt"]) == (first["metadata"]["digest"], first["body"])
        assert media["alt"] in run["agentGuide"]["renderInChat"][channel]["body"]
        seen = run["agentGuide"]["renderInChat"][channel]["body"].partition("(http")[2].partition(")")[0]
        assert f"http{seen}" in text_of(run)
        assert (await surface.http.get(f"http{seen}".removeprefix(BASE_URL))).status_code == 200
    assert not records["email"]["content"].get("media")
    assert run["externalActionsExecuted"] == 0


@pytest.mark.rule("E101")
async def test_a_launch_has_a_picture_that_goes_along_where_the_person_says_so(surface: Surface) -> None:
    run = await launch(surface, imagesNeeded=None)
    (image,) = await list_pictures(surface, run)
    posts = {action["channel"]: action["id"] for action in run["actions"]}
    before = (await surface.call("chieflab_get_action", {"actionId": posts["linkedin"]})).payload

    seen = await surface.http.get(image["metadata"]["viewUrl"].removeprefix(BASE_URL))
    assert digest_of_bytes(seen.content) == image["metadata"]["digest"]
    assert "Picture" not in text_of(run)
    assert not before["content"].get("media")
    picked = {"actionId": posts["linkedin"], "imageAssetId": image["id"]}
    edited = await surface.call("chieflab_edit_action", picked)
    after = (await surface.call("chieflab_get_action", {"actionId": posts["linkedin"]})).payload
    assert edited.payload["ok"] is True
    assert after["content"]["media"][0]["digest"] == image["metadata"]["digest"]


async def test_a_launch_makes_no_picture_where_none_is_wanted_or_shown(surface: Surface) -> None:
    for arguments in ({"imagesNeeded": False}, {"imagesNeeded": None, "channels": ["email"]}):
        assert (await launch(surface, **arguments))["images"] == []


async def test_a_launch_promises_no_picture_that_could_not_be_drawn(surface: Surface) -> None:
    await surface.sign_in()
    run = (
        await surface.call("chieflab_launch_product", {"drafts": {"linkedin": "한국어로 쓴 글입니다."}})
    ).payload

    assert run["ok"] is True and run["images"] == []
    assert "Picture" not in text_of(run)


async def test_a_post_whose_picture_cannot_be_made_says_so_and_waits_all_the_same(surface: Surface) -> None:
    await surface.sign_in()
    given = {"drafts": {"linkedin": "한국어로 쓴 글입니다."}, "imagesNeeded": True}
    run = (await surface.call("chieflab_launch_product", given)).payload

    (action,) = run["actions"]
    assert action["status"] == "awaiting_approval"
    assert any("no font here draws" in warning for warning in action["preflight"]["warnings"])
    assert run["images"] == []


async def test_a_drawer_that_fails_holds_no_launch_up(
    surface: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(work: PictureJob) -> PictureResult:
        raise PicturesFailed("out of ink")

    suite = find_suite(surface.app.owner_services)
    suite.drafting = dataclasses.replace(suite.drafting, make_pictures=broken)

    run = await launch(surface, channels=["linkedin"])
    refused = await graphics(surface)

    assert any("could not be drawn" in warning for warning in run["actions"][0]["preflight"]["warnings"])
    assert (refused["reason"], refused["retryable"]) == ("pictures_failed", True)


@pytest.mark.rule("E66")
async def test_picking_another_picture_is_an_edit_that_revokes(surface: Surface) -> None:
    run = await launch(surface, channels=["linkedin"])
    action_id = run["actions"][0]["id"]
    other = (await list_pictures(surface, run))[1]
    approved = (await surface.call("chieflab_approve_action", {"actionId": action_id})).payload
    assert approved["status"] == "approved"

    edited = (
        await surface.call("chieflab_edit_action", {"actionId": action_id, "imageAssetId": other["id"]})
    ).payload

    assert (edited["status"], edited["revision"]) == ("awaiting_approval", 2)
    assert edited["digest"] != approved["digest"]
    record = (await surface.call("chieflab_get_action", {"actionId": action_id})).payload
    assert [media["digest"] for media in record["content"]["media"]] == [other["metadata"]["digest"]]
    refused = await surface.call("chieflab_publish_approved_post", {"actionId": action_id})
    assert refused.reason == "requires_approval"

    bare = (await surface.call("chieflab_edit_action", {"actionId": action_id, "imageAssetId": ""})).payload
    assert bare["revision"] == 3
    record = (await surface.call("chieflab_get_action", {"actionId": action_id})).payload
    assert not record["content"].get("media")


async def test_a_picture_of_another_run_goes_along_and_the_connector_gets_its_bytes(surface: Surface) -> None:
    made = await graphics(surface)
    run = await launch(surface, channels=["linkedin", "email"], imagesNeeded=False)
    post, mail = run["actions"]
    image = (await list_pictures(surface, made))[2]

    picked = await surface.call("chieflab_edit_action", {"actionId": post["id"], "imageAssetId": image["id"]})
    refused = await surface.call(
        "chieflab_edit_action", {"actionId": mail["id"], "imageAssetId": image["id"]}
    )

    assert picked.payload["revision"] == 2
    assert refused.reason == "validation_error"
    workspace_id = WorkspaceId(run["workspaceId"])
    action, _ = await surface.app.store.read(lambda: actions.find(workspace_id, ActionId(post["id"])))
    (media,) = action.effect.media
    assert media.url.split("/")[4] == run["runId"]
    (picture,) = await pictures.of_action(surface.app.store, action)
    assert picture.digest == image["metadata"]["digest"] == media.digest
    assert picture.alt == image["body"]
    assert await surface.app.store.read(
        lambda: pictures.find_shown(workspace_id, action.run_id, media.digest)
    )


@pytest.mark.rule("E2", "E96")
async def test_another_workspace_can_neither_pick_nor_find_a_picture(surface: Surface) -> None:
    made = await graphics(surface)
    await surface.sign_in()
    run = await launch(surface, channels=["linkedin"], imagesNeeded=False)

    refused = await surface.call(
        "chieflab_edit_action", {"actionId": run["actions"][0]["id"], "imageAssetId": made["images"][0]["id"]}
    )

    assert refused.reason == "validation_error"
    assert refused.payload["problems"][0]["path"] == "imageAssetId"


@pytest.mark.parametrize("missing", ["resvg_py", "uharfbuzz"])
def test_without_the_extra_no_tool_draws(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = {tool.name for tool in extension.list_tools()}
    monkeypatch.setitem(sys.modules, missing, None)

    without = {tool.name for tool in extension.list_tools()}

    assert with_it - without == {"chieflab_create_social_graphics"}
    assert {tool for each in extension.list_operators() for tool in each.tools} & (with_it - without) == set()


async def test_a_launch_without_the_extra_says_why_it_has_no_picture(
    surface: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)

    run = await launch(surface, channels=["linkedin"])
    loose = await launch(surface, channels=["linkedin"], imagesNeeded=None)

    assert "There is no picture: this server draws none." in run["actions"][0]["preflight"]["warnings"]
    assert run["ok"] and loose["ok"]
    assert run["images"] == [] == loose["images"]
