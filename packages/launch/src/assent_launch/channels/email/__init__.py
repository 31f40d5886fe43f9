"""E-mail over SMTP and Resend."""

from __future__ import annotations

from typing import Final

from assent import Key
from assent.platform import ByHand, ConnectorInfo, HandField, ProviderWords
from assent_launch.channels.channel import Channel, count_chars

# Describes the two connectors of e-mail. Imports nothing slow.

SMTP: Final = ConnectorInfo(
    id="smtp",
    label="Your mail server",
    description="Sends e-mail through any mail server (SMTP).",
    auth_mode="password",
    channels=("email",),
    does=("send",),
    needed="You need its name, and the user and password that you send mail with.",
    on_page=True,
    hides_recipients=True,
    sends_pictures=False,
    connect=ProviderWords(
        gives="Sends approved e-mails through your own mail server.",
        asks="Where your mail server is, and the user and password that you send mail with.",
    ),
)

RESEND: Final = ConnectorInfo(
    id="resend",
    label="Resend",
    icon="plane",
    description="Sends e-mail and reads delivery metrics.",
    auth_mode="api_key",
    channels=("email",),
    does=("send", "measure"),
    needed="Resend is a service that sends e-mail (resend.com): you need an account and a key there, "
    "under API keys.",
    on_page=True,
    hides_recipients=True,
    most_recipients=50,
    decodes_headers=True,
    connect=ProviderWords(
        gives="Sends approved e-mails and reads whether they arrived.",
        asks="A key with full access, or one that may only send; with that, deliveries cannot be read back.",
        key=Key(
            "In Resend under API keys.",
            "It starts with re_.",
            page="https://resend.com/api-keys",
            starts="re_",
        ),
    ),
)


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
            HandField("cc", "cc"),
            HandField("reply to", "reply_to"),
            HandField("subject", "subject"),
            HandField("preview text", "preheader"),
            HandField("text", "body"),
        ),
    ),
)
CHANNELS: Final = (CHANNEL,)
CONNECTORS: Final = (SMTP, RESEND)
