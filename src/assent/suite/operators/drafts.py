"""Turns a text into a draft and a staged effect, for every operator that writes."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.platform.content import cut, sentences
from assent.platform.effects import ALONE, MANY_RECIPIENTS, Effect
from assent.platform.staging import Draft, StagedEffect
from assent.platform.values import Problem, Reason, Record, Refusal, bad_argument
from assent.suite.channels.channel import Channel, needs, title_problems
from assent.suite.channels.registry import BY_ID, find_channel
from assent.suite.content.adapter import adapt, adapt_written, remind
from assent.suite.content.records import NOTE, SUPPLIED, CheckedText
from assent.suite.operators.definition import Workbench

EXECUTE: Final = "chieflab_execute_approved_action"
MOST_TITLE_CHARS: Final = 80
"""The longest title made from the first sentence of a draft without title."""


class SuppliedText(Record, kw_only=True):
    body: str
    title: str = ""
    subject: str = ""
    paths: dict[str, str] = {}
    """The argument path of each part; a part without a path has its own name."""


class ChannelDraft(Record, kw_only=True):
    """A draft for one channel and its effect. Landing copy has no effect."""

    channel: Channel
    checked: CheckedText
    draft: Draft
    effect: StagedEffect | None


def require_channel(name: str, path: str = "channel") -> Channel:
    """Return the channel of a name. Refuses an unknown name and lists the known ones."""
    found = find_channel(name)
    if found is None:
        names = ", ".join(BY_ID)
        raise bad_argument(path, f"one of {names}", repr(name[:40]))
    return found


def make_draft(
    bench: Workbench, channel: Channel, supplied: SuppliedText | None, *, in_launch: bool = False
) -> ChannelDraft | None:
    """Make the draft of a channel from the supplied text, else from a writer's; None without either."""
    alone = channel.shape == "email" and not in_launch
    # A text of this server is about the product, even in an e-mail to one person.
    personal = alone and supplied is not None and len(bench.recipients) <= MANY_RECIPIENTS
    if supplied is not None:
        title = supplied.subject or supplied.title
        made = adapt(channel.id, supplied.body, bench.evidence, bench.lessons, title=title, personal=personal)
    elif (written := bench.written.get(channel.id)) is not None:
        made = adapt_written(channel.id, written, bench.facts)
    else:
        return None
    if made.problems:
        raise _unfit(channel, made, _paths(supplied))
    if not personal:
        made = remind(made, bench.lessons)
    draft = Draft(
        type=channel.id if channel.action else "landing",
        title=_name_draft(channel, made),
        body=made.body,
        channel=channel.id,
        metadata=draft_facts(bench, made),
    )
    return ChannelDraft(
        channel=channel,
        checked=made,
        draft=draft,
        effect=stage_draft(bench, channel, made, _paths(supplied), alone=alone) if channel.action else None,
    )


def _name_draft(channel: Channel, made: CheckedText) -> str:
    if not channel.action:
        return f"{channel.label}: for your own page, not staged"
    return made.title or made.subject or cut(next(iter(sentences(made.body)), ""), MOST_TITLE_CHARS)


def _paths(supplied: SuppliedText | None) -> dict[str, str]:
    """Return the argument path of each part. A title that was not supplied comes from the text."""
    given = supplied or SuppliedText(body="")
    at = {"body": "body", "title": "title", "subject": "subject", "scheduleFor": "scheduleFor", **given.paths}
    if supplied is not None and not supplied.title:
        at["title"] = at["body"]
    return at


def _unfit(channel: Channel, made: CheckedText, paths: dict[str, str]) -> Refusal:
    name = "subject" if channel.shape == "email" else "title"
    of_title = title_problems(channel, made.subject or made.title)
    return Refusal(
        Reason.VALIDATION_ERROR,
        problems=[
            Problem(paths.get(part, part), problem, "the text as it is")
            for problem in made.problems
            for part in [name if problem in of_title else "body"]
        ],
    )


def describe_wanted(channel: Channel) -> dict[str, str]:
    name = "subject" if channel.shape == "email" else "title"
    wanted = {"body": f"your own text. {needs(channel)}"}
    return {**wanted, name: f"its {name}"} if channel.title_required else wanted


def stage_draft(
    bench: Workbench,
    channel: Channel,
    made: CheckedText,
    paths: dict[str, str],
    *,
    alone: bool = False,
) -> StagedEffect:
    """Return the effect of publishing or sending a text, with the warnings for the reviewer."""
    mail = channel.shape == "email"
    details: dict[str, Any] = {"thread": list(made.parts)} if len(made.parts) > 1 else {}
    effect = Effect(
        channel=channel.id,
        verb=channel.verb,
        connector=connector_for(bench, channel),
        title=made.title,
        body=made.body,
        subject=made.subject,
        preheader=made.preheader,
        html=made.html,
        recipients=bench.recipients if mail else (),
        sender=bench.sender if mail else "",
        link=bench.evidence.product_url,
        details=details,
    )
    return StagedEffect(
        effect=effect,
        executor_tool=EXECUTE,
        warnings=tuple(dict.fromkeys((*made.warnings, *bench.warnings))),
        recommendations=made.recommendations,
        schedule_ms=bench.schedule_ms,
        metadata={ALONE: True} if alone else {},
        paths=paths,
        rewrite=describe_wanted(channel) if made.source == NOTE else {},
    )


def place_effects(written: tuple[ChannelDraft, ...]) -> tuple[StagedEffect, ...]:
    """Return the effects of drafts, each with the index of its draft."""
    return tuple(
        msgspec.structs.replace(each.effect, draft=index)
        for index, each in enumerate(written)
        if each.effect is not None
    )


def connector_for(bench: Workbench, channel: Channel) -> str:
    """Return the channel's first connector that is ready, else its last resort on this server."""
    known = [name for name in channel.connectors if name in bench.connectors]
    fallback = known[-1] if known else channel.connector
    return next((name for name in known if name in bench.ready), fallback)


def draft_facts(bench: Workbench, made: CheckedText) -> dict[str, Any]:
    """Return the basis of a draft: claims with their evidence, and the memory that shaped it."""
    return {
        "source": "agent" if made.source == SUPPLIED else made.source,
        "claims": [msgspec.to_builtins(claim) for claim in made.claims],
        "preheader": made.preheader,
        "parts": list(made.parts),
        "memoryUsed": [
            {"entryId": use.entry_id, "kind": bench.kinds.get(use.entry_id, "lesson"), "how": use.how}
            for use in made.memory_used
        ],
        "warnings": list(made.warnings),
    }
