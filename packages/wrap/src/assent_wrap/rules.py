"""Rules of a workspace for the tools of its wrapped servers, so that people are asked about what matters. Pure.

A rule passes, gates or hides the calls of named tools. It can have conditions on the caller and the arguments, in the
language of policies, and an end: a time, or a number of calls. Of the rules that match a call the strictest decides:
hide, then gate, then pass. Where none matches, the file of rules and the server's hints do (`assent_wrap.listing`).

Nothing passes unless an owner wrote so for that tool: a rule that lets pass names its tools whole, its texts are
compared character by character, and a condition that cannot be judged does not hold. A rule that is stricter takes
patterns, compares folded texts, and holds where it cannot be judged.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any, Final, get_args

import msgspec

from assent.platform import CallMatch, describe_match
from assent.sdk import DAY_MS, Record, iso_time
from assent_wrap.listing import OfferedTool
from assent_wrap.profiles import PATTERN, BadProfile, Mode, read_name, require_keys

MAX_RULES: Final = 200
MAX_TOOLS: Final = 50
MAX_NAME_CHARS: Final = 120
MAX_CALLS: Final = 1_000_000
KEYS: Final = frozenset({"name", "server", "tool", "mode", "when", "until", "calls"})
STRICTNESS: Final[tuple[Mode, ...]] = ("pass", "gate", "hide")
VERBS: Final = {"pass": "pass", "gate": "are asked about", "hide": "are hidden"}
EXAMPLE: Final = 'name = "Reports", server = "db", tool = "read_query", mode = "pass"'


class WorkspaceRule(Record, kw_only=True):
    """A rule as it was written (`source`), and what it says."""

    name: str
    server: str
    tools: tuple[str, ...]
    mode: Mode
    source: Mapping[str, Any]
    when: CallMatch = CallMatch()
    trusted: bool = False
    """Whether it holds only for a trusted server."""
    until_ms: int | None = None
    calls: int | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it decides each call of its tools, for good."""
        return self.when == CallMatch() and not self.trusted and self.until_ms is self.calls is None

    def names(self, server: str, tool: str) -> bool:
        matches = fnmatchcase if self.mode != "pass" else str.__eq__
        return server == self.server and any(matches(tool, each) for each in self.tools)


class StandingRule(Record, kw_only=True):
    """A rule that is in force, and how often it let a call pass."""

    rule: WorkspaceRule
    seal: str
    by: str
    at_ms: int
    used: int = 0
    last_ms: int | None = None

    def is_over(self, now_ms: int) -> bool:
        ended = self.rule.until_ms is not None and now_ms >= self.rule.until_ms
        return ended or (self.rule.calls is not None and self.used >= self.rule.calls)


class CallFacts(Record, kw_only=True):
    """What rules know of a call. Without arguments it is about the list, for every call of the tool."""

    server: str
    tool: str
    trusted: bool
    callers: tuple[str, ...]
    """The names of the one caller: its id, the label of its key, its profile."""
    may_execute: bool
    """Whether the caller has the right to act, and not for a test. No rule gives it."""
    arguments: Mapping[str, Any] | None = None


def choose_rule(standing: Iterable[StandingRule], call: CallFacts, now_ms: int) -> StandingRule | None:
    """Return the rule that decides a call: the strictest of those that match."""
    matching = [
        each for each in standing if each.rule.names(call.server, call.tool) and not each.is_over(now_ms)
    ]
    found = [each for each in matching if _matches(each.rule, call)]
    return max(found, key=lambda each: STRICTNESS.index(each.rule.mode), default=None)


def _matches(rule: WorkspaceRule, call: CallFacts) -> bool:
    passes = rule.mode == "pass"
    if (passes and not call.may_execute) or (rule.trusted and not call.trusted):
        return False
    match = rule.when.match
    if call.arguments is None and match.arguments:
        return False  # some calls are decided otherwise, and the list stays as it is
    judged = rule.when.judge(call.callers, call.arguments or {}, exact=passes)
    return judged is True if passes else judged is not False


def may_pass(standing: Iterable[StandingRule], server: str, tool: str, now_ms: int) -> bool:
    """Whether any call of a tool could pass by a rule."""
    return any(
        each.rule.mode == "pass" and each.rule.names(server, tool) and not each.is_over(now_ms)
        for each in standing
    )


def read_rules(source: Any) -> tuple[WorkspaceRule, ...]:
    """Return the rules of a file with `[[rule]]` tables. Raises `BadProfile`."""
    require_keys("The file", source, frozenset({"rule"}))
    listed = source.get("rule")
    if not isinstance(listed, list) or not 0 < len(listed) <= MAX_RULES:
        raise BadProfile(f"Write one to {MAX_RULES} rules, each as a table [[rule]] with {EXAMPLE}.")
    rules = tuple(read_rule(each) for each in listed)
    names = [each.name for each in rules]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadProfile(f"Two rules are called {twice!r}. A rule is known by its name: rename one.")
    return rules


def read_rule(source: Any) -> WorkspaceRule:
    """Return a rule. Raises `BadProfile` with what is wrong and what to write."""
    where = f"The rule {str(source.get('name', ''))[:60]!r}" if isinstance(source, dict) else "A rule"
    require_keys(where, source, KEYS)
    name, mode = source.get("name"), source.get("mode")
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name.strip()) <= MAX_NAME_CHARS:
        raise BadProfile(f"{where} needs a name of one line. Write {EXAMPLE}.")
    if mode not in get_args(Mode):
        raise BadProfile(f"{where} mode is {mode!r}. Write pass, gate or hide.")
    given = source.get("tool")
    tools = given if isinstance(given, list) else [given]
    if not 0 < len(tools) <= MAX_TOOLS or not all(isinstance(each, str) and each for each in tools):
        raise BadProfile(f"{where} needs a tool, or a list of at most {MAX_TOOLS}. Write {EXAMPLE}.")
    if mode == "pass" and any(PATTERN & set(each) for each in tools):
        raise BadProfile(
            f"{where} lets calls pass, so name each tool whole: a new one could match a pattern."
        )
    conditions = dict(_require_table(f"{where} when", source.get("when", {})))
    trusted = conditions.pop("trusted", False)
    if not isinstance(trusted, bool):
        raise BadProfile(f"{where} when.trusted is {trusted!r}. Write true or false.")
    try:
        when = CallMatch.read(conditions)
    except ValueError as error:
        raise BadProfile(f"{where}: {error}.") from None
    calls, until_ms = source.get("calls"), _read_until(where, source.get("until"))
    if calls is not None and (type(calls) is not int or not 0 < calls <= MAX_CALLS):
        raise BadProfile(f"{where} calls is {calls!r}. Write a whole number from 1 to {MAX_CALLS}.")
    if calls is not None and mode != "pass":
        raise BadProfile(f"{where} counts calls, which only a rule that lets them pass can.")
    if mode == "hide" and when.match.arguments:
        raise BadProfile(
            f"{where} hides a tool, whatever its arguments. Leave when.arguments out, or use gate."
        )
    until = {"until": iso_time(until_ms)} if until_ms is not None else {}
    return WorkspaceRule(
        name=name.strip(),
        server=read_name(source.get("server", "")),
        tools=tuple(tools),
        mode=mode,
        source={**source, "name": name.strip(), **until},
        when=when,
        trusted=trusted,
        until_ms=until_ms,
        calls=calls,
    )


def _require_table(where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadProfile(f"{where} is no table.")
    return value


def _read_until(where: str, value: Any) -> int | None:
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else value
        if not isinstance(found, datetime) or found.tzinfo is None:
            raise ValueError(value)
    except ValueError:
        raise BadProfile(
            f"{where} until is {str(value)[:40]!r}. Write a time with its zone, such as 2026-12-24T18:00:00Z."
        ) from None
    return int(found.timestamp() * 1000)


def describe_rule(rule: WorkspaceRule) -> str:
    """Return a rule as one sentence."""
    calls = f"Calls of {', '.join(rule.tools)} of {rule.server} {VERBS[rule.mode]}"
    conditions = [*(["the server is trusted"] if rule.trusted else []), describe_match(rule.when.match)]
    condition = " and ".join(filter(None, conditions))
    end = f", until {iso_time(rule.until_ms)}" if rule.until_ms is not None else ""
    most = f", at most {rule.calls} times" if rule.calls is not None else ""
    return f"{calls}{f' if {condition}' if condition else ''}{end}{most}."


# Observed calls, and the rules that they propose.

BEGINNING: Final = re.compile(r"[A-Za-z]{2,20}(?![A-Za-z])")
RISKY: Final = (";", "..")
"""What joins a second command or leaves a folder. A proposed rule excludes it."""
MAX_ARGUMENTS: Final = 8
MAX_BEGINNINGS: Final = 3
PROPOSED_MS: Final = 30 * DAY_MS
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
ACTING: Final = re.compile(
    "send|publish|post|mail|email|message|notify|tweet|reply|comment|invite|share|submit|pay|charge|refund|transfer|"
    "buy|purchase|order|book|checkout|invoice|subscribe|donate|withdraw|"
    "delete|remove|drop|destroy|erase|purge|wipe|truncate|clear"
)
"""Verbs of tools that reach other people, cost money or destroy something."""


class Observed(Record):
    """How many calls of a tool had an argument that begins with a word; without an argument, all of its calls."""

    tool: str
    argument: str
    beginning: str
    calls: int


def list_beginnings(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the first word of each text that a proposed rule could be about."""
    named = [(name, each) for name, each in arguments.items() if _PLAIN_NAME.fullmatch(name)]
    for name, value in named[:MAX_ARGUMENTS]:
        found = BEGINNING.match(value) if isinstance(value, str) else None
        if found is not None and not any(each in value for each in RISKY):
            yield name, found[0]


def may_act(definition: Mapping[str, Any]) -> bool:
    """Whether a tool may publish, send, charge or delete, by its name and its hints. No rule is proposed for it."""
    hints = definition.get("annotations")
    said = hints if isinstance(hints, dict) else {}
    words = (word.lower() for word in _WORD.findall(definition["name"]))
    acts = any(ACTING.fullmatch(word) for word in words)
    return acts or said.get("destructiveHint") is True or said.get("openWorldHint") is True


def propose_rules(
    server: str, offered: Iterable[OfferedTool], observed: Collection[Observed], now_ms: int
) -> str:
    """Return rules for the tools that were called and would have asked, with how many calls each would have let
    pass."""
    lines = [
        f"# Rules for the tools of {server}, proposed from observed calls. Read them, take out what you do not want,",
        "# then set them: assent rules set FILE",
    ]
    for each in offered:
        own = [row for row in observed if row.tool == each.tool]
        total = sum(row.calls for row in own if not row.argument)
        if each.mode == "gate" and total:
            lines += ["", *_propose(server, each, own, total, now_ms)]
    return "\n".join(lines) + "\n"


def _propose(
    server: str, tool: OfferedTool, rows: Iterable[Observed], total: int, now_ms: int
) -> Iterator[str]:
    times = f"{total} call{'' if total == 1 else 's'} of {tool.tool}"
    if may_act(tool.definition):
        yield f"# {times} would have asked. It may publish, send, charge or delete, so no rule is proposed."
        return
    groups: dict[str, list[Observed]] = {}
    for row in rows:
        if row.argument:
            groups.setdefault(row.argument, []).append(row)
    most = {
        name: sorted(found, key=lambda row: -row.calls)[:MAX_BEGINNINGS] for name, found in groups.items()
    }
    covered, name = max(
        ((sum(row.calls for row in found), name) for name, found in most.items()), default=(0, "")
    )
    takes_nothing = not tool.definition["inputSchema"].get("properties")
    if not takes_nothing and covered * 2 < total:
        few = "Fewer than half of them have a text that begins with one of a few words"
        yield f"# {times} would have asked. {few}, so no rule is proposed."
        return
    yield f"# {times} would have asked; this lets {total if takes_nothing else covered} of them pass."
    rule: dict[str, Any] = {
        "name": f"{server}: {tool.tool}",
        "server": server,
        "tool": tool.tool,
        "mode": "pass",
    }
    yield from ("[[rule]]", *(f"{key} = {_quote(value)}" for key, value in rule.items()))
    if not takes_nothing:
        beginnings = ", ".join(_quote(row.beginning) for row in most[name])
        risky = ", ".join(map(_quote, RISKY))
        condition = f"{{ begins_with = [{beginnings}], contains_none = [{risky}] }}"
        yield f"when = {{ arguments = {{ {name} = {condition} }} }}"
    yield f"until = {iso_time(now_ms + PROPOSED_MS)}"


def _quote(text: str) -> str:
    return msgspec.json.encode(text).decode()
