"""Connecting providers: the list of services, and a page for each (C27). People enter keys and consent
here, never in a chat.

A key is checked with its provider before it is stored, and is never shown again. Every form acts on
one workspace, named in its URL and in its nonce. These pages run no scripts. OAuth is in `consent`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from assent.engine.core import connection_store
from assent.gate.connection import Account, Connection, ConnectorInfo, Verified
from assent.gate.preflight import Readiness
from assent.kernel.ids import WorkspaceId
from assent.kernel.structs import Record
from assent.net.mail_server import PORTS, Mailbox, MailServer, write_server
from assent.ports import Choosing, Connector, Delivery, KeyChecked, NotSent, OutcomeUnknown
from assent.serving.web.connections.provider import (
    UNKNOWN_PROVIDER,
    ProviderView,
    address,
    at_workspace,
    confirm,
    find_provider,
    find_words,
    open_form,
    subject,
)
from assent.serving.web.review import naming
from assent.serving.web.shell.console import LOOK, SEND, Screen, Visit
from assent.serving.web.shell.problems import PageRefused
from assent.serving.web.shell.rendering import Badge
from assent.serving.web.shell.times import write_span
from assent.use_cases.connections import choose as choose_accounts
from assent.use_cases.connections import connect_with_key
from assent.use_cases.connections import disconnect as end_connection

MAX_KEY_CHARS: Final = 500
ASK_SECONDS: Final = 10.0
"""Timeout for a call to a provider while a page loads."""


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


async def provider_page(visit: Visit) -> Response:
    visit = at_workspace(visit)
    return await show(visit, await find_provider(visit, visit.part("provider")))


async def show(
    visit: Visit,
    view: ProviderView,
    advice: dict[str, str] | None = None,
    entered: dict[str, str] | None = None,
) -> Response:
    choosing = view.live and view.words.choice is not None
    chosen = _find_choice(view)
    listed = None
    choosing = choosing and (chosen is None or bool(visit.query("choose")) or bool(advice))
    if choosing:
        listed = await _choices(visit, view)
        view = await find_provider(visit, view.id)  # the request above may have found the access expired
    connection, reading = view.connection, view.info.does == ("measure",)
    values: dict[str, Any] = {
        "view": view,
        "words": view.words,
        "state": view.state,
        "all_providers": address(visit),
        "to": {
            name: address(visit, f"{view.id}/{name}")
            for name in ("key", "mail", "consent", "choose", "disconnect")
        },
        "choose_again": address(visit, view.id, choose="1"),
        "nonce": visit.nonce(subject(visit, view.id)),
        "advice": advice or {},
        "done": (DONE_READING if reading else DONE).get(visit.query("did")) if not advice else None,
        "loses": LOSES_READING if reading else LOSES,
        "since": visit.when(connection.connected_ms) if connection is not None else None,
        "changed": visit.when(connection.changed_ms) if connection is not None else None,
        "platforms": _by_platform(connection.accounts) if connection is not None and view.live else {},
        "choosing": choosing and view.live,
        "chosen": chosen,
        "choices": listed,
        "max_key_chars": MAX_KEY_CHARS,
        "mail": entered or read_mail_settings(connection),
        "encryptions": ENCRYPTIONS,
        "platform_name": lambda name: (
            view.info.platforms.get(name) or visit.services.effects.page_label(name)
        ),
    }
    return visit.page("connect_provider.html", values, scripts=False, status=400 if advice else 200)


async def enter_key(visit: Visit) -> Response:
    """Check a key with its provider and store it."""
    visit, view, form = await open_form(visit)
    if not isinstance(view.connector, KeyChecked):
        raise PageRefused(UNKNOWN_PROVIDER)
    key = visit.confirming.open(visit.session, form).get("key", "").strip()
    if not key or len(key) > MAX_KEY_CHARS or not key.isascii() or not key.isprintable():
        return await show(visit, view, {"key": "Enter it as the provider shows it, and nothing else."})
    if view.words.key is not None and not key.startswith(view.words.key.starts):
        return await show(visit, view, {"key": f"This is another key: {view.words.key.looks}"})
    await confirm(visit, view, form, "Connect", "The key that you entered is stored here, encrypted.")
    try:
        verified = await view.connector.verify(key, ASK_SECONDS)
    except (NotSent, OutcomeUnknown) as refused:
        said = (
            refused.detail
            if isinstance(refused, NotSent)
            else f"{view.info.label} could not be asked: {refused}"
        )
        return await show(visit, view, {"key": said.replace(key, "…")})
    return await _save(visit, view, verified, key)


async def enter_mail(visit: Visit) -> Response:
    """Test a mail server and store it."""
    visit, view, form = await open_form(visit)
    if not view.is_mail_server or not isinstance(view.connector, KeyChecked):
        raise PageRefused(UNKNOWN_PROVIDER)
    read = read_mail_form(visit.confirming.open(visit.session, form))
    if isinstance(read, dict):
        return await show(visit, view, read, drop_password(form))
    await confirm(visit, view, form, "Connect", "Mail of this workspace goes out by this server.")
    try:
        verified = await view.connector.verify(read.url, ASK_SECONDS)
    except NotSent as refused:
        advice = {"host": f"Nothing was kept: {refused.detail}"}
        return await show(visit, view, advice, drop_password(form))
    return await _save(visit, view, verified, read.url, read.settings)


async def _save(
    visit: Visit, view: ProviderView, verified: Verified, key: str, settings: Mapping[str, Any] | None = None
) -> Response:
    store, by = visit.services.connections, visit.person.label
    await connect_with_key(store, visit.workspace_id, view.id, key, verified, settings or {}, by=by)
    return visit.go(address(visit, view.id, did="connected"))


async def choose(visit: Visit) -> Response:
    """Store the chosen account, property or site."""
    visit, view, form = await open_form(visit)
    if view.connection is None or not view.live:
        return visit.go(address(visit, view.id))
    words, settings = view.words.choice, dict(view.connection.settings)
    accounts = [each.id for each in view.connection.accounts if each.chosen]
    if words is not None and isinstance(view.connector, Choosing):
        value = view.connector.read_choice((form.get("typed") or form.get("choice") or "").strip())
        if value is None:
            return await show(visit, view, {"typed": words.wrong})
        settings[view.connector.setting] = value
        picked = value
    else:
        accounts = [
            form[f"platform-{platform}"]
            for platform in _by_platform(view.connection.accounts)
            if form.get(f"platform-{platform}")
        ]
        names = {each.id: each.name for each in view.connection.accounts}
        picked = ", ".join(names.get(each, each) for each in accounts) or "none"
    await confirm(visit, view, form, "Use", f"From then on this workspace uses: {picked}.")
    store, by = visit.services.connections, visit.person.label
    await choose_accounts(store, visit.workspace_id, view.id, accounts, settings, by=by)
    return visit.go(address(visit, view.id, did="chosen"))


async def disconnect(visit: Visit) -> Response:
    """Delete the credentials here and, where possible, revoke them at the provider."""
    visit, view, form = await open_form(visit)
    reading = view.info.does == ("measure",)
    await confirm(visit, view, form, "Disconnect", LOSES_READING if reading else LOSES, danger=True)
    await end_connection(
        visit.services, visit.workspace_id, view.id, visit.services.store.write, by=visit.person.label
    )
    return visit.go(address(visit, view.id, did="disconnected"))


def _find_choice(view: ProviderView) -> str | None:
    if view.connection is None or not isinstance(view.connector, Choosing):
        return None
    return view.connector.chosen(view.connection)


async def _choices(visit: Visit, view: ProviderView) -> tuple[tuple[str, str], ...] | None:
    """The choices that the provider offers. None if it gives none; the person then types one."""
    if not isinstance(view.connector, Choosing):
        return None
    try:
        return await view.connector.choices(visit.workspace_id, ASK_SECONDS)
    except (NotSent, OutcomeUnknown):
        return None


def _by_platform(accounts: tuple[Account, ...]) -> dict[str, list[Account]]:
    found: dict[str, list[Account]] = {}
    for account in accounts:
        found.setdefault(account.platform, []).append(account)
    return found


# The mail server form: from its fields to the URL that is tested and sealed. Pure.
#
# The password is never shown again, not even after a mistake in another field.

ENCRYPTIONS: Final = {
    "starttls": "STARTTLS, usually on port 587",
    "tls": "TLS from the start, usually on port 465",
    "none": "None; a password goes only to this machine",
}
MAX_HOST_CHARS: Final = 253
MAX_SECRET_CHARS: Final = 300
SHOWN: Final = ("host", "port", "encryption", "user", "from")


class MailServerForm(Record):
    """The checked fields of the form. `url` holds the password."""

    url: str
    settings: dict[str, Any]

    def __repr__(self) -> str:
        return "MailServerForm()"


def read_mail_form(form: Mapping[str, str]) -> MailServerForm | dict[str, str]:
    """Read the form. Returns advice by field if it is invalid."""
    host, sender = form.get("host", "").strip(), form.get("from", "").strip()
    encryption = form.get("encryption", "starttls")
    user, password = form.get("user", "").strip(), form.get("password", "")
    advice: dict[str, str] = {}
    if not _is_host(host):
        advice["host"] = "Enter the name of the server alone, such as mail.example.org."
    if encryption not in ENCRYPTIONS:
        advice["encryption"] = "Choose one of the three."
    port = form.get("port", "").strip() or str(PORTS["smtps" if encryption == "tls" else "smtp"])
    if not port.isascii() or not port.isdigit() or not 0 < int(port[:6]) < 65_536:
        advice["port"] = "Enter a number from 1 to 65535, or nothing for the usual one."
    if bool(user) != bool(password):
        missing = "password" if user else "user"
        advice[missing] = "A user needs a password, and a password a user."
    elif len(user) > MAX_SECRET_CHARS or len(password) > MAX_SECRET_CHARS:
        advice["user"] = "User and password are too long to be right."
    try:
        Mailbox.parse(sender)
    except ValueError:
        advice["from"] = "Enter an address, such as Ann <ann@example.org>."
    if advice:
        return advice
    url = write_server(host, int(port), encryption, user, password)
    try:
        server = MailServer.parse(url)
    except ValueError as error:
        return {"host": f"This cannot be used: {error}."}
    facts = {"host": server.host, "port": server.port, "encryption": server.encryption, "user": user}
    return MailServerForm(url, {"from": sender, **facts})


def drop_password(form: Mapping[str, str]) -> dict[str, str]:
    """The fields without the password, to fill the form again."""
    return {name: form.get(name, "")[:MAX_SECRET_CHARS] for name in SHOWN}


def read_mail_settings(connection: Connection | None) -> dict[str, str]:
    """The initial values of the form, from an existing connection."""
    settings = connection.settings if connection is not None else {}
    return {name: str(settings.get(name, "")) for name in SHOWN}


def _is_host(host: str) -> bool:
    if not host or len(host) > MAX_HOST_CHARS or not host.isascii() or not host.isprintable():
        return False
    return not any(each in host for each in " /@?#\\[]%")


log = logging.getLogger("assent.web")


# The connections screen: one line for each service, with its state and what leads on.
#
# `/connect` is the same page at the address that agents and links name.

READINESS_SECONDS: Final = 3.0
"""After this time the page shows that the provider does not answer."""

AUTH_MODES: Final = {
    "none": "No account needed",
    "api_key": "Your API key",
    "oauth": "You sign in there and allow it",
    "password": "Your mail server, or that of this server",
}
DOES: Final = {
    "publish": "publishes",
    "send": "sends",
    "measure": "measures",
}
UNANSWERED: Final = Readiness(
    ready=False,
    blocker="not_answering",
    fix_hint="It does not answer. Reload this page in a moment.",
)
GROUPS: Final = (
    ("ready", "Connected"),
    ("waiting", "Not connected"),
    ("absent", "Not set up on this server"),
)


async def connectors(visit: Visit) -> Response:
    visit = at_workspace(visit)
    there = visit.services.connectors
    readiness = dict(
        zip(
            there,
            await asyncio.gather(*(ready(each, visit.workspace_id) for each in there.values())),
            strict=True,
        )
    )
    rows = [
        await describe_row(visit, info, there.get(info.id), readiness.get(info.id))
        for info in visit.services.effects.connectors.values()
    ]
    groups = [(label, [row for row in rows if row["group"] == name]) for name, label in GROUPS]
    failed = await visit.read(lambda: connection_store.list_failed_starts(visit.now_ms))
    own = (each for each in failed if each.workspace_id == visit.workspace_id)
    starts = [(each.server, each.why, visit.when(each.at_ms)) for each in own]
    return visit.page("connectors.html", {"groups": [each for each in groups if each[1]], "starts": starts})


async def ready(connector: Connector, workspace_id: WorkspaceId) -> Readiness:
    try:
        return await asyncio.wait_for(connector.readiness(workspace_id), READINESS_SECONDS)
    except Exception as error:
        log.warning("connector %s does not say whether it is ready: %s", connector.id, type(error).__name__)
        return UNANSWERED


async def describe_row(
    visit: Visit, info: ConnectorInfo, connector: Connector | None, readiness: Readiness | None
) -> dict[str, Any]:
    view = (
        await find_provider(visit, info.id)
        if connector is not None and find_words(info) is not None
        else None
    )
    is_ready = readiness is not None and readiness.ready
    state = judge(view, connector, is_ready)
    is_set_up = connector is not None and not (view is not None and view.needs_set_up)
    channels = [visit.services.effects.page_label(each) for each in info.channels]
    does = ", ".join(info.activities or (DOES.get(each, each) for each in info.does))
    account = view.connection.label if view is not None and view.live and view.connection else ""
    return {
        "info": info,
        "icon": naming.choose_icon(info),
        "line": account or ", ".join(channels if channels != [info.label] else ()) or does.capitalize(),
        "badge": state,
        "group": "ready" if is_ready else "waiting" if is_set_up else "absent",
        "is_ready": is_ready,
        "channels": channels,
        "does": does,
        "gives": view.words.gives if view is not None else info.description,
        "auth": AUTH_MODES[info.auth_mode],
        "delivery": promise(connector.delivery) if connector is not None else "",
        "hint": readiness.fix_hint or readiness.blocker if readiness is not None and not is_ready else None,
        "set_up": view.access.provider.what_to_set
        if view is not None and view.needs_set_up and view.access
        else "",
        "connect": address(visit, info.id) if view is not None and is_set_up else None,
    }


def judge(view: ProviderView | None, connector: Connector | None, is_ready: bool) -> Badge:
    """The state of a service in one or two words."""
    if connector is None:
        return Badge("Not on this server")
    if view is None:
        return Badge("Ready", "ok") if is_ready else Badge("Not ready", "warn")
    text, tone = view.state
    if view.live and not is_ready and tone == "ok":
        return Badge("Not ready", "warn")
    return Badge(text, tone)


def promise(delivery: Delivery) -> str:
    """Describe the connector's guarantee against sending twice (C30)."""
    if delivery.kind == "native_key":
        return f"Yes: the provider recognises a repetition for {write_span(delivery.window_ms or 0)}"
    return {
        "natural_key": "Yes: the same content is found instead of being made twice",
        "read_back": "Yes: the provider is asked whether it happened",
        "none": "No: a person looks, and it is never repeated on a guess",
    }[delivery.kind]


SCREENS: Final = (
    Screen("/connect/{provider}", provider_page, "connectors", LOOK),
    Screen("/connect/{provider}/key", enter_key, "connectors", SEND),
    Screen("/connect/{provider}/mail", enter_mail, "connectors", SEND),
    Screen("/connect/{provider}/choose", choose, "connectors", SEND),
    Screen("/connect/{provider}/disconnect", disconnect, "connectors", SEND),
    Screen("/connectors", connectors, "connectors"),
    Screen("/connect", connectors, "connectors"),
)
