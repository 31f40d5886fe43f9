"""Selects the statements of a draft from the evidence: the product, the change, related facts, the
audience.

Statements keep their words. Left out are those in another language, those that the voice or memory
forbids, and repetitions. A statement left out because of memory is kept with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from assent.platform.values import Record
from assent.suite.composer.frames import capitalise, choose_frames, list_change, state_change
from assent.suite.composer.product import ProductStatements, SourcedText
from assent.suite.composer.statements import (
    is_all_caps,
    is_personal,
    is_price,
    is_sentence,
    states_something,
)
from assent.suite.content.changes import is_code
from assent.suite.content.counting import without_emoji
from assent.suite.content.evidence import Evidence
from assent.suite.content.language import add_full_stop, sentences, speaks, strip_full_stop, word_set
from assent.suite.content.lessons import Rule, repeats, similarity
from assent.suite.content.naming import find_name, is_named, is_subject
from assent.suite.content.risks import find_risks
from assent.suite.content.voice import Voice, find_banned_words, forbids, read_voice

MAX_SENTENCE_CHARS: Final = 300
MAX_ITEM_CHARS: Final = 140
MOST_FACTS: Final = 3
LEAST_SCORE: Final = -4
"""A sentence with a lower score does not describe the product."""
SAME: Final = 0.7
"""The similarity from which two statements count as the same."""

_INTERNAL: Final = re.compile(
    r"\b(?:pool|workers?|threads?|cach\w+|hooks?|middleware|schema|migrations?|structs?|class(?:es)?|interfaces?|"
    r"enums?|"
    r"config\w*|logg\w+|telemetry|metrics|mutex|locks?|abstraction|wrappers?|helpers?|utils?|factory|provider|"
    r"services?|"
    r"parser|tokenizer|ast|benchmarks?|fixtures?|mocks?|stubs?|lint\w*|coverage|pipeline|workflows?|docker\w*|"
    r"dependenc\w+|"
    r"typ(?:es|ings)|modules?|methods?|functions?|endpoints?|handlers?|constants?|flags?|params?|props|component|"
    r"store|state|"
    r"repo|ci|tests?|internals?|backend|queue|retry|async|sdk|spec|scripts?|debug\w*|codegen|boilerplate|scaffold\w*)\b"
    r"|[`_{}()=<>/\\]|\b[a-z]+[A-Z]\w*|\.\w{1,4}\b",
)
"""Words of commits that only developers understand."""
_ORDERS: Final = re.compile(
    r"^(?:(?:fix|fixed|fixes):? )?(?:stop|prevent|avoid|ensure|make|do not|don['’]t|never|always|correctly|use|"
    r"handle|set|keep|"
    r"return|check|only|focus|properly|allow|respect|show|hide)\b",
    re.IGNORECASE,
)
"""Fixes worded as instructions, which do not say what was broken."""
_NO_FEATURE: Final = re.compile(
    r"^(?:if|you|it|they|this|these|since|because)\b|^\S+ v?\d+(?:\.\d+)+$|(?:,|\b(?:and|or|und|oder))$",
    re.IGNORECASE,
)
"""List items that continue the sentence above."""
_DIGRESSES: Final = re.compile(
    r"^(?:however|additionally|but|instead|initially|original|see|as such)\b|\b(?:currently|eventually|plan to|means|"
    r"named after|not yet)\b",
    re.IGNORECASE,
)
"""Sentences that lead away from the product."""
_COMMON: Final = word_set(
    "with from that this your have their them they when what which will more than into every each about also only just "
    "user users make makes using used like other some such over under after before without eine einen einer oder nicht "
    "auch wird werden kann jetzt now new tool library support"
)


class Material(Record, kw_only=True):
    """The statements that a draft may use, best first."""

    name: str = ""
    name_facts: tuple[int, ...] = ()
    version: str = ""
    language: str = "und"
    url: str = ""
    lead: SourcedText | None = None
    """The change, as a sentence."""
    headline: SourcedText | None = None
    """The change without its frame."""
    details: tuple[SourcedText, ...] = ()
    """Sentences that continue the change."""
    others: tuple[SourcedText, ...] = ()
    """Further changes, as list items."""
    product: SourcedText | None = None
    """The product's description, as a sentence."""
    brief: tuple[SourcedText, ...] = ()
    """The product's description, without its name."""
    features: tuple[SourcedText, ...] = ()
    further: tuple[SourcedText, ...] = ()
    """The next sentences about the product, if no features are listed."""
    added: SourcedText | None = None
    """The first feature of the commits, used if the caller did not describe the change."""
    audience: SourcedText | None = None
    proof: SourcedText | None = None
    """A proof that a person recorded, if it is no quote."""
    short: bool = False
    shortened_by: tuple[tuple[str, str], ...] = ()
    """The memory entries that ask for a short text, and their sentences."""
    left_out: tuple[tuple[str, str], ...] = ()
    """The memory entries that forbid a statement, and their sentences."""
    left_out_change: bool = False
    still_said: tuple[str, ...] = ()


@lru_cache(maxsize=16)
def pick_material(evidence: Evidence, rules: tuple[Rule, ...]) -> Material:
    return _Picker(evidence, rules).material()


class _Picker:
    def __init__(self, evidence: Evidence, rules: tuple[Rule, ...]) -> None:
        self.evidence, self.rules = evidence, rules
        self.language = evidence.language
        self.voice = read_voice(evidence, rules)
        self.name, self.name_fact = find_name(evidence)
        self.taken: list[str] = []
        self.about = ProductStatements(evidence, self.name)
        self.said: SourcedText | None = None
        """The product's description, as the evidence words it."""
        self.left_out: dict[str, str] = {}

    def material(self) -> Material:
        changes = self._changes("whatChanged")
        # Two labels in a row make no sentence.
        changes = [each for each in changes if not self._is_labelled(each[0])] or changes[:1]
        product = self._product()
        commits = [] if changes else self._commits()
        if not changes and product is None:
            changes, commits = commits or self._unavoidable(), []
        version = self.evidence.first("version")
        lead = changes[0] if changes else []
        more = [
            each
            for each in changes[1:]
            if len(each[0].text) <= MAX_ITEM_CHARS
            and not is_code(each[0].text)
            and not (self._kind(each[0]) == "fixed" and _ORDERS.match(each[0].text))
        ]
        features = self._features()
        said = [
            state_change(each.text, self._kind(each), self.name, version, self.language) for each in lead[:1]
        ]
        if said and product is None and self.name and not is_named(self.name, said[0]):
            said = [f"{self.name}: {said[0]}"]
        stated = (*said, product.text if product else "")
        wordings = {rule.value.casefold(): rule.value for rule in self.rules if rule.kind == "phrase"}
        still = tuple(
            wordings.get(word, word)
            for word in self.voice.banned
            if any(forbids(Voice(banned=(word,)), text) for text in stated)
        )
        names = self._names()
        version_facts = tuple(place for place, _ in self.evidence.of("version")[:1])
        return Material(
            name=self.name,
            name_facts=names,
            version=version,
            language=self.language,
            url=self.evidence.product_url,
            lead=SourcedText(said[0], (*lead[0].facts, *names, *version_facts)) if said else None,
            headline=lead[0] if lead else None,
            details=tuple(self._ended(lead[1:])[:MOST_FACTS]),
            others=tuple(
                SourcedText(self._list_change(change), change.facts) for change, *_ in more[:MOST_FACTS]
            ),
            product=product,
            brief=tuple(each for each in self.about.briefs(self.said) if self._allows(each.text)),
            features=tuple(features[:MOST_FACTS]),
            further=tuple(self._further(product)[:2]) if product and not features else (),
            added=self._added(commits),
            audience=self._audience(),
            proof=self._proof(),
            left_out_change=bool(self.evidence.of("whatChanged")) and not changes,
            short=self.voice.short,
            shortened_by=tuple((rule.entry_id, rule.why) for rule in self.rules if rule.kind == "shorter"),
            left_out=tuple(
                (entry, how) for entry, how in self.left_out.items() if entry not in self._unmet(still)
            ),
            still_said=still,
        )

    def _unmet(self, still: tuple[str, ...]) -> set[str]:
        return {rule.entry_id for rule in self.rules if rule.kind == "phrase" and rule.value in still}

    def _changes(self, source: str) -> list[list[SourcedText]]:
        found: list[list[SourcedText]] = []
        for place, fact in self.evidence.of(source):
            text = self._unmarked(fact.text)
            if fact.kind == "more":
                if found and self._allows(text) and not text.endswith("…"):
                    found[-1].append(SourcedText(text, (place,)))
            elif text and not text.endswith("…") and speaks(text, self.language) and self._takes(text):
                found.append([SourcedText(text, (place,))])
        return found

    def _is_labelled(self, change: SourcedText) -> bool:
        return len(re.findall(r"\w: ", self._list_change(change))) > 1

    def _list_change(self, change: SourcedText) -> str:
        return list_change(change.text, self._kind(change), self.language)

    def _kind(self, change: SourcedText) -> str:
        return self.evidence.facts[change.facts[0]].kind

    def _unmarked(self, text: str) -> str:
        """Remove emoji, and a final exclamation mark if the voice forbids it."""
        bare = without_emoji(text).strip()
        if self.voice.no_exclamation and bare.endswith(("!", "！")):
            self._note("no_exclamation")
            return add_full_stop(bare.rstrip("!！"), self.language)
        return bare

    def _unavoidable(self) -> list[list[SourcedText]]:
        """Return the change with a forbidden wording, if there is nothing else to say."""
        for place, fact in self.evidence.of("whatChanged")[:1]:
            if (
                speaks(fact.text, self.language)
                and not self._refused(fact.text)
                and len(fact.text) <= MAX_SENTENCE_CHARS
            ):
                return [[SourcedText(without_emoji(fact.text).strip(), (place,))]]
        return []

    def _commits(self) -> list[list[SourcedText]]:
        """Return commits that users understand as something new; never a fix."""
        return [
            each
            for each in self._changes("commit")
            if self._kind(each[0]) == "new"
            and 2 <= len(each[0].text.split()) <= 12
            and not _INTERNAL.search(each[0].text)
        ]

    def _added(self, commits: list[list[SourcedText]]) -> SourcedText | None:
        if not commits or self.language not in ("en", "de"):
            return None
        text = add_full_stop(list_change(commits[0][0].text, "", self.language), self.language)
        if text.startswith("Added "):
            # "Added labels to charts" is no noun phrase, so it cannot follow a colon.
            return SourcedText(text, commits[0][0].facts)
        new = choose_frames(self.language).new[1]
        bare = re.sub(r"^Supports ", "support for ", re.sub(r"^Added ", "", text))
        framed = text if text.startswith(new) else new + bare
        return SourcedText(framed, commits[0][0].facts)

    def _product(self) -> SourcedText | None:
        stated = (each for each in self.about.statements() if self._allows(each[1].text))
        scored = [
            (score, -at, each) for at, (score, each) in enumerate(stated) if not self._refused(each.text)
        ]
        if not scored or max(scored)[0] < LEAST_SCORE:
            return None
        best = max(scored)[2]
        self.taken.append(best.text)
        self.said = best
        named = (
            is_subject(self.name, best.text)
            or self.about.is_a.match(best.text) is not None
            or (is_named(self.name, best.text) and is_sentence(best.text, self.language))
        )
        if not self.name or named or is_personal(best.text):
            return SourcedText(add_full_stop(best.text, self.language), best.facts)
        # One colon in a sentence is enough.
        joint = "：" if ord(best.text[0]) > 0x2E7F else " – " if ": " in best.text else ": "
        return SourcedText(
            add_full_stop(f"{self.name}{joint}{best.text}", self.language), (*best.facts, *self._names())
        )

    def _features(self) -> list[SourcedText]:
        """Return the features, those that the goal and audience mention first."""
        goal = " ".join(
            fact.text for _, fact in self.evidence.of("launchGoal", "targetCustomer", "brand_audience")
        )
        wanted = _content_words(goal, self.name)
        source = "readme_feature" if self.evidence.of("readme_feature") else "heading"
        found: list[SourcedText] = []
        for place, fact in self.evidence.of(source):
            text = without_emoji(fact.text).strip(" -–—:")
            said = sentences(text)
            text = said[0] if len(said) > 1 and len(said[0].split()) > 3 else text
            if source == "heading" and (is_all_caps(text) or text.casefold() == self.name.casefold()):
                continue
            short = len(text) <= MAX_ITEM_CHARS and states_something(text, 2) and not _NO_FEATURE.search(text)
            if short and not is_code(text) and speaks(text, self.language) and self._takes(text):
                found.append(
                    SourcedText(
                        capitalise(strip_full_stop(text) if len(sentences(text)) == 1 else text, self.name),
                        (place,),
                    )
                )
        found.sort(key=lambda saying: -len(wanted & _content_words(saying.text, self.name)))
        return found if len(found) > 1 else []

    def _further(self, product: SourcedText) -> list[SourcedText]:
        text = without_emoji(self.evidence.facts[product.facts[0]].text)
        rest = sentences(text.partition(self.said.text)[2]) if self.said is not None else []
        place = product.facts[0]
        if not rest:
            later = [(at, fact.text) for at, fact in self.evidence.of("readme") if at == place + 1]
            place, text = next(iter(later), (place, ""))
            said = sentences(without_emoji(text))
            begins = (at for at, sentence in enumerate(said) if is_subject(self.name, sentence))
            rest = said[next(begins, len(said)) :]
        found = []
        for sentence in rest:
            if (
                not states_something(sentence, 4)
                or _DIGRESSES.search(sentence)
                or not speaks(sentence, self.language)
                or not self._takes(sentence)
            ):
                break
            found.append(SourcedText(add_full_stop(sentence, self.language), (place,)))
        return found

    def _proof(self) -> SourcedText | None:
        for place, fact in self.evidence.of("proof"):
            said = sentences(without_emoji(fact.text))
            if (
                len(said) == 1
                and states_something(said[0])
                and speaks(said[0], self.language)
                and self._takes(said[0])
            ):
                return SourcedText(add_full_stop(said[0], self.language), (place,))
        return None

    def _audience(self) -> SourcedText | None:
        frames = choose_frames(self.language)
        for place, fact in self.evidence.of("targetCustomer", "brand_audience"):
            text = re.sub(r"^(?:for|für)\s+", "", strip_full_stop(fact.text), flags=re.IGNORECASE)
            short = len(text.split()) <= 14 and len(sentences(text)) == 1 and not is_price(text)
            # The product's description names them already.
            known = self.said is not None and not (
                _content_words(text, self.name) - _content_words(self.said.text, self.name)
            )
            if frames.group and short and not known and speaks(text, self.language) and self._allows(text):
                frame = frames.audience if text[:1].islower() else frames.group
                return SourcedText(frame.replace("{audience}", text), (place,))
        return None

    def _names(self) -> tuple[int, ...]:
        return (self.name_fact,) if self.name_fact is not None else ()

    def _ended(self, sayings: Sequence[SourcedText]) -> list[SourcedText]:
        return [SourcedText(add_full_stop(each.text, self.language), each.facts) for each in sayings]

    def _takes(self, text: str) -> bool:
        """Whether a statement is allowed and new."""
        if not self._allows(text) or self._refused(text):
            return False
        if any(similarity(text, other) >= SAME for other in self.taken):
            return False
        self.taken.append(text)
        return True

    def _allows(self, text: str) -> bool:
        """Whether neither voice nor memory forbids a statement."""
        if len(text) > MAX_SENTENCE_CHARS:
            return False
        for rule in self.rules:
            if rule.kind == "phrase" and forbids(Voice(banned=(rule.value.casefold(),)), text):
                self.left_out[rule.entry_id] = rule.why
        for _, fact in self.evidence.of("brand_voice"):
            banned = tuple(word.casefold() for word in find_banned_words(fact.text))
            if fact.entry_id and forbids(Voice(banned=banned), text):
                self.left_out[fact.entry_id] = "Left out what the brand's voice does not say."
        if self.voice.no_exclamation and ("!" in text or "！" in text):
            self._note("no_exclamation")
            return False
        if self.voice.plain and "superlative" in find_risks(text):
            self._note("plain")
            return False
        return not forbids(self.voice, text)

    def _note(self, kind: str) -> None:
        for rule in self.rules:
            if rule.kind == kind:
                self.left_out[rule.entry_id] = rule.why

    def _refused(self, text: str) -> bool:
        refused = [rule for rule in self.rules if rule.kind == "claim" and repeats(text, rule.value)]
        self.left_out |= {rule.entry_id: rule.why for rule in refused}
        return bool(refused)


def _content_words(text: str, name: str) -> set[str]:
    found = {word[:6] for word in re.findall(r"[^\W\d_]{4,}", text.casefold()) if word not in _COMMON}
    return found - {word[:6] for word in name.casefold().split()}
