"""The effect type that saves a contact."""

from __future__ import annotations

from functools import partial
from typing import Final

import msgspec

from assent import Effect, View
from assent.platform import EffectType, Repair, Scene
from assent.sdk import Severity
from assent_launch.channels.contacts import CHANNEL_ID
from assent_launch.effect_types import list_fields

_PEOPLE: Final = "a list of objects with email, and firstName and lastName where known"


def _describe(view: View, effect: Effect, scene: Scene) -> View:
    through = f"{view.via}{effect.as_account}"
    return msgspec.structs.replace(
        view,
        noun=f"Contact in {view.via}",
        sentence=f"Creates this contact in {through}, or updates the one with the same e-mail address.",
        outcome=f"Saved: {view.label}.",
        receipt="postId",
        again=Repair("chieflab_save_contacts", "the user wants another version", needs={"contacts": _PEOPLE}),
    )


TYPES: Final = (
    EffectType(
        channel=CHANNEL_ID,
        verb="save",
        label="Contact",
        common_noun=True,
        done="Saved",
        operator="chieflab-email",
        via=("hubspot",),
        risk=Severity.MEDIUM,
        why="It changes what another service keeps about a person.",
        describe=_describe,
        without=("recipients", "amount", "arguments"),
        fields=partial(list_fields, None),
        personal="always",
        trusted=True,
    ),
)
