"""E-mail over SMTP and Resend."""

from __future__ import annotations

from typing import Final

from assent.platform.effects import ByHand, HandField
from assent.suite.channels.channel import Channel, count_chars
from assent.suite.channels.email.info import RESEND, SMTP

CHANNEL: Final = Channel(
    id="email",
    label="E-mail",
    aliases=("mail", "e-mail"),
    shape="email",
    connectors=("resend", "smtp"),
    verb="send",
    body=count_chars(100_000),
    title=count_chars(255),
    title_name="subject",
    title_required=True,
    title_advice=60,
    preheader_advice=90,
    short=2_500,
    links_habit=2,
    habits="A subject that names the content; one call to action.",
    by_hand=ByHand(
        where="your mail program",
        fields=(
            HandField("to", "recipients"),
            HandField("subject", "subject"),
            HandField("preview text", "preheader"),
            HandField("text", "body"),
        ),
        advice=("Put several recipients into Bcc, so that they do not see each other.",),
    ),
)
CONNECTORS: Final = (SMTP, RESEND)
