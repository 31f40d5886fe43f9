"""The one place where a call is let in and where a refusal becomes an answer.

Every surface passes a tool's name, its arguments as plain JSON values and the context of the
request, and turns the `Answer` into a response. The order of the checks is key, limit, tool, scope,
arguments; then the tool runs. Any exception except a refusal is a bug: it is logged under the
request's id and answered without internals.
"""

from __future__ import annotations

import bisect
import itertools
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import msgspec

from assent.engine.core import tenancy
from assent.engine.core.callers import NOTED_EVERY_MS
from assent.engine.core.rate import allow_own
from assent.engine.core.services import Services
from assent.engine.core.tenancy import Principal
from assent.engine.people import client_grants
from assent.kernel.ids import ACCESS_FACTS
from assent.kernel.refusals import KEY_REASONS, MEANINGS, Reason, Refusal
from assent.kernel.toolsets import Toolset, choose
from assent.ports import StoreUnavailable
from assent.serving.arguments import BadArguments, decode
from assent.serving.gateway import PLAIN_CLIENT, ClientPort
from assent.tools.definition import Call, Dialog, InputRequired, Peer, Prose, PublicCall, Tool

if TYPE_CHECKING:
    from assent.serving.tracing import CallTracer
    from assent.tools.catalog import Catalog

log = logging.getLogger("assent.edge")

UNAVAILABLE_RETRY_SECONDS: Final = 5

GATE_REASONS: Final = KEY_REASONS | {Reason.RATE_LIMITED, Reason.TEMPORARILY_UNAVAILABLE}
"""Refusals of the call, not the tool; HTTP answers them with their status (C2)."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """The caller's credentials: a key, or being the process's own user on stdio (C32)."""

    api_key: str | None = None
    local: Principal | None = None
    profile_id: str | None = None
    """The profile of wrapped servers that the caller's connection has opened."""


def _is_open() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The sender of a request, its address, and the id under which it is logged."""

    credentials: Credentials
    address: str
    request_id: str
    peer: Peer | None = None
    dialog: Dialog | None = None
    """The dialog that the client declares."""
    client: ClientPort = PLAIN_CLIENT
    offered: frozenset[str] | None = None
    """The tools that the caller sees; None for those of its key."""
    trace: Mapping[str, str] | None = None
    """The headers that name the caller's span."""
    is_open: Callable[[], bool] = _is_open
    """Whether a caller without a key may see the tools, and not only use the public ones (C19)."""
    sign_in: Callable[[Challenge], str] | None = None
    """Writes the header that tells a client how to sign in; None if it cannot."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """Why a client may sign in, again or for more (RFC 6750): nothing without a credential."""

    error: str = ""
    scopes: tuple[str, ...] = tenancy.SCOPES


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply as JSON text, with the facts that an HTTP surface needs."""

    text: str
    status: int = 200
    reason: Reason | None = None
    at_gate: bool = False
    bad_arguments: bool = False
    """The arguments break the published schema (C16), as opposed to values that were refused."""
    retry_after_seconds: int | None = None
    prose: str | None = None
    """A readable text that goes before the payload (W76)."""
    note: str | None = None
    """A sentence for the person that goes after the payload. It depends on the process that answers, so it is no part
    of the payload: a replay by another process gives the same payload (E7)."""
    required: InputRequired | None = None
    """The question that the client has to ask first. There is no payload then."""
    challenge: Challenge | None = None
    """Set for a refusal that signing in may mend."""

    @property
    def is_error(self) -> bool:
        return self.reason is not None

    @property
    def outcome(self) -> str:
        return self.reason.value if self.reason is not None else "ok"

    def texts(self, *, structured: bool) -> list[str]:
        """Return the payload and the texts around it. Where a client gets it as `structured` content, too,
        readable text stands for it (W76)."""
        payload = None if structured and self.prose is not None else self.text
        return [said for said in (self.prose, payload, self.note) if said is not None]

    @property
    def value(self) -> dict[str, Any]:
        """The reply as plain values."""
        plain: dict[str, Any] = msgspec.json.decode(self.text)
        return plain


@dataclass(slots=True)
class Incoming:
    """A call before it is let in."""

    name: str
    tool: Tool | None
    """None if no tool has that name."""
    arguments: Any
    context: RequestContext
    caller: Principal | None = None
    """Set once the key is checked."""
    let_in: bool = False
    owned: bool = False
    """Whether the caller has the owner's tools, too; set with the caller."""

    @property
    def label(self) -> str:
        """The name of the tool. Unknown names share one, so that callers cannot create metrics."""
        return self.tool.name if self.tool is not None else "unknown"

    def find_step_up(self) -> Challenge | None:
        """Return the scope of the tool, if its client signed in and did not ask for it. A scope that a person took away
        is not asked for again, or the client would ask with every call."""
        scope = self.tool.scope if self.tool is not None else None
        asked = self.caller.asked if self.caller is not None else None
        if asked is None or scope not in tenancy.SCOPES or scope in asked:
            return None
        return Challenge("insufficient_scope", (scope,))

    def is_refused_itself(self, refusal: Refusal) -> bool:
        """Whether a refusal concerns the call: a public tool limits callers by address, elsewhere
        the limit is a provider's."""
        if not self.let_in and refusal.reason in GATE_REASONS:
            return True
        limited = refusal.reason is Reason.RATE_LIMITED and self.tool is not None and self.tool.public
        return limited or refusal.reason is Reason.TEMPORARILY_UNAVAILABLE


def toolsets_of(principal: Principal | None) -> frozenset[Toolset] | None:
    """Return the tool sets of a caller's key; None for the server's default."""
    return choose(principal.toolsets) if principal is not None and principal.toolsets else None


class Latency:
    """How long the calls of a tool took: a histogram."""

    BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

    __slots__ = ("_buckets", "seconds")

    def __init__(self) -> None:
        self._buckets = [0] * (len(self.BOUNDS) + 1)
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        self._buckets[bisect.bisect_left(self.BOUNDS, seconds)] += 1
        self.seconds += seconds

    @property
    def count(self) -> int:
        return sum(self._buckets)

    def cumulate(self) -> list[tuple[str, int]]:
        """Return the count up to each bound."""
        names = [*(f"{bound:g}" for bound in self.BOUNDS), "+Inf"]
        return list(zip(names, itertools.accumulate(self._buckets), strict=True))


def describe_call(call: Incoming, answer: Answer) -> dict[str, str]:
    """Describe a call for the access log and its span: no content, no secret."""
    caller, facts = call.caller, {"tool": call.label, "outcome": answer.outcome}
    if caller is not None:
        facts |= {"workspace": caller.workspace_id, "key_id": caller.key_id or "local"}
    return facts


class Edge:
    """Answers calls. One per process; holds no state of a call."""

    def __init__(self, load_catalog: Callable[[], Catalog], services: Services) -> None:
        self._load_catalog = load_catalog
        self.services = services
        self.outcomes: Counter[tuple[str, str]] = Counter()
        self.latencies: dict[str, Latency] = {}
        self.running = 0
        """Calls that are being answered."""
        self.tracer: CallTracer | None = None
        """Set if calls are traced."""
        self._noted: dict[tuple[str, str | None], int] = {}
        """When each caller was noted last."""

    @cached_property
    def catalog(self) -> Catalog:
        """Every tool of the server. Imported at its first use, because a handshake needs no tools."""
        return self._load_catalog()

    def catalog_for(self, caller: Principal | None) -> Catalog:
        """The tools that a caller can see and call; without a key those that every workspace has (E50)."""
        return self._choose(owned=self._services_for(caller).owned)

    def _choose(self, *, owned: bool) -> Catalog:
        return self.catalog if owned else self.catalog.shared

    def _services_for(self, caller: Principal | None) -> Services:
        return self.services.for_workspace(caller.workspace_id if caller is not None else None)

    async def answer(
        self, name: str, arguments: Any, context: RequestContext, meta: Mapping[str, Any] | None = None
    ) -> Answer:
        """Run one call, in a span if calls are traced. `meta` is the `_meta` of its message."""
        call = Incoming(name, self.catalog.by_name.get(name), arguments, context)
        if self.tracer is None:
            return await self._answer_and_count(call)
        with self.tracer.trace(call.label, meta, context.trace) as facts:
            answer = await self._answer_and_count(call)
            facts.update(describe_call(call, answer))
        return answer

    async def _answer_and_count(self, call: Incoming) -> Answer:
        begun = time.perf_counter()
        self.running += 1
        try:
            answer = await self._answer(call)
        finally:
            self.running -= 1
        toolsets, tool, catalog = toolsets_of(call.caller), call.tool, self._choose(owned=call.owned)
        listed = catalog.offered if toolsets is None else catalog.names_in(toolsets)
        offered = listed if call.context.offered is None else call.context.offered
        if not offered.issuperset(NAMED.findall(answer.text)):
            answer = replace(answer, text=drop_unoffered(answer.text, catalog, offered))
        if answer.is_error and tool is not None and tool.tell_refusal is not None:
            answer = replace(answer, prose=tool.tell_refusal(answer.value))
        self.outcomes[(call.label, answer.outcome)] += 1
        self.latencies.setdefault(call.label, Latency()).add(time.perf_counter() - begun)
        if (facts := ACCESS_FACTS.get()) is not None:
            facts.update(describe_call(call, answer))
        return answer

    async def _answer(self, call: Incoming) -> Answer:
        try:
            reply = await self._run(call)
            if isinstance(reply, InputRequired):
                return Answer("", required=reply)
            prose = reply.text if isinstance(reply, Prose) else None
            payload = reply.reply if isinstance(reply, Prose) else reply
            return self._note_links(Answer(encode(payload), prose=prose))
        except BadArguments as bad:
            return answer_refusal(bad.refusal, bad_arguments=True)
        except Refusal as refusal:
            refused = answer_refusal(refusal, at_gate=call.is_refused_itself(refusal))
            if refusal.reason is Reason.INSUFFICIENT_SCOPE:
                refused = replace(refused, challenge=call.find_step_up())
            return self._note_links(refused) if call.let_in else refused
        except StoreUnavailable as unavailable:
            return _answer_unavailable(unavailable, request_id=call.context.request_id)
        except Exception:
            log.exception("%s failed", call.name, extra={"request_id": call.context.request_id})
            return answer_refusal(Refusal(Reason.INTERNAL_ERROR, request_id=call.context.request_id))

    async def authenticate(self, credentials: Credentials) -> Principal | None:
        """Return the caller; None without credentials. A wrong key is always refused."""
        key, now_ms = credentials.api_key, self.services.clock.now_ms()
        caller = credentials.local
        if key is not None:
            caller = await self.services.store.read(lambda: tenancy.authenticate(key, now_ms))
            if not caller.is_confirmed and caller.key_id is not None:
                ids = tenancy.KeyIds(caller.workspace_id, caller.key_id)
                await self.services.store.write(lambda: client_grants.confirm(ids))
        if caller is not None:
            known = caller.workspace_id, caller.key_id
            if abs(now_ms - self._noted.get(known, -NOTED_EVERY_MS)) >= NOTED_EVERY_MS:
                self._noted[known] = now_ms
                self.services.background.callers.note(caller, now_ms)
        return caller

    async def check_key(self, credentials: Credentials, *, required: bool) -> Principal | Answer | None:
        """Return the caller of a request that names no tool, or the answer that refuses it."""
        try:
            principal = await self.authenticate(credentials)
            if principal is None and required:
                raise tenancy.lack_key(signup_open=self.services.limits.signup_open)
            return principal
        except Refusal as refusal:
            return answer_refusal(refusal, at_gate=True)
        except StoreUnavailable as unavailable:
            return _answer_unavailable(unavailable)

    async def _run(self, call: Incoming) -> Any:
        """Let a call in and run its tool. Without a key only public tools run (E84)."""
        tool = call.tool
        if tool is not None and tool.owned:
            call.tool = None  # no such tool, until the caller is known to be the owner's
        principal = await self.authenticate(call.context.credentials)
        services = self._services_for(principal)
        call.owned = services.owned
        tool = call.tool = tool if call.owned else call.tool
        dialog = call.context.dialog if services.limits.client_dialog_seconds else None
        if principal is not None and principal.client_dialog and dialog is None:
            principal = msgspec.structs.replace(principal, client_dialog=False)
        call.caller = principal
        if principal is None and tool is not None and not tool.public:
            raise tenancy.lack_key(signup_open=services.limits.signup_open)
        if principal is not None and principal.key_id is not None:
            limits, now_ms = services.limits, services.clock.now_ms()
            window = allow_own(limits.calls, principal.calls_per_minute)
            await limits.rate_limiter.count(window, principal.workspace_id, "", now_ms)
        call.let_in = True
        if tool is None and principal is None and call.name == MEANINGS[Reason.MISSING_API_KEY].recovery_tool:
            raise tenancy.lack_key(signup_open=False)
        if tool is None:
            raise self._unknown(call)
        if services.links.find_pages is not None:
            await services.links.find_pages()
        try:
            if tool.scope is not None and principal is not None:
                principal.require(tool.scope)
            request = decode(tool, call.arguments)
            context = call.context
            if principal is None or not principal.client_dialog:
                dialog = None
            origin = context.address, context.request_id, services.clock.now_ms(), context.peer, dialog
            if principal is None or tool.public:
                return await tool.handler(PublicCall(services, principal, *origin), request)
            return await tool.handler(Call(services, principal, *origin, keyed_as=tool.keyed_as), request)
        except Refusal as refusal:
            if principal is None:
                raise
            from assent.engine.actions import circumstances  # imported late, as the catalog

            raise await circumstances.complete(services, principal, refusal, call.arguments) from refusal

    def _note_links(self, answer: Answer) -> Answer:
        """Add the note of a process whose links end with the chat, if the answer has such a link."""
        links = self.services.links
        note = links.link_note()
        address = links.page_address() if note is not None else None
        return answer if address is None or address not in answer.text else replace(answer, note=note)

    def _unknown(self, call: Incoming) -> Refusal:
        close = self._choose(owned=call.owned).suggest(call.name)
        suggestion = f" (did you mean {close}?)" if close is not None else ""
        return Refusal(Reason.UNKNOWN_TOOL, facts={"tool": repr(call.name[:80]), "suggestion": suggestion})


_TEXT: Final = msgspec.json.Encoder()


def encode(payload: Any) -> str:
    """Encode a reply as JSON. Every answer has `ok`, as every output schema promises."""
    text = _TEXT.encode(payload).decode()
    says_ok = "ok" in getattr(payload, "__struct_encode_fields__", ("ok",))
    return text if says_ok else '{"ok":true' + ("," if text != "{}" else "") + text[1:]


def answer_refusal(refusal: Refusal, *, at_gate: bool = False, bad_arguments: bool = False) -> Answer:
    """Return a refusal as an answer."""
    challenge = Challenge() if refusal.reason is Reason.MISSING_API_KEY else None
    if isinstance(refusal, tenancy.TokenEnded):
        challenge = Challenge("invalid_token")
    return Answer(
        encode(refusal.recovery()),
        challenge=challenge,
        status=refusal.http_status,
        reason=refusal.reason,
        at_gate=at_gate,
        bad_arguments=bad_arguments,
        retry_after_seconds=refusal.retry_after_seconds,
    )


def name_scheme(reason: Reason | None) -> str:
    """Return the value of `WWW-Authenticate` where a key is missing or wrong (RFC 6750)."""
    error = ', error="invalid_token"' if reason is Reason.INVALID_API_KEY else ""
    return f'Bearer realm="assent"{error}'


def _answer_unavailable(unavailable: StoreUnavailable, **facts: str) -> Answer:
    log.error("store unavailable: %s", unavailable, extra=facts)
    return answer_refusal(unavailable_refusal(), at_gate=True)


def unavailable_refusal() -> Refusal:
    """Return the refusal for a store that cannot be reached."""
    return Refusal(Reason.TEMPORARILY_UNAVAILABLE, retry_after_seconds=UNAVAILABLE_RETRY_SECONDS)


# Removes suggestions of tools that the caller cannot see from every answer.
#
# A suggested call of an unlisted tool gets the name under which the caller's list has that tool, or is removed. Names
# that are only reported, such as the tool that made a run, stay.

NAMED: Final = re.compile(r'"(?:name|tool|executorTool)":"((?:chieflab|chiefmo|workflow)_[a-z_]+)"')
"""Matches a tool name in an answer. Quotation marks in content are escaped."""

EXECUTOR: Final = "executorTool"
ANY_EXECUTOR: Final = "chieflab_execute_approved_action"

_TEXT_OFFERING: Final = msgspec.json.Encoder()
_LEFT_OUT: Final = object()

Shown = Callable[[str], str | None]


def drop_unoffered(text: str, catalog: Catalog, offered: frozenset[str]) -> str:
    """Return the answer without suggestions of tools that are not in `offered`."""

    def shown(name: str) -> str | None:
        if name in offered:
            return name
        tool = catalog.by_name.get(name)
        listed = tool.name if tool is not None else name
        return listed if listed in offered else None

    return _TEXT_OFFERING.encode(_reduce(msgspec.json.decode(text), shown)).decode()


def _reduce(node: Any, shown: Shown) -> Any:
    if isinstance(node, list):
        parts = [_reduce(part, shown) for part in node]
        return [part for part in parts if part is not _LEFT_OUT]
    if not isinstance(node, dict):
        return node
    key = next((each for each in ("name", "tool") if _is_call(node, each)), None)
    if key is not None:
        name = shown(node[key])
        return {**node, key: name} if name is not None else _LEFT_OUT
    kept = {each: _reduce(part, shown) for each, part in node.items()}
    if isinstance(kept.get(EXECUTOR), str):
        kept[EXECUTOR] = shown(kept[EXECUTOR]) or ANY_EXECUTOR
    if "primary" in kept:
        # The next suggestion takes the place of a removed one.
        calls = [kept["primary"], *([kept["fallback"]] if "fallback" in kept else ()), *kept.get("more", ())]
        left = [call for call in calls if call is not _LEFT_OUT]
        places = {"primary": left[:1], "fallback": left[1:2] or left[:1] if "fallback" in kept else []}
        found = {place: first[0] for place, first in places.items() if first}
        return {**found, "more": left[2:]} if len(left) > 2 else found or _LEFT_OUT
    return {each: None if part is _LEFT_OUT else part for each, part in kept.items()}


def _is_call(node: dict[str, Any], key: str) -> bool:
    return isinstance(node.get(key), str) and isinstance(node.get("args"), dict)
