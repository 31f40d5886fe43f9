"""Which tools of the wrapped servers a client sees, and what a call of each does. Pure.

A tool passes, is gated or is hidden: by a rule, else by its own hint, which counts only if its server
is trusted and has given it since its first list. Everything unknown is gated. A tool whose definition
is not the accepted one is held: it is not listed until a person accepts the new definition.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import msgspec

from assent.platform.effects import Severity
from assent.platform.values import Record, digest_of_bytes
from assent.wrap.profiles import Mode, Profile, ToolRule

MAX_TOOLS: Final = 500
"""The most tools of one server."""
MAX_DEFINITION_BYTES: Final = 60_000
MAX_NAME_CHARS: Final = 64
NAME: Final = re.compile(r"[A-Za-z0-9_./-]{1,64}")
ASKS: Final = "A person approves each call before it is made; the call waits for that."

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
    return digest_of_bytes(_SORTED.encode(definition))


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
