"""Checks of the workflow contract: tokens, replay, branches. They need no outside effect."""

from __future__ import annotations

from typing import Any, Final

from assent_conform.checks.checking import Failed, Scene, check, expect
from assent_conform.checks.shapes import WORKFLOW_ANSWER, expect_fields
from assent_conform.checks.wire import WireAnswer

MAX_TOKEN: Final = 64
MAX_NOTES_BYTES: Final = 65_536
MAX_CONTEXT_BYTES: Final = 262_144
MAX_DEPTH: Final = 64
RESERVED: Final = ("__proto__", "constructor", "prototype", "wr.step")
MARKER: Final = "marker-of-the-conformance-run"
NOTES: Final = "Looked at it, and wrote down what there was to see."


async def start_first(scene: Scene) -> dict[str, Any]:
    """Start the first listed workflow whose first step can be passed with notes."""
    scene.walkable = scene.walkable or await _find_walkable(scene)
    answer = await scene.server.call("workflow_start", workflowId=scene.walkable)
    expect(not answer.refused, "a listed workflow can be started", answer.payload or answer.text)
    return answer.payload


async def _find_walkable(scene: Scene) -> str:
    listed = (await scene.server.call("workflow_list")).payload["workflows"]
    expect(listed, "workflow_list names a workflow")
    for each in listed:
        run = (await scene.server.call("workflow_start", workflowId=each["workflowId"])).payload
        probe = await advance(scene, run, NOTES)
        if not probe.refused and probe.payload.get("kind") != "blocked":
            return str(each["workflowId"])
    raise Failed("no listed workflow has a first step that notes alone can pass, so nothing can be looked at")


async def advance(scene: Scene, at: dict[str, Any], notes: str, **more: Any) -> WireAnswer:
    tokens = {"stateToken": at["stateToken"], "ackToken": at["ackToken"]}
    return await scene.server.call("workflow_advance", **tokens, notesMarkdown=notes, **more)


def expect_text_first(answer: WireAnswer, what: str) -> None:
    expect(not answer.result["content"][0]["text"].lstrip().startswith("{"), what)
    expect(bool(answer.payload), "and data beside it")


@check("W9", "W76", "start answers with short opaque tokens, and with text before data")
async def start(scene: Scene) -> None:
    listed = (await scene.server.call("workflow_list")).payload["workflows"]
    answer = await scene.server.call("workflow_start", workflowId=listed[0]["workflowId"])
    expect_fields(answer.payload, WORKFLOW_ANSWER, "the answer of workflow_start")
    for name, prefix in (("stateToken", "st.v1."), ("ackToken", "ack.v1.")):
        token = answer.payload[name]
        expect(token.startswith(prefix) and len(token) <= MAX_TOKEN, f"{name} is {prefix}… and short", token)
    expect({"sessionId", "runId"} <= set(answer.payload["session"]), "session has sessionId and runId")
    expect_text_first(answer, "the first part is text to read")


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
        expect_text_first(answer, "a refusal is text to read")
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


@check("W43", "W46", "two different checkpoints are both kept, and shown when the run goes on")
async def checkpoints(scene: Scene) -> None:
    at = await start_first(scene)
    kept = ("The first of two notes.", "The second of two notes.")
    for notes in kept:
        await scene.server.call("workflow_checkpoint", stateToken=at["stateToken"], notesMarkdown=notes)
    shown = await scene.server.call("workflow_advance", stateToken=at["stateToken"])
    missing = [notes for notes in kept if notes not in shown.text]
    expect(not missing, "the recap has both notes", missing)


@check("W2", "what is no token at all is refused by name", writes=False)
async def no_tokens(scene: Scene) -> None:
    for text in ("", "anything", "st.v1.", "st.v1.short"):
        answer = await scene.server.call("workflow_advance", stateToken=text)
        expect(answer.reason == "token_invalid_format", f"{text!r} is token_invalid_format", answer.payload)


@check("W5", "an ackToken of another run is refused")
async def foreign_ack(scene: Scene) -> None:
    at, other = await start_first(scene), await start_first(scene)
    answer = await advance(scene, {**at, "ackToken": other["ackToken"]}, NOTES)
    expect(
        answer.reason == "token_scope_mismatch",
        "an ackToken of another run is token_scope_mismatch",
        answer.payload,
    )


@check("W19", "a start with the same key is one run, and two without a key are two")
async def starts(scene: Scene) -> None:
    one, two = await start_first(scene), await start_first(scene)
    runs = [at["session"]["runId"] for at in (one, two)]
    expect(runs[0] != runs[1], "two starts without a key are two runs", runs)
    asked = {"workflowId": scene.walkable, "idempotencyKey": f"conform-{runs[0]}"}
    first = await scene.server.call("workflow_start", **asked)
    again = await scene.server.call("workflow_start", **asked)
    expect(first.payload.get("stateToken"), "a start with a key is taken", first.payload)
    expect(first.first_payload == again.first_payload, "the same key is the same run", again.payload)


@check("W47", "W48", "W50", "notes and context that are too long are refused, and the step stays")
async def too_long(scene: Scene) -> None:
    at = await start_first(scene)
    long_notes = await advance(scene, at, "n" * (MAX_NOTES_BYTES + 1))
    expect(long_notes.reason == "validation_error", "notes of 65,537 bytes are refused", long_notes.payload)
    # As characters this is within the bound, as bytes it is not.
    long_context = await advance(scene, at, NOTES, context={"a": "ü" * (MAX_CONTEXT_BYTES // 2)})
    expect(long_context.refused, "a context of more than 262,144 bytes is refused", long_context.payload)
    expect(str(MAX_CONTEXT_BYTES) in long_context.text, "with the allowed bytes", long_context.payload)
    expect(not (await advance(scene, at, NOTES)).refused, "the step can still be passed")


@check("W49", "W53", "a reserved name and a context nested too deep are refused, and the step stays")
async def bad_context(scene: Scene) -> None:
    at = await start_first(scene)
    deep: dict[str, Any] = {}
    for _ in range(MAX_DEPTH + 1):
        deep = {"a": deep}
    for context in ({name: 1} for name in RESERVED):
        answer = await advance(scene, at, NOTES, context=context)
        expect(answer.reason == "validation_error", f"{context} is refused", answer.payload)
    expect((await advance(scene, at, NOTES, context=deep)).refused, "65 levels are refused")
    expect(not (await advance(scene, at, NOTES)).refused, "the step can still be passed")


@check("W51", "an answer does not repeat the context of its call")
async def echo(scene: Scene) -> None:
    at = await start_first(scene)
    answer = await advance(scene, at, NOTES, context={"conformMarker": MARKER})
    expect(not answer.refused, "an advance with context is taken", answer.payload)
    expect(MARKER not in answer.text, "the answer does not hold the context")
