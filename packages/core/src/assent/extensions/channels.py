"""Channels and connectors as an extension declares them: a type of message, delivered by one of several connectors.

`ChannelType` is the declaration, `ChannelEffect` the same behind the gate: decorators add its other
parts, as for a function. Declaring runs nothing. `BadExtension` is raised at once.

The shape of a message, its parts and the limit of each, makes the arguments of the tool that prepares one,
the checks when one is staged or edited, the fields of the edit page and the form of a person who publishes
by hand.

`ProviderConnector` has the code for a provider, and how it is connected. A person connects a provider on the server's
own pages: by OAuth or by a key. The server stores and renews the secrets and opens them for one call.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

from assent.extensions.hooks import BadExtension
from assent.extensions.options import (
    MAX_DOC_CHARS,
    MAX_LABEL_CHARS,
    MAX_TIMEOUT_SECONDS,
    MAX_TOOL_CHARS,
    EffectOptions,
    add_part,
    check_options,
    check_undo,
    is_id,
    is_time_limit,
)
from assent.gate.connection import KeyWords
from assent.gate.content.cleaning import printable
from assent.gate.effects import EXECUTE
from assent.gate.records import Effect
from assent.gate.views import Field, HandField, Undo
from assent.kernel.limits import MAX_CONTENT_CHARS, MAX_RECIPIENTS
from assent.kernel.refusals import Problem
from assent.kernel.structs import Record, from_record
from assent.ports import ConnectionContext, Context, Delivery

if TYPE_CHECKING:
    from assent.extensions.operators import Operator
    from assent.extensions.options import Receipt
    from assent.gate.records import Effect

MAX_UNIT_CHARS: Final = 40
TEXTS: Final = {"title": "Title", "subject": "Subject", "body": "Text"}
"""The texts of a message with their labels, in the order of a form."""


class TextLimit(Record):
    """The longest text that a channel takes, and how it counts: characters, unless `count` says
    otherwise. With `least` a text is required."""

    most: int
    count: Callable[[str], int] = len
    unit: str = "characters"
    least: int = 0

    def explain(self) -> str:
        return f"at most {self.most:,} {self.unit}"


class MessageShape(Record, kw_only=True):
    """The parts of a message. A text without a limit here does not exist on the channel."""

    body: TextLimit = TextLimit(MAX_CONTENT_CHARS)
    title: TextLimit | None = None
    subject: TextLimit | None = None
    recipients: int = 0
    """The most e-mail addresses that it goes to; 0 if it has no recipients."""
    picture: bool = False
    """Whether a picture can be attached."""
    link: bool = False
    """Whether it has a link beside the text."""
    fold: int | None = None
    """How much of the text the channel shows before "see more", as `body` counts."""

    def limits(self) -> Iterator[tuple[str, TextLimit]]:
        """Yield the texts that the channel has, each with its limit."""
        for name in TEXTS:
            if (limit := getattr(self, name)) is not None:
                yield name, limit


def check_shape(shape: Any, place: str) -> None:
    """Raise `BadExtension` for a shape that cannot be used."""

    def refuse(why: str, fix: str) -> BadExtension:
        return BadExtension(why, place=place, fix=fix)

    if not isinstance(shape, MessageShape):
        fix = "Write shape=assent.Message(body=assent.Limit(600))."
        raise refuse(f"the shape is {type(shape).__name__}.", fix)
    if shape.body is None:
        raise refuse("the message has no body.", "Write body=assent.Limit(600).")
    for name, limit in shape.limits():
        if not isinstance(limit, TextLimit):
            raise refuse(
                f"the limit of {name} is {type(limit).__name__}.", f"Write {name}=assent.Limit(600)."
            )
        if not _is_count(limit.most, MAX_CONTENT_CHARS) or not _is_count(limit.least, limit.most, 0):
            raise refuse(
                f"the limit of {name} is {limit.most!r}, at least {limit.least!r}.",
                f"Write numbers up to {MAX_CONTENT_CHARS}.",
            )
        if not callable(limit.count):
            raise refuse(
                f"the count of {name} is no function.", "Write a function of a text, such as count=len."
            )
        if (
            not isinstance(limit.unit, str)
            or not limit.unit.isprintable()
            or len(limit.unit) > MAX_UNIT_CHARS
        ):
            raise refuse(
                f"the unit of {name} is not one line.", f"Write at most {MAX_UNIT_CHARS} characters."
            )
    if not _is_count(shape.recipients, MAX_RECIPIENTS, 0):
        raise refuse(f"recipients is {shape.recipients!r}.", f"Write a number up to {MAX_RECIPIENTS}.")
    if shape.fold is not None and not _is_count(shape.fold, MAX_CONTENT_CHARS):
        raise refuse(f"fold is {shape.fold!r}.", "Write a number of characters.")
    for name in ("picture", "link"):
        if not isinstance(getattr(shape, name), bool):
            raise refuse(f"{name} is {getattr(shape, name)!r}.", "Write True or False.")


def _is_count(value: Any, most: int, least: int = 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def find_problems(shape: MessageShape, effect: Effect) -> Iterable[Problem]:
    """Yield the parts of a message that its channel would refuse or cut."""
    limits = dict(shape.limits())
    for name in ("title", "subject", "body", "preheader"):
        text, limit = getattr(effect, name), limits.get(name)
        if limit is None:
            if text:
                yield Problem(name, f"no {name}: this channel has none", repr(text[:80]))
            continue
        size = _measure(limit, text)
        if size > limit.most or size < limit.least:
            short = size < limit.least
            expected = f"at least {limit.least:,} {limit.unit}" if short else limit.explain()
            yield Problem(name, expected, f"{size:,} {limit.unit}")
    count = len(effect.recipients)
    if shape.recipients and not 0 < count <= shape.recipients:
        yield Problem("recipients", f"1 to {shape.recipients} e-mail addresses", f"{count} addresses")
    if not shape.recipients and count:
        yield Problem("recipients", "no recipients: this channel has none", f"{count} addresses")
    if effect.media and not shape.picture:
        yield Problem("media", "no picture: this channel takes none", f"{len(effect.media)} pictures")
    if effect.link and not shape.link:
        yield Problem("link", "no link beside the text: this channel has none", repr(effect.link[:80]))


def _measure(limit: TextLimit, text: str) -> int:
    size = limit.count(text)
    if not isinstance(size, int) or size < 0:
        raise TypeError(f"the count of {limit.unit} returned {size!r}, not a number")
    return size


def list_fields(shape: MessageShape, effect: Effect) -> tuple[Field, ...]:
    """Return the fields that a person may edit, with their limits."""
    to = (Field(name="recipients", label="To", many=True, personal=True),) if shape.recipients else ()
    return (
        *to,
        *(
            Field(
                name=name,
                label=TEXTS[name],
                many=name == "body",
                # A one-line field of a browser is cut by characters.
                most=limit.most if name == "body" or limit.count is len else None,
                used=_measure(limit, getattr(effect, name)),
                unit=limit.unit,
                counts="plain" if limit.count is len else "server",
                required=limit.least > 0,
            )
            for name, limit in shape.limits()
        ),
    )


def list_hand_fields(shape: MessageShape, effect: Effect) -> tuple[HandField, ...]:
    """Return the fields of the form that a person fills in when they publish by hand."""
    texts = [
        HandField(
            "text" if name == "body" else name, name, limit.most, _measure(limit, getattr(effect, name))
        )
        for name, limit in shape.limits()
    ]
    return (*texts, HandField("link", "link")) if shape.link else tuple(texts)


F = TypeVar("F", bound=Callable[..., Any])

HOOKS: Final = ("describe", "check", "normalise", "facets", "observe")
PARTS: Final = ("body", "title", "subject", "link", "recipients", "media")
"""The parts of a message that these functions take by name, beside the whole `effect`."""
MAX_WORDS_CHARS: Final = 200


class ChannelType(Record):
    """A kind of message on a channel. `via` names its connectors, in order of preference."""

    channel: str
    verb: str
    description: str
    """The description of the tool, which the agent reads before it calls: "Publish a release. USE WHEN
    …"."""
    via: tuple[str, ...]
    shape: MessageShape = MessageShape()
    risk: str = "high"
    reversible: bool = False
    label: str = ""
    """The channel's name for people."""
    noun: str = ""
    """The kind of action in a few words; the channel and the verb if empty."""
    done: str = "Published"
    executor_tool: str = EXECUTE
    approval_executes: bool = False
    schedulable: bool = True
    without: tuple[str, ...] = ()
    """Which values that `facets` may name it never has: recipients, amount."""
    look_at: str = ""
    """Where a person can see whether it happened."""
    by_hand: str = ""
    """Where a person publishes it by hand."""
    advice: tuple[str, ...] = ()
    """For the person who publishes by hand."""


class DeclaredEffect:
    """An effect behind the gate. Decorators add its other parts, which get its values by name: the arguments of a
    function, or the parts of a message."""

    operator: Operator
    options: EffectOptions
    place: str
    description: str
    hooks: dict[str, list[Callable[..., Any]]]
    __name__: str

    @property
    def type_id(self) -> str:
        return f"{self.options.channel}_{self.options.verb}"

    def describe(self, function: F) -> F:
        """The function returns a `View` or its title."""
        return self._add("describe", function)

    def check(self, function: F) -> F:
        """The function raises or returns `Problem` for values that do not fit."""
        return self._add("check", function)

    def normalise(self, function: F) -> F:
        """The function returns a dictionary of the values that it changes; of a message, of its texts."""
        return self._add("normalise", function)

    def facets(self, function: F) -> F:
        """The function returns `Facets`: amount, currency, recipients, target."""
        return self._add("facets", function)

    def observe(self, function: F) -> F:
        """The function returns the state of what the effect would change: texts and numbers by name. That of a function
        may take `ctx`, the context of a call without effect. That of a message computes; a connector's own `observe`
        asks the provider."""
        return self._add("observe", function)

    def _add(self, hook: str, function: F) -> F:
        raise NotImplementedError


class ChannelEffect(DeclaredEffect):
    """A message of a channel behind the gate."""

    def __init__(self, operator: Operator, declared: ChannelType, options: EffectOptions, place: str) -> None:
        self.operator = operator
        self.declared = declared
        self.options = options
        self.place = place
        self.label = declared.label or declared.channel.replace("-", " ").replace("_", " ").capitalize()
        self.noun = declared.noun or f"{self.label} {declared.verb.replace('_', ' ')}"
        self.description = " ".join(printable(declared.description).split())
        self.hooks = {hook: [] for hook in HOOKS}
        self.__name__ = self.type_id

    @property
    def tool(self) -> str:
        """The name of the tool that prepares it."""
        return f"{self.operator.prefix}{self.type_id.replace('-', '_')}"

    def _add(self, hook: str, function: F) -> F:
        known, foreign = ("effect", *PARTS), "no part of a message"
        add_part(self.hooks, hook, function, known, of=self.type_id, place=self.place, foreign=foreign)
        return function


def declare_channel(operator: Operator, declared: Any) -> ChannelEffect:
    """Return the channel of an operator. Raises `BadExtension`."""
    place = _name_caller()
    if not isinstance(declared, ChannelType):
        raise BadExtension(
            f"a channel of {operator.id} is {type(declared).__name__}.",
            place=place,
            fix="Write operator.channel(assent.EffectType(…)).",
        )
    options = from_record(
        EffectOptions, declared, delivery=Delivery("none"), timeout_seconds=None, title=declared.noun
    )
    options = check_options(options, place)
    check_shape(declared.shape, place)
    _check_via(declared.via, place)
    _check_words(declared, place)
    made = ChannelEffect(operator, declared, options, place)
    if len(made.tool) > MAX_TOOL_CHARS:
        raise BadExtension(
            f"its tool would be called {made.tool}, which is longer than {MAX_TOOL_CHARS} characters.",
            place=place,
            fix="Shorten the operator's id, the channel or the verb.",
        )
    return made


def _name_caller() -> str:
    """Return `file:line` of the code that declares a channel: the caller of `Operator.channel`."""
    frame = sys._getframe(3)
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _check_via(via: Any, place: str) -> None:
    names = via if isinstance(via, tuple | list) else ()
    if not names or not all(isinstance(name, str) and name for name in names):
        raise BadExtension(
            f"via is {via!r}, which names no connectors.",
            place=place,
            fix='Write a tuple of the ids of connectors, such as via=("pressroom",).',
        )


def _check_words(declared: ChannelType, place: str) -> None:
    """Raise `BadExtension` for words that are missing or no single line."""
    if not isinstance(declared.description, str) or not declared.description.strip():
        raise BadExtension(
            "it has no description, which is what the agent reads before it calls.",
            place=place,
            fix='Write one, such as description="Publish a release. USE WHEN the user wants to announce it.".',
        )
    if len(declared.description) > MAX_DOC_CHARS:
        raise BadExtension(
            f"its description has {len(declared.description)} characters.",
            place=place,
            fix=f"Write at most {MAX_DOC_CHARS}.",
        )
    advice = declared.advice if isinstance(declared.advice, tuple | list) else (None,)
    names = ("label", "noun", "done", "look_at", "by_hand", "executor_tool")
    said = [(name, getattr(declared, name)) for name in names] + [("advice", each) for each in advice]
    for name, text in said:
        if not isinstance(text, str) or not text.isprintable() or len(text) > MAX_WORDS_CHARS:
            raise BadExtension(
                f"{name} is not one line of text.",
                place=place,
                fix=f"Write at most {MAX_WORDS_CHARS} characters.",
            )


MAX_ACCOUNT_CHARS: Final = 200
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


class OAuth(Record, kw_only=True):
    """How a person allows this server to use their account (RFC 6749 with PKCE). The person who runs the
    server registers it with the provider and sets the client's id and secret as environment variables;
    by default `ID_CLIENT_ID` and `ID_CLIENT_SECRET`, after the connector's id."""

    authorize_url: str
    token_url: str
    scopes: tuple[str, ...]
    revoke_url: str | None = None
    parameters: Mapping[str, str] = {}
    """More parameters of the consent page."""
    account_field: str | None = None
    """The field of a token answer that names the account, unless `verify` does."""
    client_id_variable: str = ""
    client_secret_variable: str = ""


class ProviderAccount(Record):
    """An account at a provider: where effects go."""

    id: str
    name: str


class ProviderConnector:
    """The code for a provider. Subclass it, then pass the class to `Operator.connector`.

    Methods may be `def` or `async def`. `perform` is called once for an approved effect; an undeclared
    exception makes the outcome unknown, unless `ctx.sending()` marks the request.
    """

    id: str = ""
    label: str = ""
    """Its name for people."""
    delivery: Delivery = Delivery("none")
    oauth: OAuth | None = None
    key: KeyWords | None = None
    """Where the provider gives out keys, if it is connected by one."""
    description: str = ""
    """Describes it in one sentence, for the page on which a person connects it."""
    asks: str = ""
    """Tells a person what they allow by connecting it."""
    timeout_seconds: float | None = None

    def perform(self, ctx: Context, effect: Effect) -> Awaitable[Receipt] | Receipt:
        """Deliver an approved effect and return its receipt."""
        raise NotImplementedError

    def look_up(self, ctx: Context, effect: Effect) -> Awaitable[Receipt | None] | Receipt | None:
        """Return the receipt of an effect that happened, None if it certainly did not. Raises
        `OutcomeUnknown` if the provider cannot tell."""
        raise NotImplementedError

    def verify(self, ctx: ConnectionContext) -> Awaitable[ProviderAccount] | ProviderAccount:
        """Return the account of a connection that a person makes now. Raises `NotSent` if the provider
        does not accept it."""
        raise NotImplementedError

    def observe(
        self, ctx: ConnectionContext, effect: Effect
    ) -> Awaitable[Mapping[str, Any]] | Mapping[str, Any]:
        """Return the state of what the effect would change, such as the version of a page: texts and
        numbers by name. It has no effect. If one differs between approval and execution, nothing is
        sent and the action waits for a new approval."""
        raise NotImplementedError

    def take_down(self, ctx: Context, receipt: str) -> Awaitable[Receipt] | Receipt:
        """Take down what was delivered under the id of this receipt, and return a receipt of that. It is approved as
        any effect. Taking down again has to find the first; where `delivery` reads back, a person answers instead."""
        raise NotImplementedError

    take_down_hours: float | None = None
    """For how long that works."""
    take_down_leaves: str = ""
    """What it does not undo, in one sentence."""

    def measure(
        self, ctx: ConnectionContext, effect: Effect, receipt: Receipt
    ) -> Awaitable[Mapping[str, float]] | Mapping[str, float]:
        """Return the results of an effect: numbers by their names."""
        raise NotImplementedError


class DeclaredConnector:
    """A connector of an operator."""

    def __init__(self, operator: Operator, connector: ProviderConnector, place: str) -> None:
        self.operator = operator
        self.connector = connector
        self.place = place
        self.__name__ = connector.id

    @property
    def id(self) -> str:
        return self.connector.id

    @property
    def label(self) -> str:
        return self.connector.label or self.id.replace("-", " ").replace("_", " ").capitalize()

    @property
    def undo(self) -> Undo:
        made = self.connector
        return check_undo(made.take_down_hours, made.take_down_leaves, self.place)

    def defines(self, method: str) -> bool:
        """Whether the subclass has this method."""
        return getattr(type(self.connector), method) is not getattr(ProviderConnector, method)


def declare_connector(operator: Operator, given: Any) -> DeclaredConnector:
    """Return the connector of an operator, from a class or its object. Raises `BadExtension`."""
    kind = given if isinstance(given, type) else type(given)
    place = _name_class(kind)
    if not issubclass(kind, ProviderConnector):
        raise BadExtension(
            f"a connector of {operator.id} is {kind.__name__}.",
            place=place,
            fix="Write a class with assent.Connector as its base.",
        )
    try:
        made = given() if isinstance(given, type) else given
    except Exception as error:
        raise BadExtension(
            f"making a {kind.__name__} raised {type(error).__name__}: {str(error)[:200]}",
            place=place,
            fix="Pass an object instead of the class if it takes arguments.",
        ) from error
    found = DeclaredConnector(operator, made, place)
    _check_connector(found)
    return found


def _name_class(kind: type[Any]) -> str:
    try:
        return f"{inspect.getsourcefile(kind)}:{inspect.getsourcelines(kind)[1]}, {kind.__qualname__}"
    except (OSError, TypeError):
        return kind.__qualname__


def _check_connector(found: DeclaredConnector) -> None:
    made = found.connector

    def refuse(why: str, fix: str) -> BadExtension:
        return BadExtension(why, place=found.place, fix=fix)

    if not is_id(made.id):
        raise refuse(
            f"its id is {made.id!r}.", 'Write small letters, digits, - and _, such as id = "pressroom".'
        )
    for name in ("label", "description", "asks"):
        if not _is_line(getattr(made, name)):
            raise refuse(
                f"its {name} is not one line of text.", f"Write at most {4 * MAX_LABEL_CHARS} characters."
            )
    if not isinstance(made.delivery, Delivery):
        raise refuse(
            f"its delivery is {type(made.delivery).__name__}.",
            "Write assent.native_key(hours=…), natural_key(), read_back() or no_key().",
        )
    if not found.defines("perform"):
        raise refuse("it has no perform.", "Write async def perform(self, ctx, effect).")
    if (made.delivery.kind == "read_back" or made.delivery.searches) and not found.defines("look_up"):
        raise refuse(
            "it declares that it reads back, but has no look_up.", "Write look_up, or declare no_key()."
        )
    seconds = made.timeout_seconds
    if seconds is not None and not is_time_limit(seconds):
        raise refuse(f"timeout_seconds is {seconds!r}.", f"Write a number up to {MAX_TIMEOUT_SECONDS:g}.")
    if found.defines("take_down"):
        check_undo(made.take_down_hours, made.take_down_leaves, found.place)
    if made.oauth is not None and made.key is not None:
        raise refuse("it declares both oauth and key.", "Keep one.")
    if made.key is not None and not isinstance(made.key, KeyWords):
        raise refuse(f"its key is {type(made.key).__name__}.", "Write key = assent.Key(where, looks).")
    if made.key is not None:
        for name in ("where", "looks", "label"):
            if not _is_line(getattr(made.key, name)):
                raise refuse(
                    f"{name} of its key is not one line of text.",
                    f"Write at most {4 * MAX_LABEL_CHARS} characters.",
                )
    if made.oauth is not None:
        _check_oauth(made.oauth, found.place)
        if made.oauth.account_field is None and not found.defines("verify"):
            raise refuse(
                "it declares oauth, but nothing names the account that people approve.",
                "Write verify, which returns assent.Account(id, name), or account_field in the OAuth.",
            )


def _check_oauth(oauth: Any, place: str) -> None:
    def refuse(why: str, fix: str) -> BadExtension:
        return BadExtension(why, place=place, fix=fix)

    if not isinstance(oauth, OAuth):
        raise refuse(
            f"its oauth is {type(oauth).__name__}.", "Write oauth = assent.OAuth(authorize_url=…, …)."
        )
    for name in ("authorize_url", "token_url", "revoke_url"):
        url = getattr(oauth, name)
        if not _is_secure(url) and not (url is None and name == "revoke_url"):
            raise refuse(f"{name} of its oauth is {url!r}.", "Write an address with https://.")
    scopes = oauth.scopes
    if not isinstance(scopes, tuple | list) or not all(isinstance(each, str) and each for each in scopes):
        raise refuse(f"scopes of its oauth are {scopes!r}.", 'Write a tuple, such as scopes=("write",).')

    given = oauth.parameters
    if not isinstance(given, Mapping) or not all(
        isinstance(text, str) for each in given.items() for text in each
    ):
        raise refuse(
            f"parameters of its oauth are {given!r}.", 'Write texts by name, such as {"prompt": "consent"}.'
        )
    for name in ("account_field", "client_id_variable", "client_secret_variable"):
        text = getattr(oauth, name)
        if not isinstance(text, str) and not (text is None and name == "account_field"):
            raise refuse(f"{name} of its oauth is {text!r}.", "Write a name.")


def _is_line(text: Any) -> bool:
    return isinstance(text, str) and text.isprintable() and len(text) <= 4 * MAX_LABEL_CHARS


def _is_secure(url: Any) -> bool:
    """Whether tokens may be sent to an address: by https, or to this machine."""
    if not isinstance(url, str):
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.hostname) and (
        parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    )
