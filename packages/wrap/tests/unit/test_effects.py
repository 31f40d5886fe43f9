"""A wrapped call, an agent's call and an acceptance as values: what is refused, and how a person reads and edits it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from assent.gate.effects import EffectType, Scene
from assent.gate.records import Effect
from assent.gate.views import Diff, Facts, Field, Severity, Table, View
from assent.kernel.limits import MAX_CONTENT_CHARS
from assent.kernel.refusals import Refusal
from assent_wrap import agent_calls, effects
from assent_wrap.agent_calls import AgentCall, AgentConnector
from assent_wrap.effects import AcceptDetails, CallDetails, CallUndo, ToolOffer

SCENE = Scene(workspace_id="ws_1", base_url="https://assent.example", connector=effects.CONNECTORS[0])


def call(details: dict[str, Any] | None = None, **arguments: Any) -> Effect:
    known = {"profile": "p1", "server": "notes", "tool": "store_note", "pin": "sha256:1"}
    return effects.make_call(CallDetails(**{**known, **(details or {})}), arguments, repeat=False)


def run(**arguments: Any) -> Effect:
    return agent_calls.make_effect(AgentCall(source="claude-code", tool="Bash"), arguments)


def show(family: EffectType, effect: Effect) -> View:
    assert family.describe is not None
    return family.describe(View(), effect, SCENE)


def the_field(family: EffectType, effect: Effect) -> Field:
    assert callable(family.fields)
    (field,) = family.fields(effect)
    return field


def find_paths(effect: Effect) -> list[str]:
    return [problem.path for problem in effects.check_call(effect)]


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("a", True),
        ("first name", True),
        ("$ref/@id.x-y_z", True),
        ("x" * effects.NAME_CHARS, True),
        ("x" * (effects.NAME_CHARS + 1), False),
        ("a:b", False),
        ("a\nb", False),
        (" a", False),
        ("a ", False),
        ("", False),
    ],
)
def test_an_argument_whose_name_could_look_like_another_one_is_refused(name: str, fits: bool) -> None:
    assert (effects.find_bad_names({name: 1}) == []) is fits
    assert (agent_calls.find_problems(run(**{name: 1})) == []) is fits


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        (effects.LARGEST_INTEGER, True),
        (effects.LARGEST_INTEGER + 1, False),
        (-effects.LARGEST_INTEGER - 1, False),
        (1e300, True),
        (True, True),
        (None, True),
        ("a\nb", True),
        ("a\0b", False),
        ("\ud7ff\ue000", True),
        ("\ud800", False),
        ("\udfff", False),
        ({"in": ["a", {"deep": "\0"}]}, False),
        ({"in": ["a", {"deep": 2}]}, True),
        ({"é": 1}, True),
        ({"é\0": 1}, False),
        ({"a\0": 1}, False),
    ],
)
def test_a_value_that_cannot_be_kept_and_shown_as_it_is_is_refused(value: Any, fits: bool) -> None:
    assert (list(effects.find_problems({"a": value})) == []) is fits


def test_a_problem_names_the_place_of_the_value() -> None:
    assert [each.path for each in effects.find_problems({"a": [0, {"b": "\0"}]})] == ["arguments.a[1].b"]


@pytest.mark.parametrize("make", [call, run])
def test_a_call_that_a_person_cannot_read_whole_is_refused(make: Callable[..., Effect]) -> None:
    check = effects.check_call if make is call else agent_calls.find_problems
    room = MAX_CONTENT_CHARS - len(make(text="x" * 1_000).body) + 1_000
    assert check(make(text="x" * room)) == []
    assert [each.got for each in check(make(text="x" * (room + 1)))] == [
        f"{MAX_CONTENT_CHARS + 1} characters"
    ]


def test_the_longest_argument_is_named_if_all_are_too_long() -> None:
    assert find_paths(call(short="x", long="x" * MAX_CONTENT_CHARS, other="yy")) == ["arguments.long"]


@pytest.mark.parametrize(("number", "fits"), [(2**53 - 1, True), (2**53 + 1, False), (float("nan"), False)])
def test_a_number_that_json_does_not_keep_is_no_argument_of_an_agents_call(number: Any, fits: bool) -> None:
    assert (agent_calls.find_problems(run(count=number)) == []) is fits


@pytest.mark.parametrize(
    ("value", "many_of_call", "many_of_run"),
    [
        ("x" * effects.LONG_CHARS, False, False),
        ("x" * (effects.LONG_CHARS + 1), True, False),
        ("x" * agent_calls.LONG_CHARS, True, False),
        ("x" * (agent_calls.LONG_CHARS + 1), True, True),
        ("a\nb", True, True),
        (10**300, False, False),
        (True, False, False),
        ({"a": 1}, True, False),
        ([1], True, False),
        (["x" * agent_calls.LONG_CHARS], True, True),
    ],
)
def test_a_long_value_gets_a_large_field(value: Any, many_of_call: bool, many_of_run: bool) -> None:
    for family, effect, many in (
        (effects.CALL_FAMILY, call(a=value), many_of_call),
        (agent_calls.FAMILY, run(a=value), many_of_run),
    ):
        field = the_field(family, effect)
        assert (field.name, field.label, field.many, field.required) == ("arguments.a", "a", many, True)


@pytest.mark.parametrize(
    ("family", "effect"), [(effects.CALL_FAMILY, call(a="")), (agent_calls.FAMILY, run(a=""))]
)
def test_an_empty_argument_may_stay_empty(family: EffectType, effect: Effect) -> None:
    assert not the_field(family, effect).required


def test_an_edit_keeps_each_argument_and_the_kind_of_its_value() -> None:
    arguments: dict[str, Any] = {
        "text": "a",
        "flag": True,
        "count": 1,
        "share": 0.5,
        "list": [1],
        "none": None,
    }
    own = effects.CALL_FAMILY.schema(call(**arguments)) if callable(effects.CALL_FAMILY.schema) else None
    agents = agent_calls.FAMILY.schema(run(**arguments)) if callable(agent_calls.FAMILY.schema) else None
    assert own is not None and agents is not None
    assert own["required"] == agents["required"] == list(arguments)
    assert own["properties"] == {name: {} for name in arguments} | {"text": {"type": "string"}}
    assert agents["properties"] == {
        "text": {"type": "string"},
        "flag": {"type": "boolean"},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "list": {},
        "none": {},
    }


@pytest.mark.parametrize(
    ("template", "arguments", "title"),
    [
        ("", {}, "Store note"),
        ("", {"n": 1, "empty": "", "path": "a.txt", "other": "b"}, "Store note: a.txt"),
        ("", {"long": "x" * (effects.LONG_CHARS + 1), "lines": "a\nb"}, "Store note"),
        ("Save {path}  as {n}", {"path": "a.txt", "n": 2}, "Save a.txt as 2"),
        ("Save {missing}", {}, "Save null"),
        ("Save {path}", {"path": "a\n{n}", "n": 2}, "Save a {n}"),
    ],
)
def test_a_call_is_named_by_its_rule_or_its_first_short_text(
    template: str, arguments: dict[str, Any], title: str
) -> None:
    assert show(effects.CALL_FAMILY, call({"title": template}, **arguments)).title == title


def test_the_words_of_a_tools_name_are_told_apart() -> None:
    assert effects.name_call("deleteAllRows_now", "", {}) == "Delete all rows now"


ROWS = [{"name": "Ada", "n": 1}, {"name": None, "more": [1]}]


@pytest.mark.parametrize(
    ("details", "arguments", "blocks"),
    [
        ({}, {}, ()),
        (
            {"command": "notes --all", "folder": "/srv", "variables": "TOKEN", "differs": "HOME"},
            {},
            (
                Facts(
                    (
                        ("Command", "notes --all"),
                        ("Folder", "/srv"),
                        ("Variables", "TOKEN"),
                        ("Differs in", "HOME"),
                    )
                ),
            ),
        ),
        ({"command": "https://notes.example"}, {}, (Facts((("Address", "https://notes.example"),)),)),
        ({"after": "text", "before": ""}, {"text": "new"}, (Diff("text", "", "new"),)),
        (
            {"after": "text", "before": "old", "as_of": "noon"},
            {"text": "new"},
            (Diff("text (present text as of noon)", "old", "new"),),
        ),
        ({"after": "text"}, {"text": "new"}, ()),
        ({"after": "text", "before": "old"}, {"text": 1}, ()),
        (
            {"table": "rows"},
            {"rows": ROWS},
            (Table("rows", ("name", "n", "more"), (("Ada", "1", ""), ("", "", "[1]"))),),
        ),
        ({"table": "rows"}, {"rows": []}, ()),
        ({"table": "rows"}, {"rows": [{"a": 1}, 2]}, ()),
        ({"table": "rows"}, {"rows": "a"}, ()),
        ({"table": "rows"}, {"rows": 7}, ()),
    ],
)
def test_a_call_shows_where_it_goes_what_it_replaces_and_its_table(
    details: dict[str, Any], arguments: dict[str, Any], blocks: tuple[Any, ...]
) -> None:
    assert show(effects.CALL_FAMILY, call(details, **arguments)).blocks == blocks


def test_a_table_has_at_most_so_many_columns() -> None:
    row = {f"c{number}": number for number in range(effects.TABLE_COLUMNS + 1)}
    (table,) = show(effects.CALL_FAMILY, call({"table": "rows"}, rows=[row])).blocks
    assert isinstance(table, Table)
    assert len(table.columns) == effects.TABLE_COLUMNS


def test_the_text_that_is_replaced_keeps_its_time_while_it_is_the_same() -> None:
    read = effects.show_present(call({"after": "text"}, text="new"), "old", 0)
    assert effects.read_details(read).before == "old"
    assert effects.show_present(read, "old", 60_000) is read
    later = effects.show_present(read, "other", 60_000)
    assert effects.read_details(later).before == "other"
    assert effects.read_details(later).as_of != effects.read_details(read).as_of
    assert effects.read_details(effects.show_present(call({"before": "old"}), "old", 0)).as_of
    hidden = effects.read_details(effects.hide_present(read))
    assert (hidden.before, hidden.as_of) == (None, "")


def test_other_arguments_hide_the_text_that_was_read_for_the_first_ones() -> None:
    read = effects.show_present(call(path="a"), "old", 0)
    assert effects.CALL_FAMILY.normalise is not None
    assert effects.read_details(effects.CALL_FAMILY.normalise(read, read)).before == "old"
    moved = effects.CALL_FAMILY.normalise(read, call(path="b"))
    assert effects.read_details(moved).before is None
    assert moved.body == call(path="b").body


@pytest.mark.parametrize("repeat", [True, False])
def test_only_a_call_that_may_be_repeated_goes_to_the_connector_that_repeats(repeat: bool) -> None:
    details = effects.read_details(call())
    made = effects.make_call(details, {}, repeat=repeat)
    assert made.connector == (effects.REPEATABLE if repeat else effects.CALL)


def offer(name: str, *, before: str = "", passes: bool = False) -> ToolOffer:
    return ToolOffer(name=name, pin=f"sha256:{name}", after="{}", before=before, passes=passes)


@pytest.mark.parametrize(
    ("tools", "more", "title", "danger", "says", "leaves_out"),
    [
        (
            [offer("a")],
            0,
            "Accept the new tool a of notes",
            "",
            ["Calls are asked about."],
            ["without asking"],
        ),
        ([offer("a", before="{}")], 0, "Accept the changed tool a of notes", "", [], ["more tools"]),
        (
            [offer("a"), offer("b", before="{}")],
            3,
            "Accept 2 new or changed tools of notes",
            "",
            ["3 more"],
            [],
        ),
        (
            [offer("a", passes=True)],
            0,
            "Calls without asking: accept the new tool a of notes",
            "Agents can then call a without asking.",
            ["Calls of a are made without asking."],
            ["asked about"],
        ),
        (
            [offer("a", passes=True), offer("b")],
            0,
            "Calls of 1 without asking: accept 2 new tools of notes",
            "Agents can then call a without asking.",
            ["All other calls are asked about."],
            [],
        ),
    ],
)
def test_an_acceptance_says_which_calls_will_not_be_asked_about(
    tools: list[ToolOffer], more: int, title: str, danger: str, says: list[str], leaves_out: list[str]
) -> None:
    details = AcceptDetails(server="notes", command="notes", folder="/srv", tools=tuple(tools), more=more)
    view = show(effects.ACCEPT_FAMILY, effects.make_acceptance(details))
    assert (view.title, view.danger) == (title, danger)
    assert all(text in view.sentence for text in says)
    assert not any(text in view.sentence for text in leaves_out)
    assert [block.label for block in view.blocks if isinstance(block, Diff)] == [
        f"Definition of {tool.name}" for tool in tools
    ]


@pytest.mark.parametrize(
    ("folder", "tools", "rows"),
    [
        ("/srv", [offer("a")], (("Command", "notes"), ("Folder", "/srv"), ("New", "a"))),
        ("", [offer("a"), offer("b", before="{}")], (("Address", "notes"), ("New", "a"), ("Changed", "b"))),
    ],
)
def test_an_acceptance_lists_new_and_changed_tools(
    folder: str, tools: list[ToolOffer], rows: tuple[tuple[str, str], ...]
) -> None:
    details = AcceptDetails(server="notes", command="notes", folder=folder, tools=tuple(tools))
    facts = show(effects.ACCEPT_FAMILY, effects.make_acceptance(details)).blocks[0]
    assert facts == Facts(rows)


def test_a_definition_is_indented_while_that_leaves_it_readable() -> None:
    room = MAX_CONTENT_CHARS - len(effects.write_definition({"name": ""}))
    assert "\n" in effects.write_definition({"name": "x" * room})
    assert "\n" not in effects.write_definition({"name": "x" * (room + 1)})


@pytest.mark.parametrize(
    ("source", "tool", "key", "risk"),
    [
        ("claude-code", "Write", "", Severity.MEDIUM),
        ("claude-code", "WriteAll", "", Severity.HIGH),
        ("langgraph", "Write", "", Severity.HIGH),
        ("claude-code", "Read:file", "", Severity.LOW),
        ("claude-code", "Bash", "laptop", Severity.LOW),
        ("claude-code", "Bash", "phone", Severity.HIGH),
    ],
)
def test_the_first_rule_that_matches_grades_an_agents_tool(
    source: str, tool: str, key: str, risk: Severity
) -> None:
    rules = ("claude-code:Write=medium", "claude-code:Read:*=low", "claude-code@laptop:*=low")
    assert AgentConnector({"agent_risks": rules}).grade(source, tool, key) is risk


@pytest.mark.parametrize("risk", list(Severity))
def test_the_settings_are_named_where_they_lower_the_risk(risk: Severity) -> None:
    effect = agent_calls.make_effect(AgentCall(source="claude-code", tool="Bash", risk=risk), {})
    why = agent_calls.FAMILY.why
    assert callable(why)
    assert ("settings" in why(effect)) is (risk is not Severity.HIGH)


@pytest.mark.parametrize(
    ("source", "name"), [("claude-code", "Claude Code"), ("my-own-agent", "My own agent")]
)
def test_an_agent_is_called_by_its_name(source: str, name: str) -> None:
    view = show(agent_calls.FAMILY, agent_calls.make_effect(AgentCall(source=source, tool="run it"), {}))
    assert (view.label, view.blocks) == (name, ())


def test_what_an_agent_says_about_a_call_is_marked_as_its_word() -> None:
    wanted = AgentCall(source="langgraph", tool="t", context={"Folder": "/srv"})
    view = show(agent_calls.FAMILY, agent_calls.make_effect(wanted, {}))
    assert view.blocks == (Facts((("The agent says: Folder", "/srv"),)),)


def test_the_verb_of_an_agents_call_has_only_plain_characters() -> None:
    effect = agent_calls.make_effect(AgentCall(source="langgraph", tool="run it; " + "x" * 100), {})
    assert effect.verb == ("run_it_" + "x" * 100)[:80]


@pytest.mark.parametrize(
    ("output", "result"),
    [
        ({"structuredContent": {"id": 7}, "content": [{"text": '{"id": 8}'}]}, {"id": 7}),
        ({"content": ["?", {"type": "image"}, {"text": '{"id": 8}'}, {"text": "{}"}]}, {"id": 8}),
        ({"content": [{"text": "stored"}]}, None),
        ({"content": None}, None),
        ({}, None),
        (None, None),
    ],
)
def test_what_a_call_answered_is_its_structured_content_or_its_first_text_as_json(
    output: Any, result: Any
) -> None:
    assert effects.read_result(output) == result


UNDO = CallUndo(
    tool="drop_note", pin="sha256:2", arguments={"id": "result.note.id", "path": "arguments.path"}
)


def answered(output: Any) -> Any:
    stored = effects.show_present(call({"undo": UNDO}, path="a.txt", text="new"), "old", 0)
    return cast(Any, SimpleNamespace(metadata={"output": output}, effect=stored))


def test_a_call_is_taken_back_by_what_it_asked_and_what_it_was_answered() -> None:
    action = answered({"structuredContent": {"note": {"id": 7}}})
    reverse = effects.CALL_FAMILY.reverse
    assert callable(reverse)
    way = reverse(action.effect)
    assert way is not None
    made = way.make(action)
    assert (made.connector, made.verb) == (effects.CALL, "drop_note")
    assert made.arguments == {"id": 7, "path": "a.txt"}
    assert reverse(call(path="a.txt")) is None


@pytest.mark.parametrize(
    "output",
    [
        {"structuredContent": {"note": {"id": 7}}, "isError": True},
        {"structuredContent": {"note": "7"}},
        {"structuredContent": {"note": {}}},
        {"structuredContent": {}},
        None,
    ],
)
def test_a_call_whose_result_does_not_say_what_to_take_back_is_not_taken_back(output: Any) -> None:
    with pytest.raises(Refusal) as refused:
        effects._make_reverse(UNDO, answered(output))
    assert [each.path for each in refused.value.recovery().problems or ()] == ["actionId"]


@pytest.mark.parametrize(
    ("name", "value", "fits"),
    [
        ("path", 2**53 - 1, True),
        ("path", 2**53, False),
        ("path", True, True),
        ("p\u0430th", "x", True),
        ("p\0th", "x", False),
    ],
)
def test_arguments_are_refused_that_programs_read_differently(name: str, value: Any, fits: bool) -> None:
    assert bool(find_paths(call(**{name: value}))) is not fits
