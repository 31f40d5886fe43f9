"""People: invited, told apart by who they are, each in their workspaces, and each able to take back their own yes."""

from __future__ import annotations

import os

import httpx
import msgspec
from packages.core.tests.wire.review.test_inbox import stage_in
from tests.support.review.kit import Server, mail, post

from assent.engine.actions import decisions
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import members, people
from assent.engine.people.people import NamedBy, Person, Role
from assent.gate.gate import Decider, SeenVersion
from assent.gate.policy import PRESETS
from assent.gate.records import Assurance
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.limits import INVITATION_TTL_MS
from assent.sql.loader import statements


async def two_people(server: Server) -> None:
    """The workspace asks for two people where something is severe."""
    await server.app.prepare()
    policy = msgspec.json.encode(PRESETS["two_people"]).decode()
    await server.app.store.write(lambda: _set(policy))


def _set(policy: str):  # type: ignore[no-untyped-def]
    yield statements.set_policy(workspace_id=LOCAL_WORKSPACE, policy=policy)


async def invited(
    server: Server,
    name: str,
    role: Role = Role.MEMBER,
    places: tuple[WorkspaceId, ...] = (LOCAL_WORKSPACE,),
    email: str | None = None,
) -> httpx.AsyncClient:
    """A browser of somebody who followed their invitation."""
    browser = server.browser()
    answer = await browser.post(await invite(server, name, role, places, email), data={"name": name})
    assert answer.status_code == 303, answer.text
    return browser


async def invite(
    server: Server,
    name: str,
    role: Role = Role.MEMBER,
    places: tuple[WorkspaceId, ...] = (LOCAL_WORKSPACE,),
    email: str | None = None,
) -> str:
    """Where somebody signs in by their invitation."""
    await server.app.prepare()
    now_ms = server.clock.now_ms()
    by = NamedBy.FILE if email is not None else NamedBy.SELF
    person = Person(server.services.new_id(now_ms), name, role, email, named_by=by)
    entropy = os.urandom(people.ENTROPY_BYTES)
    token = await server.app.store.write(
        lambda: members.invite(person, places, entropy, now_ms, by="terminal")
    )
    return f"/sign-in/{token}"


async def test_two_people_of_one_name_count_as_two_and_one_person_under_two_names_as_one(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    await two_people(server)
    run = await server.stage(mail(60), mail(70))
    first, second = run.actions[0].id, run.actions[1].id
    ada = await invited(server, "Ada")
    namesake = await invited(server, "Ada", email="ada@example.org")

    await server.decide(ada, run.run_id, first, "approve")
    await server.decide(ada, run.run_id, second, "approve")
    now_ms = server.clock.now_ms()
    person_id = next(facts["personId"] for _, facts in await server.events(run.run_id) if "personId" in facts)
    renamed = Decider(LOCAL_WORKSPACE, "Grace", Assurance.PERSON, "page", person_id)
    await server.app.store.write(
        lambda: decisions.approve(
            renamed, ActionId(second), SeenVersion(), now_ms, seals=server.app.keys.seals
        )
    )
    await server.decide(namesake, run.run_id, first, "approve")

    action = await server.action(first)
    assert (action.status, action.approval is not None and action.approval.approvers) == ("approved", 2)
    assert action.approval is not None
    assert action.approval.person_id
    assert (await server.action(second)).status == "awaiting_approval"


async def test_the_first_of_two_can_take_back_their_yes_and_nobody_elses(server: Server) -> None:
    await two_people(server)
    run = await server.stage(mail(60))
    action_id = run.actions[0].id
    ada, grace = await invited(server, "Ada"), await invited(server, "Grace")
    await server.decide(ada, run.run_id, action_id, "approve")

    assert 'data-decision="withdraw"' not in await server.page(grace, run.run_id)
    answer = await server.decide(ada, run.run_id, action_id, "withdraw")
    assert answer.status_code == 303, answer.text
    await server.decide(grace, run.run_id, action_id, "approve")

    assert (await server.action(action_id)).status == "awaiting_approval"
    kinds = [kind for kind, _ in await server.events(run.run_id)]
    assert kinds.count("approval_taken_back") == 1


async def test_a_member_sees_their_workspaces_and_no_other(server_on_any_store: Server) -> None:
    server = server_on_any_store
    here = await server.stage(post())
    elsewhere = await stage_in(server, "Elsewhere", post(body="A text of a workspace that is not theirs."))
    member = await invited(server, "Grace")

    assert (await member.get(f"/runs/{here.run_id}")).status_code == 200
    foreign = await member.get(f"/runs/{elsewhere.run_id}")
    unknown = await member.get(f"/runs/{server.services.new_id(server.clock.now_ms())}")
    assert (foreign.status_code, foreign.text) == (unknown.status_code, unknown.text)
    page = (await member.get("/inbox")).text
    assert here.actions[0].id in page
    assert elsewhere.actions[0].id not in page


async def test_an_invitation_ends_with_its_time_and_with_a_fresh_one(server: Server) -> None:
    await server.app.prepare()
    now_ms = server.clock.now_ms()
    person = Person(server.services.new_id(now_ms), "Grace", Role.MEMBER)
    one, two = os.urandom(people.ENTROPY_BYTES), os.urandom(people.ENTROPY_BYTES)
    places = (LOCAL_WORKSPACE,)
    first = await server.app.store.write(lambda: members.invite(person, places, one, now_ms, by="terminal"))
    second = await server.app.store.write(
        lambda: members.invite_again(person.person_id, two, now_ms, by="terminal")
    )
    browser = server.browser()

    assert (await browser.get(f"/sign-in/{first}")).status_code == 404
    assert (await browser.get(f"/sign-in/{second}")).status_code == 200
    server.clock.advance(seconds=INVITATION_TTL_MS // 1000)
    assert (await browser.post(f"/sign-in/{second}")).status_code == 404


async def test_somebody_who_was_removed_is_signed_out_at_once(server: Server) -> None:
    grace = await invited(server, "Grace")
    assert (await grace.get("/inbox")).status_code == 200
    now_ms = server.clock.now_ms()
    known = await server.app.store.read(lambda: members.list_people(now_ms))
    person_id = known[0].person.person_id

    assert await server.app.store.write(lambda: members.remove(person_id, now_ms, by="owner"))

    assert (await grace.get("/inbox")).status_code == 401
    assert await server.app.store.read(lambda: members.find(person_id)) is None
