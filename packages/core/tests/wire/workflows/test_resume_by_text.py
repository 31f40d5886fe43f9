"""Earlier runs are found by words as people type them, whatever the store (workflow_resume)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.workflows.kit import WorkflowClient, definition
from tests.support.workflows.library import step

NOTES = {
    "S-1": "100% sure_thing! (a+b) [x] \\ 'one' \"two\"",
    "S-2": "ÄÖÜ École, Ünïcode and 😀",
    "S-3": "plain words",
}


async def found(client: WorkflowClient, query: str) -> set[str]:
    answer = await client.ask("workflow_resume", query=query, limit=100)
    assert not answer.is_error, answer.payload
    return {run["sessionId"] for run in answer.payload["runs"]}


async def test_words_are_found_in_any_case_and_signs_mean_themselves(client: WorkflowClient) -> None:
    for session_id, notes in NOTES.items():
        at = await client.start(sessionId=session_id)
        await client.advance(at, notesMarkdown=notes)
        await client.checkpoint(at, f"checkpoint of {session_id}")
    for query in ("100%", "%", "sure_thing", "_thing!", "(a+b)", "[x]", "\\", "'one'", '"two"', "SURE_"):
        assert await found(client, query) == {"S-1"}, query
    for query in ("äöü", "ÄÖÜ", "Äöü", "école", "ÉCOLE", "ünïCODE", "😀"):
        assert await found(client, query) == {"S-2"}, query
    assert await found(client, "  PLAIN words ") == {"S-3"}
    ranked = (await client.ask("workflow_resume", query="Checkpoint of s-3")).payload["runs"]
    assert (ranked[0]["sessionId"], ranked[0]["wordsFound"]) == ("S-3", 2)
    assert {run["sessionId"] for run in ranked} == set(NOTES)
    assert await found(client, ".*") == set() == await found(client, "[a-z]") == await found(client, "_plain")
    assert await found(client, " ") == set(NOTES)


async def test_a_step_says_which_model_it_is_for(client: WorkflowClient) -> None:
    at = await client.start(definition("tiers", step("hard", modelTier="heavy"), step("easy")))
    assert at["pending"]["modelTier"] == "heavy"
    outcome = await client.send(at)
    assert "modelTier" not in outcome.payload["pending"]


@pytest.mark.rule("W59")
async def test_who_starts_a_broken_file_is_told_which_one_it_is_and_that_the_call_was_right(
    client: WorkflowClient,
) -> None:
    path = client.write({"id": "broken-one"})
    refused = await client.ask("workflow_start", workflowId="broken-one")
    assert (refused.reason, refused.payload["retryable"]) == ("workflow_invalid", False)
    told = refused.payload["userMessage"]
    assert path.name in told and str(path.parent) not in told
    assert refused.payload["problems"]


async def noted(client: WorkflowClient, session_id: str, *notes: str) -> dict[str, Any]:
    at = await client.start(sessionId=session_id)
    for each in notes:
        at = await client.advance(at, notesMarkdown=each)
    return at


async def test_runs_are_ranked_by_how_many_words_occur_wherever_they_stand(client: WorkflowClient) -> None:
    """The words of one query stand in the session, in notes and in a checkpoint."""
    at = await noted(client, "T-7", "Importing an empty file crashes.")
    await client.checkpoint(at, "The CSV reader is the culprit.")
    await noted(client, "T-8", "The CSV writer is slow.")
    await noted(client, "T-9", "Nothing to do with it.")
    for query in ("T-7 empty CSV", "t-7 EMPTY", "empty CSV", "crashes reader", "T-7"):
        answer = (await client.ask("workflow_resume", query=query)).payload
        assert answer["runs"][0]["sessionId"] == "T-7", query
        assert answer["resumed"]["stateToken"] == at["stateToken"], query
    ranked = (await client.ask("workflow_resume", query="T-7 empty CSV")).payload["runs"]
    assert [(run["sessionId"], run["wordsFound"]) for run in ranked] == [("T-7", 3), ("T-8", 1)]
    assert (ranked[0]["step"], ranked[0]["noted"]) == ("two", "Importing an empty file crashes.")
    titled = (await client.ask("workflow_resume", query="three-steps Test")).payload["runs"]
    assert {run["wordsFound"] for run in titled} == {2}


async def test_the_words_together_come_before_the_words_apart(client: WorkflowClient) -> None:
    await noted(client, "together", "an empty file")
    await noted(client, "apart", "a file that is not empty")
    assert [
        run["sessionId"] for run in (await client.ask("workflow_resume", query="empty file")).payload["runs"]
    ] == [
        "together",
        "apart",
    ]


async def test_where_nothing_fits_the_latest_runs_are_listed_with_tokens(client: WorkflowClient) -> None:
    nothing = await client.ask("workflow_resume", query="zebra")
    assert (nothing.payload["runs"], nothing.payload["latest"]) == ([], [])
    at = await noted(client, "T-7", "Importing an empty file crashes.")
    for arguments in ({"query": "zebra"}, {"sessionId": "T-70"}, {"workflowId": "other"}):
        answer = await client.ask("workflow_resume", **arguments)
        assert (answer.payload["runs"], answer.payload["resumed"]) == ([], None)
        [latest] = answer.payload["latest"]
        assert (latest["sessionId"], latest["stateToken"]) == ("T-7", at["stateToken"])
        told = answer.message["result"]["content"][0]["text"]
        assert at["stateToken"] in told and "Importing an empty file crashes." in told
    for n in range(6):
        await noted(client, f"more-{n}")
    assert len((await client.ask("workflow_resume", query="zebra")).payload["latest"]) == 5


async def test_words_that_fit_nothing_do_not_hide_the_runs_of_a_named_session(client: WorkflowClient) -> None:
    earlier = await noted(client, "T-7", "Importing an empty file crashes.")
    client.surface.clock.advance(seconds=1)
    at = await noted(client, "T-7", "The CSV writer is slow.")
    await noted(client, "T-8")
    answer = await client.ask("workflow_resume", sessionId="T-7", query="zebra")
    assert answer.payload["resumed"]["stateToken"] == at["stateToken"]
    assert {run["stateToken"] for run in answer.payload["runs"]} == {at["stateToken"], earlier["stateToken"]}
    told = answer.message["result"]["content"][0]["text"]
    assert "fits the words" in told and earlier["stateToken"] in told


async def test_the_run_that_fits_best_is_resumed_and_an_open_one_before_a_complete_one(
    client: WorkflowClient,
) -> None:
    done = await noted(client, "A", "empty file", "x", "y")
    assert done["isComplete"]
    open_one = await noted(client, "B", "empty file")
    await noted(client, "C", "file of another kind")
    resumed = (await client.ask("workflow_resume", query="empty file")).payload["resumed"]
    assert resumed["stateToken"] == open_one["stateToken"]
    alone = (await client.ask("workflow_resume", query="empty file", sessionId="A")).payload["resumed"]
    assert alone["stateToken"] == done["stateToken"]


async def test_a_search_reads_a_bounded_part_of_the_history(client: WorkflowClient) -> None:
    long = await noted(client, "long", "begins here " + "x" * 5_000 + " ends there")
    assert await found(client, "begins") == {"long"} and await found(client, "ends") == set()
    again = {"id": "again", "title": "Again", "type": "loop", "body": [step("look")]}
    loop = {"type": "for", "count": 110, "maxIterations": 200}
    at = await client.start(definition("looped", {**again, "loop": loop}), sessionId="looped")
    for n in range(105):
        at = await client.advance(at, notesMarkdown=f"round-{n:03}")
    assert await found(client, "round-104") == {"looped"} and await found(client, "round-001") == set()
    assert long["stateToken"] and await found(client, "looped") == {"looped"}
