"""A wrapped server over its life: started at its first use, negotiated, restarted with back-off.

Both eras are spoken. `server/discover` of the modern era is tried first; a server that does not know it
gets the handshake of the legacy era. Sampling and roots are not offered. A question to the person
(elicitation) is passed on for a call that passes through, and refused by name in a gated one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from assent import __version__
from assent.sdk import MINUTE_MS, Clock, Record
from assent_wrap.listing import LISTS, MAX_TOOLS, TOOLS, is_passable
from assent_wrap.profiles import Profile, UpstreamSpec
from assent_wrap.transports import RpcError, ServerLink, StdioLink, Unanswered, Unsent

log = logging.getLogger("assent.wrap")

START_SECONDS: Final = 60.0
"""A package runner may download the server first."""
PROBE_SECONDS: Final = 15.0
LIST_SECONDS: Final = 20.0
LIST_AGE_SECONDS: Final = 30.0
"""How long a list is used before the server is asked again."""
FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 60.0
IDLE_MS: Final = 15 * MINUTE_MS
MAX_UNPASSED: Final = 12
"""The most variables that the message about a failed start names."""
AGAIN: Final = "; it is started again in "
MAX_PAGES: Final = 50
METHOD_NOT_FOUND: Final = -32601
CLIENT_INFO: Final = {"name": "assent", "version": __version__}

AskClient = Callable[[dict[str, Any], float], Awaitable[dict[str, Any]]]
"""Has the client show a form to its person: the params of the request, and the longest wait."""
TellClient = Callable[[dict[str, Any]], None]
"""Passes progress on to the client: the params without the token."""


class PassedOn(Record):
    """What of a call in flight is passed on to the client."""

    ask: AskClient | None = None
    progress: TellClient | None = None
    capabilities: Mapping[str, Any] = {}
    """The client's, for a modern server."""


NOTHING: Final = PassedOn()


class Upstream:
    """One wrapped server. Calls share its connection."""

    def __init__(
        self,
        spec: UpstreamSpec,
        environment: Mapping[str, str],
        clock: Clock,
        find_unpassed: Callable[[], Iterable[str]],
    ) -> None:
        """`find_unpassed` returns the names of variables that its client has and this server does not get."""
        self.spec = spec
        self.modern = False
        self.capabilities: Mapping[str, Any] = {}
        self._clock = clock
        self._used_ms = clock.now_ms()
        self._environment = environment
        self._find_unpassed = find_unpassed
        self._version = ""
        self._link: ServerLink | None = None
        self._opening = asyncio.Lock()
        self._failures = 0
        self._retry_at = 0.0
        self._why = ""
        self._lists: dict[str, tuple[dict[str, Any], ...]] = {}
        self._listed_at: dict[str, float] = {}
        self._in_flight: dict[int, PassedOn] = {}
        self._numbers = 0

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        seconds: float,
        passed: PassedOn = NOTHING,
        *,
        before: Callable[[], None] = lambda: None,
    ) -> dict[str, Any]:
        """Send one request and return its result. `before` runs just before it is sent. Raises
        `RpcError`, `Unsent` or `Unanswered`."""
        link = await self._connect()
        self._used_ms = self._clock.now_ms()
        self._numbers += 1
        number = self._numbers
        self._in_flight[number] = passed
        try:
            before()
            result = await link.request(method, self._envelop(params, number, passed), seconds)
            self._failures = 0
            return result
        except RpcError:
            self._failures = 0
            raise
        finally:
            self._in_flight.pop(number, None)
            self._used_ms = self._clock.now_ms()

    def is_idle(self) -> bool:
        return not self._in_flight and self._clock.now_ms() - self._used_ms > IDLE_MS

    async def list_tools(self) -> tuple[dict[str, Any], ...]:
        return await self.list_entries(TOOLS)

    async def list_entries(self, method: str, *, again: bool = False) -> tuple[dict[str, Any], ...]:
        """Return the usable definitions of a list, as the server wrote them. Raises as `request` does."""
        await self._connect()
        asked_at, kind = time.monotonic(), LISTS[method]
        if again or asked_at - self._listed_at.get(method, float("-inf")) >= LIST_AGE_SECONDS:
            listed = await self._list_all(method) if method.partition("/")[0] in self.capabilities else []
            usable = {each[kind.key]: each for each in listed[: kind.most] if is_passable(method, each)}
            if len(usable) < len(listed):
                left_out = len(listed) - len(usable)
                log.warning("%s: %d entries of %s cannot be used", self.spec.name, left_out, method)
            found = tuple(usable.values())
            # The same object for the same list: callers recognise it.
            if found != self._lists.get(method):
                self._lists[method] = found
            self._listed_at[method] = asked_at
        return self._lists[method]

    async def _list_all(self, method: str) -> list[Any]:
        """Return all pages of a list; none of one that the server does not have."""
        found: list[Any] = []
        cursor: Any = None
        for _ in range(MAX_PAGES):
            try:
                page = await self.request(method, {"cursor": cursor} if cursor else {}, LIST_SECONDS)
            except RpcError as error:
                if error.code == METHOD_NOT_FOUND and method != TOOLS:
                    break
                raise
            part = page.get(LISTS[method].field)
            found += part if isinstance(part, list) else []
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or not cursor or len(found) > MAX_TOOLS:
                break
        return found

    async def close(self) -> None:
        if self._link is not None:
            await self._link.close()
            self._link = None

    async def _connect(self) -> ServerLink:
        """Return the open connection, or open one. Raises `Unsent` during the pause after a failure."""
        async with self._opening:
            link = self._link
            if link is not None and link.closed is None:
                return link
            if link is not None:
                self._note_failure(link.closed or "")
                await link.close()
                self._link = None
            if (left := self._retry_at - time.monotonic()) > 0:
                raise Unsent(f"{self._why}{AGAIN}{left:.0f} s")
            self._listed_at.clear()
            try:
                self._link = await self._open()
            except (Unsent, Unanswered, RpcError) as error:
                said = f"{error}{self._name_unpassed(str(error))}"
                self._note_failure(said)
                raise Unsent(said) from error
            return self._link

    def _name_unpassed(self, said: str) -> str:
        """Name variables that a process which did not start may miss, those of its own last words first."""
        if self.spec.url or not (names := sorted(self._find_unpassed(), key=lambda each: each not in said)):
            return ""
        more = f" and {len(names) - MAX_UNPASSED} more" if len(names) > MAX_UNPASSED else ""
        named = f"{', '.join(names[:MAX_UNPASSED])}{more}"
        hint = "Pass one that it needs with --env NAME, or under env in the client's file"
        return f". These variables exist and were not passed: {named}. {hint}"

    def _note_failure(self, why: str) -> None:
        """Lengthen the pause before the next start. The first restart is immediate."""
        self._failures += 1
        self._why = why
        pause = FIRST_PAUSE_SECONDS * 2 ** (self._failures - 2) if self._failures > 1 else 0.0
        self._retry_at = time.monotonic() + min(pause, LONGEST_PAUSE_SECONDS)

    async def _open(self) -> ServerLink:
        link: ServerLink
        if self.spec.url:
            from assent_wrap.http_transport import HttpLink

            link = HttpLink(self.spec, self._asked, self._told)
        else:
            link = await StdioLink.start(self.spec, self._environment, self._asked, self._told)
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._negotiate(link)
        except TimeoutError:
            await link.close()
            raise Unsent(f"{self.spec.name} did not start within {START_SECONDS:g} seconds") from None
        except BaseException:
            await link.close()
            raise
        return link

    async def _negotiate(self, link: ServerLink) -> None:
        """Find the era. A server that does not answer the modern probe is legacy."""
        # Late: the SDK loads as long as most servers start, so the server is started first.
        from mcp_types.version import (
            HANDSHAKE_PROTOCOL_VERSIONS,
            LATEST_HANDSHAKE_VERSION,
            MODERN_PROTOCOL_VERSIONS,
        )

        version = MODERN_PROTOCOL_VERSIONS[-1]
        self._begin(link, version, modern=True)
        try:
            found = await link.request("server/discover", self._envelop({}, 0, NOTHING), PROBE_SECONDS)
            supported = found.get("supportedVersions")
            if isinstance(supported, list) and version in supported:
                self.capabilities = _read_object(found.get("capabilities"))
                return
        except RpcError:
            pass
        except Unanswered:
            if link.closed is not None:
                raise
        self._begin(link, "", modern=False)
        given = {
            "protocolVersion": LATEST_HANDSHAKE_VERSION,
            "capabilities": {"elicitation": {}},
            "clientInfo": CLIENT_INFO,
        }
        answered = await link.request("initialize", given, START_SECONDS)
        chosen = answered.get("protocolVersion")
        if chosen not in HANDSHAKE_PROTOCOL_VERSIONS:
            raise Unsent(
                f"{self.spec.name} speaks the protocol version {str(chosen)[:40]}, which is not known here"
            )
        self.capabilities = _read_object(answered.get("capabilities"))
        self._begin(link, chosen, modern=False)
        await link.notify("notifications/initialized", {})

    def _begin(self, link: ServerLink, version: str, *, modern: bool) -> None:
        self.modern, self._version = modern, version
        link.begin(version, modern=modern)

    def _envelop(self, params: Mapping[str, Any], number: int, passed: PassedOn) -> dict[str, Any]:
        """Return the params with the envelope of the modern era, and with a token if progress is passed
        on. The client's own envelope is left out."""
        from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY

        own = (PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY, "progressToken")
        meta = {key: value for key, value in _read_object(params.get("_meta")).items() if key not in own}
        if passed.progress is not None:
            meta["progressToken"] = number
        if self.modern:
            meta[PROTOCOL_VERSION_META_KEY] = self._version
            meta[CLIENT_INFO_META_KEY] = CLIENT_INFO
            meta[CLIENT_CAPABILITIES_META_KEY] = dict(passed.capabilities)
        plain = {key: value for key, value in params.items() if key != "_meta"}
        return {**plain, "_meta": meta} if meta else plain

    async def _asked(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Answer a request of the server. Raises `RpcError` for what is not offered."""
        if method == "ping":
            return {}
        if method != "elicitation/create":
            raise RpcError(METHOD_NOT_FOUND, f"Assent does not offer {method[:60]}.")
        open_calls = list(self._in_flight.values())
        # The server does not say which call it asks about, so it may ask only if there is one.
        if len(open_calls) != 1 or (ask := open_calls[0].ask) is None:
            raise RpcError(METHOD_NOT_FOUND, "Assent does not pass on elicitation for this call.")
        return await ask(params, START_SECONDS)

    def _told(self, method: str, params: dict[str, Any]) -> None:
        if method.endswith("/list_changed"):
            changed = method.split("/")[1]
            self._listed_at = {
                each: at for each, at in self._listed_at.items() if not each.startswith(changed)
            }
        elif method == "notifications/progress":
            token = params.pop("progressToken", None)
            passed = self._in_flight.get(token) if isinstance(token, int) else None
            if passed is not None and passed.progress is not None:
                passed.progress(params)


def _read_object(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


class Upstreams:
    """The wrapped servers of one process: one for each profile and name."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: dict[tuple[str, str], Upstream] = {}
        self.unpassed: dict[str, Sequence[str]] = {}
        """By profile, the names of variables that its client has and its servers do not get."""
        self._closing: set[asyncio.Task[None]] = set()

    def find(self, profile_id: str, profile: Profile, spec: UpstreamSpec) -> Upstream:
        """Return the server. Ends those that were not used for long."""
        for key, each in list(self._open.items()):
            if each.is_idle() and key != (profile_id, spec.name):
                task = asyncio.create_task(self._open.pop(key).close())
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)
        found = self._open.get((profile_id, spec.name))
        if found is None:
            found = self._open[(profile_id, spec.name)] = Upstream(
                spec, profile.environment_of(spec), self._clock, lambda: self.unpassed.get(profile_id, ())
            )
        return found

    async def close(self) -> None:
        closing = [each.close() for each in self._open.values()]
        self._open.clear()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*closing, *self._closing, return_exceptions=True)
