"""What wrapping stores: profiles, accepted definitions, the newest proposal of a call, observed calls.

The contents of a profile hold environment variables and headers, so they are in the vault. The id of a
profile is a keyed hash of them, so another command, folder or environment is another profile, with
other processes. An action names its profile: an approved call is made to the server that it was proposed
for, also after a restart and after the client's file has changed, or not at all.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from assent.platform import note_event
from assent.sdk import DAY_MS, MAX_CONTENT_CHARS, Record, Services, Transaction, WorkspaceId, from_row
from assent_wrap.component import statements
from assent_wrap.effects import ToolOffer, write_definition
from assent_wrap.listing import OfferedEntry, OfferedTool, only_reads
from assent_wrap.profiles import Profile
from assent_wrap.rules import Observed, list_beginnings

FIELD: Final = "profile"
COMPARED: Final = 50
"""How many of the newest profiles a call compares its own with. As many old ones are dropped at once."""
EVERY: Final = 2**31 - 1
KEPT_MS: Final = 90 * DAY_MS
"""How long an unused profile is kept: well beyond the life of an action, which is proposed under it."""

SHOWN_CHARS: Final = 2 * MAX_CONTENT_CHARS
"""The longest definitions that one question shows, accepted and new ones together."""


def _holder(profile_id: str) -> str:
    return f"wrap:{profile_id}"


def identify(key: bytes, workspace_id: WorkspaceId, text: str) -> str:
    """Return the id of a profile: a keyed hash of its whole text, with every variable."""
    return hmac.digest(key, f"{workspace_id}\n{text}".encode(), "sha256").hex()


def _open(services: Services, workspace_id: WorkspaceId, profile_id: str) -> Transaction[Profile | None]:
    """Return a profile; None if there is none, or if it is not the one that its id says."""
    opened = yield from services.vault.open(workspace_id, _holder(profile_id))
    text = opened.get(FIELD)
    if text is None:
        return None
    known = (identify(key, workspace_id, text) for key in services.keys.wrapped_servers.keys)
    return msgspec.json.decode(text, type=Profile) if profile_id in known else None


async def find_profile(services: Services, workspace_id: WorkspaceId, profile_id: str) -> Profile | None:
    return await services.store.read(partial(_open, services, workspace_id, profile_id))


async def list_profiles(services: Services, workspace_id: WorkspaceId, most: int = EVERY) -> list[Profile]:
    """Return the kept profiles of a workspace, newest use first."""

    def begin() -> Transaction[list[Profile]]:
        found: list[Profile] = []
        rows = yield statements.list_wrap_profiles(workspace_id=workspace_id, most=most)
        for row in rows:
            profile = yield from _open(services, workspace_id, row["profile_id"])
            found += [profile] if profile is not None else []
        return found

    return await services.store.read(begin)


async def keep_profile(services: Services, workspace_id: WorkspaceId, profile: Profile) -> str:
    """Store a profile, or its use, and return its id. Drops profiles that were not used for long."""
    now_ms = services.clock.now_ms()
    text = msgspec.json.encode(profile, order="deterministic").decode()
    profile_id = identify(services.keys.wrapped_servers.keys[0], workspace_id, text)
    seal = services.vault.seal(1)

    def begin() -> Transaction[str]:
        yield from services.vault.put(workspace_id, _holder(profile_id), {FIELD: text}, seal, now_ms)
        yield statements.put_wrap_profile(workspace_id=workspace_id, profile_id=profile_id, now_ms=now_ms)
        rows = yield statements.list_unused_wrap_profiles(
            workspace_id=workspace_id, before_ms=now_ms - KEPT_MS, most=COMPARED
        )
        for row in rows:
            yield from services.vault.destroy(workspace_id, _holder(row["profile_id"]))
            yield statements.drop_wrap_profile(workspace_id=workspace_id, profile_id=row["profile_id"])
        return profile_id

    return await services.store.write(begin)


Pins = Mapping[tuple[str, str], tuple[str, bool]]


async def list_pins(services: Services, workspace_id: WorkspaceId) -> Pins:
    """Return the accepted definitions by server and tool: the hash, and whether the hint counts."""

    def begin() -> Transaction[Pins]:
        rows = yield statements.list_wrap_pins(workspace_id=workspace_id)
        return {(row["server"], row["tool"]): (row["pin"], bool(row["hinted"])) for row in rows}

    return await services.store.read(begin)


async def accept_first(
    services: Services, workspace_id: WorkspaceId, offered: Iterable[OfferedTool | OfferedEntry]
) -> None:
    """Accept definitions that a server lists first: the person who wrapped it has chosen it."""
    now_ms, found = services.clock.now_ms(), list(offered)

    def begin() -> Transaction[None]:
        for each in found:
            yield statements.add_wrap_tool(
                workspace_id=workspace_id,
                server=each.server,
                tool=each.tool,
                pin=each.pin,
                definition=write_definition(each.definition),
                hinted=int(only_reads(each.definition, trusted=True)),
                now_ms=now_ms,
            )
        body = {"server": found[0].server, "tools": {each.tool: each.pin for each in found}}
        yield from note_event(workspace_id, "wrapped_tools_accepted", body, now_ms)

    if found:
        await services.store.write(begin)


def accept_tools(
    workspace_id: WorkspaceId, server: str, tools: Iterable[ToolOffer], now_ms: int
) -> Transaction[None]:
    """Accept definitions that a person approved."""
    for each in tools:
        yield statements.put_wrap_tool(
            workspace_id=workspace_id,
            server=server,
            tool=each.name,
            pin=each.pin,
            definition=each.after,
            hinted=int(only_reads(each.definition, trusted=True)),
            now_ms=now_ms,
        )


async def find_definition(services: Services, workspace_id: WorkspaceId, server: str, tool: str) -> str:
    """Return an accepted definition as text; empty if there is none."""

    def begin() -> Transaction[str]:
        rows = yield statements.find_wrap_tool(workspace_id=workspace_id, server=server, tool=tool)
        return str(rows[0]["definition"]) if rows else ""

    return await services.store.read(begin)


async def show_tools(
    services: Services, workspace_id: WorkspaceId, held: Iterable[OfferedTool], passing: Collection[str]
) -> tuple[ToolOffer, ...]:
    """Return the held tools as a question shows them: the first ones, as many as a person can read."""

    def begin() -> Transaction[tuple[ToolOffer, ...]]:
        shown: list[ToolOffer] = []
        left = SHOWN_CHARS
        for each in held:
            rows = yield statements.find_wrap_tool(
                workspace_id=workspace_id, server=each.server, tool=each.tool
            )
            before, after = rows[0]["definition"] if rows else "", write_definition(each.definition)
            left -= len(before) + len(after)
            if shown and left < 0:
                break
            passes = each.tool in passing
            shown.append(ToolOffer(name=each.tool, pin=each.pin, before=before, after=after, passes=passes))
        return tuple(shown)

    return await services.store.read(begin)


class Proposed(Record):
    """The newest proposal of a call."""

    generation: int
    action_id: str


def find_proposed(workspace_id: WorkspaceId, holder: str, call: str) -> Transaction[Proposed | None]:
    rows = yield statements.find_wrap_call(workspace_id=workspace_id, holder=holder, call=call)
    return Proposed(rows[0]["generation"], rows[0]["action_id"]) if rows else None


def keep_proposed(workspace_id: WorkspaceId, holder: str, call: str, proposed: Proposed) -> Transaction[None]:
    yield statements.put_wrap_call(
        workspace_id=workspace_id,
        holder=holder,
        call=call,
        generation=proposed.generation,
        action_id=proposed.action_id,
    )


OBSERVED: Final = 2_000
"""The most rows of observed calls from which rules are proposed."""


async def observe(
    services: Services, workspace_id: WorkspaceId, server: str, tool: str, arguments: Mapping[str, Any]
) -> list[Observed]:
    """Count a call that the gate would have asked about. Returns the observed calls of the server."""
    now_ms = services.clock.now_ms()

    def begin() -> Transaction[list[Observed]]:
        for argument, beginning in (("", ""), *list_beginnings(arguments)):
            yield statements.count_wrap_observed(
                workspace_id=workspace_id,
                server=server,
                tool=tool,
                argument=argument,
                beginning=beginning,
                now_ms=now_ms,
            )
        rows = yield statements.list_wrap_observed(workspace_id=workspace_id, server=server, most=OBSERVED)
        return [from_row(Observed, row) for row in rows]

    return await services.store.write(begin)
