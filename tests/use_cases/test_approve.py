"""The same situation gets the same decision and the same events, wherever a person says yes. No command approves."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from tests.serving.web.review.kit import House, Provider, forms, post
from tests.serving.web.review.test_inbox import batch

from assent.engine.actions import actions
from assent.engine.actions.staging import PreparedRun
from assent.engine.core import freezes, tenancy
from assent.engine.core.tenancy import KEY_ID_BYTES, LOCAL_WORKSPACE, SECRET_BYTES, KeyEntropy
from assent.gate.effects import EffectTypes
from assent.gate.policy import Policy, Requirement
from assent.gate.preflight import Readiness
from assent.gate.records import Assurance, Effect
from assent.kernel.ids import WorkspaceId
from assent.ports import Transaction
from assent.sql.loader import statements


class Account(Provider):
    """A provider with an account, which may be named later, and a target with a state."""

    observes = True
    account: str | None = "main"
    version = 3

    async def addressed(self, workspace_id: WorkspaceId, effect: Effect) -> Effect:
        target = {"accountId": self.account} if self.account is not None else None
        return msgspec.structs.replace(effect, target=target)

    async def readiness_for(self, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
        named = effect.target is not None
        return Readiness(ready=named, fix_hint=None if named else "Name an account.", nameable=not named)

    async def observe(
        self, workspace_id: WorkspaceId, effect: Effect, timeout_seconds: float
    ) -> dict[str, Any]:
        return {"version": self.version}


@pytest.fixture
async def house(own_database_url: str, tmp_path: Path) -> AsyncIterator[House]:
    made = House(own_database_url, tmp_path)
    yield made
    await made.close()


Yes = Callable[[], Awaitable[object]]
"""Says yes to what a surface showed when it was opened."""


async def open_chat(house: House, run: PreparedRun) -> Yes:
    entropy = KeyEntropy(os.urandom(KEY_ID_BYTES), os.urandom(SECRET_BYTES))
    issued = await house.app.store.write(
        lambda: tenancy.issue_key(LOCAL_WORKSPACE, entropy, house.clock.now_ms(), by="test")
    )
    agent = house.browser(Authorization=f"Bearer {issued.api_key}")
    given = {"actionId": run.actions[0].id, "digest": run.actions[0].digest}
    return lambda: agent.post("/api/tools/chieflab_approve_action", json=given)


async def open_link(house: House, run: PreparedRun) -> Yes:
    browser = await house.opened(run)
    return _press(browser, await house.page(browser, run.run_id), f"/actions/{run.actions[0].id}/approve")


async def open_batch(house: House, run: PreparedRun) -> Yes:
    owner = await house.owner()
    asked = await batch(house, owner, "approve", run.actions[0].id)
    return _press(owner, asked.text, "/inbox/batch/approve")


def _press(browser: httpx.AsyncClient, page: str, address: str) -> Yes:
    [found] = [each for each in forms(page) if each.address.endswith(address)]
    named = {"name": "Ada Reviewer"} if "name" in found.fields else {}
    return lambda: browser.post(found.address, data={**found.fields, **named})


async def open_page(house: House, run: PreparedRun) -> Yes:
    owner = await house.owner()
    return _press(owner, await house.page(owner, run.run_id), f"/actions/{run.actions[0].id}/approve")


SURFACES = {"page": open_page, "link": open_link, "batch": open_batch}


class Situation(msgspec.Struct):
    """What happens between the look at an action and the yes, and what the yes leads to."""

    status: str
    revision: int
    events: list[str]
    account: str | None = "main"
    happens: Callable[[House, Account, pytest.MonkeyPatch], Awaitable[None]] | None = None


async def name_account(house: House, provider: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    provider.account = "main"


async def change_target(house: House, provider: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    provider.version = 4


async def remove_type(house: House, provider: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(house.services.__dict__, "effects", EffectTypes())


async def ask_two(house: House, provider: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    two = Requirement(Assurance.AGENT, 2)
    policy = msgspec.json.encode(Policy(low=two, medium=two, high=two)).decode()

    def change() -> Transaction[None]:
        yield statements.set_policy(workspace_id=LOCAL_WORKSPACE, policy=policy)

    await house.app.store.write(change)


async def freeze(house: House, provider: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    now_ms = house.clock.now_ms()
    await house.app.store.write(lambda: freezes.freeze(LOCAL_WORKSPACE, now_ms, by="cli", why=""))


SITUATIONS = {
    "nothing happened": Situation("approved", 1, ["action_approve"]),
    "its account is named": Situation("awaiting_approval", 2, ["action_edit"], None, name_account),
    "no account is named": Situation("approved", 1, ["action_approve"], None),
    "its target changed": Situation("awaiting_approval", 1, ["drift_found"], happens=change_target),
    "its type is gone": Situation("awaiting_approval", 1, [], happens=remove_type),
    "it needs a second approver": Situation("awaiting_approval", 1, ["approval_recorded"], happens=ask_two),
    "sending is frozen": Situation("approved", 1, ["action_approve"], happens=freeze),
}

OF_THE_ACTION = frozenset({"actionId", "shownAt"})
OF_THE_DECIDER = OF_THE_ACTION | {"by", "via", "assurance", "personId", "role"}


async def decide(house: House, opened: Any, situation: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Say yes on a surface, and return the bodies of the events that follow."""
    told, provider = SITUATIONS[situation], Account("site")
    connectors: Any = house.services.connectors
    connectors["site"] = provider
    provider.account, provider.version = told.account, 3
    run = await house.stage(post("site", connector="site", title="Note", body="It works."))
    before = len(await house.events(run.run_id))
    say_yes = await opened(house, run)
    house.clock.advance(seconds=1)
    with monkeypatch.context() as meanwhile:
        if told.happens is not None:
            await told.happens(house, provider, meanwhile)
        await say_yes()
    action = await house.action(run.actions[0].id)
    events = (await house.events(run.run_id))[before:]
    assert (action.status, action.revision) == (told.status, told.revision), opened
    assert [kind for kind, _ in events] == told.events, opened
    return [body for _, body in events]


def without(bodies: list[Any], names: frozenset[str]) -> list[dict[str, Any]]:
    return [{name: body[name] for name in body.keys() - names} for body in bodies]


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("surface", SURFACES)
async def test_a_yes_leads_to_the_same_decision_and_the_same_events_as_in_the_chat(
    house: House, surface: str, situation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_chat = await decide(house, open_chat, situation, monkeypatch)
    elsewhere = await decide(house, SURFACES[surface], situation, monkeypatch)
    assert without(elsewhere, OF_THE_DECIDER) == without(in_chat, OF_THE_DECIDER)


@pytest.mark.parametrize("situation", SITUATIONS)
async def test_the_same_person_leaves_the_same_events_on_the_page_and_in_a_batch(
    house: House, situation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_page = await decide(house, open_page, situation, monkeypatch)
    in_batch = await decide(house, open_batch, situation, monkeypatch)
    assert without(in_batch, OF_THE_ACTION) == without(on_page, OF_THE_ACTION)


@pytest.mark.parametrize("executes", [False, True])
async def test_a_batch_that_cannot_be_sent_says_why_and_decides_nothing(house: House, executes: bool) -> None:
    provider = Account("site")
    provider.account = None
    connectors: Any = house.services.connectors
    connectors["site"] = provider
    run = await house.stage(post("site", connector="site", title="Note", body="It works."))
    action = await house.action(run.actions[0].id)
    if executes:
        view = msgspec.structs.replace(action.view, approval_executes=True)
        changed = msgspec.structs.replace(action, view=view)
        await house.app.store.write(lambda: actions.store_view(changed))
    owner = await house.owner()
    asked = await batch(house, owner, "approve", action.action_id)
    assert "Name an account." in asked.text
    assert ("You can approve now" in asked.text) is not executes
    [form] = [each for each in forms(asked.text) if each.address.endswith("/inbox/batch/approve")]

    answer = await owner.post(form.address, data={**form.fields, "then": "send"})

    assert answer.status_code == 409
    assert "Name an account." in answer.text
    assert "was edited or decided by someone else" not in answer.text
    assert (await house.action(action.action_id)).status == "awaiting_approval"
