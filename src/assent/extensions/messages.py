"""The shape of a message: the parts that a channel takes, and the limit of each.

The shape makes the arguments of the tool that prepares a message, the checks when one is staged or
edited, the fields of the edit page and the form of a person who publishes by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from assent.extensions.problems import BadExtension
from assent.gate.records import Effect
from assent.gate.views import Field, HandField
from assent.kernel.limits import MAX_CONTENT_CHARS, MAX_RECIPIENTS
from assent.kernel.refusals import Problem
from assent.kernel.structs import Record

MAX_UNIT_CHARS: Final = 40
TEXTS: Final = {"title": "Title", "subject": "Subject", "body": "Text"}
"""The texts of a message with their labels, in the order of a form."""


class TextLimit(Record):
    """The longest text that a channel takes, and how it counts: characters, unless `count` says
    otherwise. With `least` a text is required."""

    most: int
    count: Callable[[str], int] = len
    unit: str = "characters"
    least: int = 0

    def explain(self) -> str:
        return f"at most {self.most:,} {self.unit}"


class MessageShape(Record, kw_only=True):
    """The parts of a message. A text without a limit here does not exist on the channel."""

    body: TextLimit = TextLimit(MAX_CONTENT_CHARS)
    title: TextLimit | None = None
    subject: TextLimit | None = None
    recipients: int = 0
    """The most e-mail addresses that it goes to; 0 if it has no recipients."""
    picture: bool = False
    """Whether a picture can be attached."""
    link: bool = False
    """Whether it has a link beside the text."""
    fold: int | None = None
    """How much of the text the channel shows before "see more", as `body` counts."""

    def limits(self) -> Iterator[tuple[str, TextLimit]]:
        """Yield the texts that the channel has, each with its limit."""
        for name in TEXTS:
            if (limit := getattr(self, name)) is not None:
                yield name, limit


def check_shape(shape: Any, place: str) -> None:
    """Raise `BadExtension` for a shape that cannot be used."""

    def refuse(why: str, fix: str) -> BadExtension:
        return BadExtension(why, place=place, fix=fix)

    if not isinstance(shape, MessageShape):
        fix = "Write shape=assent.Message(body=assent.Limit(600))."
        raise refuse(f"the shape is {type(shape).__name__}.", fix)
    if shape.body is None:
        raise refuse("the message has no body.", "Write body=assent.Limit(600).")
    for name, limit in shape.limits():
        if not isinstance(limit, TextLimit):
            raise refuse(
                f"the limit of {name} is {type(limit).__name__}.", f"Write {name}=assent.Limit(600)."
            )
        if not _is_count(limit.most, MAX_CONTENT_CHARS) or not _is_count(limit.least, limit.most, 0):
            raise refuse(
                f"the limit of {name} is {limit.most!r}, at least {limit.least!r}.",
                f"Write numbers up to {MAX_CONTENT_CHARS}.",
            )
        if not callable(limit.count):
            raise refuse(
                f"the count of {name} is no function.", "Write a function of a text, such as count=len."
            )
        if (
            not isinstance(limit.unit, str)
            or not limit.unit.isprintable()
            or len(limit.unit) > MAX_UNIT_CHARS
        ):
            raise refuse(
                f"the unit of {name} is not one line.", f"Write at most {MAX_UNIT_CHARS} characters."
            )
    if not _is_count(shape.recipients, MAX_RECIPIENTS, 0):
        raise refuse(f"recipients is {shape.recipients!r}.", f"Write a number up to {MAX_RECIPIENTS}.")
    if shape.fold is not None and not _is_count(shape.fold, MAX_CONTENT_CHARS):
        raise refuse(f"fold is {shape.fold!r}.", "Write a number of characters.")
    for name in ("picture", "link"):
        if not isinstance(getattr(shape, name), bool):
            raise refuse(f"{name} is {getattr(shape, name)!r}.", "Write True or False.")


def _is_count(value: Any, most: int, least: int = 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def find_problems(shape: MessageShape, effect: Effect) -> Iterable[Problem]:
    """Yield the parts of a message that its channel would refuse or cut."""
    limits = dict(shape.limits())
    for name in ("title", "subject", "body", "preheader"):
        text, limit = getattr(effect, name), limits.get(name)
        if limit is None:
            if text:
                yield Problem(name, f"no {name}: this channel has none", repr(text[:80]))
            continue
        size = _measure(limit, text)
        if size > limit.most or size < limit.least:
            short = size < limit.least
            expected = f"at least {limit.least:,} {limit.unit}" if short else limit.explain()
            yield Problem(name, expected, f"{size:,} {limit.unit}")
    count = len(effect.recipients)
    if shape.recipients and not 0 < count <= shape.recipients:
        yield Problem("recipients", f"1 to {shape.recipients} e-mail addresses", f"{count} addresses")
    if not shape.recipients and count:
        yield Problem("recipients", "no recipients: this channel has none", f"{count} addresses")
    if effect.media and not shape.picture:
        yield Problem("media", "no picture: this channel takes none", f"{len(effect.media)} pictures")
    if effect.link and not shape.link:
        yield Problem("link", "no link beside the text: this channel has none", repr(effect.link[:80]))


def _measure(limit: TextLimit, text: str) -> int:
    size = limit.count(text)
    if not isinstance(size, int) or size < 0:
        raise TypeError(f"the count of {limit.unit} returned {size!r}, not a number")
    return size


def list_fields(shape: MessageShape, effect: Effect) -> tuple[Field, ...]:
    """Return the fields that a person may edit, with their limits."""
    to = (Field(name="recipients", label="To", many=True, personal=True),) if shape.recipients else ()
    return (
        *to,
        *(
            Field(
                name=name,
                label=TEXTS[name],
                many=name == "body",
                # A one-line field of a browser is cut by characters.
                most=limit.most if name == "body" or limit.count is len else None,
                used=_measure(limit, getattr(effect, name)),
                unit=limit.unit,
                counts="plain" if limit.count is len else "server",
                required=limit.least > 0,
            )
            for name, limit in shape.limits()
        ),
    )


def list_hand_fields(shape: MessageShape, effect: Effect) -> tuple[HandField, ...]:
    """Return the fields of the form that a person fills in when they publish by hand."""
    texts = [
        HandField(
            "text" if name == "body" else name, name, limit.most, _measure(limit, getattr(effect, name))
        )
        for name, limit in shape.limits()
    ]
    return (*texts, HandField("link", "link")) if shape.link else tuple(texts)
