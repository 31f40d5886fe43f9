"""Tells goals that the composer can serve, which are announcements of a product, from those that need a writer.

Deliberately narrow: a goal that is not recognised is left to the writer, because a product note in answer to a wish for
thanks is worse than no draft.
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
"""Words of a goal that a note about the product serves."""

_OTHERWISE: Final = re.compile(
    r"\b(?:hir(?:e|es|ing)|recruit\w*|jobs?|career\w*|vacanc\w*|engineers? wanted|join (?:us|our team)|applicants?|"
    r"thank\w*|grateful|gratitude|apolog\w*|sorry|condol\w*|congratulat\w*|wish(?:es|ing)?|birthday|"
    r"invit\w*|rsvp|events?|webinars?|meet-?ups?|meetings?|conference|"
    r"ask(?:s|ed|ing)?|questions?|survey|poll|interview\w*|remind\w*|repl(?:y|ies|ying)|answer\w*|respond\w*|"
    r"follow[ -]?up|introduce (?:me|us|myself|her|him|them)|"
    r"celebrat\w*|milestones?|anniversar\w*|feiern|jubiläum\w*|"
    r"outage|incident|downtime|breach|recall|refund\w*|invoice\w*|complain\w*|cancel\w*|resign\w*|"
    r"pric(?:e|es|ing)|discount\w*|sale|sunset\w*|deprecat\w*|shut(?:ting)? down|"
    r"einstell(?:en|ung)|stellenanzeige|stelle|bewerber\w*|mitarbeiter\w*|"
    r"dank\w*|bedank\w*|entschuldig\w*|glückwunsch\w*|gratulier\w*|einlad\w*|einzuladen|veranstaltung\w*|treffen|"
    r"frag\w*|umfrage\w*|erinner\w*|antwort\w*|ausfall|störung|rechnung\w*|kündig\w*|preis\w*|rabatt\w*)\b",
    re.IGNORECASE,
)
"""Words of a goal that no note about the product serves, whatever else it says."""


_KIND: Final = re.compile(
    r"\b[\w-]+ (?:apps?|tools?|widgets?|platforms?|software|services?|bots?|plug-?ins?|librar(?:y|ies)|apis?|clis?|"
    r"extensions?|engines?|frameworks?|dashboards?|schedulers?|trackers?|builders?|generators?|calculators?|parsers?|"
    r"servers?|databases?)\b",
    re.IGNORECASE,
)
"""What kind of product it is: the event of an event app is none that people are invited to."""


def announces(goal: str, product: str = "") -> bool:
    """Whether a note about the product and its change is what the goal asks for."""
    return bool(_ANNOUNCES.search(goal)) and not asks_otherwise(goal, product)


def asks_otherwise(goal: str, product: str = "") -> bool:
    """Whether the goal asks for something that no note about the product serves. Its name and kind do not decide."""
    said = goal.replace(product, " ") if product else goal
    return bool(_OTHERWISE.search(_KIND.sub(" ", said)))
