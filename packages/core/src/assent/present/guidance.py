"""The guide for the agent of a prepared run: what to show and say, where to stop and wait (E74).

The drafts come first and complete. The review link is a fallback for a person who is not in the
chat (C4).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from assent.gate.records import Action, Asset, Preflight
from assent.gate.transitions import TABLE
from assent.kernel.canonical import short_digest
from assent.kernel.refusals import SuggestedCall
from assent.kernel.structs import WireRecord
from assent.present.calls import NextToolCalls, Phrase, about_content, wait_call
from assent.present.cards import goes_to, quote, readable_body, render_card
from assent.present.next_steps import EDIT, PLAIN, Circumstances, commands, repair_call, say_approve

UNKNOWN: Final = Circumstances(may_execute=False)
"""For a refusal, which reads no circumstances: it offers decisions but no sending."""

STOP_RULE: Final = "Show this and wait for the human."
HELD: Final = (
    "There were so many proposals in a short time that this one is held with the others, as one question: a person "
    "looks at the whole list, then rejects or releases it."
)
STOP_PROPOSING: Final = (
    "STOP proposing. Nothing is lost and nothing is sent, so repeat no call. Tell the user to open the inbox of their "
    "Assent server and to release or reject the list there first."
)
NOTHING_STAGED_STOP_RULE: Final = "Show the result and stop: there is nothing to approve here."
NOTHING_TO_APPROVE: Final = "Here is the result. Nothing needs your approval."

AGENT_DEPENDENCY: Final = (
    "approval state",
    "credentials",
    "idempotency",
    "schedules",
    "memory",
    "audit trail",
)
"""The six capabilities that a stateless model lacks; approval state is always one of them (E74)."""


NOT_ALONG: Final = "I can show it, and put it into a post."


class InChat(WireRecord, omit_defaults=True):
    """One draft to show. `body` is exactly the text that will be sent."""

    body: str
    title: str = ""
    """Only for a draft without a staged action; others have it in their text."""
    action_id: str | None = None
    asset_id: str | None = None
    """Only for a draft without a staged action."""
    digest: str | None = None
    commands: tuple[Phrase, ...] = ()
    goes_to: str | None = None
    """The account, which is part of the approved content."""


class AgentGuide(WireRecord):
    """The texts that the agent shows, the next calls, and where it stops (E14). `agent_dependency`
    always has six items (E74)."""

    render_in_chat: dict[str, InChat]
    user_message: str
    next_tool_calls: NextToolCalls
    stop_rule: str
    agent_dependency: tuple[str, ...]


def guide_unstaged(kind: str, shown: InChat, said: str, following: tuple[SuggestedCall, ...]) -> AgentGuide:
    """Return the guide of an answer that stages nothing: what to show, and at least two calls that may follow."""
    calls = NextToolCalls(following[0], following[-1], following[1:-1])
    return AgentGuide({kind: shown}, said, calls, NOTHING_STAGED_STOP_RULE, AGENT_DEPENDENCY)


class MemoryUsed(WireRecord):
    """A memory that changed a draft, and how."""

    entry_id: str
    kind: str
    how: str = ""


class AssetView(WireRecord, omit_defaults=True):
    """An asset as a run returns it (E13)."""

    id: str
    type: str
    title: str
    body: str
    channel: str | None
    memory_used: tuple[MemoryUsed, ...] = ()
    metadata: dict[str, Any] = {}


class ActionView(WireRecord, omit_defaults=True):
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
    target: dict[str, str] | None = None
    """The account; None if none is connected."""


class ActionRef(WireRecord):
    """Reference to a staged action in the same answer."""

    id: str


class PreparedEffect(WireRecord):
    """One line of `sideEffectsPreparedButNotFired`."""

    action_id: str


class AgentUsefulness(WireRecord, omit_defaults=True):
    """The work that this call did for the agent, and the work that remains."""

    prepared_assets: int
    staged_actions: int
    needs_human: bool
    next_best_step: str = ""


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
        preflight=_brief(action.preflight),
        target=action.effect.target,
    )


def _brief(found: Preflight) -> Preflight:
    """Shorten the preflight's hint to its first sentence; the action's record has the rest."""
    first, dot, rest = (found.connector_fix_hint or "").partition(". ")
    return msgspec.structs.replace(found, connector_fix_hint=first + ".") if dot and rest else found


def channel_keys(actions: tuple[Action, ...]) -> dict[str, Action]:
    """Return the actions by channel id; a second one on a channel is `linkedin:2`."""
    keyed: dict[str, Action] = {}
    for action in actions:
        key, count = action.effect.channel, 1
        while key in keyed:
            count += 1
            key = f"{action.effect.channel}:{count}"
        keyed[key] = action
    return keyed


def brief_view(asset: Asset) -> AssetView:
    """Return an asset for the answer that made it, without its evidence."""
    return msgspec.structs.replace(asset_view(asset), metadata={})


def picture_view(asset: Asset) -> AssetView:
    """Return a picture for the answer that made it: its URL and size."""
    facts = {name: each for name, each in asset.metadata.items() if each and name in PICTURE_FACTS}
    return msgspec.structs.replace(asset_view(asset), metadata=facts)


PICTURE_FACTS: Final = ("variant", "width", "height", "digest", "viewUrl", "warnings")
"""The metadata of a picture that an answer contains; its text is the body."""


def action_ref(action: Action) -> ActionRef:
    return ActionRef(action.action_id)


def agent_guide(
    actions: tuple[Action, ...],
    assets: tuple[Asset, ...],
    others: tuple[SuggestedCall, ...],
    circumstances: Mapping[str, Circumstances] | None = None,
    notes: tuple[str, ...] = (),
    said: str = "",
) -> AgentGuide:
    """Build the guide of a run. Without actions it lists what there is to read, and also tells the
    agent to stop.

    Every channel that has content is there to be shown (E16); inline approval comes first, with the
    review link as a fallback (E17, E102). `circumstances` are by action id; `notes` are sentences
    for the person about the whole run, `said` replaces the message of a run without actions.
    """
    keyed, around = channel_keys(actions), circumstances or {}
    shown = {key: in_chat(key, action, around.get(action.action_id, PLAIN)) for key, action in keyed.items()}
    # Pictures of staged actions are in `show` and `images` and are not repeated here.
    others_made = assets if not actions else tuple(each for each in assets if "viewUrl" not in each.metadata)
    shown |= {
        key: InChat(body, title, asset_id=made)
        for key, title, body, made in _list_unstaged(keyed, others_made)
    }
    look = SuggestedCall("chieflab_list_pending_actions", {}, "the user asks what else waits for them")
    if not actions:
        return AgentGuide(
            shown,
            " ".join((said or NOTHING_TO_APPROVE, *notes)),
            NextToolCalls(others[0] if others else look, look, others[1:]),
            NOTHING_STAGED_STOP_RULE,
            AGENT_DEPENDENCY,
        )
    return AgentGuide(
        render_in_chat=shown,
        user_message=_message(keyed, around, notes),
        next_tool_calls=NextToolCalls(
            _primary(keyed, around),
            SuggestedCall(look.name, {}, "the user is away"),
        ),
        stop_rule=STOP_RULE,
        agent_dependency=AGENT_DEPENDENCY,
    )


def _list_unstaged(keyed: dict[str, Action], assets: tuple[Asset, ...]) -> list[tuple[str, str, str, str]]:
    """Return what can be shown beside the staged actions: key, title, text and asset id."""
    covered = {action.asset_id for action in keyed.values()}
    attached = {media.digest for action in keyed.values() for media in action.effect.media}
    found: dict[str, tuple[str, str, str, str]] = {}
    for asset in assets:
        if asset.asset_id in covered or asset.channel is None:
            continue
        key, body = asset.channel, asset.body
        if (address := asset.metadata.get("viewUrl")) is not None:
            # Without posts all variants; beside a post only the attached one. Others are in
            # `images`.
            if key in keyed and asset.metadata.get("digest") not in attached:
                continue
            body = f"{body}\n{address if not keyed or key in keyed else NOT_ALONG}"
            if key in keyed or key in found:
                key = f"{key}:{asset.metadata['variant']}"
        if key not in keyed and key not in found:
            found[key] = (key, asset.title, body, asset.asset_id)
    return list(found.values())


def show_run(
    actions: tuple[Action, ...],
    assets: tuple[Asset, ...],
    circumstances: Mapping[str, Circumstances],
    notes: tuple[str, ...] = (),
) -> str:
    """Render everything of a run that the person should see, as Markdown."""
    keyed = channel_keys(actions)
    cards = [
        render_card(key, action, circumstances.get(action.action_id, PLAIN)) for key, action in keyed.items()
    ]
    cards += [f"**{title}**\n\n{quote(body)}" for _, title, body, _ in _list_unstaged(keyed, assets)]
    return "\n\n---\n\n".join([*cards, *notes])


def _primary(keyed: dict[str, Action], around: Mapping[str, Circumstances]) -> SuggestedCall:
    """Return the approval of the first action that this caller can approve; else the repair of one
    that cannot be approved as it is; else the call that shows the person's decision."""
    for action in keyed.values():
        found = around.get(action.action_id, PLAIN)
        if found.may_decide and not found.unfit:
            when = "the user said yes to it"
            return SuggestedCall("chieflab_approve_action", about_content(action), when)
    for action in keyed.values():
        found = around.get(action.action_id, PLAIN)
        if found.unfit and found.may_edit and not found.missing:
            return repair_call(action)
    first = next(iter(keyed.values()))
    return wait_call(first)


def _message(keyed: dict[str, Action], around: Mapping[str, Circumstances], notes: tuple[str, ...]) -> str:
    found = {key: around.get(action.action_id, PLAIN) for key, action in keyed.items()}
    count = "One draft is" if len(keyed) == 1 else f"{len(keyed)} drafts are"
    said = [f"{count} ready and nothing was sent.", *notes]
    said += dict.fromkeys(each.frozen for each in found.values() if each.frozen)
    said += [f"{keyed[key].view.label} cannot go out yet." for key, each in found.items() if each.blocker]
    yes = [
        f"“{say_approve(key, keyed[key])}”"
        for key, each in found.items()
        if each.may_decide and not each.unfit
    ]
    if yes:
        editable = any(not action.view.fixed for action in keyed.values())
        said.append(f"Say {', '.join(yes)}, or {'what to change' if editable else 'no'}.")
    broken = [each for each in found.values() if each.unfit and each.may_edit]
    said += dict.fromkeys(each.blocker for each in broken if each.blocker)
    said += dict.fromkeys(
        each.who_decides for each in found.values() if each.who_decides and each not in broken
    )
    return " ".join(said)


def defer_guide(guide: AgentGuide, run_id: str) -> AgentGuide:
    """Return the guide of a run whose result is not ready."""
    look = SuggestedCall("chieflab_get_run", {"runId": run_id}, "the user asks for the result later")
    return msgspec.structs.replace(
        guide,
        user_message="This takes longer than usual. The result is posted to the webhook when it is ready.",
        next_tool_calls=NextToolCalls(look, guide.next_tool_calls.fallback),
        stop_rule="Say that it is on its way and stop: there is nothing to show or to approve yet, so do not poll.",
    )


def in_chat(key: str, action: Action, circumstances: Circumstances = PLAIN) -> InChat:
    """Build the draft view of an action. A change request is free text, so it has a command only
    before any decision."""
    said = commands(key, action, circumstances)
    return InChat(
        body=readable_body(action, circumstances),
        action_id=action.action_id,
        digest=short_digest(action.digest),
        commands=tuple(each for each in said if circumstances.unfit or each.tool != EDIT),
        goes_to=None if action.view.mail else goes_to(action.effect.target),
    )


def view_alone(action: Action, circumstances: Circumstances = UNKNOWN) -> dict[str, InChat]:
    """Build the view of a single action."""
    return {action.effect.channel: in_chat(action.effect.channel, action, circumstances)}


def _list_moves() -> dict[str, Any]:
    """Map each status to its next ones, from the transition table. Others are final."""
    found: dict[str, dict[str, None]] = {}
    for (start, _), end in TABLE.items():
        found.setdefault(start.status, {})[end.status] = None
    return {start: [end for end in ends if end != start] for start, ends in found.items()}


STATE_MACHINE: Final = _list_moves()


def usefulness(actions: tuple[Action, ...], assets: tuple[Asset, ...]) -> AgentUsefulness:
    return AgentUsefulness(len(assets), len(actions), bool(actions))
