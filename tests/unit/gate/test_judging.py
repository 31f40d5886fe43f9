"""The gate as a pure function: which stored records may be executed."""

from __future__ import annotations

import msgspec
import pytest

from assent.gate.gate import judge_execution
from assent.gate.policy import Policy
from assent.gate.records import Action, Effect, ExecutionState
from assent.gate.seals import Seals
from assent.kernel.refusals import Refusal
from assent.testing.connector_contract import CHECKED_AT_MS, claim_action

SEALS = Seals.of((b"a secret of thirty-two characters",))
SHOWN = Effect(channel="acme", verb="refund", connector="acme", body="Refund 12.50 EUR")


def approved(effect: Effect, *, digest: str) -> Action:
    """An action whose approval is sealed by this server and covers the content with this digest."""
    claimed = claim_action(effect)
    assert claimed.approval is not None
    waiting = msgspec.structs.replace(claimed, execution_state=ExecutionState.NONE, attempt=None)
    return SEALS.seal(waiting, msgspec.structs.replace(claimed.approval, digest=digest), Policy())


def judge(action: Action) -> None:
    judge_execution(action, Policy(), CHECKED_AT_MS, SEALS)


@pytest.mark.rule("E5")
def test_what_was_approved_may_be_executed() -> None:
    judge(approved(SHOWN, digest=SHOWN.digest()))


@pytest.mark.rule("E5")
def test_an_approval_of_other_content_executes_nothing_even_if_its_seal_is_valid() -> None:
    sent = msgspec.structs.replace(SHOWN, body="Refund 1,250 EUR")
    action = approved(sent, digest=SHOWN.digest())
    assert SEALS.hold(action) and action.digest == sent.digest()

    with pytest.raises(Refusal) as refused:
        judge(action)

    assert refused.value.reason == "requires_approval"
