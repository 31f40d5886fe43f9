"""Who may see a picture, what the review page does with it, and how the own site publishes it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.support.pictures.fixtures import Studio
from tests.support.review.kit import form

from assent.kernel.canonical import digest_of_bytes


async def find_picture(studio: Studio, run: dict[str, Any], number: int = 0) -> dict[str, Any]:
    """A picture of a run, by default the first, and its address without the token that lets one look."""
    listed = (await studio.call("chieflab_list_assets", {"runId": run["runId"]})).payload["assets"]
    image = next(each for each in listed if each["id"] == run["images"][number]["id"])
    facts = image["metadata"]
    return {**facts, "url": facts["viewUrl"].partition("?")[0], "alt": image["body"]}


@pytest.mark.rule("E38", "E41", "E71")
async def test_a_picture_is_for_whoever_may_see_its_run(studio: Studio) -> None:
    run = await studio.launched()
    other = await studio.launched()
    image = await find_picture(studio, run)
    theirs = (await find_picture(studio, other))["url"]
    token = image["viewUrl"].partition("token=")[2]

    async with studio.browser() as browser:
        assert (await browser.get(image["url"])).status_code == 401
        assert (await browser.get(f"{image['url']}?token={token[:-2]}")).status_code == 403
        assert (await browser.get(f"{theirs}?token={token}")).status_code == 403
        shown = await browser.get(image["viewUrl"])
        assert (await browser.get(image["url"])).status_code == 401, "looking with a token leaves no cookie"
    assert digest_of_bytes(shown.content) == image["digest"]
    assert shown.headers["content-type"] == "image/png"
    assert shown.headers["x-content-type-options"] == "nosniff"
    assert shown.headers["cache-control"] == "private, no-cache"
    assert shown.headers["cross-origin-resource-policy"] == "cross-origin"

    async with studio.browser() as browser:
        await browser.get(run["reviewUrl"])
        shown = await browser.get(image["url"])
        assert shown.status_code == 200
        assert shown.headers["cross-origin-resource-policy"] == "same-origin"
        again = await browser.get(image["url"], headers={"If-None-Match": shown.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert (await browser.get(theirs)).status_code == 401
        unknown = re.sub(r"[0-9a-f]{64}", "0" * 64, image["url"])
        assert (await browser.get(unknown)).status_code == 404
        assert (await browser.get(image["url"].replace(".png", ".svg"))).status_code == 404


async def test_a_reviewer_sees_the_picture_and_picks_another_which_revokes(studio: Studio) -> None:
    run = await studio.launched(channels=["linkedin"])
    action_id = run["actions"][0]["id"]
    light = next(image for image in run["images"] if image["variant"] == "light")
    await studio.call("chieflab_approve_action", {"actionId": action_id})

    async with studio.browser() as browser:
        page = (await browser.get(run["reviewUrl"])).text
        first = await find_picture(studio, run)
        assert f'src="/runs/{run["runId"]}/pictures/{first["digest"][7:]}.png" alt="{first["alt"]}"' in page
        assert page.count('name="imageAssetId"') == 4
        edit = form(page, action_id, "edit")
        sent = {**edit.fields, "name": "Ada", "imageAssetId": light["id"]}
        answer = await browser.post(edit.address, data=sent)
        assert answer.status_code == 200, answer.text

        record = (await studio.call("chieflab_get_action", {"actionId": action_id})).payload
        assert (record["status"], record["revision"]) == ("awaiting_approval", 2)
        assert [m["digest"] for m in record["content"]["media"]] == [
            (await find_picture(studio, run, run["images"].index(light)))["digest"]
        ]

        edit = form((await browser.get(f"/runs/{run['runId']}")).text, action_id, "edit")
        same = await browser.post(edit.address, data={**sent, **edit.fields, "imageAssetId": light["id"]})
        assert same.status_code == 400
        wrong = await browser.post(edit.address, data={**sent, **edit.fields, "imageAssetId": "nothing"})
        assert "This picture is not here any more" in wrong.text


async def test_the_picture_of_a_launch_is_not_said_to_be_of_another_run_once_picked(studio: Studio) -> None:
    run = await studio.launched(channels=["linkedin"], imagesNeeded=None)
    picked = {"actionId": run["actions"][0]["id"], "imageAssetId": run["images"][0]["id"]}

    async with studio.browser() as browser:
        before = (await browser.get(run["reviewUrl"])).text
        await studio.call("chieflab_edit_action", picked)
        after = (await browser.get(run["reviewUrl"])).text

    picture = f"{(await find_picture(studio, run))['digest'][7:]}.png"
    assert picture in before and picture in after
    assert "Picked from another run" not in after


async def test_pictures_alone_are_a_gallery(studio: Studio) -> None:
    run = (await studio.call("chieflab_create_social_graphics", {"headline": "Hello & <world>"})).payload

    async with studio.browser() as browser:
        page = (await browser.get(run["reviewUrl"])).text

    assert page.count('alt="Hello &amp; &lt;world&gt;"') == 9
    assert "Picture for LinkedIn, 1200 × 627, dark" in page


async def test_a_published_post_shows_its_picture_to_everybody(studio: Studio) -> None:
    run = await studio.launched(channels=["site"])
    action_id = run["actions"][0]["id"]
    await studio.call("chieflab_approve_action", {"actionId": action_id})
    done = (await studio.call("chieflab_publish_approved_post", {"actionId": action_id})).payload
    assert done["ok"], done
    image = await find_picture(studio, run)

    async with studio.browser() as browser:
        page = await browser.get(done["externalUrl"])
        found = re.search(rf'<img src="([^"]+)" alt="{re.escape(image["alt"])}"', page.text)
        assert found is not None
        shown = await browser.get(found.group(1))
        assert digest_of_bytes(shown.content) == image["digest"]
        assert "immutable" in shown.headers["cache-control"]
        assert 'property="og:image" content="http' in page.text
        assert run["runId"] not in page.text, "the address of the review is nobody's business"
        atom = await browser.get(f"/feed/{run['workspaceId']}/atom.xml")
        assert "/pictures/0.png" in atom.text
        assert (await browser.get(found.group(1).replace("/0.png", "/1.png"))).status_code == 404


async def test_the_page_and_the_chat_name_the_same_feed(studio: Studio) -> None:
    run = await studio.launched(channels=["site"])
    [card] = run["agentGuide"]["renderInChat"].values()
    place = re.search(r"- Goes to: (.*)", card["body"])
    async with studio.browser() as browser:
        shown = (await browser.get(run["reviewUrl"])).text

    assert place is not None and f"<dt>Goes to</dt><dd><bdi>{place[1]}</bdi></dd>" in shown
