"""The report: what was done, who said yes and how sure that is, what was refused, and what proves it."""

from __future__ import annotations

import msgspec
import pytest
from tests.support.actions.kit import APPROVE, AUDIT, BODY, EXECUTE, REJECT, Gate
from tests.support.answers import calls_of, text_of

from assent.engine.actions import decisions
from assent.engine.audit import log as audit_log
from assent.gate.audit import WHAT_HASHES_PROVE
from assent.gate.gate import SeenVersion
from assent.gate.records import Assurance
from assent.kernel.ids import ActionId

REPORT = "chieflab_report"


async def test_every_action_says_what_became_of_it_and_who_said_yes(surface: Gate) -> None:
    chat, page, person = [await surface.staged() for _ in range(3)]
    await surface.done(APPROVE, actionId=chat)
    await surface.approve_as(Assurance.LINK, page, "Bo")
    await surface.approve_as(Assurance.PERSON, person)
    for action_id in (chat, page, person):
        await surface.done(EXECUTE, actionId=action_id)
    rejected = await surface.bring_to("rejected")
    failed = await surface.bring_to("failed")

    told = await surface.done(REPORT)

    entries = {entry["actionId"]: entry for entry in told["actions"]}
    assert {action_id: entry["outcome"] for action_id, entry in entries.items()} == {
        chat: "wentOut",
        page: "wentOut",
        person: "wentOut",
        rejected: "rejected",
        failed: "failed",
    }
    assert told["counts"] == {"wentOut": 3, "failed": 1, "rejected": 1}
    sure = {action_id: entries[action_id]["approved"]["assurance"] for action_id in (chat, page, person)}
    assert sure == {chat: "agent", page: "link", person: "person"}
    for how in ("did not see", "Bo", "signed in"):
        assert how in text_of(told)
    for entry in (entries[chat], entries[page], entries[person]):
        assert entry["externalId"] and entry["sentAt"] and entry["digest"]


async def test_attempts_that_were_refused_are_in_the_report(surface: Gate) -> None:
    action_id = await surface.staged()
    await surface.denied(EXECUTE, actionId=action_id)

    told = await surface.done(REPORT)

    [attempt] = told["refusedAttempts"]
    assert (attempt["actionId"], attempt["reason"]) == (action_id, "requires_approval")
    assert told["actions"][0]["refusedAttempts"] == 1
    refused = text_of(told).partition("**Refused attempts to send**")[2].strip().splitlines()[0]
    assert "LinkedIn" in refused and BODY[:20] in refused


async def test_an_approval_is_told_with_the_place_of_its_decision(surface: Gate) -> None:
    action_id = await surface.staged()
    on_page = msgspec.structs.replace(surface.someone(Assurance.CLIENT), via="review page")
    shown = SeenVersion(digest=(await surface.stored(action_id)).digest)
    now_ms, seals = surface.clock.now_ms(), surface.app.keys.seals
    await surface.decide(lambda: decisions.approve(on_page, ActionId(action_id), shown, now_ms, seals=seals))

    told = text_of(await surface.done(REPORT))

    assert "on the review page" in told and "chat program" not in told


@pytest.mark.own_database
async def test_the_report_carries_the_ends_of_the_chains_and_the_newest_signature(surface: Gate) -> None:
    run = await surface.run({})
    before = (await surface.done(REPORT))["proof"]
    signer = audit_log.Signer(surface.app.keys.master)
    now_ms = surface.clock.now_ms()
    await surface.app.store.write(lambda: audit_log.write_checkpoint(signer, now_ms))

    told = await surface.done(REPORT)

    last = (await surface.events(run["runId"]))[-1]
    [head] = told["proof"]["heads"]
    assert head == {"runId": run["runId"], "events": last["seq"], "hash": last["hash"]}
    assert before["heads"] == told["proof"]["heads"]
    assert told["proof"]["checkpoint"]["publicKey"] in signer.public_keys
    assert WHAT_HASHES_PROVE in text_of(told)
    assert text_of(told).endswith("/audit")


async def test_the_report_begins_at_the_moment_that_is_asked_for(surface: Gate) -> None:
    old = await surface.bring_to("executed")
    surface.clock.advance(days=8)
    new = await surface.bring_to("executed")
    day = "2026-09-21"

    by_since = {
        since: {entry["actionId"] for entry in (await surface.done(REPORT, since=since))["actions"]}
        for since in ("P7D", "PT1H", "P2W", day, f"{day}T00:00:00Z")
    }

    assert {entry["actionId"] for entry in (await surface.done(REPORT))["actions"]} == {new}
    assert by_since == {
        "P7D": {new},
        "PT1H": {new},
        "P2W": {old, new},
        day: {old, new},
        f"{day}T00:00:00Z": {old, new},
    }
    for bad in ("", "yesterday", "P", "PT", "2026-13-01", "2099-01-01", "2026-09-21T10:00:00"):
        assert (await surface.denied(REPORT, since=bad))["reason"] == "validation_error", bad


async def test_an_action_of_before_that_was_sent_since_is_in_the_report(surface: Gate) -> None:
    action_id = await surface.staged()
    surface.clock.advance(days=10)
    await surface.approve_as_shown(action_id)

    assert [entry["actionId"] for entry in (await surface.done(REPORT))["actions"]] == [action_id]


async def test_a_busy_week_is_a_page_that_says_so(surface: Gate) -> None:
    for _ in range(3):
        await surface.run(*[{}] * 20)

    told = await surface.done(REPORT)

    assert (len(told["actions"]), told["more"]) == (25, True)
    assert len(text_of(told)) < 8_000


@pytest.mark.parametrize("tenant", [None, "acme"])
async def test_the_counts_are_of_everything_in_that_time_and_not_of_what_is_listed(
    surface: Gate, tenant: str | None
) -> None:
    many = await surface.run(*[{}] * 20, tenantId="acme")
    ids = [each["id"] for each in many["actions"]]
    for action_id in ids[:3]:
        await surface.approve_as_shown(action_id)
        await surface.done(EXECUTE, actionId=action_id)
    for action_id in ids[3:15]:
        await surface.done(REJECT, actionId=action_id, reason="no")
    await surface.denied(EXECUTE, actionId=ids[16])
    by_hand = await surface.run({"connector": "manual", "channel": "hn"}, tenantId="acme")
    await surface.done(APPROVE, actionId=by_hand["actions"][0]["id"])
    await surface.run(*[{}] * 20, tenantId="acme")

    told = await surface.done(REPORT, since="P31D", **({"tenantId": tenant} if tenant else {}))

    assert told["counts"] == {"wentOut": 3, "rejected": 12, "waiting": 25, "byHand": 1}
    assert (len(told["actions"]), told["more"], len(told["refusedAttempts"])) == (25, True, 1)
    assert "1 to 25 of 41" in text_of(told)
    assert calls_of(told)[0]["name"] == REPORT
    rest = await surface.done(REPORT, **calls_of(told)[0]["args"])
    assert (rest["counts"], rest["more"], "26 to 41 of 41" in text_of(rest)) == (told["counts"], False, True)
    assert len({entry["actionId"] for each in (told, rest) for entry in each["actions"]}) == 41


async def test_the_audit_begins_at_a_moment_and_has_the_events_of_the_workspace(surface: Gate) -> None:
    old = await surface.bring_to("rejected")
    surface.clock.advance(days=8)
    action_id = await surface.staged()
    await surface.done(REJECT, actionId=action_id, reason="no")

    every = await surface.done(AUDIT)
    since = await surface.done(AUDIT, since="P7D")

    assert {record["id"] for record in every["actions"]} == {old, action_id}
    assert [record["id"] for record in since["actions"]] == [action_id]
    assert [event["kind"] for event in since["events"]] == ["action_reject", "run_prepared"]
    assert len(every["events"]) > len(since["events"])
    assert every["proves"] == since["proves"] != ""
    run_id = since["actions"][0]["runId"]
    of_run = await surface.done(AUDIT, runId=run_id)
    by_seq = sorted(since["events"], key=lambda event: event["seq"])
    assert by_seq == of_run["events"]
    assert (await surface.done(AUDIT, runId=run_id, since="PT0H"))["events"] == of_run["events"]


async def test_the_events_of_a_busy_workspace_are_the_newest_and_say_that_there_are_earlier_ones(
    surface: Gate,
) -> None:
    for _ in range(52):
        await surface.run({})

    told = await surface.done(AUDIT, limit=5)
    following = await surface.done(AUDIT, limit=5, cursor=told["nextCursor"])

    assert (len(told["events"]), told["earlierEvents"]) == (50, True)
    assert following["events"] == []
