"""Earlier runs are found by words as people type them, whatever the store (workflow_resume)."""

from __future__ import annotations

import pytest
from tests.workflow.library import step
from tests.workflows.kit import Player, definition

NOTES = {
    "S-1": "100% sure_thing! (a+b) [x] \\ 'one' \"two\"",
    "S-2": "ÄÖÜ École, Ünïcode and 😀",
    "S-3": "plain words",
}


async def found(play: Player, query: str) -> set[str]:
    answer = await play.ask("workflow_resume", query=query, limit=100)
    assert not answer.is_error, answer.payload
    return {run["sessionId"] for run in answer.payload["runs"]}


async def test_words_are_found_in_any_case_and_signs_mean_themselves(play: Player) -> None:
    for session_id, notes in NOTES.items():
        at = await play.start(sessionId=session_id)
        await play.advance(at, notesMarkdown=notes)
        await play.checkpoint(at, f"checkpoint of {session_id}")
    for query in ("100%", "%", "sure_thing", "_thing!", "(a+b)", "[x]", "\\", "'one'", '"two"', "SURE_"):
        assert await found(play, query) == {"S-1"}, query
    for query in ("äöü", "ÄÖÜ", "Äöü", "école", "ÉCOLE", "ünïCODE", "😀"):
        assert await found(play, query) == {"S-2"}, query
    assert await found(play, "  PLAIN words ") == {"S-3"} == await found(play, "Checkpoint of s-3")
    assert await found(play, ".*") == set() == await found(play, "[a-z]") == await found(play, "_plain")
    assert await found(play, " ") == set(NOTES)


async def test_a_step_says_which_model_it_is_for(play: Player) -> None:
    at = await play.start(definition("tiers", step("hard", modelTier="heavy"), step("easy")))
    assert at["pending"]["modelTier"] == "heavy"
    outcome = await play.send(at)
    assert "modelTier" not in outcome.payload["pending"]


@pytest.mark.rule("W59")
async def test_who_starts_a_broken_file_is_told_which_one_it_is(play: Player) -> None:
    path = play.write({"id": "broken-one"})
    refused = await play.ask("workflow_start", workflowId="broken-one")
    assert refused.reason == "validation_error"
    assert str(path) in refused.payload["problems"][0]["expected"]
