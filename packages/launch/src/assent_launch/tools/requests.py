"""The arguments of the operators' tools: launch, post and e-mail."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from assent.platform import Mailbox as MailAddress
from assent.sdk import (
    MAX_CONTENT_CHARS,
    MAX_RECIPIENTS,
    MAX_VISIBLE,
    Arguments,
    Call,
    IdempotencyKey,
    ReasonArgument,
    Request,
    TenantId,
    TenantIdArgument,
)
from assent_launch.channels.registry import BY_ID, SIZES

Words = Annotated[str, msgspec.Meta(max_length=20_000)]
Lines = Annotated[list[Annotated[str, msgspec.Meta(max_length=2_000)]], msgspec.Meta(max_length=200)]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_CONTENT_CHARS)]
OwnText = Annotated[
    str,
    msgspec.Meta(min_length=1, max_length=MAX_CONTENT_CHARS, description="Your text, kept word for word."),
]
Url = Annotated[str, msgspec.Meta(max_length=2_000)]
Goal = Annotated[str, msgspec.Meta(max_length=2_000)]
ScheduleFor = Annotated[
    str,
    msgspec.Meta(max_length=40, description="When approved actions go out, once: ISO 8601 with a time zone."),
]
WebhookUrl = Annotated[
    str,
    msgspec.Meta(
        max_length=2_000,
        description="A public https address that gets the result, too, signed.",
    ),
]


ChannelId = Annotated[str, msgspec.Meta(max_length=40)]
ChannelIds = Annotated[
    list[ChannelId],
    msgspec.Meta(
        min_length=1,
        max_length=20,
        description=f"Channel ids: {', '.join(BY_ID)}.",
    ),
]
PictureChannelIds = Annotated[
    list[ChannelId],
    msgspec.Meta(
        min_length=1,
        max_length=8,
        description=f"Channel ids whose sizes are made: {', '.join(SIZES)}.",
    ),
]
Title = Annotated[str, msgspec.Meta(max_length=300)]
Mailbox = Annotated[str, msgspec.Meta(max_length=320)]
Readme = Annotated[str, msgspec.Meta(max_length=200_000)]
Colors = Annotated[
    list[Annotated[str, msgspec.Meta(max_length=20)]],
    msgspec.Meta(max_length=8, description="As #rrggbb, the main one first."),
]
JoinedRun = Annotated[
    str,
    msgspec.Meta(
        max_length=100, description="An earlier run that this post's own run follows, with its evidence."
    ),
]
ImagesNeeded = Annotated[
    bool,
    msgspec.Meta(
        description="true: a picture in each post; false: none; else one for the launch, in no post."
    ),
]


class RepoContext(Arguments, kw_only=True):
    what_changed: Words | Lines | None = None
    recent_commits: Words | Lines | None = None
    changed_files: Words | Lines | None = None
    routes: Words | Lines | None = None
    readme: Readme | None = None
    readme_upper: Readme | None = msgspec.field(default=None, name="README")
    target_customer: Words | None = None
    launch_goal: Words | None = None

    def given(self) -> dict[str, Any]:
        plain: dict[str, Any] = {name: value for name, value in msgspec.to_builtins(self).items() if value}
        upper = plain.pop("README", None)
        return {"readme": upper, **plain} if upper is not None else plain


class Brand(Arguments, kw_only=True):
    name: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    audience: Words | None = None
    voice: Words | None = None
    pillars: Words | Lines | None = None
    colors: Colors | None = None


class Envelope(Arguments, kw_only=True):
    """Whom an e-mail goes to, and from whom."""

    to: Mailbox | Annotated[list[str], msgspec.Meta(max_length=MAX_RECIPIENTS)] = []
    cc: Annotated[list[str], msgspec.Meta(max_length=MAX_VISIBLE)] = []
    reply_to: Mailbox | None = None
    visible: Annotated[
        bool, msgspec.Meta(description=f"true: they see each other (at most {MAX_VISIBLE}); cc implies it.")
    ] = False
    sender: Mailbox | None = msgspec.field(default=None, name="from")
    subject: Title | None = None


class DraftGiven(Arguments, kw_only=True):
    body: Text
    title: Title | None = None
    subject: Title | None = None


Drafts = Annotated[
    dict[str, Text | DraftGiven],
    msgspec.Meta(
        max_length=20,
        description="Your own text by channel id, such as linkedin or bluesky; kept as it is.",
    ),
]


class LaunchProduct(Arguments, kw_only=True):
    product_url: Url | None = None
    goal: Goal | None = None
    channels: ChannelIds | None = None
    tenant_id: TenantIdArgument | None = None
    brand: Brand | None = None
    repo_context: RepoContext | None = None
    email: Envelope | None = None
    drafts: Drafts | None = None
    images_needed: ImagesNeeded | None = None
    schedule_for: ScheduleFor | None = None
    webhook_url: WebhookUrl | None = None
    reason: ReasonArgument | None = None
    idempotency_key: IdempotencyKey | None = None


class Post(Arguments, kw_only=True):
    channel: Annotated[str, msgspec.Meta(max_length=40, description="One channel id.")]
    run_id: JoinedRun | None = None
    body: OwnText | None = None
    title: Title | None = None
    goal: Goal | None = None
    product_url: Url | None = None
    repo_context: RepoContext | None = None
    brand: Brand | None = None
    tenant_id: TenantIdArgument | None = None
    schedule_for: ScheduleFor | None = None
    reason: ReasonArgument | None = None
    idempotency_key: IdempotencyKey | None = None


class CreateSocialGraphics(Arguments, kw_only=True):
    headline: Annotated[
        str,
        msgspec.Meta(min_length=1, max_length=500, description="The words on the picture, in any language."),
    ]
    brand: Annotated[str, msgspec.Meta(max_length=200, description="The brand's name.")] | Brand | None = None
    channels: PictureChannelIds | None = None
    tenant_id: TenantIdArgument | None = None
    idempotency_key: IdempotencyKey | None = None


class Send(Envelope, kw_only=True):
    to: Mailbox | Annotated[list[str], msgspec.Meta(max_length=MAX_RECIPIENTS)]
    body: OwnText | None = None
    goal: Goal | None = None
    product_url: Url | None = None
    repo_context: RepoContext | None = None
    schedule_for: ScheduleFor | None = None
    tenant_id: TenantIdArgument | None = None
    reason: ReasonArgument | None = None
    idempotency_key: IdempotencyKey | None = None


def is_mailbox(text: str) -> bool:
    """Whether a text is an e-mail address, or a name and an address."""
    try:
        return bool(MailAddress.parse(text))
    except ValueError:
        return False


def make_request(call: Call, request: Any, operator: str, tool: str) -> Request:
    inputs = msgspec.to_builtins(request)
    key = inputs.pop("idempotencyKey", None)
    return Request(
        principal=call.caller,
        operator=operator,
        tool=tool,
        inputs={name: value for name, value in inputs.items() if value is not None},
        tenant_id=TenantId(request.tenant_id) if request.tenant_id is not None else None,
        key=key,
        reason=inputs.get("reason") or "",
        webhook_url=inputs.get("webhookUrl"),
        run_id=call.continuing,
    )
