"""Single lines of a draft: phrases filled with statements, said in the brand's voice, chosen by a stable number.

The number is made from the evidence, so that two products do not read alike and the same product reads the same each
time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final

from assent.drafting.evidence import Evidence
from assent.drafting.language import ended, unended
from assent.drafting.lessons import Rule, similarity
from assent.drafting.material import Material, Saying
from assent.drafting.phrases import phrases_for
from assent.drafting.voice import Voice, forbids, said

ALIKE: Final = 0.6
"""From here on a sentence is the one that was rejected."""


class Lines:
    """What one draft can say, and how."""

    def __init__(
        self, evidence: Evidence, material: Material, voice: Voice, rules: Sequence[Rule], salt: str
    ) -> None:
        self.material = material
        self.voice = voice
        self.rules = rules
        self.phrases = phrases_for(material.language)
        self.joint = "" if material.language in ("ja", "zh") else " "
        known = "\x1f".join(
            [material.name, evidence.product_url, *(fact.text for fact in evidence.facts[:12])]
        )
        self.seed = hashlib.blake2b(f"{salt}\x1e{known}".encode(errors="replace"), digest_size=8).digest()

    def say(self, pattern: str, **values: str) -> str:
        """A phrase with its places filled."""
        filled = {"We": self.value("We")} | values
        text = re.sub(r"\{(\w+)\}", lambda match: filled.get(match.group(1), ""), pattern)
        # A sentence put where another one ends brings its own full stop.
        text = re.sub(r"([.!?…])\.(?=\s|$)", r"\1", text)
        return said(self.voice, text)

    def sentence(self, text: str) -> str:
        return self.say("{text}", text=ended(text, self.material.language))

    def pick(self, salt: str, options: tuple[str, ...]) -> str:
        """One of the phrases, always the same for the same evidence."""
        allowed = [option for option in options if not forbids(self.voice, option)] or list(options)
        digest = hashlib.blake2b(salt.encode(), key=self.seed, digest_size=8).digest()
        return allowed[int.from_bytes(digest, "big") % len(allowed)]

    def likeness(self, sentence: str) -> tuple[float, str]:
        """How like a beginning that was turned down, and the entry that says so."""
        told = [rule for rule in self.rules if rule.kind == "opening"]
        return max(((similarity(rule.value, sentence), rule.entry_id) for rule in told), default=(0.0, ""))

    def saying(self, name: str) -> Saying | None:
        """The statement that a place in a phrase is filled with."""
        held = self.material
        if name == "audience":
            return held.audience
        named = [saying for saying in held.values if held.name and saying.text.startswith(held.name)]
        first: dict[str, Sequence[Saying]] = {
            "change": held.changes,
            "object": held.changes,
            # Beside the name a sentence reads better that does not begin with it.
            "value": [saying for saying in held.values if saying not in named] or held.values,
            "named_value": named,
            "feature": held.features,
            "proof": held.proofs,
        }
        return next(iter(first.get(name, ())), None)

    def value(self, name: str) -> str:
        """The words for a place in a phrase; none if there is nothing to say."""
        if name == "name":
            return self.material.name
        if name == "We":
            return "I" if self.voice.singular else "We"
        saying = self.saying(name)
        if saying is None:
            return ""
        if name in ("object", "audience"):
            return saying.object
        return ended(saying.text, self.material.language) if name == "feature" else saying.text

    def headline(self, name: str) -> str:
        """The same without a full stop, for a title."""
        if name == "change" and self.material.changes:
            first = self.material.changes[0]
            return first.object or unended(first.text)
        if name == "value":
            titles = [saying for saying in self.material.values if saying.short]
            return unended(titles[0].text) if titles else unended(self.value(name))
        return unended(self.value(name))

    def facts(self, names: Sequence[str]) -> tuple[int, ...]:
        """The places of the facts that these places in a phrase bring in."""
        found = []
        for name in names:
            saying = self.saying(name)
            fact = saying.fact if saying is not None else None
            if name == "name":
                fact = self.material.name_fact
            if fact is not None and fact not in found:
                found.append(fact)
        return tuple(found)


def places(pattern: str) -> list[str]:
    """The names in braces."""
    return re.findall(r"\{(\w+)\}", pattern)
