"""The facets of a stranger's effect: whom it reaches, how much it moves, where."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from packages.core.tests.wire.actions.test_policy_rules import save
from packages.core.tests.wire.extensions.test_refunds import NOTE, RING, stage
from tests.support.actions.kit import APPROVE, AUDIT, EDIT, EXECUTE, REJECT, Gate

import assent
from assent.extensions.effect_types import make_channel_types
from assent.gate.records import reached_addresses
from assent_launch.effect_types import effect_types

INVITE = "acme_billing_invite"


def guests(first: int, last: int) -> list[str]:
    return [f"guest{number}@example.org" for number in range(first, last)]


async def severity(surface: Gate, action_id: str) -> str:
    return str((await surface.record(action_id))["preflight"]["severity"])


async def test_people_of_a_day_count_together_by_the_facets(surface: Gate) -> None:
    first = await stage(surface, INVITE, people=guests(0, 30))
    second = await stage(surface, INVITE, people=guests(20, 49))
    assert (await severity(surface, first), await severity(surface, second)) == ("low", "low")
    third = await stage(surface, INVITE, people=["Guest <guest49@EXAMPLE.org>", "guest50@example.org"])
    assert await severity(surface, third) == "high"
    await surface.done(REJECT, actionId=first, reason="Too many.")
    fourth = await stage(surface, INVITE, people=["guest51@example.org"])
    assert await severity(surface, fourth) == "low"
    await surface.done(EDIT, actionId=fourth, arguments={"people": guests(60, 100)})
    assert await severity(surface, fourth) == "high"


async def test_the_audit_names_amount_currency_target_and_people(surface: Gate) -> None:
    await stage(surface)
    await stage(surface, INVITE, people=["ada@example.org"])
    await surface.done("chieflab_post", channel="site", title="News", body="We moved to Lisbon.")
    found: dict[str, Any] = {
        each["type"]: each.get("facets") for each in (await surface.done(AUDIT))["actions"]
    }
    assert found == {
        "acme-billing_refund": {"amount": "12.50", "currency": "EUR"},
        "acme-billing_invite": {"recipients": ["ada@example.org"], "target": "the party"},
        "site_publish": None,
    }


@pytest.mark.parametrize("people", [["numbers"], guests(0, 1_001)])
async def test_facets_that_cannot_be_stored_are_refused(surface: Gate, people: list[str]) -> None:
    refused = await surface.denied(INVITE, people=people)
    assert refused["reason"] == "connector_failed" and "facets of invite" in refused["userMessage"]


async def test_facets_that_name_fewer_people_do_not_lower_the_number_of_the_day(surface: Gate) -> None:
    stored = await surface.stored(await stage(surface, INVITE, people=guests(0, 1)))
    sent = msgspec.structs.replace(
        stored, effect=msgspec.structs.replace(stored.effect, recipients=("ada@a.example",))
    )
    assert reached_addresses(sent) == {"guest0@example.org", "ada@a.example"}


def declare(*, facets: bool = False, **changes: Any) -> tuple[str, ...]:
    """What a channel's type declares that its messages never have."""
    declared = assent.EffectType("wall", "post", description="Post.", via=("wall",), **changes)
    made = assent.Operator("walls").channel(declared)
    if facets:
        made.facets(lambda body: assent.Facets(amount=body))
    (only,) = make_channel_types(made, ())
    return only.without


def test_a_message_declares_that_it_lacks_what_its_shape_has_no_place_for() -> None:
    letter = assent.Message(recipients=3)
    assert set(declare()) == {"recipients", "amount", "arguments"}
    assert set(declare(shape=letter)) == {"amount", "arguments"}
    assert set(declare(facets=True)) == {"arguments"}
    assert set(declare(facets=True, without=("recipients",))) == {"arguments", "recipients"}


def test_every_channel_of_the_suite_declares_what_it_lacks() -> None:
    lacking = {each.id: set(each.without) for each in effect_types()}
    mail = {name for name, without in lacking.items() if "recipients" not in without}
    assert mail == {"email_email", "email_send"}
    assert all({"amount", "arguments"} <= without for without in lacking.values())


STRANGERS: dict[str, Any] = {"name": "Strangers", "when": {"recipients": {"outside": ["@example.org"]}}}


@pytest.mark.rule("E62")
async def test_a_rule_that_denies_by_recipients_denies_a_function_that_declares_nothing_about_them(
    surface: Gate,
) -> None:
    action_id = await stage(surface, NOTE, text="Call them.")
    await surface.done(APPROVE, actionId=action_id)
    await save(surface, {"preset": "relay", "rule": [{**STRANGERS, "deny": "Not to strangers."}]})
    refused = await surface.denied(EXECUTE, actionId=action_id)
    assert refused["reason"] == "denied_by_policy" and "“Strangers”" in refused["userMessage"]
    assert [(each["path"], each["got"]) for each in refused["problems"]] == [("recipients", "unknown")]
    await surface.done(EXECUTE, actionId=await _approved(surface, RING, times=1))


async def _approved(surface: Gate, tool: str, **arguments: Any) -> str:
    action_id = await stage(surface, tool, **arguments)
    await surface.done(APPROVE, actionId=action_id)
    return action_id


@pytest.mark.rule("E62")
async def test_the_signature_of_a_function_declares_its_arguments(surface: Gate) -> None:
    rule = {
        "name": "Tests",
        "when": {"operator": "acme-billing", "arguments": {"reason": "test"}},
        "deny": "Not here.",
    }
    await save(surface, {"preset": "relay", "rule": [rule]})
    await _approved(surface, RING, times=1)
    refund = {"customer": "cus_1", "amount": "12.50 EUR", "reason": " Test "}
    refused = await surface.denied(APPROVE, actionId=await stage(surface, **refund))
    assert refused["reason"] == "denied_by_policy" and "problems" not in refused
