"""Makes the effect types of the suite's channels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

import msgspec

from assent import Effect, View
from assent.platform import OPTIONAL_VALUES, EffectType, EffectTypes, Field, Preview, Repair, Scene
from assent.sdk import Severity
from assent_launch.channels.channel import Channel, find_form, needs
from assent_launch.channels.registry import CONNECTORS, MODULES, list_channels
from assent_launch.content import counting
from assent_launch.content.lessons import is_about_writing
from assent_launch.content.threads import fit_edit
from assent_launch.knowledge import recheck

PUBLISH: Final = "chieflab_publish_approved_post"
SEND: Final = "chieflab_send_email"
MAX_HEADLINE_CHARS: Final = 300
"""The longest subject or title that a form takes."""
MAIL: Final = ("email", "send")
POST: Final = ("post", "publish")


def describe_post(row: Channel | None, view: View, effect: Effect, scene: Scene) -> View:
    args = {"channel": effect.channel}
    return msgspec.structs.replace(
        view,
        sentence=f"Posts this to {view.label}{effect.as_account} through {scene.connector.name_inside}.",
        outcome=f"Published: {view.label}.",
        has_address=True,
        preview=_preview(row, effect),
        receipt="postId",
        again=Repair(
            "chieflab_post", "the user wants another version", args, {"body": "the new text"}, in_run=True
        ),
    )


def _preview(row: Channel | None, effect: Effect) -> Preview:
    if row is None:
        return Preview()
    parts = effect.details.get("thread")
    if isinstance(parts, list) and len(parts) > 1 and "\n\n".join(map(str, parts)) == effect.body:
        return Preview("thread", row.fold, tuple(row.body.count(str(part)) for part in parts))
    return Preview(row.preview, row.fold, (row.body.count(effect.body),))


def list_fields(row: Channel | None, effect: Effect) -> tuple[Field, ...]:
    """Return the fields of a text that a person may edit, with the limits of its channel."""
    mail = effect.verb in MAIL or bool(effect.recipients)
    if row is None or mail:
        body = Field(name="body", label="Text", many=True, used=len(effect.body))
    else:
        body = Field(
            name="body",
            label="Text",
            many=True,
            most=row.body.most,
            used=row.body.count(effect.body),
            unit=row.body.unit,
            counts="x" if row.body.count is counting.x_weight else "plain",
            splits=row.splits,
        )
    subject = Field(name="subject", label="Subject", most=MAX_HEADLINE_CHARS, used=len(effect.subject))
    title = Field(name="title", label="Title", most=MAX_HEADLINE_CHARS, used=len(effect.title))
    headline = (title,) if effect.title else ()
    return (*Field.list_envelope(), subject, *headline, body) if mail else (*headline, body)


def make_types(row: Channel, verbs: Iterable[str] = POST, **changes: Any) -> tuple[EffectType, ...]:
    """Return the types of a channel, one per verb. `changes` replace values of a type that posts."""
    usual = EffectType(
        channel=row.id,
        verb="",
        label=row.label,
        aliases=row.aliases,
        noun=f"{row.label} post",
        done="Published",
        operator="chieflab-post",
        tool="chieflab_post",
        executor_tool=PUBLISH,
        via=row.connectors,
        risk=Severity.MEDIUM,
        why="It is published under your name.",
        describe=partial(describe_post, row),
        without=OPTIONAL_VALUES,
        fields=partial(list_fields, row),
        normalise=partial(fit_edit, row),
        recheck=recheck,
        by_hand=partial(find_form, row),
        measured=True,
        takes_picture=row.publishes_picture,
        is_lesson=is_about_writing,
        look_at=row.look_at,
        needs=needs(row),
        trusted=True,
    )
    return tuple(msgspec.structs.replace(usual, verb=verb, **changes) for verb in verbs)


TAKES_DOWN: Final = {"bluesky": "Whoever has read it has read it, and other servers may keep a copy."}
"""The connectors that take down what they posted, and what that leaves."""
TAKE_DOWN: Final = "take_down"


def with_take_down(row: Channel) -> tuple[EffectType, ...]:
    """Return the usual types of a channel, and that of taking a post down if a connector of it can."""
    ways = tuple(name for name in row.connectors if name in TAKES_DOWN)
    if not ways:
        return make_types(row)

    removal = EffectType(
        channel=row.id,
        verb=TAKE_DOWN,
        label=row.label,
        noun=f"{row.label} post to take down",
        operator="chieflab-post",
        via=ways,
        risk=Severity.MEDIUM,
        why="It disappears for its readers.",
        describe=_describe_take_down,
        without=OPTIONAL_VALUES,
        look_at=row.look_at,
        trusted=True,
    )
    return (*make_types(row, taken_down=(TAKE_DOWN, TAKES_DOWN)), removal)


def _describe_take_down(view: View, effect: Effect, scene: Scene) -> View:
    said = f"Takes this post down from {view.label}{effect.as_account} through {scene.connector.name_inside}."
    return msgspec.structs.replace(view, sentence=said, receipt="postId")


def list_types(modules: Iterable[ModuleType]) -> Iterator[EffectType]:
    """Yield the types of channels: those of a folder's `types.py`, else the usual ones. A channel that
    is never sent has none."""
    for module in modules:
        name = f"{module.__name__}.types"
        if hasattr(module, "__path__") and find_spec(name) is not None:
            yield from import_module(name).TYPES
        else:
            for row in list_channels((module,)):
                if row.action:
                    yield from with_take_down(row)


def effect_types() -> Iterator[EffectType]:
    """Yield the types of all channels."""
    return list_types(MODULES)


def make_effects(fallback: EffectType | None = None) -> EffectTypes:
    """Return the types and connectors of the suite. `fallback` is the type of every other effect."""
    return EffectTypes(effect_types(), CONNECTORS, fallback)
