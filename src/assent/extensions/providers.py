"""Connectors as an extension declares them: the code for a provider, and how it is connected.

A person connects a provider on the server's own pages: by OAuth or by a key. The server stores and
renews the secrets and opens them for one call. Declaring runs nothing. `BadExtension` is raised at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from assent.extensions.options import MAX_LABEL_CHARS, MAX_TIMEOUT_SECONDS, is_id, is_time_limit
from assent.extensions.problems import BadExtension
from assent.gate.connection import KeyWords
from assent.kernel.structs import Record
from assent.ports import ConnectionContext, Context, Delivery

if TYPE_CHECKING:
    from assent.extensions.operators import Operator
    from assent.extensions.options import Receipt
    from assent.gate.records import Effect

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
