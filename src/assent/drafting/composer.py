"""Drafts from evidence and memory, without a model.

Deterministic: every sentence that states a fact is made from evidence and listed as a claim; what stands between states
nothing. A draft that does not fit loses its least needed paragraphs, never its end. A text that a human would have to
call a brief or a frame is not given out at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from assent.drafting import channels, threads
from assent.drafting.blocks import Block, Claimed, Opened, joined, lighter
from assent.drafting.channels import Channel
from assent.drafting.claims import Claim, claim, warnings_for
from assent.drafting.evidence import Evidence
from assent.drafting.layouts import LAYOUTS
from assent.drafting.lessons import Lessons, Rule, rules_from
from assent.drafting.lines import Lines
from assent.drafting.mail_html import mail_html
from assent.drafting.material import material_of
from assent.drafting.records import Composed, MemoryUse, NeedsDraft, Statement
from assent.drafting.voice import Voice, forbids, voice_of
from assent.drafting.writer import Writer
from assent.lifecycle.content_check import find_flaw

NOTHING_LEARNED: Final = Lessons()


def compose(channel_id: str, evidence: Evidence, lessons: Lessons = NOTHING_LEARNED) -> Composed | NeedsDraft:
    """A draft for the channel, or what to ask the agent for."""
    row = channels.BY_ID[channel_id]
    if not row.composed:
        reason = (
            f"Readers on {row.label} notice a text that was not written for them; write this one yourself."
        )
        return NeedsDraft(channel_id, reason, channels.needs(row))
    composed = _Draft(row, evidence, rules_from(lessons, row.id)).written()
    if composed is None:
        reason = "The evidence holds no sentence about the product that could be published."
        return NeedsDraft(channel_id, reason, channels.needs(row))
    return composed


def positioning(evidence: Evidence, lessons: Lessons = NOTHING_LEARNED) -> Statement:
    """What it is and for whom, in the evidence's words."""
    rules = rules_from(lessons, "")
    lines = _lines(evidence, rules, "positioning")
    held = lines.material
    made: list[Claimed] = []
    if lead := next(iter(held.values or held.features or held.changes), None):
        named = held.name and held.name.casefold() not in lead.text.casefold()
        text = lines.say("{name}: {text}" if named else "{text}", name=held.name, text=lead.text)
        made.append(Claimed(text, (lead.fact,)))
    if held.audience is not None and (pattern := lines.phrases.audience_apart):
        about = held.audience
        whom = lines.phrases.positioning_audience if about.object else pattern
        made.append(Claimed(lines.say(whom, audience=about.object or about.text), (about.fact,)))
    return _statement(made, evidence, lines.joint)


def launch_angle(evidence: Evidence, lessons: Lessons = NOTHING_LEARNED) -> Statement:
    """The statement that the launch leads with."""
    opened = Writer(_lines(evidence, rules_from(lessons, ""), "angle")).opening(lambda _: True)
    if opened is None:
        return Statement("")
    stated = [each for block in opened.blocks for each in block.claims][:1]
    return _statement(stated, evidence, " ", opened.angle)


def _lines(evidence: Evidence, rules: tuple[Rule, ...], salt: str) -> Lines:
    voice = voice_of(evidence, rules)
    return Lines(evidence, material_of(evidence, voice, rules), voice, rules, salt)


def _statement(made: list[Claimed], evidence: Evidence, joint: str, kind: str = "") -> Statement:
    return Statement(joint.join(each.text for each in made), _claims(made, evidence), kind)


class _Draft:
    """One composition."""

    def __init__(self, row: Channel, evidence: Evidence, rules: tuple[Rule, ...]) -> None:
        self.row = row
        self.evidence = evidence
        self.rules = rules
        self.lines = _lines(evidence, self.rules, row.id)

    def written(self) -> Composed | None:
        """The fullest draft that the channel takes and that is a text."""
        writer = Writer(self.lines)
        opened = writer.opening(self._opening_fits)
        if opened is None:
            return None
        for kept in lighter(LAYOUTS[self.row.id](self.row, writer, opened)):
            composed = self._finished(kept, opened)
            titles = [text for text in (composed.title, composed.subject) if text]
            if not composed.problems and not any(find_flaw(text) for text in (composed.body, *titles)):
                return composed
        return None

    def _opening_fits(self, text: str) -> bool:
        if self.row.splits:
            return self.row.body.count(text) <= self.row.body.most - threads.MARKER_ROOM
        return self.row.fold is None or len(text.partition("\n")[0]) <= self.row.fold

    def _finished(self, blocks: list[Block], opened: Opened) -> Composed:
        row, language = self.row, self.evidence.language
        text = {
            kind: next((each.text for each in blocks if each.kind == kind), "")
            for kind in ("title", "preheader")
        }
        title, preheader = text["title"], text["preheader"]
        body = joined([block for block in blocks if block.kind not in text])
        parts = threads.split(body, row.body.most, row.body.count) if row.splits else ()
        if len(parts) > 1:
            body = "\n\n".join(parts)
        made = _claims([each for block in blocks for each in block.claims], self.evidence)
        checked = channels.check(row.id, body, title=title, preheader=preheader, parts=parts)
        used, told = self._memory(made, opened, body)
        mail = row.shape == "email"
        return Composed(
            channel=row.id,
            body=body,
            title="" if mail else title,
            subject=title if mail else "",
            preheader=preheader,
            html=mail_html(body, preheader=preheader, language=language) if mail else "",
            parts=parts if len(parts) > 1 else (),
            claims=made,
            warnings=(*checked.problems, *warnings_for(made, self.evidence), *self._still_said(body, opened)),
            recommendations=(*told, *checked.advice),
            problems=checked.problems,
            memory_used=used,
            angle=opened.angle,
            opening=opened.opening,
            language=language,
        )

    def _memory(
        self, made: tuple[Claim, ...], opened: Opened, body: str
    ) -> tuple[tuple[MemoryUse, ...], tuple[str, ...]]:
        """The entries that shaped this draft and how, and what to tell of the lessons among them."""
        used = {support.entry_id: QUOTED for each in made for support in each.evidence if support.entry_id}
        for entry, how in self.lines.voice.entries:
            used.setdefault(entry, how)
        applied = [rule for rule in self.rules if self._applied(rule, opened, body)]
        for rule in applied:
            used.setdefault(rule.entry_id, rule.why)
        told = tuple(dict.fromkeys(rule.why for rule in applied))
        return tuple(MemoryUse(entry, how) for entry, how in used.items()), told

    def _applied(self, rule: Rule, opened: Opened, body: str) -> bool:
        """Whether a rule had something to do here: what is merely remembered is not named."""
        if rule.kind == "claim":
            return rule.entry_id in self.lines.material.left_out
        if rule.kind == "words":
            return False
        if rule.kind == "shorter":
            return len(body) < self._length_without("shorter")
        return True

    def _length_without(self, kind: str) -> int:
        """How long the text is where nothing of this kind was learned."""
        other = _Draft(
            self.row, self.evidence, tuple(rule for rule in self.rules if rule.kind != kind)
        ).written()
        return 0 if other is None else len(other.body)

    def _still_said(self, body: str, opened: Opened) -> list[str]:
        """Where the evidence left no way to follow what was learned."""
        found = [word for word in self.lines.voice.banned if forbids(Voice(banned=(word,)), body)]
        told = [f"The text still says “{word}”, which is not to be said." for word in found[:3]]
        return [*told, ALIKE] if opened.alike else told


QUOTED: Final = "Quoted in the draft."
ALIKE: Final = (
    "It begins like a draft that was rejected: the evidence has nothing else to begin with. Supply a text."
)


def _claims(claimed: Iterable[Claimed], evidence: Evidence) -> tuple[Claim, ...]:
    unique = {each.text: each for each in claimed if each.text and each.facts}
    return tuple(claim(each.text, each.facts, evidence) for each in unique.values())
