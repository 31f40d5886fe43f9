"""The phrases around a change: one per grammatical form, in English and German; elsewhere only the
product's name.

A frame states nothing. It contains a whole statement of the evidence, or one without the verb that
the frame has.
"""

from __future__ import annotations

import re
from typing import Final

from assent.platform.values import Record
from assent.suite.composer.statements import is_sentence
from assent.suite.content.language import add_full_stop, strip_full_stop
from assent.suite.content.naming import is_named, is_subject


class Frames(Record):
    """The frames of one language, each with and without the product's name."""

    new: tuple[str, str]
    fixed: tuple[str, str]
    improved: tuple[str, str]
    removed: tuple[str, str]
    more: str = ""
    audience: str = ""
    group: str = ""
    greeting: str = ""


ENGLISH: Final = Frames(
    new=("New in {name}: ", "New: "),
    fixed=("Fixed in {name}: ", "Fixed: "),
    improved=("Improved in {name}: ", "Improved: "),
    removed=("Removed from {name}: ", "Removed: "),
    more="Also in this update:",
    audience="Made for {audience}.",
    group="Who it is for: {audience}.",
    greeting="Hi,",
)
GERMAN: Final = Frames(
    new=("Neu in {name}: ", "Neu: "),
    fixed=("Behoben in {name}: ", "Behoben: "),
    improved=("Verbessert in {name}: ", "Verbessert: "),
    removed=("Entfernt aus {name}: ", "Entfernt: "),
    more="Außerdem in diesem Update:",
    audience="Für {audience}.",
    group="Für wen: {audience}.",
    greeting="Hallo,",
)
_NAME: Final = ("{name}: ", "")
WORDLESS: Final = Frames(_NAME, _NAME, _NAME, _NAME)
FRAMES: Final = {"en": ENGLISH, "de": GERMAN}

_VERBS: Final[dict[str, tuple[tuple[str, re.Pattern[str]], ...]]] = {
    "en": (
        (
            "new",
            re.compile(
                r"^(?:add(?:ed|s)?:?|introduc(?:e|ed|es|ing)|new(?: feature)?:)\s+(?P<rest>.+)$",
                re.I,
            ),
        ),
        (
            "fixed",
            re.compile(
                r"^(?:bug ?fix:|fix(?:ed|es)?:?|resolved?:?)\s+(?!(?:around|for|to|in|of|and)\b)(?P<rest>.+)$",
                re.I,
            ),
        ),
        ("improved", re.compile(r"^improv(?:e|ed|es)\s+(?P<rest>.+)$", re.I)),
        ("removed", re.compile(r"^remov(?:e|ed|es)\s+(?P<rest>.+)$", re.I)),
    ),
    "de": (
        ("new", re.compile(r"^neu(?: ist| sind| dabei)?:?\s+(?P<rest>.+)$", re.I)),
        ("new", re.compile(r"^(?P<rest>.{3,160}?) (?:hinzugefügt|eingebaut|ergänzt)$", re.I)),
        ("fixed", re.compile(r"^(?:behoben|fix):?\s+(?P<rest>.+)$", re.I)),
        ("fixed", re.compile(r"^(?P<rest>.{3,160}?) (?:behoben|korrigiert)$", re.I)),
        ("improved", re.compile(r"^verbessert:\s+(?P<rest>.+)$", re.I)),
    ),
}
_NOW: Final = {
    "support": "supports", "allow": "allows", "enable": "enables", "let": "lets", "show": "shows", "make": "makes",
    "use": "uses", "handle": "handles", "detect": "detects", "accept": "accepts", "display": "displays",
    "respect": "respects", "remember": "remembers", "hide": "hides", "keep": "keeps", "warn": "warns",
    "render": "renders", "drop": "drops",
}  # fmt: skip
"""Imperatives of commits, and the verb for what the product does now."""
_TWO_VERBS: Final = re.compile(
    r"(?:,|;|\band|\bund)\s+(?:also )?(?:added|fix(?:ed)?|improved?|removed?|changed?|updated?|renamed?|made|behoben|"
    r"verbessert)\b",
    re.I,
)
_DOES: Final = re.compile(
    r"^(?:\w+ed(?= (?:the|an?|all|how|our|your|from|to|version|some|every|several|whole)\b)|breaking change|"
    r"bug fixes|various|rewrote|made|built|sped|split|moved?|change|update|replace|rename|"
    r"reduce|increase|rewrite|redesign|"
    r"switch|"
    r"stop|prevent|avoid|do not|don['’]t|no longer|speed up|bring|drop|ship|expose|extend|simplify|migrate|turn|"
    r"set)s?\b "
    r"(?!\w+ (?:is|are|can)\b)",
    re.IGNORECASE,
)
_SPEAKER: Final = re.compile(
    r"^(?:we|we['’]\w+|i|i['’]\w+|you|your|it|this|these|there|today|now|version|our|wir|ich|sie|du|es|diese\w*|heute|"
    r"unsere?\w*)\b",
    re.IGNORECASE,
)
_MENDED: Final = re.compile(
    r"\b(?:no longer|now|fix\w*|resolve[ds]?|nicht mehr|jetzt|behoben|korrigiert)\b|修正", re.I
)
"""Words that mark a statement as a fix."""


def choose_frames(language: str) -> Frames:
    return FRAMES.get(language, WORDLESS)


def state_change(text: str, kind: str, name: str, version: str, language: str) -> str:
    """Return a change as a sentence that names the product."""
    bare, frames = strip_full_stop(text), choose_frames(language)
    label = f"{name} {version}" if name and version and version not in text else name
    form, rest = _form(bare, language)
    if is_subject(name, text) or (is_named(name, text) and is_sentence(text, language)):
        return add_full_stop(text, language)
    plain = _join("{name}: ", bare, label)
    if _SPEAKER.match(text) and len(text.split()) > 2:
        return add_full_stop(_join("{name}: ", text, label) if label != name else text, language)
    if kind == "fixed" and form != "fixed":
        said = plain if _MENDED.search(text) else _join(frames.fixed[not label], bare, label)
    elif is_sentence(text, language) and form not in ("new", "improved", "removed", "now"):
        said = plain if language not in FRAMES or label != name else _join(frames.new[not label], text, label)
    elif form == "now":
        said = f"{label} now {rest}" if label else bare
    elif form == "new" and is_named(name, rest):
        said = frames.new[1] + rest
    elif form == "new" and label and language == "en" and " to " in rest and not _TWO_VERBS.search(rest):
        # "Added labels to charts" is no noun phrase, so it cannot follow a colon.
        said = f"{label} adds {rest}"
    elif form and not _TWO_VERBS.search(rest):
        said = _join(getattr(frames, form)[not label], rest, label)
    elif language not in FRAMES or label != name or _DOES.match(bare) or _TWO_VERBS.search(bare):
        said = plain
    else:
        said = _join(frames.new[not label], bare, label)
    return add_full_stop(said, language)


def list_change(text: str, kind: str, language: str) -> str:
    bare, frames = strip_full_stop(text), choose_frames(language)
    form, rest = _form(bare, language)
    if language in FRAMES and form in ("new", "fixed", "improved", "removed") and not _TWO_VERBS.search(rest):
        past = re.match(r"^\w+ed\b", bare)
        if not past and form == "new" and language == "en" and " to " in rest:
            return f"Added {rest}"
        return capitalise(bare) if past else getattr(frames, form)[1] + rest
    if language in FRAMES and kind == "fixed" and not _MENDED.search(text):
        return frames.fixed[1] + bare
    return capitalise(
        f"supports {rest.partition(' ')[2]}" if form == "now" and rest.startswith("supports ") else bare
    )


def capitalise(text: str, name: str = "") -> str:
    """Capitalise the first word, unless it is a command or spelled like iPhone or git-cliff."""
    if name and text.startswith(name):
        return text
    first = text.split(maxsplit=1)[0].rstrip(",.;:") if text.strip() else ""
    command = re.match(r"^\S+ --?\w", text) is not None
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() and not command else text


def _form(bare: str, language: str) -> tuple[str, str]:
    """Return the frame for the verb of a change, and the words after the verb."""
    for form, pattern in _VERBS.get(language, ()):
        if match := pattern.match(bare):
            return form, match.group("rest")
    first, _, rest = bare.partition(" ")
    if (
        language == "en"
        and first.casefold() in (*_NOW, *_NOW.values())
        and rest
        and not rest.startswith(("for ", "of "))
    ):
        return "now", f"{_NOW.get(first.casefold(), first.casefold())} {rest}"
    return "", bare


def has_label(text: str) -> bool:
    """Whether a statement begins with a label, as in "Shortcuts: saved filters"."""
    return (
        text.isascii() and re.search(r"\w: ", text) is not None and len(text.partition(": ")[0].split()) <= 6
    )


def _join(frame: str, text: str, label: str) -> str:
    """Put a statement into its frame. A statement with a colon becomes a sentence of its own."""
    if not label:
        return capitalise(text) if frame == "{name}: " else frame + text
    start = frame.replace("{name}", label)
    if has_label(text):
        text = capitalise(text)
        start = "" if text.startswith("New ") else f"{start.removesuffix(': ')}. "
    elif ord(text[0]) > 0x2E7F:
        start = start.removesuffix(": ") + "："
    return start + text
