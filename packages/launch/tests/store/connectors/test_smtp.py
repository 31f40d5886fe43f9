"""Mail through real SMTP servers: what arrives, and what is known when it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from email import message_from_bytes
from email.policy import compat32, default
from pathlib import Path
from typing import Any

import pytest
from tests.support.connectors.kit import engine_with
from tests.support.connectors.mail_reader import read_by_hand
from tests.support.connectors.mail_server import (
    CREDENTIALS,
    Certificates,
    Inbox,
    Script,
    mail_server,
    scripted_server,
)
from tests.support.surfaces import START_MS, ManualClock

from assent.gate.records import Effect, Media
from assent.kernel.refusals import Reason, Refusal
from assent.net.mail import MailClient
from assent.net.mail_server import Mailbox, MailServer
from assent.ports import Delivered, NotSent, OutcomeUnknown
from assent.present.outlook import Executed
from assent_conform.testing.connector_contract import claim_action, perform_claimed
from assent_conform.testing.operator import Wanted
from assent_launch.channels.email.smtp import SmtpConnector
from assent_launch.content.adapter import mail_html

SENDER = "Ann Löwe <ann@shop.example>"
BODY = "Hello Grace,\n\ndark mode is here.\n.\nA line with a dot above it, and ünïcode.\n"
SHORT = 1.0
LONG = 20.0


WANTED = Wanted(
    connector="smtp", channel="email", verb="email", subject="Hi", recipients=("grace@example.org",)
)


def mail(**changes: Any) -> Effect:
    given: dict[str, Any] = {
        "channel": "email",
        "verb": "email",
        "connector": "smtp",
        "subject": "Dark mode — finally",
        "preheader": "Easy on the eyes",
        "body": BODY,
        "recipients": ("grace@example.org",),
        **changes,
    }
    return Effect(**given)


def mail_settings(port: int) -> dict[str, Any]:
    return {"smtp_url": f"smtp://127.0.0.1:{port}", "smtp_from": SENDER}


async def send(port: int, effect: Effect, *, url: str = "smtp://127.0.0.1:{}", **options: Any) -> Delivered:
    timeout = options.pop("timeout", LONG)
    connector = SmtpConnector(url.format(port), SENDER, ManualClock(), **options)
    return await perform_claimed(connector, claim_action(effect), timeout)


async def not_sent(sending: Awaitable[Delivered]) -> NotSent:
    with pytest.raises(NotSent) as caught:
        await sending
    return caught.value


# ── what arrives ─────────────────────────────────────────────────────────────────────────────────


async def test_a_mail_arrives_as_it_was_approved() -> None:
    inbox = Inbox()
    async with mail_server(inbox) as port:
        delivered = await send(port, mail())
    message = inbox.message()
    action = claim_action(mail())
    assert message["From"] == "Ann Löwe <ann@shop.example>"
    assert message["To"] == "grace@example.org"
    assert message["Subject"] == "Dark mode — finally"
    assert message["Message-ID"] == f"<{action.action_id}.1@shop.example>" == delivered.external_id
    assert int(message["Date"].datetime.timestamp() * 1000) == START_MS
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    assert text is not None and html is not None
    assert text.get_content().replace("\r\n", "\n") == BODY
    written = html.get_content()
    assert written.index("Easy on the eyes") < written.index("dark mode is here.")
    assert delivered.evidence["reply"].startswith("250")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '<p title="<body>" lang="><h1>You are fired</h1><p x="">Lunch</p>'),
        ("", "<!-- <body> --><body><p>Lunch</p></body>"),
        ("", '<body a=b"c d="e>f"><p>Lunch</p></body>'),
        ("", "<style><body></style><p>Lunch</p>"),
        (
            '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"></head>\n<body>',
            "<p>Lunch</p></body>",
        ),
    ],
)
async def test_a_preheader_changes_nothing_of_the_approved_html(before: str, after: str) -> None:
    inbox = Inbox()
    async with mail_server(inbox) as port:
        await send(port, mail(html=before + after))
    html = inbox.message().get_body(("html",))
    assert html is not None
    written = html.get_content().replace("\r\n", "\n")
    assert written.startswith(f"{before}<div style=") and written.endswith(f">Easy on the eyes</div>{after}")


async def test_a_preheader_that_the_approved_html_has_is_not_added_again() -> None:
    inbox = Inbox()
    made = mail_html(BODY, preheader="Easy on the eyes")
    async with mail_server(inbox) as port:
        await send(port, mail(html=made))
    html = inbox.message().get_body(("html",))
    assert html is not None and html.get_content().replace("\r\n", "\n") == made


INJECTED = "=?utf-8?q?Lunch=0d=0aReply-To=3a_evil=40evil.example=0d=0a=0d=0a=3cp=3eYou_are_fired?="
HEADERS = ["From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type"]


@pytest.mark.parametrize(
    "subject",
    [
        INJECTED,
        "Team lunch =?utf-8?b?WW91IGFyZSBmaXJlZA==?=",
        "=?utf-8?B?WW91?= =?iso-8859-1?Q?_are?=",
        "What does a =? b mean, and b ?= c",
        "=?",
        "two  spaces, and a trailing one ",
        "\u00a0Löwe\u3000" * 40,
        "昼食のお知らせ、金曜日" * 12,
        "a word and another " * 9 + "end",
        "x" * 900,
        "مرحبا \u202eabc\u202c \u200b👩‍👩‍👧",
    ],
)
async def test_a_subject_is_sent_as_it_was_shown(subject: str) -> None:
    inbox = Inbox()
    async with mail_server(inbox) as port:
        await send(port, mail(subject=subject))
    for policy in (default, compat32):
        message = message_from_bytes(inbox.raw(), policy=policy)
        assert message.keys() == HEADERS and not message.defects
    assert inbox.message()["Subject"] == subject == read_by_hand(inbox.raw())["Subject"]
    text = inbox.message().get_body(("plain",))
    assert text is not None and text.get_content().replace("\r\n", "\n") == BODY
    assert max(map(len, inbox.raw().split(b"\r\n"))) <= 998


@pytest.mark.parametrize(
    "name",
    [
        INJECTED.replace("Lunch", "Bob"),
        "=?utf-8?b?UGF5UGFsIFNlY3VyaXR5?=",
        "PayPal =?utf-8?b?IFNlY3VyaXR5?=",
        "Löwe, Ann (home)",
        "Ann, Bob: x; y@z.example",
        "back\\slash\\",
        "組長" * 50,
    ],
)
async def test_a_name_is_sent_as_it_was_shown(name: str) -> None:
    inbox = Inbox()
    mailbox = f"{name} <bob@example.org>"
    async with mail_server(inbox) as port:
        await send(port, mail(sender=mailbox, recipients=(mailbox,)))
    message = inbox.message()
    assert message.keys() == HEADERS
    for header in ("From", "To"):
        (address,) = message[header].addresses
        # This reader puts a blank between the pieces of a long name, which no reader should (RFC 2047, 6.2).
        assert address.display_name.replace(" ", "") == name.replace(" ", "")
        assert address.addr_spec == "bob@example.org"
        assert read_by_hand(inbox.raw())[header] == f"{name} <bob@example.org>"
    (envelope,) = inbox.taken
    assert (envelope.mail_from, envelope.rcpt_tos) == ("bob@example.org", ["bob@example.org"])


async def test_a_note_of_the_server_is_sent_as_it_was_written() -> None:
    inbox = Inbox()
    async with mail_server(inbox) as port:
        server, sender = MailServer.parse(f"smtp://127.0.0.1:{port}"), Mailbox.parse(SENDER)
        text = "Something waits.\n.\nÜ"
        await MailClient(server).send_note(
            sender, "ann@example.org", INJECTED, text, key="note:1", now_ms=0, seconds=LONG
        )
    message = inbox.message()
    assert message.keys() == [*HEADERS[:5], "Auto-Submitted", *HEADERS[5:], "Content-Transfer-Encoding"]
    assert message["Subject"] == INJECTED
    assert message.get_content().replace("\r\n", "\n") == "Something waits.\n.\nÜ\n"


@pytest.mark.parametrize(
    "separator", ["\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\x00", "\t"]
)
async def test_every_character_of_a_body_arrives(separator: str) -> None:
    inbox = Inbox()
    body = f"one{separator}two \nthree=\n--=_assent--\nFrom x{separator}"
    async with mail_server(inbox) as port:
        await send(port, mail(body=body, html=f"<p>{body}</p>"))
    message = inbox.message()
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    assert text is not None and html is not None
    assert text.get_content().replace("\r\n", "\n") == body
    assert f"<p>{body}</p>" in html.get_content().replace("\r\n", "\n")


async def test_several_recipients_do_not_see_each_other() -> None:
    inbox = Inbox()
    everyone = ("grace@example.org", "Alan <alan@example.org>", "grace@example.org")
    async with mail_server(inbox) as port:
        await send(port, mail(recipients=everyone))
    (envelope,) = inbox.taken
    assert envelope.rcpt_tos == ["grace@example.org", "alan@example.org"]
    assert b"alan" not in inbox.raw().lower() and b"grace@" not in inbox.raw().lower()


async def test_people_who_are_to_see_each_other_do_and_answers_go_where_they_were_shown_to_go() -> None:
    inbox = Inbox()
    to, cc = ("Priya Löwe <priya@example.org>", "tom@example.org"), ("Lena <lena@example.org>",)
    async with mail_server(inbox) as port:
        await send(port, mail(recipients=to, cc=cc, reply_to="Desk <desk@shop.example>"))
    message = inbox.message()
    assert [each.addr_spec for each in message["To"].addresses] == ["priya@example.org", "tom@example.org"]
    assert [each.addr_spec for each in message["Cc"].addresses] == ["lena@example.org"]
    assert message["Reply-To"].addresses[0].addr_spec == "desk@shop.example"
    (envelope,) = inbox.taken
    assert envelope.rcpt_tos == ["priya@example.org", "tom@example.org", "lena@example.org"]


async def test_several_recipients_see_each_other_if_that_was_approved() -> None:
    inbox = Inbox()
    everyone = tuple(f"Person {number} <p{number}@example.org>" for number in range(10))
    async with mail_server(inbox) as port:
        await send(port, mail(recipients=everyone, visible=True))
    assert [str(each) for each in inbox.message()["To"].addresses] == list(everyone)


async def test_no_line_of_a_body_ends_the_mail() -> None:
    inbox = Inbox()
    body = "one\r\n.\r\nMAIL FROM:<evil@example.org>\n.\nthree\r.\rfour"
    async with mail_server(inbox) as port:
        await send(port, mail(body=body))
    text = inbox.message().get_body(("plain",))
    assert text is not None
    assert text.get_content().splitlines() == [
        "one",
        ".",
        "MAIL FROM:<evil@example.org>",
        ".",
        "three",
        ".",
        "four",
    ]


@pytest.mark.parametrize("scheme", ["starttls", "tls"])
async def test_mail_goes_encrypted_and_signed_in(tmp_path: Path, scheme: str) -> None:
    inbox, certificates = Inbox(), Certificates(tmp_path)
    url = {
        "starttls": f"smtp://{CREDENTIALS}@127.0.0.1:{{}}?starttls=required",
        "tls": f"smtps://{CREDENTIALS}@127.0.0.1:{{}}",
    }[scheme]
    async with mail_server(inbox, auth=True, **{scheme: certificates.server}) as port:
        await send(port, mail(), url=url, context=certificates.trusting)
    assert len(inbox.taken) == 1


@pytest.mark.rule("E28")
async def test_an_approved_mail_goes_out_once_and_its_message_id_is_kept(
    database_url: str, tmp_path: Path
) -> None:
    inbox = Inbox()
    async with (
        mail_server(inbox) as port,
        engine_with(database_url, tmp_path, **mail_settings(port)) as engine,
    ):
        action_id = await engine.approved(WANTED)
        reply = await engine.execute(action_id, key="k")
        assert isinstance(reply, Executed)
        assert reply.message_id == inbox.message()["Message-ID"]
        assert (await engine.action(action_id)).external_id == reply.message_id
        again = await engine.execute(action_id, key="k")
        assert isinstance(again, Executed) and again.message_id == reply.message_id
    assert len(inbox.taken) == 1


async def test_a_mail_without_a_sender_is_not_sent_under_one_that_nobody_was_shown(
    database_url: str, tmp_path: Path
) -> None:
    inbox = Inbox()
    async with mail_server(inbox) as port:
        async with engine_with(database_url, tmp_path) as engine:
            action_id = await engine.approved(WANTED)
        async with engine_with(database_url, tmp_path, **mail_settings(port)) as engine:
            reply = await engine.execute(action_id)
            assert isinstance(reply, Refusal) and reply.reason is Reason.REQUIRES_APPROVAL
            action = await engine.action(action_id)
            assert (action.status, action.effect.sender) == ("awaiting_approval", SENDER)
            await engine.approve(action_id)
            assert isinstance(await engine.execute(action_id), Executed)
    assert inbox.message()["From"] == SENDER


async def test_a_mail_approved_for_one_server_and_sender_waits_when_the_settings_name_others(
    database_url: str, tmp_path: Path
) -> None:
    inbox = Inbox()
    before: dict[str, Any] = {"smtp_url": "smtp://mail.example:25", "smtp_from": SENDER}
    async with engine_with(database_url, tmp_path, **before) as engine:
        action_id = await engine.approved(WANTED)
    async with mail_server(inbox) as port:
        after: dict[str, Any] = {"smtp_url": f"smtp://127.0.0.1:{port}", "smtp_from": "eve@example.org"}
        async with engine_with(database_url, tmp_path, **after) as engine:
            reply = await engine.execute(action_id)
            assert isinstance(reply, Refusal) and reply.reason is Reason.STALE_REVISION
            changed = reply.recovery().problems
            assert isinstance(changed, list)
            assert [(each.path, each.got) for each in changed] == [
                ("target.mail server", "127.0.0.1"),
                ("target.sender", "eve@example.org"),
            ]
            assert inbox.taken == []
            await engine.approve(action_id)
            assert isinstance(await engine.execute(action_id), Executed)
    assert len(inbox.taken) == 1


@pytest.mark.rule("E29")
async def test_a_mail_whose_fate_is_unknown_is_never_sent_again_by_itself(
    database_url: str, tmp_path: Path
) -> None:
    connections: list[int] = []

    async def counting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(1)
        await breaking_at("end", "hang up")(reader, writer)

    async with (
        scripted_server(counting) as port,
        engine_with(database_url, tmp_path, **mail_settings(port)) as engine,
    ):
        action_id = await engine.approved(WANTED)
        for _ in range(2):
            reply = await engine.execute(action_id)
            assert isinstance(reply, Refusal) and reply.reason is Reason.OUTCOME_UNKNOWN
        assert await engine.reconcile() == 1
        assert (await engine.action(action_id)).execution_state == "outcome_unknown"
    assert len(connections) == 1


# ── what is refused before it is sent ────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "changes",
    [
        {"subject": "Hi\r\nBcc: victim@example.org"},
        {"subject": "Hi\nX: y"},
        {"subject": "Hi\rX: y"},
        {"subject": "Hi\u2028X: y"},
        {"subject": "Hi\x00"},
        {"recipients": ("grace@example.org\r\nRCPT TO:<victim@example.org>",)},
        {"recipients": ("grace@example.org> SIZE=1\r\nDATA",)},
        {"recipients": ("grace@example.org, victim@example.org",)},
        {"recipients": ("Grace\r\nBcc: victim@example.org <grace@example.org>",)},
        {"recipients": ("nobody",)},
        {"cc": ("lena@example.org\r\nBcc: victim@example.org",)},
        {"reply_to": "ann@shop.example\r\nBcc: victim@example.org"},
        {"reply_to": "ann@shop.example, victim@example.org"},
        {"recipients": ()},
        {"sender": "Ann\nBcc: victim@example.org <ann@shop.example>"},
        {"sender": "ann@shop.example>\r\nX: y"},
        {"recipients": ("=?utf-8?q?victim=40example.org=2c?=@example.org",)},
        {"recipients": ("Team: grace@example.org, victim@example.org;",)},
        {"recipients": ("grace@example.org (victim@example.org)",)},
        {"recipients": ("<@relay.example:grace@example.org>",)},
        {"recipients": ("ann@ex\u200dämple.org",)},
        {"title": "Hi\nX: y", "subject": ""},
        {"media": (Media(kind="image", url="https://example.org/x.png"),)},
    ],
)
async def test_no_content_can_add_a_header_or_a_recipient(changes: dict[str, Any]) -> None:
    inbox = Inbox()
    async with mail_server(inbox) as port:
        refusal = await not_sent(send(port, mail(**changes)))
    assert (refusal.reason, refusal.curable) == (Reason.CONNECTOR_FAILED, False)
    assert inbox.taken == []


@pytest.mark.parametrize("reply", ["450 Later", "550 No such user"])
async def test_a_refused_recipient_does_not_stop_the_others_and_is_the_remainder(reply: str) -> None:
    inbox = Inbox()
    inbox.refused = {"alan@example.org": reply, "lena@example.org": reply}
    effect = mail(recipients=("grace@example.org", "Alan <alan@example.org>"), cc=("lena@example.org",))
    async with mail_server(inbox) as port:
        delivered = await send(port, effect)
    (envelope,) = inbox.taken
    assert envelope.rcpt_tos == ["grace@example.org"] and delivered.evidence["recipients"] == 1
    assert delivered.rest is not None and delivered.rest.reached == "grace@example.org"
    assert delivered.rest.effect.everyone == ("Alan <alan@example.org>", "lena@example.org")
    assert delivered.rest.effect.body == effect.body and reply in delivered.rest.why


async def test_what_the_server_refused_is_told_when_the_end_of_the_others_is_unknown() -> None:
    inbox = Inbox()
    inbox.refused = {"alan@example.org": "550 No such user"}
    inbox.last_word = "650 What"
    async with mail_server(inbox) as port:
        with pytest.raises(OutcomeUnknown, match=r"it refused alan@example\.org"):
            await send(port, mail(recipients=("grace@example.org", "alan@example.org")))


@pytest.mark.parametrize(("reply", "curable"), [("450 Later", True), ("550 No such user", False)])
async def test_a_mail_whose_recipients_are_all_refused_is_not_sent(reply: str, curable: bool) -> None:
    inbox = Inbox()
    everyone = ("grace@example.org", "alan@example.org")
    inbox.refused = dict.fromkeys(everyone, reply)
    async with mail_server(inbox) as port:
        refusal = await not_sent(send(port, mail(recipients=everyone)))
        assert (refusal.reason, refusal.curable) == (Reason.CONNECTOR_FAILED, curable)
        assert all(address in refusal.detail for address in everyone)
        assert inbox.taken == []
        # The server is left as it was: the next mail is not mixed up with this one.
        inbox.refused = {}
        await send(port, mail())
    assert inbox.taken[0].rcpt_tos == ["grace@example.org"]


async def test_one_recipient_refused_for_good_outweighs_another_refused_for_now() -> None:
    inbox = Inbox()
    inbox.refused = {"grace@example.org": "450 Later", "alan@example.org": "550 No"}
    async with mail_server(inbox) as port:
        refusal = await not_sent(send(port, mail(recipients=tuple(inbox.refused))))
    assert not refusal.curable


@pytest.mark.parametrize(("reply", "curable"), [("452 Full", True), ("554 Spam", False)])
async def test_the_last_word_of_the_server_counts(reply: str, curable: bool) -> None:
    inbox = Inbox()
    inbox.last_word = reply
    async with mail_server(inbox) as port:
        refusal = await not_sent(send(port, mail()))
    assert (refusal.reason, refusal.curable) == (Reason.CONNECTOR_FAILED, curable)


@pytest.mark.parametrize("credentials", ["ann:wrong@", ""])
async def test_a_failed_sign_in_is_a_missing_connector(credentials: str) -> None:
    inbox = Inbox()
    async with mail_server(inbox, auth=True) as port:
        refusal = await not_sent(send(port, mail(), url=f"smtp://{credentials}127.0.0.1:{{}}"))
    assert (refusal.reason, refusal.curable) == (Reason.MISSING_CONNECTOR, True)
    assert "wrong" not in refusal.detail
    assert inbox.taken == []


async def test_a_server_without_sign_in_is_a_missing_connector() -> None:
    async with mail_server(Inbox()) as port:
        refusal = await not_sent(send(port, mail(), url=f"smtp://{CREDENTIALS}@127.0.0.1:{{}}"))
    assert (refusal.reason, refusal.curable) == (Reason.MISSING_CONNECTOR, True)


async def test_an_unknown_certificate_stops_the_mail(tmp_path: Path) -> None:
    inbox, certificates = Inbox(), Certificates(tmp_path)
    async with mail_server(inbox, starttls=certificates.server) as port:
        refusal = await not_sent(send(port, mail(), url="smtp://127.0.0.1:{}?starttls=required"))
    assert (refusal.reason, refusal.curable) == (Reason.CONNECTOR_FAILED, True)
    assert inbox.taken == []


async def test_a_server_without_encryption_gets_nothing_where_it_is_required() -> None:
    inbox = Inbox()
    async with mail_server(inbox) as port:
        refusal = await not_sent(send(port, mail(), url="smtp://127.0.0.1:{}?starttls=required"))
    assert (refusal.reason, refusal.curable) == (Reason.CONNECTOR_FAILED, True)
    assert inbox.taken == []


@pytest.mark.parametrize("url", ["smtp://127.0.0.1:1", "smtp://mail.invalid:25?starttls=never"])
async def test_nobody_there_is_curable(url: str) -> None:
    refusal = await not_sent(send(0, mail(), url=url))
    assert (refusal.reason, refusal.curable) == (Reason.CONNECTOR_FAILED, True)


# ── what breaks ──────────────────────────────────────────────────────────────────────────────────


def breaking_at(step: str, how: str) -> Script:
    """A server that is polite until a step and then hangs up, falls silent or talks nonsense."""

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def answer(at: str, reply: bytes) -> bool:
            if at != step:
                writer.write(reply)
                return True
            if how == "silence":
                await reader.read()
            elif how == "nonsense":
                writer.write(b"what?\r\n")
            return False

        if not await answer("greeting", b"220 mail.test\r\n"):
            return
        while command := (await reader.readline()).decode().strip().upper():
            verb = command.split(" ", maxsplit=1)[0].partition(":")[0]
            if not await answer(verb, b"354 go\r\n" if verb == "DATA" else b"250 OK\r\n"):
                return
            if verb == "DATA":
                if step == "content":
                    await reader.read(16)
                    writer.transport.abort()
                    return
                await reader.readuntil(b"\r\n.\r\n")
                if not await answer("end", b"250 queued\r\n"):
                    return
            if verb == "QUIT":
                return

    return converse


@pytest.mark.slow
@pytest.mark.parametrize("how", ["hang up", "silence", "nonsense"])
@pytest.mark.parametrize("step", ["greeting", "EHLO", "MAIL", "RCPT", "DATA"])
async def test_whatever_breaks_before_the_content_nothing_was_sent(step: str, how: str) -> None:
    async with scripted_server(breaking_at(step, how)) as port:
        refusal = await not_sent(send(port, mail(), timeout=SHORT if how == "silence" else LONG))
    assert (refusal.reason, refusal.curable) == (Reason.CONNECTOR_FAILED, True)


@pytest.mark.parametrize(
    ("step", "how"), [("content", "hang up"), ("end", "hang up"), ("end", "silence"), ("end", "nonsense")]
)
async def test_without_a_last_word_the_outcome_is_unknown(step: str, how: str) -> None:
    async with scripted_server(breaking_at(step, how)) as port:
        with pytest.raises(OutcomeUnknown):
            await send(port, mail(), timeout=SHORT if how == "silence" else LONG)


async def test_a_server_that_does_not_say_goodbye_has_taken_the_mail() -> None:
    async with scripted_server(breaking_at("QUIT", "silence")) as port:
        delivered = await send(port, mail())
    assert delivered.evidence["reply"] == "250 queued"


async def test_a_server_that_drips_is_left_in_time() -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(b"220-still\r\n")
            await writer.drain()
            await asyncio.sleep(0.02)

    began = asyncio.get_running_loop().time()
    async with scripted_server(drip) as port:
        refusal = await not_sent(send(port, mail(), timeout=SHORT))
    assert refusal.curable
    assert asyncio.get_running_loop().time() - began < 5


async def test_a_call_off_before_the_content_is_final() -> None:
    """The caller gave up while the server was still silent; what it says afterwards must not send the mail."""
    proceed, ended = asyncio.Event(), asyncio.Event()
    heard: list[bytes] = []

    async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await proceed.wait()
        writer.write(b"220 mail.test\r\n")
        try:
            heard.append(await reader.read())
        except ConnectionResetError:
            heard.append(b"")  # it had hung up before this was said
        ended.set()

    async with scripted_server(late) as port:
        await not_sent(send(port, mail(), timeout=0.3))
        proceed.set()
        async with asyncio.timeout(10):
            await ended.wait()
    assert heard == [b""]


async def test_a_cancelled_send_hands_nothing_over() -> None:
    reached: asyncio.Queue[bytes] = asyncio.Queue()

    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.test\r\n")
        await reader.readline()
        await reached.put(b"EHLO")
        await reached.put(await reader.read())

    async with scripted_server(stall) as port:
        sending = asyncio.ensure_future(send(port, mail()))
        assert await reached.get() == b"EHLO"
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        async with asyncio.timeout(10):
            assert await reached.get() == b""
