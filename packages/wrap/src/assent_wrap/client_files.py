"""The files in which clients list their MCP servers, changed in place: an entry starts `assent wrap` instead, and later
its server again. Pure.

Only the texts of `command` and `args` are replaced, so comments, order and white space stay. An entry at an address is
replaced whole. A change counts only if the file, read again, differs in nothing else; what cannot be changed so is
left, with the reason. JSON may have comments and commas at the end of lists.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from assent.platform import ClientFile
from assent.sdk import Record, is_here
from assent_wrap.effects import is_unicode
from assent_wrap.orders import OWN, PASSED, REFERENCE
from assent_wrap.profiles import BadProfile, read_name

PROGRAMS: Final = frozenset({"assent", "assent-gate"})
WRAPPED: Final = "already wrapped"
FIXED: Final = "it is written in a way that cannot be changed without loss"


class CannotChange(Exception):  # noqa: N818 - the text is for a person
    """A file or entry that is left as it is. The message says why."""


class Node(Record):
    """A value in a JSON text, with its place."""

    start: int
    end: int
    value: Any
    members: Mapping[str, Node] = {}


class ServerEntry(Record):
    """A server in a client's file. `path` leads to it; the last part is its name."""

    path: tuple[str, ...]
    start: int
    end: int
    value: Any


_SKIPPED: Final = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_DECODER: Final = json.JSONDecoder()


def read_json(text: str) -> Node:
    """Read a JSON text with the places of its values. Raises `CannotChange`."""
    try:
        found = _read_value(text, 0)
    except (ValueError, RecursionError) as error:
        raise CannotChange(f"it is no JSON ({error})") from None
    if _skip(text, found.end) != len(text):
        raise CannotChange("it has something after its JSON")
    return found


def _skip(text: str, at: int) -> int:
    found = _SKIPPED.match(text, at)
    return found.end() if found is not None else at


def _read_value(text: str, at: int) -> Node:
    at = _skip(text, at)
    if text[at : at + 1] not in ("{", "["):
        value, end = _DECODER.raw_decode(text, at)
        return Node(at, end, value)
    is_object, members, items, here = text[at] == "{", dict[str, Node](), list[Any](), _skip(text, at + 1)
    while text[here : here + 1] != ("}" if is_object else "]"):
        found = _read_value(text, here)
        if is_object:
            here = _skip(text, found.end)
            if not isinstance(found.value, str) or found.value in members or text[here : here + 1] != ":":
                raise ValueError(f"a key that cannot be read, or is there twice, at character {found.start}")
            name, found = found.value, _read_value(text, here + 1)
            members[name] = found
        items.append(found.value)
        here = _skip(text, found.end)
        if text[here : here + 1] == ",":
            here = _skip(text, here + 1)
        elif text[here : here + 1] not in ("}", "]"):
            raise ValueError(f"a comma is missing at character {here}")
    value = {name: each.value for name, each in members.items()} if is_object else items
    return Node(at, here + 1, value, members)


def list_entries(client: ClientFile, text: str) -> list[ServerEntry]:
    """Return the servers of a file. Raises `CannotChange`."""
    if client.is_toml:
        return [*_list_toml(client.key, text)]
    top = read_json(text)
    tops: dict[tuple[str, ...], Node] = {(): top}
    if client.nested and (nested := top.members.get(client.nested)) is not None:
        tops |= {(client.nested, name): each for name, each in nested.members.items()}
    return [
        ServerEntry((*path, client.key, name), each.start, each.end, each.value)
        for path, held in tops.items()
        if client.key in held.members
        for name, each in held.members[client.key].members.items()
    ]


_HEADER: Final = re.compile(r"^[ \t]*\[", re.MULTILINE)


def _list_toml(key: str, text: str) -> Iterator[ServerEntry]:
    whole = _read_toml(text).get(key, {})
    starts = [found.start() for found in _HEADER.finditer(text)]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        try:
            table = tomllib.loads(text[start:end]).get(key)
        except tomllib.TOMLDecodeError:
            continue  # the line is inside a text or a list
        if isinstance(table, dict) and len(table) == 1:
            ((name, value),) = table.items()
            if name in whole and ("command" in value or "url" in value):
                yield ServerEntry((key, name), start, end, whole[name])


def list_unplaced(client: ClientFile, text: str, entries: list[ServerEntry]) -> list[ServerEntry]:
    """Return the servers of a file that no statement of their own declares, such as those of an inline table."""
    whole = _read_toml(text).get(client.key) if client.is_toml else None
    placed = {each.path for each in entries}
    named = whole if isinstance(whole, dict) else {}
    return [
        ServerEntry((client.key, name), 0, 0, value)
        for name, value in named.items()
        if (client.key, name) not in placed
    ]


def _read_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CannotChange(f"it is no TOML ({error})") from None


def read_file(client: ClientFile, text: str) -> Any:
    return _read_toml(text) if client.is_toml else read_json(text).value


class WrappedEntry(Record):
    """What an entry becomes."""

    command: str
    args: tuple[str, ...]
    config: str = ""
    """The file that has the address of the server, and what it must contain."""
    config_text: str = ""
    env: Mapping[str, str] = {}


def plan_entry(
    client: ClientFile,
    entry: ServerEntry,
    name: str,
    words: list[str],
    base_url: str,
    name_config: Callable[[str], str],
    *,
    trust: bool,
) -> WrappedEntry:
    """Return what an entry becomes: `words` begin the command of the front. Raises `CannotChange`."""
    value = entry.value
    if not isinstance(value, dict):
        raise CannotChange("it is no object")
    try:
        own = (*words[1:], "--name", read_name(name), *(["--trust"] if trust else []))
    except BadProfile as bad:
        raise CannotChange(str(bad)) from None
    if url := value.get("url") or value.get("serverUrl"):
        return _plan_address(client, value, str(url), name, words[0], own, base_url, name_config)
    given, env = value.get("args", []), value.get("env") or {}
    command = [value.get("command"), *(given if isinstance(given, list) else [None])]
    if not all(isinstance(each, str) for each in command) or not isinstance(env, dict):
        raise CannotChange("it has no command with a list of texts as args")
    at = next((at for at, each in enumerate(command) if each.rpartition("/")[2] in PROGRAMS), None)
    if at is not None:
        raise CannotChange(WRAPPED if "wrap" in command[at + 1 : at + 2] else "it is Assent itself")
    if "envFile" in value:
        raise CannotChange("its envFile sets variables whose names are not known here; write them under env")
    if held := next((each for each in env if each.startswith(OWN)), None):
        raise CannotChange(f"its env names {held}, and no wrapped server gets a variable of Assent")
    named = [word for each in env if not PASSED.fullmatch(each) for word in ("--env", each)]
    return WrappedEntry(words[0], (*own, *named, "--", *command))


def _plan_address(
    client: ClientFile,
    value: Mapping[str, Any],
    url: str,
    name: str,
    program: str,
    own: tuple[str, ...],
    base_url: str,
    name_config: Callable[[str], str],
) -> WrappedEntry:
    if client.is_toml:
        raise CannotChange(f"{client.label} signs in to this address itself")
    if url.startswith(base_url):
        raise CannotChange("it is Assent itself")
    headers = value.get("headers") or {}
    if not headers and not is_here(url):
        raise CannotChange("its client may sign in to this address with OAuth, which a front cannot")
    written = json.dumps({"mcpServers": {name: {"url": url, "headers": headers}}}, indent=2)
    if "${" in REFERENCE.sub("", written):
        raise CannotChange("its address or headers have a variable that only its client knows")
    env = {found[1]: found[0] for found in REFERENCE.finditer(written)}
    at = own.index("--name")
    config = name_config(written)
    return WrappedEntry(program, (*own[:at], *own[at + 2 :], "--config", config), config, written, env)


def write_entry(client: ClientFile, text: str, wrapping: WrappedEntry) -> str:
    """Return the text of an entry as it is wrapped. Raises `CannotChange`."""
    new: dict[str, Any] = {"command": wrapping.command, "args": [*wrapping.args]}
    if client.is_toml:
        for key, value in new.items():
            text = _replace_toml(text, key, f"{key} = {json.dumps(value, ensure_ascii=False)}")
        return text
    node = read_json(text)
    if wrapping.config:
        _refuse_comments(text, node)
        kept: dict[str, Any] = {
            key: "stdio" if key == "type" else each
            for key, each in node.value.items()
            if key not in ("url", "serverUrl", "headers")
        }
        env = {"env": {**(kept.pop("env", None) or {}), **wrapping.env}} if wrapping.env else {}
        return json.dumps({**kept, **new, **env}, ensure_ascii=False)
    command, args = node.members["command"], node.members.get("args")
    edits = [(command.start, command.end, json.dumps(wrapping.command, ensure_ascii=False))]
    written = json.dumps(new["args"], ensure_ascii=False)
    if args is None:
        edits.append((command.end, command.end, f', "args": {written}'))
    else:
        _refuse_comments(text, args)
        edits.append((args.start, args.end, written))
    for start, end, each in sorted(edits, reverse=True):
        text = text[:start] + each + text[end:]
    return text


def _refuse_comments(text: str, node: Node) -> None:
    part = text[node.start : node.end]
    try:
        json.loads(re.sub(r",(\s*[\]}])", r"\1", part))
    except ValueError:
        raise CannotChange("a comment stands in what is replaced") from None


def _replace_toml(text: str, key: str, written: str) -> str:
    """Replace a statement of a table, or add it after the header or the command."""
    lines, at = text.splitlines(keepends=True), 0
    while at < len(lines):
        if re.match(rf"[ \t]*{key}[ \t]*=", lines[at]):
            for end in range(at + 1, len(lines) + 1):
                statement = "".join(lines[at:end])
                try:
                    tomllib.loads(statement)
                except tomllib.TOMLDecodeError:
                    continue
                if statement.count("#") != json.dumps(tomllib.loads(statement)).count("#"):
                    raise CannotChange("a comment stands in what is replaced")
                indent = statement[: len(statement) - len(statement.lstrip())]
                ending = statement[len(statement.rstrip()) :]
                return "".join((*lines[:at], f"{indent}{written}{ending}", *lines[end:]))
        at += 1
    place = next((at for at, line in enumerate(lines) if re.match(r"[ \t]*command[ \t]*=", line)), 0) + 1
    ending = "\r\n" if lines[0].endswith("\r\n") else "\n"
    before = "".join(lines[:place])
    return f"{before}{'' if before.endswith(ending) else ending}{written}{ending}{''.join(lines[place:])}"


def replace_entries(client: ClientFile, text: str, changed: Mapping[tuple[str, ...], str]) -> str:
    """Return the text of a file with other texts for some entries. Raises `CannotChange` if more would change."""
    after, expected = text, read_file(client, text)
    for each in sorted(list_entries(client, text), key=lambda entry: entry.start, reverse=True):
        if (written := changed.get(each.path)) is None:
            continue
        after = after[: each.start] + written + after[each.end :]
        place = expected
        for part in each.path[:-1]:
            place = place[part]
        if client.is_toml:
            # Tables below that of the entry, such as its env, stay.
            own = _read_table(text[each.start : each.end], each.path)
            kept = {key: value for key, value in place[each.path[-1]].items() if key not in own}
            place[each.path[-1]] = {**kept, **_read_table(written, each.path)}
        else:
            place[each.path[-1]] = read_json(written).value
    if read_file(client, after) != expected or not is_unicode(after):
        raise CannotChange(FIXED)
    return after


def _read_table(text: str, path: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(text)[path[0]][path[1]]
    return found
