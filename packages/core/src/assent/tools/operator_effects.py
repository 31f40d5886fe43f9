"""The tools that prepare effects of other packages: one per effect of an operator, made from its function,
and one per channel, made from its shape (E9, E11)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Final

import msgspec

from assent.engine.actions import circumstances, pictures
from assent.engine.actions.staging import PreparedRun, Request
from assent.engine.core.offloading import call_extension
from assent.extensions.channels import TEXTS, ChannelEffect, TextLimit
from assent.extensions.effect_types import prepare_effect, prepare_message
from assent.extensions.operators import EffectFunction
from assent.extensions.options import MAX_URL_CHARS
from assent.gate.records import IMAGE, Effect, Media, PlannedTime
from assent.kernel.ids import TenantId
from assent.kernel.limits import MAX_CONTENT_CHARS, MAX_RECIPIENTS
from assent.kernel.refusals import bad_argument
from assent.kernel.structs import Record
from assent.ports import Draft, Preparation, StagedEffect
from assent.tools.arguments import (
    IdempotencyKey,
    ReasonArgument,
    TenantIdArgument,
    require_addresses,
    require_line,
)
from assent.tools.definition import WRITES, Call, Tool
from assent.use_cases import runs

NOTHING_HAPPENS: Final = "Only prepares it for approval: nothing happens by this call."

ScheduleFor = Annotated[
    str,
    msgspec.Meta(
        max_length=40,
        description="When it is done, once approved: a time with a zone, such as 2027-01-31T09:00:00+01:00.",
    ),
]


def make_tool(effect: EffectFunction) -> Tool:
    """Return the tool that prepares an effect. Its arguments are the function's parameters."""
    own: list[tuple[str, Any, Any]] = [
        ("tenantId", TenantIdArgument | None, None),
        ("idempotencyKey", IdempotencyKey | None, None),
    ]
    if effect.options.schedulable:
        own.insert(0, ("scheduleFor", ScheduleFor | None, None))
    if not _takes_reason(effect):
        own.append(("reason", ReasonArgument | None, None))
    return Tool(
        name=effect.tool,
        title=effect.options.title,
        description=f"{effect.description} {NOTHING_HAPPENS}",
        behaviour=WRITES,
        request=effect.signature.request_type(effect.tool, own),
        reply=PreparedRun,
        handler=partial(prepare, effect),
        scope="runs:write",
        owned=True,
    )


def _takes_reason(effect: EffectFunction) -> bool:
    """Whether the function has an argument of that name, which is shown among the others."""
    return any(each.name == "reason" for each in effect.signature.parameters)


async def prepare(effect: EffectFunction, call: Call, request: Any) -> PreparedRun:
    """Stage an effect with the arguments of the call. The function itself is not called."""
    given = msgspec.to_builtins(request)
    arguments = {each.name: given[each.name] for each in effect.signature.parameters}
    due = PlannedTime.read("scheduleFor", getattr(request, "scheduleFor", None)) or PlannedTime(None)
    wanted = await call_extension(
        effect.operator.id,
        f"the checks of {effect.type_id}",
        lambda: prepare_effect(effect, arguments, due.ms),
    )
    given.pop("idempotencyKey")
    reason = "" if _takes_reason(effect) else given.pop("reason") or ""
    noun, options = effect.options.title, effect.options
    return await runs.prepare(
        call.services,
        _begin_run(effect, call, request, given, reason),
        Preparation(
            drafts=(Draft(type=effect.type_id, title=noun, body=wanted.body, channel=options.channel),),
            effects=(
                StagedEffect(
                    effect=wanted,
                    executor_tool=options.executor_tool,
                    draft=0,
                    severity=options.risk,
                    schedule_ms=due.ms,
                    schedule_offset=due.offset,
                    paths={"body": "arguments", "scheduleFor": "scheduleFor"},
                ),
            ),
        ),
        PreparedRun,
    )


def _begin_run(
    declared: EffectFunction | ChannelEffect, call: Call, request: Any, given: Mapping[str, Any], reason: str
) -> Request:
    return Request(
        principal=call.caller,
        operator=declared.operator.id,
        tool=declared.tool,
        inputs={name: value for name, value in given.items() if value is not None},
        tenant_id=TenantId(request.tenantId) if request.tenantId is not None else None,
        key=request.idempotencyKey,
        reason=reason,
    )


PATHS: Final = {
    **{name: name for name in (*TEXTS, "link", "scheduleFor")},
    "recipients": "to",
    "media": "imageAssetId",
}
"""The argument for each part of a message."""


def make_message_tool(channel: ChannelEffect) -> Tool:
    """Return the tool that prepares a message. Its arguments are the parts of the shape."""
    return Tool(
        name=channel.tool,
        title=channel.noun,
        description=f"{channel.description} {NOTHING_HAPPENS}",
        behaviour=WRITES,
        request=_make_request(channel),
        reply=PreparedRun,
        handler=partial(prepare_to_send, channel),
        scope="runs:write",
        owned=True,
    )


def _make_request(channel: ChannelEffect) -> type[Any]:
    shape = channel.declared.shape
    fields: list[Any] = [("body", _text("The text", shape.body))]
    for name, limit in shape.limits():
        if name != "body":
            kind = _text(f"The {TEXTS[name].lower()}", limit)
            fields.append((name, kind) if limit.least else (name, kind | None, None))
    if shape.recipients:
        described = msgspec.Meta(
            max_length=MAX_RECIPIENTS, description=f"E-mail addresses, at most {shape.recipients}."
        )
        fields.append(("to", Annotated[list[str], described]))
    if shape.link:
        described = msgspec.Meta(max_length=MAX_URL_CHARS, description="An address beside the text.")
        fields.append(("link", Annotated[str, described] | None, None))
    if shape.picture:
        described = msgspec.Meta(max_length=100, description="The id of an image asset, to attach it.")
        fields.append(("imageAssetId", Annotated[str, described] | None, None))
    if channel.options.schedulable:
        fields.append(("scheduleFor", ScheduleFor | None, None))
    fields += [("tenantId", TenantIdArgument | None, None), ("idempotencyKey", IdempotencyKey | None, None)]
    fields.append(("reason", ReasonArgument | None, None))
    return msgspec.defstruct(
        channel.tool, fields, bases=(Record,), kw_only=True, frozen=True, forbid_unknown_fields=True
    )


def _text(name: str, limit: TextLimit) -> Any:
    described = f"{name}, {limit.explain()}."
    return Annotated[str, msgspec.Meta(max_length=MAX_CONTENT_CHARS, description=described)]


async def prepare_to_send(channel: ChannelEffect, call: Call, request: Any) -> PreparedRun:
    """Stage a message for approval. Calls no connector but for its readiness."""
    given = msgspec.to_builtins(request)
    given.pop("idempotencyKey", None)
    reason = given.pop("reason", None) or ""
    due = PlannedTime.read("scheduleFor", getattr(request, "scheduleFor", None)) or PlannedTime(None)
    asset_id, options = getattr(request, "imageAssetId", None), channel.options
    picture = await _load_picture(call, asset_id) if asset_id else None
    effect = await _build_effect(channel, call, request, picture)
    message = Draft(type=channel.type_id, title=channel.noun, body=effect.body, channel=options.channel)
    return await runs.prepare(
        call.services,
        _begin_run(channel, call, request, given, reason),
        Preparation(
            drafts=(message,) if picture is None else (message, picture),
            effects=(
                StagedEffect(
                    effect=effect,
                    executor_tool=options.executor_tool,
                    draft=0,
                    picture=None if picture is None else 1,
                    severity=options.risk,
                    schedule_ms=due.ms,
                    schedule_offset=due.offset,
                    paths=PATHS,
                ),
            ),
        ),
        PreparedRun,
    )


async def _build_effect(channel: ChannelEffect, call: Call, request: Any, picture: Draft | None) -> Effect:
    """Return the message of a call in normal form, with the first connector that is ready. Raises
    `Refusal` with the names of the arguments."""
    options = channel.options
    given = Effect(
        channel=options.channel,
        verb=options.verb,
        connector=channel.declared.via[0],
        body=request.body,
        title=require_line("title", getattr(request, "title", None) or ""),
        subject=require_line("subject", getattr(request, "subject", None) or ""),
        recipients=require_addresses("to", getattr(request, "to", [])),
        media=_describe_media(picture),
        link=_check_link(getattr(request, "link", None) or ""),
    )
    wanted = await call_extension(
        channel.operator.id,
        f"the checks of {channel.type_id}",
        lambda: prepare_message(channel, given, PATHS),
    )
    for name in channel.declared.via:
        found = msgspec.structs.replace(wanted, connector=name)
        _, readiness = await circumstances.address(call.services, call.caller.workspace_id, found)
        if readiness.ready:
            return found
    return wanted


def _describe_media(picture: Draft | None) -> tuple[Media, ...]:
    """Return the attached picture for the checks. Staging sets its address."""
    if picture is None or picture.picture is None:
        return ()
    return (Media(IMAGE, "", picture.body, picture.picture.digest),)


def _check_link(link: str) -> str:
    if link and not (link.startswith(("https://", "http://")) and link.isprintable() and " " not in link):
        raise bad_argument("link", "an address that begins with https://", repr(link[:80]))
    return link


async def _load_picture(call: Call, asset_id: str) -> Draft:
    """Return the picture of an asset as a draft of this run."""
    workspace_id = call.caller.workspace_id
    asset, picture = await call.services.store.read(lambda: pictures.load_asset(workspace_id, asset_id))
    return Draft(
        type=IMAGE,
        title=asset.title,
        body=asset.body,
        metadata={"source": asset.asset_id},
        picture=picture,
    )
