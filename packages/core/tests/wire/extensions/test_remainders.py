"""The remainder of an extension's effect: it is offered with the text of its own arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.actions.kit import APPROVE, EXECUTE
from tests.support.extensions.fixtures import gate_with
from tests.support.surfaces import signed_in

CODE = '''
import assent
import msgspec
from assent.platform import Delivered, Remainder

SENT = []
shop = assent.Operator("shop", label="Shop", function="Sends parcels.")


@shop.effect(risk="low")
def parcel(ctx: assent.Context, to: list[str]) -> assent.Receipt:
    """Send a parcel to people. USE WHEN the user wants to send a parcel."""
    SENT.append(to[0])
    left = msgspec.structs.replace(ctx.action.effect, arguments={"to": to[1:]})
    return Delivered("parcel-1", rest=Remainder(left, to[0], "the van was full"))


@parcel.describe
def describe(to):
    if SENT:
        raise RuntimeError("no more parcels")
    return f"Parcels for {len(to)}"
'''


async def test_a_delivery_is_recorded_and_its_remainder_offered_although_the_description_fails(
    transport: str, database_url: str, tmp_path: Path, changed_settings: dict[str, Any]
) -> None:
    file = tmp_path / "shop.py"
    file.write_text(CODE)
    async with signed_in(
        gate_with((str(file),), database_url, tmp_path, transport, **changed_settings)
    ) as gate:
        action_id = (await gate.done("shop_parcel", to=["ada", "bob"]))["actions"][0]["id"]
        await gate.done(APPROVE, actionId=action_id)
        done = await gate.done(EXECUTE, actionId=action_id)
        assert done["externalId"] == "parcel-1"
        rest = await gate.stored(done["restActionId"])
        assert rest.status == "awaiting_approval" and rest.effect.body == "To: - bob"
        assert rest.preflight.severity == "high"
