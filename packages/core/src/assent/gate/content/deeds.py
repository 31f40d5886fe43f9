"""Finds sentences that say that an effect has happened: “we have refunded 40 euros”.

A message is read as the truth about money and contracts, and its writer may not have done what it says. Whether the
workspace has done it is known from its executed actions. A guess from the wording, so it warns and refuses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from assent.gate.content.text_parts import sentences, sign
from assent.gate.records import Action
from assent.kernel.structs import Record

_MONEY: Final = r"[€$£]|\d\s?(?:eur|usd|gbp|chf|euros?|dollars?|pounds?|francs?|franken)\b"
_DEAL: Final = (
    r"\b(?:order|subscription|booking|contract|plan|membership|reservation|invoice|account)|"
    r"(?:bestellung|abo|buchung|vertrag|mitgliedschaft|reservierung|rechnung|konto)"
)
_DATA: Final = r"\b(?:data|account|profile|daten|konto|profil)"

# How a sentence says that it was done, what it must be about, and the words in the name of an action that does it.
_DEEDS: Final = (
    (
        "refunded|reimbursed",
        "erstattet|zurückerstattet|zurückgezahlt|zurücküberwiesen",
        "",
        "refund reimburs",
    ),
    ("charged back|reversed", "zurückgebucht", rf"{_MONEY}|charge|payment|betrag", "chargeback revers"),
    ("paid|transferred|wired", "gezahlt|bezahlt|ausgezahlt|überwiesen", _MONEY, "pay transfer wire"),
    ("cancell?ed|terminated", "storniert|gekündigt", _DEAL, "cancel terminat"),
    ("deleted|erased", "gelöscht", _DATA, "delet eras"),
)
_OPEN: Final = sign(
    r"\b(?:not|never|once|if|when|after|until|before|will|would|shall|can|nicht|kein\w*|wenn|sobald|falls|nachdem)\b",
    r"n[’']t\b",
    r"\?$",
)
"""A sentence that says no such thing: it denies it, asks, or speaks of what comes."""
_STEMS: Final = (
    *(
        "refund",
        "reimburs",
        "charged",
        "reversed",
        "paid",
        "transferred",
        "wired",
        "cancel",
        "terminated",
        "deleted",
    ),
    *("erased", "erstattet", "zahlt", "überwiesen", "gebucht", "storniert", "kündigt", "löscht"),
)
"""Every match has one of these, in any case: most texts have none, and need not be split into sentences."""
_AMOUNT: Final = re.compile(r"\d+(?:[.,]\d{1,2})?(?!\d)")


def _compile(did: str, german: str) -> re.Pattern[str]:
    return sign(
        rf"\b(?:we|i|has|have|was|were|been|[’']ve)\s+(?:(?:been|just|now|already|also|fully)\s+){{0,3}}(?:{did})\b",
        rf"\b(?:habe|haben|hat|wurden?)\b.*\b(?:{german})\b",
    )


_SAID: Final = tuple(
    (_compile(did, german), sign(about), tuple(words.split())) for did, german, about, words in _DEEDS
)


class Deed(Record):
    """A sentence that says that something was done, and the words of an action that does it."""

    passage: str
    words: tuple[str, ...]


def find_deeds(text: str) -> tuple[Deed, ...]:
    """Return what a text says has been done: the first sentence for each kind."""
    if not any(map(text.lower().__contains__, _STEMS)):
        return ()
    told = [each for each in sentences(text) if _OPEN.search(each) is None]
    found: dict[tuple[str, ...], Deed] = {}
    for sentence in told:
        for said, about, words in _SAID:
            if said.search(sentence) and about.search(sentence):
                found.setdefault(words, Deed(sentence, words))
    return tuple(found.values())


def is_shown_by(deed: Deed, executed: Iterable[Action]) -> bool:
    """Whether one of these actions did it: by its name, and by its amount where both have one."""
    return any(_matches(deed, action) for action in executed)


def _matches(deed: Deed, action: Action) -> bool:
    name = f"{action.effect.verb} {action.view.noun} {action.view.title}".lower()
    if not any(word in name.replace(" ", "").replace("_", "") for word in deed.words):
        return False
    said = {Decimal(each.replace(",", ".")) for each in _AMOUNT.findall(deed.passage)}
    done = _AMOUNT.search(action.view.facets.amount)
    return not said or done is None or Decimal(done[0]) in said
