"""The same call again is the same answer; other content from an old place is a branch (W11–W28)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.support.workflows.kit import Payload, WorkflowClient, definition, three_steps
from tests.support.workflows.library import step

from assent.kernel.ids import is_uuid
from assent.workflow import tokens

pytestmark = pytest.mark.every_surface

CONTENT: Payload = {"notesMarkdown": "did it", "context": {"quantity": 3, "who": "Ada"}}


@pytest.mark.rule("W11")
async def test_a_hundred_replays_give_one_answer_and_write_nothing(client: WorkflowClient) -> None:
    at = await client.start()
    first = await client.advance(at, **CONTENT)
    before = await client.tables()
    for _ in range(100):
        assert await client.advance(at, **CONTENT) == first
    assert await client.tables() == before
    assert first["pending"]["stepId"] == "two"


@pytest.mark.rule("W11", "W16", "W18")
async def test_a_replay_says_the_same_words_whatever_was_done_after_it(client: WorkflowClient) -> None:
    """What was answered follows from where the call led, and nothing that happens there later changes that."""
    at = await client.start(definition("two", step("one"), step("two", notesOptional=False), step("three")))
    first = await client.send(at, **CONTENT)
    await client.checkpoint(first.payload, "noted")
    refused = await client.send(first.payload)
    assert refused.payload["kind"] == "blocked"
    last = await client.send(first.payload, notesMarkdown="done")
    branch = await client.send(at, notesMarkdown="another way")
    end = await client.send(last.payload, notesMarkdown="done")
    assert end.payload["isComplete"]
    before = await client.tables()
    for told, place, content in (
        (first, at, CONTENT),
        (refused, first.payload, {}),
        (last, first.payload, {"notesMarkdown": "done"}),
        (branch, at, {"notesMarkdown": "another way"}),
        (end, last.payload, {"notesMarkdown": "done"}),
    ):
        again = await client.send(place, **content)
        assert again.message["result"] == told.message["result"]
    assert await client.tables() == before


@pytest.mark.rule("W11")
async def test_a_replay_shows_the_call_of_a_step_as_it_was_shown(client: WorkflowClient) -> None:
    """The objects in it too, whatever order their keys were sent in."""
    call = {
        "tool": "chieflab_post",
        "args": {"whole": "{{what}}", "part": "{{what.inner}}", "text": "{{what}}"},
    }
    at = await client.start(definition("calling", step("one"), step("two", action=call)))
    content = {"context": {"what": {"topic": "x", "inner": {"z": 1, "a": [{"y": 1, "b": 2}]}}}}
    first = await client.send(at, **content)
    assert first.payload["pending"]["action"]["args"]["whole"] == content["context"]["what"]
    assert (await client.send(at, **content)).message["result"] == first.message["result"]


@pytest.mark.rule("W11", "W13")
async def test_twenty_equal_advances_at_once_are_one(client: WorkflowClient) -> None:
    at = await client.start()
    arguments = {"stateToken": at["stateToken"], "ackToken": at["ackToken"], **CONTENT}
    answers = await client.surface.gather(20, "workflow_advance", arguments)
    assert all(not answer.is_error for answer in answers)
    assert all(answer.payload == answers[0].payload for answer in answers)
    assert (await client.kinds(at["session"]["runId"])).count("step_acked") == 1
    assert await client.journal_holds()


@pytest.mark.rule("W12", "W24", "W25")
async def test_other_content_from_the_same_place_makes_a_branch_once_each(client: WorkflowClient) -> None:
    at = await client.start()
    bodies: list[Payload] = [{"notesMarkdown": f"try {n}"} for n in range(5)]
    bodies += [{"context": {"n": 1}}, {"output": {"kind": "other"}}, {}]
    branches = [await client.advance(at, **body) for body in bodies]
    assert len({branch["stateToken"] for branch in branches}) == len(bodies)
    assert [await client.advance(at, **body) for body in reversed(bodies)] == list(reversed(branches))
    run_id = at["session"]["runId"]
    acked = [body for kind, body in await client.events(run_id) if kind == "step_acked"]
    assert [event["parent"] for event in acked] == [0] * len(bodies)
    assert [event["branch"] for event in acked] == [False] + [True] * (len(bodies) - 1)
    # Nothing that was said on any branch is lost.
    notes = await client.sql("SELECT notes FROM workflow_nodes WHERE run_id = ? ORDER BY node", run_id)
    assert [text for (text,) in notes][1:6] == [body["notesMarkdown"] for body in bodies[:5]]
    told = await client.rehydrate(at)
    assert len(told["branches"]) == len(bodies)


@pytest.mark.rule("W24", "W67")
async def test_the_lineage_of_tokens_follows_from_the_acknowledged_steps_of_the_log(
    client: WorkflowClient,
) -> None:
    start = await client.start()
    second = await client.advance(start, notesMarkdown="one way")
    ends = [
        await client.advance(second, notesMarkdown="on"),
        await client.advance(start, notesMarkdown="other"),
    ]
    run_id = start["session"]["runId"]
    edges = [
        (body["parent"], body["node"], body["ackHash"])
        for kind, body in await client.events(run_id)
        if kind == "step_acked"
    ]
    nodes = [tokens.place(each["stateToken"], run_id).node for each in (start, second, *ends)]
    assert [(parent, child) for parent, child, _ in edges] == [
        (nodes[0], nodes[1]),
        (nodes[1], nodes[2]),
        (nodes[0], nodes[3]),
    ]
    assert len({ack for _, _, ack in edges}) == len(edges)


@pytest.mark.rule("W21")
async def test_a_workflow_runs_inside_a_step_of_another_and_hands_its_result_over(
    client: WorkflowClient,
) -> None:
    outer = await client.start(sessionId="T-9")
    client.write(three_steps("inner"))
    inner = await client.start("inner", sessionId="T-9")
    while not inner["isComplete"]:
        inner = await client.advance(inner, notesMarkdown="Inside.")
        assert (await client.rehydrate(outer))["pending"]["stepId"] == "one"
    outer = await client.advance(
        outer, context={"innerResult": "ready"}, notesMarkdown="The inner one is done."
    )
    assert outer["pending"]["stepId"] == "two"
    assert outer["session"]["sessionId"] == inner["session"]["sessionId"] == "T-9"
    assert outer["session"]["runId"] != inner["session"]["runId"]


@pytest.mark.rule("W12", "W50")
async def test_different_notes_in_every_place_are_all_kept_and_part_of_the_content(
    client: WorkflowClient,
) -> None:
    at = await client.start()
    given: Payload = {
        "notesMarkdown": "on top",
        "context": {"notesMarkdown": "beside the facts"},
        "output": {"kind": "other", "notesMarkdown": "with the output"},
    }
    told = (await client.rehydrate(second := await client.advance(at, **given)))["recap"]
    assert [told.count(text) for text in ("on top", "beside the facts", "with the output")] == [1, 1, 1]
    other = await client.advance(at, **{**given, "context": {"notesMarkdown": "otherwise"}})
    assert other["stateToken"] != second["stateToken"]
    blank = await client.advance(at, notesMarkdown=" ", context={"notesMarkdown": "not lost"})
    assert "not lost" in (await client.rehydrate(blank))["recap"]
    long = await client.send(at, notesMarkdown="short", context={"notesMarkdown": "n" * 65_537})
    assert long.reason == "validation_error"
    long = await client.send(
        at, notesMarkdown="short", output={"kind": "other", "notesMarkdown": "n" * 65_537}
    )
    assert long.reason == "validation_error"


@pytest.mark.rule("W16", "W17", "W18")
@pytest.mark.parametrize("change", ["nothing", "changed", "removed", "broken"])
async def test_the_completing_call_replays_whatever_became_of_the_file(
    client: WorkflowClient, change: str
) -> None:
    strict = definition(
        "strict",
        step("only", validationCriteria={"type": "contains", "value": "proof", "message": "Prove it."}),
    )
    at = await client.start(strict)
    done = await client.advance(at, notesMarkdown="with proof")
    assert (done["isComplete"], done["pending"], done["ackToken"]) == (True, None, None)
    path = client.folder / "strict.json"
    if change == "changed":
        client.write(
            definition(
                "strict",
                step("only", validationCriteria={"type": "contains", "value": "more", "message": "More."}),
            )
        )
    elif change == "removed":
        path.unlink()
    elif change == "broken":
        path.write_text("{")
    before = await client.tables()
    assert await client.advance(at, notesMarkdown="with proof") == done
    assert await client.tables() == before
    assert await client.reason({**done, "ackToken": at["ackToken"]}) == "token_scope_mismatch"


@pytest.mark.rule("W19")
async def test_a_start_is_repeated_only_with_its_key(client: WorkflowClient) -> None:
    first = await client.start(idempotencyKey="k", context={"a": 1})
    assert await client.start(idempotencyKey="k", context={"a": 1}) == first
    others = [await client.start(context={"a": 1}) for _ in range(2)]
    assert len({answer["session"]["runId"] for answer in (first, *others)}) == 3
    conflict = await client.ask(
        "workflow_start", workflowId="three-steps", idempotencyKey="k", context={"a": 2}
    )
    assert conflict.reason == "idempotency_conflict"
    again = await asyncio.gather(*(client.start(idempotencyKey="k2") for _ in range(8)))
    assert all(answer == again[0] for answer in again)


@pytest.mark.rule("W17", "W19")
@pytest.mark.parametrize("change", ["changed", "removed", "broken"])
async def test_a_start_with_a_key_is_repeated_whatever_became_of_the_file(
    client: WorkflowClient, change: str
) -> None:
    path = client.write(three_steps("short-lived"))
    first = await client.start("short-lived", idempotencyKey="k", context={"a": 1})
    if change == "changed":
        client.write({**three_steps("short-lived"), "name": "Another"})
    elif change == "removed":
        path.unlink()
    else:
        path.write_text("{")
    assert await client.start("short-lived", idempotencyKey="k", context={"a": 1}) == first
    other = await client.ask("workflow_start", workflowId="short-lived", idempotencyKey="k", context={"a": 2})
    assert other.reason == "idempotency_conflict"
    if change != "changed":
        for extra in ({}, {"idempotencyKey": "new"}):
            assert (await client.ask("workflow_start", workflowId="short-lived", **extra)).is_error


@pytest.mark.rule("W20")
async def test_a_state_token_alone_says_where_the_run_stands_and_writes_nothing(
    client: WorkflowClient,
) -> None:
    at = await client.start()
    second = await client.advance(at, notesMarkdown="first notes")
    third = await client.advance(second, notesMarkdown="second notes")
    await client.advance(second, notesMarkdown="another way")
    before = await client.tables()
    told = await client.rehydrate(third)
    assert (told["kind"], told["pending"]["stepId"], told["stateToken"]) == (
        "resumed",
        "three",
        third["stateToken"],
    )
    assert told["recap"].index("first notes") < told["recap"].index("second notes")
    assert told["recapOmitted"] == 0
    assert "another way" not in told["recap"]
    assert [branch["isComplete"] for branch in (await client.rehydrate(second))["branches"]] == [False, False]
    assert await client.tables() == before
    assert (await client.advance(told, notesMarkdown="x"))["isComplete"] is True


@pytest.mark.rule("W20")
async def test_a_long_recap_keeps_the_newest_and_says_how_many_are_left_out(client: WorkflowClient) -> None:
    at = await client.start(definition("long", *[step(f"step-{n}") for n in range(9)]))
    for n in range(8):
        at = await client.advance(at, notesMarkdown=f"note {n} " + "x" * 6_000)
    told = await client.rehydrate(at)
    assert len(told["recap"].encode()) <= 24 * 1024
    assert "note 7" in told["recap"] and "note 0" not in told["recap"]
    assert told["recapOmitted"] + told["recap"].count("### ") == 8


@pytest.mark.rule("W20")
async def test_notes_that_a_recap_does_not_even_read_are_counted(client: WorkflowClient) -> None:
    loop = {"type": "for", "count": 40, "maxIterations": 40}
    at = await client.start(
        definition(
            "many", {"id": "again", "title": "Again", "type": "loop", "loop": loop, "body": [step("body")]}
        )
    )
    for n in range(39):
        at = await client.advance(at, notesMarkdown=f"note-{n:02} " + "é" * 1_000 if n % 3 else "  ")
    told = await client.rehydrate(at)
    assert told["recap"].count("note-") + told["recapOmitted"] == 26
    assert "note-38" in told["recap"] and told["recapOmitted"] > 10


@pytest.mark.rule("W20", "W25")
async def test_of_many_branches_the_newest_are_named_and_the_others_counted(client: WorkflowClient) -> None:
    at = await client.start()
    for n in range(25):
        await client.advance(at, notesMarkdown=f"branch-{n:02}")
    answer = await client.ask("workflow_advance", stateToken=at["stateToken"])
    assert (len(answer.payload["branches"]), answer.payload["branchesOmitted"]) == (20, 5)
    told = answer.message["result"]["content"][0]["text"]
    assert "branch-24" in told and "branch-04" not in told and "5 older ones" in told


@pytest.mark.rule("W21")
@pytest.mark.parametrize(
    "extra", [{"output": {"kind": "x"}}, {"notesMarkdown": "x"}, {"context": {"a": 1}}], ids=str
)
async def test_content_without_an_ack_token_is_a_mistake_and_not_a_read(
    client: WorkflowClient, extra: Payload
) -> None:
    at = await client.start()
    answer = await client.ask("workflow_advance", stateToken=at["stateToken"], **extra)
    assert answer.reason == "validation_error"
    assert [problem["path"] for problem in answer.payload["problems"]] == ["ackToken"]


@pytest.mark.rule("W24", "W26")
async def test_branches_do_not_see_each_other(client: WorkflowClient) -> None:
    branching = definition(
        "branching",
        step("choose"),
        step("left", runCondition={"var": "way", "equals": "left"}),
        step("right", runCondition={"var": "way", "equals": "right"}),
        step("end", prompt="Went {{way}} and {{only}}."),
    )
    at = await client.start(branching)
    left = await client.advance(at, context={"way": "left", "only": "L"}, notesMarkdown="going left")
    right = await client.advance(at, context={"way": "right"}, notesMarkdown="going right")
    assert (left["pending"]["stepId"], right["pending"]["stepId"]) == ("left", "right")
    left_end, right_end = await client.advance(left), await client.advance(right)
    assert left_end["pending"]["prompt"].startswith("Went left and L")
    assert "Went right and L" not in right_end["pending"]["prompt"]
    assert "going left" not in (await client.rehydrate(right_end))["recap"]
    assert "going right" not in (await client.rehydrate(left_end))["recap"]


@pytest.mark.rule("W27", "W28")
async def test_the_preferred_tip_is_the_leaf_with_the_latest_event_whatever_the_clock_says(
    client: WorkflowClient,
) -> None:
    at = await client.start(sessionId="tips")
    done = await client.advance(await client.advance(await client.advance(at)))
    assert done["isComplete"] is True
    client.surface.clock.advance(hours=-5)
    other = await client.advance(at, notesMarkdown="another")

    async def tip() -> Any:
        [run] = (await client.ask("workflow_resume", sessionId="tips")).payload["runs"]
        return run["stateToken"], run["isComplete"]

    assert await tip() == (other["stateToken"], False)
    third = await client.advance(at, notesMarkdown="a third")
    assert await tip() == (third["stateToken"], False)
    await client.checkpoint(done, "the finished branch is looked at again")
    assert await tip() == (done["stateToken"], True)
    assert (await client.advance(other))["isComplete"] is False


async def test_a_run_joins_the_session_it_names_or_its_ticket_or_a_new_one(client: WorkflowClient) -> None:
    named = await client.start(sessionId="S-1", context={"ticketId": "T-1"})
    ticket = await client.start(context={"ticketId": "T-1"})
    again = await client.start(context={"ticketId": "T-1"})
    alone, other = await client.start(), await client.start()
    assert named["session"]["sessionId"] == "S-1"
    assert ticket["session"]["sessionId"] == again["session"]["sessionId"] == "T-1"
    assert alone["session"]["sessionId"] != other["session"]["sessionId"]
    runs = (await client.ask("workflow_resume", sessionId="T-1")).payload["runs"]
    assert {run["runId"] for run in runs} == {ticket["session"]["runId"], again["session"]["runId"]}
    await client.surface.sign_in()
    assert (await client.ask("workflow_resume", sessionId="T-1")).payload["runs"] == []


@pytest.mark.rule("E3")
async def test_the_run_of_a_workflow_has_a_uuid_like_every_run(client: WorkflowClient) -> None:
    run_id = (await client.start())["session"]["runId"]
    assert is_uuid(run_id)
    assert (await client.ask("chieflab_get_run", runId=run_id)).payload["runId"] == run_id


async def test_a_ticket_may_be_a_number(client: WorkflowClient) -> None:
    for _ in range(2):
        assert (await client.start(context={"ticketId": 1234}))["session"]["sessionId"] == "1234"
    assert (await client.start(context={"ticketId": True}))["session"]["sessionId"] != "True"
    assert (await client.start(context={"ticketId": " "}))["session"]["sessionId"] != " "
