"""The recipients of an action: all of them, with lookalike domains marked. Pure."""

from __future__ import annotations

from collections import Counter
from typing import Final

from assent.kernel.domains import ascii_form
from assent.kernel.structs import Record

SUMMED_UP: Final = 50
"""Above this number of recipients the page also counts their domains."""


class Addressee(Record):
    """One address, and the ASCII form of its domain if that differs."""

    text: str
    ascii_domain: str = ""
    readable: bool = True


class Recipients(Record):
    people: tuple[Addressee, ...]
    domains: tuple[tuple[str, int], ...]
    """Recipients per domain, rarest first. Only for long lists."""

    def found(self, words: str) -> tuple[Addressee, ...]:
        wanted = words.casefold()
        return tuple(each for each in self.people if wanted in f"{each.text} {each.ascii_domain}".casefold())


def addressee(mailbox: str) -> Addressee:
    """Parse a mailbox, with or without a name."""
    domain = _domain(mailbox)
    if domain.isascii():
        return Addressee(mailbox)
    found = ascii_form(mailbox)
    return Addressee(mailbox, found or "", readable=found is not None)


def list_recipients(mailboxes: tuple[str, ...]) -> Recipients:
    people = tuple(addressee(mailbox) for mailbox in mailboxes)
    if len(people) <= SUMMED_UP:
        return Recipients(people, ())
    counted = Counter(each.ascii_domain or _domain(each.text).lower() for each in people)
    return Recipients(people, tuple(sorted(counted.items(), key=lambda item: (item[1], item[0]))))


def _domain(mailbox: str) -> str:
    return mailbox.rpartition("@")[2].strip(" >")
