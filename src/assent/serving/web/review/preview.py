"""Previews content as its channel shows it: a card with its fold, a thread with counts, an e-mail,
a page.

A preview is complete: text that a channel hides behind "see more" follows the fold mark. Pure.
"""

from __future__ import annotations

from typing import Final, Literal

from markupsafe import Markup

from assent.gate.records import Effect
from assent.kernel.structs import Record
from assent.serving.web.review import words as review_words
from assent.serving.web.shell import markdown
from assent.serving.web.shell.unseen import UnseenPiece, pieces
from assent.suite.content import channels

Kind = Literal["post", "thread", "mail", "site", "text"]

SOCIAL: Final = frozenset({"bluesky", "facebook", "instagram", "linkedin", "threads", "tiktok", "x"})
"""Channels that show content as a post."""


class PreviewPart(Record):
    """One post: the text before the fold and after it."""

    shown: tuple[UnseenPiece, ...]
    more: tuple[UnseenPiece, ...]
    size: str
    fits: bool


class Preview(Record):
    kind: Kind
    channel: str
    account: str
    initial: str
    parts: tuple[PreviewPart, ...]
    site: Markup | None = None


def build_preview(effect: Effect, html: bool) -> Preview:
    kind = _kind(effect)
    account = _account(effect)
    texts = read_thread(effect) if kind == "thread" else (effect.body,)
    return Preview(
        kind=kind,
        channel=review_words.channel_name(effect.channel),
        account=account,
        initial=account[:1].upper(),
        parts=tuple(_part(effect, text) for text in texts),
        # Sanitized: only the tags, attributes and schemes that text needs.
        site=Markup(markdown.render(effect.body).html) if kind == "site" and html else None,  # noqa: S704
    )


def read_thread(effect: Effect) -> tuple[str, ...]:
    """The posts of a thread; none if they no longer add up to the body."""
    parts = effect.details.get("thread")
    if isinstance(parts, list) and len(parts) > 1 and "\n\n".join(map(str, parts)) == effect.body:
        return tuple(map(str, parts))
    return ()


def _kind(effect: Effect) -> Kind:
    if review_words.is_mail(effect):
        return "mail"
    if effect.connector == "site":
        return "site"
    if read_thread(effect):
        return "thread"
    return "post" if effect.channel in SOCIAL else "text"


def _account(effect: Effect) -> str:
    target = effect.target or {}
    return target.get("name") or target.get("account") or effect.sender or "You"


def _part(effect: Effect, text: str) -> PreviewPart:
    row = channels.BY_ID.get(effect.channel)
    if row is None or review_words.is_mail(effect):
        return PreviewPart(pieces(text), (), review_words.size(text), True)
    used = row.body.count(text)
    size = f"{used:,} of {row.body.most:,} {row.body.unit}"
    fold = row.fold
    if fold is None or used <= fold:
        return PreviewPart(pieces(text), (), size, used <= row.body.most)
    at = _fold_at(text, fold)
    return PreviewPart(pieces(text[:at]), pieces(text[at:]), size, used <= row.body.most)


def _fold_at(text: str, fold: int) -> int:
    """The end of the last whole word before the fold."""
    space = max(text.rfind(" ", 0, fold), text.rfind("\n", 0, fold))
    return space + 1 if space > fold // 2 else fold
