"""From a declared effect or channel to its type in the registry: view, checks, normal form; and from a declared
connector to its description.

The engine runs these functions in a thread with a time limit (`engine/core/offloading.py`). A
failure is a refusal, so that nothing is staged, and the log has the traceback.

In the text form, which people read and approve, each argument has a line `Label: value`. A long value, one
with line breaks, and a list or object follow their label as an indented block, so that no value can look
like another argument. A chat does not mark invisible characters, so this text names them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, TypeVar

import msgspec

from assent.engine.core.offloading import refuse_extension
from assent.extensions.channels import (
    PARTS,
    ChannelEffect,
    DeclaredConnector,
    find_problems,
    list_fields,
    list_hand_fields,
)
from assent.extensions.operators import EffectFunction
from assent.extensions.options import ArgumentProblem
from assent.extensions.signatures import Money, Signature, select_arguments
from assent.gate.connection import ConnectorInfo, ProviderWords
from assent.gate.content.cleaning import printable
from assent.gate.effects import EffectType, Reverse, Scene
from assent.gate.records import Action, Effect, find_person, name_people
from assent.gate.undo import RECEIPT
from assent.gate.views import OPTIONAL_VALUES, ByHand, Facets, Field, Preview, Repair, Severity, Undo, View
from assent.kernel.limits import MAX_CONTENT_CHARS, MAX_RECIPIENTS
from assent.kernel.refusals import Problem, Reason, Refusal
from assent.kernel.schemas import flatten
from assent.kernel.texts import is_one_line, name_unseen, quote, truncate

LINE_CHARS: Final = 100
"""The longest value that stands beside its label."""
INDENT: Final = "    "
NO_ARGUMENTS: Final = "It takes no arguments."
NONE: Final = "(none)"


def render_arguments(signature: Signature, arguments: Mapping[str, Any]) -> str:
    """Return every argument, complete, in the order of the function's parameters."""
    return render_labelled((each.label, arguments.get(each.name)) for each in signature.parameters)


def render_labelled(values: Iterable[tuple[str, Any]]) -> str:
    """Return every value with its label, complete."""
    return "\n".join(_render(label, value) for label, value in values) or NO_ARGUMENTS


def _render(label: str, value: Any) -> str:
    text = name_unseen(render_value(value))
    if len(text.splitlines()) <= 1 and len(text) <= LINE_CHARS:
        return f"{label}: {text}"
    # Split as str.splitlines does: no separator may begin a line that looks like a label.
    return "\n".join((f"{label}:", *(INDENT + line for line in text.splitlines())))


def render_value(value: Any) -> str:
    """Return a JSON value as text. A text that could be read as something else is quoted."""
    if value is None:
        return NONE
    if isinstance(value, str):
        odd = not value or value != value.strip() or value.startswith(("(", '"'))
        return _quote(value) if odd else value
    if isinstance(value, list) and value and all(not isinstance(each, list | dict) for each in value):
        return "\n".join(f"- {_quote(each) if _has_break(each) else render_value(each)}" for each in value)
    if isinstance(value, list | dict) and value:
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    return _quote(value)


def _has_break(value: Any) -> bool:
    return isinstance(value, str) and len(value.splitlines()) > 1


def _quote(value: Any) -> str:
    return msgspec.json.encode(value).decode()


log = logging.getLogger("assent.extensions")

T = TypeVar("T")
Declared = EffectFunction | ChannelEffect

TITLE_CHARS: Final = 200
DESCRIBED: Final = (
    "title",
    "sentence",
    "destination",
    "summary",
    "outcome",
    "done",
    "look_at",
    "why",
    "blocks",
)
"""The fields of a view that an extension may set. Risk, fields and facets have their own place."""


def make_effect_type(effect: EffectFunction) -> EffectType:
    options = effect.options
    return EffectType(
        channel=options.channel,
        verb=options.verb,
        version=effect.operator.version,
        label=effect.operator.label,
        noun=options.title,
        operator=effect.operator.id,
        tool="" if effect.is_reverse else effect.tool,
        executor_tool=options.executor_tool,
        approval_executes=options.approval_executes,
        via=(effect.tool,),
        risk=options.risk,
        why=explain_risk(options.risk, effect.reverse[1] if effect.reverse is not None else None),
        reverse=partial(_find_reverse, effect) if effect.reverse is not None else None,
        describe=partial(_describe, effect),
        facets=partial(_find_facets, effect),
        facets_vary=bool(effect.hooks["facets"]),
        # Its signature names every argument, and a call is stored with all of them.
        without=tuple(dict.fromkeys(("arguments", *options.without))),
        fields=partial(_list_fields, effect),
        normalise=partial(_normalise, effect),
        check=partial(_check, effect),
        schema=partial(_schema, effect),
        schedulable=options.schedulable,
        teaches=False,
        measured=bool(effect.hooks["measure"]),
    )


def make_connector_info(effect: EffectFunction) -> ConnectorInfo:
    return ConnectorInfo(
        id=effect.tool,
        label=effect.operator.label,
        description=effect.description.partition(" USE WHEN")[0],
        auth_mode="none",
        channels=(effect.options.channel,),
        does=("publish", *(("measure",) if effect.hooks["measure"] else ())),
    )


def prepare_effect(
    effect: EffectFunction, arguments: dict[str, Any], schedule_ms: int | None = None
) -> Effect:
    """Return the envelope of a call: the checked arguments in normal form, and their text form. Raises
    `Refusal`."""
    options = effect.options
    given = Effect(
        channel=options.channel,
        verb=options.verb,
        connector=effect.tool,
        body="",
        arguments=arguments,
        schedule_ms=schedule_ms,
    )
    made = _normalise(effect, given, given)
    if problems := list(_check(effect, made)):
        raise Refusal(Reason.VALIDATION_ERROR, problems=problems)
    return made


def explain_risk(risk: Severity, undo: Undo | None) -> str:
    if undo is None:
        return "It cannot be undone." if risk is Severity.HIGH else ""
    return f"It can be undone, but for this: {undo.leaves}" if undo.leaves else "It can be undone."


def _find_reverse(effect: EffectFunction, stored: Effect) -> Reverse | None:
    """Return how an effect is taken back: by the function's own arguments and the id on the receipt."""
    if effect.reverse is None:
        return None
    reverse, undo = effect.reverse

    def make(action: Action) -> Effect:
        known = {RECEIPT: action.external_id or "", **action.effect.arguments}
        return prepare_effect(reverse, {each.name: known[each.name] for each in reverse.signature.parameters})

    return Reverse(make=make, within_ms=undo.within_ms, leaves=undo.leaves)


def _schema(effect: EffectFunction, stored: Effect) -> dict[str, Any]:
    return flatten(effect.signature.request_type(effect.tool, []), keep_null=False)


def call_hook(effect: Declared, hook: str, function: Callable[..., T], values: dict[str, Any]) -> T:
    """Call a function of the extension that only computes. Raises `Refusal`."""
    try:
        return function(**values)
    except ArgumentProblem as problem:
        raise refuse_argument(problem) from None
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        name = f"{hook} of {effect.__name__}"
        log.exception("%s (%s) failed", name, effect.place)
        raise refuse_extension(name, f"it raised {type(error).__name__}") from error


def refuse_answer(effect: Declared, hook: str, why: str) -> Refusal:
    """Build the refusal for a function of the extension that returned the wrong thing."""
    log.error("%s of %s (%s) %s", hook, effect.__name__, effect.place, why)
    return refuse_extension(f"{hook} of {effect.__name__}", why)


def refuse_argument(problem: ArgumentProblem) -> Refusal:
    """Build the refusal for an argument that the extension does not take."""
    return Refusal(Reason.VALIDATION_ERROR, problems=[make_problem(problem)])


def make_problem(problem: ArgumentProblem, arguments: Mapping[str, Any] | None = None) -> Problem:
    """Return a problem for the answer, with the value that the extension names, else the argument's."""
    got = problem.got if problem.got is not None else (arguments or {}).get(problem.field)
    return Problem(
        str(problem.field), str(problem.expected), "the present value" if got is None else quote(got, 80)
    )


def _read(effect: EffectFunction, stored: Effect) -> dict[str, Any]:
    try:
        return effect.signature.read(stored.arguments)
    except ArgumentProblem as problem:
        raise refuse_argument(problem) from None


def _normalise(effect: EffectFunction, before: Effect, after: Effect) -> Effect:
    """Return the effect with its arguments in normal form and their text form as its body."""
    values = _read(effect, after)
    for function in effect.hooks["normalise"]:
        changed = call_hook(effect, "normalise", function, select_arguments(function, values))
        if changed is None:
            continue
        if not isinstance(changed, dict) or not changed.keys() <= values.keys():
            raise refuse_answer(effect, "normalise", "it returned no dictionary of its arguments")
        values = {**values, **changed}
    try:
        arguments = effect.signature.write(values)
    except ArgumentProblem as problem:
        raise refuse_argument(problem) from None
    body = render_arguments(effect.signature, arguments)
    return msgspec.structs.replace(after, arguments=arguments, body=body)


def _check(effect: EffectFunction, stored: Effect) -> Iterable[Problem]:
    """Return the problems of the arguments, also one that cannot be shown whole."""
    values = _read(effect, stored)
    if len(stored.body) > MAX_CONTENT_CHARS:
        longest = max(
            stored.arguments, key=lambda name: len(str(stored.arguments[name])), default="arguments"
        )
        expected = f"arguments that a person can read: at most {MAX_CONTENT_CHARS} characters together"
        return [Problem(longest, expected, f"{len(stored.body)} characters")]
    return [
        make_problem(each, stored.arguments)
        for function in effect.hooks["check"]
        for each in call_hook(
            effect, "check", partial(collect_problems, function), select_arguments(function, values)
        )
    ]


def collect_problems(function: Callable[..., Any], **values: Any) -> list[ArgumentProblem]:
    """Run a check. It may raise a problem, return one or several, or be a generator of them."""
    try:
        found = function(**values)
        if found is None:
            return []
        listed = [found] if isinstance(found, ArgumentProblem) else list(found)
    except ArgumentProblem as problem:
        return [problem]
    if not all(isinstance(each, ArgumentProblem) for each in listed):
        raise TypeError("a check raises or returns assent.Problem")
    return listed


def _find_facets(effect: EffectFunction, stored: Effect) -> Facets:
    """Return the facets that the extension declares, else the amount of its first money argument."""
    values = _read(effect, stored)
    for function in effect.hooks["facets"]:
        return require_facets(
            effect, call_hook(effect, "facets", function, select_arguments(function, values))
        )
    money = next((each for each in values.values() if isinstance(each, Money)), None)
    return Facets(amount=f"{money.value:f}", currency=money.currency) if money is not None else Facets()


def require_facets(effect: Declared, found: Any) -> Facets:
    """Return the facets of an extension. Raises `Refusal` for anything else, and if they are no texts or
    too long to be stored."""
    if not isinstance(found, Facets):
        raise refuse_answer(effect, "facets", f"it returned {type(found).__name__}, not Facets")
    for name in ("amount", "currency", "target"):
        if not isinstance(value := getattr(found, name), str):
            raise refuse_answer(effect, "facets", f"its {name} is no text but {type(value).__name__}")
    try:
        read = msgspec.convert(msgspec.to_builtins(found), Facets)
        unfit = len(read.recipients) > MAX_RECIPIENTS or len(msgspec.json.encode(read)) > MAX_CONTENT_CHARS
    except (msgspec.ValidationError, TypeError, UnicodeEncodeError):
        unfit = True
    if unfit:
        raise refuse_answer(effect, "facets", f"its recipients are no texts, or more than {MAX_RECIPIENTS}")
    return found


def _list_fields(effect: EffectFunction, stored: Effect) -> tuple[Field, ...]:
    """Return a field for each argument, by which a person edits it."""
    return tuple(
        Field(
            name=f"arguments.{each.name}",
            label=each.label,
            many=each.is_text and not _is_short(stored.arguments.get(each.name)),
            required=not each.optional and stored.arguments.get(each.name) != "",
        )
        for each in effect.signature.parameters
    )


def _is_short(value: Any) -> bool:
    return not isinstance(value, str) or (is_one_line(value) and len(value) <= TITLE_CHARS)


def _describe(effect: EffectFunction, view: View, stored: Effect, scene: Scene) -> View:
    """Return the view with what the extension says of it. Every argument is drawn beside it."""
    title, values = effect.options.title, _read(effect, stored)
    told = effect.description.partition(" USE WHEN")[0].strip() or title
    exactly = ", with exactly these arguments" if effect.signature.parameters else ""
    view = msgspec.structs.replace(
        view,
        title=_fit(name_act(title, values)),
        sentence=_fit(f"{told}{'' if told.endswith(('.', '!', '?')) else '.'} It runs once{exactly}."),
        destination=effect.operator.label,
        outcome=f"Done: {title}.",
        preview=Preview("arguments"),
    )
    for function in effect.hooks["describe"]:
        found = call_hook(effect, "describe", function, select_arguments(function, values))
        view = merge_view(effect, view, found)
    return view


def name_act(title: str, values: Mapping[str, Any]) -> str:
    """Return an act in one line by its arguments: `Refund 1,248.00 NOK to Kari Nordmann`, `Delete user: kari`."""
    who = find_person(values)
    money = next((each for each in values.values() if isinstance(each, Money)), None)
    if money is not None:
        return f"{title} {money.value:,f} {money.currency}{f' to {who}' if who else ''}"
    return f"{title}: {who}" if who else title


def _fit(text: str) -> str:
    return truncate(" ".join(printable(text[: TITLE_CHARS * 8]).split()), TITLE_CHARS)


def merge_view(effect: Declared, view: View, found: Any) -> View:
    """Return the view with what `describe` returned: a `View`, a title or None. A text becomes one
    line, shortened: it may hold an argument, which is shown whole elsewhere. Raises `Refusal` for
    anything else and for what cannot be shown."""
    said = View(title=found) if isinstance(found, str) else found
    if said is None:
        return view
    if not isinstance(said, View):
        raise refuse_answer(effect, "describe", f"it returned {type(said).__name__}, not a View")
    plain = View()
    changed = {name: getattr(said, name) for name in DESCRIBED if getattr(said, name) != getattr(plain, name)}
    try:
        changed |= {name: _fit(text) for name, text in changed.items() if isinstance(text, str)}
        if "title" in changed and view.preview.kind == "arguments":
            changed.setdefault("outcome", f"Done: {changed['title']}.")
        shown = msgspec.convert(msgspec.to_builtins(msgspec.structs.replace(plain, **changed)), View)
        encoded = msgspec.json.encode(shown)
        unfit = len(encoded) > MAX_CONTENT_CHARS or b"\\u0000" in encoded
    except (msgspec.ValidationError, TypeError, UnicodeEncodeError):
        unfit = True
    if unfit:
        why = (
            "its view cannot be shown: texts and blocks are those of assent.View, without NUL characters, at most "
            f"{MAX_CONTENT_CHARS} characters together"
        )
        raise refuse_answer(effect, "describe", why)
    return msgspec.structs.replace(view, **changed)


NORMAL: Final = ("body", "title", "subject", "link")
"""The texts that `normalise` may change."""


TAKE_DOWN: Final = "take_down"
"""The verb of a message's reverse begins with it, and a connector's method that performs it has this name."""


def make_channel_types(
    channel: ChannelEffect, connectors: Iterable[DeclaredConnector]
) -> Iterator[EffectType]:
    """Yield the type of a channel's message, and that of taking one down if a connector of it can."""
    declared, options = channel.declared, channel.options
    used = [each for each in connectors if each.id in declared.via]
    measured = any(each.defines("measure") for each in used)
    undo = {each.id: each.undo for each in used if each.defines(TAKE_DOWN)}
    verb = f"{TAKE_DOWN}_{declared.verb}"
    both: dict[str, Any] = {
        "channel": declared.channel,
        "label": channel.label,
        "operator": channel.operator.id,
        "executor_tool": options.executor_tool,
        "approval_executes": options.approval_executes,
        "version": channel.operator.version,
        "risk": options.risk,
    }
    if undo:
        yield EffectType(
            **both,
            verb=verb,
            noun=f"{channel.noun} to take down"[:TITLE_CHARS],
            via=tuple(undo),
            why=explain_risk(options.risk, None),
            without=OPTIONAL_VALUES,
            schedulable=False,
            teaches=False,
        )
    yield EffectType(
        **both,
        verb=declared.verb,
        noun=channel.noun,
        done=declared.done,
        tool=channel.tool,
        via=tuple(declared.via),
        why=explain_risk(options.risk, next(iter(undo.values()), None)),
        taken_down=(verb, undo) if undo else None,
        describe=partial(_describe_message, channel),
        facets=partial(_find_message_facets, channel),
        facets_vary=bool(channel.hooks["facets"]),
        without=_list_absent(channel),
        observe=partial(_call, channel, "observe") if channel.hooks["observe"] else None,
        fields=partial(_list_message_fields, channel),
        normalise=partial(_normalise_message, channel),
        check=partial(_check_message, channel),
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
    made = _normalise_message(channel, given, given)
    problems = [
        msgspec.structs.replace(each, path=paths.get(each.path, each.path))
        for each in _check_message(channel, made)
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


def _normalise_message(channel: ChannelEffect, before: Effect, after: Effect) -> Effect:
    changed = _call(channel, "normalise", after)
    if changed is None:
        return after
    if not isinstance(changed, dict) or not all(
        name in NORMAL and isinstance(text, str) for name, text in changed.items()
    ):
        raise refuse_answer(channel, "normalise", f"it returned no texts of {', '.join(NORMAL)} by name")
    return msgspec.structs.replace(after, **changed)


def _check_message(channel: ChannelEffect, effect: Effect) -> Iterable[Problem]:
    """Return the problems of a message: those of its shape and those that the extension finds."""
    shape = channel.declared.shape
    found = call_hook(channel, "count", lambda: list(find_problems(shape, effect)), {})
    for function in channel.hooks["check"]:
        said = call_hook(channel, "check", partial(collect_problems, function), _select(function, effect))
        parts = {name: getattr(effect, name) for name in PARTS}
        found += [make_problem(each, parts) for each in said]
    return found


def _find_message_facets(channel: ChannelEffect, effect: Effect) -> Facets:
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


def _list_message_fields(channel: ChannelEffect, effect: Effect) -> tuple[Field, ...]:
    return call_hook(channel, "count", partial(list_fields, channel.declared.shape, effect), {})


def _explain_by_hand(channel: ChannelEffect, effect: Effect) -> ByHand | None:
    declared = channel.declared
    if not declared.by_hand:
        return None
    fields = call_hook(channel, "count", partial(list_hand_fields, declared.shape, effect), {})
    return ByHand(where=declared.by_hand, fields=fields, advice=tuple(declared.advice))


def _describe_message(channel: ChannelEffect, view: View, effect: Effect, scene: Scene) -> View:
    """Return the view with what the extension says of it. The message is drawn beside it, complete."""
    mail = bool(channel.declared.shape.recipients)
    to = name_people(effect.recipients) if mail else f"{view.label}{effect.as_account}"
    used = next((field.used for field in view.fields if field.name == "body"), len(effect.body))
    view = msgspec.structs.replace(
        view,
        sentence=f"Sends this to {to} through {scene.connector.name_inside}.",
        destination=f"To {to}",
        outcome=f"{channel.declared.done}: {view.label}.",
        preview=Preview("mail") if mail else Preview("post", channel.declared.shape.fold, (used,)),
        mail=mail,
        receipt="messageId" if mail else "postId",
        again=Repair(channel.tool, "the user wants another version", needs={"body": "the new text"}),
    )
    return merge_view(channel, view, _call(channel, "describe", effect))
