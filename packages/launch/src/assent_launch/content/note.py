"""Writes a plain note for a channel from the facts, for calls that bring no text: one of the two fillers
of `write(facts, channel, goal)`; the other is `assent_launch.drafting`.

Every sentence is a sentence of the evidence, with the product's name before it where it does not name
the product. The channel decides how much is told and in which order (`NoteForm`), the goal which of
several changes and features comes first. What people asked not to say is left out. A writer with the
same facts does better, and the answer says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import takewhile
from typing import Final

import msgspec

from assent.platform import cut, reads_finished, sentences
from assent.sdk import Record
from assent_launch.channels.channel import Channel, check
from assent_launch.content.claims import find_risks
from assent_launch.content.counting import without_emoji
from assent_launch.content.evidence import VALUE_SOURCES, Evidence, find_name, is_named
from assent_launch.content.language import add_full_stop, speaks, strip_full_stop
from assent_launch.content.lessons import Rule, find_breaches, rules_from
from assent_launch.content.records import MemoryUse, ProductFacts, Written

MOST_CHARS: Final = 300
MOST_ITEM_CHARS: Final = 140
MOST_CANDIDATES: Final = 6
"""How many sentences may be the one that says what the product is."""
PREHEADER_CHARS: Final = 90
TITLE_SLACK: Final = 15
"""How much longer than advised a title may be before it is cut."""
_GREETING: Final = {"en": "Hi,", "de": "Hallo,"}
_AUDIENCE: Final = {"en": ("For ", "Who it is for: "), "de": ("Für ", "Für wen: ")}
_FIXED: Final = {"en": "Fixed: ", "de": "Behoben: "}
"""The words that a note adds, by language. In another language it does without."""
_SAYS_FIXED: Final = re.compile(
    r"fix|resolv|repair|correct|no longer|behoben|behebt|korrig|修正", re.IGNORECASE
)
_GOES_ON: Final = re.compile(
    r"(?:it|this|that|these|they|there|then|so|and|but|or|you|pick|es|das|dies\w*|sie|damit|dann|und|aber)\b",
    re.IGNORECASE,
)
"""Begins a sentence that needs the one before it."""
_NO_STATEMENT: Final = re.compile(
    r"[$€£¥]\s?\d|\d\s?(?:€|円)|\b(?:per|a) (?:user|seat|month|year)\b|^[\"“„«「‘]|[”\"] ?[—–-]|"
    r"https?://|[{}<>=]|[?？؟:：…]$|"
    r"\b(?:cookies?|copyright|licen[cs]ed under|(?:mit|apache|bsd|[al]?gpl)\b.{0,12}licen[cs]e|all rights reserved|"
    r"pull requests?|contribut\w+|sponsor\w*|"
    r"(?:pipx?|npm|brew|cargo|apt|apt-get|choco|go) (?:install|add|get)|git clone|docker (?:run|pull)|"
    r"this (?:repo\w*|readme|document|fork)|here (?:is|are)|(?:alpha|beta|pre-?release) software|work in progress)\b|"
    r"^(?:sign (?:up|in)|log ?in|get started|start (?:now|free|your)|try (?:it|now|for free)|learn more|"
    r"read (?:more|the)|subscribe|download|contact|see |please|note|warning|important|click|join|visit|check out|"
    r"if you|pricing|features?|faqs?|about(?: us)?|blog|docs|documentation|home|welcome|testimonials|how it works|"
    r"what (?:our|people|customers)|(?:loved|trusted|used) by|and (?:much )?more|bitte|jetzt|preise|funktionen)\b",
    re.IGNORECASE,
)
"""Lines of pages and repositories that say nothing about the product: prices, quotes, notices, calls, menus."""
_CLAUSE: Final = re.compile(
    r",? (?:that|which|who|so that|in which|where|when|while|because|using|made|built|for|with|without) |[;:] | [–—] "
)
"""Where a title may end."""


class Material(Record, kw_only=True):
    """The sentences that a note may use, best first."""

    name: str = ""
    language: str = ""
    changes: tuple[str, ...] = ()
    """The first one names the product."""
    product: str = ""
    features: tuple[str, ...] = ()
    audience: str = ""
    proof: str = ""
    left_out: tuple[MemoryUse, ...] = ()
    """The memory entries that forbid a sentence."""


def write_note(facts: ProductFacts, channel: Channel, goal: str) -> Written | None:
    """Return the longest note that fits the channel; None if the facts say nothing that fits."""
    rules = rules_from(facts.lessons, channel.id)
    held, form = pick_material(facts.evidence, rules, goal), channel.note
    sizes = [*((form.sentences, count) for count in range(form.facts, -1, -1)), (1, 0)]
    made = [_assemble(held, channel, facts.evidence.product_url, *size) for size in sizes]
    left_out = held.left_out
    asked = next((rule for rule in rules if rule.kind == "shorter"), None)
    if asked is not None and made[0] != made[form.facts]:
        made, left_out = made[form.facts :], (*left_out, MemoryUse(asked.entry_id, asked.why))
    written = next((each for each in made if _fits(channel, each)), None)
    return msgspec.structs.replace(written, left_out=left_out) if written is not None else None


def position(facts: ProductFacts, goal: str) -> tuple[str, str]:
    """Return what the product is and for whom, and what a launch tells first."""
    held = pick_material(facts.evidence, rules_from(facts.lessons, ""), goal)
    angle = held.changes[0] if held.changes else held.product
    return " ".join(filter(None, (held.product or angle, held.audience))), angle


def _assemble(held: Material, channel: Channel, link: str, most: int, facts: int) -> Written:
    """Return the note with at most so many main sentences and listed facts."""
    form, change = channel.note, held.changes[0] if held.changes else ""
    about = [(change, held.changes[1:]), (held.product, () if change else held.features)]
    if form.product_first:
        about = [(held.product, held.features), (change, ())]
    told = [(text, items[:facts]) for text, items in about if text][:most]
    if most == 1 and told:
        # The shortest note: one sentence.
        told = [(sentences(told[0][0])[0], ())]
    lead = change if form.shows and change else told[0][0] if told else ""
    title = _entitle(held, channel, lead) if channel.title is not None else ""
    parts = [f"# {title}"] if title and not channel.action else []
    if channel.shape == "email" and (greeting := _GREETING.get(held.language)):
        parts.append(greeting)
    for text, items in told:
        if channel.action or strip_full_stop(text) != title:
            parts.append(text)
        parts.append("\n".join(f"- {item}" for item in items))
    if sum(len(items) for _, items in told) < facts:
        parts += [held.proof if change else held.audience or held.proof]
    parts.append(link if form.link else "")
    preheader = cut(held.product, PREHEADER_CHARS) if channel.shape == "email" and change else ""
    body = "\n\n".join(filter(None, parts)) if told else ""
    return Written(title=title, body=body, preheader=preheader)


def _fits(channel: Channel, made: Written) -> bool:
    flawed = not all(reads_finished(text) for text in (made.title, made.body) if text)
    checked = check(channel, made.body, title=made.title, preheader=made.preheader)
    return not flawed and not checked.problems


def _entitle(held: Material, channel: Channel, lead: str) -> str:
    """Return the first sentence as a title; cut before a clause, or the name of a page, where it is too long."""
    most = min(channel.title.most if channel.title else 0, (channel.title_advice or 1_000) + TITLE_SLACK)
    text = strip_full_stop(sentences(lead)[0]) if lead else ""
    text = text.removeprefix(f"{held.name}: " if len(text) > most else "")
    if not held.changes and channel.note.shows:
        text = channel.note.shows + text.replace(": ", " – ", 1)
    if len(text) <= most:
        return text
    if not channel.action:
        return held.name or cut(text, most)
    ends = [match.start() for match in _CLAUSE.finditer(text) if most // 2 < match.start() <= most]
    return text[: ends[-1]] if ends else cut(text, most)


@lru_cache(maxsize=16)
def pick_material(evidence: Evidence, rules: tuple[Rule, ...], goal: str) -> Material:
    return _Picker(evidence, rules, goal).pick()


class _Picker:
    def __init__(self, evidence: Evidence, rules: tuple[Rule, ...], goal: str) -> None:
        self.evidence, self.rules, self.language = evidence, rules, evidence.language
        self.name = find_name(evidence)
        self.wanted = _stems(goal or evidence.first("launchGoal")) - _stems(self.name)
        self.joint = "" if self.language in ("ja", "zh") else " "
        self.left_out: dict[str, str] = {}

    def pick(self) -> Material:
        changes, product = self._changes(), self._product()
        if changes:
            version = self.evidence.first("version")
            first, *others = changes
            changes = [self._named(first, f"{self.name} {version}".strip()), *map(self._list, others)]
        return Material(
            name=self.name,
            language=self.language,
            changes=tuple(changes),
            product=product,
            features=tuple(self._features()),
            audience=self._audience(product),
            proof=next((self.joint.join(said) for said in self._read("proof") if len(said) == 1), ""),
            left_out=tuple(MemoryUse(entry, how) for entry, how in self.left_out.items()),
        )

    def _changes(self) -> list[str]:
        found: list[str] = []
        for _, fact in self.evidence.of("whatChanged"):
            said: list[str] = []
            for text in takewhile(self._allows, self._split(fact.text)):
                if said and _GOES_ON.match(text):
                    said[-1] += self.joint + text
                else:
                    said.append(text)
            if fact.kind == "fixed":
                said = [text for text in map(self._say_fixed, said) if text]
            found += said
        return self._order(found)

    def _say_fixed(self, text: str) -> str:
        if _SAYS_FIXED.search(text):
            return text
        return _FIXED[self.language] + text if self.language in _FIXED else ""

    def _product(self) -> str:
        """Return the sentence that says what the product is: by name rather than not, without a superlative."""
        found: list[str] = []
        for source in VALUE_SOURCES:
            for number, (_, fact) in enumerate(self.evidence.of(source)):
                said = filter(self._allows, self._split(fact.text))
                # Later paragraphs may be about anything.
                found += [text for text in said if number == 0 or self._begins(text)]
        told = [text for text in found if len(text.split()) > 1 or not text.isascii()][:MOST_CANDIDATES]
        told.sort(key=lambda text: ("superlative" in find_risks(text), not self._begins(text)))
        return self._named(told[0], self.name) if told else ""

    def _features(self) -> list[str]:
        source = "readme_feature" if self.evidence.of("readme_feature") else "heading"
        listed = (self._list(said[0]) for said in self._read(source))
        found = [
            text
            for text in listed
            if (len(text) <= MOST_ITEM_CHARS and len(text.split()) > 1) or not text.isascii()
        ]
        return self._order(found) if len(found) > 1 else []

    def _audience(self, product: str) -> str:
        for said in self._read("targetCustomer", "brand_audience"):
            text = re.sub(r"^(?:for|für)\s+", "", strip_full_stop(said[0]), flags=re.IGNORECASE)
            if self.language in _AUDIENCE and len(text.split()) <= 14 and not _stems(text) <= _stems(product):
                return _AUDIENCE[self.language][not text[0].islower()] + add_full_stop(text, self.language)
        return ""

    def _read(self, *sources: str) -> Iterator[list[str]]:
        """Yield the sentences of each fact that may be told."""
        for _, fact in self.evidence.of(*sources):
            if said := [text for text in self._split(fact.text) if self._allows(text)]:
                yield said

    def _split(self, text: str) -> Iterator[str]:
        for sentence in sentences(without_emoji(text)):
            yield add_full_stop(sentence.rstrip("!！ "), self.language)

    def _allows(self, text: str) -> bool:
        """Whether a sentence is for readers, in the draft's language, and nobody asked to leave it out."""
        told = len(text) <= MOST_CHARS and not _NO_STATEMENT.search(strip_full_stop(text))
        if not told or not speaks(text, self.language):
            return False
        # A wording that the whole text must have says nothing about one sentence.
        rules = tuple(rule for rule in self.rules if rule.kind != "must")
        forbidden = {each.entry_id: each.why for each in find_breaches(text, self.evidence, rules)}
        if "superlative" in find_risks(text):
            forbidden |= {rule.entry_id: rule.why for rule in self.rules if rule.kind == "plain"}
        self.left_out |= {entry: why for entry, why in forbidden.items() if entry}
        return not forbidden

    def _begins(self, text: str) -> bool:
        return bool(self.name) and text.casefold().startswith(self.name.casefold())

    def _named(self, text: str, name: str) -> str:
        if not self.name or is_named(self.name, text):
            return text
        return f"{name}{'：' if ord(text[0]) > 0x2E7F else ': '}{text}"

    def _list(self, text: str) -> str:
        """Return a statement as an item of a list."""
        bare = strip_full_stop(text) if len(sentences(text)) == 1 else text
        word = bare.partition(" ")[0]
        plain = word.isalpha() and word.islower() and word != self.name
        return bare[:1].upper() + bare[1:] if plain else bare

    def _order(self, found: Iterable[str]) -> list[str]:
        """Put first what the goal names."""
        return sorted(dict.fromkeys(found), key=lambda text: -len(self.wanted & _stems(text)))


def _stems(text: str) -> set[str]:
    return {word[:6] for word in re.findall(r"[^\W\d_]{4,}", text.casefold())}


# Goals that ask for an announcement, which a plain note can serve, and goals that need a writer.
#
# Deliberately narrow: an unknown goal is left to a writer. A product note in answer to "thank our users" is worse than
# no draft.

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
