"""Which tools, prompts and resources of wrapped servers are listed, and whose each is."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from assent.gate.views import Severity
from assent_wrap.listing import (
    ASKS,
    LISTS,
    MAX_DEFINITION_BYTES,
    MAX_ENTRY_BYTES,
    MAX_KEY_BYTES,
    MAX_NAME_CHARS,
    MAX_TEMPLATES,
    MAX_VARIABLES,
    TEMPLATES,
    TOOLS,
    Directory,
    OfferedEntry,
    OfferedTool,
    arrange_tools,
    choose_mode,
    compute_pin,
    find_free_name,
    is_passable,
    is_usable,
    lets_pass,
    only_reads,
    recall_entries,
)
from assent_wrap.profiles import Mode, Profile, ServerRules, ToolRule, UpstreamSpec

READS: dict[str, Any] = {"annotations": {"readOnlyHint": True}}
PROMPTS, RESOURCES = "prompts/list", "resources/list"


def define(name: str = "look", **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def offer(mode: Mode = "gate", **changes: Any) -> OfferedTool:
    tool = OfferedTool(
        name="look", server="notes", tool="look", mode=mode, rule=None, definition=define(), pin="sha256:1"
    )
    return replace(tool, **changes)


def test_a_gated_tool_says_that_a_person_is_asked_and_another_one_is_described_as_it_is() -> None:
    described = define(description="Looks.")

    assert offer("gate", definition=described).describe()["description"] == f"Looks. {ASKS}"
    assert offer("gate").describe()["description"] == ASKS
    assert offer("pass", name="notes_look", definition=described).describe() == {
        **described,
        "name": "notes_look",
    }


def test_a_tool_has_the_risk_of_its_rule_and_else_a_high_one() -> None:
    assert offer().risk is Severity.HIGH
    assert offer(rule=ToolRule(match="look", risk=Severity.LOW)).risk is Severity.LOW


def test_a_pin_covers_the_whole_definition_and_no_order_of_its_keys() -> None:
    assert compute_pin({"a": 1, "b": {"c": 1, "d": 2}}) == compute_pin({"b": {"d": 2, "c": 1}, "a": 1})
    changes: list[dict[str, Any]] = [{"description": "y"}, {"annotations": {}}, {"_meta": {"a": 1}}]
    for change in changes:
        assert compute_pin({**define(**READS), **change}) != compute_pin(define(**READS))


@pytest.mark.parametrize(
    ("definition", "usable"),
    [
        (define(), True),
        (define("a/b.c-d_1"), True),
        (define("x" * MAX_NAME_CHARS), True),
        (define("x" * (MAX_NAME_CHARS + 1)), False),
        (define("two words"), False),
        (define(""), False),
        ({**define(), "name": 7}, False),
        ({"inputSchema": {}}, False),
        ({"name": "look"}, False),
        ({"name": "look", "inputSchema": "object"}, False),
        ("look", False),
        (None, False),
    ],
)
def test_a_definition_is_usable_with_a_name_that_clients_take_and_a_schema(
    definition: Any, usable: bool
) -> None:
    assert is_usable(definition) is usable
    assert is_passable(TOOLS, definition) is usable


def test_a_definition_is_usable_up_to_its_size() -> None:
    room = MAX_DEFINITION_BYTES - len('{"description":"","inputSchema":{"type":"object"},"name":"look"}')

    assert is_usable(define(description="x" * room)) is True
    assert is_usable(define(description="x" * (room + 1))) is False


@pytest.mark.parametrize(
    ("annotations", "reads"),
    [
        ({"readOnlyHint": True}, True),
        ({"readOnlyHint": False}, False),
        ({"readOnlyHint": "true"}, False),
        ({"readOnlyHint": 1}, False),
        ({}, False),
        (None, False),
        ("readOnlyHint", False),
    ],
)
def test_only_the_true_hint_of_a_trusted_server_says_that_a_tool_reads(annotations: Any, reads: bool) -> None:
    definition = define(annotations=annotations)

    assert only_reads(definition, trusted=True) is reads
    assert only_reads(definition, trusted=False) is False
    assert choose_mode(definition, None, trusted=True) == ("pass" if reads else "gate")
    assert choose_mode(definition, None, trusted=False) == "gate"


@pytest.mark.parametrize("mode", ["pass", "gate", "hide"])
def test_a_rule_counts_before_a_hint(mode: Mode) -> None:
    assert choose_mode(define(**READS), ToolRule(match="look", mode=mode), trusted=True) == mode
    assert choose_mode(define(), ToolRule(match="look", mode=mode), trusted=False) == mode
    assert choose_mode(define(**READS), ToolRule(match="look"), trusted=True) == "pass"


def profile(rules: ServerRules | None = None, *, server: str = "notes", observe: bool = False) -> Profile:
    specs = (UpstreamSpec(name=server),)
    return Profile(servers=specs, rules={"notes": rules} if rules is not None else {}, observe=observe)


TRUSTED = ServerRules(trusted=True)
PASSES = ServerRules(tools=(ToolRule(match="look", mode="pass"),))
HIDES = ServerRules(tools=(ToolRule(match="look", mode="hide"),))


@pytest.mark.parametrize(
    ("profiles", "hinted", "passes"),
    [
        ([], True, False),
        ([profile()], True, False),
        ([profile(TRUSTED)], True, True),
        ([profile(TRUSTED)], False, False),
        ([profile(PASSES)], False, True),
        ([profile(HIDES)], True, False),
        ([profile(observe=True)], False, True),
        ([profile(HIDES, observe=True)], False, False),
        ([profile(PASSES, server="other")], True, False),
        ([profile(observe=True, server="other")], True, False),
        ([profile(), profile(PASSES)], False, True),
    ],
)
def test_a_tool_passes_if_any_profile_of_its_server_lets_it(
    profiles: list[Profile], hinted: bool, passes: bool
) -> None:
    assert lets_pass(profiles, "notes", define(**READS), hinted=hinted) is passes


def test_a_tool_is_held_unless_its_definition_is_the_accepted_one() -> None:
    definition = define(**READS)
    pin, found = compute_pin(definition), {"notes": [definition]}

    def arrange(accepted: dict[tuple[str, str], tuple[str, bool]]) -> OfferedTool:
        (only,) = arrange_tools(profile(TRUSTED), found, accepted, ())
        return only

    unknown, changed = arrange({}), arrange({("notes", "look"): ("sha256:0", True)})
    accepted, late = arrange({("notes", "look"): (pin, True)}), arrange({("notes", "look"): (pin, False)})

    assert (unknown.held, changed.held, accepted.held, late.held) == (True, True, False, False)
    assert (accepted.mode, accepted.reads_only, accepted.hinted) == ("pass", True, True)
    assert (late.mode, late.reads_only, late.hinted) == ("gate", False, False)
    assert (changed.mode, changed.reads_only) == ("pass", False)
    assert (unknown.mode, unknown.reads_only) == ("gate", False)
    assert accepted.pin == pin and accepted.server == "notes" and accepted.tool == "look"
    (stranger,) = arrange_tools(profile(), found, {("notes", "look"): (pin, True)}, ())
    assert (stranger.mode, stranger.reads_only) == ("gate", False)


def test_tools_of_the_same_name_and_those_with_an_own_tools_name_begin_with_their_servers() -> None:
    found = {"notes": [define("look"), define("store")], "files": [define("look"), define("help")]}

    offered = arrange_tools(profile(), found, {}, ("help",))

    assert [each.name for each in offered] == ["notes_look", "store", "files_look", "files_help"]


@pytest.mark.parametrize(
    ("used", "clashes", "name"),
    [
        ((), False, "look"),
        ((), True, "notes_look"),
        (("look",), False, "notes_look"),
        (("look", "notes_look"), False, "notes_look_2"),
        (("notes_look", "notes_look_2"), True, "notes_look_3"),
    ],
)
def test_a_name_that_is_used_gets_the_servers_name_and_then_a_number(
    used: tuple[str, ...], clashes: bool, name: str
) -> None:
    assert find_free_name("notes", "look", used, clashes=clashes) == name


def test_a_name_that_is_too_long_is_cut_and_stays_its_own() -> None:
    fits, long = "x" * MAX_NAME_CHARS, "x" * (MAX_NAME_CHARS + 1)

    assert find_free_name("notes", fits, (), clashes=False) == fits
    cut = find_free_name("notes", long, (), clashes=False)
    assert len(cut) == 60 and cut != find_free_name("notes", f"{long}y", (), clashes=False)


PROMPT = {"name": "greet"}
RESOURCE = {"name": "a", "uri": "note://a"}
TEMPLATE = {"name": "note", "uriTemplate": "note://{id}"}


@pytest.mark.parametrize(
    ("method", "entry", "passable"),
    [
        (PROMPTS, PROMPT, True),
        (PROMPTS, {"name": ""}, False),
        (PROMPTS, {"name": 7}, False),
        (PROMPTS, {"name": "a\x00b"}, False),
        (PROMPTS, "greet", False),
        (PROMPTS, {**PROMPT, "arguments": "none"}, False),
        (PROMPTS, {"name": "x" * MAX_KEY_BYTES}, True),
        (PROMPTS, {"name": "x" * (MAX_KEY_BYTES + 1)}, False),
        (PROMPTS, {"name": "ü" * MAX_KEY_BYTES}, False),
        (PROMPTS, {**PROMPT, "description": "x" * MAX_ENTRY_BYTES}, False),
        (RESOURCES, RESOURCE, True),
        (RESOURCES, {"name": "a"}, False),
        (TEMPLATES, TEMPLATE, True),
        (TEMPLATES, {**TEMPLATE, "uriTemplate": "note://{id"}, False),
        (RESOURCES, {**RESOURCE, "uri": "note://{id"}, True),
        (TEMPLATES, {**TEMPLATE, "uriTemplate": "".join(f"{{v{n}}}/" for n in range(MAX_VARIABLES))}, True),
        (
            TEMPLATES,
            {**TEMPLATE, "uriTemplate": "".join(f"{{v{n}}}/" for n in range(MAX_VARIABLES + 1))},
            False,
        ),
    ],
)
def test_an_entry_that_would_spoil_the_list_of_a_client_is_left_out(
    method: str, entry: Any, passable: bool
) -> None:
    assert is_passable(method, entry) is passable


def test_an_entry_may_have_exactly_its_most_bytes() -> None:
    room = MAX_ENTRY_BYTES - len('{"description":"","name":"greet"}')

    assert is_passable(PROMPTS, {**PROMPT, "description": "x" * room}) is True
    assert is_passable(PROMPTS, {**PROMPT, "description": "x" * (room + 1)}) is False


def enter(server: str, method: str, name: str, **definition: Any) -> OfferedEntry:
    return OfferedEntry(server, method, name, {LISTS[method].key: name, **definition})


def test_prompts_and_templates_are_held_until_accepted_and_resources_never() -> None:
    prompt = enter("notes", PROMPTS, "greet")

    assert prompt.tool == "prompt:greet"
    assert prompt.is_held({}) is True
    assert prompt.is_held({("notes", "prompt:greet"): (prompt.pin, False)}) is False
    assert prompt.is_held({("notes", "prompt:greet"): ("sha256:0", True)}) is True
    assert enter("notes", RESOURCES, "note://a").is_held({}) is False


def test_what_was_accepted_of_a_server_stays_its_own() -> None:
    pins = [
        ("notes", "prompt:greet"),
        ("files", "prompt:bye"),
        ("notes", "template:n{id}"),
        ("notes", "look"),
    ]

    assert recall_entries("notes", PROMPTS, pins) == [OfferedEntry("notes", PROMPTS, "greet", {})]
    assert recall_entries("notes", TEMPLATES, pins) == [OfferedEntry("notes", TEMPLATES, "n{id}", {})]
    assert recall_entries("notes", RESOURCES, pins) == recall_entries("notes", TOOLS, pins) == []
    many = [("notes", f"template:{number}") for number in range(MAX_TEMPLATES + 1)]
    assert len(recall_entries("notes", TEMPLATES, many)) == MAX_TEMPLATES


def list_names(directory: Directory, method: str) -> list[str]:
    key = LISTS[method].key
    return [each[key] for each in directory.describe(method, pins_of(directory))]


def pins_of(directory: Directory) -> dict[tuple[str, str], tuple[str, bool]]:
    return {(each.server, each.tool): (each.pin, True) for each in directory._named.values()}


def test_an_entry_of_one_server_has_its_own_name_and_one_of_two_begins_with_its_servers() -> None:
    entries = [
        enter("notes", PROMPTS, "greet"),
        enter("files", PROMPTS, "greet"),
        enter("files", PROMPTS, "bye"),
    ]
    found = Directory("prompts", ("notes", "files"), entries, {}, ())

    assert list_names(found, PROMPTS) == ["notes_greet", "files_greet", "bye"]
    assert list_names(found, RESOURCES) == []
    assert found.choose("bye") == (entries[2], "bye")
    assert found.choose("notes_greet") == (entries[0], "greet")
    assert found.choose("files_bye") == (entries[2], "bye")
    assert found.find("greet_") == found.find("notes") == []
    for name in ("greet", "hello", "other_bye"):
        with pytest.raises(LookupError):
            found.choose(name)


def test_a_separator_or_a_servers_name_alone_names_no_server() -> None:
    entries = [
        enter("notes", PROMPTS, "say_hi"),
        enter("files", PROMPTS, "notes"),
        enter("notes", PROMPTS, "bye"),
    ]
    found = Directory("prompts", ("notes", "files"), entries, {}, ())

    assert found.find("say_hi") == [(entries[0], "say_hi")]
    assert found.find("notes") == [(entries[1], "notes")]


def test_what_is_held_or_absent_is_not_listed() -> None:
    entries = [enter("notes", PROMPTS, "greet"), enter("files", PROMPTS, "bye")]
    found = Directory("prompts", ("notes", "files"), entries, {"files": "files does not answer."}, ())

    assert list_names(found, PROMPTS) == ["greet"]
    assert found.describe(PROMPTS, {}) == []
    with pytest.raises(LookupError, match="files does not answer"):
        found.choose("bye")
    with pytest.raises(LookupError, match="files does not answer"):
        found.choose("hello")


def test_a_name_that_begins_with_a_servers_name_means_that_server_alone() -> None:
    entries = [enter("notes", PROMPTS, "files_greet"), enter("files", PROMPTS, "files_bye")]
    found = Directory("prompts", ("notes", "files"), entries, {}, ())

    assert found.find("files_greet") == []
    assert found.find("notes") == found.find("other_files_bye") == []
    assert found.find("files_bye") == [(entries[1], "files_bye")]
    assert list_names(found, PROMPTS) == ["notes_files_greet", "files_bye"]


def test_a_template_fits_addresses_of_its_own_server() -> None:
    entries = [
        enter("notes", TEMPLATES, "note://{id}"),
        enter("notes", RESOURCES, "note://a"),
    ]
    found = Directory("resources", ("notes", "files"), entries, {}, ())

    assert found.choose("note://7") == (entries[0], "note://7")
    assert found.choose("note://a") == (entries[1], "note://a")
    assert found.choose("notes+note://7") == (entries[0], "note://7")
    for name in ("files+note://7", "file://7"):
        with pytest.raises(LookupError):
            found.choose(name)


def test_while_a_server_fails_an_address_that_only_fits_a_template_needs_its_servers_name() -> None:
    entries = [
        enter("notes", TEMPLATES, "note://{id}"),
        enter("notes", RESOURCES, "note://a"),
    ]
    found = Directory("resources", ("notes", "files"), entries, {"files": "files fails."}, ("files",))

    with pytest.raises(LookupError, match="files fails"):
        found.choose("note://7")
    assert found.choose("notes+note://7") == (entries[0], "note://7")
    assert found.choose("note://a") == (entries[1], "note://a")
