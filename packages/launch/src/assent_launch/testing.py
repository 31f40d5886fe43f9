"""Shared by tests of the suite: a type for any effect."""

from __future__ import annotations

from typing import Final

import msgspec

from assent import Effect, View
from assent.platform import ByHand, EffectType, EffectTypes, Field, Scene
from assent.sdk import Severity
from assent_launch.channels.channel import find_form
from assent_launch.channels.email.types import describe_mail, find_unfit
from assent_launch.channels.registry import BY_ID
from assent_launch.content.threads import fit_edit
from assent_launch.effect_types import MAIL, POST, describe_post, list_fields, make_effects
from assent_launch.knowledge import recheck

SEVERE: Final = ("charge", "refund", "delete")


def _describe(view: View, effect: Effect, scene: Scene) -> View:
    row = BY_ID.get(effect.channel)
    view = msgspec.structs.replace(view, label=row.label if row is not None else view.label)
    if effect.verb in MAIL:
        mail = describe_mail(view, effect, scene)
        unfit = find_unfit(effect, scene.connector)
        return msgspec.structs.replace(mail, unfit=unfit, done="Sent", personal="few")
    if effect.verb in POST:
        return msgspec.structs.replace(describe_post(row, view, effect, scene), done="Published")
    return view


def _list_fields(effect: Effect) -> tuple[Field, ...]:
    return list_fields(BY_ID.get(effect.channel), effect)


def _fit_edit(before: Effect, effect: Effect) -> Effect:
    return fit_edit(BY_ID.get(effect.channel), before, effect)


def _find_form(effect: Effect) -> ByHand | None:
    return find_form(BY_ID.get(effect.channel), effect)


def _grade(effect: Effect) -> Severity:
    return Severity.HIGH if effect.verb in SEVERE else Severity.MEDIUM


def _explain(effect: Effect) -> str:
    return (
        f"A {effect.verb} cannot be taken back."
        if effect.verb in SEVERE
        else "It is published under your name."
    )


ANY: Final = EffectType(
    channel="any",
    verb="any",
    describe=_describe,
    fields=_list_fields,
    normalise=_fit_edit,
    recheck=recheck,
    by_hand=_find_form,
    risk=_grade,
    why=_explain,
    measured=True,
    trusted=True,
)


def any_effects() -> EffectTypes:
    """Return the types of the suite, and one for every other effect that a test stages."""
    return make_effects(ANY)
