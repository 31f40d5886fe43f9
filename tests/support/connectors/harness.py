"""An engine with a connector of each kind, the provider behind them, and its ledger as the judge."""

from __future__ import annotations

import msgspec
from tests.support.connectors.kit import Engine

from assent.gate.records import Action
from assent.kernel.ids import ActionId
from assent.kernel.refusals import Reason, Refusal
from assent.present.outlook import Executed
from assent_conform.testing.connector import EmulatedConnector, Emulator
from assent_conform.testing.operator import Wanted

NOWHERE = "http://127.0.0.1:1"


def first(action_id: ActionId) -> str:
    """The key of the first attempt."""
    return f"first {action_id}"


def again(action_id: ActionId) -> str:
    """The key of a later one."""
    return f"again {action_id}"


class Expected(msgspec.Struct, frozen=True):
    """What a caller hears at once, in which state the action is then, and how many effects there are by then."""

    reason: Reason | None
    status: str
    state: str
    effects: int
    retryable: bool = False


class Harness:
    """An engine with a connector of each kind, and the provider behind them."""

    def __init__(self, engine: Engine, emulator: Emulator, connectors: dict[str, EmulatedConnector]) -> None:
        self.engine = engine
        self.emulator = emulator
        self.ledger = emulator.ledger
        self.connectors = connectors

    async def approved(self, kind: str) -> ActionId:
        return await self.engine.approved(Wanted(connector=kind, channel="linkedin"))

    async def meets(self, expected: Expected, action_id: ActionId) -> Action:
        """The stored action and the ledger are as the table says."""
        await self.emulator.settled()
        action = await self.engine.action(action_id)
        assert (action.status, action.execution_state) == (expected.status, expected.state)
        assert self.effects(action) == expected.effects
        return action

    def effects(self, action: Action) -> int:
        return len(self.ledger.effects(action.provider_key))

    async def succeeds(self, action_id: ActionId) -> None:
        """The action executes now, with one effect in all, and never again."""
        reply = await self.engine.execute(action_id, key=again(action_id))
        assert isinstance(reply, Executed)
        await self.ended(action_id, reply)

    async def ended(self, action_id: ActionId, reply: Executed | None = None) -> None:
        action = await self.engine.action(action_id)
        assert (action.status, action.execution_state) == ("executed", "done")
        done = self.ledger.effects(action.provider_key)
        assert [each.effect_id for each in done] == [action.external_id]
        if reply is not None:
            assert reply.external_id == action.external_id == reply.post_id
            same = await self.engine.execute(action_id, key=again(action_id))
            assert isinstance(same, Executed)
            assert msgspec.structs.replace(same, replay=msgspec.UNSET) == reply
        late = await self.engine.execute(action_id)
        assert isinstance(late, Refusal) and late.reason is Reason.REQUIRES_APPROVAL
        assert (late.recovery().status, late.recovery().external_id) == ("executed", action.external_id)
        assert self.effects(action) == 1
