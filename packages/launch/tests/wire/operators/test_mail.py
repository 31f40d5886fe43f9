"""Mail as people write it: copies, answers to another address, people who see each other, one dead address."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.answers import calls_of, text_of
from tests.support.connectors.mail_server import Inbox, mail_server
from tests.support.operators.fixtures import LaunchClient
from tests.support.surfaces import ManualClock, settings_for, signed_in

from assent.app import App

SEND, EDIT, APPROVE = "chieflab_send", "chieflab_edit_action", "chieflab_approve_action"
UNDO = "chieflab_undo_action"
SENDER = "Sam <sam@fernglass.example>"
NOTES = {"subject": "Notes", "body": "Dear both, here are the notes."}
OPERATOR = """
import assent
till = assent.Operator("acme-till", label="Till", function="Refunds.")

@till.effect(risk="low")
def refund(order: str) -> assent.Receipt:
    "Refund an order. USE WHEN the user asks for it."
    return assent.Receipt("re_1")

refund.without("recipients", "amount")
"""


class Office(LaunchClient):
    """A workspace that sends through a mail server, whose inbox is at hand."""

    inbox: Inbox


@pytest.fixture
async def office(database_url: str, tmp_path: Path) -> AsyncIterator[Office]:
    till = tmp_path / "till.py"
    till.write_text(OPERATOR)
    inbox = Inbox()
    async with mail_server(inbox) as port:
        mail = {"smtp_url": f"smtp://127.0.0.1:{port}", "smtp_from": SENDER}
        settings = settings_for(database_url, tmp_path, operators=(str(till),), **mail)
        async with signed_in(Office(App(settings, clock=ManualClock()))) as made:
            made.inbox = inbox
            yield made


async def send(office: Office, *to: str, **more: Any) -> dict[str, Any]:
    return (await office.call(SEND, {"to": list(to), **NOTES, **more})).payload


async def record(office: Office, action_id: str) -> dict[str, Any]:
    return (await office.call("chieflab_get_action", {"actionId": action_id})).payload


async def warnings(office: Office, answer: dict[str, Any]) -> list[str]:
    found = await record(office, answer["actions"][0]["id"])
    return list(found["preflight"]["warnings"])


async def test_a_copy_and_the_address_for_answers_are_shown_approved_and_sent(office: Office) -> None:
    people = {"cc": ["lena@example.org"], "replyTo": "desk@fernglass.example"}
    run = await send(office, "priya@example.org", "tom@example.org", **people)
    action = run["actions"][0]
    content = (await record(office, action["id"]))["content"]
    sent = (
        await office.call(APPROVE, {"actionId": action["id"], "digest": action["digest"], "send": True})
    ).payload
    message = office.inbox.message()

    assert (content["cc"], content["replyTo"]) == (people["cc"], people["replyTo"])
    for line in ("Cc: lena@example.org", "Reply to: desk@fernglass.example"):
        assert line in text_of(run), line
    assert "3 people; they see each other" in text_of(run)
    assert sent["status"] == "executed"
    assert (message["Cc"], message["Reply-To"]) == ("lena@example.org", "desk@fernglass.example")
    assert message["To"] == "priya@example.org, tom@example.org"


async def test_a_brief_hides_recipients_from_each_other_only_where_the_mail_does(office: Office) -> None:
    hands = {
        "one": await send(office, "ada@example.org"),
        "hidden": await send(office, "ada@example.org", "bo@example.org"),
        "seen": await send(office, "ada@example.org", "bo@example.org", visible=True),
    }
    for each, run in hands.items():
        about = {"actionId": run["actions"][0]["id"]}
        brief = text_of((await office.call("chieflab_use_manual_fallback", about)).payload)
        assert ("into Bcc" in brief) is (each == "hidden"), brief


async def test_an_edit_of_a_copy_is_new_content_that_waits_for_its_own_yes(office: Office) -> None:
    action = (await send(office, "priya@example.org"))["actions"][0]
    await office.call(APPROVE, {"actionId": action["id"]})
    edited = (await office.call(EDIT, {"actionId": action["id"], "cc": ["lena@example.org"]})).payload
    answers = (
        await office.call(EDIT, {"actionId": action["id"], "replyTo": "desk@fernglass.example"})
    ).payload

    assert edited["status"] == "awaiting_approval"
    assert len({action["digest"], edited["digest"], answers["digest"]}) == 3
    assert "Cc: lena@example.org" in text_of(answers)


async def test_at_most_ten_people_see_each_other(office: Office) -> None:
    ten = [f"p{number}@example.org" for number in range(10)]
    eleven = await office.call(SEND, {"to": [*ten, "one@example.org"], "visible": True, **NOTES})
    by_copy = await office.call(SEND, {"to": ten, "cc": ["one@example.org"], **NOTES})
    hidden = await send(office, *ten, "one@example.org")
    open_ = await send(office, *ten, visible=True)
    edited = await office.call(EDIT, {"actionId": hidden["actions"][0]["id"], "visible": True})

    for refused in (eleven, by_copy, edited):
        assert refused.reason == "validation_error"
    assert eleven.payload["problems"][0]["path"] == "to"
    assert "10 people; they see each other" in text_of(open_)
    assert "11 people; they do not see each other" in text_of(hidden)


@pytest.mark.rule("E62")
async def test_people_who_get_a_copy_count_for_the_crowd_of_a_day(office: Office) -> None:
    for day in range(6):
        await send(office, f"to{day}@example.org", cc=[f"p{day}-{number}@example.org" for number in range(8)])
    last = await send(office, "last@example.org")

    assert last["actions"][0]["preflight"]["severity"] == "high"


async def test_one_dead_address_stops_nobody_else_and_waits_to_be_corrected(office: Office) -> None:
    office.inbox.refused = {"bad@example.org": "550 No such user"}
    action = (await send(office, "ada@example.org", "bad@example.org", "bo@example.org"))["actions"][0]
    done = (await office.call(APPROVE, {"actionId": action["id"], "send": True})).payload
    (envelope,) = office.inbox.taken
    offered = calls_of(done)[0]
    first = await record(office, action["id"])
    pending = (await office.call("chieflab_list_pending_actions")).payload["actions"]
    records = [await record(office, each["id"]) for each in pending]
    status = (await office.call("chieflab_status")).payload
    lines = [line for line in text_of(status).splitlines() if NOTES["subject"] in line]
    (rest,) = [each for each in records if each["metadata"].get("restOf") == action["id"]]
    await office.call(APPROVE, {"actionId": rest["id"]})
    approved = text_of((await office.call("chieflab_status")).payload).partition("**Approved, not sent**")[2]
    office.inbox.refused = {}
    fixed = (await office.call(EDIT, {"actionId": rest["id"], "to": ["good@example.org"]})).payload
    again = (
        await office.call(APPROVE, {"actionId": rest["id"], "digest": fixed["digest"], "send": True})
    ).payload

    assert envelope.rcpt_tos == ["ada@example.org", "bo@example.org"]
    assert (done["status"], first["status"]) == ("executed", "executed")
    assert "bad@example.org: 550 No such user" in done["userMessage"]
    assert "3 people" not in done["userMessage"]
    assert "bad@example.org" in text_of(first) and "bad@example.org" in lines[0] and "rest" in lines[1]
    assert "bad@example.org: 550 No such user" in approved
    assert (offered["name"], offered["args"]) == ("chieflab_get_action", {"actionId": rest["id"]})
    assert rest["content"]["recipients"] == ["bad@example.org"] and rest["content"]["body"] == NOTES["body"]
    assert again["status"] == "executed"
    assert office.inbox.taken[1].rcpt_tos == ["good@example.org"]


async def test_an_address_that_is_none_is_the_users_to_correct(office: Office) -> None:
    refused = await office.call(SEND, {**NOTES, "to": ["ada@example.org", "sofia@@lumen.example"]})

    assert refused.reason == "validation_error"
    assert [each["path"] for each in refused.payload["problems"]] == ["to.1"]
    assert "“sofia@@lumen.example”" in refused.payload["userMessage"]


async def test_after_every_address_was_refused_the_same_text_is_ready_for_another_one(office: Office) -> None:
    office.inbox.refused = {"bad@example.org": "550 No such user"}
    action = (await send(office, "bad@example.org"))["actions"][0]
    failed = (await office.call(APPROVE, {"actionId": action["id"], "send": True})).payload
    (call,) = calls_of(await record(office, action["id"]))
    status = (await office.call("chieflab_status")).payload

    assert failed["notSent"]["reason"] == "connector_failed"
    assert call["name"] == SEND and "to" in call["needs"] and "body" not in call["needs"]
    assert call["args"]["body"] == NOTES["body"]
    assert call in calls_of(status)


async def test_a_mail_that_went_out_cannot_be_taken_back_and_the_answer_says_so(office: Office) -> None:
    run = await send(office, "ada@example.org")
    about = {"actionId": run["actions"][0]["id"]}
    early = (await office.call(UNDO, about)).payload
    await office.approve_and_send(run["actions"][0]["id"])
    late = (await office.call(UNDO, about)).payload

    assert {(each["reason"], each["retry"], each["retryable"]) for each in (early, late)} == {
        ("validation_error", "never", False)
    }
    assert "not gone out" in early["userMessage"] and "cannot be taken back" in late["userMessage"]


async def test_while_the_mail_server_refuses_every_answer_says_that_it_is_tried_again(office: Office) -> None:
    run = await send(office, "ada@example.org")
    office.inbox.last_word = "451 Try again later"
    done = (await office.call(APPROVE, {"actionId": run["actions"][0]["id"], "send": True})).payload
    shown = await record(office, run["actions"][0]["id"])
    status = (await office.call("chieflab_status")).payload

    assert done["sent"] is False and "reached" not in done["notSent"]["summaryForUser"]
    for each in (done, shown, status):
        assert "The server tries again within a minute." in text_of(each)


async def test_a_mail_server_that_gives_no_numbers_promises_none_and_asks_for_those_that_are_seen(
    office: Office,
) -> None:
    run = await send(office, "ada@example.org")
    done = await office.approve_and_send(run["actions"][0]["id"])
    shown = await record(office, run["actions"][0]["id"])
    office.clock.advance(hours=25)
    await office.run_jobs()
    status = (await office.call("chieflab_status")).payload
    refused = (await office.call("chieflab_measure", {"runId": run["runId"]})).payload

    assert not any("Results arrive" in each["userMessage"] for each in (done, shown))
    assert "chieflab_measure" not in [
        call["name"] for each in (done, shown, status) for call in calls_of(each)
    ]
    assert (refused["reason"], refused["retry"]) == ("measurement_unavailable", "never")
    assert [call["name"] for call in calls_of(refused)] == ["chieflab_record_manual_metrics"]


async def test_a_call_is_named_by_what_it_does_and_with_what(office: Office) -> None:
    await office.call("acme_till_refund", {"order": "1182"})
    for tool in ("chieflab_status", "chieflab_report"):
        told = text_of((await office.call(tool)).payload)
        assert "Refund" in told and "1182" in told, tool


async def test_a_sender_who_is_not_of_the_workspace_is_a_warning(office: Office) -> None:
    foreign = await send(office, "ada@example.org", **{"from": "Elon M <ceo@bigcorp.example>"})
    colleague = await send(office, "ada@example.org", **{"from": "desk@fernglass.example"})
    usual = await send(office, "ada@example.org")

    (warning,) = await warnings(office, foreign)
    assert "ceo@bigcorp.example" in warning and "sam@fernglass.example" in warning
    assert await warnings(office, colleague) == await warnings(office, usual) == []


async def test_what_a_mail_says_was_done_is_unproven_until_an_action_did_it(office: Office) -> None:
    claim = "We have refunded the 40 euros to your card."
    told = await send(office, "jo@example.org", body=f"Hi Jo,\n\n{claim} Sorry for the trouble.")
    about = {"actionId": told["actions"][0]["id"]}
    edited = (await office.call(EDIT, {**about, "body": "Hi Jo,\n\nwe look into it."})).payload
    refund = (await office.call("acme_till_refund", {"order": "1182"})).payload["actions"][0]["id"]
    await office.approve_and_send(refund)
    proven = await send(office, "jo@example.org", body=f"Hi Jo,\n\n{claim}")

    assert any(claim in each for each in told["actions"][0]["preflight"]["warnings"])
    assert "Unproven" not in text_of(edited)
    assert await warnings(office, proven) == []
