"""Numbers with their units, so that 3 GB differs from 3 TB. Pure."""

from __future__ import annotations

import re
from typing import Final

from assent.platform.values import Record
from assent.suite.content.language import word_set

_UNITS: Final = {
    name: unit
    for unit, names in {
        "%": "% ％ ٪ percent prozent",
        "x": "x times mal fach 倍",
        "ms": "ms millisecond milliseconds millisekunde millisekunden",
        "s": "s sec secs second seconds sekunde sekunden 秒",
        "min": "min mins minute minutes minuten 分",
        "h": "h hr hrs hour hours stunde stunden 時",
        "day": "day days tag tage tagen 日",
        "week": "week weeks woche wochen",
        "month": "month months monat monate monaten",
        "year": "year years jahr jahre jahren",
        "kb": "kb",
        "mb": "mb",
        "gb": "gb",
        "tb": "tb",
        "$": "$ usd dollar dollars",
        "€": "€ eur euro euros",
        "£": "£ gbp pound pounds",
        "¥": "¥ yen 円",
        "k": "k thousand tausend",
        "m": "m million millionen",
    }.items()
    for name in names.split()
}
_AMOUNT: Final = re.compile(
    r"([$€£¥])?\s?(?<![\w.,])(\d[\d.,]*)"
    r"(?:[ \u00a0-]?(%|％|٪|[$€£¥]|[\u3041-\u30ff\u3400-\u9fff]|[^\W\d_\u3041-\u30ff\u3400-\u9fff]+))?"
)
_NO_NOUN: Final = word_set(
    "with that this from have were will when than into over more less about after before until"
)
_STEM: Final = 5
_LEAST_NOUN: Final = 4


class Amount(Record):
    """A number with its unit or, if the unit is unknown, the stem of the next word."""

    number: str
    unit: str = ""
    noun: str = ""


def amounts_in(text: str) -> set[Amount]:
    found = set()
    for sign, digits, behind in _AMOUNT.findall(text.casefold()):
        number = re.sub(r"[.,](?=\d{3}(?!\d))", "", digits.rstrip(".,")).replace(",", ".")
        unit = _UNITS.get(sign or behind, "")
        noun = behind[:_STEM] if not unit and len(behind) >= _LEAST_NOUN and behind not in _NO_NOUN else ""
        found.add(Amount(number, unit, noun))
    return found


def has_amount(text: str, wanted: Amount) -> bool:
    """Whether a text has an amount: the same number with the same unit or noun."""
    same = [each for each in amounts_in(text) if each.number == wanted.number]
    if wanted.unit:
        return any(each.unit == wanted.unit for each in same)
    stems = {word[:_STEM] for word in re.findall(r"[^\W\d_]+", text.casefold())}
    return any(not wanted.noun or (not each.unit and wanted.noun in stems) for each in same)
