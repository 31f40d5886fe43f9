"""The guide for the agent of a prepared run: what to show and say, where to stop and wait (E74).

The drafts come first and complete. The review link is a fallback for a person who is not in the
chat (C4).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from assent.gate.records import IMAGE, NAME, Action, Asset, Preflight, name_of
from assent.gate.transitions import TABLE
from assent.kernel.canonical import short_digest
from assent.kernel.guide import TEXT, InChat, NextToolCalls, SuggestedCall
from assent.kernel.structs import WireRecord
from assent.present.cards import quote, render_card
from assent.present.next_steps import PLAIN, Circumstances, is_call, list_calls

STOP_RULE: Final = "Show this and wait for the human."
STOP_RULE_WITH_LINK: Final = "Show this and reviewUrl, and wait for the human."
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


class AgentGuide(WireRecord):
    """The texts that the agent shows, the next calls, and where it stops (E14). `agent_dependency`
    always has six items (E74)."""

    render_in_chat: dict[str, InChat]
    user_message: str
    next_tool_calls: NextToolCalls
    stop_rule: str
    agent_dependency: tuple[str, ...]


def guide_unstaged(
    shown: str, said: str, calls: tuple[SuggestedCall, ...], stop_rule: str = NOTHING_STAGED_STOP_RULE
) -> AgentGuide:
    """Return the guide of an answer that stages nothing: what to show, and the calls that may follow."""
    return AgentGuide({TEXT: InChat(shown)}, said, _complete_calls(calls), stop_rule, AGENT_DEPENDENCY)


_LOOK: Final = SuggestedCall("chieflab_list_pending_actions", {}, "the user asks what waits for them")


def _complete_calls(calls: tuple[SuggestedCall, ...]) -> NextToolCalls:
    """Arrange the calls of a run, which always has a first and a second one (E14)."""
    first, second, *more = (*calls, _LOOK, _LOOK)[: max(2, len(calls))]
    return NextToolCalls(first, second, tuple(more))


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
    channel: str | None = None
    """Only if the type does not say it."""
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
    digest: str
    preflight: Preflight
    target: dict[str, str] | None = None
    """The account; None if none is connected."""


class PictureView(WireRecord, omit_defaults=True):
    """A picture; the assets have its words, chieflab_list_assets its address."""

    id: str
    width: int
    height: int
    variant: str = ""
    warnings: tuple[str, ...] = ()

    @classmethod
    def list_in(cls, assets: Iterable[Asset]) -> tuple[PictureView, ...]:
        """Return the pictures among the assets of an answer, to be picked by their ids."""
        shown = (each for each in assets if each.type == IMAGE)
        return tuple(
            cls(
                each.asset_id,
                each.metadata["width"],
                each.metadata["height"],
                str(each.metadata.get("variant") or ""),
                tuple(each.metadata.get("warnings", ())),
            )
            for each in shown
        )


def asset_view(asset: Asset) -> AssetView:
    used = msgspec.convert(asset.metadata.get("memoryUsed", []), tuple[MemoryUsed, ...])
    channel = asset.channel if asset.channel != asset.type else None
    return AssetView(asset.asset_id, asset.type, asset.title, asset.body, channel, used, asset.metadata)


def action_view(action: Action) -> ActionView:
    return ActionView(
        id=action.action_id,
        type=action.effect.type,
        channel=action.effect.channel,
        connector=action.effect.connector,
        executor_tool=action.executor_tool,
        status=action.status,
        digest=short_digest(action.digest),
        preflight=_brief(action.preflight),
        target=action.effect.target,
    )


def _brief(found: Preflight) -> Preflight:
    """Shorten the preflight's hint to its first sentence; the action's record has the rest."""
    first, dot, rest = (found.connector_fix_hint or "").partition(". ")
    return msgspec.structs.replace(found, connector_fix_hint=first + ".") if dot and rest else found


def name_all(actions: tuple[Action, ...]) -> dict[str, Action]:
    """Return the actions by their names. Two that were staged at the same moment may have one name."""
    named: dict[str, Action] = {}
    for action in actions:
        name, count = name_of(action), 1
        while name in named:
            count += 1
            name = f"{name_of(action)}:{count}"
        named[name] = msgspec.structs.replace(action, metadata={**action.metadata, NAME: name})
    return named


def brief_view(asset: Asset) -> AssetView:
    """Return an asset for the answer that made it, without its evidence."""
    return msgspec.structs.replace(asset_view(asset), metadata={})


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
    around = circumstances or {}
    named = {
        name: (action, around.get(action.action_id, PLAIN)) for name, action in name_all(actions).items()
    }
    shown = {name: InChat(render_card(*pair)) for name, pair in named.items()} | _show_unstaged(
        actions, assets
    )
    pairs = tuple(named.values())
    if not actions:
        message, stop_rule = " ".join((said or NOTHING_TO_APPROVE, *notes)), NOTHING_STAGED_STOP_RULE
    else:
        message, stop_rule = _message(pairs, notes), STOP_RULE
        if any(each.review_url for _, each in pairs):
            stop_rule = STOP_RULE_WITH_LINK
    calls = _complete_calls((*list_calls(pairs), *others))
    return AgentGuide(shown, message, calls, stop_rule, AGENT_DEPENDENCY)


def _show_unstaged(actions: tuple[Action, ...], assets: tuple[Asset, ...]) -> dict[str, InChat]:
    """Return the texts and pictures that no staged action shows, by channel."""
    covered = {action.asset_id for action in actions}
    attached = {media.digest for action in actions for media in action.effect.media}
    found: dict[str, InChat] = {}
    for asset in assets:
        key, body, address = asset.channel, asset.body, asset.metadata.get("viewUrl")
        if asset.asset_id in covered or key is None or asset.metadata.get("digest") in attached:
            continue
        if address is not None:
            # Without posts all variants are shown; beside posts they are in `images`, to be picked later.
            if actions:
                continue
            body = f"{body}\n{address}"
        while key in found:
            key = f"{key}:{asset.metadata.get('variant', len(found))}"
        found[key] = InChat(f"**{asset.title}**\n\n{quote(body)}")
    return found


def _message(pairs: tuple[tuple[Action, Circumstances], ...], notes: tuple[str, ...]) -> str:
    what = "action" if any(is_call(action) for action, _ in pairs) else "draft"
    count = f"One {what} is" if len(pairs) == 1 else f"{len(pairs)} {what}s are"
    said = [f"{count} ready and nothing was {'sent' if what == 'draft' else 'done'}.", *notes]
    said += dict.fromkeys(each.frozen for _, each in pairs if each.frozen)
    stuck = dict.fromkeys(action.view.label for action, each in pairs if each.blocker)
    if stuck:
        said.append(f"{' and '.join(stuck)} cannot go out yet.")
    return " ".join(said)


def defer_guide(guide: AgentGuide, run_id: str) -> AgentGuide:
    """Return the guide of a run whose result is not ready."""
    look = SuggestedCall("chieflab_get_run", {"runId": run_id}, "the user asks for the result later")
    return msgspec.structs.replace(
        guide,
        user_message="This takes longer than usual. The result is posted to the webhook when it is ready.",
        next_tool_calls=_complete_calls((look,)),
        stop_rule="Say that it is on its way and stop: there is nothing to show or to approve yet, so do not poll.",
    )


def _list_moves() -> dict[str, Any]:
    """Map each status to its next ones, from the transition table. Others are final."""
    found: dict[str, dict[str, None]] = {}
    for (start, _), end in TABLE.items():
        found.setdefault(start.status, {})[end.status] = None
    return {start: [end for end in ends if end != start] for start, ends in found.items()}


STATE_MACHINE: Final = _list_moves()
