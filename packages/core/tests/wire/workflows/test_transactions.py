"""A transaction touches nothing but its statements: no file, no socket, no workflow library."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.support.actions.guarded import Watched, guarded
from tests.support.workflows.kit import WorkflowClient, three_steps

from assent.engine.definitions.library import WorkflowLibrary

__all__ = ["guarded"]


@pytest.mark.usefixtures("guarded")
async def test_a_transaction_touches_nothing_but_its_statements(client: WorkflowClient) -> None:
    await used(client)
    Watched.around(client.surface.app)
    await used(client)


async def used(client: WorkflowClient) -> None:
    at = await client.start()
    for _ in range(3):
        at = await client.advance(at)
        client.write(three_steps())
        await client.rehydrate(at)
    surface = client.surface
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
                library.list_definitions()
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

    from tests.support.workflows.kit import definition
    from tests.support.workflows.library import step

    return json.dumps(definition("one", step("one", prompt=prompt)))
