"""Renders the HTML part of an e-mail from its text. Everything is escaped."""

from __future__ import annotations

import re
from html import escape
from typing import Final

from assent.suite.content.counting import addresses
from assent.suite.content.language import RIGHT_TO_LEFT

_STYLE: Final = (
    "font-family:-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5"
)
_HIDDEN: Final = "display:none;max-height:0;overflow:hidden;opacity:0"


def mail_html(body: str, *, preheader: str = "", language: str = "en") -> str:
    """Return the text as HTML: paragraphs, lists from lines with a dash, links."""
    direction = "rtl" if language in RIGHT_TO_LEFT else "ltr"
    code = language if language != "und" else "en"
    hidden = f'<div style="{_HIDDEN}">{escape(preheader)}</div>\n' if preheader else ""
    blocks = "\n".join(_block(block) for block in re.split(r"\n\s*\n", body.strip()) if block.strip())
    return (
        f'<!doctype html>\n<html lang="{escape(code)}" dir="{direction}">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"></head>\n'
        f'<body style="margin:0;padding:24px">\n{hidden}<div style="max-width:600px;margin:0 auto;{_STYLE}">\n'
        f"{blocks}\n</div>\n</body>\n</html>\n"
    )


def _block(block: str) -> str:
    lines: list[str] = []
    items: list[str] = []
    out: list[str] = []

    def flush() -> None:
        if lines:
            out.append("<p>" + "<br>\n".join(lines) + "</p>")
            lines.clear()
        if items:
            out.append("<ul>\n" + "\n".join(f"<li>{item}</li>" for item in items) + "\n</ul>")
            items.clear()

    for line in block.splitlines():
        if bullet := re.match(r"^\s*[-*•・]\s+(.+)", line):
            if lines:
                flush()
            items.append(_inline(bullet.group(1)))
        else:
            if items:
                flush()
            lines.append(_inline(line))
    flush()
    return "\n".join(out)


def _inline(text: str) -> str:
    pieces, at = [], 0
    for start, end in addresses(text):
        address = text[start:end]
        pieces.append(escape(text[at:start]))
        if address.lower().startswith(("http://", "https://")):
            pieces.append(f'<a href="{escape(address)}">{escape(address)}</a>')
        else:
            pieces.append(escape(address))
        at = end
    return "".join([*pieces, escape(text[at:])])
