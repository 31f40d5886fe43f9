"""Hosted providers through the tools, over both transports and both stores: what is said, and what is never said."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from tests.support.answers import bodies_of
from tests.support.channels.hosted import Hosted
from tests.support.channels.kit import KEYS
from tests.support.operators.fixtures import CLUB
from tests.support.surfaces import BASE_URL

from assent.engine.core import journal
from assent_conform.testing.ledger import LedgerCall
from assent_conform.testing.provider_server import Outcome

pytestmark = pytest.mark.every_surface

LAUNCH: dict[str, Any] = {
    "channels": ["linkedin", "x", "email", "site"],
    "email": {"to": ["grace@example.org"], "subject": "It is here"},
    **CLUB,
}


def by_channel(run: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {action["channel"]: action for action in run["actions"]}


@pytest.mark.rule("E11", "E94")
async def test_a_launch_is_staged_to_the_accounts_that_are_connected(hosted: Hosted) -> None:
    first = await hosted.tool("chieflab_launch_product", **LAUNCH)
    bare = by_channel(first)
    assert {name: action["connector"] for name, action in bare.items()} == {
        "linkedin": "zernio",
        "x": "zernio",
        "email": "smtp",
        "site": "site",
    }
    for name in ("linkedin", "x", "email"):
        assert (bare[name].get("target"), bare[name]["preflight"]["connectorReady"]) == (None, False)
    assert hosted.zernio.ledger.entries() == hosted.resend.ledger.entries() == []

    await hosted.connect("zernio", "resend")
    before = (len(hosted.zernio.ledger.entries()), len(hosted.resend.ledger.entries()))
    run = await hosted.tool("chieflab_launch_product", **LAUNCH)
    staged = by_channel(run)
    assert staged["linkedin"]["target"] == {
        "accountId": "acc_linkedin",
        "platform": "linkedin",
        "name": "Acme",
    }
    assert staged["x"]["target"]["platform"] == "twitter"
    assert (staged["email"]["connector"], staged["email"]["target"]["name"]) == ("resend", "example.org")
    assert all(action["preflight"]["connectorReady"] for action in run["actions"])
    assert "Goes to: Acme (linkedin)" in bodies_of(run)["linkedin:2"]
    assert (len(hosted.zernio.ledger.entries()), len(hosted.resend.ledger.entries())) == before

    # A person who looks at the first one is not told that it could go out: nobody has said where to.
    page = await hosted.http.get(first["reviewUrl"].removeprefix(BASE_URL), follow_redirects=True)
    assert page.text.count("Zernio, not ready") == 2 and "Zernio, ready" not in page.text

    # What was staged before gets its account as a new revision, mail by the provider that is there now.
    await hosted.run_jobs()
    for name in ("linkedin", "x", "email"):
        record = await hosted.tool("chieflab_get_action", actionId=bare[name]["id"])
        assert (record["revision"], record["status"]) == (2, "awaiting_approval")
        assert record["target"]["accountId"] and record["preflight"]["connectorReady"]
    assert record["connector"] == "resend"
    early = await hosted.call("chieflab_execute_approved_action", {"actionId": bare["email"]["id"]})
    assert early.reason == "requires_approval"
    unseen = await hosted.call("chieflab_approve_action", {"actionId": bare["email"]["id"]})
    assert unseen.reason == "stale_revision"
    await hosted.tool("chieflab_approve_action", actionId=bare["email"]["id"], digest=record["digest"])
    sent = await hosted.tool("chieflab_send_approved_email", actionId=bare["email"]["id"])
    assert sent["messageId"] == hosted.resend.happened("sent")[0].content["id"]
    mutating = [
        each
        for ledger in (hosted.zernio.ledger, hosted.resend.ledger)
        for each in ledger.entries()
        if isinstance(each, LedgerCall) and each.method != "GET"
    ]
    assert [each.path for each in mutating] == ["/emails"]


@pytest.mark.rule("E54", "E98")
async def test_connecting_says_where_and_disconnecting_ends_it(hosted: Hosted) -> None:
    reply = await hosted.tool("chieflab_connect_provider", provider="zernio")
    assert (reply["connected"], reply["connectUrl"]) == (
        False,
        f"{BASE_URL}/connect/zernio?workspace={hosted.workspace_id}",
    )
    await hosted.connect("zernio")
    reply = await hosted.tool("chieflab_connect_provider", provider="zernio")
    assert reply["connected"]
    none = await hosted.tool("chieflab_disconnect_provider", provider="resend")
    assert (none["ok"], none["disconnected"]) == (True, False)
    first = await hosted.tool("chieflab_disconnect_provider", provider="zernio", idempotencyKey="end")
    assert first["disconnected"]
    assert await hosted.tool("chieflab_disconnect_provider", provider="zernio", idempotencyKey="end") == first
    assert not (await hosted.tool("chieflab_connect_provider", provider="zernio"))["connected"]
    for provider in ("site", "nobody"):
        refused = await hosted.call("chieflab_disconnect_provider", {"provider": provider})
        assert refused.reason == "validation_error"
    not_live = await hosted.call("chieflab_connect_provider", {"provider": "ga4"})
    assert not_live.reason == "provider_not_live"
    events = await hosted.app.store.read(
        lambda: journal.read_stream(hosted.workspace_id, hosted.workspace_id)
    )
    assert [event.kind for event in events][-2:] == ["connector_connected", "connector_disconnected"]


@pytest.mark.rule("E8")
async def test_no_secret_is_in_any_answer_log_page_or_file(
    hosted: Hosted, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await hosted.connect("zernio", "resend")
    run = await hosted.tool("chieflab_launch_product", **LAUNCH)
    for name, action in by_channel(run).items():
        await hosted.tool("chieflab_approve_action", actionId=action["id"])
        if name == "x":
            hosted.zernio.plan(Outcome.RESET_AFTER)
        if name == "email":
            hosted.resend.revoked = [KEYS["resend"]]  # which it answers by saying the key back
        await hosted.tool("chieflab_execute_approved_action", actionId=action["id"])
    for tool, arguments in (
        ("chieflab_list_connectors", {}),
        ("chieflab_connect_provider", {"provider": "zernio"}),
        ("chieflab_connect_provider", {"provider": "resend"}),
        ("chieflab_get_run", {"runId": run["runId"]}),
        ("chieflab_query_audit", {}),
        ("chieflab_query_audit", {"runId": run["runId"]}),
        ("chieflab_list_pending_actions", {}),
        ("chieflab_disconnect_provider", {"provider": "zernio"}),
    ):
        await hosted.call(tool, arguments)
    page = await hosted.http.get(run["reviewUrl"].removeprefix(BASE_URL), follow_redirects=True)
    await hosted.app.store.close()
    written = b"".join(content for path, content in files_in(tmp_path) if path.suffix != ".jsonl")
    everything = [*hosted.heard, page.text, caplog.text, written.decode("latin-1")]
    assert "acc_linkedin" in page.text  # the account is shown for review
    for key in KEYS.values():
        assert not [text for text in everything if key in text]


def files_in(folder: Path) -> list[tuple[Path, bytes]]:
    return [(path, path.read_bytes()) for path in folder.rglob("*") if path.is_file()]


@pytest.mark.rule("E8")
async def test_one_workspace_does_not_see_anothers_connection(hosted: Hosted) -> None:
    await hosted.connect("zernio")
    other = await hosted.new_workspace("other")
    hosted.key = other.api_key
    assert not (await hosted.tool("chieflab_connect_provider", provider="zernio"))["connected"]
    run = await hosted.tool("chieflab_post", channel="linkedin", body="Hello from elsewhere.")
    assert "target" not in run["actions"][0]
    ended = await hosted.tool("chieflab_disconnect_provider", provider="zernio")
    assert not ended["disconnected"]
    found = await hosted.app.connections.find(hosted.workspace_id, "zernio")
    assert found is not None and found.live
