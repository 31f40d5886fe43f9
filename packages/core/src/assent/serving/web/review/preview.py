"""Previews content as its channel shows it: a card with its fold, a thread with counts, an e-mail, a
page, the arguments of a function.

A preview is complete: text that a channel hides behind "see more" follows the fold mark. Pure.
"""

from __future__ import annotations

from typing import Literal

from markupsafe import Markup

from assent.gate.records import Action, Effect
from assent.kernel.structs import Record
from assent.serving.web.review import naming
from assent.serving.web.review.blocks import DrawnBlock, draw_blocks, write_arguments
from assent.serving.web.shell import markdown
from assent.serving.web.shell.unseen import UnseenPiece, pieces


class PreviewPart(Record):
    """One post: the text before the fold and after it."""

    shown: tuple[UnseenPiece, ...]
    more: tuple[UnseenPiece, ...]
    size: str
    fits: bool


class DrawnPreview(Record):
    kind: Literal["text", "post", "thread", "mail", "page", "arguments"]
    channel: str
    account: str
    initial: str
    parts: tuple[PreviewPart, ...]
    page: Markup | None = None
    arguments: tuple[DrawnBlock, ...] | None = ()
    """None if the blocks of the view show everything."""


def build_preview(action: Action, html: bool) -> DrawnPreview:
    effect, view = action.effect, action.view
    account = _account(effect)
    texts = read_thread(effect) if view.preview.kind == "thread" else (effect.body,)
    # Sanitized: only the tags, attributes and schemes that text needs.
    page = Markup(markdown.render(effect.body).html) if view.preview.kind == "page" and html else None  # noqa: S704
    arguments = draw_blocks(write_arguments(action)) if view.preview.kind == "arguments" else ()
    return DrawnPreview(
        kind=view.preview.kind if texts else "text",
        channel=view.label,
        account=account,
        initial=account[:1].upper(),
        parts=_draw_parts(action, texts or (effect.body,)),
        page=page,
        arguments=None if view.in_blocks else arguments,
    )


def read_thread(effect: Effect) -> tuple[str, ...]:
    """The posts of a thread; none if they no longer add up to the body."""
    parts = effect.details.get("thread")
    if isinstance(parts, list) and len(parts) > 1 and "\n\n".join(map(str, parts)) == effect.body:
        return tuple(map(str, parts))
    return ()


def _account(effect: Effect) -> str:
    target = effect.target or {}
    return target.get("name") or target.get("account") or effect.sender or "You"


def _draw_parts(action: Action, texts: tuple[str, ...]) -> tuple[PreviewPart, ...]:
    """Draw each text with its size as the channel counts, if the view knows it."""
    view = action.view
    body = next((field for field in view.fields if field.name == "body"), None)
    if body is None or body.most is None or len(view.preview.sizes) != len(texts):
        return tuple(PreviewPart(pieces(text), (), naming.size(text), True) for text in texts)
    return tuple(
        _draw_part(text, used, view.preview.fold, body.most, body.unit)
        for text, used in zip(texts, view.preview.sizes, strict=True)
    )


def _draw_part(text: str, used: int, fold: int | None, most: int, unit: str) -> PreviewPart:
    size = f"{used:,} of {most:,} {unit}"
    if fold is None or used <= fold:
        return PreviewPart(pieces(text), (), size, used <= most)
    at = find_fold(text, fold)
    return PreviewPart(pieces(text[:at]), pieces(text[at:]), size, used <= most)


def find_fold(text: str, fold: int) -> int:
    """The end of the last whole word before the fold. A line of which only a bullet or dash would be seen is
    folded as a whole."""
    space = max(text.rfind(" ", 0, fold), text.rfind("\n", 0, fold))
    at = space + 1 if space > fold // 2 else fold
    line = text.rfind("\n", 0, at) + 1
    return at if any(each.isalnum() for each in text[line:at]) or not line else line
