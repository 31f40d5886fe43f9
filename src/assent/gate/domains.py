"""The ASCII form of an international domain (IDNA 2008): where mail to it really goes.

IDNA 2003, which Python's own codec has, sends mail for `straße.de` to `strasse.de`: another domain of other people.
Here a domain is what it is written as, in small letters, or it is refused; nothing is mapped to something else.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_MAIL_DOMAIN: Final = re.compile(r"@([^@<>\s]+)>?\s*\Z")


def ascii_domain(domain: str) -> str:
    """The domain as the mail system knows it. Raises `ValueError` where it cannot exist."""
    if domain.isascii():
        return domain
    # Loaded here, because settings are read before a first answer and few have such a domain.
    import idna

    try:
        return idna.encode(unicodedata.normalize("NFC", domain.lower()), strict=True).decode()
    except UnicodeError as error:
        raise ValueError(f"{domain!r} is no domain: {error}") from None


def ascii_form(mailbox: str) -> str | None:
    """What to show beside an address or a name and address: the ASCII form of its domain, where that is another."""
    found = _MAIL_DOMAIN.search(mailbox)
    if found is None or found[1].isascii():
        return None
    try:
        return ascii_domain(found[1])
    except ValueError:
        return None


def with_ascii_form(mailbox: str) -> str:
    """`ann@straße.de (xn--strae-oqa.de)`: an address as a human is shown it in a line of text."""
    domain = ascii_form(mailbox)
    return mailbox if domain is None else f"{mailbox} ({domain})"
