"""The ASCII form of an international domain (IDNA 2008).

Python's codec implements IDNA 2003, which maps `straße.de` to `strasse.de`, a different domain.
Here a domain is only lowercased, never mapped, or it is refused.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_MAIL_DOMAIN: Final = re.compile(r"@([^@<>\s]+)>?\s*\Z")


def ascii_domain(domain: str) -> str:
    """Return the ASCII form of a domain. Raises `ValueError` for an invalid one."""
    if domain.isascii():
        return domain
    # Imported late: startup reads settings, and few of them have such a domain.
    import idna

    try:
        return idna.encode(unicodedata.normalize("NFC", domain.lower()), strict=True).decode()
    except UnicodeError as error:
        raise ValueError(f"{domain!r} is no domain: {error}") from None


def ascii_form(mailbox: str) -> str | None:
    """Return the ASCII form of a mailbox's domain if it differs, else None."""
    found = _MAIL_DOMAIN.search(mailbox)
    if found is None or found[1].isascii():
        return None
    try:
        return ascii_domain(found[1])
    except ValueError:
        return None


def with_ascii_form(mailbox: str) -> str:
    """Return an address for display: `ann@straße.de (xn--strae-oqa.de)`."""
    domain = ascii_form(mailbox)
    return mailbox if domain is None else f"{mailbox} ({domain})"
