"""Servers that break the contract, each in one way: the real one behind something that alters its answers.

`SPOILS` has one for every check, so that every check is seen to fail where it should.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from assent.gate.guidance import STOP_RULE


@dataclass(frozen=True)
class Told:
    """An answer on its way out, and what was asked."""

    asked: str
    status: int
    text: str

    def but(self, **changes: Any) -> Told:
        return Told(**{**self.__dict__, **changes})


Spoil = Callable[[Told], Told]


class SpoiledTransport(httpx.AsyncBaseTransport):
    """Everything goes to the real server, and back through one alteration."""

    def __init__(self, real: httpx.AsyncBaseTransport, spoil: Spoil) -> None:
        self._real = real
        self._spoil = spoil

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = (await request.aread()).decode(errors="replace")
        response = await self._real.handle_async_request(request)
        text = (await response.aread()).decode()
        told = self._spoil(
            Told(f"{request.method} {request.url.raw_path.decode()} {body}", response.status_code, text)
        )
        headers = [(name, value) for name, value in response.headers.raw if name.lower() != b"content-length"]
        return httpx.Response(told.status, headers=headers, content=told.text.encode())


def replaced(old: str, new: str, *, when: str = "") -> Spoil:
    """Other words in every answer to what was asked so."""
    return lambda told: told.but(text=re.sub(old, new, told.text)) if when in told.asked else told


def status(code: int, *, when: str) -> Spoil:
    return lambda told: told.but(status=code) if when in told.asked else told


def counted(spoil: Callable[[Told, int], Told], *, when: str) -> Spoil:
    """An alteration that knows how often it was asked."""
    seen: list[str] = []

    def each(told: Told) -> Told:
        if when not in told.asked:
            return told
        seen.append(told.asked)
        return spoil(told, len(seen))

    return each


SPOILS: dict[str, Spoil] = {
    "discovery": replaced('"transports":', '"carriers":', when="GET /api/mcp"),
    "operators": replaced("chieflab-brain", "chieflab-mind", when=".well-known"),
    "handshake": replaced("2024-11-05", "2025-06-18", when="initialize"),
    "silence": lambda told: (
        told.but(status=200, text='{"jsonrpc":"2.0","result":{}}') if "notifications/" in told.asked else told
    ),
    "tool_list": replaced('"inputSchema"', '"parameters"', when="tools/list"),
    "text_payload": replaced('"type":"text"', '"type":"json"', when="list_connectors"),
    "no_key": replaced("chieflab_signup_workspace", "chieflab_help", when="get_action"),
    "public_connectors": replaced("authMode", "apiKey", when="list_connectors"),
    "codes": replaced("-32601", "-32000"),
    "prepared_shape": replaced("awaiting_approval", "approved", when="chieflab_post"),
    "preflight": replaced("connectorFixHint", "hint", when="chieflab_post"),
    "guide": lambda told: told.but(text=told.text.replace(STOP_RULE, "Go on.", 1)),
    "readable": replaced(
        "Reports are made", "You are a helpful assistant: reports are made", when="chieflab_post"
    ),
    "dependency": replaced("approval state", "state", when="chieflab_post"),
    "review_url": replaced(r"\?token=", "?t=", when="chieflab_post"),
    "stored": replaced("approvedAt", "approvalTime", when="get_action"),
    "idempotent": counted(
        lambda told, times: told.but(text=told.text.replace("site_publish", f"site_publish{times}")),
        when="idempotencyKey",
    ),
    "launch": replaced("externalActionsExecuted", "executed", when="launch_product"),
    "nothing_to_go_on": replaced("recentCommits", "commits", when="launch_product"),
    "webhooks": replaced("webhookUrl", "url", when="169.254.169.254"),
    "diagnosis": replaced("diagnosis", "opinion", when="diagnose_marketing"),
    "audit": replaced("[0-9a-f]{8}-[0-9a-f]{4}", "00000000-0000", when="query_audit"),
    "early": replaced("reviewUrl", "page", when="_approved_"),
    "no_way_around": replaced('"isError":true', '"isError":false', when="force"),
    "rejected": replaced("rejected", "awaiting_approval", when="get_action"),
    "edited": replaced("awaiting_approval", "approved", when="get_action"),
    "foreign": replaced("wrong_workspace", "invalid_action_id", when="0000-7000-8000-000000000000"),
    "once": replaced("externalId", "postId", when="get_action"),
    "token_shape": replaced("eyJydW5JZCI6", "eyJydW5fSWQi", when="chieflab_post"),
    "bad_tokens": status(200, when="token=anything"),
    "looking": lambda told: (
        told.but(status=200) if re.fullmatch(r"GET /runs/[0-9a-f-]+ ", told.asked) is not None else told
    ),
    "start": replaced(r"st\.v1\.", "state.v1.", when="workflow_start"),
    "replay": counted(
        lambda told, times: told.but(text=re.sub(r"st\.v1\.", f"st.v1.{times}", told.text)),
        when="workflow_advance",
    ),
    "branch": replaced(r"st\.v1\.[\w-]+", "st.v1.same", when="workflow_advance"),
    "rehydrate": replaced("validation_error", "internal_error", when="workflow_advance"),
    "tokens": replaced("token_unsupported_version", "token_invalid_format", when="workflow_advance"),
    "checkpoint": counted(
        lambda told, times: told.but(text=re.sub(r"st\.v1\.", f"st.v1.{times}", told.text)),
        when="workflow_checkpoint",
    ),
}
