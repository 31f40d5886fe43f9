"""The wall behind the composition: bytes that say anything else than was meant are found, whatever made them."""

from __future__ import annotations

import pytest
from tests.support.builders import write_mail

from assent.net.mail import IntendedMail, Letter, difference
from assent.net.mail_server import Mailbox
from assent_conform.testing.connector_contract import CHECKED_AT_MS, claim_action
from assent_launch.channels.email.smtp import write_parts

ANN = Mailbox("Ann Löwe", "ann@shop.example")
GRACE = Mailbox("", "grace@example.org")
MAIL = write_mail(body="See you on Friday.\n", html="<p>See you on Friday.</p>")
MEANT = IntendedMail(
    sender=ANN,
    to=(GRACE,),
    subject="Lunch",
    fixed={
        "Date": "Fri, 15 Jan 2027 08:00:00 GMT",
        "Message-ID": f"<{claim_action(MAIL).provider_key.replace(':', '.')}@shop.example>",
    },
    parts=(("plain", MAIL.body), ("html", MAIL.html)),
)


def composed() -> bytes:
    key = claim_action(MAIL).provider_key
    return Letter.of_effect(MAIL, ANN, write_parts(MAIL), key=key, now_ms=CHECKED_AT_MS).content


def test_a_mail_that_says_what_was_meant_differs_in_nothing() -> None:
    assert difference(composed(), MEANT) is None


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (b"Subject: Lunch", b"Subject: Lunch\r\nBcc: evil@evil.example", "its headers"),
        (b"Subject: Lunch", b"Subject: Lunch\r\nReply-To: evil@evil.example", "its headers"),
        (b"MIME-Version: 1.0\r\n", b"", "its headers"),
        (b"@shop.example>\r\nMIME", b"@evil.example>\r\nMIME", "its headers"),
        (b"Subject: Lunch", b"Subject: Dinner", "the subject"),
        (b"Subject: Lunch", b"Subject: =?utf-8?q?Dinner?=", "the subject"),
        (b"<ann@shop.example>", b"<bob@shop.example>", "the sender"),
        (b"<ann@shop.example>", b"<ann@shop.example>, bob@shop.example", "the sender"),
        (b"=?utf-8?b?", b"=?utf-8?b?UGF5UGFs?= =?utf-8?b?", "the sender"),
        (b"To: grace@", b"To: victim@example.org, grace@", "the recipients"),
        (b"To: grace@example.org", b"To: undisclosed-recipients:;", "the recipients"),
        (b"multipart/alternative", b"multipart/mixed", "its parts"),
        (b"text/html", b"text/plain", "its parts"),
        (b'boundary="=_assent"', b'boundary="=_other"', "its parts"),
        (b"quoted-printable\r\n\r\nSee", b"quoted-printable\r\nX: y\r\n\r\nSee", "its parts"),
        (b"--=_assent--", b"--=_assent\r\n\r\nmore\r\n--=_assent--", "its parts"),
        (b"--=_assent--", b"--=_assent--\r\nmore", "its parts"),
        (b"See you", b"Sue you", "the plain text"),
        (b"<p>See", b"<p>Sue", "the html text"),
        (b"See you", b"See\nyou", "a line that no mail may have"),
        (b"See you", b"See\xa0you", "a line that no mail may have"),
        (b"See you", b"See you" * 200, "a line that no mail may have"),
    ],
)
def test_whatever_is_different_is_found(old: bytes, new: bytes, what: str) -> None:
    content = composed()
    assert old in content
    assert difference(content.replace(old, new, 1), MEANT) == what
