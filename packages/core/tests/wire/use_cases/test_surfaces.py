"""The same situation gets the same decision and the same events, wherever a person or an agent decides."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args

import httpx
import msgspec
import pytest
from packages.core.tests.wire.review.test_inbox import batch
from tests.support.effort import PROVE
from tests.support.keys import make_key
from tests.support.opened import on_own_database
from tests.support.review.kit import Provider, Server, forms, post
from tests.support.surfaces import MASTER, SECRET, START_MS
from tests.unit.sources.test_callers import find_callers, list_use_cases

from assent.cli import run
from assent.engine.actions import actions, policies
from assent.engine.actions.execution import ExecutionOrder
from assent.engine.actions.send_jobs import SEND_JOB
from assent.engine.actions.staging import PreparedRun
from assent.engine.core import jobs, tenancy
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people.chat import ChatEvent, make_code
from assent.engine.people.people import OWNER
from assent.gate.effects import EXECUTE, EffectTypes
from assent.gate.gate import Decider, SeenVersion
from assent.gate.policy import Policy, Requirement
from assent.gate.preflight import Readiness
from assent.gate.records import Action, Assurance, Effect
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.limits import DAY_MS
from assent.kernel.refusals import Refusal
from assent.ports import Context, Delivered, Delivery, OutcomeUnknown, Transaction
from assent.sql.loader import statements
from assent.use_cases import chat, decisions, executions, workspaces
from assent.use_cases.decisions import DecisionOrder


class Account(Provider):
    """A provider with an account, which may be named later, and a target with a state."""

    delivery = Delivery("read_back")
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

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        return None


server = on_own_database(Server)


Press = Callable[[], Awaitable[httpx.Response | None]]
"""Decides about what a surface showed when it was opened. A job gives no answer."""


class Decision(msgspec.Struct):
    """How a decision is asked for: in the chat by a tool, on pages by a form."""

    start: Literal["awaiting", "approved", "unknown"]
    tool: str = ""
    given: dict[str, Any] = {}
    form: str = ""
    fields: dict[str, str] = {}
    needs_digest: bool = False
    """Whether the tool takes the digest of what was shown."""
    not_on: frozenset[str] = frozenset()
    """The surfaces that do not offer it."""
    but: frozenset[str] = frozenset()
    """The situations in which the surfaces are not asked for the same."""
    at_once: bool = False
    """Whether the approval of the action also executes it."""
    is_scheduled: bool = False
    by_hand: bool = False
    """Whether it is about what a person does by hand, not about what a connector sends."""
    is_queued: bool = False
    """Whether a page answers before it is done, so that its answer says nothing about it."""


NO, OTHER, SEEN = (
    {"reason": "No."},
    {"body": "It works well."},
    {"outcome": "happened", "evidence": "I saw it."},
)
APPROVE, REJECT, EDIT = "chieflab_approve_action", "chieflab_reject_action", "chieflab_edit_action"
LIVE = {"url": "https://example.org/note"}
RESOLVE = "chieflab_resolve_unknown_outcome"
NO_JOB = frozenset({"job"})
ONE_BY_ONE = NO_JOB | {"batch", "chat app"}
SAYS_MORE = frozenset(
    {
        "it needs a second approver now",
        "it is one of two approvers",
        "it was edited",
        "it was rejected",
        "it was sent",
    }
)
"""To send from a page is a yes to what it showed; an executor names no content and gives no yes."""

NOT_BY_NOW = frozenset({"it was sent"})
"""No connector sends it, or not before its time."""

DECISIONS = {
    "approve": Decision("awaiting", APPROVE, {}, "approve", {}, True, not_on=NO_JOB | {"chat app"}),
    "approve and send": Decision(
        "awaiting",
        APPROVE,
        {"send": True},
        "approve",
        {"then": "send"},
        True,
        not_on=NO_JOB,
        is_queued=True,
    ),
    "approve what that executes": Decision(
        "awaiting", APPROVE, {}, "approve", {}, True, not_on=NO_JOB, is_queued=True, at_once=True
    ),
    "approve for later": Decision(
        "awaiting", APPROVE, {}, "approve", {}, True, not_on=NO_JOB, is_scheduled=True, but=NOT_BY_NOW
    ),
    "reject": Decision("awaiting", REJECT, NO, "reject", NO, True, not_on=NO_JOB),
    "reject what is approved": Decision("approved", REJECT, NO, "reject", NO, True, not_on=ONE_BY_ONE),
    "edit": Decision("awaiting", EDIT, OTHER, "edit", OTHER, True, not_on=ONE_BY_ONE),
    "edit what is approved": Decision("approved", EDIT, OTHER, "edit", OTHER, True, not_on=ONE_BY_ONE),
    "ask for changes": Decision(
        "awaiting", form="ask", fields={"text": "Shorter, please."}, not_on=NO_JOB | {"batch", "chat"}
    ),
    "ask for changes to what is approved": Decision(
        "approved", form="ask", fields={"text": "Shorter, please."}, not_on=ONE_BY_ONE | {"chat"}
    ),
    "withdraw": Decision("approved", "chieflab_withdraw_approval", NO, "withdraw", NO, not_on=ONE_BY_ONE),
    "send what is approved": Decision(
        "approved", APPROVE, {"send": True}, "send", {}, True, not_on=ONE_BY_ONE, is_queued=True
    ),
    "execute": Decision(
        "approved",
        EXECUTE,
        {},
        "send",
        not_on=frozenset({"batch", "chat app"}),
        is_queued=True,
        but=SAYS_MORE,
    ),
    "record by hand": Decision(
        "approved",
        "chieflab_record_manual_publish",
        LIVE,
        "publish",
        LIVE,
        not_on=ONE_BY_ONE,
        by_hand=True,
        but=NOT_BY_NOW,
    ),
    "resolve": Decision("unknown", RESOLVE, SEEN, "resolve", SEEN, not_on=ONE_BY_ONE),
    "look now": Decision(
        "unknown", RESOLVE, {"outcome": "look_now"}, "look_now", not_on=ONE_BY_ONE | {"link"}
    ),
}


async def open_chat(server: Server, run: PreparedRun, decision: Decision) -> Press | None:
    if not decision.tool:
        return None
    agent = await open_key(server, *tenancy.SCOPES)
    shown = {"digest": run.actions[0].digest} if decision.needs_digest else {}
    given = {"actionId": run.actions[0].id, **shown, **decision.given}
    return lambda: agent.post(f"/api/tools/{decision.tool}", json=given)


async def open_key(server: Server, *scopes: str) -> httpx.AsyncClient:
    return server.browser(Authorization=f"Bearer {await make_key(server.app, scopes=scopes)}")


async def open_link(server: Server, run: PreparedRun, decision: Decision) -> Press | None:
    return await _open_run(server, await server.opened(run), run, decision)


async def open_page(server: Server, run: PreparedRun, decision: Decision) -> Press | None:
    return await _open_run(server, await server.owner(), run, decision)


async def _open_run(
    server: Server, browser: httpx.AsyncClient, run: PreparedRun, decision: Decision
) -> Press | None:
    page = await server.page(browser, run.run_id)
    return _find_button(browser, page, f"/actions/{run.actions[0].id}/{decision.form}", decision)


async def open_batch(server: Server, run: PreparedRun, decision: Decision) -> Press | None:
    """Select the action and another one, which nothing happens to."""
    owner = await server.owner()
    asked = await batch(server, owner, decision.form, *(each.id for each in run.actions))
    return _find_button(owner, asked.text, f"/inbox/batch/{decision.form}", decision)


def _find_button(browser: httpx.AsyncClient, page: str, address: str, decision: Decision) -> Press | None:
    found = next((each for each in forms(page) if each.address.endswith(address)), None)
    if found is None:
        return None
    named = {"name": "Ada Reviewer"} if "name" in found.fields else {}
    data = {**found.fields, **named, **decision.fields}

    return lambda: browser.post(found.address, data=data)


async def open_chat_app(server: Server, run: PreparedRun, decision: Decision) -> Press | None:
    """Decide by what a chat app signed, as the person who linked the account. A yes there also sends what a connector
    can send now."""
    if decision.form == "approve" and not (decision.is_queued or decision.is_scheduled):
        return None
    move: Any = decision.form
    if decision.start != "awaiting" or move not in get_args(chat.ChatMove):
        return None
    await server.owner()
    action = run.actions[0]

    def make_event(event_id: str) -> ChatEvent:
        return ChatEvent(
            workspace_id=LOCAL_WORKSPACE,
            target_id="app",
            account="U0ADA",
            event_id=event_id,
            at_ms=server.clock.now_ms(),
            via="Slack",
        )

    linked = await chat.link(server.services, make_event("link"), make_code(server.services, OWNER))
    assert linked.decided, linked.text
    text = next(iter(decision.fields.values()), "")

    async def tap() -> httpx.Response:
        answer = await chat.decide(
            server.services, make_event(action.id), action.id, action.digest, move, text
        )
        return httpx.Response(200 if answer.decided else 409, text=answer.text)

    return tap


async def open_job(server: Server, run: PreparedRun, decision: Decision) -> Press | None:
    """The job of an action that is to be sent at once."""
    if decision.tool != EXECUTE:
        return None
    action = await server.action(run.actions[0].id)
    job_id, now_ms = f"{action.action_id}:test", server.clock.now_ms()
    payload = {"actionId": action.action_id, "approval": action.approval and action.approval.since}
    await server.app.store.write(
        lambda: jobs.enqueue(LOCAL_WORKSPACE, SEND_JOB, job_id, payload, due_ms=now_ms, now_ms=now_ms)
    )

    return pause


async def pause() -> None:
    """A job starts without a call, so the test only waits for it."""


Open = Callable[[Server, PreparedRun, Decision], Awaitable[Press | None]]

SURFACES: dict[str, Open] = {
    "chat": open_chat,
    "page": open_page,
    "link": open_link,
    "batch": open_batch,
    "chat app": open_chat_app,
    "job": open_job,
}


ONE, TWO = (Decider(LOCAL_WORKSPACE, name, Assurance.PERSON, "review page") for name in ("Ada", "Grace"))


def execution_of(action_id: str) -> ExecutionOrder:
    return ExecutionOrder(
        workspace_id=LOCAL_WORKSPACE, action_id=ActionId(action_id), tool=EXECUTE, by="test"
    )


def order_of(decider: Decider, action: Action) -> DecisionOrder:
    return DecisionOrder(decider, action, SeenVersion(action.revision, action.digest))


class Scene(msgspec.Struct):
    """An action between the look at it and the decision."""

    server: Server
    provider: Account
    action: Action
    monkeypatch: pytest.MonkeyPatch


async def name_account(scene: Scene) -> None:
    scene.provider.account = "main"


async def change_target(scene: Scene) -> None:
    scene.provider.version = 4


async def remove_type(scene: Scene) -> None:
    scene.monkeypatch.setitem(scene.server.services.__dict__, "effects", EffectTypes())


async def ask_two(scene: Scene) -> None:
    await ask_for(scene.server, 2)


async def freeze(scene: Scene) -> None:
    now_ms = scene.server.clock.now_ms()
    await workspaces.freeze(scene.server.app.store, LOCAL_WORKSPACE, now_ms, by="cli", why="")


async def edit(scene: Scene) -> None:
    services, write = scene.server.services, scene.server.app.store.write
    await decisions.edit(services, order_of(ONE, scene.action), {"body": "Another text."}, write)


async def reject(scene: Scene) -> None:
    clock, write = scene.server.clock, scene.server.app.store.write
    await decisions.reject(clock, order_of(ONE, scene.action), "No.", write)


async def send(scene: Scene) -> None:
    services, write = scene.server.services, scene.server.app.store.write
    await decisions.approve(services, order_of(ONE, scene.action), write)
    await executions.execute(services, execution_of(scene.action.action_id))


class Situation(msgspec.Struct):
    """What is so when an action is staged, and what happens between the look at it and the decision."""

    happens: Callable[[Scene], Awaitable[None]] | None = None
    account: str | None = "main"
    approvers: int = 1
    starts: frozenset[str] = frozenset({"awaiting", "approved", "unknown"})


UNSENT = frozenset({"awaiting", "approved"})

SITUATIONS = {
    "nothing happened": Situation(),
    "its account is named": Situation(name_account, account=None, starts=UNSENT),
    "no account is named": Situation(account=None, starts=UNSENT),
    "its target changed": Situation(change_target),
    "its type is gone": Situation(remove_type),
    "it needs a second approver now": Situation(ask_two),
    "it is one of two approvers": Situation(approvers=2),
    "sending is frozen": Situation(freeze),
    "it was edited": Situation(edit, starts=UNSENT),
    "it was rejected": Situation(reject, starts=UNSENT),
    "it was sent": Situation(send, starts=UNSENT),
}


async def ask_for(server: Server, approvers: int) -> None:
    """Let everything need that many approvers, of whom the server need not know that they are people."""
    needed = Requirement(Assurance.AGENT, approvers)
    policy = msgspec.json.encode(Policy(low=needed, medium=needed, high=needed)).decode()

    def change() -> Transaction[None]:
        yield statements.set_policy(workspace_id=LOCAL_WORKSPACE, policy=policy)

    await server.app.store.write(change)


async def bring_to(server: Server, provider: Account, decision: Decision, approvers: int) -> PreparedRun:
    """Stage an action and another one beside it, and let the first come to where it is decided about. Of two approvers
    the second one still decides, if it waits."""
    start = decision.start
    sent, by_hand = (
        post(channel, connector=connector, title="Note", body="It works.")
        for channel, connector in (("site", "site"), ("hn", "manual"))
    )
    if decision.is_scheduled:
        sent = msgspec.structs.replace(sent, schedule_ms=START_MS + DAY_MS)
    run = await server.stage(*((by_hand, sent) if decision.by_hand else (sent, by_hand)))
    if decision.at_once:
        staged = await server.action(run.actions[0].id)
        view = msgspec.structs.replace(staged.view, approval_executes=True)
        changed = msgspec.structs.replace(staged, view=view)
        await server.app.store.write(lambda: actions.store_view(changed))
    deciders = (ONE, TWO)[:approvers] if start != "awaiting" else (ONE, TWO)[: approvers - 1]
    for decider in deciders:
        action = await server.action(run.actions[0].id)
        await decisions.approve(server.services, order_of(decider, action), server.app.store.write)
    if start == "unknown":

        def be_silent(action: Action) -> Delivered:
            raise OutcomeUnknown("no answer")

        provider.then, good = be_silent, provider.then
        with pytest.raises(Refusal):
            await executions.execute(server.services, execution_of(run.actions[0].id))
        provider.then = good
    return run


OF_THE_ACTION = frozenset({"actionId", "shownAt", "attemptId", "providerKey", "leaseUntil"})
OF_THE_DECIDER = frozenset({"by", "via", "assurance", "personId", "role", "claimed", "answeredBy"})
PROSE = frozenset({"detail"})


class Decided(msgspec.Struct):
    """What a decision led to: whether it was accepted, what is stored, and the events, with and without the decider."""

    accepted: bool | None
    stored: tuple[str, str, int]
    events: list[tuple[str, dict[str, Any]]]
    whole: list[tuple[str, dict[str, Any]]]


async def decide(
    server: Server, opened: Open, decision: Decision, situation: Situation, monkeypatch: pytest.MonkeyPatch
) -> Decided | None:
    """Decide on a surface. Returns None if it does not offer that."""
    provider = Account("site")
    provider.account = situation.account
    connectors: Any = server.services.connectors
    connectors["site"] = provider
    await ask_for(server, situation.approvers)
    run = await bring_to(server, provider, decision, situation.approvers)
    action = await server.action(run.actions[0].id)
    press = await opened(server, run, decision)
    if press is None:
        return None
    server.clock.advance(seconds=1)
    before = len(await server.events(run.run_id))
    with monkeypatch.context() as meanwhile:
        if situation.happens is not None:
            await situation.happens(Scene(server, provider, action, meanwhile))
        answer = await press()
        await server.run_jobs()
    await workspaces.unfreeze(server.app.store, LOCAL_WORKSPACE, server.clock.now_ms(), by="cli")
    accepted = answer.status_code < 400 if answer is not None and not decision.is_queued else None
    events = (await server.events(run.run_id))[before:]
    mine = [(kind, body) for kind, body in events if body["actionId"] == action.action_id]
    if opened is open_batch:
        assert answer is not None and (mine != events) is (answer.status_code < 400)
    else:
        assert mine == events
    stored = await server.action(action.action_id)
    return Decided(
        accepted,
        (stored.status, stored.execution_state, stored.revision),
        [(kind, without(body, OF_THE_ACTION | OF_THE_DECIDER | PROSE)) for kind, body in mine],
        [(kind, without(body, OF_THE_ACTION)) for kind, body in mine],
    )


def without(body: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    kept = {name: body[name] for name in sorted(body.keys() - names)}
    return {name: without(each, names) if isinstance(each, dict) else each for name, each in kept.items()}


LEADS_TO = {
    ("approve", "nothing happened"): ("approved", ["action_approve"]),
    ("approve", "its account is named"): ("awaiting_approval", ["action_edit"]),
    ("approve", "no account is named"): ("approved", ["action_approve"]),
    ("approve", "its target changed"): ("awaiting_approval", ["drift_found"]),
    ("approve", "its type is gone"): ("awaiting_approval", []),
    ("approve", "it needs a second approver now"): ("awaiting_approval", ["approval_recorded"]),
    ("approve", "it is one of two approvers"): ("approved", ["action_approve"]),
    ("approve", "sending is frozen"): ("approved", ["action_approve"]),
    ("approve and send", "nothing happened"): (
        "executed",
        ["action_approve", "action_claim", "action_succeed"],
    ),
    ("approve and send", "no account is named"): ("awaiting_approval", []),
    ("approve and send", "sending is frozen"): ("approved", ["action_approve"]),
    ("approve what that executes", "nothing happened"): (
        "executed",
        ["action_approve", "action_claim", "action_succeed"],
    ),
    ("approve what that executes", "no account is named"): ("awaiting_approval", []),
    ("approve for later", "nothing happened"): ("approved", ["action_approve"]),
    ("reject", "nothing happened"): ("rejected", ["action_reject"]),
    ("reject", "its target changed"): ("rejected", ["action_reject"]),
    ("reject what is approved", "nothing happened"): ("rejected", ["action_withdraw", "action_reject"]),
    ("edit", "nothing happened"): ("awaiting_approval", ["action_edit"]),
    ("edit", "its type is gone"): ("awaiting_approval", []),
    ("edit what is approved", "nothing happened"): ("awaiting_approval", ["action_edit"]),
    ("ask for changes", "nothing happened"): ("awaiting_approval", ["changes_asked"]),
    ("ask for changes to what is approved", "nothing happened"): (
        "awaiting_approval",
        ["action_withdraw", "changes_asked"],
    ),
    ("ask for changes to what is approved", "it is one of two approvers"): (
        "awaiting_approval",
        ["action_withdraw", "changes_asked"],
    ),
    ("withdraw", "nothing happened"): ("awaiting_approval", ["action_withdraw"]),
    ("withdraw", "sending is frozen"): ("awaiting_approval", ["action_withdraw"]),
    ("send what is approved", "nothing happened"): ("executed", ["action_claim", "action_succeed"]),
    ("execute", "nothing happened"): ("executed", ["action_claim", "action_succeed"]),
    ("execute", "its account is named"): ("awaiting_approval", ["action_edit", "execution_refused"]),
    ("execute", "no account is named"): ("approved", ["execution_refused"]),
    ("execute", "its target changed"): ("awaiting_approval", ["action_withdraw"]),
    ("execute", "its type is gone"): ("approved", ["execution_refused"]),
    ("execute", "sending is frozen"): ("approved", []),
    ("record by hand", "nothing happened"): ("executed", ["action_hand_over"]),
    ("resolve", "nothing happened"): ("executed", ["outcome_answered", "action_found_done"]),
    ("look now", "nothing happened"): ("approved", ["outcome_asked", "action_found_not_done"]),
}
"""What some of them lead to; the others only have to be the same everywhere."""

CASES = [
    (name, situation)
    for name, situation in product(DECISIONS, SITUATIONS)
    if DECISIONS[name].start in SITUATIONS[situation].starts and situation not in DECISIONS[name].but
]


ON_STORES = [
    *(("sqlite", *case) for case in CASES),
    *(("postgres", *case) for case in (CASES if PROVE else LEADS_TO)),
]


@pytest.mark.prove
@pytest.mark.parametrize(("database", "name", "situation"), ON_STORES)
async def test_a_decision_leads_to_the_same_on_every_surface(
    server: Server, name: str, situation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    decision = DECISIONS[name]
    made = {
        surface: await decide(server, opened, decision, SITUATIONS[situation], monkeypatch)
        for surface, opened in SURFACES.items()
    }
    found = {surface: decided for surface, decided in made.items() if decided is not None}

    assert made.keys() - found.keys() == decision.not_on
    for decided in found.values():
        assert (decided.accepted, decided.stored, decided.events) == (
            found["page"].accepted if decided.accepted is not None else None,
            found["page"].stored,
            found["page"].events,
        )
    kinds = [kind for kind, _ in found["page"].events]
    assert LEADS_TO.get((name, situation)) in (None, (found["page"].stored[0], kinds))
    if "batch" in found:  # by the same person, with the same assurance
        assert found["batch"].whole == found["page"].whole


COMPARED = {
    "chat.decide": {
        "approve and send",
        "approve what that executes",
        "approve for later",
        "reject",
        "ask for changes",
    },
    "decisions.approve": {"approve", "approve and send", "send what is approved"},
    "decisions.approve_together": {"approve", "approve and send", "approve for later"},
    "decisions.ask_for_changes": {"ask for changes", "ask for changes to what is approved"},
    "decisions.edit": {"edit", "edit what is approved"},
    "decisions.reject": {"reject", "reject what is approved"},
    "decisions.reject_together": {"reject"},
    "decisions.withdraw": {"withdraw"},
    "executions.execute": {"execute", "send what is approved"},
    "executions.look_now": {"look now"},
    "executions.record_by_hand": {"record by hand"},
    "executions.resolve": {"resolve"},
}
"""The decisions that a use case is compared by."""

NOT_COMPARED = {
    "chat.link": {"chat app"},
    "connections.choose": {"command", "console"},
    "connections.connect": {"console"},
    "connections.connect_with_key": {"command", "console"},
    "connections.disconnect": {"chat", "command", "console"},
    "connections.follow": {"job"},
    "decisions.approve_plan": {"plan"},
    "decisions.hand_over": {"chat"},
    "decisions.read_readiness": {"batch", "console", "page"},
    "decisions.reject_held": {"batch"},
    "decisions.release_held": {"batch"},
    "decisions.replace_content": {"wrapped call"},
    "decisions.take_back": {"wrapped call"},
    "executions.hand_out": {"wrapped call"},
    "executions.reconcile": {"job"},
    "executions.report": {"wrapped call"},
    "executions.try_again": {"page"},
    "executions.undo": {"chat", "page"},
    "runs.end_links": {"page"},
    "runs.prepare": {"chat", "wrapped call"},
    "workspaces.decide_signup": {"console"},
    "workspaces.freeze": {"command", "console"},
    "workspaces.set_policy": {"chat", "command", "console"},
    "workspaces.unfreeze": {"command", "console"},
}
"""Those of one surface, and those that decide about no action. No command decides about one."""

PLACES = {
    "suite.screens": "console",
    "tools": "chat",
    "assent_launch.subscribers": "job",
    "assent_launch.screens": "console",
    "assent_launch": "chat",
    "serving.web.review": "page",
    "serving.web.inbox.batch": "batch",
    "serving.web.inbox.plan": "plan",
    "serving.web": "console",
    "cli": "command",
    "jobs": "job",
    "assent_notify.slack": "chat app",
    "assent_wrap": "wrapped call",
}
"""Which surface a module is a part of, by the first place that fits. A link leads to the page."""


def test_no_surface_that_decides_is_left_out() -> None:
    callers = find_callers(list_use_cases())
    offers = {
        name.removeprefix("assent.use_cases."): {
            next(surface for place, surface in PLACES.items() if f"{module}.".startswith(f"{place}."))
            for module in modules
        }
        for name, modules in callers.items()
    }
    # A wrapped call is changed and cancelled by its own agent, which decides nothing.
    seen = {name: offers.pop(name) - {"wrapped call"} for name in COMPARED}
    assert offers == NOT_COMPARED
    for name, decided in COMPARED.items():
        assert seen[name] <= SURFACES.keys() - frozenset.intersection(
            *(DECISIONS[each].not_on for each in decided)
        )


async def set_in_chat(server: Server, preset: str) -> bool:
    agent = await open_key(server, tenancy.POLICY_SCOPE)
    answer = await agent.post("/api/tools/chieflab_set_policy", json={"policy": {"preset": preset}})
    return answer.status_code < 400


async def set_on_page(server: Server, preset: str) -> bool:
    owner = await server.owner()
    page = await owner.get("/settings/policy")
    [form] = [each for each in forms(page.text) if each.address == "/settings/policy"]
    answer = await owner.post(form.address, data={**form.fields, "preset": preset})
    return answer.status_code < 400


async def set_by_command(server: Server, preset: str) -> bool:
    return await asyncio.to_thread(run, ("policy", "set", preset)) == 0


@pytest.mark.parametrize(("preset", "is_known"), [("people", True), ("peple", False)])
async def test_a_policy_is_set_to_the_same_in_the_chat_on_the_page_and_by_a_command(
    server: Server,
    own_database_url: str,
    tmp_path: Path,
    preset: str,
    is_known: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {
        "ASSENT_DATA_DIR": str(tmp_path),
        "ASSENT_DATABASE_URL": own_database_url,
        "ASSENT_SECRET": MASTER,
        "RUN_TOKEN_SECRET": SECRET,
    }.items():
        monkeypatch.setenv(name, value)
    await server.app.prepare()
    found = []
    for set_policy in (set_in_chat, set_on_page, set_by_command):
        await set_by_command(server, "relay")
        before = await read_changes(server)
        assert await set_policy(server, preset) is is_known, set_policy
        made = await server.app.store.read(lambda: policies.find_version(LOCAL_WORKSPACE))
        changes = [
            without(each, frozenset({"by", "version"}))
            for each in (await read_changes(server))[len(before) :]
        ]
        found.append((made.source, changes))
    assert found == [found[0]] * 3
    assert len(found[0][1]) == is_known


async def read_changes(server: Server) -> list[dict[str, Any]]:
    events = await server.events(LOCAL_WORKSPACE)
    return [body for kind, body in events if kind == "policy_changed"]


@pytest.mark.parametrize("executes", [False, True])
async def test_a_batch_that_cannot_be_sent_says_why_and_decides_nothing(
    server: Server, executes: bool
) -> None:
    provider = Account("site")
    provider.account = None
    connectors: Any = server.services.connectors
    connectors["site"] = provider
    run = await server.stage(post("site", connector="site", title="Note", body="It works."))
    action = await server.action(run.actions[0].id)
    if executes:
        view = msgspec.structs.replace(action.view, approval_executes=True)
        changed = msgspec.structs.replace(action, view=view)
        await server.app.store.write(lambda: actions.store_view(changed))
    owner = await server.owner()
    asked = await batch(server, owner, "approve", action.action_id)
    assert "Name an account." in asked.text
    assert ("You can approve now" in asked.text) is not executes
    [form] = [each for each in forms(asked.text) if each.address.endswith("/inbox/batch/approve")]

    answer = await owner.post(form.address, data={**form.fields, "then": "send"})

    assert answer.status_code == 409
    assert "Name an account." in answer.text
    assert "was edited or decided by someone else" not in answer.text
    assert (await server.action(action.action_id)).status == "awaiting_approval"
