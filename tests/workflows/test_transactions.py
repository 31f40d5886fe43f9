"""A transaction touches nothing but its statements: no file, no socket, no workflow library."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.gate.trace import Traced
from tests.workflows.kit import Player, three_steps

from assent.ports import Begin, Rows, Transaction
from assent.workflow_library import WorkflowLibrary

_inside = threading.local()


class Watched(Traced):
    """Knows when the code of a transaction runs, on whatever thread that is."""

    def _followed(self, mode: str, begin: Begin[Any]) -> Transaction[Any]:
        with _within():
            transaction = begin()
        rows: Rows | None = None
        while True:
            try:
                with _within():
                    bound = next(transaction) if rows is None else transaction.send(rows)
            except StopIteration as end:
                return end.value
            rows = yield bound


@contextmanager
def _within() -> Iterator[None]:
    _inside.now = True
    try:
        yield
    finally:
        _inside.now = False


def refusing(name: str, touch: Callable[..., Any]) -> Callable[..., Any]:
    def judged(*args: Any, **kwargs: Any) -> Any:
        assert not getattr(_inside, "now", False), f"{name} within a transaction"
        return touch(*args, **kwargs)

    return judged


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name in (
        (os, "stat"),
        (os, "scandir"),
        (os, "open"),
        (socket, "create_connection"),
        (WorkflowLibrary, "shelf"),
        (WorkflowLibrary, "find"),
        (WorkflowLibrary, "find_again"),
    ):
        monkeypatch.setattr(owner, name, refusing(name, getattr(owner, name)))


@pytest.mark.usefixtures("guarded")
async def test_a_transaction_touches_nothing_but_its_statements(play: Player) -> None:
    await used(play)
    Watched.around(play.surface.app)
    await used(play)


async def used(play: Player) -> None:
    at = await play.start()
    for _ in range(3):
        at = await play.advance(at)
        play.write(three_steps())
        await play.rehydrate(at)
    surface = play.surface
    for tool, given in (
        ("workflow_resume", {"workflowId": "three-steps"}),
        ("workflow_list", {}),
        ("chieflab_status", {}),
        ("chieflab_list_pending_actions", {}),
    ):
        done = await surface.call(tool, given)
        assert not done.is_error, done.payload
    posted = await surface.call(
        "chieflab_post", {"channel": "site", "title": "Hi", "body": "We made a thing."}
    )
    action_id = posted.payload["publishAction"]["id"]
    for tool, given in (
        ("chieflab_edit_action", {"body": "We made a small thing."}),
        ("chieflab_reject_action", {"reason": "Not now."}),
    ):
        done = await surface.call(tool, {"actionId": action_id, **given})
        assert not done.is_error, done.payload


def test_a_library_that_several_threads_use_answers_each_of_them(tmp_path: Path) -> None:
    library, faults = WorkflowLibrary([tmp_path]), list[BaseException]()
    path = tmp_path / "one.json"
    path.write_text(_one("first"))

    def look() -> None:
        try:
            for _ in range(150):
                library.find_again("one")
                library.listing()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(60):
        path.write_text(_one(f"text {number}"))
        library.find_again("one")
    for thread in threads:
        thread.join()

    assert faults == []


def _one(prompt: str) -> str:
    import json

    from tests.workflow.library import step
    from tests.workflows.kit import definition

    return json.dumps(definition("one", step("one", prompt=prompt)))
