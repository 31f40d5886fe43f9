"""Checks of the workflow contract: tokens, replay, branches. They need no outside effect."""

from __future__ import annotations

from typing import Any, Final

from assent.conformance.checking import Failed, Scene, check, expect
from assent.conformance.shapes import WORKFLOW_ANSWER, expect_fields
from assent.conformance.wire import WireAnswer

MAX_TOKEN: Final = 64
NOTES: Final = "Looked at it, and wrote down what there was to see."


async def start_first(scene: Scene) -> dict[str, Any]:
    """Start the first listed workflow whose first step can be passed with notes."""
    listed = (await scene.server.call("workflow_list")).payload["workflows"]
    expect(listed, "workflow_list names a workflow")
    for each in listed:
        run = (await scene.server.call("workflow_start", workflowId=each["workflowId"])).payload
        probe = await advance(scene, run, NOTES)
        if not probe.refused and probe.payload.get("kind") != "blocked":
            return (await scene.server.call("workflow_start", workflowId=each["workflowId"])).payload
    raise Failed("no listed workflow has a first step that notes alone can pass, so nothing can be looked at")


async def advance(scene: Scene, at: dict[str, Any], notes: str) -> WireAnswer:
    return await scene.server.call(
        "workflow_advance", stateToken=at["stateToken"], ackToken=at["ackToken"], notesMarkdown=notes
    )


def expect_text_first(answer: WireAnswer, what: str) -> None:
    content = answer.result["content"]
    expect(len(content) == 2, what, len(content))
    expect(not content[0]["text"].lstrip().startswith("{"), "the first is text to read")


@check("W9", "W76", "start answers with short opaque tokens, and with text before data")
async def start(scene: Scene) -> None:
    listed = (await scene.server.call("workflow_list")).payload["workflows"]
    answer = await scene.server.call("workflow_start", workflowId=listed[0]["workflowId"])
    expect_fields(answer.payload, WORKFLOW_ANSWER, "the answer of workflow_start")
    for name, prefix in (("stateToken", "st.v1."), ("ackToken", "ack.v1.")):
        token = answer.payload[name]
        expect(token.startswith(prefix) and len(token) <= MAX_TOKEN, f"{name} is {prefix}… and short", token)
    expect({"sessionId", "runId"} <= set(answer.payload["session"]), "session has sessionId and runId")
    expect_text_first(answer, "there are two parts")


@check("W11", "W10", "the same advance again is the same answer")
async def replay(scene: Scene) -> None:
    at = await start_first(scene)
    first, again = await advance(scene, at, NOTES), await advance(scene, at, NOTES)
    expect(not first.refused, "an advance with notes is taken", first.payload)
    expect(first.payload == again.payload, "the same advance gives the same payload")
    expect(first.payload["stateToken"] != at["stateToken"], "and it moved on")


@check("W12", "W24", "W25", "other notes from the same place make a branch")
async def branch(scene: Scene) -> None:
    at = await start_first(scene)
    one, two = await advance(scene, at, NOTES), await advance(scene, at, f"{NOTES} This time differently.")
    expect(not two.refused, "a rewound chat can go on", two.payload)
    expect(one.payload["stateToken"] != two.payload["stateToken"], "on a branch of its own")
    expect(one.payload["session"] == two.payload["session"], "of the same run", (one.payload, two.payload))


@check("W20", "W21", "without an ackToken the step is shown again, and output is then refused")
async def rehydrate(scene: Scene) -> None:
    at = await start_first(scene)
    shown = await scene.server.call("workflow_advance", stateToken=at["stateToken"])
    expect(not shown.refused, "a state token alone shows where the run stands", shown.payload)
    expect(shown.payload["pending"]["stepId"] == at["pending"]["stepId"], "at the same step")
    refused = await scene.server.call(
        "workflow_advance", stateToken=at["stateToken"], output={"notesMarkdown": NOTES}
    )
    expect(refused.reason == "validation_error", "output without an ackToken is refused", refused.payload)


@check(
    *("W1", "W2", "W3", "W4", "W76"),
    "a token that is altered, cut, of another version or kind is refused by name",
)
async def tokens(scene: Scene) -> None:
    at = await start_first(scene)
    state, ack = at["stateToken"], at["ackToken"]
    middle = len(state) // 2
    other = "A" if state[middle] != "A" else "B"
    bad = {
        "token_bad_signature": state[:middle] + other + state[middle + 1 :],
        "token_invalid_format": state[: len(state) - 9],
        "token_unsupported_version": state.replace(".v1.", ".v9."),
    }
    for reason, token in bad.items():
        answer = await scene.server.call("workflow_advance", stateToken=token, ackToken=ack)
        expect(answer.reason == reason, f"{token} is {reason}", answer.payload)
        expect_text_first(answer, "a refusal has two parts")
    swapped = await scene.server.call("workflow_advance", stateToken=ack, ackToken=state)
    expect(
        swapped.reason == "token_scope_mismatch", "swapped tokens are token_scope_mismatch", swapped.payload
    )


@check("W41", "W42", "a checkpoint keeps notes and leaves the step where it is")
async def checkpoint(scene: Scene) -> None:
    at = await start_first(scene)
    asked = {"stateToken": at["stateToken"], "notesMarkdown": NOTES}
    first = await scene.server.call("workflow_checkpoint", **asked)
    expect(not first.refused, "a checkpoint is taken", first.payload)
    again = await scene.server.call("workflow_checkpoint", **asked)
    expect(first.payload == again.payload, "the same notes again make no second one")
    shown = await scene.server.call("workflow_advance", stateToken=at["stateToken"])
    expect(shown.payload["pending"]["stepId"] == at["pending"]["stepId"], "the step is where it was")
