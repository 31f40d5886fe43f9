"""The rules of a workspace for wrapped tools, as they are stored, changed and shown.

A change needs no restart: a process reads the rules again after a second at most, and a rule that lets a call pass is
looked up once more when it does, so that none passes after it was ended, nor more than it allows. Each rule bears a
seal of this server; a row that something else wrote into the database lets nothing pass. Every change is an event of
the workspace.

`set_rules`, `set_mode` and `end_rule` are the use cases: a page or a command calls them for an owner. No tool of an
agent does. `write` runs their transaction, so that a page can use up a proof in the same one.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import msgspec

from assent.platform import note_event
from assent.sdk import Record, Services, Transaction, WorkspaceId
from assent_wrap.component import statements
from assent_wrap.listing import choose_mode
from assent_wrap.profiles import BadProfile, Mode
from assent_wrap.repository import identify, list_profiles
from assent_wrap.rules import MAX_RULES, StandingRule, WorkspaceRule, describe_rule, read_rule, read_rules

log = logging.getLogger("assent.wrap")

T = TypeVar("T")
Write = Callable[[Callable[[], Transaction[T]]], Awaitable[T]]
"""Runs a transaction that changes something: that of a person, who may have been signed out."""

NO_LIMIT: Final = 2**62


def _seal(key: bytes, workspace_id: WorkspaceId, body: str, by: str, at_ms: int) -> str:
    return identify(key, workspace_id, f"tool rule\n{at_ms}\n{by}\n{body}")


async def list_rules(services: Services, workspace_id: WorkspaceId) -> tuple[StandingRule, ...]:
    """Return the rules that this server recorded, those that are over too, by name."""

    def begin() -> Transaction[tuple[StandingRule, ...]]:
        rows = yield statements.list_wrap_rules(workspace_id=workspace_id)
        found: list[StandingRule] = []
        for row in rows:
            sealed = (workspace_id, row["body"], row["set_by"], row["set_ms"])
            if all(_seal(key, *sealed) != row["seal"] for key in services.keys.wrapped_servers.keys):
                log.warning("the rule %r does not bear this server's seal and is left out", row["name"])
                continue
            found.append(
                StandingRule(
                    rule=read_rule(msgspec.json.decode(row["body"])),
                    seal=row["seal"],
                    by=row["set_by"],
                    at_ms=row["set_ms"],
                    used=row["used"],
                    last_ms=row["last_ms"],
                )
            )
        return tuple(found)

    return await services.store.read(begin)


async def set_rules(
    services: Services,
    workspace_id: WorkspaceId,
    source: Any,
    write: Write[None] | None = None,
    *,
    by: str,
) -> tuple[WorkspaceRule, ...]:
    """Set rules, each in place of the one with its name. Raises `BadProfile`; then none is set."""
    rules, now_ms = read_rules(source), services.clock.now_ms()
    known = {each.rule.name for each in await list_rules(services, workspace_id)}
    if len(known | {each.name for each in rules}) > MAX_RULES:
        raise BadProfile(f"A workspace has at most {MAX_RULES} rules. End some first: assent rules end NAME.")

    def begin() -> Transaction[None]:
        for each in rules:
            body = msgspec.json.encode(each.source, order="deterministic").decode()
            seal = _seal(services.keys.wrapped_servers.keys[0], workspace_id, body, by, now_ms)
            yield statements.put_wrap_rule(
                workspace_id=workspace_id, name=each.name, body=body, seal=seal, set_by=by, now_ms=now_ms
            )
            facts = {"rule": each.name, "says": describe_rule(each), "body": each.source, "by": by}
            yield from note_event(workspace_id, "tool_rule_set", facts, now_ms)

    await (write or services.store.write)(begin)
    return rules


async def end_rule(
    services: Services,
    workspace_id: WorkspaceId,
    name: str,
    write: Write[bool] | None = None,
    *,
    by: str,
) -> bool:
    """End a rule. Returns whether there was one."""
    now_ms = services.clock.now_ms()

    def begin() -> Transaction[bool]:
        rows = yield statements.drop_wrap_rule(workspace_id=workspace_id, name=name)
        if rows:
            yield from note_event(workspace_id, "tool_rule_ended", {"rule": name, "by": by}, now_ms)
        return bool(rows)

    return await (write or services.store.write)(begin)


def name_plain(server: str, tool: str) -> str:
    """Return the name of the rule by which a person chose what every call of a tool does."""
    return f"{server}: {tool}"


async def set_mode(
    services: Services,
    workspace_id: WorkspaceId,
    server: str,
    tool: str,
    mode: Mode | None,
    write: Write[Any] | None = None,
    *,
    by: str,
) -> None:
    """Let every call of a tool pass, ask or be hidden; without a mode, as it was before. Raises `BadProfile`."""
    name = name_plain(server, tool)
    if mode is None:
        await end_rule(services, workspace_id, name, write, by=by)
    else:
        rule = {"name": name, "server": server, "tool": tool, "mode": mode}
        await set_rules(services, workspace_id, {"rule": [rule]}, write, by=by)


async def use_rule(services: Services, workspace_id: WorkspaceId, found: StandingRule) -> bool:
    """Count a call that a rule lets pass. Returns False if the rule was ended or changed, or is used up."""
    now_ms = services.clock.now_ms()

    def begin() -> Transaction[bool]:
        rows = yield statements.use_wrap_rule(
            workspace_id=workspace_id,
            name=found.rule.name,
            seal=found.seal,
            most=found.rule.calls or NO_LIMIT,
            now_ms=now_ms,
        )
        return bool(rows)

    return await services.store.write(begin)


# What people see: the wrapped servers of a workspace, and what a call of each tool does.


class ToolView(Record, kw_only=True):
    """A tool that was accepted, and what its calls do."""

    name: str
    description: str
    mode: Mode
    """What a call does that no rule with conditions decides."""
    why: str
    """`rule`, `file`, `hint` or, where nothing says otherwise, `default`."""
    rules: tuple[StandingRule, ...]
    """All rules that name it, in force or over."""


class ServerView(Record, kw_only=True):
    """A wrapped server, as the client that used it last describes it."""

    name: str
    written: tuple[str, ...]
    """Its command or address, with the names of variables instead of their values."""
    folder: str
    trusted: bool
    observed: bool
    """Whether its client asks nothing and only observes."""
    tools: tuple[ToolView, ...]


async def list_servers(services: Services, workspace_id: WorkspaceId) -> list[ServerView]:
    """Return the wrapped servers of a workspace, the one that was used last first."""
    now_ms, standing = services.clock.now_ms(), await list_rules(services, workspace_id)
    accepted = await services.store.read(partial(_list_definitions, workspace_id))
    found: dict[str, ServerView] = {}
    for profile in await list_profiles(services, workspace_id):
        for spec in profile.servers:
            if spec.name in found:
                continue
            rules, tools = profile.rules_for(spec.name), list[ToolView]()
            for definition, hinted in accepted.get(spec.name, ()):
                tool, own = definition["name"], rules.find(definition["name"])
                mode = choose_mode(definition, own, trusted=rules.trusted and hinted)
                why = (
                    "file"
                    if own is not None and own.mode is not None
                    else "hint"
                    if mode == "pass"
                    else "default"
                )
                naming = tuple(each for each in standing if each.rule.names(spec.name, tool))
                plain = [each for each in naming if each.rule.is_plain and not each.is_over(now_ms)]
                if plain:
                    mode, why = _strictest(plain), "rule"
                said = str(definition.get("description") or "")
                tools.append(ToolView(name=tool, description=said, mode=mode, why=why, rules=naming))
            found[spec.name] = ServerView(
                name=spec.name,
                written=spec.written,
                folder=spec.cwd if spec.command else "",
                trusted=rules.trusted,
                observed=profile.observe,
                tools=tuple(tools),
            )
    return list(found.values())


def _strictest(plain: Sequence[StandingRule]) -> Mode:
    modes = {each.rule.mode for each in plain}
    return "hide" if "hide" in modes else "gate" if "gate" in modes else "pass"


def _list_definitions(
    workspace_id: WorkspaceId,
) -> Transaction[dict[str, list[tuple[Mapping[str, Any], bool]]]]:
    rows = yield statements.list_wrap_definitions(workspace_id=workspace_id)
    found: dict[str, list[tuple[Mapping[str, Any], bool]]] = {}
    for row in rows:
        if ":" not in row["tool"]:  # else a prompt or a template
            read = msgspec.json.decode(row["definition"])
            found.setdefault(row["server"], []).append((read, bool(row["hinted"])))
    return found
