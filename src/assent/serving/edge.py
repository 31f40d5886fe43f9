"""The one place where a call is let in and where a refusal becomes an answer.

Every surface hands over a tool's name, its arguments as plain JSON values and what the caller presented; every surface
gets an `Answer` and only dresses it. Order: key, tool, limit, scope, arguments, the tool itself. Whatever else
escapes from a tool is a bug: it is logged under the request's id and answered without internals.
"""

from __future__ import annotations

import difflib
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import msgspec

from assent.engine.actions import explaining
from assent.engine.core import tenancy
from assent.engine.core.services import Services
from assent.engine.core.tenancy import Principal
from assent.kernel.canonical import depth, nests_too_deep
from assent.kernel.limits import MAX_JSON_DEPTH, MAX_PROBLEMS
from assent.kernel.refusals import KEY_REASONS, Problem, Reason, Recovery, Refusal
from assent.kernel.toolsets import Toolset, choose
from assent.ports import StoreUnavailable
from assent.serving.offering import only_offered
from assent.tools.definition import Call, Peer, Prose, Tool

if TYPE_CHECKING:
    from assent.tools.catalog import Catalog

log = logging.getLogger("assent.edge")

UNAVAILABLE_RETRY_SECONDS: Final = 5

GATE_REASONS: Final = KEY_REASONS | {Reason.RATE_LIMITED, Reason.TEMPORARILY_UNAVAILABLE}
"""Refusals that concern the call and not the tool; HTTP surfaces answer them with their status (C2)."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a caller presented: a key, or being the process's own user on stdio (C32)."""

    api_key: str | None = None
    local: Principal | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply as JSON text, with what an HTTP surface needs to know of it."""

    text: str
    status: int = 200
    reason: Reason | None = None
    at_gate: bool = False
    bad_arguments: bool = False
    """The arguments break the published schema (C16), as opposed to values that were refused."""
    retry_after_seconds: int | None = None
    prose: str | None = None
    """A readable text that goes before the payload (W76)."""

    @property
    def is_error(self) -> bool:
        return self.reason is not None

    @property
    def value(self) -> dict[str, Any]:
        """The same as plain values."""
        plain: dict[str, Any] = msgspec.json.decode(self.text)
        return plain


@dataclass(slots=True)
class Caller:
    """Who turned out to be calling."""

    principal: Principal | None = None


def toolsets_of(principal: Principal | None) -> frozenset[Toolset] | None:
    """The groups of tools that a caller's key asks for; None for those of the server."""
    return choose(principal.toolsets) if principal is not None and principal.toolsets else None


class BadArguments(Exception):  # noqa: N818 - carries the refusal
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


class Edge:
    """Answers calls. One per process; holds no state of a call."""

    def __init__(
        self, load_catalog: Callable[[], Catalog], services: Services, request_ids: Callable[[], str]
    ) -> None:
        self._load_catalog = load_catalog
        self.services = services
        self._request_ids = request_ids
        self.outcomes: Counter[tuple[str, str]] = Counter()

    @cached_property
    def catalog(self) -> Catalog:
        """The tools, with all that they need. Loaded when one is first asked for: a handshake needs none."""
        return self._load_catalog()

    async def answer(
        self, name: str, arguments: Any, credentials: Credentials, address: str, peer: Peer | None = None
    ) -> Answer:
        """Run one call."""
        caller = Caller()
        answer = await self._answer(name, arguments, credentials, address, peer, caller)
        offered = self.catalog.offered(toolsets_of(caller.principal))
        answer = replace(answer, text=only_offered(answer.text, self.catalog, offered))
        tool = self.catalog.find(name)
        if answer.is_error and tool is not None and tool.tell_refusal is not None:
            answer = replace(answer, prose=tool.tell_refusal(answer.value))
        # Every name that is no tool's is counted under one label: callers do not get to make metrics.
        label = tool.name if tool is not None else "unknown"
        self.outcomes[(label, answer.reason.value if answer.reason is not None else "ok")] += 1
        return answer

    async def _answer(
        self,
        name: str,
        arguments: Any,
        credentials: Credentials,
        address: str,
        peer: Peer | None,
        caller: Caller,
    ) -> Answer:
        request_id = self._request_ids()
        try:
            reply = await self._call(name, arguments, credentials, address, request_id, peer, caller)
            prose = reply.text if isinstance(reply, Prose) else None
            payload = reply.reply if isinstance(reply, Prose) else reply
            return Answer(encode(with_link_note(self.services, payload)), prose=prose)
        except BadArguments as bad:
            return answer_refusal(bad.refusal, bad_arguments=True)
        except AtGate as gate:
            return answer_refusal(gate.refusal, at_gate=True)
        except Refusal as refusal:
            told = with_link_note(self.services, refusal.recovery())
            return answer_refusal(refusal, at_gate=self._concerns_the_call(name, refusal), told=told)
        except StoreUnavailable as unavailable:
            log.error("store unavailable: %s", unavailable, extra={"request_id": request_id})
            return answer_refusal(unavailable_refusal(), at_gate=True)
        except Exception:
            log.exception("%s failed", name, extra={"request_id": request_id})
            return answer_refusal(Refusal(Reason.INTERNAL_ERROR, request_id=request_id))

    async def authenticate(self, credentials: Credentials) -> Principal | None:
        """Who is calling; None when nothing was presented. A wrong key is refused, on public tools too."""
        if credentials.api_key is None:
            return credentials.local
        key, now_ms = credentials.api_key, self.services.clock.now_ms()
        return await self.services.store.read(lambda: tenancy.authenticate(key, now_ms))

    async def check_key(
        self, credentials: Credentials, caller: Caller | None = None, *, required: bool
    ) -> Answer | None:
        """The refusal that a key (or its absence) earns before any tool is named, or None."""
        try:
            principal = await self.authenticate(credentials)
            if caller is not None:
                caller.principal = principal
            if principal is None and required:
                raise Refusal(Reason.MISSING_API_KEY)
        except Refusal as refusal:
            return answer_refusal(refusal, at_gate=True)
        except StoreUnavailable as unavailable:
            log.error("store unavailable: %s", unavailable)
            return answer_refusal(unavailable_refusal(), at_gate=True)
        return None

    async def _call(
        self,
        name: str,
        arguments: Any,
        credentials: Credentials,
        address: str,
        request_id: str,
        peer: Peer | None,
        caller: Caller,
    ) -> Any:
        """Let a call in and run its tool. Without a key only public tools run (E84)."""
        services = self.services
        try:
            principal = caller.principal = await self.authenticate(credentials)
            tool = self.catalog.find(name)
            if principal is None and tool is not None and not tool.public:
                raise Refusal(Reason.MISSING_API_KEY)
            if principal is not None and principal.key_id is not None:
                now_ms = services.clock.now_ms()
                await services.rate_limiter.count(services.calls, principal.workspace_id, "", now_ms)
        except Refusal as refusal:
            if refusal.reason in GATE_REASONS:
                raise AtGate(refusal) from None
            raise
        if tool is None:
            raise self._unknown(name)
        await services.find_pages()
        try:
            if tool.scope is not None and principal is not None:
                principal.require(tool.scope)
            request = decode(tool, arguments)
            call = Call(services, principal, address, request_id, services.clock.now_ms(), peer=peer)
            return await tool.handler(call, request)
        except Refusal as refusal:
            if principal is None:
                raise
            raise await explaining.complete(services, principal, refusal, arguments) from refusal

    def _concerns_the_call(self, name: str, refusal: Refusal) -> bool:
        """A public tool limits whoever calls, by address; elsewhere `rate_limited` is a provider's."""
        tool = self.catalog.find(name)
        limited = refusal.reason is Reason.RATE_LIMITED and tool is not None and tool.public
        return limited or refusal.reason is Reason.TEMPORARILY_UNAVAILABLE

    def _unknown(self, name: str) -> Refusal:
        close = self.catalog.suggest(name)
        suggestion = f" (did you mean {close}?)" if close is not None else ""
        return Refusal(Reason.UNKNOWN_TOOL, facts={"tool": repr(name[:80]), "suggestion": suggestion})


class AtGate(Exception):  # noqa: N818 - carries the refusal
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class TooDeep:
    """In the place of arguments that nest beyond the bound, so that nothing walks them (W49)."""

    paths: tuple[str, ...]


def check_depth(raw: bytes, arguments: Any) -> Any:
    """The arguments of a call, or `TooDeep`. `raw` is any text that holds them."""
    if not nests_too_deep(raw, arguments, MAX_JSON_DEPTH):
        return arguments
    if not isinstance(arguments, dict):
        return TooDeep(("arguments",))
    deep = [name for name, value in arguments.items() if depth(value) > MAX_JSON_DEPTH]
    return TooDeep(tuple(deep[:MAX_PROBLEMS])) if deep else arguments


_TEXT: Final = msgspec.json.Encoder()


def encode(payload: Any) -> str:
    """A reply as JSON. Every answer says `ok`, as every output schema promises."""
    text = _TEXT.encode(payload).decode()
    says_ok = "ok" in getattr(payload, "__struct_encode_fields__", ("ok",))
    return text if says_ok else '{"ok":true' + ("," if text != "{}" else "") + text[1:]


def answer_refusal(
    refusal: Refusal, *, at_gate: bool = False, bad_arguments: bool = False, told: Recovery | None = None
) -> Answer:
    """A refusal as an answer; `told` where more is said than it says alone."""
    return Answer(
        _TEXT.encode(told or refusal.recovery()).decode(),
        status=refusal.http_status,
        reason=refusal.reason,
        at_gate=at_gate,
        bad_arguments=bad_arguments,
        retry_after_seconds=refusal.retry_after_seconds,
    )


def with_link_note(services: Services, payload: Any) -> Any:
    """An answer with a link that ends with this chat says so to the person, and how to keep it."""
    note, address = services.link_note(), services.page_address()
    if note is None or address is None or address not in _TEXT.encode(payload).decode():
        return payload
    for field in ("show", "user_message"):
        said = getattr(payload, field, None)
        if isinstance(said, str) and said:
            return msgspec.structs.replace(payload, **{field: f"{said}\n\n{note}"})
    return payload


def unavailable_refusal() -> Refusal:
    """What a caller hears when the store is out of reach."""
    return Refusal(Reason.TEMPORARILY_UNAVAILABLE, retry_after_seconds=UNAVAILABLE_RETRY_SECONDS)


def decode(tool: Tool, arguments: Any) -> Any:
    """The request struct, or every problem with the arguments."""
    if isinstance(arguments, TooDeep):
        deep = [
            Problem(path, f"at most {MAX_JSON_DEPTH} levels of nesting", "more") for path in arguments.paths
        ]
        raise Refusal(Reason.VALIDATION_ERROR, problems=deep)
    arguments = _unfold(tool, arguments)
    try:
        request = msgspec.convert({} if arguments is None else arguments, tool.request)
    except msgspec.ValidationError as error:
        raise BadArguments(
            Refusal(Reason.VALIDATION_ERROR, problems=problems_with(tool, arguments, str(error)))
        ) from error
    # PostgreSQL keeps no NUL in any text, and both stores take the same values.
    if _holds_nul(arguments):
        nul = islice(_nul_paths(arguments, ""), MAX_PROBLEMS)
        problems = [Problem(path, "text without NUL characters", "a NUL character") for path in nul]
        raise Refusal(Reason.VALIDATION_ERROR, problems=problems)
    return request


def _unfold(tool: Tool, arguments: Any) -> Any:
    """The arguments with open objects that came as JSON text as the objects that they stand for."""
    from assent.tools.catalog import open_arguments

    if not isinstance(arguments, dict):
        return arguments
    given = [name for name in open_arguments(tool.request) if isinstance(arguments.get(name), str)]
    return {**arguments, **{name: _object_in(arguments[name]) for name in given}} if given else arguments


def _object_in(text: str) -> Any:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
    return found if isinstance(found, dict) and depth(found) <= MAX_JSON_DEPTH else text


def _holds_nul(value: Any) -> bool:
    """Whether there is one anywhere: where is only looked for then."""
    row = [value]
    while row:
        below: list[Any] = []
        for node in row:
            if isinstance(node, str):
                if "\0" in node:
                    return True
            elif isinstance(node, dict):
                below.extend(node)
                below.extend(node.values())
            elif isinstance(node, list):
                below.extend(node)
        row = below
    return False


def _nul_paths(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, str) and "\0" in value:
        yield path
    elif isinstance(value, (dict, list)):
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _nul_paths(part, _join(path, str(name)))
            if isinstance(name, str) and "\0" in name:
                yield _join(path, name.replace("\0", "\\u0000"))


def problems_with(tool: Tool, arguments: Any, first_message: str) -> list[Problem]:
    """All problems, found with the schema of the request; the codec's own message where the schema sees none."""
    import jsonschema  # only on this path: it costs more to import than all the rest of a call

    from assent.tools.catalog import flatten

    # Not the published one, which leaves open objects to the codec.
    validator = jsonschema.Draft202012Validator(flatten(tool.request, keep_null=False))
    # A hostile megabyte holds a hundred thousand mistakes: only as many are looked at as are told.
    errors = islice(validator.iter_errors(_without_nulls(arguments)), MAX_PROBLEMS)
    found = [
        problem
        for error in sorted(errors, key=lambda e: list(map(str, e.path)))
        for problem in _explain(error)
    ]
    if not found:
        path, _, _ = first_message.rpartition(" - at `")
        where = first_message[len(path) + len(" - at `") :].rstrip("`") if path else ""
        found = [
            Problem(where.removeprefix("$").lstrip(".") or "arguments", path or first_message, "this value")
        ]
    return found[:MAX_PROBLEMS]


def _explain(error: Any) -> list[Problem]:
    path = ".".join(str(part) for part in error.absolute_path)
    got = _excerpt(error.instance)
    if error.validator == "required":
        missing = error.message.split("'")[1]
        return [Problem(_join(path, missing), "a value: this argument is required", "nothing")]
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        expected = "one of " + ", ".join(known) if known else "no arguments"
        return [
            Problem(_join(path, extra), expected + _suggest(extra, known), "an unknown argument")
            for extra in sorted(error.instance.keys() - known.keys())[:MAX_PROBLEMS]
        ]
    return [Problem(path or "arguments", _expectation(error), got)]


_EXPECTED: Final[dict[str, Callable[[Any], str]]] = {
    "type": lambda value: f"{value}",
    "enum": lambda value: "one of " + ", ".join(map(str, value)),
    "minLength": lambda value: f"at least {value} characters",
    "maxLength": lambda value: f"at most {value} characters",
    "minimum": lambda value: f"at least {value}",
    "maximum": lambda value: f"at most {value}",
    "maxItems": lambda value: f"at most {value} entries",
    "minItems": lambda value: f"at least {value} entries",
    "pattern": lambda value: f"text that matches {value}",
}


def _expectation(error: Any) -> str:
    words = _EXPECTED.get(error.validator)
    return (
        words(error.validator_value)
        if words is not None
        else f"{error.validator} {error.validator_value}"[:200]
    )


def _suggest(extra: str, known: dict[str, Any]) -> str:
    close = difflib.get_close_matches(extra, known, n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else ""


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _excerpt(value: Any) -> str:
    text = _TEXT.encode(value).decode()
    return text if len(text) <= 80 else text[:77] + "…"


def _without_nulls(arguments: Any) -> Any:
    if isinstance(arguments, dict):
        return {key: _without_nulls(value) for key, value in arguments.items() if value is not None}
    if isinstance(arguments, list):
        return [_without_nulls(item) for item in arguments]
    return {} if arguments is None else arguments
