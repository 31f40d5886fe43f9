"""The text of an HTML source, for reviewers. Pure, in linear time."""

from __future__ import annotations

import html
import re
from typing import Final

_TAG: Final = re.compile(r"<[^<>]*>")
_BLOCK: Final = re.compile(
    r"</?(?:p|div|br|tr|li|ul|ol|table|h[1-6]|blockquote|section)\b[^<>]*>", re.IGNORECASE
)


def html_text(source: str) -> str:
    """The text of an HTML source without tags, including text that a mail program would hide."""
    text = html.unescape(_TAG.sub("", _BLOCK.sub("\n", source)))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
