"""`chieflab_create_social_graphics`: makes pictures, also for a launch. Publishes nothing.

A separate process draws the pictures; they are stored with their run. A headline that is too long
is refused with the length that fits. Nothing is cut, and a call makes all its pictures or none.
"""

from __future__ import annotations

import logging
from typing import Final

import msgspec

from assent.platform import Problem, has_room, printable
from assent.sdk import (
    WRITES,
    Call,
    Draft,
    Picture,
    PictureView,
    Preparation,
    PreparedRun,
    Reason,
    Refusal,
    SuggestedCall,
    Tool,
    bad_argument,
    prepare_run,
)
from assent_launch import operators
from assent_launch.channels.registry import PUBLISHES_PICTURES, SIZES, find_channel, label_of
from assent_launch.content.evidence import find_name, gather
from assent_launch.drafting import MAX_PICTURE_BYTES
from assent_launch.knowledge import load_lessons
from assent_launch.learning import memory
from assent_launch.pictures import palette
from assent_launch.pictures.graphics import (
    LAYOUTS,
    MadePicture,
    Order,
    OverflowingChannel,
    PictureJob,
    PictureResult,
    PicturesFailed,
    alt_text,
)
from assent_launch.process import find_suite
from assent_launch.tools.requests import Brand, CreateSocialGraphics, make_request

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
    picture = Picture.of(made.content, PNG, made.width, made.height, alt)
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


log = logging.getLogger("assent.pictures")

NAME = "chieflab_create_social_graphics"
DEFAULT_CHANNELS: Final = ("linkedin", "x", "instagram")
"""Wide, wider and square: enough to judge a headline."""


class GraphicsReply(PreparedRun, kw_only=True):
    images: tuple[PictureView, ...]


async def create_social_graphics(call: Call, request: CreateSocialGraphics) -> GraphicsReply:
    brand = Brand(name=request.brand) if isinstance(request.brand, str) else request.brand or Brand()
    channels = require_picture_channels(request.channels or list(DEFAULT_CHANNELS))
    name = brand.name or await _recall_name(call, request.tenant_id)
    work = order_pictures(request.headline, name, brand.colors or [], channels)
    if not any(char.isalnum() for char in work.order.headline):
        raise bad_argument("headline", "words that can be read on a picture", repr(request.headline[:40]))
    draw = find_suite(call.services).drafting.make_pictures
    if draw is None:
        raise Refusal(Reason.PICTURES_FAILED)
    try:
        result = await draw(work)
    except PicturesFailed as failed:
        log.error("pictures were not made: %s", failed)
        raise Refusal(Reason.PICTURES_FAILED, retry_after_seconds=30) from failed
    if (refusal := make_refusal(result)) is not None:
        raise refusal
    preparation = Preparation(
        drafts=make_drafts(result),
        outputs={"channels": list(channels), "warnings": list(describe_left_out(result))},
        next_calls=NEXT,
        user_message=_message(result),
    )
    return await prepare_run(
        call.services,
        make_request(call, request, operators.LAUNCH.id, NAME),
        preparation,
        GraphicsReply,
        lambda assets, staged: {"images": PictureView.list_in(assets)},
    )


def _message(result: PictureResult) -> str:
    labels = dict.fromkeys(label_of(each.channel) for each in result.made)
    count = f"{len(result.made)} pictures" if len(result.made) != 1 else "1 picture"
    return (
        f"I made {count} for {', '.join(labels)}. Nothing was published. Tell me which one goes with a post, or save "
        "it from its link."
    )


async def illustrate(
    call: Call, preparation: Preparation, headlines: tuple[str, ...], name: str, colors: list[str]
) -> Preparation:
    """Add pictures to the posts of a launch. A post without one says why."""
    wanted = tuple(
        dict.fromkeys(
            each.effect.channel for each in preparation.effects if each.effect.channel in PUBLISHES_PICTURES
        )
    )
    why: dict[str, str] = {}
    for headline in dict.fromkeys(filter(None, map(one_line, headlines))):
        if not wanted:
            break
        result, why = await _draw_fitting(call, order_pictures(headline, name, colors, wanted))
        preparation = with_pictures(preparation, result)
        wanted = tuple(why)
    if wanted and not why:
        why = dict.fromkeys(wanted, "there is no headline for it.")
    return without_picture(preparation, why)


async def add_one_picture(
    call: Call, preparation: Preparation, headlines: tuple[str, ...], name: str, colors: list[str]
) -> Preparation:
    """Add one picture beside the posts, as S3 has it, if it can be drawn and stored."""
    workspace_id = call.caller.workspace_id
    if not await call.services.store.read(lambda: has_room(workspace_id, MAX_PICTURE_BYTES)):
        return preparation
    candidates = dict.fromkeys(filter(None, map(one_line, headlines)))
    for headline in list(candidates)[:MOST_HEADLINES]:
        work = order_pictures(headline, name, colors, (LOOSE_SIZE,))
        result, _ = await _draw_fitting(call, msgspec.structs.replace(work, layouts=work.layouts[:1]))
        if result.made:
            return add_beside(preparation, result)
    return preparation


async def _draw_fitting(call: Call, work: PictureJob) -> tuple[PictureResult, dict[str, str]]:
    """Return the pictures of the channels where the headline fits, and why the others have none."""
    draw = find_suite(call.services).drafting.make_pictures
    if draw is None:
        return PictureResult(), dict.fromkeys(work.channels, "this server draws none.")
    try:
        result = await draw(work)
        if any(each.is_name for each in result.too_long):
            work = msgspec.structs.replace(work, order=msgspec.structs.replace(work.order, name=""))
            result = await draw(work)
        if result.no_glyph:
            missing = " ".join(result.no_glyph[:20])
            return PictureResult(), dict.fromkeys(work.channels, f"no font here draws {missing}.")
        short = {each.channel: f"its headline needs {room_for(each)}." for each in result.too_long}
        if short and len(short) < len(work.channels):
            rest = tuple(channel for channel in work.channels if channel not in short)
            result = await draw(msgspec.structs.replace(work, channels=rest))
    except PicturesFailed as failed:
        log.error("pictures were not made: %s", failed)
        return PictureResult(), dict.fromkeys(work.channels, "it could not be drawn. Ask for it again later.")
    return result, short


async def _recall_name(call: Call, tenant: str | None) -> str:
    tenant_id = memory.tenant_of(tenant)
    entries, _, _ = await call.services.store.read(lambda: load_lessons(call.caller.workspace_id, tenant_id))
    return find_name(gather(entries=entries))


NEXT = (
    SuggestedCall(
        "chieflab_edit_action",
        {},
        "the user picks a picture for a post that is staged",
        {"actionId": "which post", "imageAssetId": "which picture"},
    ),
    SuggestedCall(
        "chieflab_launch_product",
        {"imagesNeeded": True},
        "the user wants posts to go with it",
        {"drafts": "the texts of the posts"},
    ),
)

TOOLS = (
    Tool(
        name=NAME,
        title="Make pictures",
        description="Makes on-brand pictures with a headline in the sizes of the channels, three variants each. USE "
        "WHEN the user wants a graphic, banner, card, picture or image for a post. Show the pictures' addresses in "
        "the chat; picking one for a staged post is chieflab_edit_action with imageAssetId.",
        behaviour=WRITES,
        request=CreateSocialGraphics,
        reply=GraphicsReply,
        handler=create_social_graphics,
        scope="runs:write",
        legacy_names=("chiefmo_create_social_graphics",),
    ),
)
