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
    "connected": "Connected. Check where each waiting draft goes, and approve it.",
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


# connect_provider.html
NOT_SET_UP: Final = "Not set up on this server"
CONNECT_AGAIN: Final = "Connect again"
CONTINUE_TO: Final = "Continue to {label}"


# connectors.py
NO_ACCOUNT_NEEDED: Final = "No account needed"
YOUR_API_KEY: Final = "Your API key"
YOU_SIGN: Final = "You sign in there and allow it"
A_MAIL_SERVER: Final = "Your mail server, or that of this server"
IT_DOES_NOT_ANSWER_RELOAD: Final = "It does not answer. Reload this page in a moment."
NOT_CONNECTED: Final = "Not connected"
NOT_ON_THIS_SERVER: Final = "Not on this server"
NOT_READY: Final = "Not ready"
YES_THE_PROVIDER_RECOGNISES: Final = "Yes: the provider recognises a repetition for {window_ms}"
YES_THE_SAME_CONTENT: Final = "Yes: the same content is found instead of being made twice"
YES_THE_PROVIDER_IS_ASKED: Final = "Yes: the provider is asked whether it happened"
NO_A_PERSON_LOOKS: Final = "No: a person looks, and it is never repeated on a guess"

# consent.py
YOU_GO_TO_AND_ALLOW: Final = "You go to {label} and allow it there. This workspace may use it then."
IS_NOT_SET_UP: Final = "{label} is not set up on this server"
DOES_NOT_KNOW_THIS_SERVER: Final = "{label} does not know this server yet, so it cannot ask you for consent."
OPEN_THIS_PAGE: Final = "Open this page at its own address"
YOU_REACH_THIS_SERVER: Final = (
    "You reach this server by another address than {base}, which is the one the provider sends you back "
    "to: you would not be signed in there."
)
SIGN_IN_THERE_AND_CONNECT: Final = "Sign in there, and connect from there."
OPEN_IT_THERE: Final = "Open it there"

# mail.py
STARTTLS_USUALLY_ON_PORT_587: Final = "STARTTLS, usually on port 587"
TLS_FROM_THE_START_USUALLY: Final = "TLS from the start, usually on port 465"
NONE_A_PASSWORD_GOES_ONLY: Final = "None; a password goes only to this machine"
ENTER_THE_NAME: Final = "Enter the name of the server alone, such as mail.example.org."
CHOOSE_ONE_OF_THE_THREE: Final = "Choose one of the three."
ENTER_A_NUMBER_FROM_1: Final = "Enter a number from 1 to 65535, or nothing for the usual one."
A_USER_NEEDS_A_PASSWORD: Final = "A user needs a password, and a password a user."
USER_AND_PASSWORD_ARE_TOO: Final = "User and password are too long to be right."
ENTER_AN_ADDRESS_SUCH: Final = "Enter an address, such as Ann <ann@example.org>."
THIS_CANNOT_BE_USED: Final = "This cannot be used: {error}."

# provider.py
NOT_SET_UP_SHORT: Final = "Not set up"
BY_THIS_SERVER: Final = "By this server"
ONE_THING_TO_CHOOSE: Final = "One thing to choose"

# screens.py
ENTER_IT_AS_THE_PROVIDER: Final = "Enter it as the provider shows it, and nothing else."
THIS_IS_ANOTHER_KEY: Final = "This is another key: {looks}"
THE_KEY_THAT_YOU_ENTERED: Final = "The key that you entered is stored here, encrypted."
COULD_NOT_BE_ASKED: Final = "{label} could not be asked: {refused}"
MAIL_OF_THIS_WORKSPACE_GOES: Final = "Mail of this workspace goes out by this server."
NOTHING_WAS_KEPT: Final = "Nothing was kept: {detail}"
FROM_THEN_ON_THIS_WORKSPACE: Final = "From then on this workspace uses: {picked}."
