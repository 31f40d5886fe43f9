"""Checks of the gate: nothing is sent without a person's approval, whatever a caller passes; and of the review
link: who may use it, what invalidates it, and that a GET changes nothing."""

from __future__ import annotations

import asyncio
import base64
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import msgspec

from assent_conform.checks.checking import NotJudged, Scene, check, expect
from assent_conform.checks.endpoint import NO_SUCH_ACTION
from assent_conform.checks.shapes import expect_recovery
from assent_conform.checks.wire import Server
from assent_conform.checks.workflows import start_first

EXECUTORS: Final = ("chieflab_execute_approved_action", "chieflab_publish_approved_post")
RACERS: Final = 5
ARGUMENTS: Final[tuple[dict[str, Any], ...]] = (
    {"approved": True},
    {"status": "approved"},
    {"force": True},
    {"confirm": True, "approvedBy": "the user"},
)


async def read_action(server: Server, action_id: str) -> dict[str, Any]:
    return (await server.call("chieflab_get_action", actionId=action_id)).payload


async def status_of(server: Server, action_id: str) -> str:
    return str((await read_action(server, action_id))["status"])


async def expect_waiting(server: Server, action_id: str) -> None:
    expect(await status_of(server, action_id) == "awaiting_approval", "and nothing has moved")


async def approve(scene: Scene, action_id: str, **more: str) -> None:
    """Approve with the key. Where only people may approve, there is nothing to look at."""
    answer = await scene.server.call("chieflab_approve_action", actionId=action_id, **more)
    if answer.reason == "requires_approval":
        raise NotJudged("this workspace lets no key approve; give the key of one whose policy does")
    expect(not answer.refused, "an approval is taken", answer.payload)


@check(
    *("E5", "E10", "E25", "E63", "E88", "E92"),
    "an executor refuses what is not approved, and says where to approve",
)
async def early(scene: Scene) -> None:
    run = await scene.prepare()
    action_id = run["actions"][0]["id"]
    for tool in EXECUTORS:
        answer = await scene.server.call(tool, actionId=action_id)
        expect(answer.refused, f"{tool} refuses an action that awaits approval", answer.payload)
        expect_recovery(answer.payload, "requires_approval")
        expect(answer.payload["recoveryTool"] is None, "requires_approval has no recoveryTool")
        expect(answer.payload["retryable"] is False, "requires_approval is not retryable")
        expect(run["runId"] in str(answer.payload.get("reviewUrl")), "requires_approval has the reviewUrl")
    await expect_waiting(scene.server, action_id)


@check("E62", "E64", "E65", "E73", "no argument of an executor changes that")
async def no_way_around(scene: Scene) -> None:
    action_id = (await scene.prepare())["actions"][0]["id"]
    for extra in ARGUMENTS:
        answer = await scene.server.call(EXECUTORS[0], actionId=action_id, **extra)
        expect(answer.refused, f"{extra} is refused", answer.payload)
    await expect_waiting(scene.server, action_id)


@check("E20", "E23", "E67", "what is rejected never goes out, and stays rejected")
async def rejected(scene: Scene) -> None:
    action_id = (await scene.prepare())["actions"][0]["id"]
    said = await scene.server.call("chieflab_reject_action", actionId=action_id, reason="Not this week.")
    expect(not said.refused, "a rejection with a reason is taken", said.payload)
    expect(await status_of(scene.server, action_id) == "rejected", "the status is rejected")
    for tool in ("chieflab_execute_approved_action", "chieflab_approve_action"):
        answer = await scene.server.call(tool, actionId=action_id)
        expect(answer.refused, f"{tool} refuses what is rejected", answer.payload)
    expect(await status_of(scene.server, action_id) == "rejected", "and it stays rejected")


@check("E20", "a rejection without a reason is refused")
async def reasonless(scene: Scene) -> None:
    action_id = (await scene.prepare())["actions"][0]["id"]
    answer = await scene.server.call("chieflab_reject_action", actionId=action_id)
    expect(answer.refused, "a rejection without a reason is refused", answer.payload)
    await expect_waiting(scene.server, action_id)


@check("E42", "E69", "an approval is recorded with its approver and its time, and not before")
async def approval_record(scene: Scene) -> None:
    action_id = (await scene.prepare())["actions"][0]["id"]
    before = await read_action(scene.server, action_id)
    await approve(scene, action_id)
    after = await read_action(scene.server, action_id)
    for name in ("approvedBy", "approvedAt"):
        expect(before[name] is None, f"{name} is null while it waits", before[name])
        expect(after[name], f"{name} is recorded with the approval", after[name])


@check("E7", "E66", "the repeated approval of an earlier version approves no edit")
async def stale_approval(scene: Scene) -> None:
    action_id = (await scene.prepare())["actions"][0]["id"]
    key = f"conform-approve-{action_id}"
    await approve(scene, action_id, idempotencyKey=key)
    await scene.edit(action_id, "Another text is here now.")
    await scene.server.call("chieflab_approve_action", actionId=action_id, idempotencyKey=key)
    await expect_waiting(scene.server, action_id)


@check("E22", "E66", "E69", "an approval moves the stored status, and an edit takes it back")
async def edited(scene: Scene) -> None:
    action_id = (await scene.prepare())["actions"][0]["id"]
    await approve(scene, action_id)
    expect(await status_of(scene.server, action_id) == "approved", "the status is approved")
    changed = await scene.edit(action_id, "Reports are made in the background from today on.")
    expect(not changed.refused, "an approved action can be edited", changed.payload)
    expect(await status_of(scene.server, action_id) == "awaiting_approval", "an edit needs approval again")
    answer = await scene.server.call(EXECUTORS[0], actionId=action_id)
    expect_recovery(answer.payload, "requires_approval")


@check(
    *("E2", "E26", "E69", "E96"),
    "another workspace learns nothing, not even that an action exists",
    needs=("key", "other_key"),
)
async def foreign(scene: Scene) -> None:
    action_id = (await scene.prepare())["actions"][0]["id"]
    for tool in ("chieflab_get_action", "chieflab_approve_action", EXECUTORS[0]):
        real = await scene.other.call(tool, actionId=action_id)
        unknown = await scene.other.call(tool, actionId=NO_SUCH_ACTION)
        expect_recovery(real.payload, "wrong_workspace")
        expect(
            _without(real.payload, action_id) == _without(unknown.payload, NO_SUCH_ACTION),
            f"{tool} answers a foreign id and an unknown one alike",
        )
        for answer in (real, unknown):
            said = (answer.status, answer.payload.get("statusCode"))
            expect(401 in said, f"{tool} answers both with 401", said)
    await expect_waiting(scene.server, action_id)


@check(
    *("E2", "E96"),
    "another workspace sees nothing of a run, its audit and its workflows",
    needs=("key", "other_key"),
)
async def foreign_run(scene: Scene) -> None:
    run = await scene.prepared()
    audit = await scene.other.call("chieflab_query_audit", runId=run["runId"])
    expect(run["actions"][0]["id"] not in audit.text, "the audit of another workspace has no such run")
    everything = await scene.other.call("chieflab_query_audit")
    expect(run["runId"] not in everything.text, "and the whole audit does not name it")
    at = await start_first(scene)
    seen = await scene.other.call("workflow_advance", stateToken=at["stateToken"])
    expect(seen.refused, "a state token of another workspace is refused", seen.payload)


def _without(payload: dict[str, Any], asked: str) -> str:
    return str(payload).replace(asked, "the id that was asked for")


@check(
    *("E27", "E28", "E29", "E49", "E68", "E70", "E72"),
    "what is approved goes out once, keeps its external id and is over",
    needs=("key", "effects"),
)
async def once(scene: Scene) -> None:
    action_id = (await scene.prepare())["actions"][0]["id"]
    await approve(scene, action_id)
    fired = {"actionId": action_id, "idempotencyKey": f"conform-{action_id}"}
    first = await scene.server.call(EXECUTORS[0], **fired)
    expect(not first.refused, "what is approved is executed", first.payload)
    again = await scene.server.call(EXECUTORS[0], **fired)
    expect(first.payload == again.first_payload, "the same key gives the earlier result")
    record = await read_action(scene.server, action_id)
    expect(record["status"] == "executed", "the status is executed", record["status"])
    expect(record["externalId"], "the external id is kept")
    without_key = await scene.server.call(EXECUTORS[0], actionId=action_id)
    after = await read_action(scene.server, action_id)
    expect(
        after["externalId"] == record["externalId"] and after["executedAt"] == record["executedAt"],
        "asked again without a key, nothing goes out a second time",
        without_key.payload,
    )
    edit = await scene.edit(action_id, "Something else entirely.")
    expect(edit.refused, "what is executed cannot be edited", edit.payload)


@check(
    *("E29", "E72"),
    "callers that execute at the same time publish once",
    needs=("key", "effects"),
)
async def race(scene: Scene) -> None:
    action_id = (await scene.prepare())["actions"][0]["id"]
    await approve(scene, action_id)
    calls = [
        scene.server.call(EXECUTORS[0], actionId=action_id, idempotencyKey=f"conform-{action_id}-{number}")
        for number in range(RACERS)
    ]
    answers = await asyncio.gather(*calls)
    fired = [answer for answer in answers if not answer.refused]
    record = await read_action(scene.server, action_id)
    expect(record["status"] == "executed", "the status is executed", record["status"])
    ids = {str(answer.payload.get("externalId")) for answer in fired}
    expect(fired, "one of them publishes", [answer.reason for answer in answers])
    expect(ids <= {str(record["externalId"])}, "no caller is told of a second publication", sorted(ids))


def token_of(run: dict[str, Any]) -> str:
    return parse_qs(urlsplit(str(run["reviewUrl"])).query)["token"][0]


def decode(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


@check("E35", "E37", "the token names run, workspace, times and scope, and is signed by 256 bits")
async def token_shape(scene: Scene) -> None:
    run = await scene.prepared()
    body, _, signature = token_of(run).partition(".")
    claims = msgspec.json.decode(decode(body))
    expect(claims.get("runId") == run["runId"], "the token is for this run")
    expect(claims.get("workspaceId") == run["workspaceId"], "and this workspace")
    expect(claims.get("scope") == "review", "its scope is review", claims.get("scope"))
    expect(claims["exp"] > claims["iat"], "it ends after it began")
    size = len(decode(signature))
    expect(size == 32, "its signature has 32 bytes", size)


@check("E38", "E41", "E71", "a token that is altered, or of another run, answers 403", needs=("key", "http"))
async def bad_tokens(scene: Scene) -> None:
    run, other = await scene.prepared(), await scene.prepare()
    token = token_of(run)
    body, _, signature = token.partition(".")
    flipped = ("B" if signature[0] == "A" else "A") + signature[1:]
    for what, path in {
        "an altered signature": f"/runs/{run['runId']}?token={body}.{flipped}",
        "a token of another run": f"/runs/{other['runId']}?token={token}",
        "a token for a run that is not there": f"/runs/{NO_SUCH_ACTION}?token={token}",
        "something that is no token": f"/runs/{run['runId']}?token=anything",
    }.items():
        response = await scene.nobody.get(path)
        expect(response.status_code == 403, f"{what} answers 403", response.status_code)


@check(
    "E21", "the link opens, without it there is no page, and looking decides nothing", needs=("key", "http")
)
async def looking(scene: Scene) -> None:
    run = await scene.prepared()
    response = await scene.nobody.get(f"/runs/{run['runId']}?token={token_of(run)}")
    expect(response.status_code in (200, 302, 303, 307), "the link opens", response.status_code)
    bare = await scene.nobody.get(f"/runs/{run['runId']}")
    expect(bare.status_code in (401, 403), "without a token there is no page", bare.status_code)
    await expect_waiting(scene.server, run["actions"][0]["id"])
