"""Tools for publishing by hand (E94, E98): the brief, and recording the URL."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from assent.engine.actions import circumstances
from assent.gate.gate import ANY_CONTENT
from assent.gate.records import Action, name_of
from assent.kernel.canonical import short_digest
from assent.kernel.guide import Guide, make_guide
from assent.kernel.ids import require_action_id
from assent.kernel.refusals import Replay, bad_argument
from assent.kernel.structs import Arguments, WireRecord
from assent.present.cards import manual_brief
from assent.present.next_steps import Circumstances, ask, ask_to_do, next_calls
from assent.present.outlook import Executed, answer_executed
from assent.tools.approvals import decider_for
from assent.tools.arguments import ActionIdArgument, IdempotencyKey
from assent.tools.definition import DECIDES, Call, Tool
from assent.use_cases import decisions, executions
from assent.use_cases.decisions import DecisionOrder


class UseManualFallback(Arguments, kw_only=True):
    action_id: ActionIdArgument
    idempotency_key: IdempotencyKey | None = None


class HandedOver(WireRecord, kw_only=True):
    ok: bool
    action_id: str
    run_id: str
    status: str
    revision: int
    digest: str
    published: bool
    user_message: str
    stop_rule: str
    agent_guide: Guide | msgspec.UnsetType = msgspec.UNSET
    replay: Replay | msgspec.UnsetType = msgspec.UNSET


class RecordManualPublish(Arguments, kw_only=True):
    action_id: ActionIdArgument
    url: (
        Annotated[
            str,
            msgspec.Meta(
                max_length=2_000, description="The live address, as the human gave it. An e-mail has none."
            ),
        ]
        | None
    ) = None
    idempotency_key: IdempotencyKey | None = None


async def use_manual_fallback(call: Call, request: UseManualFallback) -> HandedOver:
    action_id = require_action_id(request.action_id)
    before, outlook = await circumstances.read_action(call.services, call.caller, action_id)
    write = call.answering(
        request,
        lambda action: answer_handover(before, action, outlook.describe(action)),
        HandedOver,
        {"actionId": action_id},
    )
    wish = DecisionOrder(decider_for(call), before, ANY_CONTENT)
    return await decisions.hand_over(call.services, wish, write)


async def record_manual_publish(call: Call, request: RecordManualPublish) -> Executed:
    action_id = require_action_id(request.action_id)
    url = request.url.strip() if request.url is not None else None
    parts = urlsplit(url or "")
    if url is not None and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise bad_argument("url", EXPECTED_URL, url[:80])
    found, outlook = await circumstances.read_action(call.services, call.caller, action_id)
    around = outlook.describe(found)
    return await executions.record_by_hand(
        call.services,
        DecisionOrder(decider_for(call), found, ANY_CONTENT),
        url,
        call.answering(request, answer_executed, Executed, {"actionId": action_id, "url": url}),
        blocked=around.blocker is not None and not around.unfit,
    )


def answer_handover(before: Action, action: Action, around: Circumstances) -> HandedOver:
    """Return the brief, and say that nothing is published yet."""
    first = NEEDS_YES if action.status == "awaiting_approval" else ""
    brief = manual_brief(action.effect, action.view, first)
    shown = "\n\n".join(filter(None, (brief.text, ask(action, around))))
    return HandedOver(
        ok=True,
        action_id=action.action_id,
        run_id=action.run_id,
        status=action.status,
        revision=action.revision,
        digest=short_digest(action.digest),
        published=action.status == "executed",
        user_message=_message(before, action, around),
        agent_guide=make_guide({name_of(action): shown}, next_calls(action, around)),
        stop_rule="Do not say that it was published or sent before the user said so.",
    )


def _message(before: Action, action: Action, around: Circumstances) -> str:
    if action.status == "executed":
        return "This was recorded as done by hand."
    done = ask_to_do(action)
    if action.status == "approved":
        return f"This one goes out by hand. {done}"
    then = f"Then {done[:1].lower()}{done[1:]}"
    if not around.may_decide:
        return f"This one goes out by hand, once the text is approved. {around.decider_note} {then}"
    if before.status == "approved":
        return (
            "Your yes was for sending it from here. By hand it goes out another way, so please say yes once more to "
            f"the same text. {then}"
        )
    return f"This one goes out by hand. Say yes to the text first. {then}"


NEEDS_YES = "**The text needs a yes first.** What to do by hand once it has one:"
EXPECTED_URL = "the live address, such as https://news.ycombinator.com/item?id=1"

TOOLS = (
    Tool(
        name="chieflab_use_manual_fallback",
        title="Publish by hand",
        description="Turns an action into one that the human publishes by hand and gives the brief to copy and paste. "
        "USE WHEN a channel has no live connector (Hacker News, Reddit, Product Hunt) or the user would rather "
        "publish it themselves instead. Nothing is published by this call.",
        behaviour=DECIDES,
        request=UseManualFallback,
        reply=HandedOver,
        handler=use_manual_fallback,
        keyed_as="chieflab_use_manual_fallback",
        scope="actions:decide",
    ),
    Tool(
        name="chieflab_record_manual_publish",
        title="Record what was published by hand",
        description="Records that the human published or sent an approved action by hand, with the link to it; an "
        "e-mail has none. USE WHEN the user says that they posted, pasted or sent it, on Reddit for instance, and at "
        "which address. Refuses with requires_approval unless it was approved.",
        behaviour=DECIDES,
        request=RecordManualPublish,
        reply=Executed,
        handler=record_manual_publish,
        keyed_as="chieflab_record_manual_publish",
        scope="actions:execute",
    ),
)
