"""What can be wrapped and what the rules say: every mistake of an author is named."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from assent.sdk import Severity
from assent_wrap.orders import list_unpassed
from assent_wrap.profiles import (
    MAX_NAME_CHARS,
    MAX_SERVERS,
    BadProfile,
    Profile,
    ServerRules,
    ToolRule,
    UpstreamSpec,
    check_spec,
    name_server,
    read_config,
    read_name,
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
        ('[files.tools."x*"]\nmode = "pass"', "name each tool whole"),
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
        '[files.tools."*"]\nmode = "hide"\n[files.tools."write_*"]\nmode = "gate"\n'
        '[files.tools.write_file]\nmode = "pass"',
        NAMES,
    )["files"]
    assert [getattr(rules.find(name), "mode", None) for name in ("write_file", "write_x", "read")] == [
        "pass",
        "hide",
        "hide",
    ]


def definition(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def test_an_order_without_a_command_and_an_unreadable_one_are_refused() -> None:
    for described in (b"{}", b"no", msgspec.json.encode({"command": ["x"], "rules": "[y]"})):
        with pytest.raises(BadProfile):
            read_order(described)


def read_one(entry: dict[str, Any], variables: dict[str, str] | None = None, key: str = "mcpServers") -> Any:
    (only,) = read_config(json.dumps({key: {"My files": entry}}), variables or {})
    return only


def test_a_file_names_commands_with_their_variables_and_shows_no_value() -> None:
    entry = {
        "command": "files",
        "args": ["--root", "${ROOT}"],
        "env": {"TOKEN": "${SECRET}"},
        "cwd": "data",
    }

    found = read_one(entry, {"ROOT": "/srv", "SECRET": "s3cret", "OTHER": "x"})

    assert found == UpstreamSpec(
        name="my-files",
        command=("files", "--root", "/srv"),
        cwd="data",
        env={"TOKEN": "s3cret"},
        written=("files", "--root", "${ROOT}"),
        expanded={"ROOT": "/srv", "SECRET": "s3cret"},
    )
    assert read_one({"command": "files"}, key="servers").command == ("files",)


@pytest.mark.parametrize("key", ["url", "serverUrl"])
def test_a_file_names_addresses_and_shows_no_secret_of_them(key: str) -> None:
    found = read_one({key: "https://ann:pw@files.example/mcp?key=7", "headers": {"X-Key": "k"}})

    assert found.url == "https://ann:pw@files.example/mcp?key=7"
    assert found.headers == {"X-Key": "k"}
    assert found.written == ("https://files.example/mcp",)
    assert found.command == () and found.cwd == ""


@pytest.mark.parametrize("text", ['"mcpServers"', '["mcpServers"]', '{"mcpServers": 1}', '{"other": {}}'])
def test_a_file_without_a_table_of_servers_is_refused(text: str) -> None:
    with pytest.raises(BadProfile, match="names no servers"):
        read_config(text, {})


def test_a_file_may_name_the_most_servers_and_names_of_the_most_characters() -> None:
    names = [f"{number}".rjust(MAX_NAME_CHARS, "x") for number in range(MAX_SERVERS)]

    found = read_config(json.dumps({"mcpServers": {name: {"command": "x"} for name in names}}), {})

    assert [each.name for each in found] == names
    with pytest.raises(BadProfile, match="no name"):
        read_name("x" * (MAX_NAME_CHARS + 1))


@pytest.mark.parametrize(
    "entry", [{"command": "x", "env": {"ASSENT_KEY": "1"}}, {"command": "${ASSENT_KEY}"}]
)
def test_no_wrapped_server_gets_a_variable_of_assent(entry: dict[str, Any]) -> None:
    with pytest.raises(BadProfile, match="ASSENT_KEY"):
        read_one(entry, {"ASSENT_KEY": "1"})


@pytest.mark.parametrize(
    ("command", "refused"),
    [
        (("assent", "stdio"), True),
        (("/usr/bin/assent-gate", "wrap"), True),
        (("assent", "serve", "--port"), True),
        (("assent", "doctor"), False),
        (("assent",), False),
        (("files", "serve"), False),
    ],
)
def test_assent_does_not_wrap_itself(command: tuple[str, ...], refused: bool) -> None:
    spec = UpstreamSpec(name="files", command=command)

    if refused:
        with pytest.raises(BadProfile, match="Assent itself"):
            check_spec(spec)
    else:
        assert check_spec(spec) is spec


@pytest.mark.parametrize(("url", "refused"), [("https://x", False), ("http://x", False), ("ws://x", True)])
def test_an_address_begins_with_http(url: str, refused: bool) -> None:
    spec = UpstreamSpec(name="files", url=url)

    if refused:
        with pytest.raises(BadProfile):
            check_spec(spec)
    else:
        assert check_spec(spec) is spec


def order(**asked: Any) -> Profile:
    return read_order(msgspec.json.encode({"command": ["acme_notes"], "cwd": "/srv", **asked}))


def test_a_command_is_wrapped_under_its_own_name_or_a_given_one() -> None:
    (spec,) = order().servers

    assert spec == UpstreamSpec(
        name="acme-notes", command=("acme_notes",), cwd="/srv", written=("acme_notes",)
    )
    assert order(name="My notes").servers[0].name == "my-notes"
    assert (order().observe, order(observe=True).observe) == (False, True)
    with pytest.raises(BadProfile, match="no command"):
        order(command=[])


def test_a_server_is_trusted_if_its_front_or_its_rules_say_so() -> None:
    hidden = '[acme-notes.tools.look]\nmode = "hide"'

    assert order().rules_for("acme-notes") == ServerRules()
    assert order(trust=True).rules_for("acme-notes") == ServerRules(trusted=True)
    trusted = order(trust=True, rules=hidden).rules_for("acme-notes")
    assert trusted.trusted is True and [each.mode for each in trusted.tools] == ["hide"]
    assert order(rules="[acme-notes]\ntrusted = true").rules_for("acme-notes").trusted is True
    assert order(rules=hidden).rules_for("acme-notes").trusted is False
    assert order(trust=True).rules_for("other").trusted is False


def test_servers_of_a_file_start_in_the_folder_of_their_front() -> None:
    servers = {
        "a": {"command": "x"},
        "b": {"command": "x", "cwd": "data"},
        "c": {"command": "x", "cwd": "/etc"},
    }

    found = order(config=json.dumps({"mcpServers": servers}))

    assert [each.cwd for each in found.servers] == ["/srv", "/srv/data", "/etc"]
    assert found.require("b") is found.find("b") is found.servers[1]
    assert found.find("d") is None


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"config": "{", "configPath": "mcp.json"}, "^mcp.json: "),
        ({"config": "{"}, "^It is no JSON"),
        ({"rules": "[", "rulesPath": "rules.toml", "configPath": "mcp.json"}, "^rules.toml: "),
    ],
)
def test_a_mistake_names_the_file_that_it_is_in(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(BadProfile, match=said):
        order(**asked)


def test_what_prompts_and_resources_do_follows_their_rule_and_else_the_trust() -> None:
    rules = read_rules('[files]\nprompts = "pass"\nresources = "hide"', NAMES)["files"]

    assert (rules.may_read("prompts"), rules.may_read("resources")) == (True, False)
    assert ServerRules(trusted=True).may_read("prompts") is True
    assert ServerRules().may_read("prompts") is False
    with pytest.raises(BadProfile, match="pass or hide"):
        read_rules('[files]\nprompts = "gate"', NAMES)


def test_a_rule_without_words_of_its_own_has_a_high_risk_and_is_not_repeated() -> None:
    (plain,) = read_rules("[files.tools.x]", NAMES)["files"].tools
    (said,) = read_rules('[files.tools.x]\nrepeat = true\nrisk = "low"\nwithout = ["amount"]', NAMES)[
        "files"
    ].tools

    assert plain == ToolRule(match="x")
    assert (said.repeat, said.risk, said.without) == (True, Severity.LOW, ("amount",))
    with pytest.raises(BadProfile, match="recipients, amount, arguments"):
        read_rules("[files.tools.x]\nwithout = {amount = 1}", NAMES)


def test_two_profiles_of_a_command_differ_in_variables_and_of_an_address_in_headers_and_query() -> None:
    spec = UpstreamSpec(
        name="a", command=("x",), env={"MODE": "fast"}, written=("x",), expanded={"ROOT": "/a"}
    )
    own = Profile(servers=(spec,), passed={"PATH": "/bin"}, named=("LANG",))
    slow = Profile(servers=(msgspec.structs.replace(spec, env={"MODE": "slow"}, expanded={}),))
    other = Profile(servers=(msgspec.structs.replace(spec, env={}, written=("y",)),))
    site = UpstreamSpec(name="a", url="https://x/?k=1", headers={"X": "1"}, written=("https://x/",))
    moved = Profile(servers=(msgspec.structs.replace(site, url="https://x/?k=2", headers={"X": "2"}),))
    front = Profile(servers=(site,), passed={"PATH": "/bin"}, named=("LANG",))

    assert own.environment_of(spec) == {"PATH": "/bin", "MODE": "fast"}
    assert own.list_named(spec) == ("LANG", "MODE", "ROOT")
    assert own.find_differences(spec, [own, other]) == ()
    assert own.find_differences(spec, [slow]) == ("MODE", "PATH", "ROOT")
    assert front.environment_of(site) == {} and front.list_named(site) == ()
    assert front.find_differences(site, [moved]) == ("header X", "query k")


def test_variables_that_a_person_may_have_forgotten_to_pass_are_named() -> None:
    environ = ["PATH", "TOKEN", "GIVEN", "ASSENT_KEY", "SSH_AUTH_SOCK", "PWD", "ACCOUNT"]

    assert list_unpassed(environ, {"PATH", "GIVEN"}) == ["ACCOUNT", "TOKEN"]
