"""Texts of the pages on which people connect providers. The words about one provider are its
connector's (`ConnectorInfo.connect`)."""

from __future__ import annotations

from typing import Final

from assent.gate.connection import ConnectorInfo, KeyWords, ProviderWords
from assent.serving.web.shell.problems import Link, PageProblem


def find_words(info: ConnectorInfo) -> ProviderWords | None:
    """Return the words of a provider's page. A connector with a key that has none describes
    itself; None if a person connects nothing."""
    if info.connect is not None or info.auth_mode != "api_key":
        return info.connect
    key = KeyWords(f"Where {info.label} gives out keys.", "Enter it whole.")
    return ProviderWords(gives=info.description, asks=f"A key of {info.label}.", key=key)


def find_connect_path(info: ConnectorInfo | None, workspace_id: str) -> str:
    """The path where a person of a workspace connects a provider; empty if there is none."""
    if info is None or find_words(info) is None:
        return ""
    return f"/connect/{info.id}?workspace={workspace_id}"


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
    Link("/connectors", "All connections"),
)

UNKNOWN_PLACE: Final = PageProblem(
    404,
    "There is no such workspace here",
    "The link names a workspace that is not here or that you are not in.",
    "Ask the person who sent the link, or choose a provider for a workspace of yours.",
    Link("/connectors", "All connections"),
)
