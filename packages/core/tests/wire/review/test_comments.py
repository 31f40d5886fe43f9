"""What a person writes with a decision: the agent reads it with the action, and the journal keeps it."""

from __future__ import annotations

from typing import Any

import pytest
from packages.core.tests.wire.review.test_inbox import batch, send
from packages.core.tests.wire.review.test_people_and_approvers import invited, two_people
from packages.core.tests.wire.review.test_plans import plan_form
from tests.support.review.kit import Server, forms, mail, post

from assent.gate.records import OWN_WORDS

WORDS = "Fine, but <b>shorter</b> next time."


async def read_as_agent(server: Server, action_id: str) -> dict[str, Any]:
    """The action as an agent gets it."""
    key = await send(await server.owner(), "Claude Code")
    agent = server.browser(Authorization=f"Bearer {key}")
    answer = await agent.post("/api/tools/chieflab_get_action", json={"actionId": action_id})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("by", ["person", "link"])
async def test_the_agent_reads_the_comment_of_an_approval_and_the_journal_shows_it(
    server_on_any_store: Server, by: str
) -> None:
    server = server_on_any_store
    run = await server.stage(post())
    browser = await server.owner() if by == "person" else await server.opened(run)
    answer = await server.decide(browser, run.run_id, run.actions[0].id, "approve", comment=f" {WORDS} ")
    assert answer.status_code == 303, answer.text

    found = await read_as_agent(server, run.actions[0].id)
    assert (found["decision"]["what"], found["decision"]["comment"]) == ("approved", WORDS)
    assert f"“{WORDS}”" in found["userMessage"]
    assert ("action_approve", WORDS) in [
        (kind, body.get("text")) for kind, body in await server.events(run.run_id)
    ]
    shown = WORDS.replace("<", "&lt;").replace(">", "&gt;")
    owner = await server.owner()
    for path in ("/audit", f"/runs/{run.run_id}", f"/runs/{run.run_id}/story"):
        assert shown in (await owner.get(path)).text, path


async def test_the_comments_of_all_who_approved_are_read_and_those_of_a_taken_back_approval_are_not(
    server: Server,
) -> None:
    await two_people(server)
    run = await server.stage(mail(60))
    action = run.actions[0].id
    ada, grace = await invited(server, "Ada"), await invited(server, "Grace")
    await server.decide(ada, run.run_id, action, "approve", comment="Too soon.")
    await server.decide(ada, run.run_id, action, "withdraw")
    await server.decide(ada, run.run_id, action, "approve", comment="Good now.")
    await server.decide(grace, run.run_id, action, "approve", comment="I called them.")

    said = (await read_as_agent(server, action))["userMessage"]
    assert "Good now." in said and "I called them." in said and "Too soon." not in said


async def test_what_is_approved_together_is_commented_together(server: Server) -> None:
    owner = await server.owner()
    run = await server.stage(*(post("site", connector="site", body=f"Line {n}.") for n in range(4)))
    ids = [each.id for each in run.actions]
    asked = await batch(server, owner, "approve", *ids[:2])
    [sure] = [each for each in forms(asked.text) if each.address == "/inbox/batch/approve"]
    await owner.post(sure.address, data={**sure.fields, "comment": "Of a batch."})
    shown = plan_form((await owner.get(f"/runs/{run.run_id}/plan")).text, run.run_id)
    await owner.post(shown.address, data={**shown.fields, "comment": "Of a plan."})

    assert [(await read_as_agent(server, each))["decision"]["comment"] for each in ids] == [
        *("Of a batch.",) * 2,
        *("Of a plan.",) * 2,
    ]


async def test_the_agent_reads_what_an_editor_wrote_with_the_edit(server: Server) -> None:
    owner = await server.owner()
    # The memory keeps requests about posts, and none about mail to few people.
    for staged, name in ((post(), "asked"), (mail(1, metadata={OWN_WORDS: True}), "comment")):
        run = await server.stage(staged)
        said = {"body": "Another.", name: "No prices."}
        await server.decide(owner, run.run_id, run.actions[0].id, "edit", **said)
        decision = (await read_as_agent(server, run.actions[0].id))["decision"]
        assert (decision["what"], decision["comment"]) == ("edited", "No prices.")
