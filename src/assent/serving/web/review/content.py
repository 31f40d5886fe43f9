"""All content that an approval covers, the same on the review page and on the batch page.

Pure. Independent of the viewer and of the action's outcome.
"""

from __future__ import annotations

from typing import Any

from assent.gate.cards import goes_to
from assent.gate.records import Action, Effect
from assent.gate.views import Severity
from assent.kernel.canonical import short_digest
from assent.kernel.structs import Record
from assent.kernel.texts import to_text
from assent.serving.web.review import links as review_links
from assent.serving.web.review import naming
from assent.serving.web.review import pictures as review_pictures
from assent.serving.web.review.blocks import (
    DrawnBlock,
    draw_blocks,
    find_block_texts,
    find_strings,
    list_arguments,
    list_facts,
)
from assent.serving.web.review.html import has_style_sheet, html_text
from assent.serving.web.review.links import LinkList, LinkTarget
from assent.serving.web.review.matching import Steps
from assent.serving.web.review.pictures import PictureView
from assent.serving.web.review.preview import DrawnPreview, build_preview
from assent.serving.web.review.recipients import Addressee, Recipients, addressee, list_recipients
from assent.serving.web.shell.times import When, when
from assent.serving.web.shell.unseen import UnseenPiece, pieces


class LabelledFact(Record):
    label: str
    text: str


class HtmlPart(Record):
    """The HTML of an e-mail: its text, links and source. `sheet`: it has a style sheet, which the
    frame does not render."""

    text: tuple[UnseenPiece, ...]
    targets: LinkList
    source: tuple[UnseenPiece, ...]
    sheet: bool


class ReviewContent(Record, kw_only=True):
    """What would be sent, and when."""

    title: str
    noun: str
    """The kind of action, within a sentence."""
    effect: Effect
    is_mail: bool
    sender: Addressee | None
    recipients: Recipients
    preview: DrawnPreview
    size: str
    pictures: tuple[PictureView, ...]
    blocks: tuple[DrawnBlock, ...]
    targets: LinkList
    html: HtmlPart | None
    html_address: str
    extras: tuple[LabelledFact, ...]
    schedule: When | None
    revision: int
    digest: str
    short_digest: str
    unfolded: bool
    """At high risk nothing is hidden behind a click."""


def build_content(
    action: Action,
    now_ms: int,
    pictures: tuple[PictureView, ...] | None = None,
    steps: Steps | None = None,
) -> ReviewContent:
    """The content of one action. `pictures`: the details of its pictures. `steps` bounds the
    differences of a whole page."""
    effect, view = action.effect, action.view
    preview = build_preview(action, html=True)
    return ReviewContent(
        title=view.heading,
        noun=view.noun[:1].lower() + view.noun[1:] if view.common_noun else view.noun,
        effect=effect,
        is_mail=view.mail or bool(effect.recipients or effect.subject),
        sender=addressee(effect.sender) if effect.sender else None,
        recipients=list_recipients(effect.recipients),
        preview=preview,
        size=_measure_size(action),
        pictures=review_pictures.list_attached(action) if pictures is None else pictures,
        blocks=draw_blocks(view.blocks, steps),
        targets=review_links.list_links(_targets(action, preview)),
        html=_html(effect.html),
        html_address=f"/runs/{action.run_id}/actions/{action.action_id}/html",
        extras=_extras(action),
        schedule=when(action.schedule_ms, now_ms),
        revision=action.revision,
        digest=action.digest,
        short_digest=short_digest(action.digest),
        unfolded=action.preflight.severity is Severity.HIGH,
    )


def _measure_size(action: Action) -> str:
    if action.view.in_blocks:
        return naming.size("\n".join(find_block_texts(action.view.blocks)))
    if action.view.preview.kind != "arguments":
        return naming.size(action.effect.body)
    count = len(list_arguments(action))
    return f"{count} argument{'' if count == 1 else 's'}"


def _targets(action: Action, preview: DrawnPreview) -> tuple[LinkTarget, ...]:
    """Return the targets of the links that readers will see, and of those in arguments and blocks."""
    effect, view = action.effect, action.view
    texts = [*find_strings(effect.arguments), *find_block_texts(view.blocks)]
    beside = (*review_links.targets("\n".join(texts)), *review_links.address_targets(view.links))
    alone = review_links.targets(effect.link)
    if preview.page is not None:
        return _distinct(*alone, *review_links.html_targets(preview.page), *beside)
    return _distinct(*alone, *review_links.targets(effect.body), *beside)


def _distinct(*found: LinkTarget) -> tuple[LinkTarget, ...]:
    return tuple(dict.fromkeys(found))


def as_text(value: Any) -> str:
    """A value as words or JSON."""
    return "" if value is None else to_text(value)


def _html(source: str) -> HtmlPart | None:
    if not source:
        return None
    found = review_links.list_links(review_links.html_targets(source))
    return HtmlPart(pieces(html_text(source)), found, pieces(source), has_style_sheet(source))


def _extras(action: Action) -> tuple[LabelledFact, ...]:
    """All other fields that an approval covers, but for values among the facts above. Those of a call that
    an agent runs are its title, its risk and its blocks; a view may also show everything in its blocks."""
    effect = action.effect
    facts = [LabelledFact("Link", effect.link)] if effect.link else []
    if (account := goes_to(effect.target)) is not None:
        facts.append(LabelledFact("Goes to", account))
    else:
        facts += [LabelledFact(f"Target: {name}", value) for name, value in (effect.target or {}).items()]
    facts += [
        LabelledFact(media.kind.capitalize(), f"{media.url} ({media.alt or 'no description'})")
        for media in effect.media
        if not media.digest
    ]
    shown_above = action.view.in_blocks or (action.view.executes == "agent" and bool(effect.arguments))
    details = {} if shown_above else effect.details
    above = {text for _, text in list_facts(action.view.blocks)}
    facts += [_detail(name, value, effect) for name, value in details.items() if as_text(value) not in above]
    return tuple(facts)


def _detail(name: str, value: Any, effect: Effect) -> LabelledFact:
    """The posts of a thread are shown above and not repeated."""
    if name == "thread" and isinstance(value, list) and "\n\n".join(map(str, value)) == effect.body:
        return LabelledFact("As a thread", f"{len(value)} posts, divided where the numbers stand")
    return LabelledFact(name, as_text(value))
