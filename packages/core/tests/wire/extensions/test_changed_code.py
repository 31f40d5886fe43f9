"""An operator whose code changed after an approval: the function gets what was approved, or is not
called."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, REJECT, Gate
from tests.support.answers import text_of
from tests.support.extensions.fixtures import gate_with

PAY = "shop_pay"
HAND_OVER = "chieflab_use_manual_fallback"
CODE = '''
from dataclasses import dataclass

import assent

PAID = []
shop = assent.Operator("shop", label="Shop", function="Pays.")


@dataclass
class Line:
    sku: str
    count: int = 1


@shop.effect(risk="low")
def pay(to: str, lines: list[Line], tags: set[str], factor: float = 1.0) -> assent.Receipt:
    """Pay someone. USE WHEN the user wants to pay."""
    PAID.append(sorted(tags))
    return assent.Receipt("paid")
'''
MORE_PARAMETERS = CODE.replace("factor: float = 1.0", "factor: float = 1.0, bonus: int = 1_000_000")
MORE_FIELDS = CODE.replace("count: int = 1", 'count: int = 1\n    gift: str = "a car"')
ANOTHER_WAY = CODE.replace(
    "count: int = 1", "count: int = 1\n\n    def __post_init__(self):\n        self.count *= 2"
)
OTHER_DEFAULTS = CODE.replace("count: int = 1", "count: int = 9").replace("= 1.0", "= 3.0")
RISKIER = CODE.replace('risk="low"', 'risk="high"')
LESS_RISKY = CODE.replace('risk="low"', 'risk="medium"')
NEXT_VERSION = CODE.replace('function="Pays."', 'function="Pays.", version=2')
WANTED = {"to": "ada", "lines": [{"sku": "tea"}], "tags": ["b", "a", "c"]}

Serve = Callable[[str], Awaitable[Gate]]


@pytest.fixture
async def serve(
    transport: str, database_url: str, tmp_path: Path, changed_settings: dict[str, Any]
) -> AsyncIterator[Serve]:
    """Starts the server with this code, each time from the same store."""
    opened: list[Gate] = []

    async def start(code: str) -> Gate:
        file = tmp_path / f"shop_{len(opened)}.py"
        file.write_text(code)
        gate = gate_with((str(file),), database_url, tmp_path, transport, **changed_settings)
        opened.append(gate)
        if len(opened) == 1:
            await gate.sign_in()
        else:
            gate.key, gate.workspace_id = opened[0].key, opened[0].workspace_id
        return gate

    yield start
    for gate in opened:
        await gate.close()


def list_paid(gate: Gate) -> list[Any]:
    (operator,) = gate.app.extensions.operators
    found: list[Any] = operator.effects[0].function.__globals__["PAID"]
    return found


@pytest.mark.parametrize("code", [MORE_PARAMETERS, MORE_FIELDS, ANOTHER_WAY])
async def test_a_function_is_not_called_with_a_value_that_no_one_approved(serve: Serve, code: str) -> None:
    before = await serve(CODE)
    action_id = (await before.done(PAY, **WANTED))["actions"][0]["id"]
    await before.done(APPROVE, actionId=action_id)
    after = await serve(code)
    refused = await after.denied(EXECUTE, actionId=action_id)
    assert refused["reason"] == "connector_failed" and list_paid(after) == []
    assert await after.where(action_id) == "retryable"


async def test_a_new_parameter_is_shown_and_approved_after_an_edit(serve: Serve) -> None:
    action_id = (await (await serve(CODE)).done(PAY, **WANTED))["actions"][0]["id"]
    after = await serve(MORE_PARAMETERS)
    edited = await after.done(EDIT, actionId=action_id, arguments={"to": "bob"})
    assert "> Bonus: 1000000" in text_of(edited)
    await after.done(APPROVE, actionId=action_id, digest=edited["digest"])
    await after.done(EXECUTE, actionId=action_id)
    assert list_paid(after) == [["a", "b", "c"]]


async def test_the_default_of_a_field_is_stored_and_shown_after_an_edit(serve: Serve) -> None:
    gate = await serve(CODE)
    action_id = (await gate.done(PAY, **WANTED))["actions"][0]["id"]
    edited = await gate.done(EDIT, actionId=action_id, arguments={"lines": [{"sku": "coffee"}]})
    assert (await gate.stored(action_id)).effect.arguments["lines"] == [{"sku": "coffee", "count": 1}]
    assert '"count": 1' in text_of(edited)


async def test_other_defaults_leave_an_approved_action_as_it_was_shown(serve: Serve) -> None:
    before = await serve(CODE)
    action_id = (await before.done(PAY, **WANTED))["actions"][0]["id"]
    await before.done(APPROVE, actionId=action_id)
    after = await serve(OTHER_DEFAULTS)
    await after.done(EXECUTE, actionId=action_id)
    assert list_paid(after) == [["a", "b", "c"]]


@pytest.mark.parametrize("code", [RISKIER, NEXT_VERSION])
async def test_what_was_prepared_for_another_meaning_is_neither_approved_nor_executed(
    serve: Serve, code: str
) -> None:
    before = await serve(CODE)
    run = [(await before.done(PAY, **WANTED))["actions"][0]["id"] for _ in range(2)]
    await before.done(APPROVE, actionId=run[0])
    after = await serve(code)

    for tool, action_id in ((EXECUTE, run[0]), (APPROVE, run[1]), (EDIT, run[1]), (HAND_OVER, run[1])):
        more = {"arguments": {"to": "bob"}} if tool == EDIT else {}
        refused = await after.denied(tool, actionId=action_id, **more)
        assert refused["reason"] == "provider_not_live"
        assert "was changed after this was prepared" in refused["userMessage"]
    await after.done(REJECT, actionId=run[1], reason="prepared again")
    assert list_paid(after) == []


async def test_a_risk_that_was_lowered_leaves_an_approval_as_it_is(serve: Serve) -> None:
    before = await serve(LESS_RISKY)
    action_id = (await before.done(PAY, **WANTED))["actions"][0]["id"]
    await before.done(APPROVE, actionId=action_id)
    after = await serve(CODE)
    await after.done(EXECUTE, actionId=action_id)
    assert len(list_paid(after)) == 1


async def test_a_hand_over_keeps_the_risk_of_an_effect_that_is_not_known_to_be_harmless(serve: Serve) -> None:
    gate = await serve(RISKIER)
    action_id = (await gate.done(PAY, **WANTED))["actions"][0]["id"]
    await gate.done(HAND_OVER, actionId=action_id)
    refused = await gate.denied(APPROVE, actionId=action_id, digest=(await gate.stored(action_id)).digest)
    assert refused["reason"] == "requires_approval"
    assert (await gate.stored(action_id)).preflight.severity == "high"
