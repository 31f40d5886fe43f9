"""Effect types: what the core knows of an external effect, and where that knowledge is registered.

An `EffectType` says once what an effect is: its words, its risk, its checks, the connectors that can
deliver it, what may be edited. Extensions register types. The core has two of its own: the
confirmation of a workflow step, and the hand-over of any effect to a person (`MANUAL`).

`EffectTypes.describe` computes the view of an effect (`assent.gate.views`). It calls code of an
extension, so it runs when an action is staged or edited and never when one is shown. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from assent.gate.connection import ConnectorInfo
from assent.gate.records import WORKFLOW, Effect
from assent.gate.undo import describe_reverse, is_reverse, make_take_down
from assent.gate.views import (
    OPTIONAL_VALUES,
    ByHand,
    Executes,
    Facets,
    Field,
    HandField,
    Preview,
    Repair,
    Severity,
    Undo,
    Unfit,
    View,
)
from assent.kernel.refusals import Problem, bad_argument
from assent.kernel.structs import Record
from assent.kernel.texts import truncate

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from assent.gate.preflight import Remarks
    from assent.gate.records import Action

EXECUTE: Final = "chieflab_execute_approved_action"
"""The executor that answers suggest; the specific ones stay callable."""

MANUAL: Final = "manual"
"""The connector of an action that a person performs by hand."""

SUMMARY_CHARS: Final = 110


class Scene(Record, kw_only=True):
    """Where an effect is described: its workspace, this server's address, its connector."""

    workspace_id: str
    base_url: str
    connector: ConnectorInfo


class Reverse(Record, kw_only=True):
    """How an effect of a type is taken back."""

    make: Callable[[Action], Effect]
    """Takes the executed action, and returns the effect that takes it back, with exact arguments."""
    within_ms: int | None = None
    """How long after the execution; None: always."""
    leaves: str = ""
    """What that does not undo, in a sentence."""


class EffectType(Record, kw_only=True):
    """What an effect of one channel and verb is."""

    channel: str
    verb: str
    version: int = 1
    label: str = ""
    """The channel's name for people."""
    aliases: tuple[str, ...] = ()
    """Other names that people give the channel."""
    page_label: str = ""
    """The channel's name on pages, where it differs."""
    noun: str = ""
    common_noun: bool = False
    done: str = "Done"
    operator: str = ""
    tool: str = ""
    """The tool that prepares it."""
    executor_tool: str = EXECUTE
    executes: Executes = "server"
    approval_executes: bool = False
    via: tuple[str, ...] = ()
    """Its connectors, in order of preference."""
    risk: Severity | Callable[[Effect], Severity] = Severity.HIGH
    why: str | Callable[[Effect], str] = ""
    reverse: Callable[[Effect], Reverse | None] | None = None
    """Returns how an effect is taken back; None if it cannot be. Without one it is irreversible."""
    taken_down: tuple[str, Mapping[str, Undo | str]] | None = None
    """The verb by which its connectors take a message down, and what that leaves for each of them: a sentence, or a
    `Undo` with a time limit, too."""
    describe: Callable[[View, Effect, Scene], View] | None = None
    """Returns the view, given the general one."""
    facets: Callable[[Effect], Facets] | None = None
    without: tuple[str, ...] = ()
    """Which of `OPTIONAL_VALUES` its effects never have: a policy's condition on them is false. Of
    arguments: no others than those of the call. A missing value that is not declared is unknown."""
    fields: Callable[[Effect], tuple[Field, ...]] | None = None
    fixed: str = ""
    normalise: Callable[[Effect, Effect], Effect] | None = None
    """Takes the effect before and after an edit, and returns the one to store."""
    check: Callable[[Effect], Iterable[Problem]] | None = None
    """Returns the problems of an effect that is staged or edited."""
    unfit: Callable[[Effect, ConnectorInfo], Unfit | None] | None = None
    observe: Callable[[Effect], Mapping[str, Any]] | None = None
    """Returns the state of what it would change, by name (`assent.gate.rules.drift`)."""
    facets_vary: bool = False
    """Whether its facets can change while it waits; they are then computed again."""
    recheck: Callable[[Any, Action, Effect], Awaitable[Remarks]] | None = None
    """Takes the store, the action and the edited effect; returns remarks about the edited text."""
    by_hand: Callable[[Effect], ByHand | None] | None = None
    """Returns how a person performs it; None for the general form."""
    personal: Literal["", "few", "always"] = ""
    teaches: bool = True
    """Whether decisions about it become lessons for later drafts."""
    measured: bool = False
    takes_picture: bool = False
    """Whether a picture can be attached."""
    counts_visits: bool = False
    """Whether it makes a page, which other channels lead to and whose visitors a source can count."""
    is_lesson: Callable[[str], bool] | None = None
    """Whether the reason of a rejection is about the content, so that later drafts can learn from it."""
    look_at: str = ""
    needs: str = ""
    """Describes the required form to the agent that writes it."""
    schema: Callable[[Effect], Mapping[str, Any]] | None = None
    """Returns the JSON Schema of its arguments, if it is a function."""
    proposer_edits: bool = False
    """Whether no other key than the one that proposed it may edit it, for a family."""
    expires_ms: int | None = None
    """How long it waits for a decision; None: as long as usual."""
    schedulable: bool = True
    trusted: bool = False
    """Whether its functions are bounded and may run on the event loop: types of this package."""

    @property
    def id(self) -> str:
        return f"{self.channel}_{self.verb}"

    def find_reverse(self, effect: Effect) -> Reverse | None:
        """Return how an effect is taken back; None if it cannot be. What a person did by hand cannot."""
        if effect.connector == MANUAL:
            return None
        if self.taken_down is not None:
            verb, ways = self.taken_down
            known = ways.get(effect.connector)
            if known is None:
                return None
            made = known if isinstance(known, Undo) else Undo(leaves=known)
            return Reverse(make=partial(make_take_down, verb), within_ms=made.within_ms, leaves=made.leaves)
        return self.reverse(effect) if self.reverse is not None else None


TypeKey = tuple[str, str, int, Severity]
"""A type as an action was prepared with it: channel, verb, version and risk."""


def key_of_type(action: Action) -> TypeKey:
    return action.effect.channel, action.effect.verb, action.view.version, action.view.risk


class EffectTypes:
    """The registered types and connectors of a process. Immutable."""

    def __init__(
        self,
        types: Iterable[EffectType] = (),
        connectors: Iterable[ConnectorInfo] = (),
        fallback: EffectType | None = None,
        name_operators: Callable[[], Mapping[str, str]] = dict,
        families: Iterable[EffectType] = (),
    ) -> None:
        """`name_operators` returns the names of operators for people, by id. It is called at the first
        use, because operators load slowly. A family is the type of every effect of its connectors (`via`):
        the tools of a foreign server are not known here."""
        self.types: Mapping[str, EffectType] = {each.id: each for each in (CONFIRMATION, *types)}
        listed = {each.id: each for each in connectors}
        handed_over = dict.fromkeys(each.channel for each in self.types.values() if MANUAL in each.via)
        by_hand = msgspec.structs.replace(BY_HAND, channels=tuple(handed_over))
        self.connectors: Mapping[str, ConnectorInfo] = {**listed, MANUAL: by_hand}
        self._name_operators = name_operators
        self._by_pair = {(each.channel, each.verb): each for each in self.types.values()}
        self._fallback = fallback
        self._families = {connector: each for each in families for connector in each.via}
        self.owned = frozenset(name for name, each in self._families.items() if each.proposer_edits)
        """Connectors whose effects no other key than the one that proposed them may edit."""
        self.varying = frozenset(
            pair for pair, each in self._by_pair.items() if each.observe is not None or each.facets_vary
        )
        """Channel and verb of the types whose code observes something (`assent.gate.rules.drift`)."""

    def extend(
        self,
        types: Iterable[EffectType],
        connectors: Iterable[ConnectorInfo],
        operators: Mapping[str, str] | None = None,
    ) -> EffectTypes:
        """Return the registry with more types, connectors and operators."""
        return EffectTypes(
            (*self.types.values(), *types),
            (*self.connectors.values(), *connectors),
            self._fallback,
            lambda: {**self.operators, **(operators or {})},
            self._families.values(),
        )

    def select_trusted(self) -> EffectTypes:
        """Return the registry without the types of other packages."""
        trusted = (each for each in self.types.values() if each.trusted)
        families = self._families.values()
        return EffectTypes(trusted, self.connectors.values(), self._fallback, families=families)

    def find(self, effect: Effect) -> EffectType | None:
        """Return the type of an effect; None if it is not registered any more. A family comes first: the
        name of a foreign tool may be that of a registered type."""
        if (family := self._families.get(effect.connector)) is not None:
            return family
        return self._by_pair.get((effect.channel, effect.verb), self._fallback)

    def connector(self, name: str) -> ConnectorInfo:
        return self.connectors.get(name) or ConnectorInfo(name, name, "", "none", (), ())

    def find_channel(self, name: str) -> EffectType | None:
        """Return a type of a channel that something delivers, by the channel's id or another name
        that people give it."""
        key = name.strip().lower().replace(" ", "_")
        sent = [each for each in self.types.values() if each.via]
        return next((each for each in sent if each.channel == key or key in each.aliases), None)

    def find_missing(self, shown: Iterable[Action]) -> frozenset[TypeKey]:
        """Return the keys of the types that are not registered any more, or have changed since."""
        return frozenset(
            key_of_type(each) for each in shown if self.find(each.effect) is None or self.has_changed(each)
        )

    def must_observe(self, action: Action, connector: Any) -> bool:
        """Whether observing what an approval of this action relies on asks a connection, or code of its type
        or connector (`assent.gate.rules.drift`). What a person or an agent does is not observed."""
        effect = action.effect
        if action.view.executes != "server" or effect.connector == WORKFLOW:
            return False
        if (effect.channel, effect.verb) in self.varying or getattr(connector, "observes", False):
            return True
        return not getattr(connector, "always_ready", False)

    def grade_tool(self, tool: str) -> Severity | None:
        """Return the worst risk of what a tool prepares or executes; None if it does neither. A type that
        grades each effect counts as high, those of this package as medium."""
        found = [each for each in self.types.values() if tool in (each.tool, each.executor_tool)]
        worst = {True: Severity.MEDIUM, False: Severity.HIGH}
        graded = [each.risk if isinstance(each.risk, Severity) else worst[each.trusted] for each in found]
        return max(graded, key=list(Severity).index, default=None)

    def label(self, channel: str) -> str:
        """Return the name of a channel for people."""
        found = next((each.label for each in self.types.values() if each.channel == channel), "")
        return found or _capitalise(channel)

    def has_channel(self, channel: str) -> bool:
        """Whether an effect goes to this channel."""
        return any(each.channel == channel for each in self.types.values())

    def counts_visits(self, channel: str) -> bool:
        """Whether the effects of a channel are pages, which other channels lead to."""
        return any(each.counts_visits for each in self.types.values() if each.channel == channel)

    def is_lesson(self, channel: str | None, reason: str) -> bool:
        """Whether later drafts can learn from the reason of a rejection; None: of any channel."""
        return any(
            each.is_lesson is not None and each.is_lesson(reason)
            for each in self.types.values()
            if channel is None or each.channel == channel
        )

    @cached_property
    def operators(self) -> Mapping[str, str]:
        """The names of operators for people, by id."""
        return {WORKFLOW: CONFIRMATION.label, **self._name_operators()}

    def name_operator(self, operator: str) -> str:
        """Return the name of an operator for people."""
        return self.operators.get(operator) or (
            operator.removeprefix("chieflab-").replace("-", " ").capitalize()
        )

    def page_label(self, channel: str) -> str:
        """Return the name of a channel on pages."""
        return self.channels.get(channel) or _capitalise(channel)

    @cached_property
    def channels(self) -> Mapping[str, str]:
        """The registered channels and their names on pages."""
        found: dict[str, str] = {}
        for each in self.types.values():
            found.setdefault(each.channel, each.page_label or each.label or _capitalise(each.channel))
        return found

    def has_changed(self, action: Action) -> bool:
        """Whether the type of an action has another version or a higher risk than when the action was
        prepared."""
        found, view = self.find(action.effect), action.view
        if found is None or view.executes == "person":
            return False
        if found.version != view.version:
            return True
        risk = found.risk
        return isinstance(risk, Severity) and risk is not view.risk and risk.exceeds(view.risk)

    def describe(self, effect: Effect, *, workspace_id: str, base_url: str) -> View:
        """Return the view of an effect. An effect whose type is gone gets the general one."""
        found = self.find(effect) or EffectType(channel=effect.channel, verb=effect.verb)
        scene = Scene(
            workspace_id=workspace_id, base_url=base_url, connector=self.connector(effect.connector)
        )
        view = describe_generally(found, effect, scene)
        if found.describe is not None:
            view = found.describe(view, effect, scene)
        if is_reverse(effect):
            view = describe_reverse(view, effect)
        return hand_over(view, found, effect) if effect.connector == MANUAL else view


def describe_generally(found: EffectType, effect: Effect, scene: Scene) -> View:
    """Return the view that follows from the type's values alone."""
    reverse = found.find_reverse(effect)
    label, via, info = found.label or _capitalise(effect.channel), scene.connector.label, scene.connector
    noun = found.noun or f"{label} {effect.verb.replace('_', ' ')}"
    return View(
        label=label,
        noun=noun,
        common_noun=found.common_noun,
        sentence=f"Runs “{effect.verb.replace('_', ' ')}” on {label} through {info.name_inside}.",
        destination=f"To {label}{effect.as_account}",
        summary=summarise(effect),
        outcome=f"Done: {label}.",
        done=found.done,
        version=found.version,
        risk=found.risk(effect) if callable(found.risk) else found.risk,
        why=found.why(effect) if callable(found.why) else found.why,
        reversible=reverse is not None and not reverse.leaves,
        undo=Undo(reverse.within_ms, reverse.leaves) if reverse is not None else None,
        via=via,
        executes=found.executes,
        approval_executes=found.approval_executes,
        look_at=found.look_at,
        facets=found.facets(effect) if found.facets is not None else Facets(),
        without=found.without,
        fields=found.fields(effect) if found.fields is not None else list_texts(found, effect),
        fixed=found.fixed,
        unfit=found.unfit(effect, info) if found.unfit is not None else None,
        hides_recipients=info.hides_recipients,
        sends_link=info.sends_link,
        personal=found.personal,
        teaches=found.teaches,
        schedulable=found.schedulable,
        measured=found.measured and (not info.does or "measure" in info.does),
        takes_picture=found.takes_picture,
        counts_visits=found.counts_visits,
        again=Repair(found.tool, "the user wants another version") if found.tool else None,
    )


def list_texts(found: EffectType, effect: Effect) -> tuple[Field, ...]:
    """Return the texts of an effect whose type names no fields: none if they are fixed, or the text
    form of arguments."""
    if found.fixed or found.executes == "agent" or effect.arguments:
        return ()
    texts = (
        *((field, bool(getattr(effect, field.name))) for field in Field.list_envelope()),
        (Field(name="subject", label="Subject"), bool(effect.subject)),
        (Field(name="title", label="Title"), bool(effect.title)),
        (Field(name="body", label="Text", many=True, used=len(effect.body)), True),
    )
    return tuple(field for field, shown in texts if shown)


def hand_over(view: View, found: EffectType, effect: Effect) -> View:
    """Return the view of an effect that a person performs by hand instead of a connector."""
    label, on_page = view.label, found.page_label or view.label
    by_hand = found.by_hand(effect) if found.by_hand is not None else None
    sentence = (
        f"The server sends nothing. You take the text, publish it on {on_page} yourself and say where it is."
    )
    if not (view.has_address or view.mail):
        sentence = "The server does nothing. You do it yourself, exactly as it is here, and say that you did."
    return msgspec.structs.replace(
        view,
        sentence=sentence,
        destination=view.destination if view.mail else f"By hand on {on_page}",
        place=f"{label}, by your own hand",
        # Only a type that says how is known to be harmless by hand.
        risk=Severity.LOW if by_hand is not None else view.risk,
        why="Nothing leaves for another service." if by_hand is not None else view.why,
        executes="person",
        approval_executes=False,
        sends_link=True,
        via=BY_HAND.label,
        by_hand=by_hand or build_general_form(label),
    )


GENERAL_FORM: Final = (("title", "title"), ("subject", "subject"), ("text", "body"), ("link", "link"))
"""The fields of a form that no type describes, with the part of the effect for each."""


def build_general_form(label: str) -> ByHand:
    """Return how a person performs an effect whose type does not say so."""
    fields = tuple(HandField(name, part) for name, part in GENERAL_FORM)
    return ByHand(where=f"{label}, signed in to your own account", fields=fields)


def summarise(effect: Effect) -> str:
    text = " ".join((effect.subject or effect.title or effect.body).split())
    return truncate(text, SUMMARY_CHARS)


def _capitalise(name: str) -> str:
    return name.replace("_", " ").strip().capitalize() or "Action"


def _describe_confirmation(view: View, effect: Effect, scene: Scene) -> View:
    return msgspec.structs.replace(
        view,
        title=str(effect.details.get("question") or effect.title),
        sentence="Lets your agent go on past this step of its workflow. Nothing is sent.",
        destination="Continue the workflow",
        preview=Preview("page"),
        technical=("stepKey", "node", "content", "question"),
    )


CONFIRMATION: Final = EffectType(
    channel=WORKFLOW,
    verb="confirm",
    label="Workflow",
    noun="Step of a workflow",
    common_noun=True,
    done="Confirmed",
    executes="agent",
    risk=Severity.LOW,
    why="Nothing leaves for another service.",
    describe=_describe_confirmation,
    without=OPTIONAL_VALUES,
    trusted=True,
)


def describe_confirmation(effect: Effect) -> View:
    """Return the view of a workflow step's confirmation, which no extension describes."""
    return EffectTypes().describe(effect, workspace_id="", base_url="")


BY_HAND: Final = ConnectorInfo(
    id=MANUAL,
    label="By hand",
    icon="edit",
    description="A brief to copy and paste; a human publishes it and records the live address.",
    auth_mode="none",
    channels=(),
    does=("publish",),
    sends_link=True,
)


ARGUMENTS: Final = "arguments"


def merge_arguments(
    schema: Mapping[str, Any], before: Mapping[str, Any], changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments after an edit. Raises `Refusal` for a change of another field, an unknown
    argument, and a text that is no value of its argument."""
    for name in changes:
        if name != ARGUMENTS:
            raise bad_argument(name, "a change of the arguments: the text follows from them", "the text")
    known, required = schema.get("properties", {}), schema.get("required", ())
    changed = dict(before)
    for name, value in changes[ARGUMENTS].items():
        if name not in known:
            raise bad_argument(f"{ARGUMENTS}.{name}", f"one of {', '.join(known)}", "an unknown argument")
        is_text = isinstance(value, str)
        changed[name] = read_text(known[name], name, value, name in required) if is_text else value
    return changed


def read_text(schema: Mapping[str, Any], name: str, text: str, required: bool) -> Any:
    """Return the value of a form's text: the text itself where the schema takes one, else JSON. An
    empty field of an optional value is null. Raises `Refusal` for a text that is no JSON."""
    text = text.replace("\r\n", "\n")
    free = _takes_text(schema)
    if not text.strip() and not required and not (free and _is_free(schema)):
        return None
    if free:
        return text
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        expected = {"integer": "a whole number", "number": "a number", "boolean": "true or false"}
        kind = str(schema.get("type", ""))
        raise bad_argument(
            f"{ARGUMENTS}.{name}", expected.get(kind, "a value in JSON"), repr(text[:80])
        ) from None


def _takes_text(schema: Mapping[str, Any]) -> bool:
    if any(_takes_text(branch) for branch in schema.get("anyOf", ())):
        return True
    choices = schema.get("enum", ())
    return schema.get("type") == "string" or any(isinstance(each, str) for each in choices)


def _is_free(schema: Mapping[str, Any]) -> bool:
    """Whether any text fits, also an empty one."""
    return not schema.keys() & {"pattern", "format", "enum", "minLength"}
