"""Separates goals that ask for an announcement, which a plain note can serve, from goals that need a
writer.

Deliberately narrow: an unknown goal is left to a writer. A product note in answer to "thank our
users" is worse than no draft.
"""

from __future__ import annotations

import re
from typing import Final

_ANNOUNCES: Final = re.compile(
    r"\b(?:announc\w*|launch\w*|releas\w*|ship(?:s|ped|ping)?|introduc\w*|unveil\w*|updates?|upgrades?|versions?|"
    r"v\d[\w.]*|changelog|promot\w*|publici[sz]e|awareness|traffic|visits|visitors|users?|customers?|sign-?ups?|"
    r"downloads?|installs?|stars|adopt\w*|testers?|traction|growth|features?|show hn|"
    r"tell (?:people|everyone|everybody|the world|the community)|spread the word|"
    r"ankünd\w*|ankuend\w*|veröffentlich\w*|veroeffentlich\w*|vorstell\w*|vorzustellen|einführ\w*|einfuehr\w*|"
    r"freigabe|aktualisier\w*|bewerben|bekannt\w*|nutzer\w*|kund(?:en|innen)\w*|besucher\w*|anmeldungen)\b",
    re.IGNORECASE,
)
"""Goals that a note about the product serves."""

_MATTER: Final = re.compile(
    r"\b(?:hir(?:e|es|ing)|recruit\w*|career\w*|vacanc\w*|engineers? wanted|join (?:us|our team)|applicants?|"
    r"thank\w*|grateful|gratitude|apolog\w*|sorry|condol\w*|congratulat\w*|wish(?:es|ing)?|birthday|"
    r"celebrat\w*|milestones?|anniversar\w*|invit\w*|rsvp|introduce (?:me|us|myself|her|him|them)|"
    r"outage|incident|downtime|breach|recall|refund\w*|resign\w*|"
    r"pric(?:e|es|ing)|discount\w*|sale|sunset\w*|deprecat\w*|shut(?:ting)? down|"
    r"einstell(?:en|ung)|stellenanzeige|stelle|bewerber\w*|mitarbeiter\w*|feiern|jubiläum\w*|"
    r"dank\w*|bedank\w*|entschuldig\w*|glückwunsch\w*|gratulier\w*|einlad\w*|einzuladen|"
    r"ausfall|störung|kündig\w*|preis\w*|rabatt\w*)\b",
    re.IGNORECASE,
)
"""Goals that no note about the product serves, whatever else they mention."""

_OCCASION: Final = (
    r"(?:jobs?|events?|webinars?|meet-?ups?|meetings?|conference|ask(?:s|ed|ing)?|questions?|survey|poll|interview\w*|"
    r"remind\w*|repl(?:y|ies|ying)|answer\w*|respond\w*|follow[ -]?up|invoice\w*|complain\w*|cancel\w*|"
    r"veranstaltung\w*|treffen|frag\w*|umfrage\w*|erinner\w*|antwort\w*|rechnung\w*)\b"
)
"""Words for an occasion; a product can also be about one."""
_OCCASIONS: Final = re.compile(rf"\b{_OCCASION}", re.IGNORECASE)
_START: Final = (
    r"^\W*(?:(?:please|to|we|i|want|would like|need|are|help|us|me|write|make|prepare|draft|"
    r"a|an|the|our|my|some)\s+)*"
)
_ANNOUNCING: Final = (
    r"(?:announc\w+|launch\w*|releas\w+|ship(?:ping)?|introduc\w+|unveil\w*|promot\w+)(?:\s+of)?\b"
)
_ANNOUNCES_FIRST: Final = re.compile(_START + _ANNOUNCING, re.IGNORECASE)
_FOR_AN_OCCASION: Final = re.compile(
    rf"{_START}(?:{_ANNOUNCING}\s+(?:(?:a|an|the|our|my|new|next)\s+)*{_OCCASION}"
    rf"(?=\W*$|\s*[,.;:!?]|\s+(?:on|in|at|for|to|of|with|and|by|from|this|next|about)\b)|{_OCCASION})",
    re.IGNORECASE,
)
"""A goal about an occasion: it begins with it, or announces no product of that name."""

_KIND: Final = re.compile(
    r"(?<![\w-])[\w-]++ (?:apps?|tools?|widgets?|platforms?|software|services?|bots?|plug-?ins?|librar(?:y|ies)|"
    r"apis?|clis?|"
    r"extensions?|engines?|frameworks?|dashboards?|schedulers?|trackers?|builders?|generators?|calculators?|parsers?|"
    r"servers?|databases?)\b",
    re.IGNORECASE,
)
"""Kinds of products. The "event" of an event app is not an occasion."""


def announces(goal: str, product: str = "") -> bool:
    """Whether the goal asks for a note about the product and its change."""
    said = _leave_out_product(goal, product)
    if not _ANNOUNCES.search(goal) or asks_otherwise(goal, product):
        return False
    return bool(_ANNOUNCES_FIRST.match(said)) or not _OCCASIONS.search(said)


def asks_otherwise(goal: str, product: str = "") -> bool:
    """Whether the goal clearly asks for something else than a note about the product."""
    said = _leave_out_product(goal, product)
    return bool(_MATTER.search(said) or _FOR_AN_OCCASION.match(said))


def _leave_out_product(goal: str, product: str) -> str:
    """Remove the product's name and kind, which may contain words of an occasion."""
    return _KIND.sub("it", goal.replace(product, "it") if product else goal)
