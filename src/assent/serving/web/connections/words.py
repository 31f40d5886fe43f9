"""Texts about providers: purpose, how to connect, choices and errors. Tables only."""

from __future__ import annotations

from typing import Final

from assent.kernel.structs import Record
from assent.serving.web.review.words import channel_name
from assent.serving.web.shell.problems import Link, PageProblem
from assent.suite.connectors.registry import ConnectorInfo


class KeyWords(Record):
    where: str
    looks: str
    label: str = "Key"


class ChoiceWords(Record):
    setting: str
    title: str
    label: str
    hint: str
    wrong: str


class ProviderWords(Record, kw_only=True):
    gives: str
    asks: str
    key: KeyWords | None = None
    mail: bool = False
    """Whether the person enters a mail server instead of a key."""
    choice: ChoiceWords | None = None


WORDS: Final = {
    "zernio": ProviderWords(
        gives="Publishes approved posts on LinkedIn, X, Threads, Instagram, Facebook, Bluesky and TikTok, and reads "
        "how they do.",
        asks="A key that may read and write.",
        key=KeyWords("In Zernio under Settings, API keys.", "It starts with sk_ and has 67 characters."),
    ),
    "bluesky": ProviderWords(
        gives="Publishes approved posts on one Bluesky account directly, and reads how they do.",
        asks="The account's handle and an app password, which you can take back at Bluesky at any time.",
        key=KeyWords(
            "In Bluesky under Settings, Privacy and security, App passwords.",
            "The handle, a colon and the app password: alice.bsky.social:abcd-efgh-ijkl-mnop.",
            "Handle and app password",
        ),
    ),
    "slack": ProviderWords(
        gives="Posts approved messages to one channel of Slack, or of a program that takes the same webhooks.",
        asks="The address of an incoming webhook. Anyone who has it may post there, so it is kept like a key.",
        key=KeyWords(
            "In Slack under Apps, Incoming WebHooks, for the channel of your choice.",
            "It starts with https://hooks.slack.com/services/.",
            "Address of the webhook",
        ),
    ),
    "smtp": ProviderWords(
        gives="Sends approved e-mails through your own mail server.",
        asks="Where your mail server is, and the user and password that you send mail with.",
        mail=True,
    ),
    "resend": ProviderWords(
        gives="Sends approved e-mails and reads whether they arrived.",
        asks="A key with full access, or one that may only send; with that, deliveries cannot be read back.",
        key=KeyWords("In Resend under API keys.", "It starts with re_."),
    ),
    "ga4": ProviderWords(
        gives="Reads sessions and conversions of the pages that a launch leads to.",
        asks="Reading your Analytics. It cannot change anything there.",
        choice=ChoiceWords(
            "propertyId",
            "Which property is read",
            "Property",
            "A number, in Google Analytics under Admin, Property details.",
            "Enter the number of a property, such as 123456789.",
        ),
    ),
    "search_console": ProviderWords(
        gives="Reads how often Google’s search showed your pages and how often they were opened.",
        asks="Reading your Search Console. It cannot change anything there.",
        choice=ChoiceWords(
            "siteUrl",
            "Which site is read",
            "Site",
            "As Search Console names it: an address such as https://example.org/, or sc-domain:example.org.",
            "Enter an address with https:// and a slash at its end, or sc-domain: and a domain.",
        ),
    ),
    "hubspot": ProviderWords(
        gives="Keeps approved contacts in your HubSpot.",
        asks="Reading and writing contacts, and nothing else.",
    ),
}


def find_words(info: ConnectorInfo) -> ProviderWords | None:
    """The texts of a provider. One that is not in the table describes itself."""
    known = WORDS.get(info.id)
    if known is not None or info.auth_mode != "api_key":
        return known
    key = KeyWords(f"Where {info.label} gives out keys.", "Enter it whole.")
    return ProviderWords(gives=info.description, asks=f"A key of {info.label}.", key=key)


DONE: Final = {
    "connected": "Connected. Waiting drafts can be sent now: check where each one goes, and approve it.",
    "chosen": "Saved. This applies to everything prepared from now on.",
    "disconnected": "Disconnected. Its keys and tokens are destroyed on this server.",
}

DONE_READING: Final = {
    **DONE,
    "connected": "Connected. The next measurement asks it too.",
    "chosen": "Saved. The next measurement reads it.",
}
"""The same for providers that are only read from."""

LOSES: Final = "Drafts for it are kept. They cannot be sent until it is connected again."
LOSES_READING: Final = "Measurements lack its numbers until it is connected again."


def say_done(reading: bool, what: str) -> str | None:
    return (DONE_READING if reading else DONE).get(what)


PLATFORMS: Final = {"twitter": "x", "googlebusiness": "Google Business"}
"""Platforms whose name at a provider differs from the channel's."""


def platform_name(platform: str) -> str:
    return channel_name(PLATFORMS.get(platform, platform))


def back_to(provider: str, label: str) -> Link:
    return Link(f"/connect/{provider}", f"Back to {label}")


def no_such_consent(provider: str, label: str) -> PageProblem:
    return PageProblem(
        400,
        "This consent was not requested from this browser",
        f"{label} sent your browser here, but this browser has no open request for that consent: it was started "
        "elsewhere, was already answered, or is older than ten minutes. Nothing was connected.",
        "Start again from the connect page, in this browser, and answer within ten minutes.",
        back_to(provider, label),
    )


def no_consent(provider: str, label: str) -> PageProblem:
    return PageProblem(
        403,
        f"{label} was not connected",
        f"Access was not granted: you declined, or {label} blocked the request. Nothing changed.",
        "If that was not what you wanted, start again and press the button that allows access.",
        back_to(provider, label),
    )


def no_refresh_token(provider: str, label: str, permissions: str) -> PageProblem:
    return PageProblem(
        502,
        f"{label} gave access for an hour only",
        "It sent no refresh token, which happens when this app was allowed before. Nothing was stored, because the "
        "connection would end after an hour.",
        f"Remove this app’s access ({permissions}), then start again.",
        back_to(provider, label),
    )


def too_little(provider: str, label: str) -> PageProblem:
    return PageProblem(
        403,
        f"{label} was not connected",
        "You consented, but not to everything that is needed: a box was left unticked. Nothing was kept.",
        "Start again and leave every box ticked; each is explained on the connect page.",
        back_to(provider, label),
    )


def not_exchanged(provider: str, label: str, why: str) -> PageProblem:
    return PageProblem(
        502,
        f"{label} did not finish connecting",
        f"You consented, but the last step between this server and {label} failed: {why}. Nothing was kept.",
        "Start again. If it fails again, the person who runs this server checks the client id, its secret and the "
        "callback address that are registered.",
        back_to(provider, label),
    )


UNKNOWN_PROVIDER: Final = PageProblem(
    404,
    "There is no such provider",
    "This server knows no provider of that name that could be connected.",
    "Choose one from the list.",
    Link("/connect", "See all providers"),
)

UNKNOWN_PLACE: Final = PageProblem(
    404,
    "There is no such workspace here",
    "The link names a workspace that is not here or that you are not in.",
    "Ask the person who sent the link, or choose a provider for a workspace of yours.",
    Link("/connect", "See all providers"),
)
