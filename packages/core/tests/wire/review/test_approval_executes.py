"""The page of a type whose approval also executes."""

from __future__ import annotations

import httpx
import msgspec
import pytest
from tests.support.keys import make_key
from tests.support.review.kit import Server, form, post

from assent.engine.actions import actions
from assent.engine.actions.staging import PreparedRun
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.effects import EffectType, EffectTypes
from assent.gate.preflight import Readiness
from assent.gate.review_link import APPROVE
from assent.gate.views import Severity
from assent.kernel.ids import RunId, WorkspaceId
from assent_launch.testing import any_effects

PRESS = EffectType(
    channel="press", verb="print", label="Press", risk=Severity.LOW, approval_executes=True, trusted=True
)


@pytest.fixture
def press(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    known = any_effects()
    types = EffectTypes((*known.types.values(), PRESS), known.connectors.values())
    monkeypatch.setitem(server.services.__dict__, "effects", types)
    return server


async def open_with_approving_link(server: Server, run: PreparedRun) -> httpx.AsyncClient:
    """Return a browser whose link may approve and not send."""
    link = server.services.links.review_url(
        LOCAL_WORKSPACE, RunId(run.run_id), server.clock.now_ms(), APPROVE
    )
    return await server.opened(msgspec.structs.replace(run, review_url=link))


async def test_a_link_that_may_not_send_is_offered_no_approval_that_executes(press: Server) -> None:
    run = await press.stage(post("press", verb="print"), post())
    browser = await open_with_approving_link(press, run)
    page = await press.page(browser, run.run_id)
    executing, usual = (f"/actions/{action.id}/approve" for action in run.actions)
    assert usual in page and executing not in page


async def test_a_form_of_such_a_link_does_not_execute(press: Server) -> None:
    run = await press.stage(post())
    browser, action_id = await open_with_approving_link(press, run), run.actions[0].id
    found = form(await press.page(browser, run.run_id), action_id, "approve")
    action = await press.action(action_id)
    view = msgspec.structs.replace(action.view, approval_executes=True)
    await press.app.store.write(lambda: actions.store_view(msgspec.structs.replace(action, view=view)))
    await browser.post(found.address, data={**found.fields, "name": "Ada"})
    await press.run_jobs()
    assert (await press.action(action_id)).status == "awaiting_approval" and press.provider.done == []


async def test_an_approval_that_executes_since_the_form_was_sent_needs_the_right_to_send(
    press: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await press.stage(post())
    browser, action_id = await open_with_approving_link(press, run), run.actions[0].id
    found = form(await press.page(browser, run.run_id), action_id, "approve")
    action = await press.action(action_id)
    view = msgspec.structs.replace(action.view, approval_executes=True)

    async def change(workspace_id: WorkspaceId) -> Readiness:
        await press.app.store.write(lambda: actions.store_view(msgspec.structs.replace(action, view=view)))
        return Readiness(ready=True)

    monkeypatch.setattr(press.provider, "readiness", change)
    await browser.post(found.address, data={**found.fields, "name": "Ada"})
    await press.run_jobs()
    assert (await press.action(action_id)).status == "awaiting_approval" and press.provider.done == []


@pytest.mark.parametrize("key", [{}, {"idempotencyKey": "yes-1"}])
async def test_a_repeated_approval_in_the_chat_gets_its_answer_although_the_connector_is_not_ready(
    press: Server, key: dict[str, str]
) -> None:
    run = await press.stage(post("press", verb="print"))
    agent = press.browser(Authorization=f"Bearer {await make_key(press.app)}")
    given = {"actionId": run.actions[0].id, "digest": run.actions[0].digest, **key}
    first = await agent.post("/api/tools/chieflab_approve_action", json=given)
    press.provider.ready = Readiness(ready=False, fix_hint="Sign in there.")
    again = await agent.post("/api/tools/chieflab_approve_action", json=given)
    assert (again.status_code, again.json().get("approvedAt")) == (200, first.json()["approvedAt"])
