"""One launch from the first call to the second launch: three ways out, two surfaces, two restarts, one story.

The judges are outside of the server: the page as a visitor gets it, and the mailbox of a real mail server. What the
audit says must be what they say, event by event.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from tests.support.answers import draft_of
from tests.support.connectors.mail_server import Inbox, mail_server
from tests.support.launch_server import NEW_OPENING, REASON, REVIEWER, VISITOR, LaunchServer
from tests.support.operators.fixtures import CLUB
from tests.support.surfaces import BASE_URL, ManualClock, settings_for

from assent.engine.audit import log as audit_log
from assent.engine.audit.log import Signer
from assent.jobs import checkpoint_files

SENDER = "Ledgerleaf <hello@ledgerleaf.example>"
READERS = ["ada@example.org", "grace@example.org"]
SHOW_HN = "Show HN: Ledgerleaf\n\nBookkeeping for clubs, now with bank statements as CSV."
ITEM = "https://news.ycombinator.com/item?id=4711"


class Server(LaunchServer):
    """The server and its mailbox."""

    def __init__(self, settings: Any, inbox: Inbox) -> None:
        super().__init__(settings, ManualClock())
        self.inbox = inbox


@pytest.fixture
async def server(database_url: str, tmp_path: Path) -> AsyncIterator[Server]:
    inbox = Inbox()
    async with mail_server(inbox) as port:
        smtp = f"smtp://127.0.0.1:{port}"
        made = Server(settings_for(database_url, tmp_path, smtp_url=smtp, smtp_from=SENDER), inbox)
        await made.start()
        try:
            yield made
        finally:
            await made.client.close()


@pytest.mark.own_database
@pytest.mark.rule("E9", "E21", "E29", "E30", "E31", "E33", "E42", "E45", "E61", "E66", "E68", "E70")
async def test_a_whole_launch_is_told_the_same_by_pages_mailbox_and_audit(server: Server) -> None:
    run = await server.tool(
        "chieflab_launch_product",
        channels=["site", "email", "linkedin"],
        drafts={"hn": SHOW_HN},
        email={"to": READERS, "subject": "Your bank statements, matched"},
        **CLUB,
    )
    run_id, link = run["runId"], run["reviewUrl"]
    by_channel = {action["channel"]: action["id"] for action in run["actions"]}
    site, mail, linkedin, hn = (by_channel[name] for name in ("site", "email", "linkedin", "hn"))

    # In the chat: one is rejected for good, one is approved.
    await server.tool("chieflab_reject_action", actionId=linkedin, reason=REASON)
    await server.tool("chieflab_approve_action", actionId=mail)

    # On the page: that one is edited, which takes the approval back, and another is approved.
    first_text = (await server.record(mail))["content"]["body"]
    opening = next(line for line in first_text.splitlines() if "Ledgerleaf" in line)
    new_text = first_text.replace(opening, NEW_OPENING).replace("for clubs", "for associations")
    assert NEW_OPENING in new_text and "for associations" in new_text
    await server.on_page(link, mail, "edit", body=new_text)
    early = await server.client.call("chieflab_send_approved_email", {"actionId": mail})
    assert early.reason == "requires_approval"
    await server.on_page(link, hn, "approve")

    # In the chat again: approved as it is now, and sent, twice with one key.
    edited = await server.record(mail)
    stale = await server.client.call(
        "chieflab_approve_action", {"actionId": mail, "digest": run["actions"][0]["digest"]}
    )
    assert stale.reason == "stale_revision"
    await server.tool("chieflab_approve_action", actionId=mail, digest=edited["digest"])
    sent = [
        await server.tool("chieflab_send_approved_email", actionId=mail, idempotencyKey="send")
        for _ in range(2)
    ]
    assert sent[0] == sent[1]

    # The agent is gone, a person says "approve and send now", and the server stops before it gets to it.
    await server.on_page(link, site, "approve", button="send")
    assert (await server.record(site))["status"] == "approved"
    await server.restart()
    await server.client.run_jobs()
    await server.client.run_jobs()
    page = await server.record(site)
    assert (page["status"], page["assurance"]) == ("executed", "link")
    assert page["approvedBy"] == f"someone with the review link, calling themselves “{REVIEWER}”"
    again = await server.client.call("chieflab_publish_approved_post", {"actionId": site})
    assert (again.reason, again.payload["externalId"]) == ("requires_approval", page["externalId"])

    # By hand: where it is, is said in the chat.
    done = await server.tool("chieflab_record_manual_publish", actionId=hn, url=ITEM)
    assert (done["status"], done["externalUrl"]) == ("executed", ITEM)

    # Two people read it. A day passes, another server has taken over by then, and the numbers come by themselves.
    for _ in range(2):
        seen = await server.client.http.get(page["externalUrl"].removeprefix(BASE_URL), headers=VISITOR)
        assert seen.status_code == 200
    await server.client.run_jobs()
    assert "run_measured" not in [kind for kind, _ in await server.events(run_id)]
    server.clock.advance(hours=25)
    await server.restart()
    for _ in range(3):
        await server.client.run_jobs()

    await _pages_and_mailbox_agree(server, run_id, by_channel, new_text)
    await _audit_tells_it(server, run_id, by_channel)
    await _measured_once(server, run_id)

    # The next launch leaves out what was rejected.
    second = await server.tool(
        "chieflab_launch_product", channels=["linkedin", "email", "site"], email={"to": READERS}, **CLUB
    )
    for channel in ("site", "email", "linkedin"):
        before, after = (draft_of(each, channel) for each in (run, second))
        assert "bank statements" in before, channel
        assert "bank statements" not in after, channel
    # The edit exchanged words. No later draft does.
    mail_body = draft_of(second, "email")
    assert "for associations" not in mail_body and NEW_OPENING not in mail_body
    used = {use["kind"] for asset in second["assets"] for use in asset.get("memoryUsed", [])}
    assert used == {"rejection"}
    assert len(server.inbox.taken) == 1

    verdict = await audit_log.verify(server.client.app.store, Signer(server.client.app.keys.master))
    assert verdict.findings == ()
    assert await checkpoint_files.write(server.client.app) is not None
    verdict = await audit_log.verify(server.client.app.store, Signer(server.client.app.keys.master))
    assert (verdict.ok, verdict.checkpoints) == (True, 1)


async def _pages_and_mailbox_agree(server: Server, run_id: str, ids: dict[str, str], text: str) -> None:
    """What is outside is what was approved, to the character, and nothing else is outside."""
    trail = await server.tool("chieflab_query_audit", runId=run_id)
    records = {record["channel"]: record for record in trail["actions"]}
    assert {record["channel"]: record["status"] for record in trail["actions"]} == {
        "site": "executed",
        "email": "executed",
        "hn": "executed",
        "linkedin": "rejected",
    }

    (envelope,) = server.inbox.taken
    assert envelope.rcpt_tos == READERS == records["email"]["content"]["recipients"]
    assert envelope.original_content is not None
    letter = message_from_bytes(envelope.original_content, policy=default)
    plain = letter.get_body(("plain",))
    assert plain is not None
    assert (
        plain.get_content().replace("\r\n", "\n").rstrip("\n") == text == records["email"]["content"]["body"]
    )
    assert letter["Subject"] == records["email"]["content"]["subject"] == "Your bank statements, matched"
    assert letter["From"] == SENDER
    assert letter["Message-ID"] == records["email"]["externalId"]
    assert records["email"]["revision"] == 2

    feed = (await server.client.http.get(f"/feed/{server.workspace_id}/feed.json")).json()
    (item,) = feed["items"]
    assert item["url"] == records["site"]["externalUrl"]
    page = (await server.client.http.get(item["url"].removeprefix(BASE_URL))).text
    content = records["site"]["content"]
    assert content["title"] in page
    for line in filter(None, (line.lstrip("#-*• ") for line in content["body"].splitlines())):
        assert line in page

    assert records["hn"]["externalUrl"] == ITEM
    assert (records["linkedin"]["externalId"], records["linkedin"]["approvedBy"]) == (None, None)
    assert records["linkedin"]["rejectionReason"] == REASON
    assert {record["id"] for record in trail["actions"]} == set(ids.values())


async def _audit_tells_it(server: Server, run_id: str, ids: dict[str, str]) -> None:
    assert await server.told(run_id, ids) == [
        ("run_prepared", "", None, None),
        ("action_reject", "linkedin", "agent", "chat"),
        ("action_approve", "email", "agent", "chat"),
        ("action_edit", "email", "link", "review page"),
        ("action_approve", "hn", "link", "review page"),
        ("action_approve", "email", "agent", "chat"),
        ("action_claim", "email", None, None),
        ("action_succeed", "email", None, None),
        ("action_approve", "site", "link", "review page"),
        ("action_claim", "site", None, None),
        ("action_succeed", "site", None, None),
        ("action_hand_over", "hn", "agent", "chat"),
        ("run_measured", "", None, None),
    ]
    trail = await server.tool("chieflab_query_audit", runId=run_id)
    records = {record["id"]: record for record in trail["actions"]}
    for kind, facts in await server.events(run_id):
        if kind == "action_succeed":
            record = records[facts["actionId"]]
            assert (facts["externalId"], facts["digest"]) == (record["externalId"], record["digest"])
        if kind == "action_hand_over":
            assert facts["externalUrl"] == records[facts["actionId"]]["externalUrl"]


async def _measured_once(server: Server, run_id: str) -> None:
    assets = (await server.tool("chieflab_list_assets", runId=run_id))["assets"]
    (measured,) = [asset for asset in assets if asset["type"] == "measurement"]
    sources = {source["channel"]: source for source in measured["metadata"]["measurement"]["sources"]}
    assert sources["site"]["metrics"] == {"views": 2, "clicks": 0}
    assert {name: source["status"] for name, source in sources.items()} == {
        "site": "ok",
        "email": "unavailable",
        "hn": "unavailable",
    }
    assert all(
        source["reason"] and not source["metrics"] for source in sources.values() if source["status"] != "ok"
    )
    kept = (await server.tool("chieflab_brain_read", limit=50))["entries"]
    kinds = sorted(entry["kind"] for entry in kept)
    # The mail went to one person in words that a person wrote: neither its edit nor its approval is kept.
    assert kinds == ["approval"] * 2 + ["channel_performance", "rejection"]
