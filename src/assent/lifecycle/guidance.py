"""What a prepared run tells the agent: show this, say that, stop, and wait (E12–E19, E74, E101).

The drafts come first and in full; the review link is a fallback for a human who is elsewhere (C4).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.kernel.canonical import short_digest
from assent.kernel.times import iso_time
from assent.lifecycle.domains import with_ascii_form
from assent.lifecycle.records import Action, Asset, Preflight
from assent.lifecycle.transitions import STATES, TABLE, TERMINAL, State

STOP_RULE: Final = "Show the drafts and stop: nothing goes out until the human approves each action."
NOTHING_STAGED_STOP_RULE: Final = "Show the result and stop: there is nothing to approve here."

NAMED_IN_CHAT: Final = 50
"""Recipients that are named one by one; a mail to more is of high risk and decided on its page."""

AGENT_DEPENDENCY: Final = (
    "approval state: the server stores who approved what and fires nothing else",
    "credentials: connector keys and tokens stay on the server across sessions",
    "idempotency: a retry or a second client cannot publish twice",
    "scheduling and measurement: results are read a day later, when this chat is gone",
    "memory: voice, proofs and results of earlier runs shape the next one",
    "audit trail: every decision and effect is recorded and can be verified",
)
"""What a stateless model cannot do alone; approval state is always among the six (E74)."""


class SuggestedCall(msgspec.Struct, frozen=True, rename="camel"):
    """A tool call that is ready to make, and when to make it."""

    name: str
    args: dict[str, Any]
    when: str


class NextToolCalls(msgspec.Struct, frozen=True, rename="camel"):
    primary: SuggestedCall
    fallback: SuggestedCall
    others: tuple[SuggestedCall, ...] = ()


class Command(msgspec.Struct, frozen=True):
    """What the user may say, and the call it stands for."""

    say: str
    tool: str
    args: dict[str, Any]


class InChat(msgspec.Struct, frozen=True, rename="camel"):
    """One draft to show: `body` is what will be sent, word for word."""

    title: str
    body: str
    action_id: str | None
    asset_id: str | None
    digest: str | None
    commands: tuple[Command, ...]
    goes_to: str | None = None
    """The account it goes to; it is approved along with the text."""


class AgentGuide(msgspec.Struct, frozen=True, rename="camel"):
    render_in_chat: dict[str, InChat]
    user_message: str
    next_tool_calls: NextToolCalls
    stop_rule: str
    agent_dependency: tuple[str, ...]


class MemoryUsed(msgspec.Struct, frozen=True, rename="camel"):
    """A memory that shaped a draft, and how."""

    entry_id: str
    kind: str
    how: str = ""


class AssetView(msgspec.Struct, frozen=True, rename="camel"):
    """An asset as a run returns it (E13)."""

    id: str
    type: str
    title: str
    body: str
    channel: str | None
    memory_used: tuple[MemoryUsed, ...]
    metadata: dict[str, Any]


class ActionView(msgspec.Struct, frozen=True, rename="camel"):
    """An action as a run returns it (E13)."""

    id: str
    type: str
    channel: str
    connector: str
    executor_tool: str
    status: str
    revision: int
    digest: str
    asset_id: str | None
    preflight: Preflight
    target: dict[str, str] | None
    """The account it goes to; none where no account is connected for it."""


class PreparedEffect(msgspec.Struct, frozen=True, rename="camel"):
    """One line of `sideEffectsPreparedButNotFired`."""

    action_id: str
    type: str
    channel: str
    connector: str


class AgentUsefulness(msgspec.Struct, frozen=True, rename="camel"):
    """What this call saved the agent, and what is left to it."""

    prepared_assets: int
    staged_actions: int
    needs_human: bool
    next_best_step: str


def asset_view(asset: Asset) -> AssetView:
    used = msgspec.convert(asset.metadata.get("memoryUsed", []), tuple[MemoryUsed, ...])
    return AssetView(asset.asset_id, asset.type, asset.title, asset.body, asset.channel, used, asset.metadata)


def action_view(action: Action) -> ActionView:
    return ActionView(
        id=action.action_id,
        type=action.effect.type,
        channel=action.effect.channel,
        connector=action.effect.connector,
        executor_tool=action.executor_tool,
        status=action.status,
        revision=action.revision,
        digest=action.digest,
        asset_id=action.asset_id,
        preflight=action.preflight,
        target=action.effect.target,
    )


def channel_keys(actions: tuple[Action, ...]) -> dict[str, Action]:
    """Actions by channel id; a second one on a channel is `linkedin:2`."""
    keyed: dict[str, Action] = {}
    for action in actions:
        key, count = action.effect.channel, 1
        while key in keyed:
            count += 1
            key = f"{action.effect.channel}:{count}"
        keyed[key] = action
    return keyed


def readable_body(action: Action) -> str:
    """The text that will be sent, whole: a mail with its sender, its recipients and its subject above it."""
    effect = action.effect
    head = []
    if effect.sender:
        head.append(f"From: {with_ascii_form(effect.sender)}")
    if effect.recipients:
        shown = ", ".join(map(with_ascii_form, effect.recipients[:NAMED_IN_CHAT]))
        left = len(effect.recipients) - NAMED_IN_CHAT
        head.append(f"To: {shown}" + (f" and {left} more" if left > 0 else ""))
    if effect.subject:
        head.append(f"Subject: {effect.subject}")
    if effect.title and effect.title not in (effect.subject, ""):
        head.append(effect.title)
    head += [f"Picture: {media.alt} ({media.url})" for media in effect.media]
    if action.schedule_ms is not None:
        head.append(f"Goes out: {iso_time(action.schedule_ms)}")
    return "\n".join([*head, "", effect.body] if head else [effect.body])


def agent_guide(
    actions: tuple[Action, ...], assets: tuple[Asset, ...], others: tuple[SuggestedCall, ...], run_id: str
) -> AgentGuide:
    """The guide of a run. Without actions it shows what there is to read and stops all the same."""
    keyed = channel_keys(actions)
    shown = {key: in_chat(key, action) for key, action in keyed.items()}
    covered = {action.asset_id for action in actions}
    along = {media.digest for action in actions for media in action.effect.media}
    for asset in assets:
        if asset.asset_id in covered or asset.channel is None:
            continue
        if (address := asset.metadata.get("viewUrl")) is not None:
            # All variants where pictures are all there is; beside a post the one that goes along.
            if asset.channel in keyed and asset.metadata.get("digest") not in along:
                continue
            key = (
                asset.channel
                if asset.channel not in shown
                else f"{asset.channel}:{asset.metadata['variant']}"
            )
            shown[key] = InChat(asset.title, f"{asset.body}\n{address}", None, asset.asset_id, None, ())
        elif asset.channel not in shown:
            shown[asset.channel] = InChat(asset.title, asset.body, None, asset.asset_id, None, ())
    if not actions:
        look = SuggestedCall("chieflab_list_pending_actions", {}, "the user asks what else waits for them")
        return AgentGuide(
            shown,
            "Here is the result. Nothing needs your approval.",
            NextToolCalls(others[0] if others else look, look, others[1:]),
            NOTHING_STAGED_STOP_RULE,
            AGENT_DEPENDENCY,
        )
    names = ", ".join(f'"approve {key}"' for key in keyed)
    count = "One draft is" if len(actions) == 1 else f"{len(actions)} drafts are"
    first_key, first = next(iter(keyed.items()))
    return AgentGuide(
        render_in_chat=shown,
        user_message=f"{count} ready and nothing was sent. Read above, then say {names}; or reject, or tell me what to "
        "change. Every change needs your approval again.",
        next_tool_calls=NextToolCalls(
            SuggestedCall(
                "chieflab_approve_action",
                about_content(first),
                f'only after the user said "approve {first_key}" or the like',
            ),
            SuggestedCall(
                "chieflab_list_pending_actions",
                {"runId": run_id},
                "the user is away from this chat: give them reviewUrl, and look here later",
            ),
            others,
        ),
        stop_rule=STOP_RULE,
        agent_dependency=AGENT_DEPENDENCY,
    )


def come_back(guide: AgentGuide, run_id: str) -> AgentGuide:
    """The guide of a run whose result is not there yet."""
    look = SuggestedCall("chieflab_get_run", {"runId": run_id}, "the user asks for the result later")
    return msgspec.structs.replace(
        guide,
        user_message="This takes longer than usual. It goes on by itself, and the result is posted to the webhook.",
        next_tool_calls=NextToolCalls(look, guide.next_tool_calls.fallback),
        stop_rule="Say that it is on its way and stop: there is nothing to show or to approve yet, so do not poll.",
    )


def in_chat(key: str, action: Action) -> InChat:
    return InChat(
        title=action.effect.title or action.effect.subject or f"Draft for {action.effect.channel}",
        body=readable_body(action),
        action_id=action.action_id,
        asset_id=action.asset_id,
        digest=short_digest(action.digest),
        commands=(
            Command(f"approve {key}", "chieflab_approve_action", about_content(action)),
            Command(f"reject {key}", "chieflab_reject_action", {"actionId": action.action_id, "reason": "…"}),
            Command(f"edit {key}", "chieflab_edit_action", {"actionId": action.action_id, "body": "…"}),
        ),
        goes_to=goes_to(action.effect.target),
    )


def about_content(action: Action) -> dict[str, Any]:
    """The arguments of a decision about exactly the content that an action has now."""
    return {"actionId": action.action_id, "digest": action.digest}


def as_it_is(action: Action) -> dict[str, InChat]:
    """One action to show in the chat."""
    return {action.effect.channel: in_chat(action.effect.channel, action)}


def goes_to(target: dict[str, str] | None) -> str | None:
    """An account in words; the same in the chat and on the page."""
    if not target or "accountId" not in target or set(target) - {"accountId", "platform", "name"}:
        return None
    name, platform, account = target.get("name", ""), target.get("platform", ""), target["accountId"]
    return f"{name or account} ({platform}, {account})" if platform else f"{name or account} ({account})"


class MachineStep(msgspec.Struct, frozen=True, rename="camel"):
    from_: str = msgspec.field(name="from")
    move: str
    to: str


class StateMachine(msgspec.Struct, frozen=True, rename="camel"):
    """The approval machine as data, from the same table that runs it."""

    states: tuple[str, ...]
    terminal: tuple[str, ...]
    transitions: tuple[MachineStep, ...]


def _named(state: State) -> str:
    return state.status if state.execution in ("none", "done") else f"{state.status}/{state.execution}"


STATE_MACHINE: Final = StateMachine(
    states=tuple(_named(state) for state in STATES),
    terminal=tuple(sorted(_named(state) for state in TERMINAL)),
    transitions=tuple(MachineStep(_named(start), move, _named(end)) for (start, move), end in TABLE.items()),
)


def usefulness(actions: tuple[Action, ...], assets: tuple[Asset, ...]) -> AgentUsefulness:
    step = (
        "Show the drafts in the chat and wait for the human." if actions else "Show the result to the human."
    )
    return AgentUsefulness(len(assets), len(actions), bool(actions), step)
