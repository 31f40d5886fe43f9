"""Checks of prepare: the answer, and that it has no outside effect."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qs, urlsplit

from assent_conform.checks.checking import NotJudged, Scene, check, expect
from assent_conform.checks.gate import read_action
from assent_conform.checks.profiles import EVIDENCE, GOAL
from assent_conform.checks.shapes import (
    ACTION,
    ASSET,
    GUIDE,
    PREFLIGHT,
    PREPARED,
    RECORD,
    STATUSES,
    UUID,
    expect_fields,
    expect_recovery,
)

CONTEXT_FIELDS: Final = (
    *("whatChanged", "recentCommits", "changedFiles", "routes", "readme"),
    *("targetCustomer", "launchGoal"),
)
LEAKS: Final = ("system prompt", "you are an ai", "you are a helpful", "[mode:", "mode=context", "frame:")


@check("E12", "E13", "E46", "prepare returns the whole shape, and every action waits for approval")
async def prepared_shape(scene: Scene) -> None:
    run = await scene.prepared()
    expect_fields(run, PREPARED, "a prepared run")
    expect(run["assets"] and run["actions"], "a post has an asset and an action")
    for asset in run["assets"]:
        expect_fields(asset, ASSET, "an asset")
    for action in run["actions"]:
        expect_fields(action, ACTION, "an action")
        expect(action["status"] == "awaiting_approval", "an action awaits approval", action["status"])


@check("E44", "the preflight has every field")
async def preflight(scene: Scene) -> None:
    for action in (await scene.prepared())["actions"]:
        expect_fields(action["preflight"], PREFLIGHT, "the preflight")


@check("E24", "E44", "a channel without an account is staged with what is missing", needs=("key", "launch"))
async def unready(scene: Scene) -> None:
    answer = await scene.server.call("chieflab_post", channel="linkedin", goal=GOAL, repoContext=EVIDENCE)
    expect(not answer.refused, "a post for LinkedIn is prepared", answer.payload or answer.text)
    preflight = answer.payload["actions"][0]["preflight"]
    if preflight["connectorReady"] is True:
        raise NotJudged("this workspace has an account for LinkedIn")
    for name in ("connectorBlocker", "connectorFixHint"):
        expect(preflight[name], f"{name} says what is missing", preflight[name])


@check("E14", "E15", "the guide for the agent is whole, and both stop rules are one")
async def guide(scene: Scene) -> None:
    run = await scene.prepared()
    expect_fields(run["agentGuide"], GUIDE, "agentGuide")
    calls = run["agentGuide"]["nextToolCalls"]
    expect({"primary", "fallback"} <= set(calls), "nextToolCalls has primary and fallback", sorted(calls))
    expect(run["stopRule"] == run["agentGuide"]["stopRule"], "stopRule equals agentGuide.stopRule")


@check("E18", "E19", "E48", "what is shown in the chat is the content itself")
async def readable(scene: Scene) -> None:
    shown = (await scene.prepared())["agentGuide"]["renderInChat"]
    expect(shown, "renderInChat shows a channel")
    for channel, card in shown.items():
        body = card["body"]
        expect(isinstance(body, str) and body.strip(), f"{channel} has a body to read")
        found = [leak for leak in LEAKS if leak in body.lower()]
        expect(not found, f"the body for {channel} holds no prompt and no frame", found)


@check("E74", "agentDependency names the approval state among six items")
async def dependency(scene: Scene) -> None:
    items = (await scene.prepared())["agentGuide"]["agentDependency"]
    expect(len(items) == 6, "agentDependency has six items", len(items))
    expect(any("approval state" in str(item).lower() for item in items), "one of them is the approval state")


@check("E6", "E34", "a run with pending actions has a review URL of the named form")
async def review_url(scene: Scene) -> None:
    run = await scene.prepared()
    parts = urlsplit(run["reviewUrl"])
    expect(parts.path.endswith(f"/runs/{run['runId']}"), "reviewUrl ends in /runs/{runId}", parts.path)
    expect(len(parse_qs(parts.query).get("token", [])) == 1, "and carries one token")


@check("E3", "E4", "E42", "E43", "E61", "run, asset and action are stored under UUIDs with the audit record")
async def stored(scene: Scene) -> None:
    run = await scene.prepared()
    action = run["actions"][0]
    for name, found in (("runId", run["runId"]), ("an asset's id", run["assets"][0]["id"])):
        expect(UUID.fullmatch(found), f"{name} is a UUID", found)
    record = await read_action(scene.server, action["id"])
    expect_fields(record, RECORD, "a stored action")
    expect(record["runId"] == run["runId"], "the action knows its run")
    expect(
        record["type"] == f"{action['channel']}_{scene.profile.action_verb}",
        "type is channel_verb",
        record["type"],
    )
    expect(record["status"] in STATUSES, "the status is one of six", record["status"])


@check("E7", "the same idempotency key gives the same run, and other arguments are refused")
async def idempotent(scene: Scene) -> None:
    run = await scene.prepared()
    key = f"conform-{run['runId']}"
    first = await scene.stage(idempotencyKey=key)
    again = await scene.stage(idempotencyKey=key)
    expect(first.payload.get("runId"), "an action with a key is prepared", first.text)
    expect(first.payload == again.first_payload, "the same key and arguments give the same answer")
    another = {scene.profile.text_argument: "Something else entirely."}
    changed = await scene.stage(idempotencyKey=key, **another)
    expect(changed.refused, "the same key with other arguments is refused", changed.payload.get("runId"))


@check("E11", "E13", "E46", "an e-mail is staged with its text, and waits", needs=("key", "launch"))
async def email(scene: Scene) -> None:
    text = "Reports are made in the background since Tuesday."
    answer = await scene.server.call(
        "chieflab_send", to=["ada@example.org"], subject="Reports in the background", body=text
    )
    run = answer.payload
    expect(not answer.refused, "an e-mail is prepared", run or answer.text)
    expect_fields(run, PREPARED, "a prepared e-mail")
    expect_fields(run["actions"][0], ACTION, "an action")
    expect(text in str(run["assets"]), "the asset has the text", run["assets"])
    record = await read_action(scene.server, run["actions"][0]["id"])
    expect(record["status"] == "awaiting_approval", "an e-mail awaits approval", record["status"])
    expect(record["executedAt"] is None, "and is not sent", record["executedAt"])


@check("E99", "E100", "a run of which nothing was sent has no numbers", needs=("key", "launch"))
async def no_numbers(scene: Scene) -> None:
    answer = await scene.server.call("chieflab_measure", runId=(await scene.prepared())["runId"])
    expect_recovery(answer.payload, "measurement_unavailable")


@check("E11", "E101", "a launch stages effects and fires none", needs=("key", "launch"))
async def launch(scene: Scene) -> None:
    answer = await scene.server.call(
        "chieflab_launch_product", goal=GOAL, channels=["site", "hn"], repoContext=EVIDENCE
    )
    run = answer.payload
    expect(not answer.refused, "a launch with evidence is prepared", run)
    expect_fields(run, PREPARED, "a launch")
    expect(run.get("externalActionsExecuted") == 0, "externalActionsExecuted is 0")
    expect(run.get("sideEffectsPreparedButNotFired"), "sideEffectsPreparedButNotFired names what waits")
    for name in ("approvalStateMachine", "agentUsefulness", "launchPack", "publishActions"):
        expect(run.get(name), f"a launch returns {name}")


@check("E95", "a launch with nothing to go on names the seven fields it needs", needs=("key", "launch"))
async def nothing_to_go_on(scene: Scene) -> None:
    answer = await scene.server.call("chieflab_launch_product", goal=GOAL)
    expect_recovery(answer.payload, "missing_repo_context")
    missing = [name for name in CONTEXT_FIELDS if name not in answer.text]
    expect(not missing, "the refusal names every field", missing)


@check("E45", "the audit can be read for the workspace and for one run")
async def audit(scene: Scene) -> None:
    run = await scene.prepared()
    of_run = (await scene.server.call("chieflab_query_audit", runId=run["runId"])).payload
    expect(run["actions"][0]["id"] in str(of_run), "the audit of the run holds its action")
    everything = await scene.server.call("chieflab_query_audit")
    expect(not everything.refused, "the audit of the workspace can be read", everything.payload)


@check(
    "E89",
    "a launch and a diagnosis take a webhookUrl, and refuse one that leads inside",
    needs=("key", "launch"),
)
async def webhooks(scene: Scene) -> None:
    inside = {"webhookUrl": "https://169.254.169.254/latest/meta-data"}
    launch = {"goal": GOAL, "channels": ["site"], "repoContext": EVIDENCE}
    for tool, arguments in (("chieflab_launch_product", launch), ("chieflab_diagnose_marketing", {})):
        answer = await scene.server.call(tool, **arguments, **inside)
        expect_recovery(answer.payload, "validation_error")
        paths = [str(problem.get("path")) for problem in answer.payload.get("problems", [])]
        expect(paths == ["webhookUrl"], f"{tool} says that the webhookUrl is to blame", paths)


@check(
    "E46",
    "E100",
    "a diagnosis has the whole shape, and no finding without number, source and time",
    needs=("key", "launch"),
)
async def diagnosis(scene: Scene) -> None:
    answer = await scene.server.call("chieflab_diagnose_marketing", goal=GOAL)
    expect(not answer.refused, "a diagnosis is given", answer.payload)
    expect_fields(answer.payload, PREPARED, "a diagnosis")
    expect(answer.payload["actions"] == [], "a diagnosis stages nothing", answer.payload["actions"])
    found = answer.payload.get("diagnosis")
    expect(isinstance(found, dict), "the reply has a diagnosis", found)
    for finding in found["findings"] if isinstance(found, dict) else []:
        for name in ("numbers", "source", "readAt"):
            expect(finding.get(name), f"a finding has its {name}", finding)
