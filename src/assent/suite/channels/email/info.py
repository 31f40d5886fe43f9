"""Describes the two connectors of e-mail. Imports nothing slow."""

from __future__ import annotations

from typing import Final

from assent.platform.effects import ConnectorInfo, KeyWords, ProviderWords

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
        key=KeyWords(
            "In Resend under API keys.",
            "It starts with re_.",
            page="https://resend.com/api-keys",
            starts="re_",
        ),
    ),
)
