"""Callers that see the tools of wrapped servers, beside five of this server's own.

A caller has a profile by its connection (`assent wrap`), or by its workspace if the settings name it.
Lists are private and short-lived, because a wrapped server may change them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Final

from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, SERVER_INFO_META_KEY, PaginatedRequestParams
from mcp_types.methods import CACHEABLE_METHODS

from assent import __version__
from assent.serving.edge import Answer, Edge, RequestContext
from assent.serving.gateway import ForeignCall, ToolGateway
from assent.serving.instructions import SPEC_URL

FOREIGN_TTL_MS: Final = 5_000
COMPLETE: Final = "complete"
SERVER_ERROR: Final = -32000
SERVER_INFO: Final = {"name": "assent", "version": __version__}


class ForeignServer:
    """Answers the messages of callers that have a profile."""

    def __init__(
        self, edge: Edge, load_gateway: Callable[[], ToolGateway], *, wraps_workspaces: Callable[[], bool]
    ) -> None:
        """`wraps_workspaces` returns whether the settings give some workspaces a profile."""
        self._edge = edge
        self._load_gateway = load_gateway
        self._wraps_workspaces = wraps_workspaces

    @cached_property
    def gateway(self) -> ToolGateway:
        return self._load_gateway()

    @cached_property
    def wraps_workspaces(self) -> bool:
        return self._wraps_workspaces()

    async def find_call(self, context: RequestContext) -> ForeignCall | None:
        """Return the call of a caller with a profile, else None."""
        given, edge = context.credentials, self._edge
        caller = await edge.check_key(given, required=given.profile_id is not None)
        if caller is None or isinstance(caller, Answer):
            return None  # the answer refuses it
        try:
            profile_id = given.profile_id or await self.gateway.find_profile(caller.workspace_id)
        except ValueError as wrong:
            # Not this server's own tools instead: the settings say that this caller does not see them.
            raise MCPError(
                code=SERVER_ERROR, message=f"The wrapped servers cannot be used. {wrong}"
            ) from None
        if profile_id is None:
            return None
        now_ms = edge.services.clock.now_ms()
        return ForeignCall(caller, profile_id, now_ms, context.peer, context.client)

    async def call_directly(
        self, call: ForeignCall, params: Mapping[str, Any] | None, *, modern: bool
    ) -> dict[str, Any] | None:
        """Call a wrapped tool and return its result, in the words of the client's era; None for any other
        call. The SDK is left out: it would validate and copy what its server has written, which took as
        long as the call itself."""
        name = params.get("name") if params is not None else None
        if params is None or not isinstance(name, str) or name in self.gateway.own_tools:
            return None
        if not isinstance(params.get("arguments", {}), dict):
            return None
        result = await self.gateway.call_tool(call, params)
        if result is None:
            return None
        if not modern:
            return {key: value for key, value in result.items() if key not in ("resultType", "_meta")}
        meta = {**(result.get("_meta") or {}), SERVER_INFO_META_KEY: SERVER_INFO}
        return {"resultType": COMPLETE, **result, "_meta": meta}

    def offer_own(self, context: RequestContext, name: Any) -> RequestContext:
        """Return the context of a call of one of this server's own tools. Raises `MCPError` for any other."""
        if not isinstance(name, str) or name not in self.gateway.own_tools:
            raise MCPError(code=INVALID_PARAMS, message=f"There is no tool {str(name)[:80]!r} here.")
        return replace(context, offered=self.gateway.own_tools)

    @cached_property
    def server(self) -> Server[Any]:
        """The SDK's server for these callers. Their calls of tools do not pass it."""
        hints: dict[Any, CacheHint] = dict.fromkeys(CACHEABLE_METHODS, CacheHint(FOREIGN_TTL_MS, "private"))
        hints["resources/read"] = CacheHint()
        handlers: dict[str, Any] = {
            "on_list_tools": self._list_tools,
            "on_list_resources": partial(self._pass_on, "resources/list"),
            "on_list_resource_templates": partial(self._pass_on, "resources/templates/list"),
            "on_read_resource": partial(self._pass_on, "resources/read"),
            "on_list_prompts": partial(self._pass_on, "prompts/list"),
            "on_get_prompt": partial(self._pass_on, "prompts/get"),
        }
        return Server(
            "assent",
            version=__version__,
            title="Assent",
            instructions=self.gateway.instructions,
            website_url=SPEC_URL,
            cache_hints=hints,
            **handlers,
        )

    @cached_property
    def _own_entries(self) -> list[dict[str, Any]]:
        """This server's own tools in the list: all are the core's, so that it does not wait for those of extensions."""
        from assent.tools.catalog import CORE_TOOLS, list_entry

        own = (each for each in CORE_TOOLS if each.name in self.gateway.own_tools)
        return [list_entry(each, each.name, is_old=False) for each in own]

    async def _list_tools(self, ctx: Any, params: PaginatedRequestParams | None) -> dict[str, Any]:
        tools = [*await self.gateway.list_tools(ctx.request.foreign), *self._own_entries]
        return {"resultType": COMPLETE, "tools": tools, "cacheScope": "private"}

    async def _pass_on(self, method: str, ctx: Any, params: Any) -> dict[str, Any]:
        """Answer a request about resources or prompts."""
        try:
            found = await self.gateway.request(ctx.request.foreign, method, ctx.request.params or {})
        except LookupError as error:
            raise MCPError(code=INVALID_PARAMS, message=str(error)) from None
        # How long it may be kept, and for whom, is not for the wrapped server to say.
        kept = {key: value for key, value in found.items() if key not in ("ttlMs", "cacheScope")}
        return {**kept, "resultType": COMPLETE}


def read_capabilities(declared: Any) -> dict[str, Any]:
    """Return what a modern client declares, as plain values."""
    found = (
        declared.model_dump(by_alias=True, exclude_none=True) if hasattr(declared, "model_dump") else declared
    )
    return found if isinstance(found, dict) else {}


def find_repeated_key(body: bytes) -> str | None:
    """Return a key that an object of a message has twice. Programs disagree on which of the two counts,
    so that a person could approve one and another be sent."""
    repeated: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                repeated.append(key)
            seen.add(key)

    json.loads(body, object_pairs_hook=note)
    return repeated[0] if repeated else None
