"""The words between the facts, in the languages the composer has words for: tables only.

No phrase states anything by itself: what a sentence claims comes from the evidence put into it. A language without a
table gets none of these words; its drafts are the evidence's own sentences.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

Angle = Literal["change", "value", "audience", "proof", "feature"]
Tone = Literal["any", "playful", "formal"]


class Opening(msgspec.Struct, frozen=True):
    """One way to begin. Paragraphs of sentences; `needs` follows from the names in braces."""

    id: str
    angle: Angle
    paragraphs: tuple[tuple[str, ...], ...]
    tone: Tone = "any"
    most_words: int = 40
    """What it can hold of what was added, before it is hard to read."""


class Phrases(msgspec.Struct, frozen=True, kw_only=True):
    """The phrases of one language."""

    openings: tuple[Opening, ...]
    features: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    more_changes: tuple[str, ...] = ()
    also: str = ""
    audience: tuple[str, ...] = ()
    audience_apart: str = ""
    link: tuple[str, ...] = ("{url}",)
    asks: tuple[str, ...] = ()
    greetings: dict[str, str] = {}
    news_title: tuple[str, ...] = ("{name}: {change}",)
    value_title: tuple[str, ...] = ("{name}: {value}",)
    section_changes: str = ""
    section_features: str = ""
    link_label: str = ""
    positioning_audience: str = ""
    bullet: str = "• "


def _open(
    id: str, angle: Angle, *paragraphs: tuple[str, ...] | str, tone: Tone = "any", most_words: int = 40
) -> Opening:
    held = tuple((each,) if isinstance(each, str) else each for each in paragraphs)
    return Opening(id, angle, held, tone, most_words)


ENGLISH: Final = Phrases(
    openings=(
        _open("new-in", "change", "New in {name}: {object}."),
        _open("now-has", "change", "{name} now has {object}."),
        _open("just-added", "change", "{We} just added {object} to {name}.", most_words=6),
        _open(
            "fresh", "change", "Fresh out of the workshop: {object}.", "It is in {name} now.", tone="playful"
        ),
        _open("update-on", "change", "A short update on {name}.", "{change}"),
        _open("what-is-new", "change", ("What is new in {name}?", "{change}")),
        _open("change-first", "change", "{change}", "That is the latest in {name}."),
        _open("release-note", "change", ("There is a new version of {name}.", "{change}"), tone="formal"),
        _open("meet", "value", ("Meet {name}.", "{value}")),
        _open("that-is", "value", "{value}", "That is {name}."),
        _open("idea-behind", "value", "{value}", "That is the idea behind {name}."),
        _open("this-is", "value", ("This is {name}.", "{value}")),
        _open("in-short", "value", "{name}, in short: {value}"),
        _open("hello", "value", ("Say hello to {name}.", "{value}"), tone="playful"),
        _open("introducing", "value", ("Introducing {name}.", "{value}"), tone="formal"),
        _open("named-value", "value", "{named_value}"),
        _open("made-for", "audience", "{We} made {name} for {audience}."),
        _open("is-for", "audience", "{name} is for {audience}."),
        _open("for-whom", "audience", "For {audience}: {name}."),
        _open("proof-first", "proof", "{proof}", "{value}"),
        _open("feature-first", "feature", "{feature}", "That is one thing {name} does."),
        _open("one-thing", "feature", ("One thing about {name}:", "{feature}")),
        _open("plain-change", "change", "{change}"),
        _open("plain-value", "value", "{value}"),
    ),
    features=("What it does:", "A few things it does:", "What is in it:", "Some of what you will find:"),
    changes=("What changed:", "What is new:", "In this version:"),
    more_changes=("Also new:", "Other changes:", "And besides:"),
    also="Also new: {object}.",
    audience_apart="Who it is for: {audience}.",
    audience=("It is made for {audience}.", "It is for {audience}.", "{We} made it for {audience}."),
    link=("Have a look: {url}", "More here: {url}", "See it here: {url}", "You can find it at {url}"),
    asks=(
        "What would you want it to do next?",
        "Questions and honest feedback are welcome.",
        "Tell us what is missing.",
        "Curious what you think.",
    ),
    greetings={"any": "Hi,", "formal": "Hello,", "playful": "Hi there,"},
    news_title=("New in {name}: {change}", "{name}: {change}", "{change}", "What is new in {name}"),
    value_title=("{name}: {value}", "Meet {name}: {value}", "{value}", "Meet {name}"),
    section_changes="What is new",
    section_features="What it does",
    link_label="Take a look",
    positioning_audience="It is for {audience}.",
)

GERMAN: Final = Phrases(
    openings=(
        _open("new-in", "change", "Neu in {name}: {object}."),
        _open("now-in", "change", "Ab sofort in {name}: {object}."),
        _open("update-on", "change", "Ein kurzes Update zu {name}.", "{change}"),
        _open("what-is-new", "change", ("Was ist neu in {name}?", "{change}")),
        _open("change-first", "change", "{change}", "Das ist neu in {name}."),
        _open("fresh", "change", "Frisch aus der Werkstatt: {object}.", "Jetzt in {name}.", tone="playful"),
        _open("meet", "value", ("Das ist {name}.", "{value}")),
        _open("that-is", "value", "{value}", "Das ist {name}."),
        _open("idea-behind", "value", "{value}", "Das ist die Idee hinter {name}."),
        _open("in-short", "value", "{name}, kurz gesagt: {value}"),
        _open("hello", "value", ("Sag hallo zu {name}.", "{value}"), tone="playful"),
        _open("introducing", "value", ("Wir stellen vor: {name}.", "{value}"), tone="formal"),
        _open("named-value", "value", "{named_value}"),
        _open("made-for", "audience", "Gemacht für {audience}: {name}."),
        _open("for-whom", "audience", "Für {audience}: {name}."),
        _open("proof-first", "proof", "{proof}", "{value}"),
        _open("feature-first", "feature", "{feature}", "Das ist eine der Sachen, die {name} kann."),
        _open("plain-change", "change", "{change}"),
        _open("plain-value", "value", "{value}"),
    ),
    features=("Was es kann:", "Ein paar Dinge, die es kann:", "Was drinsteckt:"),
    changes=("Was sich geändert hat:", "Was neu ist:", "In dieser Version:"),
    more_changes=("Außerdem neu:", "Und außerdem:", "Weitere Änderungen:"),
    also="Außerdem neu: {object}.",
    audience_apart="Für wen: {audience}.",
    audience=("Gemacht für {audience}.", "Für {audience}."),
    link=("Mehr dazu: {url}", "Zum Anschauen: {url}", "Hier geht es weiter: {url}"),
    asks=(
        "Fragen und ehrliches Feedback sind willkommen.",
        "Was fehlt noch?",
        "Wir sind gespannt auf Rückmeldungen.",
    ),
    greetings={"any": "Hallo,", "formal": "Guten Tag,", "playful": "Hallo zusammen,"},
    news_title=("Neu in {name}: {change}", "{name}: {change}", "{change}", "Neues zu {name}"),
    value_title=("{name}: {value}", "{value}", "Das ist {name}"),
    section_changes="Was neu ist",
    section_features="Was es kann",
    link_label="Anschauen",
    positioning_audience="Für {audience}.",
)

WORDLESS: Final = Phrases(
    openings=(
        _open("name-value", "value", "{name}", "{value}"),
        _open("value-name", "value", "{value}", "{name}"),
        _open("named-value", "value", "{named_value}"),
        _open("name-change", "change", "{name}", "{change}"),
        _open("plain-change", "change", "{change}"),
        _open("proof-first", "proof", "{proof}", "{value}"),
        _open("feature-first", "feature", "{name}", "{feature}"),
        _open("plain-value", "value", "{value}"),
    ),
    news_title=("{name}: {change}", "{change}", "{name}"),
    value_title=("{name}: {value}", "{value}", "{name}"),
)

PHRASES: Final[dict[str, Phrases]] = {"en": ENGLISH, "de": GERMAN}


def phrases_for(language: str) -> Phrases:
    return PHRASES.get(language, WORDLESS)
