"""A change on disk is seen by the next call, also right after another one (W55)."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.workflows.library import document, step

from assent.engine.definitions.library import WorkflowLibrary
from assent.workflow import Compiled

HOUR = 3_600


def put(folder: Path, workflow_id: str, name: str | None = None, prompt: str = "Do it.") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (name or f"{workflow_id}.json")
    path.write_text(json.dumps({**document(step("only", prompt=prompt)), "id": workflow_id}))
    return path


def settle(folder: Path, ago: float = HOUR) -> None:
    """As if nothing had been touched for a while."""
    then = time.time() - ago
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (then, then), follow_symlinks=False)


def ids(library: WorkflowLibrary, folder: Path) -> set[str]:
    catalogue = library.catalogue()
    return {workflow_id for workflow_id, file in catalogue.files.items() if file.startswith(str(folder))}


CHANGES: dict[str, tuple[Callable[[Path], object], set[str]]] = {
    "a new file": (lambda folder: put(folder, "third"), {"first", "second", "third"}),
    "a file less": (lambda folder: (folder / "first.json").unlink(), {"second"}),
    "a file in a new folder": (lambda folder: put(folder / "a" / "b", "deep"), {"first", "second", "deep"}),
    "a file in a known folder": (lambda folder: put(folder / "sub", "known"), {"first", "second", "known"}),
    "another name": (
        lambda folder: (folder / "first.json").rename(folder / "1.yaml"),
        {"first", "second"},
    ),
    "another id in the same file": (lambda folder: put(folder, "other", "first.json"), {"other", "second"}),
    "a link that leads somewhere now": (
        lambda folder: put(folder.parent / "elsewhere", "linked", "target.json"),
        {"first", "second", "linked"},
    ),
}


@pytest.mark.rule("W55")
@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_in_a_folder_is_seen_by_the_next_look(tmp_path: Path, change: str, settled: bool) -> None:
    folder = tmp_path / "workflows"
    put(folder, "first")
    put(folder, "second")
    (folder / "sub").mkdir()
    (folder / "link.json").symlink_to(tmp_path / "elsewhere" / "target.json")
    if settled:
        settle(folder)
    library = WorkflowLibrary([folder, tmp_path / "absent"])
    assert ids(library, folder) == {"first", "second"} == ids(library, folder)
    act, expected = CHANGES[change]
    act(folder)
    assert ids(library, folder) == expected == ids(library, folder)


@pytest.mark.rule("W55")
def test_a_folder_that_appears_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "workflows"
    library = WorkflowLibrary([folder])
    assert ids(library, folder) == set()
    put(folder, "first")
    assert ids(library, folder) == {"first"}


@pytest.mark.rule("W55")
@pytest.mark.parametrize("clock", [0, 123_456_789])
def test_two_changes_that_bear_one_time_are_both_seen(tmp_path: Path, clock: int) -> None:
    folder = tmp_path / "workflows"
    put(folder, "first")
    settle(folder)
    library = WorkflowLibrary([folder])
    tick_ns = time.time_ns() // 1_000_000_000 * 1_000_000_000 + clock
    for workflow_id in ("second", "third"):
        put(folder, workflow_id)
        os.utime(folder, ns=(tick_ns, tick_ns))
        assert workflow_id in ids(library, folder)


@pytest.mark.rule("W55")
def test_files_that_stay_are_listed_and_compiled_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "workflows"
    path = put(folder, "first")
    settle(folder)
    library = WorkflowLibrary([folder])
    once = library.find("first")
    listed: list[str] = []
    scandir = os.scandir

    def noted(path: str) -> Any:
        listed.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", noted)
    assert all(library.find("first") is once for _ in range(20)) and not listed
    put(folder, "first", prompt="Do it otherwise.")
    again = library.find("first")
    assert isinstance(once, Compiled) and isinstance(again, Compiled)
    assert again.workflow_hash != once.workflow_hash and str(path) in library.catalogue().files.values()


def put_caller(folder: Path) -> None:
    """A workflow that is made of a routine in another file."""
    call = {"templateId": "wr.templates.routine.look", "args": {}}
    steps = document({"id": "call-it", "title": "Call", "templateCall": call})
    (folder / "caller.json").write_text(json.dumps({**steps, "id": "caller"}))
    put(folder, "wr.routine-look", prompt="Look.")


AGAIN: dict[str, Callable[[Path], object]] = {
    "its own file": lambda folder: put(folder, "caller"),
    "the routine it is made of": lambda folder: put(folder, "wr.routine-look", prompt="Look twice."),
    "its file gone": lambda folder: (folder / "caller.json").unlink(),
    "a later file of its id": lambda folder: put(folder / "later", "caller"),
}


@pytest.mark.rule("W55")
@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize("change", AGAIN)
def test_a_run_that_goes_on_sees_what_becomes_of_its_workflow(
    tmp_path: Path, change: str, settled: bool
) -> None:
    folder = tmp_path / "workflows"
    put(folder, "other")
    put_caller(folder)
    if settled:
        settle(folder)
    library = WorkflowLibrary([folder])
    once = library.find("caller")
    assert isinstance(once, Compiled) and library.find_again("caller") is once
    AGAIN[change](folder)
    assert library.find_again("caller") == library.find("caller") != once


@pytest.fixture
def fifty(tmp_path: Path) -> Path:
    """A folder of fifty workflows that nobody has touched for a while."""
    folder = tmp_path / "workflows"
    for number in range(50):
        put(folder, f"workflow-{number}")
    settle(folder)
    return folder


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every path that is looked at from here on."""
    looked: list[str] = []
    stat = os.stat

    def noted(path: Any, **more: Any) -> os.stat_result:
        looked.append(str(path))
        return stat(path, **more)

    monkeypatch.setattr(os, "stat", noted)
    return looked


def test_a_step_costs_the_same_however_many_workflows_there_are(fifty: Path, looks: list[str]) -> None:
    library = WorkflowLibrary([fifty])
    once = library.find("workflow-7")
    looks.clear()
    assert library.find_again("workflow-7") is once
    looked = list(looks)
    assert len(looked) <= 3 and looked[-1] == str(fifty / "workflow-7.json")


@pytest.mark.rule("W59")
def test_a_name_that_is_no_text_is_told_and_the_others_are_served(tmp_path: Path) -> None:
    folder = tmp_path / "workflows"
    good, odd, bad = put(folder, "first"), b"odd-\xff.json", b"bad-\xfe.json"
    (folder / os.fsdecode(odd)).write_bytes(good.read_bytes().replace(b"first", b"odd"))
    (folder / os.fsdecode(bad)).write_text("{")
    library = WorkflowLibrary([folder])
    assert ids(library, folder) == {"first", "odd"}
    [told] = library.catalogue().invalid
    assert told.file == str(folder / "bad-\\xfe.json")
    assert json.dumps([*library.catalogue().files.values()]).encode()
    found = library.find("odd")
    assert isinstance(found, Compiled)
    (folder / os.fsdecode(odd)).write_bytes(good.read_bytes().replace(b"first", b"odd").replace(b"Do", b"To"))
    assert library.find_again("odd") != found


@pytest.mark.rule("W59")
def test_what_is_no_file_to_read_is_told_and_nothing_waits_for_it(tmp_path: Path) -> None:
    folder = tmp_path / "workflows"
    put(folder, "first")
    os.mkfifo(folder / "pipe.json")
    (folder / "nowhere.json").symlink_to(tmp_path / "absent.json")
    (folder / "device.json").symlink_to("/dev/zero")
    (folder / "folder.json").mkdir()
    with (folder / "huge.json").open("wb") as huge:
        huge.truncate(1 << 40)
    library = WorkflowLibrary([folder])
    assert ids(library, folder) == {"first"}
    told = {Path(each.file).name: each.issues[0].code for each in library.catalogue().invalid}
    assert told == {
        "pipe.json": "unreadable",
        "nowhere.json": "unreadable",
        "device.json": "unreadable",
        "folder.json": "unreadable",
        "huge.json": "too_large",
    }
    put(tmp_path, "linked", "absent.json")
    assert ids(library, folder) == {"first", "linked"}


@pytest.mark.rule("W59")
def test_a_folder_that_may_not_be_read_is_told_and_the_others_are_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "first")
    put(tmp_path / "closed", "second")
    listed = os.scandir

    def guarded(path: str) -> Any:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(os, "scandir", guarded)
    library = WorkflowLibrary([tmp_path])
    assert ids(library, tmp_path) == {"first"}
    told = {each.file: each.issues[0].code for each in library.catalogue().invalid}
    assert told == {str(tmp_path / "closed"): "unreadable"}
    monkeypatch.undo()
    assert ids(library, tmp_path) == {"first", "second"} and not library.catalogue().invalid


@pytest.mark.rule("W55")
def test_a_change_that_keeps_size_and_time_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "workflows"
    path = put(folder, "first", prompt="Do it.")
    settle(folder)
    facts = path.stat()
    library = WorkflowLibrary([folder])
    once = library.find("first")
    put(folder, "first", prompt="To do.")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    again = library.find("first")
    assert path.stat().st_size == facts.st_size and again != once
    assert library.find_again("first") is again


def test_a_file_may_stand_among_the_folders_and_endings_may_be_in_capitals(tmp_path: Path) -> None:
    alone = put(tmp_path / "alone", "alone")
    put(tmp_path / "many", "loud", "LOUD.JSON")
    library = WorkflowLibrary([alone, tmp_path / "many"])
    assert ids(library, tmp_path) == {"alone", "loud"}
    put(tmp_path / "alone", "renamed", "alone.json")
    assert ids(library, tmp_path) == {"renamed", "loud"}
    alone.unlink()
    assert ids(library, tmp_path) == {"loud"}


def test_a_list_looks_at_each_file_once_however_many_there_are(fifty: Path, looks: list[str]) -> None:
    library = WorkflowLibrary([fifty])
    library.list_definitions()
    looks.clear()
    catalogue, refused = library.list_definitions()
    looked = list(looks)
    assert len(catalogue.definitions) >= 50 and refused == () and len(looked) <= 60


def test_a_folder_may_be_named_from_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    put(tmp_path / "mine", "first")
    assert ids(WorkflowLibrary([Path("~/mine")]), tmp_path) == {"first"}


def test_a_library_that_several_threads_use_answers_each_of_them(tmp_path: Path) -> None:
    library, faults = WorkflowLibrary([tmp_path]), list[BaseException]()
    put(tmp_path, "one")

    def look() -> None:
        try:
            for _ in range(150):
                library.find_again("one")
                library.list_definitions()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(60):
        put(tmp_path, "one", prompt=f"text {number}")
        library.find_again("one")
    for thread in threads:
        thread.join()

    assert faults == []
