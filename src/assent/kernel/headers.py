"""Checks of text for mail headers and headlines."""

from __future__ import annotations

import re
from typing import Final

_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ENCODED_WORD: Final = re.compile(r"=\?[^?]*\?[bq]\?", re.IGNORECASE)


def is_one_line(text: str) -> bool:
    """Whether a text is one line. A second line could be read as another header."""
    return _CONTROL.search(text) is None


def has_encoded_word(text: str) -> bool:
    """Whether mail programs would decode the text to other characters (RFC 2047)."""
    return _ENCODED_WORD.search(text) is not None
