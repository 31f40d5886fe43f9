"""The operators: all of them in the order of the list (E59), and the drafts and effects of those that
write. They perform none.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, Literal

import msgspec

from assent import Effect
from assent.platform import BY_HAND, Problem, cut, sentences
from assent.sdk import (
    MANY_RECIPIENTS,
    Draft,
    PlannedTime,
    Preparation,
    Reason,
    Record,
    Refusal,
    StagedEffect,
    WireRecord,
    bad_argument,
)
from assent_launch.channels.channel import Channel, needs, title_problems
from assent_launch.channels.registry import BY_ID, CONNECTORS, find_channel, name_connectors
from assent_launch.content.adapter import adapt, adapt_written, remind
from assent_launch.content.claims import claims_in
from assent_launch.content.evidence import Evidence
from assent_launch.content.language import strip_full_stop
from assent_launch.content.lessons import Lessons, first_sentence
from assent_launch.content.note import position
from assent_launch.content.records import NOTE, SUPPLIED, CheckedText, ProductFacts, Written
from assent_launch.effect_types import PUBLISH, SEND


class OperatorInfo(WireRecord, kw_only=True):
    """An operator's list entry (E50). Its primary tool leads to all `tools` by nextToolCalls
    (E1)."""

    id: str
    label: str
    function: str
    primary_tool: str
    connectors: tuple[str, ...]
    status: Literal["live"]
    tools: tuple[str, ...]

    def without_tools(self, names: Collection[str]) -> OperatorInfo:
        return msgspec.structs.replace(self, tools=tuple(each for each in self.tools if each not in names))


class Workbench(Record, kw_only=True):
    """The input of an operator: evidence, lessons, the connectors of the server, and the time."""

    evidence: Evidence
    lessons: Lessons
    connectors: frozenset[str]
    ready: frozenset[str] = frozenset()
    now_ms: int
    written: dict[str, Written] = {}
    """The texts of channels for which the call brings none."""
    kinds: dict[str, str] = {}
    warnings: tuple[str, ...] = ()
    """Problems while gathering evidence; shown on every action."""
    fetched: dict[str, Any] | None = None
    """The request for the product page, and its result."""
    due: PlannedTime = PlannedTime(None)
    mail: dict[str, Any] = {}
    """From whom and to whom an e-mail goes, as fields of its effect."""

    @property
    def reach(self) -> int:
        """How many people an e-mail reaches."""
        return len(self.mail.get("recipients", ())) + len(self.mail.get("cc", ()))

    @property
    def facts(self) -> ProductFacts:
        return ProductFacts(self.evidence, self.lessons)


# Drafts: a text becomes a draft and a staged effect, for every operator that writes.

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
    personal = alone and supplied is not None and bench.reach <= MANY_RECIPIENTS
    if supplied is not None:
        title = supplied.subject or supplied.title
        made = adapt(channel.id, supplied.body, bench.evidence, bench.lessons, title=title, personal=personal)
    elif (written := bench.written.get(channel.id)) is not None:
        made = adapt_written(channel.id, written, bench.facts)
    else:
        return None
    if made.problems:
        raise _unfit(channel, made, _paths(supplied))
    made = remind(made, bench.lessons, personal=personal)
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
        link=bench.evidence.product_url,
        details=details,
        **(bench.mail if channel.shape == "email" else {}),
    )
    return StagedEffect(
        effect=effect,
        executor_tool=SEND if channel.shape == "email" else PUBLISH,
        warnings=tuple(dict.fromkeys((*made.warnings, *bench.warnings))),
        recommendations=made.recommendations,
        schedule_ms=bench.due.ms,
        schedule_offset=bench.due.offset,
        own_words=alone,
        paths={"recipients": "to" if alone else "email.to", **paths},
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
    """Return the channel's first connector that is ready, else its own or its last resort on this server."""
    known = [name for name in channel.connectors if name in bench.connectors]
    own = [each.id for each in CONNECTORS if each.channels == (channel.id,)]
    fallback = next((name for name in reversed(known) if name in own), (known or [channel.connector])[-1])
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


# A launch is composed of posts, an e-mail, landing copy and positioning.

LAUNCH: Final = OperatorInfo(
    id="chieflab-launch",
    label="Launch",
    function="Prepares a full launch: positioning, a draft per channel, landing copy and e-mail.",
    primary_tool="chieflab_launch_product",
    connectors=name_connectors("publish", "send"),
    status="live",
    tools=(
        "chieflab_launch_product",
        "chieflab_approve_action",
        "chieflab_execute_approved_action",
        "chieflab_measure",
        "chieflab_create_social_graphics",
    ),
)

DEFAULT_CHANNELS: Final = ("site", "linkedin", "x", "email", "landing")
NO_NOTE: Final = "The facts at hand give no plain note that serves the goal here."


class ChannelNote(WireRecord):
    """A channel for which the agent is asked to supply a draft."""

    channel: str
    needs: str
    wanted: str = ""


class LaunchPlan(Record, kw_only=True):
    preparation: Preparation
    written: tuple[ChannelDraft, ...]
    missing: tuple[ChannelNote, ...]
    positioning: str
    angle: str

    @property
    def channels(self) -> tuple[str, ...]:
        return tuple(each.channel.id for each in self.written)


def headlines(plan: LaunchPlan) -> tuple[str, ...]:
    """Return headlines for the launch's picture, best first; shorter ones follow."""
    titles = [each.checked.title or each.checked.subject for each in plan.written]
    opening = [first_sentence(each.checked.body) for each in plan.written]
    return tuple(strip_full_stop(text) for text in (plan.angle, *titles, *opening) if text)


def prepare_launch(
    bench: Workbench, channels: tuple[str, ...], drafts: dict[str, SuppliedText], goal: str
) -> LaunchPlan:
    """Prepare drafts and actions, in order."""
    written: list[ChannelDraft] = []
    missing: list[ChannelNote] = []
    for name in dict.fromkeys((*channels, *drafts)):
        row = require_channel(name)
        made = make_draft(bench, row, drafts.get(name), in_launch=True)
        if made is None:
            missing.append(ChannelNote(name, NO_NOTE, needs(row)))
        else:
            written.append(made)
    stance, angle = position(bench.facts, goal)
    claims = claims_in((stance,), bench.evidence)
    positioning = Draft(
        type="positioning",
        title="Positioning",
        body=stance,
        metadata={"claims": [msgspec.to_builtins(claim) for claim in claims]},
    )
    outputs: dict[str, Any] = {"channels": [each.channel.id for each in written]}
    if missing:
        outputs["draftsNeeded"] = [note.channel for note in missing]
    return LaunchPlan(
        preparation=Preparation(
            drafts=(*(each.draft for each in written), *((positioning,) if stance else ())),
            effects=place_effects(tuple(written)),
            outputs=outputs,
        ),
        written=tuple(written),
        missing=tuple(missing),
        positioning=stance,
        angle=angle,
    )


POST: Final = OperatorInfo(
    id="chieflab-post",
    label="Post",
    function="Prepares one post for one channel and publishes it once it is approved.",
    primary_tool="chieflab_post",
    connectors=name_connectors("publish"),
    status="live",
    tools=("chieflab_post", "chieflab_execute_approved_action"),
)


def prepare_post(bench: Workbench, channel: Channel, supplied: SuppliedText | None) -> Preparation | None:
    """Return one draft and one action; None without a text."""
    made = make_draft(bench, channel, supplied)
    return Preparation(drafts=(made.draft,), effects=place_effects((made,))) if made is not None else None


EMAIL: Final = OperatorInfo(
    id="chieflab-email",
    label="E-mail",
    function="Prepares one e-mail and sends it once it is approved.",
    primary_tool="chieflab_send",
    connectors=name_connectors("send", "contacts"),
    status="live",
    tools=("chieflab_send", "chieflab_execute_approved_action", "chieflab_save_contacts"),
)
MEASURE: Final = OperatorInfo(
    id="chieflab-measure",
    label="Measure",
    function="Reads the results of a run from every source that has numbers and recommends the next move.",
    primary_tool="chieflab_measure",
    connectors=name_connectors("measure"),
    status="live",
    tools=(
        "chieflab_measure",
        "chieflab_diagnose_marketing",
        "chieflab_check_measurement_due",
        "chieflab_record_manual_metrics",
        "chieflab_post_launch_review",
    ),
)
BRAIN: Final = OperatorInfo(
    id="chieflab-brain",
    label="Brain",
    function="Keeps voice, facts, proofs, results and decisions per tenant, and gives them to the next run.",
    primary_tool="chieflab_brain_read",
    connectors=(),
    status="live",
    tools=(
        "chieflab_brain_read",
        "chieflab_brain_record",
        "chieflab_brain_forget",
        "chieflab_add_voice_sample",
        "chieflab_list_voice_samples",
    ),
)
CONNECT: Final = OperatorInfo(
    id="chieflab-connect",
    label="Connect",
    function="Tells how to connect a provider and whether it is connected.",
    primary_tool="chieflab_connect_provider",
    connectors=tuple(info.id for info in CONNECTORS if info is not BY_HAND),
    status="live",
    tools=(
        "chieflab_connect_provider",
        "chieflab_disconnect_provider",
        "chieflab_list_connectors",
    ),
)

OPERATORS: Final = (LAUNCH, POST, EMAIL, MEASURE, BRAIN, CONNECT)
