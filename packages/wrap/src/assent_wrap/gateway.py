"""The tools of wrapped servers for one process: listed, passed through or gated.

A caller has a profile. Each of its servers is asked for its tools; a server that does not answer is
left out of the list, by name in the log. New and changed definitions are held: one action for each
server asks a person to accept them. A gated call becomes an action (`assent_wrap.proposals`); any other goes
to its server as it is. No server's failure reaches another.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec

from assent.platform import ForeignCall, describe_freeze, note_start, refuse_frozen
from assent.sdk import HOUR_MS, MINUTE_MS, Principal, Refusal, Services, WorkspaceId, run_apart
from assent_wrap import proposals, repository, rulebook
from assent_wrap.effects import AcceptDetails, CallDetails, CallUndo, make_acceptance, make_call
from assent_wrap.elicitation import forward_input, list_capabilities, open_state, seal_result
from assent_wrap.listing import (
    LISTS,
    MAX_TOOLS,
    Directory,
    OfferedEntry,
    OfferedTool,
    arrange_tools,
    lets_pass,
    recall_entries,
)
from assent_wrap.orders import WrapOrder, list_unpassed, select_passed
from assent_wrap.profiles import (
    BadProfile,
    Profile,
    UpstreamSpec,
    place_servers,
    read_config,
    read_order,
    read_rules,
)
from assent_wrap.proposals import HeldCalls, say_error
from assent_wrap.rules import CallFacts, Observed, StandingRule, choose_rule, may_pass, propose_rules
from assent_wrap.transports import RpcError, Unanswered, Unsent
from assent_wrap.upstreams import AGAIN, PassedOn, Upstream, Upstreams

log = logging.getLogger("assent.wrap")

OWN_TOOLS: Final = frozenset(
    {
        "chieflab_get_action",
        "chieflab_list_pending_actions",
        "chieflab_approve_action",
        "chieflab_reject_action",
        "chieflab_execute_approved_action",
        "chieflab_undo_action",
    }
)
GUIDE: Final = (
    "The tools of this server belong to other servers. Some of them ask a person before they do anything: such a call "
    "answers that a person has to approve it. Give the user the link at once, and call chieflab_get_action with the "
    "actionId and waitSeconds 50 to get the result. The same call, made again while it waits, joins the question. "
    "Never look for another way to do what a person has not approved."
)
PASS_SECONDS: Final = 60.0
PINS_SECONDS: Final = 1.0
ASK_MS: Final = 5 * MINUTE_MS
"""How long the question about a server's tools stays as it is: it does not count for the storage quota."""
NAMES: Final = {"resources/read": "uri", "prompts/get": "name"}
"""Requests for one thing, with the parameter that names it."""
HELD: Final = (
    "{name!r} of {server} is not as it was accepted when it was first listed ({parts}), and is not given. Tell the "
    "user: a person who has read the change goes on by wrapping the server under another name."
)
UNREAD: Final = "The {what} of {server} are not passed on: it is not trusted, and no rule passes them."
TOO_FAST: Final = "Too many calls in a short time. Wait a few seconds and try again."


Listed = tuple[dict[str, Any], ...] | BaseException


class ArrangedTools:
    """The tools of a profile, arranged once for the same definitions and acceptances."""

    def __init__(
        self,
        found: Mapping[str, tuple[dict[str, Any], ...]],
        pins: repository.Pins,
        offered: tuple[OfferedTool, ...],
    ) -> None:
        self._found = found
        self._pins = pins
        self.offered = offered
        self.by_name = {each.name: each for each in offered}
        self.listing = [each.describe() for each in offered if each.mode != "hide" and not each.held]

    def is_of(self, found: Mapping[str, tuple[dict[str, Any], ...]], pins: repository.Pins) -> bool:
        same = found.keys() == self._found.keys() and all(found[name] is self._found[name] for name in found)
        return same and pins is self._pins


class Gateway:
    """Serves wrapped tools (`assent.serving.gateway`)."""

    own_tools = OWN_TOOLS
    instructions = GUIDE

    def __init__(self, services: Services, settings: Mapping[str, Any]) -> None:
        self._services = services
        self._settings = settings
        self.upstreams = Upstreams(services.clock)
        self.held = HeldCalls(services)
        self.pace = CallPace()
        self._profiles: dict[tuple[str, str], Profile] = {}
        self._by_settings: dict[str, str] = {}
        self._arranged: dict[tuple[str, str], ArrangedTools] = {}
        self._pins: dict[str, tuple[float, repository.Pins]] = {}
        self._rules: dict[str, tuple[float, tuple[StandingRule, ...]]] = {}
        self._asked_ms: dict[tuple[str, str], int] = {}
        """By workspace and server, when a person was asked about its tools."""
        self._starts: dict[tuple[str, str], tuple[str, int]] = {}
        self._starting: dict[str, asyncio.Task[list[Listed]]] = {}
        """By profile, the list that its servers are asked for as soon as its client is there."""
        self._failures: dict[str, dict[str, str]] = {}
        """By profile and server, why it is left out."""

    # Profiles

    async def open_profile(self, caller: Principal, described: bytes) -> str:
        """Store the profile that a client's process describes, and start its servers: the client asks for their tools
        next. Raises `ValueError`."""
        profile = read_order(described)
        profile_id = await self._keep(caller.workspace_id, profile)
        self.upstreams.unpassed[profile_id] = msgspec.json.decode(described, type=WrapOrder).unpassed
        if profile_id not in self._starting:
            starting = asyncio.create_task(self._ask_servers(profile_id, profile))
            starting.add_done_callback(lambda _: self._starting.pop(profile_id))
            self._starting[profile_id] = starting
        return profile_id

    async def find_profile(self, workspace_id: WorkspaceId) -> str | None:
        """Return the profile that the settings give a workspace: their file, for the named ones."""
        path = self._settings.get("wrap_config")
        if path is None or workspace_id not in self._settings.get("wrap_workspaces", ()):
            return None
        if workspace_id not in self._by_settings:
            profile = await asyncio.to_thread(read_files, Path(path), self._settings.get("wrap_rules"))
            profile_id = self._by_settings[workspace_id] = await self._keep(workspace_id, profile)
            self.upstreams.unpassed[profile_id] = list_unpassed(os.environ, profile.passed)
        return self._by_settings[workspace_id]

    async def _keep(self, workspace_id: WorkspaceId, profile: Profile) -> str:
        profile_id = await repository.keep_profile(self._services, workspace_id, profile)
        self._profiles[(workspace_id, profile_id)] = profile
        return profile_id

    async def _profile(self, call: ForeignCall) -> Profile:
        key = (call.caller.workspace_id, call.profile_id)
        if key not in self._profiles:
            found = await repository.find_profile(self._services, call.caller.workspace_id, call.profile_id)
            if found is None:
                raise LookupError("this profile is not known")
            self._profiles[key] = found
        return self._profiles[key]

    # Tools

    async def list_tools(self, call: ForeignCall) -> list[dict[str, Any]]:
        arranged, rules = await self._find_tools(call), await self._find_rules(call.caller.workspace_id)
        listing = arranged.listing
        if rules:
            profile = await self._profile(call)
            ruled = [
                self._rule_entry(call, profile, each, rules) for each in arranged.offered if not each.held
            ]
            listing = [each.describe() for each in ruled if each.mode != "hide"]
        if call.client.notify is not None and call.profile_id not in self._by_settings.values():
            for why in self._failures[call.profile_id].values():
                # The front writes it into its client's log.
                call.client.notify("notifications/message", {"level": "error", "data": why})
        return listing

    async def call_tool(self, call: ForeignCall, params: Mapping[str, Any]) -> dict[str, Any] | None:
        name, given = params.get("name"), params.get("arguments")
        if name in OWN_TOOLS:
            return None
        profile = await self._profile(call)
        found = (await self._find_tools(call)).by_name.get(name) if isinstance(name, str) else None
        if found is None and (failures := self._failures[call.profile_id]):
            return say_error(f"There is no tool {str(name)[:80]!r} now. {' '.join(failures.values())}")
        if found is None or (found.held and found.mode == "hide"):
            return None
        if found.held:
            return say_error(
                f"The tool {found.tool} of {found.server} is new or has changed. A person has to accept it first, in "
                "their inbox. Do not look for another way to do the same thing."
            )
        if not self.pace.may_call(call.caller.holder):
            return say_error(TOO_FAST)
        arguments: dict[str, Any] = dict(given) if isinstance(given, dict) else {}
        found = await self._apply_rules(call, profile, found, arguments)
        if found.mode == "hide":
            return None
        if found.mode == "gate" and not profile.observe:
            return await self._ask(call, profile, found, arguments, params)
        if (
            not found.reads_only
            and (frozen := await self._services.find_freeze(call.caller.workspace_id, call.caller.agent))
            is not None
        ):
            return proposals.refuse(refuse_frozen(frozen))
        if found.mode == "gate":
            await self._observe(call, profile, found, arguments)
        return await self._pass(call, profile, found, {**params, "arguments": arguments})

    async def _find_tools(self, call: ForeignCall) -> ArrangedTools:
        """Return the tools of all servers. Asks for the acceptance of new definitions."""
        profile, workspace_id = await self._profile(call), call.caller.workspace_id
        starting = self._starting.get(call.profile_id)
        answers = await (
            asyncio.shield(starting) if starting else self._ask_servers(call.profile_id, profile)
        )
        found: dict[str, tuple[dict[str, Any], ...]] = {}
        failures = self._failures[call.profile_id] = dict[str, str]()
        for name, answer in zip((each.name for each in profile.servers), answers, strict=True):
            if isinstance(answer, (Unsent, Unanswered, RpcError)):
                failures[name] = f"The tools of {name} are left out: {answer}."
                log.warning("%s", failures[name])
                await self._note_start(workspace_id, name, str(answer).partition(AGAIN)[0])
            elif isinstance(answer, BaseException):
                raise answer
            else:
                found[name] = answer
                await self._note_start(workspace_id, name, "")
        pins, key = await self._find_pins(workspace_id), (workspace_id, call.profile_id)
        arranged = self._arranged.get(key)
        if arranged is not None and arranged.is_of(found, pins):
            return arranged
        offered, asked = arrange_tools(profile, found, pins, OWN_TOOLS), True
        if any(each.held for each in offered):
            known = {name for name, _ in pins}
            for name in found:
                held = [each for each in offered if each.held and each.server == name]
                if name not in known:
                    await repository.accept_first(self._services, workspace_id, held)
                elif shown := [each for each in held if each.mode != "hide"]:
                    asked &= await self._ask_to_accept(call, profile, name, shown)
            self._pins.pop(workspace_id, None)
            pins = await self._find_pins(workspace_id)
            offered = arrange_tools(profile, found, pins, OWN_TOOLS)
        arranged = ArrangedTools(found, pins, offered)
        if asked:
            self._arranged[key] = arranged
        return arranged

    async def _ask_servers(self, profile_id: str, profile: Profile) -> list[Listed]:
        """Return the tools of each server of a profile, or why it gives none. Starts those that do not run."""
        servers = [self.upstreams.find(profile_id, profile, spec) for spec in profile.servers]
        return await asyncio.gather(*(each.list_tools() for each in servers), return_exceptions=True)

    async def _find_rules(self, workspace_id: WorkspaceId) -> tuple[StandingRule, ...]:
        """Return the rules of a workspace, read at most once a second: another process may change one."""
        now = time.monotonic()
        read_at, rules = self._rules.get(workspace_id, (float("-inf"), ()))
        if now - read_at >= PINS_SECONDS:
            rules = await rulebook.list_rules(self._services, workspace_id)
            self._rules[workspace_id] = (now, rules)
        return rules

    def _describe_call(
        self, call: ForeignCall, profile: Profile, tool: OfferedTool, arguments: Mapping[str, Any] | None
    ) -> CallFacts:
        caller = call.caller
        return CallFacts(
            server=tool.server,
            tool=tool.tool,
            trusted=profile.rules_for(tool.server).trusted,
            callers=(caller.name, caller.label, call.profile_id),
            may_execute="actions:execute" in caller.scopes and not caller.is_test,
            arguments=arguments,
        )

    def _rule_entry(
        self, call: ForeignCall, profile: Profile, tool: OfferedTool, rules: tuple[StandingRule, ...]
    ) -> OfferedTool:
        """Return a tool as the list of a caller has it."""
        about = self._describe_call(call, profile, tool, None)
        chosen = choose_rule(rules, about, self._services.clock.now_ms())
        return msgspec.structs.replace(tool, mode=chosen.rule.mode) if chosen is not None else tool

    async def _apply_rules(
        self, call: ForeignCall, profile: Profile, tool: OfferedTool, arguments: Mapping[str, Any]
    ) -> OfferedTool:
        """Return a tool with the mode that the rules of the workspace give this call. A call that a rule lets pass is
        counted first."""
        workspace_id, now_ms = call.caller.workspace_id, self._services.clock.now_ms()
        rules, about = (
            await self._find_rules(workspace_id),
            self._describe_call(call, profile, tool, arguments),
        )
        while (chosen := choose_rule(rules, about, now_ms)) is not None:
            if chosen.rule.mode != "pass" or await rulebook.use_rule(self._services, workspace_id, chosen):
                return msgspec.structs.replace(tool, mode=chosen.rule.mode)
            rules = tuple(each for each in rules if each is not chosen)
        return tool

    async def _note_start(self, workspace_id: WorkspaceId, server: str, why: str) -> None:
        """Keep for people whether a server starts. It is written when that changes, and then once an hour."""
        now_ms, key = self._services.clock.now_ms(), (workspace_id, server)
        noted, at_ms = self._starts.get(key, (None, now_ms))
        if why != noted or (why and now_ms - at_ms > HOUR_MS):
            await self._services.store.write(lambda: note_start(workspace_id, server, why, now_ms))
            self._starts[key] = (why, now_ms)

    async def _find_pins(self, workspace_id: WorkspaceId) -> repository.Pins:
        """Return the accepted definitions, read at most once a second: another process may accept one."""
        now = time.monotonic()
        read_at, pins = self._pins.get(workspace_id, (float("-inf"), {}))
        if now - read_at >= PINS_SECONDS:
            found = await repository.list_pins(self._services, workspace_id)
            pins = pins if found == pins else found
            self._pins[workspace_id] = (now, pins)
        return pins

    async def _ask_to_accept(
        self, call: ForeignCall, profile: Profile, server: str, held: list[OfferedTool]
    ) -> bool:
        """Ask a person to accept the held tools of a server. Returns whether it was time to ask."""
        services, workspace_id = self._services, call.caller.workspace_id
        now_ms, place = services.clock.now_ms(), (workspace_id, server)
        if now_ms < self._asked_ms.get(place, now_ms - ASK_MS) + ASK_MS:
            return False
        kept = (profile, *await repository.list_profiles(services, workspace_id))
        rules = await self._find_rules(workspace_id)
        passing = {
            each.tool
            for each in held
            if lets_pass(kept, server, each.definition, hinted=each.hinted)
            or may_pass(rules, server, each.tool, now_ms)
        }
        # Calls that are made without asking come first.
        held.sort(key=lambda each: (each.tool not in passing, each.tool))
        tools = await repository.show_tools(services, workspace_id, held, passing)
        command, folder = write_place(profile.require(server))
        details = AcceptDetails(
            server=server, command=command, folder=folder, tools=tools, more=len(held) - len(tools)
        )
        self._asked_ms[place] = now_ms
        try:
            await proposals.propose(services, call, make_acceptance(details), "tools/list")
        except Refusal as refusal:
            log.warning("a person cannot be asked about the tools of %s: %s", server, refusal.reason)
        return True

    async def _ask(
        self,
        call: ForeignCall,
        profile: Profile,
        tool: OfferedTool,
        arguments: dict[str, Any],
        params: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Propose a gated call. Its answer has the link at once, unless the client shows it in a dialog and the
        call can wait for the result."""
        rule, spec, workspace_id = tool.rule, profile.require(tool.server), call.caller.workspace_id
        # Its use keeps it for as long as the action can wait.
        await self._keep(workspace_id, profile)
        others = await repository.list_profiles(self._services, workspace_id, repository.COMPARED)
        differs = ", ".join(profile.find_differences(spec, others))
        command, folder = write_place(spec)
        details = CallDetails(
            profile=call.profile_id,
            command=command,
            folder=folder,
            variables=", ".join(profile.list_named(spec)),
            differs=f"{differs} (compared with other servers of this command)" if differs else "",
            server=tool.server,
            tool=tool.tool,
            pin=tool.pin,
            risk=tool.risk,
            title=rule.title if rule is not None else "",
            table=rule.table if rule is not None else "",
            after=rule.diff.after if rule is not None and rule.diff is not None else "",
            without=rule.without if rule is not None else (),
            undo=await self._find_undo(call, tool),
        )
        effect = await run_apart(make_call, details, arguments, repeat=rule is not None and rule.repeat)
        try:
            call.caller.require("runs:write")
            action = await proposals.propose(self._services, call, effect, tool.name)
        except Refusal as refusal:
            return proposals.refuse(refusal)
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        settled = action if call.client.ask is None else await self.held.wait(call, action, token)
        frozen = describe_freeze(
            await self._services.find_freeze(call.caller.workspace_id, call.caller.agent), settled
        )
        return proposals.answer(self._services, call, settled, arguments, frozen)

    async def _find_undo(self, call: ForeignCall, tool: OfferedTool) -> CallUndo | None:
        """Return how a call is taken back; None without a rule, or if the tool for that is not accepted."""
        wanted = tool.rule.undo if tool.rule is not None else None
        if wanted is None:
            return None
        offered = (await self._find_tools(call)).offered
        found = next(
            (each for each in offered if (each.server, each.tool) == (tool.server, wanted.tool)), None
        )
        if found is None or found.held:
            return None
        within_ms = int(wanted.hours * HOUR_MS) if wanted.hours is not None else None
        without = found.rule.without if found.rule is not None else ()
        return CallUndo(
            wanted.tool, found.pin, wanted.arguments, within_ms, wanted.leaves, found.risk, without
        )

    async def _pass(
        self, call: ForeignCall, profile: Profile, tool: OfferedTool, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Pass a call through, with its progress and the questions to the client's person."""
        if not profile.rules_for(tool.server).trusted:  # it asks the client's person nothing
            call = replace(call, client=replace(call.client, ask=None, capabilities=None))
        upstream = self._upstream(call, profile, tool.server)
        keys = self._services.keys.client_dialogs
        try:
            sent = open_state(keys.verify, call, tool, params)
        except ValueError as error:
            return say_error(str(error))
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        notify = call.client.notify
        progress = None
        if token is not None and notify is not None:
            progress = partial(_tell_progress, notify, token)
        passed = PassedOn(forward_input(call, upstream), progress, list_capabilities(call, upstream))
        try:
            result = await upstream.request("tools/call", {**sent, "name": tool.tool}, PASS_SECONDS, passed)
        except Unsent as error:
            return say_error(f"The call was not made: {error}.")
        except Unanswered as error:
            return say_error(f"{error}. It is not known whether the call took effect.")
        except RpcError as error:
            return say_error(f"{tool.server} refused the call: {error.message}")
        return seal_result(keys.sign, call, tool, params, result)

    async def _observe(
        self, call: ForeignCall, profile: Profile, tool: OfferedTool, arguments: Mapping[str, Any]
    ) -> None:
        """Record a call that the gate would have asked about, and propose rules."""
        workspace_id, server = call.caller.workspace_id, tool.server
        observed = await repository.observe(self._services, workspace_id, server, tool.tool, arguments)
        offered = [each for each in (await self._find_tools(call)).offered if each.server == server]
        folder, now_ms = Path(self._settings["data_dir"]) / "proposed-rules", self._services.clock.now_ms()
        await asyncio.to_thread(write_proposed_rules, folder, server, offered, observed, now_ms)

    def _upstream(self, call: ForeignCall, profile: Profile, server: str) -> Upstream:
        return self.upstreams.find(call.profile_id, profile, profile.require(server))

    # Resources and prompts

    async def request(self, call: ForeignCall, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a request about resources or prompts. Raises `LookupError` with the reason for the client."""
        if not self.pace.may_call(call.caller.holder):
            raise LookupError(TOO_FAST)
        profile, capability = await self._profile(call), method.partition("/")[0]
        directory = await self._find_entries(call, profile, capability)
        if method in LISTS:
            pins = await self._find_pins(call.caller.workspace_id)
            return {LISTS[method].field: directory.describe(method, pins)}
        key = NAMES[method]
        name = str(params.get(key))
        if not directory.find(name):  # it may be new
            directory = await self._find_entries(call, profile, capability, again=True)
        entry, own = directory.choose(name)
        frozen = await self._services.find_freeze(call.caller.workspace_id, call.caller.agent)
        if frozen is not None and not profile.rules_for(entry.server).trusted:
            raise LookupError(refuse_frozen(frozen).recovery().user_message)
        if entry.is_held(await self._find_pins(call.caller.workspace_id)):
            raise LookupError(await self._explain_held(call, entry))
        upstream = self._upstream(call, profile, entry.server)
        try:
            result = await upstream.request(method, {**params, key: own}, PASS_SECONDS)
        except (Unsent, Unanswered, RpcError) as error:
            raise LookupError(f"{entry.server} did not give {own[:200]!r}: {error}") from None
        if result.get("resultType", "complete") != "complete":
            raise LookupError(f"{entry.server} asked for input (elicitation), which passes for tools alone.")
        return result

    async def _find_entries(
        self, call: ForeignCall, profile: Profile, capability: str, *, again: bool = False
    ) -> Directory:
        """Return the prompts, or the resources, of the servers that may be read. What is new is accepted."""
        await self._find_tools(call)  # its first tools are accepted before anything else of a server
        workspace_id, absent, failed = call.caller.workspace_id, dict[str, str](), list[str]()
        methods = [method for method in LISTS if method.startswith(capability)]

        async def look(server: Upstream) -> list[OfferedEntry]:
            name = server.spec.name
            if not profile.rules_for(name).may_read(capability):
                absent[name] = UNREAD.format(server=name, what=capability)
                return []
            pins = await self._find_pins(workspace_id)
            try:
                listed = [
                    OfferedEntry(name, method, each[LISTS[method].key], each)
                    for method in methods
                    for each in await server.list_entries(method, again=again)
                ]
            except (Unsent, Unanswered, RpcError) as error:
                absent[name] = f"The {capability} of {name} are left out: {error}."
                log.warning("%s", absent[name])
                failed.append(name)
                return [each for method in methods for each in recall_entries(name, method, pins)]
            new = [each for each in listed if each.is_held(pins) and (name, each.tool) not in pins]
            kept = sum(owner == name and ":" in tool for owner, tool in pins)
            if new := new[: max(0, MAX_TOOLS - kept)]:
                await repository.accept_first(self._services, workspace_id, new)
                self._pins.pop(workspace_id, None)
            return listed

        servers = [self._upstream(call, profile, each.name) for each in profile.servers]
        found = await asyncio.gather(*map(look, servers))
        names = [each.name for each in profile.servers]
        return Directory(capability, names, chain.from_iterable(found), absent, failed)

    async def _explain_held(self, call: ForeignCall, entry: OfferedEntry) -> str:
        """Say what is not as it was accepted, and how a person goes on."""
        workspace_id, now = call.caller.workspace_id, entry.definition
        text = await repository.find_definition(self._services, workspace_id, entry.server, entry.tool)
        accepted = msgspec.json.decode(text) if text else {}
        parts = sorted(each for each in {*accepted, *now} if accepted.get(each) != now.get(each))
        return HELD.format(name=entry.name[:200], server=entry.server, parts=", ".join(parts))

    async def close(self) -> None:
        starting = tuple(self._starting.values())
        for each in starting:
            each.cancel()
        await asyncio.gather(*starting, return_exceptions=True)
        await self.held.close()
        await self.upstreams.close()


def write_place(spec: UpstreamSpec) -> tuple[str, str]:
    """Return the command and folder of a server for people, or its address."""
    return (shlex.join(spec.written), spec.cwd) if spec.command else (spec.written[0], "")


def _tell_progress(notify: Any, token: Any, params: dict[str, Any]) -> None:
    notify("notifications/progress", {**params, "progressToken": token})


def read_files(config: Path, rules: Path | None) -> Profile:
    """Return the profile of a server's settings. Raises `ValueError` with the file's name."""
    try:
        servers = place_servers(read_config(config.read_text(), os.environ), str(Path.cwd()))
        names = frozenset(each.name for each in servers)
        held = read_rules(Path(rules).read_text(), names) if rules is not None else {}
    except (OSError, UnicodeDecodeError) as error:
        raise BadProfile(f"{config} cannot be read: {error}.") from None
    except BadProfile as bad:
        raise BadProfile(f"{config}: {bad}") from None
    return Profile(servers=servers, rules=held, passed=select_passed(os.environ))


def write_proposed_rules(
    folder: Path, server: str, offered: Iterable[OfferedTool], observed: list[Observed], now_ms: int
) -> None:
    """Write the proposed rules of a server as a file of the folder."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = folder / f".{server}.toml"
    made.write_text(propose_rules(server, offered, observed, now_ms))
    made.replace(folder / f"{server}.toml")


# A bound on the calls of one caller to wrapped servers. They do not count against the workspace's limit, which is for
# calls that prepare and decide.

CALLS: Final = 600
WINDOW_SECONDS: Final = 60.0
MAX_CALLERS: Final = 10_000


class CallPace:
    """Counts the calls of each caller in the present window."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._began = now()
        self._counts: dict[str, int] = {}

    def may_call(self, holder: str) -> bool:
        """Count a call. Returns False if the caller has made too many."""
        now = self._now()
        if now - self._began >= WINDOW_SECONDS or len(self._counts) > MAX_CALLERS:
            self._began, self._counts = now, {}
        count = self._counts[holder] = self._counts.get(holder, 0) + 1
        return count <= CALLS
