"""Contacts in HubSpot. Nothing is drafted for this channel."""

from __future__ import annotations

import re
from typing import Final

from assent.platform import ConnectorInfo, ProviderWords
from assent.sdk import is_one_line

# Describes the connector of HubSpot. Imports nothing slow.

INFO: Final = ConnectorInfo(
    id="hubspot",
    label="HubSpot",
    icon="people",
    description="Creates contacts and keeps them up to date.",
    auth_mode="oauth",
    channels=("contacts",),
    does=("contacts",),
    activities=("keeps contacts",),
    needed="You sign in at HubSpot and allow contacts.",
    on_page=True,
    connect=ProviderWords(
        gives="Keeps approved contacts in your HubSpot.",
        asks="Reading and writing contacts, and nothing else.",
    ),
)


CONNECTORS: Final = (INFO,)

CHANNEL_ID: Final = "contacts"


FIELDS: Final[dict[str, str]] = {
    "E-mail": "email",
    "First name": "firstname",
    "Last name": "lastname",
    "Company": "company",
    "Job title": "jobtitle",
    "Phone": "phone",
    "Website": "website",
}
"""The label of each line, and the field's name in customer systems."""

MAX_VALUE_CHARS: Final = 500
_BREAK: Final = re.compile(r"\r\n|\r|\n")
"""Line ends that every editor shows. Others, such as U+2028, could hide a field within another."""
_ADDRESS: Final = re.compile(r"[^@\s<>,;\"]+@[^@\s<>,;\"]+\.[^@\s<>,;\"]+")
_BY_LABEL: Final = {label.lower(): name for label, name in FIELDS.items()}


class UnreadableContact(ValueError):  # noqa: N818 - what it is
    """The text is no contact; the message names the wrong line and what is expected there."""


def contact_text(contact: dict[str, str]) -> str:
    """Write the fields of a contact, one per line, in the order of `FIELDS`."""
    return "\n".join(f"{label}: {contact[name]}" for label, name in FIELDS.items() if contact.get(name))


def read_contact(text: str) -> dict[str, str]:
    """Parse the fields of a text. Raises `UnreadableContact`."""
    found: dict[str, str] = {}
    for whole in _BREAK.split(text):
        if not is_one_line(whole.replace("\t", " ")):
            raise UnreadableContact(f"a line holds a character that cannot be seen: {whole[:60]!r}")
        line = whole.strip()
        if not line:
            continue
        label, colon, value = line.partition(":")
        name = _BY_LABEL.get(label.strip().lower())
        if not colon or name is None:
            known = ", ".join(FIELDS)
            raise UnreadableContact(f"a line starts with none of {known}: “{line[:60]}”")
        if name in found:
            raise UnreadableContact(f"{label.strip()} is given twice")
        if len(value.strip()) > MAX_VALUE_CHARS:
            raise UnreadableContact(f"{label.strip()} is longer than {MAX_VALUE_CHARS} characters")
        if value.strip():
            found[name] = value.strip()
    if _ADDRESS.fullmatch(found.get("email", "")) is None:
        raise UnreadableContact("a contact needs one e-mail address, in the line “E-mail: …”")
    return {**found, "email": found["email"].lower()}
