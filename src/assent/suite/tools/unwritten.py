"""Asks the agent to write a text that is missing or only a plain note, with the known facts and the
channel's limits.

The agent is the writer. The server can only stand in with a plain note about the product.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.platform.effects import SuggestedCall
from assent.platform.staging import THIS_RUN, Preparation
from assent.platform.values import MEANINGS, Problem, Reason, Refusal, Words
from assent.suite.channels.channel import Channel, needs
from assent.suite.channels.registry import label_of
from assent.suite.content import evidence as gathering
from assent.suite.content.goals import announces, asks_otherwise
from assent.suite.content.naming import find_name
from assent.suite.content.sources import SOURCES
from assent.suite.content.writing import gather_writing
from assent.suite.operators.definition import Workbench
from assent.suite.operators.drafts import describe_wanted, require_channel
from assent.suite.operators.launch import ChannelNote, LaunchPlan

MOST_SOURCES: Final = 4
ECHO_BYTES: Final = 1_000
"""The longest argument that is repeated in the suggested call."""

ONLY_NOTES: Final = (
    "The server writes plain notes about a product only. I will write this one and show it to you."
)
WRITE_IT: Final = (
    "Write the text yourself and call the same tool again with it in {argument}; writing has the known facts, "
    "recoveryTool the rest of the call."
)
OR_WRITE: Final = " Or write the texts yourself and pass them as {argument}: they need no such facts."


def refuse_unwritable(bench: Workbench, channel: Channel, tool: str, request: Any) -> None:
    """Without a supplied text, refuse goals and evidence that no plain note can serve."""
    goal = request.goal or ""
    if goal and not announces(goal, find_name(bench.evidence)):
        raise request_text(bench, channel, tool, request)
    if not gathering.is_enough(bench.evidence):
        raise (
            request_text(bench, channel, tool, request)
            if channel.shape == "email"
            else refuse_too_little(bench)
        )


def may_write(bench: Workbench, goal: str | None) -> bool:
    """Whether notes about the product may replace the missing texts of a launch.

    A launch is an announcement unless its goal says otherwise; a single post or e-mail may be
    anything.
    """
    return not asks_otherwise(goal or "", find_name(bench.evidence))


def request_text(bench: Workbench, channel: Channel, tool: str, request: Any) -> Refusal:
    """Return the refusal that asks the agent to write this text."""
    return _ask_for_text(bench, (channel.id,), tool, request, "body", describe_wanted(channel))


def write_launch(bench: Workbench, channel_ids: tuple[str, ...], request: Any) -> Refusal:
    """Return the refusal that asks the agent for the texts of a launch."""
    wanted = " ".join(needs(require_channel(each)) for each in channel_ids)
    texts = {"drafts": f"an object with your own text per channel. {wanted}"}
    return _ask_for_text(bench, channel_ids, "chieflab_launch_product", request, "drafts", texts)


def _ask_for_text(
    bench: Workbench,
    channel_ids: tuple[str, ...],
    tool: str,
    request: Any,
    argument: str,
    wanted: dict[str, str],
) -> Refusal:
    given = _drop_unset(msgspec.to_builtins(request))
    short = {name: value for name, value in given.items() if len(msgspec.json.encode(value)) <= ECHO_BYTES}
    needs = {name: what for name, what in wanted.items() if name not in short}
    return Refusal(
        Reason.VALIDATION_ERROR,
        words=Words("There is no text yet.", ONLY_NOTES, WRITE_IT.format(argument=argument)),
        problems=[Problem(argument, needs[argument], "no text")],
        recovery_tool=tool,
        recovery_args=short,
        recovery_needs=needs,
        writing=_gather_known(bench, channel_ids, request.goal),
    )


def _drop_unset(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _drop_unset(each) for name, each in value.items() if each is not None}


def refuse_too_little(bench: Workbench, argument: str = "body") -> Refusal:
    """Return the refusal that names the missing facts, and says why the given page does not
    help."""
    fix = MEANINGS[Reason.MISSING_REPO_CONTEXT].fix + OR_WRITE.format(argument=argument)
    if not bench.warnings:
        return Refusal(Reason.MISSING_REPO_CONTEXT, fix=fix)
    why = " ".join(bench.warnings)
    wanted = "I need to know what you built; without that the first drafts would be generic."
    return Refusal(Reason.MISSING_REPO_CONTEXT, user_message=f"{why} {wanted}", fix=fix)


def offer_writing(
    bench: Workbench, made: Preparation, goal: str | None, missing: tuple[str, ...] = ()
) -> Preparation:
    """Add help for writing to a preparation with a plain note or a missing text."""
    noted = tuple(each.effect.channel for each in made.effects if each.rewrite)
    if not noted and not missing:
        return made
    return msgspec.structs.replace(
        made,
        notes=(*made.notes, *_tell_notes(made, noted, goal)),
        writing=_gather_known(bench, (*noted, *missing), goal),
    )


def _tell_notes(made: Preparation, noted: tuple[str, ...], goal: str | None) -> tuple[str, ...]:
    """Say which texts are plain notes, where their facts come from, and that the agent writes better."""
    if not noted:
        return ()
    supports = (
        support["source"]
        for draft in made.drafts
        if draft.channel in noted
        for claim in draft.metadata["claims"]
        for support in claim["evidence"]
    )
    sources = ", ".join(SOURCES[each] for each in tuple(dict.fromkeys(supports))[:MOST_SOURCES])
    what = "a plain note" if len(noted) == 1 else "plain notes"
    kept = "Your goal decided only which facts come first. " if goal else ""
    labels = ", ".join(dict.fromkeys(map(label_of, noted)))
    return (f"{labels}: {what} from {sources or 'the facts'}. {kept}I can write better.",)


def _gather_known(bench: Workbench, channel_ids: tuple[str, ...], goal: str | None) -> dict[str, Any]:
    found = gather_writing(channel_ids, bench.evidence, bench.lessons, goal=goal or "")
    known: dict[str, Any] = msgspec.to_builtins(found)
    return known


def write_missing(note: ChannelNote) -> SuggestedCall:
    args = {"channel": note.channel, "runId": THIS_RUN}
    return SuggestedCall(
        "chieflab_post", args, "you have written the text", describe_wanted(require_channel(note.channel))
    )


def tell_missing(plan: LaunchPlan) -> tuple[str, ...]:
    labels = [label_of(note.channel) for note in plan.missing]
    if not labels:
        return ()
    verb = "needs" if len(labels) == 1 else "need"
    return (
        f"{len(plan.written)} of {len(plan.written) + len(labels)} drafts are there: {', '.join(labels)} still {verb} "
        "a text. I can write it.",
    )
