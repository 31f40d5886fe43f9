"""Where a draft comes from, and what is written down about its claims."""

from __future__ import annotations

import dataclasses

from tests.suite.operators.conftest import CLUB, Loop

from assent.suite.channels.channel import Channel
from assent.suite.content.records import MODEL, Facts, Written
from assent.suite.process import find_suite


async def test_a_configured_model_writes_where_the_agent_brought_nothing(loop: Loop) -> None:
    asked: list[tuple[str, str]] = []

    async def model(facts: Facts, channel: Channel, goal: str) -> Written | None:
        assert facts.evidence.first("whatChanged")
        asked.append((channel.id, goal))
        return Written(body="Written by the model.", title="From the model", source=MODEL)

    suite = find_suite(loop.app.owner_services)
    suite.drafting = dataclasses.replace(suite.drafting, write=model)

    run = (await loop.call("chieflab_post", {"channel": "site", **CLUB})).payload
    await loop.call("chieflab_post", {"channel": "site", "body": "The agent's own words."})

    assert run["agentGuide"]["renderInChat"]["site"]["body"].endswith("Written by the model.")
    assert asked == [("site", CLUB["goal"])]


async def test_a_risky_claim_is_logged_once_and_said_on_the_action(loop: Loop) -> None:
    risky = {"channel": "site", "body": "Ledgerleaf is the best bookkeeping in the world, guaranteed."}

    first = (await loop.call("chieflab_post", risky)).payload
    await loop.call("chieflab_post", risky)

    assert first["actions"][0]["preflight"]["warnings"]
    logged = (await loop.call("chieflab_brain_read", {"kind": "claim_risk"})).payload["entries"]
    assert len(logged) == 1


async def test_an_image_that_is_none_cannot_be_picked(loop: Loop) -> None:
    run = (await loop.call("chieflab_post", {"channel": "site", **CLUB})).payload

    outcome = await loop.call(
        "chieflab_edit_action",
        {"actionId": run["actions"][0]["id"], "imageAssetId": run["assets"][0]["id"]},
    )

    assert outcome.reason == "validation_error"
    assert outcome.payload["problems"][0]["path"] == "imageAssetId"
