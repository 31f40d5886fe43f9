"""The arguments of the tools that decide about an action."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from assent.kernel.limits import MAX_ASKED_CHARS, MAX_CONTENT_CHARS, MAX_RECIPIENTS
from assent.kernel.structs import Arguments
from assent.tools.arguments import (
    ActionIdArgument,
    DigestArgument,
    IdempotencyKey,
)


class ApproveAction(Arguments, kw_only=True):
    action_id: ActionIdArgument
    digest: DigestArgument | None = None
    send: Annotated[
        bool,
        msgspec.Meta(description="true sends it at once, if the user said yes to that, too."),
    ] = False
    idempotency_key: IdempotencyKey | None = None


class RejectAction(Arguments, kw_only=True):
    action_id: ActionIdArgument
    reason: Annotated[
        str,
        msgspec.Meta(min_length=1, max_length=2_000, description="The user's reason, in the user's words."),
    ]
    digest: DigestArgument | None = None
    idempotency_key: IdempotencyKey | None = None


class WithdrawApproval(Arguments, kw_only=True):
    action_id: ActionIdArgument
    reason: Annotated[str, msgspec.Meta(max_length=2_000, description="Why.")] = ""
    idempotency_key: IdempotencyKey | None = None


class EditAction(Arguments, kw_only=True):
    action_id: ActionIdArgument
    body: (
        Annotated[
            str, msgspec.Meta(min_length=1, max_length=MAX_CONTENT_CHARS, description="The new text, whole.")
        ]
        | None
    ) = None
    title: Annotated[str, msgspec.Meta(max_length=300)] | None = None
    subject: Annotated[str, msgspec.Meta(max_length=300)] | None = None
    preheader: (
        Annotated[str, msgspec.Meta(max_length=300, description="The preview text that inboxes show.")] | None
    ) = None
    to: (
        Annotated[list[str], msgspec.Meta(max_length=MAX_RECIPIENTS, description="All recipients.")] | None
    ) = None
    schedule_for: (
        Annotated[
            str, msgspec.Meta(max_length=40, description="When it goes out: ISO 8601 with a time zone.")
        ]
        | None
    ) = None
    image_asset_id: (
        Annotated[
            str,
            msgspec.Meta(
                max_length=100, description="An image asset that goes along; an empty text for none."
            ),
        ]
        | None
    ) = None
    arguments: (
        Annotated[
            dict[str, Any],
            msgspec.Meta(
                description="For an action that has arguments: those that change, by their names in its content."
            ),
        ]
        | None
    ) = None
    asked: (
        Annotated[
            str,
            msgspec.Meta(
                max_length=MAX_ASKED_CHARS,
                description="What the user asked for, in their words, if it holds for later texts too.",
            ),
        ]
        | None
    ) = None
    digest: DigestArgument | None = None
    idempotency_key: IdempotencyKey | None = None
