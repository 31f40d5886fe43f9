"""`assent workflow test`, `new` and `schema`, as an author types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.support.cli.fixtures import Assent, assent, bare_environment, data_dir, own_logging  # noqa: F401
from tests.support.workflows.kit import definition
from tests.support.workflows.library import loop, step

from assent.engine.definitions.library import load_document
from assent.workflow.definition.schema import definition_schema

CONTRACT = {
    "kind": "a.b",
    "schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    "example": {"kind": "a.b", "n": 1},
}
STEPS = [
    step("write", notesOptional=False),
    loop("rounds", [step("inner", outputContract=CONTRACT)], type="for", count=2),
    step("gate", requireConfirmation=True),
    step("end", runCondition={"var": "late", "equals": True}),
]
ROUND = {"output": {"kind": "a.b", "n": 3}}
GOOD: dict[str, Any] = {
    "write": {"notesMarkdown": "n", "context": {"late": True}},
    "inner": ROUND,
    "gate": {"decision": "approved"},
    "end": {},
}
ORDER = ["write", "rounds[1]/inner", "rounds[2]/inner", "gate", "end"]


class Author:
    """A definition and its answers on disk."""

    def __init__(self, assent: Assent, folder: Path) -> None:  # noqa: F811
        self.assent, self.folder = assent, folder
        self.file = folder / "a.json"
        self.file.write_text(json.dumps(definition("asks", *STEPS)))

    def test(self, steps: dict[str, Any], **more: Any) -> tuple[int, dict[str, Any]]:
        answers = self.folder / "given.json"
        answers.write_text(json.dumps({"steps": steps, **more}))
        done = self.assent("workflow", "test", str(self.file), "--answers", str(answers), "--json")
        assert (done.code == 0) == (done.data["problem"] is None)
        return done.code, done.data


@pytest.fixture
def author(assent: Assent, tmp_path: Path) -> Author:  # noqa: F811
    return Author(assent, tmp_path)


def keys(data: dict[str, Any]) -> list[str]:
    return [each["stepKey"] for each in data["steps"]]


def test_good_answers_reach_the_end_and_nothing_is_stored(author: Author, data_dir: Path) -> None:  # noqa: F811
    code, data = author.test(GOOD)
    assert (code, data["complete"], keys(data)) == (0, True, ORDER)
    assert data["steps"][0]["prompt"].startswith("Do write.") and data["steps"][3]["decision"] == "approved"
    assert author.test({**GOOD, "inner": [ROUND, ROUND]})[0] == 0
    (author.folder / "a.answers.yaml").write_text(json.dumps({"steps": GOOD}))
    done = author.assent("workflow", "test", str(author.file))
    assert done.code == 0 and "── gate [gate]" in done.out and "is complete after 5 step(s)" in done.out
    assert not data_dir.exists()


@pytest.mark.parametrize(
    ("change", "at", "words"),
    [
        ({"write": None}, "write", "There is no answer to write"),
        ({"write": {}}, "write", "The answer to write is refused"),
        ({"write": {"notesMarkdown": "n", "context": {"wr": 1}}}, "write", "is refused"),
        ({"inner": [ROUND]}, "rounds[2]/inner", "There is no answer to rounds[2]/inner"),
        ({"inner": {"output": {"kind": "a.b", "n": "x"}}}, "rounds[1]/inner", "This passes as output"),
        ({"inner": None}, "rounds[1]/inner", 'passes as output: {"kind":"a.b","n":1}'),
        ({"gate": {}}, "gate", "Add `decision: approved` or `decision: rejected`"),
        ({"gate": {"decision": "rejected"}}, "gate", "It was rejected and stays"),
        ({"end": None}, "end", "There is no answer to end"),
        ({"inner": [ROUND] * 3}, None, "Never asked for: steps.inner[2]."),
        ({"no-such": {}}, None, "Never asked for: steps.no-such."),
        ({"end": {"decision": "approved"}}, None, "Never asked for: steps.end.decision."),
        ({"write": {"notesMarkdown": "n"}}, None, "Never asked for: steps.end."),
    ],
)
def test_a_missing_refused_or_unasked_answer_is_named(
    author: Author, change: dict[str, Any], at: str | None, words: str
) -> None:
    steps = {name: answer for name, answer in {**GOOD, **change}.items() if answer is not None}
    code, data = author.test(steps)
    assert code == 1 and words in data["problem"]
    assert data["complete"] == (at is None)
    if at is not None:
        assert keys(data)[-1] == at


def test_a_rejection_keeps_the_step_or_lets_the_run_go_on(author: Author) -> None:
    again = [{"decision": "rejected", "reason": "no"}, {"decision": "approved"}]
    code, data = author.test({**GOOD, "gate": again})
    assert (code, [each["decision"] for each in data["steps"]]) == (
        0,
        [None, None, None, "rejected", "approved", None],
    )
    going = step("gate", requireConfirmation=True, onReject="continue")
    only_if = step("end", runCondition={"var": "wr.decisions.gate.decision", "equals": "approved"})
    author.file.write_text(json.dumps(definition("goes-on", going, only_if)))
    assert keys(author.test({"gate": {"decision": "rejected"}})[1]) == ["gate"]


def test_the_context_at_the_start_is_given_or_asked_for(author: Author) -> None:
    looping = loop("rounds", [step("inner")], type="forEach", items="things")
    author.file.write_text(json.dumps(definition("loops", looping)))
    code, data = author.test({"inner": {}})
    assert code == 1 and "It cannot start" in data["problem"] and "things" in data["problem"]
    assert author.test({"inner": {}}, context={"things": [1, 2]})[0] == 0
    assert "The context at the start is refused" in author.test({}, context={"wr": 1})[1]["problem"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.yaml", "steps: {a: {notes: x}}", "unknown field `notes`"),
        ("a.yaml", "steps: {a: {decision: maybe}}", "Write approved or rejected"),
        ("a.json", "{", "cannot be read"),
        ("a.txt", "", "They end in .json"),
        ("a.yaml", None, "There is no file"),
    ],
)
def test_an_answers_file_that_cannot_be_used_says_why(
    author: Author, name: str, text: str | None, words: str
) -> None:
    answers = author.folder / f"odd-{name}"
    if text is not None:
        answers.write_text(text)
    done = author.assent("workflow", "test", str(author.file), "--answers", str(answers))
    assert done.code == 1 and words in done.err and done.out == ""


@pytest.mark.parametrize("name", ["release-notes", "team.release", "123", "yes"])
def test_a_new_workflow_is_good_and_its_answers_pass(author: Author, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    made = author.assent("workflow", "new", name, str(folder), "--json").data
    document = load_document(Path(made["definition"]).read_bytes(), ".yaml")
    assert document["id"] == name
    jsonschema.Draft7Validator(json.loads(definition_schema())).validate(document)
    checked = author.assent("workflow", "validate", str(folder), "--json").data
    assert checked["ok"] and [each["warnings"] for each in checked["files"]] == [[]]
    assert author.assent("workflow", "test", made["definition"]).code == 0
    again = author.assent("workflow", "new", name, str(folder))
    assert again.code == 1 and "exists already" in again.err


def test_new_refuses_a_name_or_a_folder_that_cannot_be(author: Author) -> None:
    assert author.assent("workflow", "new", "No Name").code == 1
    assert author.assent("workflow", "new", "good-name", str(author.folder / "none")).code == 1


def test_the_printed_schema_is_the_served_one(author: Author) -> None:
    assert author.assent("workflow", "schema").out.encode() == definition_schema()
