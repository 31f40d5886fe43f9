"""The facets of a stranger's effect: whom it reaches, how much it moves, where."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.engine.actions.kit import AUDIT, EDIT, REJECT, Gate
from tests.extensions.test_refunds import stage

from assent.gate.mail import reached_addresses
from assent.gate.preflight import grade_severity
from assent.gate.records import Effect
from assent.gate.views import Facets, Severity, View

INVITE = "acme_billing_invite"


def guests(first: int, last: int) -> list[str]:
    return [f"guest{number}@example.org" for number in range(first, last)]


async def severity(surface: Gate, action_id: str) -> str:
    return str((await surface.record(action_id))["preflight"]["severity"])


async def test_an_effect_that_reaches_many_people_has_a_high_risk(surface: Gate) -> None:
    assert await severity(surface, await stage(surface, INVITE, people=guests(0, 50))) == "low"
    surface.clock.advance(days=2)
    assert await severity(surface, await stage(surface, INVITE, people=guests(0, 51))) == "high"


@pytest.mark.every_surface
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


def test_facets_that_name_fewer_people_than_the_message_reaches_do_not_lower_its_risk() -> None:
    people = tuple(guests(0, 51))
    effect = Effect(channel="letter", verb="send", connector="post", body="Hello.", recipients=people)
    view = View(risk=Severity.LOW, facets=Facets(recipients=people[:1]))
    assert grade_severity(effect, view, None, warned=False) is Severity.HIGH


async def test_facets_that_name_fewer_people_do_not_lower_the_number_of_the_day(surface: Gate) -> None:
    stored = await surface.stored(await stage(surface, INVITE, people=guests(0, 1)))
    sent = msgspec.structs.replace(
        stored, effect=msgspec.structs.replace(stored.effect, recipients=("ada@a.example",))
    )
    assert reached_addresses(sent) == {"guest0@example.org", "ada@a.example"}
