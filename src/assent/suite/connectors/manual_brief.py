"""Makes the brief for a person who publishes by hand: where to go, what to paste into which field,
what fits there.

The texts are the approved ones. A field that is too long is marked, never cut. Pure.
"""

from __future__ import annotations

import re
from typing import Final

from assent.gate.records import Effect
from assent.kernel.structs import Record, WireRecord
from assent.suite.content import channels


class ManualField(Record):
    """A field of a channel's form: the part of the effect that belongs there, and its limit."""

    name: str
    source: str
    limit: int | None = None


class ManualChannel(Record):
    """The page where a channel is published by hand, and its fields."""

    label: str
    where: str
    fields: tuple[ManualField, ...]
    advice: tuple[str, ...] = ()


def _post(channel: str, where: str, *advice: str) -> ManualChannel:
    row = channels.BY_ID[channel]
    fields = (ManualField("text", "body", row.body.most), ManualField("link", "link"))
    return ManualChannel(row.label, where, fields, advice)


CHANNELS: Final[dict[str, ManualChannel]] = {
    "linkedin": _post("linkedin", "https://www.linkedin.com/feed/"),
    "x": _post("x", "https://x.com/compose/post", "X counts every link as 23 characters."),
    "threads": _post("threads", "https://www.threads.com/"),
    "instagram": _post("instagram", "https://www.instagram.com/", "A picture or video is required."),
    "facebook": _post("facebook", "https://www.facebook.com/"),
    "bluesky": _post("bluesky", "https://bsky.app/"),
    "slack": _post("slack", "your Slack workspace"),
    "tiktok": _post("tiktok", "https://www.tiktok.com/upload", "A video is required."),
    "hn": ManualChannel(
        "Hacker News",
        "https://news.ycombinator.com/submit",
        (ManualField("title", "title", 80), ManualField("url", "link"), ManualField("text", "body")),
        ("Submit from your own account, and do not ask anyone for votes.",),
    ),
    "reddit": ManualChannel(
        "Reddit",
        "https://www.reddit.com/submit",
        (
            ManualField("title", "title", 300),
            ManualField("link", "link"),
            ManualField("body", "body", 40_000),
        ),
        ("Read the community's rules on self-promotion first.",),
    ),
    "product_hunt": ManualChannel(
        "Product Hunt",
        "https://www.producthunt.com/posts/new",
        (
            ManualField("name", "title", 40),
            ManualField("tagline", "details.tagline", 60),
            ManualField("link", "link"),
            ManualField("description", "details.description", 500),
            ManualField("first comment", "body"),
        ),
    ),
    "email": ManualChannel(
        "E-mail",
        "your mail program",
        (
            ManualField("to", "recipients"),
            ManualField("subject", "subject"),
            ManualField("preview text", "preheader"),
            ManualField("text", "body"),
        ),
        ("Put several recipients into Bcc, so that they do not see each other.",),
    ),
}


class PasteField(WireRecord):
    """A text to paste. `fits` is false if the channel would cut or refuse it."""

    field: str
    text: str
    length: int
    limit: int | None
    fits: bool


class ManualBrief(WireRecord):
    """Everything a person needs to publish an effect by hand. `text` is the whole brief."""

    channel: str
    label: str
    where: str
    fields: tuple[PasteField, ...]
    media: tuple[str, ...]
    advice: tuple[str, ...]
    warnings: tuple[str, ...]
    text: str


def manual_brief(effect: Effect) -> ManualBrief:
    """Return the brief of an effect; channels without a table row get the general one."""
    channel = CHANNELS.get(effect.channel) or _general(effect.channel)
    fields = tuple(
        _to_paste(effect.channel, field, text)
        for field in channel.fields
        if (text := _source(effect, field.source))
    )
    warnings = tuple(
        f"The {field.field} has {field.length} characters; {channel.label} takes {field.limit}."
        for field in fields
        if not field.fits
    )
    where = _where(effect, channel)
    media = tuple(
        f"{media.kind}: {media.url}" + (f" ({media.alt})" if media.alt else "") for media in effect.media
    )
    return ManualBrief(
        channel=effect.channel,
        label=channel.label,
        where=where,
        fields=fields,
        media=media,
        advice=channel.advice,
        warnings=warnings,
        text=_write(channel, where, fields, media, (*channel.advice, *warnings)),
    )


def _to_paste(channel: str, field: ManualField, text: str) -> PasteField:
    size = length(channel, text)
    return PasteField(field.name, text, size, field.limit, field.limit is None or size <= field.limit)


def length(channel: str, text: str) -> int:
    return len(re.sub(r"https?://\S+", "x" * 23, text)) if channel == "x" else len(text)


def _general(channel: str) -> ManualChannel:
    label = channel.replace("_", " ").capitalize()
    fields = (
        ManualField("title", "title"),
        ManualField("subject", "subject"),
        ManualField("text", "body"),
        ManualField("link", "link"),
    )
    return ManualChannel(label, f"{label}, signed in to your own account", fields)


def _source(effect: Effect, source: str) -> str:
    if source == "recipients":
        return ", ".join(effect.recipients)
    if source.startswith("details."):
        return str(effect.details.get(source.removeprefix("details."), ""))
    return str(getattr(effect, source))


def _where(effect: Effect, channel: ManualChannel) -> str:
    community = (effect.target or {}).get("subreddit", "").removeprefix("r/")
    if effect.channel == "reddit" and re.fullmatch(r"\w{2,40}", community, re.ASCII):
        return f"https://www.reddit.com/r/{community}/submit"
    return channel.where


def _write(
    channel: ManualChannel,
    where: str,
    fields: tuple[PasteField, ...],
    media: tuple[str, ...],
    notes: tuple[str, ...],
) -> str:
    mail = channel is CHANNELS["email"]
    what = "Send this e-mail by hand." if mail else f"Publish this on {channel.label} by hand."
    parts = [what, f"1. Open {where}", "2. Paste each text into its field:"]
    parts += [f"--- {field.field} ---\n{field.text}\n--- end of {field.field} ---" for field in fields]
    parts += [f"Attach {each}" for each in media]
    parts += [f"Note: {note}" for note in notes]
    parts.append(
        "3. Send it, then tell your agent that you did."
        if mail
        else "3. Publish it, copy the address of the live page and tell your agent to record it."
    )
    return "\n\n".join(parts)
