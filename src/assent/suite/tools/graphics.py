"""`chieflab_create_social_graphics`: makes pictures, also for a launch. Publishes nothing.

A separate process draws the pictures; they are stored with their run. A headline that is too long
is refused with the length that fits. Nothing is cut, and a call makes all its pictures or none.
"""

from __future__ import annotations

import logging
from typing import Final

import msgspec

from assent.platform.assets import pictures
from assent.platform.effects import AssetView, SuggestedCall
from assent.platform.memory import memory as brain
from assent.platform.staging import Preparation, PreparedRun, staging
from assent.platform.tools import WRITES, Call, Tool
from assent.platform.values import MAX_PICTURE_BYTES, Reason, Refusal, bad_argument
from assent.suite.channels.registry import PUBLISHES_PICTURES, label_of
from assent.suite.content import evidence as gathering
from assent.suite.content.naming import find_name
from assent.suite.learning import lessons as lessons_read
from assent.suite.operators import graphics, launch
from assent.suite.pictures.orders import PictureJob, PictureResult, PicturesFailed
from assent.suite.process import find_suite
from assent.suite.tools.operator_requests import Brand, CreateSocialGraphics, make_request

log = logging.getLogger("assent.pictures")

NAME = "chieflab_create_social_graphics"
DEFAULT_CHANNELS: Final = ("linkedin", "x", "instagram")
"""Wide, wider and square: enough to judge a headline."""


class GraphicsReply(PreparedRun, kw_only=True):
    images: tuple[AssetView, ...]


async def create_social_graphics(call: Call, request: CreateSocialGraphics) -> GraphicsReply:
    brand = Brand(name=request.brand) if isinstance(request.brand, str) else request.brand or Brand()
    channels = graphics.require_picture_channels(request.channels or list(DEFAULT_CHANNELS))
    name = brand.name or await _recall_name(call, request.tenant_id)
    work = graphics.order_pictures(request.headline, name, brand.colors or [], channels)
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
    if (refusal := graphics.make_refusal(result)) is not None:
        raise refusal
    preparation = Preparation(
        drafts=graphics.make_drafts(result),
        outputs={"channels": list(channels), "warnings": list(graphics.describe_left_out(result))},
        next_calls=NEXT,
        user_message=_message(result),
    )
    return await staging.stage(
        call.services,
        make_request(call, request, launch.INFO.id, NAME),
        preparation,
        GraphicsReply,
        lambda assets, staged: {"images": staging.list_images(call.services, assets)},
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
    for headline in dict.fromkeys(filter(None, map(graphics.one_line, headlines))):
        if not wanted:
            break
        result, why = await _draw_fitting(call, graphics.order_pictures(headline, name, colors, wanted))
        preparation = graphics.with_pictures(preparation, result)
        wanted = tuple(why)
    if wanted and not why:
        why = dict.fromkeys(wanted, "there is no headline for it.")
    return graphics.without_picture(preparation, why)


async def add_one_picture(
    call: Call, preparation: Preparation, headlines: tuple[str, ...], name: str, colors: list[str]
) -> Preparation:
    """Add one picture beside the posts, as S3 has it, if it can be drawn and stored."""
    workspace_id = call.caller.workspace_id
    if not await call.services.store.read(lambda: pictures.has_room(workspace_id, MAX_PICTURE_BYTES)):
        return preparation
    candidates = dict.fromkeys(filter(None, map(graphics.one_line, headlines)))
    for headline in list(candidates)[: graphics.MOST_HEADLINES]:
        work = graphics.order_pictures(headline, name, colors, (graphics.LOOSE_SIZE,))
        result, _ = await _draw_fitting(call, msgspec.structs.replace(work, layouts=work.layouts[:1]))
        if result.made:
            return graphics.add_beside(preparation, result)
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
        short = {each.channel: f"its headline needs {graphics.room_for(each)}." for each in result.too_long}
        if short and len(short) < len(work.channels):
            rest = tuple(channel for channel in work.channels if channel not in short)
            result = await draw(msgspec.structs.replace(work, channels=rest))
    except PicturesFailed as failed:
        log.error("pictures were not made: %s", failed)
        return PictureResult(), dict.fromkeys(work.channels, "it could not be drawn. Ask for it again later.")
    return result, short


async def _recall_name(call: Call, tenant: str | None) -> str:
    tenant_id = brain.tenant_of(tenant)
    entries, _, _ = await call.services.store.read(
        lambda: lessons_read.load_lessons(call.caller.workspace_id, tenant_id)
    )
    return find_name(gathering.gather(entries=entries))


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
    SuggestedCall("chieflab_list_assets", {}, "the user asks for a picture that was made before"),
)

TOOLS = (
    Tool(
        name=NAME,
        title="Make pictures",
        description="Makes on-brand pictures with a headline in the sizes of the channels, three variants each; "
        "nothing goes out. USE WHEN the user wants a graphic, banner, card or image for a post, outside a launch or "
        "for one that is staged. Show the pictures' addresses in the chat; picking one for a post is "
        "chieflab_edit_action with imageAssetId.",
        category="primary",
        behaviour=WRITES,
        request=CreateSocialGraphics,
        reply=GraphicsReply,
        handler=create_social_graphics,
        scope="runs:write",
        legacy_names=("chiefmo_create_social_graphics",),
    ),
)
