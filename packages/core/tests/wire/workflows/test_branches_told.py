"""Whoever comes back to a run, or leaves it for a new branch, hears of its other branches (W12, W20)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.surfaces import Outcome
from tests.support.workflows.kit import Payload, WorkflowClient, definition
from tests.support.workflows.library import step

from assent.engine.workflows import bundles
from assent.workflow import bundle as files


def text_of(answer: Outcome) -> str:
    return str(answer.message["result"]["content"][0]["text"])


async def investigated(client: WorkflowClient) -> tuple[Payload, Payload]:
    """A first answer, and how far a branch came from it: two steps, with a finding."""
    start = await client.start(sessionId="T-7")
    second = await client.advance(start, notesMarkdown="# Guess\nThe header is read wrongly.")
    return start, await client.advance(second, notesMarkdown="\nIndexError in sniff_header.\nLine 12.")


@pytest.mark.rule("W12", "W24")
async def test_other_notes_from_an_old_token_are_called_a_new_branch(client: WorkflowClient) -> None:
    start, far = await investigated(client)
    answer = await client.send(start, notesMarkdown="The encoding, perhaps.")
    assert [warning["code"] for warning in answer.payload["warnings"]] == ["new_branch"]
    [other] = answer.payload["branches"]
    assert (other["stepKey"], other["reached"], other["isComplete"]) == ("one", "three", False)
    assert other["notes"] == ["Guess", "IndexError in sniff_header."]
    assert other["stateToken"] == far["stateToken"]
    told = text_of(answer)
    assert "new branch" in told and "IndexError in sniff_header." in told and far["stateToken"] in told
    assert "Line 12" not in told
    again = await client.send(start, notesMarkdown="The encoding, perhaps.")
    assert again.message["result"] == answer.message["result"]
    entered = await client.rehydrate(other)
    assert entered["pending"]["stepId"] == "three" and "sniff_header" in entered["recap"]


@pytest.mark.rule("W20")
async def test_each_branch_from_here_can_be_told_apart_and_entered(client: WorkflowClient) -> None:
    start = await client.start()
    ends = [await client.advance(start, notesMarkdown=f"Attempt {n}.") for n in range(3)]
    ends[1] = await client.advance(ends[1], notesMarkdown="It went further.")
    answer = await client.ask("workflow_advance", stateToken=start["stateToken"])
    branches = answer.payload["branches"]
    assert [each["notes"] for each in branches] == [
        ["Attempt 0."],
        ["Attempt 1.", "It went further."],
        ["Attempt 2."],
    ]
    assert [each["reached"] for each in branches] == ["two", "three", "two"]
    assert [each["stateToken"] for each in branches] == [end["stateToken"] for end in ends]
    for branch in branches:
        assert branch["stateToken"] in text_of(answer) and branch["notes"][-1] in text_of(answer)
        assert not (await client.ask("workflow_advance", stateToken=branch["stateToken"])).is_error


@pytest.mark.rule("W20")
async def test_who_resumes_one_branch_hears_how_far_the_others_came(client: WorkflowClient) -> None:
    start, far = await investigated(client)
    here = await client.advance(start, notesMarkdown="The encoding, perhaps.")
    for answer in (
        await client.ask("workflow_advance", stateToken=here["stateToken"]),
        await client.ask("workflow_resume", sessionId="T-7"),
    ):
        told = answer.payload.get("resumed", answer.payload)
        assert told["stateToken"] == here["stateToken"] and told["branches"] == []
        [other] = told["otherBranches"]
        assert (other["stepKey"], other["reached"]) == ("one", "three")
        assert other["notes"] == ["Guess", "IndexError in sniff_header."]
        assert other["stateToken"] == far["stateToken"] and far["stateToken"] in text_of(answer)
    alone = await client.rehydrate(await client.start("three-steps", sessionId="alone"))
    assert "otherBranches" not in alone and alone["branches"] == []


@pytest.mark.rule("W20")
async def test_of_a_long_branch_the_first_notes_and_the_newest_five_are_told(client: WorkflowClient) -> None:
    start = at = await client.start(definition("long", *(step(f"step-{number}") for number in range(9))))
    for number in range(8):
        at = await client.advance(at, notesMarkdown=f"Found {number}.")
    answer = await client.send(start, notesMarkdown="Another way.")
    [other] = answer.payload["branches"]
    assert other["notes"] == [f"Found {number}." for number in (0, 3, 4, 5, 6, 7)]
    assert (other["reached"], other["stateToken"]) == ("step-8", at["stateToken"])


@pytest.mark.rule("W20")
async def test_a_chat_that_lost_its_tokens_can_go_back_to_an_earlier_step(client: WorkflowClient) -> None:
    start, _ = await investigated(client)
    answer = await client.ask("workflow_resume", sessionId="T-7")
    earlier = answer.payload["resumed"]["earlierSteps"]
    assert [each["title"] for each in earlier] == ["one", "two"]
    assert earlier[0]["stateToken"] == start["stateToken"] and start["stateToken"] in text_of(answer)
    back = await client.rehydrate(earlier[1])
    assert back["pending"]["stepId"] == "two" and "earlierSteps" not in back
    other = await client.send(back, notesMarkdown="The encoding, perhaps.")
    assert [warning["code"] for warning in other.payload["warnings"]] == ["new_branch"]


@pytest.mark.rule("W20", "W51")
async def test_who_resumes_sees_the_values_of_the_context_in_short(client: WorkflowClient) -> None:
    context = {"rigorMode": "QUICK", "files": ["a.py", "b.py"], "long": "word " * 200, "n": 3}
    at = await client.advance(await client.start(context=context))
    answer = await client.ask("workflow_advance", stateToken=at["stateToken"])
    told = text_of(answer)
    assert "rigorMode: QUICK" in told and 'files: ["a.py","b.py"]' in told and "n: 3" in told
    assert told.count("word ") < 40 and "context" not in answer.payload


@pytest.mark.rule("W71")
async def test_the_tokens_of_branches_in_a_kept_answer_are_those_of_the_importing_server(
    client: WorkflowClient,
) -> None:
    start, far = await investigated(client)
    content = {"notesMarkdown": "The encoding, perhaps."}
    told = await client.send(start, **content)
    app, now_ms = client.surface.app, client.surface.clock.now_ms()
    made: Any = await app.store.read(lambda: bundles.export(client.workspace_id, "T-7", now_ms))
    raw = files.write(made)
    assert far["stateToken"].encode() not in raw
    await client.surface.sign_in()
    imported = await app.store.write(
        lambda: bundles.import_session(
            client.workspace_id,
            files.read(raw),
            "d",
            app.keys.workflow_tokens,
            app.owner_services.new_id,
            now_ms,
        )
    )
    found = (await client.ask("workflow_resume", sessionId=imported.session_id)).payload["resumed"]
    [other] = found["otherBranches"]
    answers = await client.sql("SELECT answer, text FROM workflow_answers WHERE run_id = ?", imported.runs[0])
    assert [other["stateToken"] in part for row in answers for part in row] == [True, True]
    assert far["stateToken"] not in str(answers)
    assert told.payload["branches"][0]["stateToken"] == far["stateToken"] != other["stateToken"]
