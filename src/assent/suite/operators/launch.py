"""`chieflab-launch`: a whole launch, composed of posts, an e-mail, landing copy and positioning."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.platform.staging import Draft, Preparation
from assent.platform.values import Record, WireRecord
from assent.suite.channels.channel import needs
from assent.suite.channels.registry import name_connectors
from assent.suite.content.claims import claims_in
from assent.suite.content.language import strip_full_stop
from assent.suite.content.lessons import first_sentence
from assent.suite.content.note import position
from assent.suite.operators.definition import OperatorInfo, Workbench
from assent.suite.operators.drafts import (
    ChannelDraft,
    SuppliedText,
    make_draft,
    place_effects,
    require_channel,
)

INFO = OperatorInfo(
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


def prepare(
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
        channel="positioning",
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
