"""`assent workflow` and `assent session`, as their author and their user type them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from tests.support.cli.fixtures import Assent, assent, bare_environment, data_dir, own_logging  # noqa: F401
from tests.support.processes.running import StdioClient
from tests.support.workflows.kit import definition, three_steps
from tests.support.workflows.library import step


@pytest.fixture
def folder(data_dir: Path) -> Path:  # noqa: F811
    made = data_dir / "workflows"
    made.mkdir(parents=True)
    (made / "three-steps.json").write_text(json.dumps(three_steps()))
    return made


def test_list_names_what_there_is_and_what_is_broken(assent: Assent, folder: Path) -> None:  # noqa: F811
    (folder / "bad.json").write_text("{")
    done = assent("workflow", "list", "--json")
    assert done.code == 0
    assert "three-steps" in {each["workflowId"] for each in done.data["workflows"]}
    assert [Path(each["file"]).name for each in done.data["invalid"]] == ["bad.json"]
    assert "bad.json" in done.err


def test_two_files_of_one_folder_with_one_id_are_told_to_their_author(
    assent: Assent,  # noqa: F811
    folder: Path,
    bare_environment: pytest.MonkeyPatch,  # noqa: F811
) -> None:
    again = folder / "three-steps.v2.json"
    again.write_text(json.dumps(three_steps()))
    hidden = folder / "three-steps.json"
    listed = assent("workflow", "list", "--json")
    assert listed.data["shadowed"] == [{"file": str(hidden), "by": str(again)}]
    assert f"{hidden} is not listed" in listed.err
    [report] = assent("workflow", "validate", str(hidden), "--json").data["files"]
    assert [(each["code"], each["path"]) for each in report["warnings"]] == [("duplicate_id", "$.id")]
    assert assent("workflow", "validate", str(again), "--json").data["files"][0]["warnings"] == []
    # A later folder replaces what an earlier one holds: nothing to tell.
    again.unlink()
    project = folder.parent / "project"
    project.mkdir()
    (project / "three-steps.json").write_text(json.dumps(three_steps()))
    bare_environment.setenv("ASSENT_WORKFLOW_DIRS", str(project))
    listed = assent("workflow", "list", "--json")
    assert listed.data["shadowed"] == [] and "not listed" not in listed.err


def test_validate_says_every_mistake_with_its_place_and_ends_with_1(assent: Assent, folder: Path) -> None:  # noqa: F811
    good, bad = folder / "three-steps.json", folder / "bad.json"
    bad.write_text(
        json.dumps({**three_steps("bad"), "version": 3, "steps": [{"id": "a-step"}, {"id": "a-step"}]})
    )
    assert assent("workflow", "validate", str(good)).code == 0
    done = assent("workflow", "validate", str(good), str(bad))
    assert done.code == 1
    lines = done.out.splitlines()
    assert lines[0].endswith("good") and str(bad) in lines[1]
    assert len(lines) >= 4 and all(": " in line for line in lines)
    data = assent("workflow", "validate", str(folder), "--json").data
    assert [len(report["issues"]) > 0 for report in data["files"]] == [True, False]
    assert all(issue["path"] and issue["message"] for issue in data["files"][0]["issues"])
    assert assent("workflow", "validate", str(folder / "none.json")).code == 1


def test_an_author_follows_a_workflow_at_the_terminal(
    assent: Assent,  # noqa: F811
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = folder / "asks.json"
    path.write_text(
        json.dumps(
            definition(
                "asks",
                step("write", notesOptional=False),
                step("gate", requireConfirmation=True),
                step("end"),
            )
        )
    )
    typed = ["", "my notes", "ready", "not yet", "ready", "yes", '{"context": {"a": 1}}']
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(typed) + "\n"))
    done = assent("workflow", "run", "asks")
    assert done.code == 0, done.err
    assert "Not confirmed" in done.err and "is complete" in done.err
    monkeypatch.setattr("sys.stdin", io.StringIO("notes\n"))
    assert assent("workflow", "run", str(path)).code == 1
    assert assent("workflow", "run", "no-such").code == 1


def test_what_cannot_be_taken_at_the_terminal_is_said_and_asked_for_again(
    assent: Assent,  # noqa: F811
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    typed = [
        '{"notesMarkdown": 5}',
        '{"context": 5}',
        '{"other": 5}',
        "{",
        '{"context": {"wr.x": 1}}',
        "good",
    ]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(typed) + "\n"))
    done = assent("workflow", "run", "three-steps")
    assert done.code == 1 and "[two]" in done.err and "Stopped before the end" in done.err
    assert done.err.count("> ") == len(typed) + 1 and "$.notesMarkdown" in done.err
    loop = {"type": "forEach", "items": "things", "maxIterations": 3}
    looping = {"id": "the-loop", "type": "loop", "title": "L", "loop": loop, "body": [step("inner")]}
    (folder / "looping.json").write_text(json.dumps(definition("looping", looping)))
    refused = assent("workflow", "run", "looping")
    assert refused.code == 1 and "context.things" in refused.err and "--context" in refused.err


def test_files_that_cannot_be_read_or_written_are_named(assent: Assent, tmp_path: Path) -> None:  # noqa: F811
    missing = assent("session", "import", str(tmp_path / "none.json"))
    assert missing.code == 1 and "none.json cannot be read" in missing.err and "--data-dir" not in missing.err


@pytest.mark.parametrize(("words", "kept"), [(("session", "export"), "(standard output)"),
                                             (("session", "list"), "(the local default one)")])  # fmt: skip
def test_help_says_what_is_meant_where_nothing_is_given(
    assent: Assent,  # noqa: F811
    words: tuple[str, ...],
    kept: str,
) -> None:
    done = assent(*words, "--help")
    assert kept in " ".join(done.out.replace("│", " ").split())


@pytest.mark.slow
@pytest.mark.rule("W71")
def test_a_session_goes_out_and_comes_in_again(
    assent: Assent,  # noqa: F811
    folder: Path,
    data_dir: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    with StdioClient(data_dir) as client:
        started = client.call("workflow_start", workflowId="three-steps", sessionId="S-1")
    assert started["pending"]["stepId"] == "one", started
    listed = assent("session", "list", "--json")
    assert [each["sessionId"] for each in listed.data["sessions"]] == ["S-1"]
    bundle, text = tmp_path / "s.json", tmp_path / "s.md"
    assert assent("session", "export", "S-1", "-o", str(bundle)).code == 0
    assert assent("session", "export", "S-1", "-o", str(text)).code == 0
    assert text.read_text().startswith("# Session S-1")
    again = assent("session", "import", str(bundle), "--json")
    assert again.code == 0 and again.data["sessionId"] == "S-1 (2)"
    raw = bytearray(bundle.read_bytes())
    raw[len(raw) // 2] ^= 1
    bundle.write_bytes(raw)
    refused = assent("session", "import", str(bundle))
    assert refused.code == 1 and "not imported" in refused.err
    assert assent("session", "export", "nobody").code == 1
