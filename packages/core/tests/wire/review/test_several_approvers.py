"""Several approvers: who has approved is plain to see, an approval can be recalled until it is sent, and only people
who may still decide are counted."""

from __future__ import annotations

from functools import partial
from typing import Any

import httpx
import pytest
from packages.core.tests.wire.review.test_inbox import batch
from packages.core.tests.wire.review.test_people_and_approvers import invited, two_people
from packages.core.tests.wire.review.test_plans import set_policy
from tests.support.own_sql import bind_marks
from tests.support.review.kit import Server, forms, mail, post

from assent.engine.actions.execution import ExecutionOrder
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import members
from assent.engine.people.people import Role
from assent.gate.effects import EXECUTE
from assent.gate.policy import Policy, Requirement
from assent.gate.records import Action, Assurance
from assent.gate.views import Severity
from assent.kernel.ids import SYSTEM_WORKSPACE, ActionId
from assent.kernel.limits import HOUR_MS
from assent.kernel.refusals import Reason, Refusal
from assent.ports import Single
from assent.use_cases import executions
from assent_launch.learning import memory


async def approve(server: Server, action: Action, *browsers: httpx.AsyncClient) -> None:
    for browser in browsers:
        answer = await server.decide(browser, action.run_id, action.action_id, "approve")
        assert answer.status_code == 303, answer.text


async def approved_by_two(server: Server) -> tuple[Any, Any, Any, Any]:
    """An action that Ada and Grace approved, and the two with Lin, who did not."""
    action = await staged(server)
    ada, grace, lin = [await invited(server, name) for name in ("Ada", "Grace", "Lin")]
    await approve(server, action, ada, grace)
    return action, ada, grace, lin


async def staged(server: Server) -> Action:
    await two_people(server)
    run = await server.stage(mail(60))
    return await server.action(run.actions[0].id)


async def execute(server: Server, action: Action) -> Reason | None:
    """Execute as an agent does; the reason of a refusal."""
    order = ExecutionOrder(
        workspace_id=LOCAL_WORKSPACE, action_id=ActionId(action.action_id), tool=EXECUTE, by="local"
    )
    try:
        await executions.execute(server.services, order)
    except Refusal as refusal:
        return refusal.reason
    return None


async def find_id(server: Server, name: str) -> str:
    now_ms = server.clock.now_ms()
    known = await server.app.store.read(lambda: members.list_people(now_ms))
    return next(each.person.person_id for each in known if each.person.name == name)


async def remove(server: Server, name: str) -> None:
    person_id, now_ms = await find_id(server, name), server.clock.now_ms()
    assert await server.app.store.write(lambda: members.remove(person_id, now_ms, by="owner"))


async def demote(server: Server, name: str) -> None:
    """Take the role of an owner away, as an administrator of the database or a later release does."""
    person_id = await find_id(server, name)
    text = "UPDATE people SET role = 'member' WHERE workspace_id = ? AND person_id = ? RETURNING person_id"
    await server.app.store.write(Single(bind_marks(text, SYSTEM_WORKSPACE, person_id)))


async def test_each_page_says_who_approved_and_how_many_are_missing(server_on_any_store: Server) -> None:
    server = server_on_any_store
    action = await staged(server)
    ada, grace = await invited(server, "Ada"), await invited(server, "Grace")
    assert "0 of 2 people have approved so far. 2 are missing." in await server.page(grace, action.run_id)
    await approve(server, action, ada)
    server.clock.advance(seconds=300)
    said = "1 of 2 people have approved so far. Ada (5 minutes ago). One more is missing."
    assert said in await server.page(grace, action.run_id)
    assert said in await server.page(ada, action.run_id)
    assert "1 of 2 approved" in (await grace.get("/inbox")).text
    assert "1 of 2 approved" not in (await ada.get("/inbox")).text


async def test_an_approver_takes_back_their_own_after_the_last_approval_and_the_others_stay(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    action, ada, _grace, lin = await approved_by_two(server)
    assert (await server.action(action.action_id)).status == "approved"
    answer = await server.decide(ada, action.run_id, action.action_id, "withdraw")
    assert answer.status_code == 303, answer.text
    assert (await server.action(action.action_id)).status == "awaiting_approval"
    assert await execute(server, action) is Reason.REQUIRES_APPROVAL
    page = await server.page(lin, action.run_id)
    assert "1 of 2 people have approved so far. Grace (just now)." in page
    await approve(server, action, lin)
    assert (await server.action(action.action_id)).status == "approved"
    assert await execute(server, action) is None
    assert len(server.mailer.done) == 1


async def test_someone_who_did_not_approve_withdraws_the_whole_approval(server: Server) -> None:
    action, _ada, _grace, lin = await approved_by_two(server)
    await server.decide(lin, action.run_id, action.action_id, "withdraw")
    assert "0 of 2 people have approved so far." in await server.page(lin, action.run_id)


async def test_the_partial_yes_of_someone_who_was_removed_does_not_count(server_on_any_store: Server) -> None:
    server = server_on_any_store
    action = await staged(server)
    ada, grace, lin = [await invited(server, name) for name in ("Ada", "Grace", "Lin")]
    await approve(server, action, ada)
    await remove(server, "Ada")
    await approve(server, action, grace)
    assert (await server.action(action.action_id)).status == "awaiting_approval"
    await approve(server, action, lin)
    assert (await server.action(action.action_id)).status == "approved"
    assert await execute(server, action) is None


@pytest.mark.parametrize("how", ["removed", "demoted"])
async def test_an_approver_who_left_before_the_execution_stops_it_and_the_action_waits_for_another(
    server_on_any_store: Server, how: str
) -> None:
    server = server_on_any_store
    action = await staged(server)
    grace = await invited(server, "Grace")
    ada = await invited(server, "Ada", Role.OWNER, ())
    await approve(server, action, ada, grace)
    assert (await server.action(action.action_id)).status == "approved"
    await (remove if how == "removed" else demote)(server, "Ada")

    assert await execute(server, action) is Reason.REQUIRES_APPROVAL
    assert server.mailer.done == []
    assert (await server.action(action.action_id)).status == "awaiting_approval"
    page = await server.page(grace, action.run_id)
    assert "a person who approved it may no longer decide here" in page
    lin = await invited(server, "Lin")
    await approve(server, action, lin)
    assert await execute(server, action) is None
    assert len(server.mailer.done) == 1


async def test_the_memory_holds_no_approval_beside_the_rejection_that_followed_an_approver_who_left(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    action, _ada, _grace, lin = await approved_by_two(server)
    assert await list_remembered(server) == ["approval"]
    await remove(server, "Ada")
    assert await execute(server, action) is Reason.REQUIRES_APPROVAL
    assert await list_remembered(server) == []
    answer = await server.decide(lin, action.run_id, action.action_id, "reject", reason="It is too long.")
    assert answer.status_code == 303, answer.text
    assert await list_remembered(server) == ["rejection"]


async def list_remembered(server: Server) -> list[str]:
    """The kinds of the memories that later drafts may use."""
    begin = partial(memory.read, LOCAL_WORKSPACE, memory.DEFAULT_TENANT, most=50)
    return [each.kind for each in await server.app.store.read(begin)]


async def test_after_an_edit_each_approver_sees_only_what_changed_since_they_approved(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    action = await staged(server)
    ada, grace = await invited(server, "Ada"), await invited(server, "Grace")
    await approve(server, action, ada)
    for subject in ("Assent is nearly here", "Assent is finally here"):
        await server.decide(grace, action.run_id, action.action_id, "edit", subject=subject)
    page = await server.page(ada, action.run_id)
    assert "What changed since you approved it" in page
    assert "nearly" not in page.partition("since you approved it")[2].partition("</details>")[0]
    assert "What changed since you approved it" not in await server.page(grace, action.run_id)
    assert "0 of 2 people have approved so far." in page
    await approve(server, action, ada, grace)
    assert (await server.action(action.action_id)).status == "approved"


async def test_what_a_person_published_is_recorded_only_while_all_who_approved_may_decide(
    server: Server,
) -> None:
    await two_people(server)
    run = await server.stage(post("hn", connector="manual", severity=Severity.HIGH))
    action = await server.action(run.actions[0].id)
    ada, grace = await invited(server, "Ada"), await invited(server, "Grace")
    await approve(server, action, ada, grace)
    await remove(server, "Grace")

    answer = await server.decide(ada, action.run_id, action.action_id, "publish", url="https://example.org/a")

    assert answer.status_code == 409
    assert (await server.action(action.action_id)).status == "approved"


async def test_an_approver_who_asks_for_changes_takes_only_their_own_approval_back(server: Server) -> None:
    action, ada, _, lin = await approved_by_two(server)
    await server.decide(ada, action.run_id, action.action_id, "ask", text="Shorter.")
    assert "1 of 2 people have approved so far. Grace" in await server.page(lin, action.run_id)

    action = await staged(server)
    await approve(server, action, ada)
    await server.decide(ada, action.run_id, action.action_id, "ask", text="Shorter.")
    await approve(server, action, lin)
    assert (await server.action(action.action_id)).status == "awaiting_approval"


async def test_a_run_counts_as_decided_what_no_longer_waits_for_anyone(server: Server) -> None:
    await two_people(server)
    soon = server.clock.now_ms() + HOUR_MS
    run = await server.stage(mail(60), post(body="One."), post(body="Two.", expires_ms=soon))
    letter, one = [await server.action(each.id) for each in run.actions[:2]]
    ada, grace = [await invited(server, name) for name in ("Ada", "Grace")]
    await approve(server, letter, ada)
    await approve(server, one, ada)
    server.clock.advance(hours=2)
    for browser, decided in ((ada, 1), (grace, 1)):
        assert f'<progress max="3" value="{decided}"' in await server.page(browser, run.run_id)
    await approve(server, letter, grace)
    assert '<progress max="3" value="2"' in await server.page(ada, run.run_id)


ALL_BY_TWO = Policy(
    low=Requirement(Assurance.PERSON, approvers=2),
    medium=Requirement(Assurance.PERSON, approvers=2),
    high=Requirement(Assurance.PERSON, approvers=2),
)


async def test_the_first_of_two_people_sends_nothing_by_a_batch_and_is_told_so(server: Server) -> None:
    await server.app.prepare()
    await set_policy(server, ALL_BY_TWO)
    run = await server.stage(*(post("site", connector="site", body=f"Note {n}: a line.") for n in (1, 2)))
    ids = [each.id for each in run.actions]
    ada, grace = [await invited(server, name) for name in ("Ada", "Grace")]

    asked = await batch(server, ada, "approve", *ids)
    [sure] = [each for each in forms(asked.text) if each.address == "/inbox/batch/approve"]
    assert ("then", "send", "") not in sure.buttons
    assert asked.text.count("<strong>1 of 2</strong>") == 2
    answer = await ada.post(sure.address, data={**sure.fields, "then": "send"})
    assert answer.headers["location"] == "/inbox?did=approve&count=2&half=2"
    said = (await ada.get(answer.headers["location"])).text
    assert "2 approved" not in said and "on their way" not in said and "2 approvals recorded" in said

    asked = await batch(server, grace, "approve", *ids)
    [sure] = [each for each in forms(asked.text) if each.address == "/inbox/batch/approve"]
    assert ("then", "send", "") in sure.buttons
    answer = await grace.post(sure.address, data={**sure.fields, "then": "send"})
    assert answer.headers["location"] == "/inbox?did=send&count=2&sent=2"


async def test_a_plan_says_which_approval_is_not_the_last_and_leaves_out_what_one_has_approved(
    server: Server,
) -> None:
    await two_people(server)
    run = await server.stage(mail(60), post(body="One."))
    letter, one = [await server.action(each.id) for each in run.actions]
    ada = await server.owner(name="Ada")
    address = f"/runs/{run.run_id}/plan"

    page = (await ada.get(address)).text
    assert page.count("<strong>1 of 2</strong>") == 1
    assert "Approve 2, send 1" in page
    shown = next(each for each in forms(page) if each.address == address)
    assert ("then", "send", "") in shown.buttons
    await approve(server, letter, ada)
    page = (await ada.get(address)).text
    [shown] = [each for each in forms(page) if each.address == address]
    digests = {name for name in shown.fields if name.startswith("digest.")}
    assert digests == {f"digest.{one.action_id}"}
    assert "<strong>1 of 2</strong>" not in page
    assert f'href="{address}"' not in await server.page(ada, run.run_id)
