"""Undo on the page: the card of what was done offers it, and what takes it back waits beside it for its own yes."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.extensions.fixtures import BILLING
from tests.support.review.kit import Server, form, forms
from tests.support.sqlite_files import new_sqlite

from assent.extensions.effect_types import prepare_effect
from assent.gate.effects import EXECUTE
from assent.gate.records import Status
from assent.ports import StagedEffect


async def test_a_person_undoes_what_was_done_from_its_card(tmp_path: Path) -> None:
    server = Server(new_sqlite(tmp_path / "assent.db"), tmp_path, operators=(str(BILLING),), effects=None)
    browser = await server.owner(name="Ada")
    refund = next(each for each in server.app.extensions.effects if each.tool == "acme_billing_refund")
    given = {"customer": "ada", "amount": "12.00 EUR", "reason": "broken", "lines": None}
    run = await server.stage(StagedEffect(effect=prepare_effect(refund, given), executor_tool=EXECUTE))
    action_id = run.actions[0].id
    await server.decide(browser, run.run_id, action_id, "approve", then="send")
    server.clock.advance(seconds=11)
    await server.run_jobs()
    assert (await server.action(action_id)).status is Status.EXECUTED

    page = await server.page(browser, run.run_id)
    assert "The mail about it stays." in page
    offered = form(page, action_id, "undo")
    answer = await browser.post(offered.address, data=offered.fields)
    assert answer.status_code == 303, answer.text
    staged = answer.headers["location"].rpartition("#action-")[2]
    reverse = await server.action(staged)
    assert (reverse.status, reverse.effect.arguments["customer"]) == (Status.AWAITING_APPROVAL, "ada")
    after = await server.page(browser, run.run_id)
    assert "See what takes it back" in after and form(after, staged, "approve")
    assert "Prepared to undo what was done, by Ada" in after and "not delivered" not in after
    assert not {"actionId", "undoes", "leaves"} & set(re.findall(r"<dt>(\w+)", after))
    assert "undo" not in {each.decision for each in forms(after) if each.action_id == action_id}
    await server.close()
