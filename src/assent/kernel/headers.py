"""Whether a text can be one line of a mail's header, or a headline."""

from __future__ import annotations

import re
from typing import Final

_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ENCODED_WORD: Final = re.compile(r"=\?[^?]*\?[bq]\?", re.IGNORECASE)


def is_one_line(text: str) -> bool:
    """Whether a text can be a header or a headline: a second line could become a header of its own."""
    return _CONTROL.search(text) is None


def has_encoded_word(text: str) -> bool:
    """Whether mail programs would show something else than these characters (RFC 2047)."""
    return _ENCODED_WORD.search(text) is not None
