"""What is wrapped: the servers of a profile, and the rules for their tools.

A profile comes from a command line, or from the file in which clients list their servers
(`mcpServers`). Rules come from a TOML file, one table per server. Both are checked completely: a
misspelt key is an error, because a rule that does not hold would leave a tool open or closed by
surprise. Pure.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Any, Final, Literal, get_args
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import msgspec

from assent.platform import OPTIONAL_VALUES
from assent.sdk import Record, Severity
from assent_wrap.orders import OWN, REFERENCE, WrapOrder, select_passed

Mode = Literal["pass", "gate", "hide"]
MAX_SERVERS: Final = 20
MAX_NAME_CHARS: Final = 32

_COMMON: Final = frozenset(
    {"mcp", "server", "npx", "uvx", "node", "python", "python3", "index", "js", "main"}
)
"""Words of a command that say nothing about the server."""


class BadProfile(ValueError):  # noqa: N818 - what its author did
    """A file or command that cannot be wrapped. The message says where, why and what to write."""


class UpstreamSpec(Record, kw_only=True):
    """One server: a command, or an address."""

    name: str
    command: tuple[str, ...] = ()
    cwd: str = ""
    env: Mapping[str, str] = {}
    url: str = ""
    headers: Mapping[str, str] = {}
    written: tuple[str, ...] = ()
    """The command or address for people: with the names of variables, not their values."""
    expanded: Mapping[str, str] = {}
    """The variables whose values the file took."""


class DiffTemplate(Record):
    """How the present text is read that a call would replace: the tool that reads it, its arguments by
    the arguments of the call, and the argument with the new text."""

    tool: str
    arguments: Mapping[str, str]
    after: str


class UndoTemplate(Record, kw_only=True):
    """How a call is taken back: the tool of the same server, and its arguments, each by a path such as `arguments.path`
    or `result.id` into the call and what it answered."""

    tool: str
    arguments: Mapping[str, str]
    hours: float | None = None
    leaves: str = ""


class ToolRule(Record, kw_only=True):
    """What holds for the tools whose names match."""

    match: str
    mode: Mode | None = None
    risk: Severity = Severity.HIGH
    title: str = ""
    """A template such as `Write {path}`."""
    table: str = ""
    """The argument that is shown as a table: a list of objects."""
    diff: DiffTemplate | None = None
    undo: UndoTemplate | None = None
    repeat: bool = False
    """Whether a call whose outcome is unknown may be made again."""
    without: tuple[str, ...] = ()
    """The values that a call never has, as a policy reads them (`EffectType.without`)."""


class ServerRules(Record):
    """What holds for one server. Hints of a trusted server count."""

    trusted: bool = False
    tools: tuple[ToolRule, ...] = ()
    reads: Mapping[str, bool] = {}
    """Whether prompts and resources are passed on, where a rule says so."""

    def may_read(self, capability: str) -> bool:
        """Whether the server's prompts, or its resources, are passed on. Without a rule they are if it is trusted."""
        return self.reads.get(capability, self.trusted)

    def find(self, tool: str) -> ToolRule | None:
        """Return the rule of a tool: the one with its name, else the first pattern that matches."""
        named = (each for each in self.tools if each.match == tool)
        matching = (each for each in self.tools if fnmatchcase(tool, each.match))
        return next(named, None) or next(matching, None)


class Profile(Record, kw_only=True):
    """The servers that one client sees, and their rules."""

    servers: tuple[UpstreamSpec, ...]
    rules: Mapping[str, ServerRules] = {}
    observe: bool = False
    """Whether gated calls are made at once and recorded, instead of asked about."""
    passed: Mapping[str, str] = {}
    """The variables that every server gets."""
    named: tuple[str, ...] = ()
    """Those of them that are not in the fixed list."""

    def rules_for(self, server: str) -> ServerRules:
        return self.rules.get(server, ServerRules())

    def find(self, server: str) -> UpstreamSpec | None:
        return next((each for each in self.servers if each.name == server), None)

    def require(self, server: str) -> UpstreamSpec:
        return next(each for each in self.servers if each.name == server)

    def environment_of(self, spec: UpstreamSpec) -> dict[str, str]:
        """Return the whole environment of a server's process; empty for a server at an address."""
        return {**self.passed, **spec.env} if spec.command else {}

    def list_named(self, spec: UpstreamSpec) -> tuple[str, ...]:
        """Return the names of the variables that someone chose for a server."""
        own = (*self.named, *spec.env) if spec.command else ()
        return tuple(sorted({*own, *spec.expanded}))

    def _list_values(self, spec: UpstreamSpec) -> dict[str, str]:
        """Return everything in which two servers of one command or address can differ, by its name for people."""
        found = {**spec.expanded, **self.environment_of(spec)}
        found |= {f"header {name}": value for name, value in spec.headers.items()}
        return found | {f"query {name}": value for name, value in parse_qsl(urlsplit(spec.url).query)}

    def find_differences(self, spec: UpstreamSpec, others: Iterable[Profile]) -> tuple[str, ...]:
        """Return the names of variables with another value, or none, in another profile of the command; of an
        address those of headers and of its query."""
        own = self._list_values(spec)
        found: set[str] = set()
        for profile in others:
            for each in profile.servers:
                if each.written == spec.written:
                    found |= {name for name, _ in own.items() ^ profile._list_values(each).items()}
        return tuple(sorted(found))


def name_server(command: tuple[str, ...]) -> str:
    """Return a name for a command: `filesystem` for `npx -y @modelcontextprotocol/server-filesystem`."""
    for word in command:
        if word.startswith("-"):
            continue
        package, _, _version = word.rsplit("/", 1)[-1].lower().partition("@")
        parts = [part for part in re.split(r"[^a-z0-9]+", package) if part]
        said = "-".join(part for part in parts if part not in _COMMON)[:MAX_NAME_CHARS].strip("-")
        if said:
            return said
    return "server"


def read_config(text: str, variables: Mapping[str, str]) -> tuple[UpstreamSpec, ...]:
    """Return the servers of a client's file. `${NAME}` is replaced by an environment variable. Raises
    `BadProfile`."""
    try:
        data = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadProfile(f"It is no JSON: {error}.") from None
    listed = next(
        (data[key] for key in ("mcpServers", "servers") if isinstance(data, dict) and key in data), None
    )
    if not isinstance(listed, dict) or not listed:
        raise BadProfile(
            'It names no servers. Write {"mcpServers": {"files": {"command": "…", "args": […]}}}.'
        )
    servers = tuple(_read_server(name, entry, variables) for name, entry in listed.items())
    if len(servers) > MAX_SERVERS:
        raise BadProfile(f"It names {len(servers)} servers; at most {MAX_SERVERS} can be wrapped at once.")
    names = [each.name for each in servers]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadProfile(f"Two servers are called {twice}. Rename one.")
    return servers


def place_servers(servers: Iterable[UpstreamSpec], folder: str) -> tuple[UpstreamSpec, ...]:
    """Return the servers of a file, with the folder in which each starts as a whole path."""
    return tuple(msgspec.structs.replace(each, cwd=str(PurePath(folder, each.cwd))) for each in servers)


def read_name(given: Any) -> str:
    """Return the name of a server in the form of ids: `my-files` for `My files`. Raises `BadProfile`."""
    name = "-".join(re.findall(r"[a-z0-9]+", str(given).lower()))
    if not name or len(name) > MAX_NAME_CHARS:
        raise BadProfile(
            f"{str(given)[:60]!r} is no name of a server: letters, digits, at most {MAX_NAME_CHARS}."
        )
    return name


def _read_server(given: Any, entry: Any, variables: Mapping[str, str]) -> UpstreamSpec:
    name, expanded = read_name(given), dict[str, str]()
    if not isinstance(entry, dict):
        raise BadProfile(f"The server {given} is no object with a command or a url.")

    def expand(value: Any, what: str) -> str:
        if not isinstance(value, str):
            raise BadProfile(f"{what} of the server {given} is no text.")
        for key in REFERENCE.findall(value):
            refuse_own(key, f"{what} of the server {given}")
            if key not in variables:
                raise BadProfile(f"{what} of the server {given} names the variable {key}, which is not set.")
            expanded[key] = variables[key]
        return REFERENCE.sub(lambda found: variables[found[1]], value)

    def table(key: str) -> dict[str, str]:
        found = entry.get(key) or {}
        if not isinstance(found, dict):
            raise BadProfile(f"{key} of the server {given} is no object.")
        return {str(each): expand(value, f"{key}.{each}") for each, value in found.items()}

    url = entry.get("url") or entry.get("serverUrl") or ""
    arguments = entry.get("args") or []
    if not isinstance(arguments, list):
        raise BadProfile(f"args of the server {given} is no list.")
    command = [entry["command"], *arguments] if entry.get("command") else []
    if bool(command) == bool(url):
        raise BadProfile(f"The server {given} needs either a command or a url.")
    env = table("env")
    for each in env:
        refuse_own(each, f"env of the server {given}")
    spec = UpstreamSpec(
        name=name,
        command=tuple(expand(word, "the command") for word in command),
        cwd=expand(entry.get("cwd") or "", "cwd"),
        env=env,
        url=expand(url, "url"),
        headers=table("headers"),
        written=tuple(command) or (_write_address(url),),
        expanded=expanded,
    )
    return check_spec(spec)


def _write_address(url: str) -> str:
    """Return an address without its query and without a user and password, which may be secrets."""
    parts = urlsplit(url.partition("?")[0])
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def refuse_own(name: str, where: str) -> None:
    """Raise `BadProfile` for a variable of Assent itself."""
    if name.startswith(OWN):
        raise BadProfile(f"{where} names the variable {name}. No wrapped server gets a variable of Assent.")


def read_order(described: bytes) -> Profile:
    """Return the profile that a front asks for. Raises `BadProfile`, with the name of the file."""
    try:
        order = msgspec.json.decode(described, type=WrapOrder)
    except msgspec.DecodeError as error:
        raise BadProfile(f"The profile cannot be read: {error}.") from None
    where = order.config_path
    try:
        if order.config is not None:
            servers = place_servers(read_config(order.config, order.variables), order.cwd)
        else:
            command = tuple(order.command)
            if not command:
                raise BadProfile("There is no command. Write it after --.")
            name = read_name(order.name or name_server(command))
            spec = UpstreamSpec(name=name, command=command, cwd=order.cwd, written=command)
            servers = (check_spec(spec),)
        where = order.rules_path
        names = frozenset(each.name for each in servers)
        rules = read_rules(order.rules, names) if order.rules is not None else {}
    except BadProfile as bad:
        raise BadProfile(f"{where}: {bad}" if where else str(bad)) from None
    if order.trust:
        held = {name: rules.get(name, ServerRules()) for name in names}
        rules = {name: msgspec.structs.replace(each, trusted=True) for name, each in held.items()}
    # Chosen again here: a front that was started before sends all that its client has.
    passed = select_passed(order.environment, order.named)
    return Profile(
        servers=servers, rules=rules, observe=order.observe, passed=passed, named=tuple(order.named)
    )


def check_spec(spec: UpstreamSpec) -> UpstreamSpec:
    """Return the server. Raises `BadProfile` for one that cannot be reached, and for Assent itself."""
    if spec.url and not spec.url.startswith(("http://", "https://")):
        raise BadProfile(
            f"The address of {spec.name} is {spec.url[:80]!r}. Write one with https:// or http://."
        )
    base = spec.command[0].rsplit("/", 1)[-1] if spec.command else ""
    if base in ("assent", "assent-gate") and spec.command[1:2] in (("stdio",), ("wrap",), ("serve",)):
        raise BadProfile(f"The server {spec.name} is Assent itself. Leave it out of what is wrapped.")
    return spec


PATTERN: Final = frozenset("*?[")
"""Characters that make the name of a tool a pattern."""
READS: Final = ("prompts", "resources")
SERVER_KEYS: Final = frozenset({"trusted", "tools", *READS})
RULE_KEYS: Final = frozenset({"mode", "risk", "title", "table", "diff", "undo", "repeat", "without"})


def read_rules(text: str, servers: frozenset[str]) -> dict[str, ServerRules]:
    """Return the rules of a TOML file, by server. Raises `BadProfile`."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadProfile(f"It is no TOML: {error}.") from None
    if unknown := sorted(data.keys() - servers):
        known = ", ".join(sorted(servers))
        raise BadProfile(
            f"It has rules for {', '.join(unknown)}, which is not wrapped. The servers are: {known}."
        )
    return {name: _read_server_rules(name, table) for name, table in data.items()}


def _read_server_rules(name: str, table: Any) -> ServerRules:
    require_keys(f"[{name}]", table, SERVER_KEYS)
    tools = table.get("tools", {})
    if not isinstance(tools, dict):
        raise BadProfile(f"[{name}] tools: write one table per tool, such as [{name}.tools.write_file].")
    for key in READS:
        if table.get(key, "pass") not in ("pass", "hide"):
            raise BadProfile(f"[{name}] {key} is {table[key]!r}. Write pass or hide.")
    return ServerRules(
        _read_switch(f"[{name}] trusted", table.get("trusted", False)),
        tuple(_read_rule(f'[{name}.tools."{tool}"]', tool, rule) for tool, rule in tools.items()),
        {key: table[key] == "pass" for key in READS if key in table},
    )


def _read_rule(where: str, match: str, table: Any) -> ToolRule:
    require_keys(where, table, RULE_KEYS)
    mode, risk = table.get("mode"), table.get("risk", "high")
    if mode is not None and mode not in get_args(Mode):
        raise BadProfile(f"{where} mode is {mode!r}. Write pass, gate or hide.")
    if mode == "pass" and PATTERN & set(match):
        raise BadProfile(
            f"{where} lets calls pass, so name each tool whole: a new one could match a pattern."
        )
    if risk not in list(Severity):
        raise BadProfile(f"{where} risk is {risk!r}. Write low, medium or high.")
    for key in ("title", "table"):
        if not isinstance(table.get(key, ""), str):
            raise BadProfile(f"{where} {key} is no text.")
    without = table.get("without", [])
    if not isinstance(without, list) or not all(each in OPTIONAL_VALUES for each in without):
        raise BadProfile(f"{where} without is {without!r}. List some of {', '.join(OPTIONAL_VALUES)}.")
    return ToolRule(
        match=match,
        mode=mode,
        risk=Severity(risk),
        title=table.get("title", ""),
        table=table.get("table", ""),
        diff=_read_diff(f"{where} diff", table["diff"]) if "diff" in table else None,
        undo=_read_undo(f"{where} undo", table["undo"]) if "undo" in table else None,
        repeat=_read_switch(f"{where} repeat", table.get("repeat", False)),
        without=tuple(without),
    )


def _read_diff(where: str, table: Any) -> DiffTemplate:
    require_keys(where, table, frozenset({"tool", "arguments", "after"}))
    try:
        return msgspec.convert(table, DiffTemplate)
    except msgspec.ValidationError:
        example = 'diff = {tool = "read_text_file", arguments = {path = "path"}, after = "content"}'
        raise BadProfile(f"{where} is incomplete. Write {example}.") from None


UNDO_PATH: Final = re.compile(r"(?:arguments|result)(?:\.[A-Za-z0-9_-]+)+")


def _read_undo(where: str, table: Any) -> UndoTemplate:
    require_keys(where, table, frozenset({"tool", "arguments", "hours", "leaves"}))
    try:
        found = msgspec.convert(table, UndoTemplate)
        bad = [path for path in found.arguments.values() if UNDO_PATH.fullmatch(path) is None]
        if bad or (found.hours is not None and found.hours <= 0) or not found.leaves.isprintable():
            raise msgspec.ValidationError
    except msgspec.ValidationError:
        example = 'undo = {tool = "delete_issue", arguments = {repo = "arguments.repo", id = "result.id"}}'
        raise BadProfile(f"{where} cannot be used. Write {example}.") from None
    return found


def require_keys(where: str, table: Any, known: frozenset[str]) -> None:
    """Raise `BadProfile` for what is no table, and for a key that is not known."""
    if not isinstance(table, dict):
        raise BadProfile(f"{where} is no table.")
    if unknown := sorted(table.keys() - known):
        raise BadProfile(
            f"{where} has {', '.join(unknown)}, which is no key. Known are: {', '.join(sorted(known))}."
        )


def _read_switch(where: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadProfile(f"{where} is {value!r}. Write true or false.")
    return value
