"""One launch on LinkedIn, X, e-mail and the site, through hosted providers, from connecting to the second launch.

The judges are outside of the server: the ledgers of the providers and the page as a visitor gets it. What the audit
says must be what they say, event by event.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.suite.channels.kit import connect
from tests.suite.launch_server import NEW_OPENING, REASON, VISITOR, LaunchServer
from tests.suite.operators.conftest import CLUB
from tests.surfaces import BASE_URL, ManualClock, settings_for

from assent.engine.audit import log as audit_log
from assent.engine.audit.log import Signer
from assent.suite.channels.email.emulator import Resend
from assent.suite.channels.zernio.emulator import Zernio
from assent.testing.ledger import Ledger, LedgerCall
from assent.testing.provider_server import Outcome, all_serving

READER = "grace@example.org"


class House(LaunchServer):
    """The server, and the providers that go on when it stops."""

    def __init__(self, settings: Any, clock: ManualClock, zernio: Zernio, resend: Resend) -> None:
        super().__init__(settings, clock)
        self.zernio = zernio
        self.resend = resend

    def mutating(self) -> list[tuple[str, str]]:
        """Every call that could have changed something at a provider, in order of the provider's own books."""
        return [
            (entry.method, entry.path)
            for ledger in (self.zernio.ledger, self.resend.ledger)
            for entry in ledger.entries()
            if isinstance(entry, LedgerCall) and entry.method != "GET"
        ]


@pytest.fixture
async def house(database_url: str, tmp_path: Path) -> AsyncIterator[House]:
    clock = ManualClock()
    zernio = Zernio(Ledger(tmp_path / "zernio.jsonl"), now_ms=clock.now_ms)
    resend = Resend(Ledger(tmp_path / "resend.jsonl"), now_ms=clock.now_ms)
    async with all_serving((zernio, resend)) as urls:
        settings = settings_for(database_url, tmp_path, zernio_url=urls["zernio"], resend_url=urls["resend"])
        made = House(settings, clock, zernio, resend)
        await made.start()
        try:
            yield made
        finally:
            await made.loop.close()


@pytest.mark.rule("E9", "E11", "E21", "E28", "E29", "E30", "E33", "E42", "E45", "E49", "E68", "E70")
async def test_a_launch_through_hosted_providers_is_told_the_same_by_ledgers_and_audit(house: House) -> None:
    for provider in ("zernio", "resend"):
        await connect(house.loop.app, provider, house.workspace_id)
    run = await house.tool(
        "chieflab_launch_product",
        channels=["linkedin", "x", "email", "site"],
        email={"to": [READER], "subject": "Your bank statements, matched"},
        **CLUB,
    )
    assert house.mutating() == []
    run_id, link = run["runId"], run["reviewUrl"]
    ids = {action["channel"]: action["id"] for action in run["actions"]}

    # In the chat one is rejected and one approved; on the page one is edited, and one approved to be sent at once.
    await house.tool("chieflab_reject_action", actionId=ids["x"], reason=REASON)
    await house.tool("chieflab_approve_action", actionId=ids["email"])
    text = (await house.record(ids["linkedin"]))["content"]["body"]
    opening = next(line for line in text.splitlines() if "Ledgerleaf" in line)
    new_text = text.replace(opening, NEW_OPENING).replace("small clubs", "small associations")
    assert NEW_OPENING in new_text
    await house.on_page(link, ids["linkedin"], "edit", body=new_text)
    early = await house.loop.call("chieflab_publish_approved_post", {"actionId": ids["linkedin"]})
    assert early.reason == "requires_approval"
    await house.on_page(link, ids["linkedin"], "approve")
    await house.on_page(link, ids["site"], "approve", button="send")
    assert house.mutating() == []

    # LinkedIn's post goes out and the answer is lost; the mail's sender asks twice with one key.
    house.zernio.plan(Outcome.RESET_AFTER)
    lost = await house.loop.call("chieflab_publish_approved_post", {"actionId": ids["linkedin"]})
    assert lost.reason == "outcome_unknown"
    sent = [
        await house.tool("chieflab_send_approved_email", actionId=ids["email"], idempotencyKey="send")
        for _ in range(2)
    ]
    assert sent[0] == sent[1]

    # The server is started anew and finds out what became of the post, and sends what waited for it.
    await house.restart()
    house.clock.advance(seconds=30)
    await house.loop.due()
    page = await house.record(ids["site"])
    assert page["status"] == "executed"
    for _ in range(2):
        seen = await house.loop.http.get(page["externalUrl"].removeprefix(BASE_URL), headers=VISITOR)
        assert seen.status_code == 200

    # A day passes, and another server has taken over by then.
    await house.loop.due()
    house.clock.advance(hours=25)
    await house.restart()
    for _ in range(3):
        await house.loop.due()

    await _ledgers_agree(house, run_id, ids, new_text)
    await _audit_tells_it(house, run_id, ids)
    await _measured_and_remembered(house, run_id)

    second = await house.tool(
        "chieflab_launch_product", channels=["linkedin", "x", "email", "site"], email={"to": [READER]}, **CLUB
    )
    used = {use["kind"] for asset in second["assets"] for use in asset.get("memoryUsed", [])}
    assert used == {"rejection"}
    later = second["agentGuide"]["renderInChat"]["linkedin"]["body"]
    assert not any(words in later for words in ("bank statements", "small associations", NEW_OPENING))
    assert len(house.zernio.happened("published")) == len(house.resend.happened("sent")) == 1
    verdict = await audit_log.verify(house.loop.app.store, Signer(house.loop.app.keys.master))
    assert verdict.findings == ()


async def _ledgers_agree(house: House, run_id: str, ids: dict[str, str], text: str) -> None:
    """What the providers did is what was approved, to the character and to the account, once each."""
    trail = await house.tool("chieflab_query_audit", runId=run_id)
    records = {record["channel"]: record for record in trail["actions"]}
    assert {name: record["status"] for name, record in records.items()} == {
        "linkedin": "executed",
        "x": "rejected",
        "email": "executed",
        "site": "executed",
    }
    (post,) = house.zernio.happened("published")
    linkedin = records["linkedin"]
    assert post.content["content"] == text == linkedin["content"]["body"]
    assert post.content["accountId"] == linkedin["target"]["accountId"] == "acc_linkedin"
    assert post.content["postId"] == linkedin["externalId"]
    assert post.reference == f"{ids['linkedin']}:{linkedin['revision']}" and linkedin["revision"] == 2
    (mail,) = house.resend.happened("sent")
    email = records["email"]
    assert mail.content["id"] == email["externalId"]
    assert mail.content["to"] == [READER] == email["content"]["recipients"]
    assert (mail.content["text"], mail.content["subject"]) == (
        email["content"]["body"],
        email["content"]["subject"],
    )
    assert mail.content["from"] == email["content"]["sender"]
    assert records["x"]["externalId"] is None
    # One call that was lost and one that asked again, and one mail.
    assert house.mutating() == [("POST", "/v1/posts"), ("POST", "/v1/posts"), ("POST", "/emails")]


async def _audit_tells_it(house: House, run_id: str, ids: dict[str, str]) -> None:
    channels = {action_id: channel for channel, action_id in ids.items()}
    events = await house.events(run_id)
    told = await house.told(run_id, ids)
    assert told[:10] == [
        ("run_prepared", "", None, None),
        ("action_reject", "x", "agent", "chat"),
        ("action_approve", "email", "agent", "chat"),
        ("action_edit", "linkedin", "link", "review page"),
        ("action_approve", "linkedin", "link", "review page"),
        ("action_approve", "site", "link", "review page"),
        ("action_claim", "linkedin", None, None),
        ("action_lose", "linkedin", None, None),
        ("action_claim", "email", None, None),
        ("action_succeed", "email", None, None),
    ]
    # Two jobs were due at once; which of them ran first is nobody's promise.
    assert sorted(told[10:-1]) == [
        ("action_claim", "site", None, None),
        ("action_found_done", "linkedin", None, None),
        ("action_succeed", "site", None, None),
    ]
    assert told[-1] == ("run_measured", "", None, None)
    outside = {
        house.zernio.happened("published")[0].content["postId"],
        house.resend.happened("sent")[0].content["id"],
    }
    found = {
        facts["externalId"]
        for kind, facts in events
        if kind in ("action_succeed", "action_found_done") and channels[facts["actionId"]] != "site"
    }
    assert found == outside
    workspace = [kind for kind, _ in await house.events(house.workspace_id)]
    assert workspace.count("connector_connected") == 2


async def _measured_and_remembered(house: House, run_id: str) -> None:
    assets = (await house.tool("chieflab_list_assets", runId=run_id))["assets"]
    (measured,) = [asset for asset in assets if asset["type"] == "measurement"]
    sources = {
        source["source"]: source["metrics"]
        for source in measured["metadata"]["measurement"]["sources"]
        if source["status"] == "ok"
    }
    assert sources == {
        "zernio": house.zernio.numbers,
        "resend": house.resend.numbers,
        "site": {"views": 2, "clicks": 0},
    }
    kept = (await house.tool("chieflab_brain_read", limit=50))["entries"]
    assert sorted(entry["kind"] for entry in kept) == [
        *["approval"] * 3,
        *["channel_performance"] * 3,
        "edit",
        "rejection",
    ]
