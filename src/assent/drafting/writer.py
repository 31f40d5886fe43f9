"""Writes the paragraphs of one draft: each with the facts it is made from, no statement twice.

Unaware of channels; `layouts` says what goes where and how much of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from assent.drafting.blocks import Block, Claimed, Opened
from assent.drafting.cleaning import cut
from assent.drafting.language import unended
from assent.drafting.lines import ALIKE, Lines, places
from assent.drafting.material import Saying
from assent.drafting.openings import named_in, opening
from assent.drafting.voice import forbids

TAG_CHARS: Final = 24


class Writer:
    """One draft. Statements that were written are not written again."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.material = lines.material
        self.voice = lines.voice
        self.phrases = lines.phrases
        self.written: set[str] = set()

    def opening(self, fits: Callable[[str], bool]) -> Opened | None:
        opened = opening(self.lines, fits)
        if opened is not None:
            self.written.update(named_in(self.lines, opened))
        return opened

    def statements(self, most: int, spare: int) -> Block | None:
        """The next sentences about what it is. They stand in one paragraph because they stood in one before."""
        rest = [
            saying for saying in self.material.values if saying.text not in self.written and not saying.short
        ]
        together = [saying for saying in rest if saying.fact == rest[0].fact][:most]
        return self._paragraph("statement", self._mark(together), spare)

    def changes(self, most: int, spare: int, *, bullet: str) -> Block | None:
        rest = [saying for saying in self.material.changes if saying.text not in self.written]
        intros = (
            self.phrases.changes if len(rest) == len(self.material.changes) else self.phrases.more_changes
        )
        chosen = self._mark(rest[:most])
        if (
            len(chosen) == 1
            and chosen[0].object
            and self.phrases.also
            and len(rest) < len(self.material.changes)
        ):
            text = self.lines.say(self.phrases.also, object=chosen[0].object)
            return Block("changes", text, (Claimed(text, (chosen[0].fact,)),), spare)
        return self._list("changes", chosen, intros, spare, bullet)

    def features(self, most: int, spare: int, *, bullet: str) -> Block | None:
        rest = [saying for saying in self.material.features if saying.text not in self.written]
        return self._list("features", self._mark(rest[:most]), self.phrases.features, spare, bullet)

    def audience(self, spare: int) -> Block | None:
        saying = self.material.audience
        if saying is None or saying.text in self.written or not self.phrases.audience:
            return None
        self.written.add(saying.text)
        pattern = (
            self.lines.pick("audience", self.phrases.audience)
            if saying.object
            else self.phrases.audience_apart
        )
        text = self.lines.say(pattern, audience=saying.object or saying.text)
        return Block("audience", text, (Claimed(text, (saying.fact,)),), spare)

    def proof(self, spare: int) -> Block | None:
        rest = [saying for saying in self.material.proofs if saying.text not in self.written]
        quoted = [
            Claimed(self.lines.say("{text}", text=saying.text), (saying.fact,))
            for saying in self._mark(rest[:1])
        ]
        return Block("proof", quoted[0].text, tuple(quoted), spare) if quoted else None

    def link(self) -> Block | None:
        if not self.material.url:
            return None
        return Block(
            "link", self.lines.say(self.lines.pick("link", self.phrases.link), url=self.material.url)
        )

    def ask(self, spare: int) -> Block | None:
        """An invitation to answer; not where the voice or memory wants none."""
        asks = tuple(
            ask
            for ask in self.phrases.asks
            if not (self.voice.no_question and ask.endswith("?"))
            and not (self.voice.singular and re.search(r"\b(?:us|wir)\b", ask, re.IGNORECASE))
        )
        if not asks or self.voice.formal or self.voice.plain:
            return None
        return Block("ask", self.lines.say(self.lines.pick("ask", asks)), (), spare)

    def hashtags(self, most: int, spare: int) -> Block | None:
        """The brand's pillars, where they are short enough to be tags."""
        if self.voice.no_hashtags or self.voice.plain or not most:
            return None
        tags = []
        for pillar in self.material.pillars:
            words = re.findall(r"[^\W_]+", pillar.text)
            tag = "".join(word[:1].upper() + word[1:] for word in words)
            short = 0 < len(words) <= 3 and len(tag) <= TAG_CHARS
            if short and not tag.isdigit() and not forbids(self.voice, pillar.text):
                tags.append(f"#{tag}")
        return Block("hashtags", " ".join(tags[:most]), (), spare) if tags else None

    def title(self, most: int) -> Block:
        """A headline of at most `most` characters."""
        patterns = self.phrases.news_title if self.material.changes else self.phrases.value_title
        longest: Block | None = None
        for pattern in (*patterns, "{name}"):
            names = places(pattern)
            values = {name: self.lines.headline(name) for name in names}
            name = values.get("name", "")
            twice = name and any(name in value for key, value in values.items() if key != "name")
            if twice or not all(values.values()):
                continue
            text = _capital(self.lines.say(pattern, **values))
            facts = self._headline_facts(names)
            block = Block("title", text, (Claimed(text, facts),) if facts else ())
            if len(text) <= most and not forbids(self.voice, text) and self.lines.likeness(text)[0] < ALIKE:
                return block
            longest = longest or block
        text = cut(longest.text, most) if longest is not None else ""
        facts = longest.claims[0].facts if longest is not None and longest.claims else ()
        return Block("title", text, (Claimed(text, facts),) if facts else ())

    def _headline_facts(self, names: Sequence[str]) -> tuple[int, ...]:
        titles = [saying.fact for saying in self.material.values if saying.short]
        named = self.lines.facts([name for name in names if name != "value" or not titles])
        return (*named, titles[0]) if "value" in names and titles else named

    def headline(self, most: int) -> tuple[Saying, Block] | None:
        """The statement that fits best above a page, and its words; the name above it where none is short enough."""
        held = self.material
        for group in (sorted(held.values, key=lambda saying: len(saying.text)), held.changes, held.features):
            for saying in group:
                text = self.lines.say("{text}", text=unended(saying.text))
                if len(text) <= most:
                    return saying, Block("title", text, (Claimed(text, (saying.fact,)),))
        long = next(iter([*held.values, *held.changes, *held.features]), None)
        if long is None:
            return None
        text = cut(held.name or unended(long.text), most)
        facts = held.name_fact if held.name else long.fact
        return long, Block("title", text, (Claimed(text, (facts,)),) if facts is not None else ())

    def greeting(self) -> Block | None:
        tone = "formal" if self.voice.formal else "playful" if self.voice.playful else "any"
        text = self.phrases.greetings.get(tone, "")
        return Block("greeting", text) if text else None

    def decorated(self, text: str) -> str:
        """With the brand's usual picture, where its samples have one."""
        return f"{text} {self.voice.emoji}" if self.voice.emoji else text

    def _mark(self, sayings: Sequence[Saying]) -> Sequence[Saying]:
        self.written.update(saying.text for saying in sayings)
        return sayings

    def _paragraph(self, kind: str, sayings: Sequence[Saying], spare: int) -> Block | None:
        if not sayings:
            return None
        claims = tuple(Claimed(self.lines.sentence(saying.text), (saying.fact,)) for saying in sayings)
        return Block(kind, self.lines.joint.join(claim.text for claim in claims), claims, spare)

    def _list(
        self, kind: str, sayings: Sequence[Saying], intros: tuple[str, ...], spare: int, bullet: str
    ) -> Block | None:
        if len(sayings) < 2:
            return self._paragraph(kind, sayings, spare)
        say = self.lines.say
        claims = tuple(
            Claimed(say("{text}", text=unended(saying.text)), (saying.fact,)) for saying in sayings
        )
        intro = [say(self.lines.pick(kind, intros))] if intros else []
        return Block(kind, "\n".join([*intro, *(f"{bullet}{claim.text}" for claim in claims)]), claims, spare)


def _capital(text: str) -> str:
    """With a capital letter, unless its first word is written by its owner's rules."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    plain = first.isalpha() and first.islower()
    return text[:1].upper() + text[1:] if plain else text
