"""The hash follows the meaning, routines are injected, and what is unknown is marked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.workflows.library import builtin_files, document, loop, program_of, read, step

from assent.workflow import DefinitionRefused, compile_definition, parse, pending, start
from assent.workflow.program import Ask, Repeat, UnknownFormat, decode, encode

RICH = document(
    step(
        "plan-it",
        agentRole="A careful planner.",
        guidance=["Be short."],
        runCondition={"var": "size", "not_equals": "small"},
        requireConfirmation={"kind": "human_approval", "condition": {"var": "risk", "equals": "high"}},
        promptFragments=[{"id": "more", "when": {"var": "risk", "equals": "high"}, "text": "Think twice."}],
        validationCriteria={"or": [{"type": "contains", "value": "plan", "message": "Say plan."}]},
        outputContract={"contractRef": "wr.contracts.coding_handoff", "required": False},
        assessmentRefs=["care"],
        assessmentConsequences=[
            {"when": {"anyEqualsLevel": "low"}, "effect": {"kind": "require_followup", "guidance": "Again."}}
        ],
        functionReferences=["outline()"],
        audit={"rubric": ["complete"]},
        verification={"command": "make test"},
    ),
    loop("each-item", [step("do-item", title="Do {{item}}")], type="forEach", items="items", itemVar="item"),
    {
        "id": "hand-out",
        "type": "parallel",
        "title": "Hand out",
        "parallelDelegations": [{"workflowId": "wr.routine-x", "args": {"name": "n"}, "contextMapping": {"a": "b"}}],
        "synthesis": {"prompt": "Bring it together."},
    },
    step("do-it", action={"tool": "chieflab_post", "args": {"body": "{{text}}"}}, onReject="continue"),
    metaGuidance=["Be kind."],
    preconditions=["A repository."],
    features=["wr.features.capabilities"],
    functionDefinitions=[{"name": "outline", "definition": "Headings first."}],
    assessments=[
        {
            "id": "care",
            "purpose": "Care taken.",
            "dimensions": [{"id": "care", "purpose": "p", "levels": ["low", "high"]}],
        }
    ],
    references=[{"id": "guide", "title": "Guide", "source": "G.md", "purpose": "Rules", "authoritative": True}],
    extensionPoints=[{"slotId": "design", "purpose": "p", "default": "wr.routine-design"}],
    metricsProfile="coding",
    about="All about it.",
)  # fmt: skip


def hash_of(value: Any) -> str:
    return compile_definition(parse(value, "test.json")).workflow_hash


def reordered(value: Any, order: Any) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        order.shuffle(keys)
        return {key: reordered(value[key], order) for key in keys}
    return [reordered(part, order) for part in value] if isinstance(value, list) else value


@pytest.mark.rule("W57")
@given(st.randoms(use_true_random=False), st.sampled_from([None, 1, 4]))
def test_the_hash_ignores_key_order_and_white_space(order: Any, indent: int | None) -> None:
    assert hash_of(json.loads(json.dumps(reordered(RICH, order), indent=indent))) == hash_of(RICH)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, (*path, key))
    elif isinstance(value, list):
        for n, part in enumerate(value):
            yield from leaves(part, (*path, n))
    else:
        yield path


def changed(value: Any, path: tuple[Any, ...]) -> Any:
    if not path:
        return not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else f"{value}x"
    if isinstance(value, dict):
        return {key: changed(part, path[1:]) if key == path[0] else part for key, part in value.items()}
    return [changed(part, path[1:]) if n == path[0] else part for n, part in enumerate(value)]


# Names inside the file that nothing but the file sees, and a field that only tools for authors read.
def silent(path: tuple[Any, ...]) -> bool:
    return path[0] == "extensionPoints" or (path[-3:-2] == ("promptFragments",) and path[-1] == "id")


@pytest.mark.rule("W57")
@pytest.mark.parametrize(
    "source", [RICH, *(read(path) for path in builtin_files())], ids=lambda source: source["id"]
)
def test_the_hash_changes_with_every_change_of_meaning(source: Any) -> None:
    before = hash_of(source)
    seen = {before}
    compared = 0
    for path in leaves(source):
        if silent(path):
            continue
        try:
            after = hash_of(changed(source, path))
        except DefinitionRefused:
            continue
        assert after not in seen, f"{path} does not move the hash"
        seen.add(after)
        compared += 1
    assert compared > 20


def test_every_construct_becomes_one_of_two_instructions() -> None:
    program = compile_definition(parse(RICH, "rich.json")).program
    assert [type(node) for node in program.nodes] == [Ask, Ask, Ask, Repeat, Ask, Ask, Ask, Ask]
    assert [node.id for node in program.nodes] == [
        "plan-it", "plan-it.verify", "plan-it.audit", "each-item", "do-item", "hand-out", "hand-out.synthesis", "do-it",
    ]  # fmt: skip


def test_a_stored_program_of_another_format_is_refused() -> None:
    stored = encode(program_of(step("a-step")))
    with pytest.raises(UnknownFormat):
        decode(stored.replace(b'"format":1', b'"format":9'))


ROUTINE = {
    **document(
        step("look-around", prompt="Write {deliverableName}, not {other} and not {{deliverableName}}."),
        loop("per-file", "one-file", type="forEach", items="files"),
        step("one-file"),
        metaGuidance=["Stay curious."],
    ),
    "id": "wr.routine-looking",
}
CALL = {"templateId": "wr.templates.routine.looking", "args": {"deliverableName": "FOUND.md"}}


def test_a_routine_is_injected_with_its_arguments() -> None:
    library = {"wr.routine-looking": parse(ROUTINE, "routine.json")}
    caller = document(
        step("before"),
        {"id": "call-it", "title": "Call", "templateCall": CALL, "runCondition": {"var": "go"}},
        step("after"),
    )
    program = compile_definition(parse(caller, "caller.json"), library).program
    assert [node.id for node in program.nodes] == [
        "before", "call-it.look-around", "call-it.per-file", "call-it.one-file", "after",
    ]  # fmt: skip
    first = program.nodes[1]
    assert isinstance(first, Ask)
    assert "Write FOUND.md, not {other} and not {{deliverableName}}." in first.prompt[0].text
    assert "Stay curious." in first.prompt[0].text
    assert first.when == {"var": "go"}


def test_routines_that_lead_back_to_themselves_are_refused() -> None:
    again = {**ROUTINE, "steps": [{"id": "once-more", "title": "t", "templateCall": CALL}]}
    library = {"wr.routine-looking": parse(again, "routine.json")}
    caller = parse(document({"id": "call-it", "title": "Call", "templateCall": CALL}), "caller.json")
    with pytest.raises(DefinitionRefused) as refused:
        compile_definition(caller, library)
    assert refused.value.issues[0].code == "cycle"


def test_a_workflow_whose_routines_are_too_many_is_refused() -> None:
    steps = [step(f"step-{n}") for n in range(600)]
    library = {"wr.routine-looking": parse({**ROUTINE, "steps": steps}, "routine.json")}
    calls = [{"id": f"call-{n}", "title": "Call", "templateCall": CALL} for n in range(2)]
    with pytest.raises(DefinitionRefused) as refused:
        compile_definition(parse(document(*calls), "caller.json"), library)
    assert refused.value.issues[0].code == "too_many"


@pytest.mark.parametrize(("pattern", "codes"), [(r"\d+ tests", ["ascii_only"]), ("[0-9]+ tests", [])])
def test_a_pattern_that_matches_ascii_only_is_a_warning(pattern: str, codes: list[str]) -> None:
    criterion = {"type": "regex", "pattern": pattern, "message": "Count them"}
    result = compile_definition(parse(document(step("a-step", validationCriteria=[criterion])), "odd.json"))
    assert [warning.code for warning in result.warnings] == codes


def test_what_is_unknown_is_a_warning_and_a_visible_marker() -> None:
    value = document(
        step(
            "a-step",
            promptBlocks={
                "goal": [{"kind": "text", "text": "See "}, {"kind": "ref", "refId": "wr.refs.none"}]
            },
            outputContract={"contractRef": "wr.contracts.none"},
            functionReferences=["nothing()"],
            prompt="Use {{wr.bindings.slot}}.",
        ),
        {"id": "call-it", "title": "Call", "templateCall": {"templateId": "wr.templates.none"}},
        features=["wr.features.none"],
    )
    result = compile_definition(parse(value, "odd.json"))
    assert {warning.code for warning in result.warnings} == {
        "unknown_ref", "unknown_contract", "unknown_function", "unknown_binding", "unknown_template", "unknown_feature",
    }  # fmt: skip
    shown = pending(result.program, start(result.program).snapshot)
    assert shown is not None
    for marker in (
        "reference: wr.refs.none",
        "contract: wr.contracts.none",
        "function: nothing",
        "binding: slot",
    ):
        assert f"[unknown {marker}]" in shown.prompt


def test_bindings_fill_extension_points() -> None:
    value = document(
        step("a-step", prompt="Use {{wr.bindings.design}}."),
        extensionPoints=[{"slotId": "design", "purpose": "p", "default": "wr.routine-design"}],
    )
    definition = parse(value, "bound.json")

    def prompt(**bindings: str) -> str:
        program = compile_definition(definition, bindings=bindings).program
        shown = pending(program, start(program).snapshot)
        return shown.prompt if shown else ""

    assert prompt() == "Use wr.routine-design."
    assert prompt(design="my.own") == "Use my.own."


def test_bindings_fill_titles_too() -> None:
    value = document(
        step("a-step", title="Design with {{wr.bindings.design}}"),
        extensionPoints=[{"slotId": "design", "purpose": "p", "default": "wr.routine-design"}],
    )
    assert (
        compile_definition(parse(value, "bound.json")).program.nodes[0].title
        == "Design with wr.routine-design"
    )


def test_arguments_of_a_routine_reach_its_conditions_and_leave_its_patterns_alone() -> None:
    routine = {
        **ROUTINE,
        "steps": [
            step("one-way", runCondition={"var": "area", "equals": "{area}"}),
            step("or-other", runCondition={"var": "area", "matches": "^{area}$"}),
        ],
    }
    library = {"wr.routine-looking": parse(routine, "routine.json")}
    call = {"templateId": "wr.templates.routine.looking", "args": {"area": "engine"}}
    caller = parse(document({"id": "call-it", "title": "Call", "templateCall": call}), "caller.json")
    assert [node.when for node in compile_definition(caller, library).program.nodes] == [
        {"var": "area", "equals": "engine"},
        {"var": "area", "matches": "^{area}$"},
    ]


def test_a_routine_of_an_older_library_is_found_by_its_shorter_name() -> None:
    library = {"routine-looking": parse({**ROUTINE, "id": "routine-looking"}, "routine.json")}
    caller = parse(document({"id": "call-it", "title": "Call", "templateCall": CALL}), "caller.json")
    result = compile_definition(caller, library)
    assert [(warning.code, warning.message.split('"')[3]) for warning in result.warnings] == [
        ("missing_argument", "other")
    ]
    assert result.program.nodes[0].id == "call-it.look-around"


def test_whole_numbers_may_be_written_as_fractions() -> None:
    assert hash_of(
        document(loop("the-loop", [step("inner")], type="for", count=2.0, maxIterations=5.0))
    ) == hash_of(document(loop("the-loop", [step("inner")], type="for", count=2, maxIterations=5)))


def test_prose_may_be_longer_than_the_published_numbers() -> None:
    assert parse({**document(step("a-step", prompt="x" * 20_000)), "description": "x" * 800}, "long.json")


def test_names_of_another_place_are_explained_where_they_are_used() -> None:
    known = parse({**document(step("look")), "id": "wr.routine-look-closely"}, "routine.json")
    asks = document(
        step(
            "one", prompt="Spawn a WorkRail Executor running `routine-look-closely` and `routine-elsewhere`."
        ),
        step("two", prompt="Run `wr.routine-look-closely`."),
        metaGuidance=["Use the WorkRail Executor only."],
    )
    program = compile_definition(parse(asks, "asks.json"), {known.id: known}).program
    first, second = (ask.prompt for ask in program.nodes if isinstance(ask, Ask))
    told = first[-1].text
    assert "`routine-look-closely` is the workflow `wr.routine-look-closely`" in told
    assert "`routine-elsewhere` is not installed here" in told and "helper agent of yours" in told
    assert len(second) == 1
    assert "helper agent of yours" in program.preamble[0]
