"""The mail server form: from its fields to the URL that is tested and sealed. Pure.

The password is never shown again, not even after a mistake in another field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from assent.gate.connection import Connection
from assent.kernel.structs import Record
from assent.net.mail_server import PORTS, parse_mailbox, parse_server, write_server
from assent.serving.web.connections import words

ENCRYPTIONS: Final = {
    "starttls": words.STARTTLS_USUALLY_ON_PORT_587,
    "tls": words.TLS_FROM_THE_START_USUALLY,
    "none": words.NONE_A_PASSWORD_GOES_ONLY,
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


def read(form: Mapping[str, str]) -> MailServerForm | dict[str, str]:
    """Read the form. Returns advice by field if it is invalid."""
    host, sender = form.get("host", "").strip(), form.get("from", "").strip()
    encryption = form.get("encryption", "starttls")
    user, password = form.get("user", "").strip(), form.get("password", "")
    advice: dict[str, str] = {}
    if not _is_host(host):
        advice["host"] = words.ENTER_THE_NAME
    if encryption not in ENCRYPTIONS:
        advice["encryption"] = words.CHOOSE_ONE_OF_THE_THREE
    port = form.get("port", "").strip() or str(PORTS["smtps" if encryption == "tls" else "smtp"])
    if not port.isascii() or not port.isdigit() or not 0 < int(port[:6]) < 65_536:
        advice["port"] = words.ENTER_A_NUMBER_FROM_1
    if bool(user) != bool(password):
        missing = "password" if user else "user"
        advice[missing] = words.A_USER_NEEDS_A_PASSWORD
    elif len(user) > MAX_SECRET_CHARS or len(password) > MAX_SECRET_CHARS:
        advice["user"] = words.USER_AND_PASSWORD_ARE_TOO
    try:
        parse_mailbox(sender)
    except ValueError:
        advice["from"] = words.ENTER_AN_ADDRESS_SUCH
    if advice:
        return advice
    url = write_server(host, int(port), encryption, user, password)
    try:
        server = parse_server(url)
    except ValueError as error:
        return {"host": words.THIS_CANNOT_BE_USED.format(error=error)}
    facts = {"host": server.host, "port": server.port, "encryption": server.encryption, "user": user}
    return MailServerForm(url, {"from": sender, **facts})


def safe(form: Mapping[str, str]) -> dict[str, str]:
    """The fields without the password, to fill the form again."""
    return {name: form.get(name, "")[:MAX_SECRET_CHARS] for name in SHOWN}


def read_settings(connection: Connection | None) -> dict[str, str]:
    """The initial values of the form, from an existing connection."""
    settings = connection.settings if connection is not None else {}
    return {name: str(settings.get(name, "")) for name in SHOWN}


def _is_host(host: str) -> bool:
    if not host or len(host) > MAX_HOST_CHARS or not host.isascii() or not host.isprintable():
        return False
    return not any(each in host for each in " /@?#\\[]%")
