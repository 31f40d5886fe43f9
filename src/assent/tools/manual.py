"""Channels that a human serves by hand (E94, E98): a brief to copy and paste, and the address afterwards."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from assent.connectors.manual_brief import ManualBrief, manual_brief
from assent.engine import actions, by_hand
from assent.engine.decisions import Decider, once_only
from assent.engine.execution import Executed, executed
from assent.kernel.refusals import bad_argument
from assent.lifecycle.guidance import SuggestedCall, about_content
from assent.lifecycle.records import Action, Assurance
from assent.ports import Transaction
from assent.tools.arguments import ActionIdArgument, IdempotencyKey
from assent.tools.definition import DECIDES, Call, Tool


class UseManualFallback(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    action_id: ActionIdArgument
    idempotency_key: IdempotencyKey | None = None


class HandedOver(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    ok: bool
    action_id: str
    run_id: str
    status: str
    revision: int
    digest: str
    published: bool
    brief: ManualBrief
    user_message: str
    next_tool_calls: tuple[SuggestedCall, ...]
    stop_rule: str


class RecordManualPublish(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    action_id: ActionIdArgument
    url: Annotated[str, msgspec.Meta(max_length=2_000, description="The live address, as the human gave it.")]
    idempotency_key: IdempotencyKey | None = None


async def use_manual_fallback(call: Call, request: UseManualFallback) -> HandedOver:
    action_id = actions.require_action_id(request.action_id)

    def begin() -> Transaction[HandedOver]:
        def inner() -> Transaction[HandedOver]:
            action = yield from by_hand.hand_over(
                _decider(call), action_id, lambda a: _link(call, a), call.now_ms
            )
            return handed_over(action)

        return once_only(
            call.caller,
            "chieflab_use_manual_fallback",
            request.idempotency_key,
            {"actionId": action_id},
            call.now_ms,
            HandedOver,
            inner,
        )

    return await call.services.store.write(begin)


async def record_manual_publish(call: Call, request: RecordManualPublish) -> Executed:
    action_id = actions.require_action_id(request.action_id)
    parts = urlsplit(request.url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise bad_argument(
            "url", "the live address, such as https://news.ycombinator.com/item?id=1", request.url[:80]
        )
    url = request.url.strip()

    def begin() -> Transaction[Executed]:
        def inner() -> Transaction[Executed]:
            return executed(
                (
                    yield from by_hand.record_publish(
                        _decider(call),
                        action_id,
                        url,
                        lambda a: _link(call, a),
                        call.now_ms,
                        seals=call.services.seals(),
                    )
                )
            )

        return once_only(
            call.caller,
            "chieflab_record_manual_publish",
            request.idempotency_key,
            {"actionId": action_id, "url": url},
            call.now_ms,
            Executed,
            inner,
        )

    return await call.services.store.write(begin)


def handed_over(action: Action) -> HandedOver:
    """The brief, and the plain word that nothing is published yet."""
    about = {"actionId": action.action_id}
    return HandedOver(
        ok=True,
        action_id=action.action_id,
        run_id=action.run_id,
        status=action.status,
        revision=action.revision,
        digest=action.digest,
        published=action.status == "executed",
        brief=manual_brief(action.effect),
        user_message="This is published by hand. Approve it, copy the text to where it goes, and tell me the address "
        "it is at.",
        next_tool_calls=(
            SuggestedCall(
                "chieflab_approve_action", about_content(action), "only after the user approved the text"
            ),
            SuggestedCall(
                "chieflab_record_manual_publish",
                {**about, "url": "…"},
                "the user has published it and says where",
            ),
        ),
        stop_rule="Do not say that it was published before the user gave its address.",
    )


def _decider(call: Call) -> Decider:
    return Decider(call.caller.workspace_id, call.caller.name, Assurance.AGENT, "chat")


def _link(call: Call, action: Action) -> str:
    return call.review_url(action.run_id)


TOOLS = (
    Tool(
        name="chieflab_use_manual_fallback",
        title="Publish by hand",
        description="Turns an action into one that the human publishes by hand and gives the brief to copy and "
        "paste. USE "
        "WHEN a channel has no live connector (Hacker News, Reddit, Product Hunt) or the user prefers it. Nothing is "
        "published by this call.",
        category="execute",
        behaviour=DECIDES,
        request=UseManualFallback,
        reply=HandedOver,
        handler=use_manual_fallback,
        scope="actions:decide",
    ),
    Tool(
        name="chieflab_record_manual_publish",
        title="Record what was published by hand",
        description="Records the live address of an approved action that the human published by hand. USE WHEN the "
        "user "
        "gives you the address. Refuses with requires_approval unless the action was approved.",
        category="execute",
        behaviour=DECIDES,
        request=RecordManualPublish,
        reply=Executed,
        handler=record_manual_publish,
        scope="actions:execute",
    ),
)
