"""Orders pictures for posts, and turns the results into drafts."""

from __future__ import annotations

from typing import Final

import msgspec

from assent.platform.connections import Picture
from assent.platform.content import printable
from assent.platform.staging import Draft, Preparation
from assent.platform.values import Problem, Reason, Refusal, bad_argument, digest_of_bytes, from_record
from assent.suite.channels.registry import SIZES, find_channel
from assent.suite.pictures import palette
from assent.suite.pictures.graphics import LAYOUTS, Order, alt_text
from assent.suite.pictures.orders import MadePicture, OverflowingChannel, PictureJob, PictureResult

PNG: Final = "image/png"
LOOSE: Final = "picture"
"""The channel of a picture that belongs to a launch and to none of its posts."""
LOOSE_SIZE: Final = "landing"
"""The size of such a picture: that of link previews, which every channel shows whole."""
MOST_HEADLINES: Final = 3
"""How many headlines are tried for such a picture."""


def order_pictures(headline: str, name: str, colors: list[str], channels: tuple[str, ...]) -> PictureJob:
    """Order pictures with one headline. Refuses invalid colours."""
    read = [(index, text, palette.parse(text)) for index, text in enumerate(colors)]
    problems = [
        Problem(f"brand.colors.{index}", "a colour such as #0b6e4f", repr(text[:20]))
        for index, text, colour in read
        if colour is None
    ]
    if problems:
        raise Refusal(Reason.VALIDATION_ERROR, problems=problems)
    good = [colour for _, _, colour in read if colour is not None]
    words, brand = one_line(headline), one_line(name)
    return PictureJob(
        order=Order(
            headline=words,
            name=brand,
            main=good[0] if good else palette.derive_colour(brand or words),
            accent=good[1] if len(good) > 1 else None,
        ),
        channels=channels,
        layouts=LAYOUTS,
    )


def one_line(text: str) -> str:
    """Return a text as one line for a picture: visible characters, single spaces."""
    return " ".join(printable(text).split())


def require_picture_channels(names: list[str]) -> tuple[str, ...]:
    """Return the ids of channels with pictures. Refuses other names."""
    problems = []
    found = []
    for index, name in enumerate(names):
        channel = find_channel(name)
        if channel is None or channel.id not in SIZES:
            problems.append(Problem(f"channels.{index}", f"one of {', '.join(SIZES)}", repr(name[:40])))
        else:
            found.append(channel.id)
    if problems:
        raise Refusal(Reason.VALIDATION_ERROR, problems=problems)
    return tuple(dict.fromkeys(found))


def make_drafts(result: PictureResult) -> tuple[Draft, ...]:
    if result.order is None:
        return ()
    alt = alt_text(result.order)
    return tuple(_draft(each, alt, describe_left_out(result)) for each in result.made)


def _draft(made: MadePicture, alt: str, warnings: tuple[str, ...]) -> Draft:
    digest = digest_of_bytes(made.content)
    picture = from_record(Picture, made, content_type=PNG, alt=alt, digest=digest)
    channel = find_channel(made.channel)
    label = channel.label if channel is not None else made.channel
    return Draft(
        type="image",
        title=f"Picture for {label}, {made.width} × {made.height}, {made.layout}",
        body=alt,
        channel=made.channel,
        metadata={"variant": made.layout, "warnings": list(warnings)},
        picture=picture,
    )


def describe_left_out(result: PictureResult) -> tuple[str, ...]:
    """Name the characters that no font draws, for the reviewer."""
    if not result.left_out:
        return ()
    return (f"The picture leaves out {' '.join(result.left_out)}: no font for pictures draws it.",)


def make_refusal(result: PictureResult) -> Refusal | None:
    if result.no_glyph:
        missing = " ".join(result.no_glyph[:20])
        return bad_argument(
            "headline",
            "characters that a font here can draw; for other scripts install their fonts on the server (such as "
            "fonts-noto-cjk) in a folder of ASSENT_FONT_DIRS",
            missing,
        )
    if result.too_long:
        return Refusal(
            Reason.VALIDATION_ERROR,
            problems=[
                Problem("brand.name" if each.is_name else "headline", room_for(each), _describe_short(each))
                for each in result.too_long
            ],
        )
    return None


def room_for(short: OverflowingChannel) -> str:
    size = SIZES[short.channel]
    where = f"the picture for {short.channel} ({size.width} × {size.height})"
    if short.word:
        return f"shorter words, or blanks where a line may end: “{short.word[:40]}” is wider than {where}"
    return f"at most about {short.most} characters, so that they can be read on {where}"


def _describe_short(short: OverflowingChannel) -> str:
    if short.is_name:
        return "a name that does not fit"
    return "a word that does not fit" if short.word else "a headline that does not fit"


def with_pictures(preparation: Preparation, result: PictureResult) -> Preparation:
    """Attach the first picture of its channel to each post; the others become variants."""
    drafts = make_drafts(result)
    first: dict[str, int] = {}
    for index, draft in enumerate(drafts):
        first.setdefault(draft.channel or "", len(preparation.drafts) + index)
    effects = tuple(
        msgspec.structs.replace(
            each,
            picture=first[each.effect.channel],
            warnings=tuple(dict.fromkeys((*each.warnings, *describe_left_out(result)))),
        )
        if each.effect.channel in first
        else each
        for each in preparation.effects
    )
    return msgspec.structs.replace(preparation, drafts=(*preparation.drafts, *drafts), effects=effects)


def add_beside(preparation: Preparation, result: PictureResult) -> Preparation:
    drafts = make_drafts(result)[:1]
    if not drafts or drafts[0].picture is None:
        return preparation
    picture = drafts[0].picture
    title = f"Picture, {picture.width} × {picture.height}"
    loose = msgspec.structs.replace(drafts[0], channel=LOOSE, title=title)
    return msgspec.structs.replace(
        preparation,
        drafts=(*preparation.drafts, loose),
    )


def without_picture(preparation: Preparation, channels: dict[str, str]) -> Preparation:
    effects = []
    for staged in preparation.effects:
        if (why := channels.get(staged.effect.channel)) is not None:
            staged = msgspec.structs.replace(
                staged, warnings=(*staged.warnings, f"There is no picture: {why}")
            )
        effects.append(staged)
    return msgspec.structs.replace(preparation, effects=tuple(effects))
