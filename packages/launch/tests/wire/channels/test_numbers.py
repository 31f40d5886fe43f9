"""Every number of a measurement, wherever it is told, is one that the providers gave or a sum of the same metric."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.answers import text_of
from tests.support.channels.kit import connect
from tests.support.operators.fixtures import LaunchClient
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import ManualClock, settings_for, signed_in

from assent.app import App
from assent.engine.actions import actions
from assent.gate.effects import EffectTypes
from assent.kernel.ids import RunId, WorkspaceId
from assent.ports import Reading
from assent_conform.emulators.email import Resend
from assent_conform.emulators.zernio import Zernio
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.provider_server import all_serving
from assent_launch.effect_types import effect_types
from assent_launch.learning import measurement
from assent_launch.learning import memory as brain
from assent_launch.learning.recommend import assess

POST = {
    "impressions": 1234,
    "views": 1300,
    "reach": 1000,
    "likes": 120,
    "comments": 30,
    "clicks": 11,
    "engagementRate": 0.05,
}
READER = "grace@example.org"


class Measuring(LaunchClient):
    """A surface with emulated providers whose numbers a test sets."""

    posts: Zernio
    mails: Resend
    workspace_id: WorkspaceId

    async def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        return (await self.call(name, arguments)).payload

    async def sent(self, *channels: str) -> str:
        """A run whose messages went out on these channels a day ago."""
        run = await self.tool(
            "chieflab_launch_product",
            goal="Tell people about the import",
            channels=list(channels),
            drafts=dict.fromkeys(channels, "Ledgerleaf imports bank statements as CSV."),
            email={"to": [READER], "subject": "The import"},
            repoContext={"README": "# Ledgerleaf\n\nBookkeeping for clubs.\n"},
        )
        for action in run["actions"]:
            sent = await self.approve_and_send(action["id"])
            assert sent["status"] == "executed", sent
        self.clock.advance(hours=25)
        return str(run["runId"])

    async def measured(self, run_id: str) -> dict[str, Any]:
        return await self.tool("chieflab_measure", runId=run_id)

    async def remembered(self) -> list[dict[str, Any]]:
        found = await self.tool("chieflab_brain_read", kind="channel_performance", limit=50)
        return list(found["entries"])


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Measuring]:
    clock = ManualClock()
    zernio = Zernio(Ledger(tmp_path / "zernio.jsonl"), now_ms=clock.now_ms)
    resend = Resend(Ledger(tmp_path / "resend.jsonl"), now_ms=clock.now_ms)
    async with all_serving((zernio, resend)) as urls:
        settings = settings_for(
            new_sqlite(tmp_path / "assent.db"), tmp_path, zernio_url=urls["zernio"], resend_url=urls["resend"]
        )
        async with signed_in(Measuring(App(settings, clock=clock))) as client:
            client.posts, client.mails = zernio, resend
            for provider in ("zernio", "resend"):
                await connect(client.app, provider, client.workspace_id)
            yield client


def numbers_in(text: str) -> set[str]:
    """The numbers of a text, but for those of times and addresses."""
    plain = re.sub(r"https?://\S+|\d{1,2}:\d\d\S*|\d{4}-\d\d-\d\d\S*", " ", text)
    return {each.strip(".,") for each in re.findall(r"\d[\d,.]*", plain)}


@pytest.mark.rule("E100")
async def test_three_exposures_of_one_source_are_never_added(server: Measuring) -> None:
    server.posts.numbers = dict(POST)
    run_id = await server.sent("linkedin")

    told = await server.measured(run_id)

    why = "LinkedIn: 1,234 impressions, 11 clicks, 30 comments, 120 likes."
    assert told["nextMove"] == {
        "move": "Post a follow-up on LinkedIn, where people responded.",
        "why": why,
        "channel": "linkedin",
    }
    assert told["measurement"]["nextMove"] == told["nextMove"]
    counts = {name: value for name, value in POST.items() if name not in ("reach", "engagementRate")}
    assert told["measurement"]["totals"] == counts
    every = (
        "LinkedIn: 1,234 impressions, 1,300 views, 1,000 people reached, 11 clicks, 30 comments, 120 likes, "
        "engagement rate 0.05"
    )
    assert f"- {every}" in text_of(told)
    assert why.rstrip(".") in told["agentGuide"]["userMessage"]
    given = {"1,234", "1,300", "1,000", "11", "30", "120", "0.05"}
    [asset] = (await server.tool("chieflab_list_assets", runId=run_id))["assets"][-1:]
    assert asset["type"] == "measurement"
    assert asset["body"].startswith(every)
    assert numbers_in(asset["body"]) == given
    [entry] = await server.remembered()
    assert entry["body"].startswith("“") and entry["body"].endswith(f"”: {every}.")
    kept = await server.app.store.read(lambda: brain.find(server.workspace_id, entry["entryId"]))
    assert kept is not None and kept.facts == {"metrics": POST}
    status = await server.tool("chieflab_status")
    [measured] = status["extra"]["measured"]
    assert measured["totals"] == counts
    assert why in text_of(status)


@pytest.mark.rule("E100")
async def test_a_mail_that_was_only_delivered_is_not_called_seen(server: Measuring) -> None:
    server.posts.numbers = {"impressions": 10602}
    await server.measured(await server.sent("linkedin"))
    server.mails.numbers = {"delivered": 1}
    run_id = await server.sent("email")

    told = await server.measured(run_id)

    assert told["nextMove"] == {
        "move": "Measure again later: E-mail has no numbers of readers yet.",
        "why": "E-mail: 1 delivered; opens and clicks are not known.",
        "channel": "email",
    }
    assert told["measurement"]["baseline"] == []
    for text in (text_of(told), told["agentGuide"]["userMessage"], told["assets"][0]["body"]):
        assert "seen" not in text and "nobody" not in text.lower() and "10,602" not in text


@pytest.mark.rule("E100")
async def test_a_baseline_counts_only_the_runs_that_have_the_metric_on_that_channel(
    server: Measuring,
) -> None:
    for numbers in ({"impressions": 900, "likes": 4}, {"likes": 8}, {"impressions": 1100}):
        server.posts.numbers = dict(numbers)
        await server.measured(await server.sent("linkedin"))
    server.posts.numbers = {"impressions": 5000}
    await server.measured(await server.sent("x"))
    server.posts.numbers = {"impressions": 500, "likes": 0, "clicks": 0}

    told = await server.measured(await server.sent("linkedin"))

    assert told["measurement"]["baseline"] == [
        {"channel": "linkedin", "metric": "impressions", "average": 1000, "runs": 2},
        {"channel": "linkedin", "metric": "likes", "average": 6, "runs": 2},
    ]
    assert told["nextMove"]["why"] == (
        "LinkedIn: 500 impressions, 0 clicks, 0 likes. LinkedIn averaged 1,000 impressions over 2 earlier runs."
    )
    assert "LinkedIn averaged 6 likes over 2 earlier runs" in text_of(told)


@pytest.mark.rule("E100")
async def test_a_run_that_went_out_later_is_no_earlier_run(server: Measuring) -> None:
    server.posts.numbers = {"impressions": 100}
    first = await server.sent("linkedin")
    await server.measured(first)
    server.posts.numbers = {"impressions": 900}
    await server.measured(await server.sent("linkedin"))
    server.posts.numbers = {"impressions": 150}

    told = await server.measured(first)

    assert told["measurement"]["baseline"] == []
    assert "900" not in text_of(told)


@pytest.mark.rule("E100")
async def test_a_source_with_nothing_but_impossible_values_is_unavailable(server: Measuring) -> None:
    server.posts.numbers = {"impressions": -5}
    refused = await server.call("chieflab_measure", {"runId": await server.sent("linkedin")})

    assert refused.reason == "measurement_unavailable"
    assert "impressions -5" in refused.payload["userMessage"]
    assert await server.remembered() == []


async def test_what_a_person_noted_for_a_channel_counts_once_for_two_messages(server: Measuring) -> None:
    run_id = RunId(await server.sent("linkedin"))
    [action] = await server.app.store.read(lambda: actions.run_actions(server.workspace_id, run_id))
    noted = Reading(source="by hand", channel="linkedin", status="ok", metrics={"points": 3})

    found = await measurement.read_all(
        server.app.owner_services, (action, action), {"linkedin": noted}, {}, 0
    )

    assert found == (noted,)
    assert assess((noted, noted), EffectTypes(effect_types())).totals == {"points": 6}
