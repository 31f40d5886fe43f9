"""Composes drafts from evidence and memory without a model: the change, the product, related facts,
the link.

Deterministic: every sentence is from the evidence or from the table of frames, and listed as a
claim with its facts. A draft that is too long loses its further facts first, then the sentence
about the product, never the change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from assent.platform.content import cut, find_flaw
from assent.platform.values import Record
from assent.suite.channels.channel import Channel, check, needs
from assent.suite.channels.registry import BY_ID
from assent.suite.composer.frames import capitalise, choose_frames, has_label
from assent.suite.composer.material import MOST_FACTS, Material, pick_material
from assent.suite.composer.product import SourcedText
from assent.suite.composer.statements import cut_title, is_price, shorten
from assent.suite.content import threads
from assent.suite.content.claims import Claim, claim, warnings_for
from assent.suite.content.evidence import Evidence
from assent.suite.content.language import add_full_stop, strip_full_stop
from assent.suite.content.lessons import NOTHING_LEARNED, Lessons, rules_from
from assent.suite.content.mail_html import mail_html
from assent.suite.content.naming import is_named, is_subject
from assent.suite.content.records import Composed, MemoryUse, NeedsDraft, Statement

PREHEADER_CHARS: Final = 90
QUOTED: Final = "Quoted in the draft."
LEFT_OUT: Final = "What changed is not told: it says what was not to be said. Supply a text that tells it."


class DraftPart(Record):
    text: str
    sayings: tuple[SourcedText, ...] = ()


def compose(channel_id: str, evidence: Evidence, lessons: Lessons = NOTHING_LEARNED) -> Composed | NeedsDraft:
    row = BY_ID[channel_id]
    rules = rules_from(lessons, row.id)
    draft = _Draft(row, evidence, pick_material(evidence, rules))
    composed = next((each for each in draft.versions() if draft.is_fit(each)), None)
    if composed is None:
        reason = "The evidence holds no sentence about the product that could be published here."
        return NeedsDraft(channel_id, reason, needs(row))
    return composed


def positioning(evidence: Evidence, lessons: Lessons = NOTHING_LEARNED) -> Statement:
    """Return what the product is and for whom, in the words of the evidence."""
    held = pick_material(evidence, rules_from(lessons, ""))
    return _statement([each for each in (held.product or held.lead, held.audience) if each], evidence)


def launch_angle(evidence: Evidence, lessons: Lessons = NOTHING_LEARNED) -> Statement:
    held = pick_material(evidence, rules_from(lessons, ""))
    return _statement([each for each in (held.lead or held.product,) if each], evidence)


def _statement(made: list[SourcedText], evidence: Evidence) -> Statement:
    return Statement(" ".join(each.text for each in made), _claims(made, evidence))


class _Draft:
    def __init__(self, row: Channel, evidence: Evidence, held: Material) -> None:
        self.row, self.evidence, self.held = row, evidence, held
        self.form = row.draft
        self.frames = choose_frames(held.language)
        self.all_facts = MOST_FACTS if row.draft.facts is None else row.draft.facts
        self.most_facts = min(self.all_facts, 1) if held.short else self.all_facts
        self.joint = "" if held.language in ("ja", "zh") else " "

    def versions(self) -> Iterator[Composed]:
        """Yield the draft with all its facts, then shorter and shorter ones."""
        held = self.held
        lead = held.product if self.form.introduces else held.lead or held.product
        lead = lead or held.lead
        if lead is None:
            return
        for facts in range(self.most_facts, -1, -1):
            yield self._composed(lead, facts, with_product=True)
        yield self._composed(lead, 0, with_product=False)

    def is_fit(self, made: Composed) -> bool:
        single = not self.row.splits or not made.parts or self._unsplittable()
        texts = (made.body, made.title, made.subject)
        return single and not made.problems and not any(find_flaw(text) for text in texts if text)

    def _unsplittable(self) -> bool:
        """Whether the change alone is too long for one post."""
        lead = self.held.lead or self.held.product
        room = self.row.body.most - self.row.body.count(f"\n\n{self.held.url}")
        return lead is not None and self.row.body.count(lead.text) > room

    def _composed(self, lead: SourcedText, facts: int, *, with_product: bool) -> Composed:
        row, form, held = self.row, self.form, self.held
        title = self._title()
        parts = self._parts(lead, facts, title, with_product=with_product)
        shortened = facts < self.all_facts and parts != self._parts(
            lead, self.all_facts, title, with_product=with_product
        )
        because = (*held.left_out, *(held.shortened_by if shortened else ()))
        if row.shape == "email" and self.frames.greeting:
            parts.insert(0, DraftPart(self.frames.greeting))
        if form.title == "headline" and title is not None:
            parts.insert(0, DraftPart(f"# {title.text}"))
        if form.link and held.url:
            parts.append(DraftPart(held.url))
        body = "\n\n".join(part.text for part in parts)
        pieces = threads.split(body, row.body.most, row.body.count) if row.splits else ()
        body = "\n\n".join(pieces) if len(pieces) > 1 else body
        return self._checked(body, pieces, parts, title, because)

    def _checked(
        self,
        body: str,
        pieces: tuple[str, ...],
        parts: list[DraftPart],
        title: SourcedText | None,
        because: tuple[tuple[str, str], ...],
    ) -> Composed:
        row, held, mail = self.row, self.held, self.row.shape == "email"
        name = title.text if title is not None else ""
        product = held.product if mail and held.lead is not None else None
        preheader = cut(product.text, PREHEADER_CHARS) if product is not None else ""
        sayings = [saying for part in parts for saying in part.sayings]
        made = _claims([*([title] if title is not None else []), *sayings], self.evidence)
        checked = check(row, body, title=name, preheader=preheader, parts=pieces)
        notes = [LEFT_OUT] if held.lead is None and held.left_out_change else []
        notes += [f"The text still says “{word}”, which is not to be said." for word in held.still_said[:3]]
        return Composed(
            channel=row.id,
            body=body,
            title="" if mail else name,
            subject=name if mail else "",
            preheader=preheader,
            html=mail_html(body, preheader=preheader, language=held.language) if mail else "",
            parts=pieces if len(pieces) > 1 else (),
            claims=made,
            warnings=(*checked.problems, *warnings_for(made, self.evidence), *notes),
            recommendations=(
                *dict.fromkeys(how for _, how in because),
                *([self.form.advice] if self.form.advice else []),
                *checked.advice,
            ),
            problems=checked.problems,
            memory_used=self._memory_used(made, because),
            language=held.language,
        )

    def _memory_used(
        self, made: tuple[Claim, ...], because: tuple[tuple[str, str], ...]
    ) -> tuple[MemoryUse, ...]:
        used = {support.entry_id: QUOTED for each in made for support in each.evidence if support.entry_id}
        used |= {entry: how for entry, how in because if entry not in used}
        return tuple(MemoryUse(entry, how) for entry, how in used.items())

    def _parts(
        self, lead: SourcedText, facts: int, title: SourcedText | None, *, with_product: bool
    ) -> list[DraftPart]:
        """Return the paragraphs between greeting and link."""
        held, form = self.held, self.form
        introduces = form.introduces or held.lead is None
        details = (held.further if introduces else held.details)[:facts]
        first = self._paragraph([lead, *details])
        product = held.product if with_product and held.product is not None and lead != held.product else None
        parts = [first] if product is None else [first, DraftPart(product.text, (product,))]
        if form.product_first:
            parts.reverse()
        above = title.text if title is not None and self.row.shape == "page" else ""
        if above == strip_full_stop(lead.text) and form.introduces:
            # The page shows the title, so the text need not repeat it.
            parts = [*([self._paragraph(details)] if details else []), *parts[1:]]
        elif above == strip_full_stop(lead.text):
            # The title names the change; the text begins with the product.
            parts.reverse()
        if introduces:
            parts += self._list(held.features[:facts])
            shown = len(details) + len(held.features[:facts])
            change = held.lead if form.introduces and lead != held.lead else None
            last = change or held.audience
            if last is not None and with_product and facts:
                parts.append(DraftPart(last.text, (last,)))
            if held.added is not None and facts and not form.introduces:
                parts.append(DraftPart(held.added.text, (held.added,)))
        else:
            others = held.others[: facts - len(details)]
            parts += self._list(others, self.frames.more)
            shown = len(details) + len(others)
        if held.proof is not None and shown < facts:
            parts.append(DraftPart(held.proof.text, (held.proof,)))
        return parts

    def _paragraph(self, sayings: Iterable[SourcedText]) -> DraftPart:
        held = tuple(sayings)
        return DraftPart(self.joint.join(each.text for each in held), held)

    def _list(self, sayings: tuple[SourcedText, ...], above: str = "") -> list[DraftPart]:
        if not sayings:
            return []
        if len(sayings) == 1:
            text = sayings[0].text
            frames = (self.frames.new, self.frames.fixed, self.frames.improved, self.frames.removed)
            framed = not above or text.startswith(tuple(bare for _, bare in frames))
            return [
                DraftPart(add_full_stop(text if framed else f"{above} {text}", self.held.language), sayings)
            ]
        items = "\n".join(f"{self.form.bullet}{each.text}" for each in sayings)
        # Markdown needs an empty line before a list.
        between = "\n\n" if self.row.shape == "page" else "\n"
        return [DraftPart(f"{above}{between}{items}" if above else items, sayings)]

    def _title(self) -> SourcedText | None:
        title = self._words_above()
        if title is None or not is_named(self.held.name, title.text):
            return title
        return SourcedText(title.text, tuple(dict.fromkeys((*title.facts, *self.held.name_facts))))

    def _words_above(self) -> SourcedText | None:
        """Return the change or description as a title: no price, version or bare name."""
        kind, most, held = self.form.title, self.form.most, self.held
        if not kind:
            return None
        options = list(self._named(most)) if kind == "news" else list(self._brief(most))
        if kind == "headline" and held.product is not None and len(held.product.text) <= most:
            # If the first sentence would only repeat the headline, it becomes the headline.
            says = strip_full_stop(held.product.text)
            options = [
                SourcedText(says, held.product.facts)
                if says.casefold().endswith(each.text.casefold())
                else each
                for each in options
            ]
        if kind == "news" and held.lead is not None:
            options = list(self._news(most))
        fitting = [
            each for each in options if each.text and len(each.text) <= most and not is_price(each.text)
        ]
        if fitting:
            return fitting[0]
        if kind == "news" and held.lead is None and held.name and held.brief:
            start = f"{self._show()}{held.name}{' – ' if self._show() else ': '}"
            if len(start) < most // 2 and not is_named(held.name, held.brief[0].text):
                return SourcedText(
                    start + cut_title(held.brief[0].text, most - len(start)), held.brief[0].facts
                )
        if kind == "tagline" and held.headline is not None and (short := shorten(held.headline.text, most)):
            return SourcedText(capitalise(short, held.name), held.headline.facts)
        if kind != "news" and held.brief:
            return SourcedText(
                capitalise(cut_title(held.brief[0].text, most), held.name), held.brief[0].facts
            )
        whole = held.lead or held.product if kind == "news" else held.product or held.lead
        return (
            SourcedText(cut_title(strip_full_stop(whole.text), most), whole.facts)
            if whole is not None
            else None
        )

    def _news(self, most: int) -> Iterator[SourcedText]:
        """Yield titles about the change: whole, without its last clause, its first words."""
        lead, bare = self.held.lead, self.held.headline
        if lead is None or bare is None:
            return
        name = self.held.name
        if name and has_label(bare.text) and not is_named(name, bare.text):
            title = f"{name} {self.held.version}".strip()
            yield SourcedText(f"{title}: {bare.text.partition(': ')[0]}", lead.facts)
        text = lead.text
        if self.held.version:
            text = text.removeprefix(self.form.drops)
        short = shorten(text, most)
        if name and not is_named(name, short):
            short = _after(f"{name}: ", shorten(text, most - len(name) - 2))
        label = re.escape(f"{name} {self.held.version}" if self.held.version else name)
        empty = re.fullmatch(rf"(?:\w+ \w+ )?(?:{label}|{re.escape(name)})", short)
        yield SourcedText("" if empty else short, lead.facts)
        if name:
            yield SourcedText(_after(f"{name}: ", shorten(bare.text, most - len(name) - 2)), lead.facts)
        yield SourcedText(shorten(bare.text, most), bare.facts)

    def _named(self, most: int) -> Iterator[SourcedText]:
        name, show = self.held.name, self._show()
        joint = " – " if show else ": "
        for each in self.held.brief:
            room = most - len(show)
            if not name or is_subject(name, each.text):
                yield SourcedText(_after(show, shorten(each.text, room)), each.facts)
            else:
                short = shorten(each.text, room - len(name) - len(joint))
                yield SourcedText(_after(f"{show}{name}{joint}", short), each.facts)

    def _show(self) -> str:
        return self.form.shows if self.held.lead is None else ""

    def _brief(self, most: int) -> Iterator[SourcedText]:
        for each in self.held.brief:
            yield SourcedText(capitalise(shorten(each.text, most), self.held.name), each.facts)


def _after(start: str, text: str) -> str:
    return f"{start}{text}" if text else ""


def _claims(sayings: Iterable[SourcedText], evidence: Evidence) -> tuple[Claim, ...]:
    unique = {each.text: each for each in sayings if each.text and each.facts}
    return tuple(claim(each.text, each.facts, evidence) for each in unique.values())
