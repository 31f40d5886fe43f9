"""From a declared channel to its type in the registry, and from a declared connector to its
description.

The engine runs these functions in a thread with a time limit (`engine/core/offloading.py`). A
failure is a refusal, so that nothing is staged, and the log has the traceback.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from assent.extensions.channels import PARTS, ChannelEffect, find_problems, list_fields, list_hand_fields
from assent.extensions.effect_types import (
    call_hook,
    collect_problems,
    explain_risk,
    make_problem,
    merge_view,
    refuse_answer,
    require_facets,
)
from assent.extensions.providers import DeclaredConnector
from assent.extensions.signatures import select_arguments
from assent.gate.connection import ConnectorInfo, ProviderWords
from assent.gate.effects import EffectType, Scene, name_account, name_people
from assent.gate.records import Effect
from assent.gate.views import ByHand, Facets, Field, Preview, Repair, View
from assent.kernel.refusals import Problem, Reason, Refusal

NORMAL: Final = ("body", "title", "subject", "link")
"""The texts that `normalise` may change."""


def make_channel_type(channel: ChannelEffect, connectors: Iterable[DeclaredConnector]) -> EffectType:
    declared, options = channel.declared, channel.options
    measured = any(each.defines("measure") for each in connectors if each.id in declared.via)
    return EffectType(
        channel=declared.channel,
        verb=declared.verb,
        label=channel.label,
        noun=channel.noun,
        done=declared.done,
        operator=channel.operator.id,
        tool=channel.tool,
        executor_tool=options.executor_tool,
        approval_executes=options.approval_executes,
        via=tuple(declared.via),
        version=channel.operator.version,
        risk=options.risk,
        why=explain_risk(options.risk, reversible=options.reversible),
        reversible=options.reversible,
        describe=partial(_describe, channel),
        facets=partial(_find_facets, channel),
        facets_vary=bool(channel.hooks["facets"]),
        without=_list_absent(channel),
        observe=partial(_call, channel, "observe") if channel.hooks["observe"] else None,
        fields=partial(_list_fields, channel),
        normalise=partial(_normalise, channel),
        check=partial(_check, channel),
        by_hand=partial(_explain_by_hand, channel),
        personal="few" if declared.shape.recipients else "",
        teaches=False,
        measured=measured,
        takes_picture=declared.shape.picture,
        look_at=declared.look_at,
        needs=declared.shape.body.explain(),
        schedulable=options.schedulable,
    )


def make_provider_info(found: DeclaredConnector, channels: Iterable[ChannelEffect]) -> ConnectorInfo:
    made = found.connector
    served = [each for each in channels if found.id in each.declared.via]
    labels = ", ".join(dict.fromkeys(each.label for each in served))
    gives = made.description or f"Delivers approved messages to {labels or found.label}."
    connected = made.oauth is not None or made.key is not None
    needed = (
        f"You sign in at {found.label} and allow it." if made.oauth else f"You need a key of {found.label}."
    )
    words = ProviderWords(
        gives=gives, asks=made.asks or f"What it needs to do that, at {found.label}.", key=made.key
    )
    return ConnectorInfo(
        id=found.id,
        label=found.label,
        description=gives,
        auth_mode="oauth" if made.oauth is not None else "api_key" if made.key is not None else "none",
        channels=tuple(dict.fromkeys(each.declared.channel for each in served)),
        does=("publish", "measure") if found.defines("measure") else ("publish",),
        needed=needed if connected else "",
        on_page=connected,
        sends_link=any(each.declared.shape.link for each in served),
        connect=words if connected else None,
    )


def prepare_message(channel: ChannelEffect, given: Effect, paths: Mapping[str, str]) -> Effect:
    """Return a message in normal form. Raises `Refusal` for one that its channel would not take; `paths`
    has the argument for each part of the message."""
    made = _normalise(channel, given, given)
    problems = [
        msgspec.structs.replace(each, path=paths.get(each.path, each.path)) for each in _check(channel, made)
    ]
    if problems:
        raise Refusal(Reason.VALIDATION_ERROR, problems=problems)
    return made


def _call(channel: ChannelEffect, hook: str, effect: Effect) -> Any:
    """Return what the extension's function says of an effect; None without one."""
    for function in channel.hooks[hook]:
        return call_hook(channel, hook, function, _select(function, effect))
    return None


def _select(function: Callable[..., Any], effect: Effect) -> dict[str, Any]:
    """Return the parts of an effect that a function takes by name."""
    values = {"effect": effect, **{name: getattr(effect, name) for name in PARTS}}
    return select_arguments(function, values)


def _normalise(channel: ChannelEffect, before: Effect, after: Effect) -> Effect:
    changed = _call(channel, "normalise", after)
    if changed is None:
        return after
    if not isinstance(changed, dict) or not all(
        name in NORMAL and isinstance(text, str) for name, text in changed.items()
    ):
        raise refuse_answer(channel, "normalise", f"it returned no texts of {', '.join(NORMAL)} by name")
    return msgspec.structs.replace(after, **changed)


def _check(channel: ChannelEffect, effect: Effect) -> Iterable[Problem]:
    """Return the problems of a message: those of its shape and those that the extension finds."""
    shape = channel.declared.shape
    found = call_hook(channel, "count", lambda: list(find_problems(shape, effect)), {})
    for function in channel.hooks["check"]:
        said = call_hook(channel, "check", partial(collect_problems, function), _select(function, effect))
        parts = {name: getattr(effect, name) for name in PARTS}
        found += [make_problem(each, parts) for each in said]
    return found


def _find_facets(channel: ChannelEffect, effect: Effect) -> Facets:
    found = _call(channel, "facets", effect)
    if found is None:
        return Facets(recipients=effect.recipients, target=effect.account_id or "")
    return require_facets(channel, found)


def _list_absent(channel: ChannelEffect) -> tuple[str, ...]:
    """Return the values that a message never has: arguments, and if `facets` names no others, an amount
    and the recipients that are not in its shape."""
    shaped = ("recipients",) if not channel.declared.shape.recipients else ()
    implied = () if channel.hooks["facets"] else ("amount", *shaped)
    return tuple(dict.fromkeys(("arguments", *implied, *channel.options.without)))


def _list_fields(channel: ChannelEffect, effect: Effect) -> tuple[Field, ...]:
    return call_hook(channel, "count", partial(list_fields, channel.declared.shape, effect), {})


def _explain_by_hand(channel: ChannelEffect, effect: Effect) -> ByHand | None:
    declared = channel.declared
    if not declared.by_hand:
        return None
    fields = call_hook(channel, "count", partial(list_hand_fields, declared.shape, effect), {})
    return ByHand(where=declared.by_hand, fields=fields, advice=tuple(declared.advice))


def _describe(channel: ChannelEffect, view: View, effect: Effect, scene: Scene) -> View:
    """Return the view with what the extension says of it. The message is drawn beside it, complete."""
    mail = bool(channel.declared.shape.recipients)
    to = name_people(effect.recipients) if mail else f"{view.label}{name_account(effect)}"
    used = next((field.used for field in view.fields if field.name == "body"), len(effect.body))
    view = msgspec.structs.replace(
        view,
        sentence=f"Sends this to {to} through {view.via}.",
        destination=f"To {to}",
        outcome=f"{channel.declared.done}: {view.label}.",
        preview=Preview("mail") if mail else Preview("post", channel.declared.shape.fold, (used,)),
        mail=mail,
        receipt="messageId" if mail else "postId",
        again=Repair(channel.tool, "the user wants another version", needs={"body": "the new text"}),
    )
    return merge_view(channel, view, _call(channel, "describe", effect))
