"""Which tools, prompts and resources of the wrapped servers a client sees, and whose each is. Pure.

A tool passes, is gated or is hidden: by a rule, else by its own hint, which counts only if its server
is trusted and has given it since its first list. Everything unknown is gated. A tool whose definition
is not the accepted one is held: it is not listed until a person accepts the new definition.

A prompt or resource belongs to the server that lists it. Where several may have it, the server's name
before it says which one is meant; without that none is asked, so that no server answers for another.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import msgspec

from assent.sdk import Record, Severity
from assent_wrap.profiles import Mode, Profile, ToolRule

MAX_TOOLS: Final = 500
"""The most tools of one server."""
MAX_DEFINITION_BYTES: Final = 60_000
MAX_NAME_CHARS: Final = 64
NAME: Final = re.compile(r"[A-Za-z0-9_./-]{1,64}")
ASKS: Final = "A person approves each call before it is made; the call waits for that."

MAX_ENTRY_BYTES: Final = 8_000
MAX_KEY_BYTES: Final = 1_000
# The time to compare an address with templates grows with all three.
MAX_TEMPLATES: Final = 100
MAX_VARIABLES: Final = 10
MAX_URI_CHARS: Final = 2_000

_SORTED: Final = msgspec.json.Encoder(order="deterministic")


class OfferedTool(Record, kw_only=True):
    """A tool of a wrapped server."""

    name: str
    """Its name in the list: with the server's name before it where two servers have the same."""
    server: str
    tool: str
    mode: Mode
    rule: ToolRule | None
    definition: Mapping[str, Any]
    pin: str
    reads_only: bool = False
    """Whether its server is trusted and the accepted definition says that it only reads. Under a freeze no
    other tool passes."""
    held: bool = False
    hinted: bool = False
    """Whether its hint counts: every accepted definition had it, from the server's first list on."""

    @property
    def risk(self) -> Severity:
        return self.rule.risk if self.rule is not None else Severity.HIGH

    def describe(self) -> dict[str, Any]:
        """Return the entry of the tool list: the server's own definition under the name of the list."""
        entry = {**self.definition, "name": self.name}
        if self.mode == "gate":
            entry["description"] = f"{entry.get('description') or ''} {ASKS}".strip()
        return entry


def compute_pin(definition: Mapping[str, Any]) -> str:
    """Return the hash of a whole definition."""
    return f"sha256:{hashlib.sha256(_SORTED.encode(definition)).hexdigest()}"


def is_usable(definition: Any) -> bool:
    """Whether a definition can be listed: a name that clients take, and a bounded size."""
    if not isinstance(definition, dict) or not isinstance(definition.get("inputSchema"), dict):
        return False
    name = definition.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return False
    return len(_SORTED.encode(definition)) <= MAX_DEFINITION_BYTES


def only_reads(definition: Mapping[str, Any], *, trusted: bool) -> bool:
    """Whether a tool only reads: by its own hint, which counts for a trusted server."""
    hints = definition.get("annotations")
    return trusted and isinstance(hints, dict) and hints.get("readOnlyHint") is True


def choose_mode(definition: Mapping[str, Any], rule: ToolRule | None, *, trusted: bool) -> Mode:
    """Return what a call of a tool does. Only a trusted server's `readOnlyHint` lets it pass."""
    if rule is not None and rule.mode is not None:
        return rule.mode
    return "pass" if only_reads(definition, trusted=trusted) else "gate"


def lets_pass(
    profiles: Iterable[Profile], server: str, definition: Mapping[str, Any], *, hinted: bool
) -> bool:
    """Whether calls of a tool are made without asking under any of the profiles, once it is accepted."""
    for each in profiles:
        rules = each.rules_for(server)
        mode = choose_mode(definition, rules.find(definition["name"]), trusted=rules.trusted and hinted)
        if each.find(server) is not None and (mode == "pass" or (mode == "gate" and each.observe)):
            return True
    return False


def arrange_tools(
    profile: Profile,
    found: Mapping[str, Iterable[Mapping[str, Any]]],
    pins: Mapping[tuple[str, str], tuple[str, bool]],
    reserved: Collection[str],
) -> tuple[OfferedTool, ...]:
    """Return the tools of all servers, hidden ones too. `found` has the definitions by server, `pins`
    by server and tool the accepted hash and whether the hint counts, `reserved` the names of own tools."""
    listed = [(server, each) for server, definitions in found.items() for each in definitions]
    count = Counter(each["name"] for _, each in listed)
    taken = {name for name in count if count[name] > 1} | set(reserved)
    offered: list[OfferedTool] = []
    used = set(reserved)
    for server, definition in listed:
        tool, rules = definition["name"], profile.rules_for(server)
        name = find_free_name(server, tool, used, clashes=tool in taken)
        used.add(name)
        rule, pin = rules.find(tool), compute_pin(definition)
        accepted, hinted = pins.get((server, tool), (None, False))
        trusted = rules.trusted and hinted
        offered.append(
            OfferedTool(
                name=name,
                server=server,
                tool=tool,
                mode=choose_mode(definition, rule, trusted=trusted),
                rule=rule,
                definition=definition,
                pin=pin,
                reads_only=accepted == pin and only_reads(definition, trusted=trusted),
                held=accepted != pin,
                hinted=hinted,
            )
        )
    return tuple(offered)


def find_free_name(server: str, tool: str, used: Collection[str], *, clashes: bool) -> str:
    """Return the name of a tool in the list. Where it clashes, the server's name comes first."""
    wanted = f"{server}_{tool}" if clashes else tool
    tries = (wanted, f"{server}_{tool}", *(f"{server}_{tool}_{number}" for number in range(2, 100)))
    fitting = (
        each if len(each) <= MAX_NAME_CHARS else each[:40] + compute_pin({"name": each})[-20:]
        for each in tries
    )
    return next(each for each in fitting if each not in used)


class ListKind(Record):
    """A list that a server may have."""

    field: str
    """Of the result, with the entries."""
    key: str
    """Of an entry, with its name."""
    kind: str
    """The SDK's model of an entry."""
    pinned: str = ""
    """What precedes the name of an entry among the accepted definitions, if its entries are pinned."""
    most: int = MAX_TOOLS
    """The most entries of one server."""


TOOLS: Final = "tools/list"
TEMPLATES: Final = "resources/templates/list"
LISTS: Final = {
    TOOLS: ListKind("tools", "name", "Tool"),
    "prompts/list": ListKind("prompts", "name", "Prompt", "prompt:"),
    # Resources come and go with the data of their server: none is held.
    "resources/list": ListKind("resources", "uri", "Resource"),
    TEMPLATES: ListKind("resourceTemplates", "uriTemplate", "ResourceTemplate", "template:", MAX_TEMPLATES),
}
SEPARATORS: Final = {"prompts": "_", "resources": "+"}
"""What stands between the name of a server and that of its prompt or resource."""


def is_passable(method: str, entry: Any) -> bool:
    """Whether an entry of a list can be used. One that a client does not understand would spoil the whole list."""
    if method == TOOLS:
        return is_usable(entry)
    name = entry.get(LISTS[method].key) if isinstance(entry, dict) else None
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name.encode()) <= MAX_KEY_BYTES:
        return False
    import mcp_types  # late: a server is started before the SDK is loaded
    from mcp.shared.uri_template import UriTemplate

    try:
        getattr(mcp_types, LISTS[method].kind).model_validate(entry, by_name=False)
        if method == TEMPLATES:
            UriTemplate.parse(name, max_variables=MAX_VARIABLES)
    except ValueError:
        return False
    return len(_SORTED.encode(entry)) <= MAX_ENTRY_BYTES


class OfferedEntry(Record):
    """A prompt, resource or resource template of a wrapped server, in the list of a method."""

    server: str
    method: str
    name: str
    definition: Mapping[str, Any]

    @property
    def tool(self) -> str:
        """Its name among the accepted definitions, which no tool can have."""
        return f"{LISTS[self.method].pinned}{self.name}"

    @property
    def pin(self) -> str:
        return compute_pin(self.definition)

    def is_held(self, pins: Mapping[tuple[str, str], tuple[str, bool]]) -> bool:
        accepted, _ = pins.get((self.server, self.tool), (None, False))
        return bool(LISTS[self.method].pinned) and accepted != self.pin


def recall_entries(server: str, method: str, pins: Iterable[tuple[str, str]]) -> list[OfferedEntry]:
    """Return what was accepted of a server, by name. It stays the server's while that does not answer."""
    pinned, most = LISTS[method].pinned, LISTS[method].most
    named = [tool for name, tool in pins if name == server and pinned and tool.startswith(pinned)]
    return [OfferedEntry(server, method, each.removeprefix(pinned), {}) for each in named[:most]]


class Directory:
    """Whose the prompts, or the resources, of a profile's servers are."""

    def __init__(
        self,
        capability: str,
        servers: Collection[str],
        entries: Iterable[OfferedEntry],
        absent: Mapping[str, str],
        failed: Collection[str],
    ) -> None:
        """`absent` says by server why nothing of it is given, also of each that `failed` to list what it has."""
        from mcp.shared.uri_template import UriTemplate  # as above

        self._separator = SEPARATORS[capability]
        self._servers = servers
        self._absent = absent
        self._failed = failed
        self._named = {(each.server, each.name): each for each in entries}
        self._templates = [
            (each, UriTemplate.parse(each.name)) for each in self._named.values() if each.method == TEMPLATES
        ]

    def describe(self, method: str, pins: Mapping[tuple[str, str], tuple[str, bool]]) -> list[dict[str, Any]]:
        """Return the entries of a list. A name that may mean another entry, too, begins with the server's."""
        key, shown = LISTS[method].key, list[dict[str, Any]]()
        for each in self._named.values():
            if each.method == method and each.server not in self._absent and not each.is_held(pins):
                is_clear = self.find(each.name) == [(each, each.name)]
                name = each.name if is_clear else f"{each.server}{self._separator}{each.name}"
                shown.append({**each.definition, key: name})
        return shown

    def find(self, name: str) -> list[tuple[OfferedEntry, str]]:
        """Return what a name may mean: an entry of each server that may have it, with the name there. What begins
        with a server's name means that server alone, also while nothing of it is known."""
        server, separator, rest = name.partition(self._separator)
        is_named = bool(separator) and server in self._servers
        tries = [(server, rest), (server, name)] if is_named else [(each, name) for each in self._servers]
        found = [(entry, own) for each, own in tries if (entry := self._find_at(each, own)) is not None]
        return found[:1] if is_named else found

    def _find_at(self, server: str, name: str) -> OfferedEntry | None:
        own = (each for each in self._templates if each[0].server == server)
        fitting = (
            each for each, template in own if template.match(name, max_uri_length=MAX_URI_CHARS) is not None
        )
        return self._named.get((server, name)) or next(fitting, None)

    def choose(self, name: str) -> tuple[OfferedEntry, str]:
        """Return the one entry that a name means, with the name there. Raises `LookupError`."""
        meant, shown = self.find(name), repr(name[:200])
        if not meant:
            raise LookupError(" ".join((f"No server lists {shown}.", *self._absent.values())))
        if len(meant) > 1:
            said = " or ".join(f"{each.server}{self._separator}{own[:200]}" for each, own in meant)
            raise LookupError(f"Several servers may have {shown}. Name the one that is meant: {said}.")
        if (why := self._absent.get(meant[0][0].server)) is not None:
            raise LookupError(f"{shown} is not given. {why}")
        entry, own = meant[0]
        if self._failed and name == own != entry.name:
            whys = " ".join(self._absent[each] for each in self._failed)
            said = f"{shown} only fits a template of {entry.server}, and may be another server's. {whys}"
            raise LookupError(
                f"{said} If {entry.server} is meant: {entry.server}{self._separator}{own[:200]}"
            )
        return entry, own
