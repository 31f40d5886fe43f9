"""The page of an action whose extension was removed: it can be read and rejected."""

from __future__ import annotations

import pytest
from tests.serving.web.review.kit import House, form, forms, post

from assent.gate.effects import EffectTypes


def remove_extensions(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(house.services.__dict__, "effects", EffectTypes())


async def test_an_action_without_its_type_cannot_be_approved_or_edited_and_can_be_rejected(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await house.stage(post())
    browser, action_id = await house.owner(), run.actions[0].id
    before = await house.page(browser, run.run_id)
    remove_extensions(house, monkeypatch)
    for decision in ("approve", "edit"):
        found = form(before, action_id, decision)
        answer = await browser.post(found.address, data={**found.fields, "body": "Other words."})
        assert "linkedin_post" in answer.text and "is not installed" in answer.text, decision
    action = await house.action(action_id)
    assert (action.status, action.revision) == ("awaiting_approval", 1)

    page = await house.page(browser, run.run_id)
    assert "is not installed on this server any more" in page
    assert {"approve", "edit"}.isdisjoint({each.decision for each in forms(page)})
    await house.decide(browser, run.run_id, action_id, "reject", reason="It is gone.")
    assert (await house.action(action_id)).status == "rejected"
    assert "You can reject it" not in await house.page(browser, run.run_id)
