"""Fills the sentences of the words with values, and with the markup that a template gives to a value. Pure.

A sentence is plain text with named places: `You decide as {name}.` All of it is escaped, and so is each value
that is no markup. A writer edits whole sentences, and no file of words has HTML.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from markupsafe import Markup, escape

_BDI: Final = Markup("<bdi>{}</bdi>")
_CODE: Final = Markup("<code>{}</code>")
_LINK: Final = Markup('<a href="{}">{}</a>')
_STRONG: Final = Markup("<strong><bdi>{}</bdi></strong>")


def fill(sentence: str, **values: Any) -> Markup:
    """Raises KeyError if a place of the sentence has no value."""
    escaped = {name: escape(value) for name, value in values.items()}
    return Markup(_escape(sentence).format(**escaped))  # noqa: S704 - both parts are escaped


@cache
def _escape(sentence: str) -> str:
    """`Markup.format` escapes, too, but takes ten times as long: a page fills hundreds of sentences."""
    return str(escape(sentence))


def as_bdi(text: Any) -> Markup:
    return _BDI.format(text)


def as_code(text: Any) -> Markup:
    return _CODE.format(text)


def as_link(href: str, text: Any) -> Markup:
    return _LINK.format(href, text)


def as_strong(text: Any) -> Markup:
    return _STRONG.format(text)
