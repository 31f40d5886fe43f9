"""What the tests of the gate share: a surface that can stage, decide as anybody, execute, and bring an action into any
state, always beside the providers' ledgers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from tests.support.actions.provider import Provider, Sent, lost_before, refused, unreachable
from tests.support.keys import make_key
from tests.support.surfaces import Outcome, Surface

from assent.engine.actions import actions, decisions, execution, reconciliation
from assent.engine.actions.execution import ExecutionOrder
from assent.engine.actions.staging import PreparedRun, Request
from assent.engine.core import failpoints
from assent.engine.core.tenancy import KeyMode
from assent.gate.gate import Decider, SeenVersion
from assent.gate.policy import Policy
from assent.gate.records import Action, Assurance, Effect, Media
from assent.gate.views import Severity
from assent.kernel.ids import ActionId, RunId, TenantId, WorkspaceId
from assent.kernel.times import parse_time, read_offset
from assent.ports import Draft, Preparation, Single, StagedEffect, Transaction
from assent.sql.loader import statements
from assent.tools.definition import WRITES, Call, Tool
from assent.use_cases import runs

APPROVE = "chieflab_approve_action"
REJECT = "chieflab_reject_action"
EDIT = "chieflab_edit_action"
WITHDRAW = "chieflab_withdraw_approval"
GET = "chieflab_get_action"
PENDING = "chieflab_list_pending_actions"
AUDIT = "chieflab_query_audit"
EXECUTE = "chieflab_execute_approved_action"
PUBLISH = "chieflab_publish_approved_post"
SEND = "chieflab_send_email"
RESOLVE = "chieflab_resolve_unknown_outcome"
STAGE = "gate_stage"

EXECUTORS = (EXECUTE, PUBLISH)
"""Those that a post goes out by."""

BODY = "We rebuilt the importer last week. It now reads a million rows in nine seconds, and it says why when it stops."
OTHER = "The importer is twice as fast since Tuesday, and its messages name the row that is wrong."

STATES = (
    "awaiting_approval",
    "approved",
    "executing",
    "outcome_unknown",
    "retryable",
    "rejected",
    "executed",
    "failed",
)


PREPARED_FIELDS = frozenset(
    {
        "runId",
        "workspaceId",
        "assets",
        "actions",
        "reviewUrl",
        "agentGuide",
        "stopRule",
        "sideEffectsPreparedButNotFired",
        "externalActionsExecuted",
    }
)
"""Fields of the answer to every prepare."""


class StageEffect(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    body: str = BODY
    channel: str = "linkedin"
    verb: str = "post"
    connector: str = "native"
    title: str = ""
    subject: str = ""
    recipients: list[str] = []
    target: dict[str, str] | None = None
    media: list[Media] = []
    severity: str | None = None
    warnings: list[str] = []
    schedule_for: str | None = None
    expires_at: str | None = None
    cost_credits: int = 0


class StageRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    effects: list[StageEffect] = []
    drafts: list[str] = []
    tenant_id: str | None = None
    parent_run_id: str | None = None
    idempotency_key: str | None = None


def preparation(request: StageRequest) -> Preparation:
    """What a small operator wants: a draft for each effect, and drafts without one."""
    drafts = [
        Draft(type="post", title="", body=effect.body, channel=effect.channel) for effect in request.effects
    ]
    drafts += [Draft(type="note", title="Note", body=text, channel="notes") for text in request.drafts]
    effects = [_staged(effect, position) for position, effect in enumerate(request.effects)]
    return Preparation(drafts=tuple(drafts), effects=tuple(effects), outputs={"drafts": len(drafts)})


def _staged(given: StageEffect, position: int) -> StagedEffect:
    return StagedEffect(
        effect=Effect(
            channel=given.channel,
            verb=given.verb,
            connector=given.connector,
            body=given.body,
            title=given.title,
            subject=given.subject,
            recipients=tuple(given.recipients),
            target=given.target,
            media=tuple(given.media),
        ),
        executor_tool=SEND if given.verb == "email" else PUBLISH,
        draft=position,
        severity=Severity(given.severity) if given.severity is not None else None,
        warnings=tuple(given.warnings),
        cost_credits=given.cost_credits,
        schedule_ms=parse_time(given.schedule_for) if given.schedule_for is not None else None,
        schedule_offset=read_offset(given.schedule_for) if given.schedule_for is not None else "",
        expires_ms=parse_time(given.expires_at) if given.expires_at is not None else None,
    )


async def stage(call: Call, request: StageRequest) -> PreparedRun:
    return await runs.prepare(
        call.services,
        Request(
            principal=call.caller,
            operator="test",
            tool=STAGE,
            inputs=msgspec.to_builtins(msgspec.structs.replace(request, idempotency_key=None)),
            tenant_id=TenantId(request.tenant_id) if request.tenant_id is not None else None,
            parent_run_id=RunId(request.parent_run_id) if request.parent_run_id is not None else None,
            key=request.idempotency_key,
        ),
        preparation(request),
        PreparedRun,
    )


STAGE_TOOL = Tool(
    name=STAGE,
    title="Stage",
    description="Stages effects for the tests of the gate.",
    behaviour=WRITES,
    request=StageRequest,
    reply=PreparedRun,
    handler=stage,
)


class Gate(Surface):
    """A client, and everything that a test may do behind its back."""

    providers: dict[str, Provider]
    workspace_id: WorkspaceId

    # ── over the wire ────────────────────────────────────────────────────────────────────────────

    async def run(self, *effects: dict[str, Any], key: str | None = None, **options: Any) -> dict[str, Any]:
        """Stage a run and give its answer."""
        arguments = {"effects": list(effects) or [{}], **options}
        answer = await self.call(STAGE, arguments, key=key)
        assert not answer.is_error, answer.payload
        return answer.payload

    async def staged(self, *, key: str | None = None, **effect: Any) -> str:
        """Stage one action and give its id."""
        action_id: str = (await self.run(effect, key=key))["actions"][0]["id"]
        return action_id

    async def approved(self, **effect: Any) -> str:
        """Stage one action, approve it in the chat and give its id."""
        action_id = await self.staged(**effect)
        await self.done(APPROVE, actionId=action_id)
        return action_id

    async def approve_as_shown(self, action_id: str) -> dict[str, Any]:
        """Approve in the chat exactly what the record says now."""
        return await self.done(APPROVE, actionId=action_id, digest=(await self.record(action_id))["digest"])

    async def ask(self, tool: str, **arguments: Any) -> Outcome:
        return await self.call(tool, arguments)

    async def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A call that has to work."""
        answer = await self.call(tool, arguments)
        assert not answer.is_error, answer.payload
        return answer.payload

    async def denied(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A call that has to be refused."""
        answer = await self.call(tool, arguments)
        assert answer.is_error, answer.payload
        return answer.payload

    async def record(self, action_id: str) -> dict[str, Any]:
        return await self.done(GET, actionId=action_id)

    async def where(self, action_id: str) -> str:
        """The name of an action's state, as in STATES."""
        record = await self.record(action_id)
        beside: str = record["executionState"]
        status: str = record["status"]
        return status if beside in ("none", "done") else beside

    async def events(self, run_id: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.done(AUDIT, runId=run_id))["events"]
        return found

    # ── behind its back ──────────────────────────────────────────────────────────────────────────

    @property
    def ledger(self) -> list[Sent]:
        """Everything that any provider did."""
        return [sent for provider in self.providers.values() for sent in provider.ledger]

    @property
    def calls(self) -> int:
        """How often any provider was asked to do something."""
        return sum(provider.calls for provider in self.providers.values())

    async def stored(self, action_id: str) -> Action:
        action, _ = await self.app.store.read(lambda: actions.find(self.workspace_id, ActionId(action_id)))
        return action

    def someone(self, assurance: Assurance = Assurance.PERSON, name: str = "Ada") -> Decider:
        return Decider(self.workspace_id, name, assurance, "page")

    async def decide(self, begin: Callable[[], Any]) -> Action:
        action: Action = await self.app.store.write(begin)
        return action

    async def approve_as(
        self, assurance: Assurance, action_id: str, name: str = "Ada", *, send_now: bool = False
    ) -> Action:
        """An approval by somebody whom the server knows that well, as the page makes it: of what it shows now."""
        now_ms, shown = self.clock.now_ms(), SeenVersion(digest=(await self.stored(action_id)).digest)
        return await self.decide(
            lambda: decisions.approve(
                self.someone(assurance, name),
                ActionId(action_id),
                shown,
                now_ms,
                seals=self.app.keys.seals,
                send_now=send_now,
            )
        )

    async def withdraw_as(self, name: str, action_id: str) -> Action:
        now_ms = self.clock.now_ms()
        return await self.decide(
            lambda: decisions.withdraw(self.someone(name=name), ActionId(action_id), "", now_ms)
        )

    async def answer_as_person(self, action_id: str, *, happened: bool) -> Action:
        """A signed-in person says what became of it."""
        facts = {
            "by": "Ada",
            "assurance": "person",
            "via": "page",
            "evidence": "https://provider.example/seen",
        }
        now_ms = self.clock.now_ms()
        return await self.decide(
            lambda: reconciliation.resolve(self.workspace_id, ActionId(action_id), happened, facts, now_ms)
        )

    async def key_with(self, *scopes: str, mode: KeyMode = "live") -> str:
        """A second key of this workspace that may do only so much."""
        return await make_key(self.app, self.workspace_id, scopes=scopes, mode=mode)

    async def set_policy(self, policy: Policy) -> None:
        text = msgspec.json.encode(policy).decode()
        await self.app.store.write(Single(statements.set_policy(workspace_id=self.workspace_id, policy=text)))

    async def overwrite(self, action_id: str, **changes: Any) -> None:
        """Change a stored action as somebody does who owns the database and no part of the server."""
        stored = await self.stored(action_id)
        changed = msgspec.structs.replace(stored, **changes)

        def begin() -> Transaction[None]:
            yield from actions.put_without_event(changed)

        await self.app.store.write(begin)

    async def claim(self, action_id: str, *, key: str | None = None, tool: str = EXECUTE) -> Action:
        """Claim an action as a process that dies right afterwards."""
        order = ExecutionOrder(
            workspace_id=self.workspace_id, action_id=ActionId(action_id), tool=tool, by="nobody", key=key
        )
        claimed = await execution.claim_action(self.app.owner_services, order)
        assert isinstance(claimed, Action)
        return claimed

    async def bring_to(self, state: str, *, connector: str = "unaware", **effect: Any) -> str:
        """An action in a given state, reached as it is reached in life."""
        provider = self.providers[connector]
        if state == "awaiting_approval":
            return await self.staged(connector=connector, **effect)
        if state == "rejected":
            action_id = await self.staged(connector=connector, **effect)
            await self.done(REJECT, actionId=action_id, reason="not now")
            return action_id
        action_id = await self.approved(connector=connector, **effect)
        if state == "executing":
            await self.claim(action_id)
        step = {"outcome_unknown": lost_before, "retryable": unreachable, "failed": refused}.get(state)
        if step is not None:
            provider.plan.append(step)
        if step is not None or state == "executed":
            await self.ask(EXECUTE, actionId=action_id)
        assert await self.where(action_id) == state
        return action_id


@contextmanager
def armed(places: dict[str, Callable[[], None]]) -> Iterator[None]:
    """Failpoints that do something, for a while."""
    for name, action in places.items():
        failpoints.arm(name, action)
    try:
        yield
    finally:
        for name in places:
            failpoints.disarm(name)
