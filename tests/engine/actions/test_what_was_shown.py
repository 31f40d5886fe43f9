"""An approval in the chat is about what was shown there: every suggested one says so, another content is refused."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.actions.kit import APPROVE, EDIT, OTHER, PENDING, WITHDRAW, Gate

MANUAL = "chieflab_use_manual_fallback"


def approvals(value: Any) -> list[dict[str, Any]]:
    """The arguments of every approval that an answer suggests."""
    found: list[dict[str, Any]] = []
    rows = [value]
    while rows:
        each = rows.pop()
        if isinstance(each, dict):
            if APPROVE in (each.get("name"), each.get("tool")):
                found.append(each["args"])
            rows += each.values()
        elif isinstance(each, list):
            rows += each
    return found


@pytest.mark.rule("E66")
async def test_one_edit_between_show_and_approve_is_refused_with_the_new_content(surface: Gate) -> None:
    run = await surface.run()
    action_id = run["actions"][0]["id"]
    edited = await surface.done(EDIT, actionId=action_id, body=OTHER)
    answer = await surface.denied(APPROVE, actionId=action_id)
    assert (answer["reason"], answer["retryable"], answer["recoveryTool"]) == ("stale_revision", False, None)
    shown = answer["renderInChat"]["linkedin"]
    assert (shown["body"], shown["actionId"]) == (OTHER, action_id)
    digest = edited["digest"].removeprefix("sha256:")[:16]
    offered = approvals(answer)
    assert {(args["actionId"], args["digest"]) for args in offered} == {(action_id, digest)}
    assert await surface.where(action_id) == "awaiting_approval"
    await surface.done(APPROVE, **next(args for args in offered if "send" not in args))
    assert await surface.where(action_id) == "approved"


async def test_every_suggested_approval_names_the_content_it_is_about(surface: Gate) -> None:
    run = await surface.run({}, {"channel": "x", "body": OTHER})
    first, second = (action["id"] for action in run["actions"])
    answers = [
        run,
        await surface.done(PENDING),
        await surface.done(PENDING, runId=run["runId"]),
        await surface.done(EDIT, actionId=first, body=OTHER),
        await surface.done(MANUAL, actionId=second),
    ]
    await surface.approve_as_shown(first)
    answers.append(await surface.done(WITHDRAW, actionId=first))
    for number, answer in enumerate(answers):
        found = approvals(answer)
        assert found, number
        assert all(len(args["digest"]) >= 16 for args in found), number
        assert {args["actionId"] for args in found} <= {first, second}


UNSEEN = "\u202e\u200b\u2066\ufeff\u00ad\U000e0041"


async def test_an_edited_headline_or_address_holds_nothing_that_cannot_be_seen(surface: Gate) -> None:
    action_id = await surface.staged(
        channel="email", verb="email", connector="native", subject="Hello", recipients=["ann@example.org"]
    )
    await surface.done(
        EDIT,
        actionId=action_id,
        subject=f"Price {UNSEEN}0001 euro",
        title=f"A {UNSEEN}title",
    )
    effect = (await surface.stored(action_id)).effect
    assert (effect.subject, effect.title) == ("Price 0001 euro", "A title")
    hidden = await surface.denied(EDIT, actionId=action_id, to=["bob\u200b@example.org"])
    assert hidden["reason"] == "validation_error"
