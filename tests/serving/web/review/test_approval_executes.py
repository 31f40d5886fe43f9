"""The page of a type whose approval also executes."""

from __future__ import annotations

import httpx
import msgspec
import pytest
from tests.serving.web.review.kit import House, form, post

from assent.engine.actions import actions
from assent.engine.actions.staging import PreparedRun
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.effects import EffectType, EffectTypes
from assent.gate.review_link import APPROVE
from assent.gate.views import Severity
from assent.kernel.ids import RunId
from assent.suite.testing import any_effects

PRESS = EffectType(
    channel="press", verb="print", label="Press", risk=Severity.LOW, approval_executes=True, trusted=True
)


@pytest.fixture
def press(house: House, monkeypatch: pytest.MonkeyPatch) -> House:
    known = any_effects()
    types = EffectTypes((*known.types.values(), PRESS), known.connectors.values())
    monkeypatch.setitem(house.services.__dict__, "effects", types)
    return house


async def test_an_approval_on_the_page_starts_the_execution_once(press: House) -> None:
    run = await press.stage(post("press", verb="print"))
    browser, action_id = await press.owner(), run.actions[0].id
    answer = await press.decide(browser, run.run_id, action_id, "approve")
    assert "did=send" in answer.headers["location"]
    await press.run_jobs()
    assert [action.action_id for action in press.provider.done] == [action_id]
    assert (await press.action(action_id)).status == "executed"


async def open_with_approving_link(house: House, run: PreparedRun) -> httpx.AsyncClient:
    """Return a browser whose link may approve and not send."""
    link = house.services.links.review_url(LOCAL_WORKSPACE, RunId(run.run_id), house.clock.now_ms(), APPROVE)
    return await house.opened(msgspec.structs.replace(run, review_url=link))


async def test_a_link_that_may_not_send_is_offered_no_approval_that_executes(press: House) -> None:
    run = await press.stage(post("press", verb="print"), post())
    browser = await open_with_approving_link(press, run)
    page = await press.page(browser, run.run_id)
    executing, usual = (f"/actions/{action.id}/approve" for action in run.actions)
    assert usual in page and executing not in page


async def test_a_form_of_such_a_link_does_not_execute(press: House) -> None:
    run = await press.stage(post())
    browser, action_id = await open_with_approving_link(press, run), run.actions[0].id
    found = form(await press.page(browser, run.run_id), action_id, "approve")
    action = await press.action(action_id)
    view = msgspec.structs.replace(action.view, approval_executes=True)
    await press.app.store.write(lambda: actions.store_view(msgspec.structs.replace(action, view=view)))
    await browser.post(found.address, data={**found.fields, "name": "Ada"})
    await press.run_jobs()
    assert (await press.action(action_id)).status == "awaiting_approval" and press.provider.done == []
