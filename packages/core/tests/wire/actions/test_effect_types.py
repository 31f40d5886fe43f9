"""What a type says about its effects: how long they wait, whether they wait for a time, what they teach."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.support.actions.kit import APPROVE, EDIT, REJECT, STAGE, Gate

from assent.gate.effects import EffectType, EffectTypes
from assent.gate.views import Severity
from assent.kernel.limits import HOUR_MS
from assent.kernel.times import iso_time
from assent_launch.learning import memory
from assent_launch.testing import any_effects

BELL = EffectType(
    channel="bell",
    verb="ring",
    label="Bell",
    risk=Severity.LOW,
    expires_ms=HOUR_MS,
    schedulable=False,
    teaches=False,
    trusted=True,
)
HORN = msgspec.structs.replace(
    BELL,
    channel="horn",
    verb="blow",
    label="Horn",
    expires_ms=None,
    schedulable=True,
    teaches=True,
)
RING: dict[str, Any] = {"channel": "bell", "verb": "ring"}
BLOW: dict[str, Any] = {"channel": "horn", "verb": "blow"}


@pytest.fixture
def band(surface: Gate, monkeypatch: pytest.MonkeyPatch) -> Gate:
    known = any_effects()
    types = EffectTypes((*known.types.values(), BELL, HORN), known.connectors.values())
    monkeypatch.setitem(surface.app.owner_services.__dict__, "effects", types)
    return surface


async def test_an_effect_expires_when_its_type_says(band: Gate) -> None:
    short, usual = await band.staged(**RING), await band.staged(**BLOW)
    band.clock.advance(seconds=3_660)
    assert (await band.denied(APPROVE, actionId=short))["reason"] == "action_expired"
    assert (await band.done(APPROVE, actionId=usual))["status"] == "approved"


async def test_an_effect_that_takes_no_time_is_not_scheduled(band: Gate) -> None:
    later = iso_time(band.clock.now_ms() + HOUR_MS)
    refused = await band.denied(STAGE, effects=[{**RING, "scheduleFor": later}])
    assert refused["problems"][0]["path"].endswith("scheduleFor")
    action_id = await band.staged(**RING)
    refused = await band.denied(EDIT, actionId=action_id, scheduleFor=later)
    assert refused["problems"][0]["path"] == "scheduleFor"
    other = await band.staged(**BLOW)
    assert (await band.done(EDIT, actionId=other, scheduleFor=later))["revision"] == 2


async def test_decisions_about_an_effect_that_teaches_nothing_are_not_remembered(band: Gate) -> None:
    for effect in (RING, BLOW):
        await band.done(APPROVE, actionId=await band.staged(**effect))
        action_id = await band.staged(**effect)
        await band.done(EDIT, actionId=action_id, body="Louder, please.", asked="Be louder.")
        await band.done(REJECT, actionId=action_id, reason="Too loud.")
    entries = await band.app.store.read(
        lambda: memory.read(band.workspace_id, memory.DEFAULT_TENANT, most=50)
    )
    assert {entry.channel for entry in entries} == {"horn"}
    assert {entry.kind for entry in entries} == {"approval", "edit", "lesson", "rejection"}
