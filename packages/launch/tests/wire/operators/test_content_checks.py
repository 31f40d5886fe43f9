"""What an agent stages and what a person edits are checked alike: refused, warned of, or left alone."""

from __future__ import annotations

import html
from itertools import islice
from typing import Any

import pytest
from tests.support.answers import text_of
from tests.support.gate.bodies import REFUSED, SUSPECT
from tests.support.operators.fixtures import LaunchClient
from tests.support.review.kit import form

from assent.gate.content.suspicion import BRIEF, CHAT, LABEL, LEFT, NOTE

SUSPECT_BODIES = (*islice(SUSPECT, 10), "a post that announces", "an outline")
OF_THE_CONTRACT = (
    "the contract's frame",
    "the contract's brief line",
    "an expert alone",
    "an approval",
    "the contract's pointer",
    "a name to fill in",
    "punctuation",
    "a header before the text",
    "a task after a label",
    "a channel",
    "another draft",
    "underscores",
)
BEGINNINGS = tuple(warning.partition("“")[0] for warning in (BRIEF, CHAT, LABEL, LEFT, NOTE))


async def stage(client: LaunchClient, body: str) -> dict[str, Any]:
    return (await client.call("chieflab_post", {"channel": "site", "title": "News", "body": body})).payload


def about_content(run: dict[str, Any]) -> list[str]:
    return [each for each in run["actions"][0]["preflight"]["warnings"] if each.startswith(BEGINNINGS)]


@pytest.mark.rule("E19", "E48")
async def test_the_contracts_cases_are_refused_when_they_are_staged_and_when_they_are_edited_in(
    client: LaunchClient,
) -> None:
    good = (await stage(client, "Offline mode is here."))["actions"][0]["id"]
    for name in OF_THE_CONTRACT:
        body = REFUSED[name][1]
        staged = await stage(client, body)
        edited = (await client.call("chieflab_edit_action", {"actionId": good, "body": body})).payload

        for refusal in (staged, edited):
            assert refusal.get("reason") == "validation_error", (name, refusal)
            assert [problem["path"] for problem in refusal["problems"]] == ["body"], name


@pytest.mark.rule("E48")
async def test_a_suspicion_is_on_the_card_in_the_preflight_and_on_the_page(client: LaunchClient) -> None:
    for name in SUSPECT_BODIES:
        run = await stage(client, SUSPECT[name])
        page = await client.http.get(run["reviewUrl"], follow_redirects=True)

        (warning, *_) = about_content(run)
        assert warning in text_of(run), name
        assert warning in html.unescape(page.text), name


@pytest.mark.rule("E48")
async def test_the_form_of_the_page_refuses_and_warns_in_the_same_way(client: LaunchClient) -> None:
    run = await stage(client, "Offline mode is here.")
    action_id = run["actions"][0]["id"]

    async def edit(body: str) -> str:
        page = (await client.http.get(run["reviewUrl"], follow_redirects=True)).text
        found = form(page, action_id, "edit")
        fields = {**found.fields, "body": body, "name": "Ada Reviewer"}
        answer = await client.http.post(found.address, data=fields, follow_redirects=True)
        return html.unescape(answer.text)

    refused = await edit(REFUSED["the contract's frame"][1])
    kept = (await client.call("chieflab_get_action", {"actionId": action_id})).payload
    warned = await edit(SUSPECT["what would go here"])

    assert "A generator's header" in refused
    assert kept["content"]["body"] == "Offline mode is here."
    assert NOTE.partition("“")[0] in warned
