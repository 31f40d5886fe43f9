"""A contact as a text: what a human reads, edits and approves is what is saved, line by line.

One line a field, its name first. There is no second form of the content that an edit could miss.
"""

from __future__ import annotations

import re
from typing import Final

from assent.kernel.headers import is_one_line

FIELDS: Final[dict[str, str]] = {
    "E-mail": "email",
    "First name": "firstname",
    "Last name": "lastname",
    "Company": "company",
    "Job title": "jobtitle",
    "Phone": "phone",
    "Website": "website",
}
"""What a line is called, and what the field is called among customer systems."""

MAX_VALUE_CHARS: Final = 500
_BREAK: Final = re.compile(r"\r\n|\r|\n")
"""What everybody sees as the end of a line. Others, such as U+2028, could hide a field within another."""
_ADDRESS: Final = re.compile(r"[^@\s<>,;\"]+@[^@\s<>,;\"]+\.[^@\s<>,;\"]+")
_BY_LABEL: Final = {label.lower(): name for label, name in FIELDS.items()}


class UnreadableContact(ValueError):  # noqa: N818 - what it is
    """The text is no contact; the message says which line is wrong and what stands there instead."""


def contact_text(contact: dict[str, str]) -> str:
    """The text of a contact, in the order of the table."""
    return "\n".join(f"{label}: {contact[name]}" for label, name in FIELDS.items() if contact.get(name))


def read_contact(text: str) -> dict[str, str]:
    """The fields that a text names. Raises `UnreadableContact`."""
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
            raise UnreadableContact(f"{label.strip()} stands there twice")
        if len(value.strip()) > MAX_VALUE_CHARS:
            raise UnreadableContact(f"{label.strip()} is longer than {MAX_VALUE_CHARS} characters")
        if value.strip():
            found[name] = value.strip()
    if _ADDRESS.fullmatch(found.get("email", "")) is None:
        raise UnreadableContact("a contact needs one e-mail address, in the line “E-mail: …”")
    return {**found, "email": found["email"].lower()}
