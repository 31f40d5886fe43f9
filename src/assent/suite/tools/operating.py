"""The primary tools of the operators that write: launch, post, send (E9, E11, E59, E95, E101).

They have no outside effect: they may read a product page, write text and stage actions.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from assent.platform.connections import Measurable
from assent.platform.effects import Action, ActionRef, AssetView, SuggestedCall, action_ref, quote
from assent.platform.jobs import long_runs, mask_url, run_apart, run_long_apart
from assent.platform.staging import Preparation, PreparedRun, StagedEffect, run_pictures, staging
from assent.platform.tools import WRITES, Call, Tool, addresses, await_within_limit, line
from assent.platform.values import HOUR_MS, WireRecord, bad_argument
from assent.suite.channels.channel import Channel
from assent.suite.channels.registry import SIZES, label_of
from assent.suite.content import evidence as gathering
from assent.suite.content.naming import find_name
from assent.suite.operators import launch, post
from assent.suite.operators.definition import Workbench
from assent.suite.operators.drafts import SuppliedText, require_channel
from assent.suite.operators.launch import ChannelNote, LaunchPlan
from assent.suite.operators.registry import EMAIL
from assent.suite.process import find_suite
from assent.suite.tools.gathering import count_chars, find_joined, gather_bench
from assent.suite.tools.graphics import add_one_picture, illustrate
from assent.suite.tools.operator_requests import (
    DraftGiven,
    LaunchProduct,
    MailOptions,
    Post,
    Send,
    make_request,
)
from assent.suite.tools.unwritten import (
    may_write,
    offer_writing,
    refuse_too_little,
    refuse_unwritable,
    request_text,
    tell_missing,
    write_launch,
    write_missing,
)

SCOPE = "runs:write"


class ChannelAsset(WireRecord):
    channel: str
    asset_id: str


class MeasurementPlan(WireRecord, kw_only=True):
    """How a launch is measured (S0 §9): when, and which channels the person reports."""

    after_hours: float
    read: tuple[str, ...]
    told_by_hand: tuple[str, ...]


class LaunchPack(WireRecord, kw_only=True):
    positioning: str
    launch_angle: str
    channels: tuple[ChannelAsset, ...]
    drafts_needed: tuple[ChannelNote, ...]
    measurement: MeasurementPlan | None = None


class LaunchReply(PreparedRun, kw_only=True):
    launch_pack: LaunchPack
    publish_actions: tuple[ActionRef, ...]
    images: tuple[AssetView, ...]


class PostReply(PreparedRun, kw_only=True):
    publish_action: ActionRef | None


class SendReply(PreparedRun, kw_only=True):
    send_action: ActionRef | None


async def launch_product(call: Call, request: LaunchProduct) -> LaunchReply:
    refuse_webhook(call, request.webhook_url)
    asked = make_request(call, request, launch.INFO.id, "chieflab_launch_product")
    made = await await_within_limit(call, request.webhook_url, _launch(call, request))
    if made is None:
        nothing_yet = {
            "launch_pack": LaunchPack(positioning="", launch_angle="", channels=(), drafts_needed=())
        }
        return await long_runs.begin(
            call.services, asked, LaunchReply, {**nothing_yet, "publish_actions": (), "images": ()}
        )
    plan, preparation = made

    def more(assets: tuple[Any, ...], staged: tuple[Any, ...]) -> dict[str, Any]:
        return {
            "launch_pack": LaunchPack(
                positioning=plan.positioning,
                launch_angle=plan.angle,
                channels=tuple(
                    ChannelAsset(each.channel.id, asset.asset_id)
                    for each, asset in zip(plan.written, assets, strict=False)
                ),
                drafts_needed=plan.missing,
                measurement=_plan_measurement(call, staged),
            ),
            "publish_actions": tuple(action_ref(action) for action in staged),
            "images": run_pictures.list_images(call.services, assets),
        }

    return await staging.stage(
        call.services,
        asked,
        preparation,
        LaunchReply,
        more,
    )


async def _launch(call: Call, request: LaunchProduct) -> tuple[LaunchPlan, Preparation]:
    """Prepare a launch. All slow work is here: pages, models, pictures."""
    mail, given = request.email or MailOptions(), request.drafts or {}
    bench = await gather_bench(
        call, request, brand=request.brand, sender=mail.sender, recipients=addresses("email.to", mail.to)
    )
    subject = line("email.subject", mail.subject or "")
    drafts = {require_channel(name, f"drafts.{name}").id: _draft(name, text) for name, text in given.items()}
    if subject and "email" in drafts and not drafts["email"].subject:
        drafts["email"] = msgspec.structs.replace(drafts["email"], subject=subject)
    named = request.channels or (() if drafts else launch.DEFAULT_CHANNELS)
    wanted = tuple(require_channel(name, f"channels.{place}").id for place, name in enumerate(named))
    writes = may_write(bench, request.goal)
    if not writes and not drafts:
        raise write_launch(bench, wanted, request)
    if not gathering.is_enough(bench.evidence) and not drafts:
        raise refuse_too_little(bench, "drafts")
    if writes:
        bench = await _write(call, bench, [name for name in wanted if name not in drafts], request.goal)
    plan = await run_apart(launch.prepare, bench, wanted, drafts, request.goal or "")
    if not plan.written:
        raise refuse_too_little(bench, "drafts")
    following = tuple(write_missing(note) for note in plan.missing)
    preparation = _add_next_calls(bench, plan.preparation, (*following, *NEXT_LAUNCH))
    notes = (*tell_missing(plan), *_tell_measurement(_plan_measurement(call, preparation.effects)))
    preparation = msgspec.structs.replace(preparation, notes=notes)
    missing = tuple(note.channel for note in plan.missing)
    preparation = offer_writing(bench, preparation, request.goal, missing)
    if subject and "email" not in drafts:
        preparation = _with_subject(preparation, subject)
    unasked = request.images_needed is None and not writes
    if request.images_needed is False or unasked or not any(each in SIZES for each in plan.channels):
        return plan, preparation
    colors = (request.brand.colors if request.brand is not None else None) or []
    draw = illustrate if request.images_needed else add_one_picture
    name = find_name(bench.evidence)
    return plan, await draw(call, preparation, launch.headlines(plan), name, colors)


def _draft(name: str, given: str | DraftGiven) -> SuppliedText:
    if isinstance(given, str):
        path = f"drafts.{name}"
        return SuppliedText(body=given, paths={"body": path, "title": path, "subject": "email.subject"})
    at = {field: f"drafts.{name}.{field}" for field in ("body", "title", "subject")}
    return SuppliedText(body=given.body, title=given.title or "", subject=given.subject or "", paths=at)


def _plan_measurement(call: Call, staged: tuple[Action, ...] | tuple[StagedEffect, ...]) -> MeasurementPlan:
    connectors = call.services.connectors
    by_channel = {action.effect.channel: connectors.get(action.effect.connector) for action in staged}
    read = tuple(name for name, connector in by_channel.items() if isinstance(connector, Measurable))
    return MeasurementPlan(
        after_hours=round(call.services.limits.measure_after_ms / HOUR_MS, 2),
        read=read,
        told_by_hand=tuple(name for name in by_channel if name not in read),
    )


def _tell_measurement(plan: MeasurementPlan) -> tuple[str, ...]:
    """Describe the measurement plan in a sentence; empty if nothing will be sent."""
    read, told = (", ".join(map(label_of, names)) for names in (plan.read, plan.told_by_hand))
    how = [
        *([f"the server reads {read}"] if read else []),
        *([f"you tell me the numbers of {told}"] if told else []),
    ]
    return (f"Measured {plan.after_hours:g} hours after it went out: {'; '.join(how)}.",) if how else ()


async def prepare_post(call: Call, request: Post) -> PostReply:
    channel = require_channel(request.channel)
    joined = await find_joined(call, request.run_id)
    bench = await gather_bench(call, request, brand=request.brand, joined=joined, channels=(channel,))
    supplied = (
        SuppliedText(body=request.body, title=request.title or "") if request.body is not None else None
    )
    made = await _prepare_one(call, request, bench, channel, supplied, "chieflab_post")
    if not channel.action:
        said = NOT_OURS_TO_CHANGE.format(label=channel.label)
        text = "\n\n".join(quote(draft.body) for draft in made.drafts)
        made = msgspec.structs.replace(made, user_message=said, show=f"{said}\n\n{text}")
    asked = make_request(call, request, post.INFO.id, "chieflab_post")
    if joined is not None:
        asked = msgspec.structs.replace(
            asked, parent_run_id=joined.run_id, tenant_id=asked.tenant_id or joined.tenant_id
        )
    return await staging.stage(
        call.services,
        asked,
        offer_writing(bench, _add_next_calls(bench, made, ()), request.goal),
        PostReply,
        lambda assets, staged: {"publish_action": action_ref(staged[0]) if staged else None},
    )


NOT_OURS_TO_CHANGE = (
    "{label}: here is the text. Nothing was published, changed or staged: this server does not reach that page. Put "
    "the text there yourself."
)


async def prepare_send(call: Call, request: Send) -> SendReply:
    given = [request.to] if isinstance(request.to, str) else request.to
    if not given:
        raise bad_argument("to", "at least one e-mail address", "none")
    channel = require_channel("email")
    bench = await gather_bench(
        call, request, sender=request.sender, recipients=addresses("to", given), channels=(channel,)
    )
    supplied = (
        SuppliedText(body=request.body, subject=request.subject or "") if request.body is not None else None
    )
    made = await _prepare_one(call, request, bench, channel, supplied, "chieflab_send")
    if supplied is None and request.subject:
        made = _with_subject(made, line("subject", request.subject))
    return await staging.stage(
        call.services,
        make_request(call, request, EMAIL.id, "chieflab_send"),
        offer_writing(bench, _add_next_calls(bench, made, NEXT_SEND), request.goal),
        SendReply,
        lambda assets, staged: {"send_action": action_ref(staged[0]) if staged else None},
    )


async def _prepare_one(
    call: Call,
    request: Post | Send,
    bench: Workbench,
    channel: Channel,
    supplied: SuppliedText | None,
    tool: str,
) -> Preparation:
    """Prepare one text for one channel. Refuses if it is not supplied and nothing can write it."""
    if supplied is None:
        refuse_unwritable(bench, channel, tool, request)
        bench = await _write(call, bench, [channel.id], request.goal)
    chars = count_chars(request, bench)
    made = await run_long_apart(chars, post.prepare, bench, channel, supplied)
    if made is None:
        raise request_text(bench, channel, tool, request)
    return made


async def _write(call: Call, bench: Workbench, names: list[str], goal: str | None) -> Workbench:
    """Have the missing texts of these channels written."""
    write = find_suite(call.services).drafting.write
    known = [require_channel(name) for name in names]
    made = await asyncio.gather(*(write(bench.facts, each, goal or "") for each in known))
    texts = {each.id: text for each, text in zip(known, made, strict=True) if text is not None}
    return msgspec.structs.replace(bench, written=texts)


def _with_subject(made: Preparation, subject: str) -> Preparation:
    effects = tuple(
        msgspec.structs.replace(each, effect=msgspec.structs.replace(each.effect, subject=subject))
        if each.effect.channel == "email"
        else each
        for each in made.effects
    )
    drafts = tuple(
        msgspec.structs.replace(each, title=subject) if each.channel == "email" else each
        for each in made.drafts
    )
    return msgspec.structs.replace(made, drafts=drafts, effects=effects)


def refuse_webhook(call: Call, url: str | None) -> None:
    """Refuse a webhook URL that can never receive a delivery."""
    why = call.services.outgoing.screen_webhook(url) if url is not None else None
    if url is not None and why is not None:
        raise bad_argument(
            "webhookUrl", f"a public https address to post to. {why}", repr(mask_url(url)[:80])
        )


def _add_next_calls(
    bench: Workbench, preparation: Preparation, following: tuple[SuggestedCall, ...]
) -> Preparation:
    outputs = preparation.outputs
    if bench.fetched is not None:
        outputs = {**outputs, staging.FETCHED: bench.fetched}
    return msgspec.structs.replace(preparation, outputs=outputs, next_calls=following)


NEXT_LAUNCH = (
    SuggestedCall(
        "chieflab_create_social_graphics",
        {},
        "the user wants pictures",
        {"headline": "the words on the picture"},
    ),
)
NEXT_SEND = (
    SuggestedCall(
        "chieflab_save_contacts",
        {},
        "the user wants to keep a contact",
        {"contacts": "a list of objects with email, and firstName and lastName where known"},
    ),
)

TOOLS = (
    Tool(
        name="chieflab_launch_product",
        title="Launch a product",
        description="Prepares a whole launch: positioning, a draft per channel, landing copy, e-mail, a picture and "
        "how it is measured, each text staged for approval; nothing goes out. USE WHEN the user has built, shipped or "
        "deployed something and wants to launch it, announce a new version, get users, or asks what to do now. Write "
        "the texts yourself, in drafts; the server checks and stages them. For a channel without one it writes a "
        "plain note from repoContext (whatChanged, readme, …) or productUrl. Then show every draft in the chat and "
        "stop.",
        category="primary",
        behaviour=WRITES,
        request=LaunchProduct,
        reply=LaunchReply,
        handler=launch_product,
        scope=SCOPE,
        legacy_names=("chiefmo_launch_product",),
    ),
    Tool(
        name="chieflab_post",
        title="Prepare a post",
        description="Prepares one post on one channel (LinkedIn, X or Twitter, Bluesky, Slack, a site, …) and stages "
        "it for approval; nothing goes out. USE WHEN the user wants to share something in a single post or tweet. "
        "Write it yourself, in body; without one the server writes a plain note about the product from repoContext "
        "or productUrl.",
        category="primary",
        behaviour=WRITES,
        request=Post,
        reply=PostReply,
        handler=prepare_post,
        scope=SCOPE,
    ),
    Tool(
        name="chieflab_send",
        title="Prepare an e-mail",
        description="Prepares one e-mail and stages it for approval; nothing is sent by this call. USE WHEN the user "
        "wants to e-mail or write to one person or many: customers, investors, a newsletter. Write it yourself, in "
        "body, with its subject.",
        category="primary",
        behaviour=WRITES,
        request=Send,
        reply=SendReply,
        handler=prepare_send,
        scope=SCOPE,
    ),
)
