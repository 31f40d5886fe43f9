"""What can be wrapped and what the rules say: every mistake of an author is named."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from assent.platform.values import Severity
from assent.wrap.effects import name_call
from assent.wrap.listing import arrange_tools, choose_mode, compute_pin
from assent.wrap.profiles import (
    BadProfile,
    Profile,
    ToolRule,
    UpstreamSpec,
    name_server,
    read_config,
    read_order,
    read_rules,
)

NAMES = frozenset({"files"})
OWN = frozenset({"chieflab_get_action"})


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("npx -y @modelcontextprotocol/server-filesystem /tmp", "filesystem"),
        ("npx -y @modelcontextprotocol/server-filesystem@2026.8.31 /tmp", "filesystem"),
        ("uvx mcp-server-git -r .", "git"),
        ("python3 -m acme_notes", "acme-notes"),
        ("node", "server"),
    ],
)
def test_a_command_names_its_server(command: str, name: str) -> None:
    assert name_server(tuple(command.split())) == name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "JSON"),
        ("[]", "names no servers"),
        ('{"mcpServers": {}}', "names no servers"),
        ('{"mcpServers": {"!!": {"command": "x"}}}', "no name"),
        ('{"mcpServers": {"a": 1}}', "no object"),
        ('{"mcpServers": {"a": {}}}', "either a command or a url"),
        ('{"mcpServers": {"a": {"command": "x", "url": "https://x.example"}}}', "either"),
        ('{"mcpServers": {"a": {"command": "x", "args": "y"}}}', "no list"),
        ('{"mcpServers": {"a": {"command": "x", "args": [1]}}}', "no text"),
        ('{"mcpServers": {"a": {"command": "x", "env": []}, "b": {"command": "${NOT_SET}"}}}', "NOT_SET"),
        ('{"mcpServers": {"a": {"url": "ftp://x.example"}}}', "https://"),
        ('{"mcpServers": {"A b": {"command": "x"}, "a-b": {"command": "y"}}}', "Two servers"),
        ('{"mcpServers": {"a": {"command": "/usr/bin/assent", "args": ["stdio"]}}}', "Assent itself"),
        (json.dumps({"mcpServers": {f"s{n}": {"command": "x"} for n in range(21)}}), "at most 20"),
    ],
)
def test_a_file_that_cannot_be_wrapped_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(BadProfile, match=said):
        read_config(text, {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "TOML"),
        ("[other]", "not wrapped"),
        ("files = 1", "no table"),
        ("[files]\ntrust = true", "trust, which is no key"),
        ('[files]\ntrusted = "yes"', "true or false"),
        ("[files]\ntools = 1", "one table per tool"),
        ('[files.tools.x]\nmode = "allow"', "pass, gate or hide"),
        ('[files.tools.x]\nrisk = "none"', "low, medium or high"),
        ("[files.tools.x]\ntitle = 1", "no text"),
        ('[files.tools.x]\nrepeat = "no"', "true or false"),
        ('[files.tools.x]\ndiff = {tool = "y"}', "incomplete"),
        ('[files.tools.x]\nwithout = "amount"', "recipients, amount, arguments"),
        ('[files.tools.x]\nwithout = ["people"]', "recipients, amount, arguments"),
        ('[files.tools.x]\nmdoe = "pass"', "mdoe"),
    ],
)
def test_a_rule_with_a_mistake_is_refused_with_the_place(text: str, said: str) -> None:
    with pytest.raises(BadProfile, match=said):
        read_rules(text, NAMES)


def test_a_name_counts_before_a_pattern_and_an_earlier_pattern_before_a_later() -> None:
    rules = read_rules(
        '[files.tools."*"]\nmode = "hide"\n[files.tools."write_*"]\nmode = "pass"\n'
        '[files.tools.write_file]\nmode = "gate"',
        NAMES,
    )["files"]
    assert [getattr(rules.find(name), "mode", None) for name in ("write_file", "write_x", "read")] == [
        "gate",
        "hide",
        "hide",
    ]


@pytest.mark.parametrize(
    ("hints", "trusted", "mode"),
    [
        ({"readOnlyHint": True}, True, "pass"),
        ({"readOnlyHint": True}, False, "gate"),
        ({"readOnlyHint": "true"}, True, "gate"),
        ({"readOnlyHint": 1}, True, "gate"),
        ({"readOnlyHint": False}, True, "gate"),
        ({}, True, "gate"),
        (None, True, "gate"),
        ("readOnlyHint", True, "gate"),
    ],
)
def test_only_a_true_hint_of_a_trusted_server_lets_a_tool_pass(hints: Any, trusted: bool, mode: str) -> None:
    assert choose_mode({"annotations": hints}, None, trusted=trusted) == mode
    assert choose_mode({"annotations": hints}, ToolRule(match="x", mode="gate"), trusted=True) == "gate"


def definition(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def test_names_are_unique_whatever_the_servers_call_their_tools() -> None:
    found = {
        "a": [definition("b"), definition("a_b"), definition("chieflab_get_action")],
        "a-b": [definition("b"), definition("x" * 64)],
        "c": [definition("x" * 64)],
    }
    profile = Profile(servers=tuple(UpstreamSpec(name=name, command=("x",)) for name in found))
    offered = arrange_tools(profile, found, {}, OWN)
    names = [each.name for each in offered]
    assert len(set(names)) == len(names) and not OWN & set(names)
    assert max(map(len, names)) <= 64
    assert all(each.held and not each.hinted for each in offered)


def test_a_pin_covers_the_whole_definition_and_not_the_order_of_its_keys() -> None:
    one = definition("a", description="x", annotations={"readOnlyHint": True, "title": "t"})
    same = dict(reversed(one.items()))
    assert compute_pin(one) == compute_pin(same)
    changes: tuple[dict[str, Any], ...] = (
        {"description": "y"},
        {"annotations": {}},
        {"outputSchema": {}},
        {"_meta": {"a": 1}},
    )
    for change in changes:
        assert compute_pin({**one, **change}) != compute_pin(one)


def test_an_order_without_a_command_and_an_unreadable_one_are_refused() -> None:
    for described in (b"{}", b"no", msgspec.json.encode({"command": ["x"], "rules": "[y]"})):
        with pytest.raises(BadProfile):
            read_order(described)


@pytest.mark.parametrize(
    ("tool", "template", "arguments", "title"),
    [
        ("write_file", "", {"path": "a.txt", "content": "long\ntext"}, "Write file: a.txt"),
        ("createIssue", "", {"n": 1}, "Create issue"),
        ("x", "Pay {amount} to {who}", {"amount": 3, "who": "Ada\n{n}"}, "Pay 3 to Ada {n}"),
        ("x", "{missing}", {}, "null"),
    ],
)
def test_a_call_is_named_in_one_line(tool: str, template: str, arguments: dict[str, Any], title: str) -> None:
    assert name_call(tool, template, arguments) == title
    assert ToolRule(match="x").risk is Severity.HIGH
