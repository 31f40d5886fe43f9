"""Servers that break the contract, each in one way, and the checks that have to notice it: these and no others.

Some alter what the real server says. The dangerous ones really do what they must not: they approve on their own, take
one workspace for another, or forget what they were asked before.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
from tests.support.conformance.proxy import (
    Asked,
    Forward,
    Handler,
    Told,
    When,
    altered,
    calls,
    changed,
    edited,
    replaced,
    says,
    status,
    without,
)

APPROVE, REJECT, EDIT = "chieflab_approve_action", "chieflab_reject_action", "chieflab_edit_action"
EXECUTE, PUBLISH, GET = (
    "chieflab_execute_approved_action",
    "chieflab_publish_approved_post",
    "chieflab_get_action",
)
POST, LAUNCH, SEND, AUDIT = (
    "chieflab_post",
    "chieflab_launch_product",
    "chieflab_send",
    "chieflab_query_audit",
)
LIST, MEASURE, DIAGNOSE = "chieflab_list_connectors", "chieflab_measure", "chieflab_diagnose_marketing"
START, ADVANCE, CHECKPOINT = "workflow_start", "workflow_advance", "workflow_checkpoint"

Keys = tuple[str, str]


@dataclass(frozen=True)
class BrokenServer:
    """A defect in words, the rule that it breaks, and the names of the checks that fail because of it."""

    defect: str
    rule: str
    fails: frozenset[str]
    make: Callable[[Keys], Handler]


def broken(
    defect: str,
    rule: str,
    *fails: str,
    by: Handler | None = None,
    make: Callable[[Keys], Handler] | None = None,
) -> BrokenServer:
    if by is not None:
        make = lambda keys: by  # noqa: E731 - one that keeps no state is the same for every run
    assert make is not None
    return BrokenServer(defect, rule, frozenset(fails), make)


def set_field(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda payload: payload.update({name: value})


# ── Discovery and messages ────────────────────────────────────────────────────────────────────


TOOL_LIST = says('"tools/list"')


def tools_changed(change: Callable[[list[dict[str, Any]]], Any], when: When = TOOL_LIST) -> Handler:
    def alter(told: Told) -> Told:
        message = told.message
        if "result" in message:
            change(message["result"]["tools"])
        return told.with_message(message)

    return altered(alter, when)


def find_tool(tools: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(tool for tool in tools if tool["name"] == name)


def is_modern(asked: Asked) -> bool:
    return '"tools/list"' in asked.line and "2026-07-28" in asked.line


def write_ids_as_text(told: Told) -> Told:
    message = told.message
    return told.with_message({**message, "id": str(message["id"])}) if message.get("id") is not None else told


def take_any_key(keys: Keys) -> Handler:
    return changed(lambda asked: asked.with_key(keys[0]), lambda asked: asked.key not in (None, *keys))


def need_no_key(keys: Keys) -> Handler:
    return changed(
        lambda asked: asked.with_key(keys[0]), lambda asked: asked.key is None and asked.tool == GET
    )


def limit_without_time(keys: Keys) -> Handler:
    """Refuse one call of the run, and say not for how long."""
    refused: list[Asked] = []
    recovery = {
        "ok": False,
        "reason": "rate_limited",
        "summaryForUser": "Too many calls.",
        "userMessage": "Too many calls.",
        "fixActionForAgent": "Wait.",
        "recoveryTool": None,
        "retryable": True,
        "stopRule": None,
    }

    async def handle(asked: Asked, forward: Forward) -> Told:
        if asked.tool != AUDIT or refused:
            return await forward(asked)
        refused.append(asked)
        error = {"code": -32000, "message": "Too many calls.", "data": recovery}
        text = msgspec.json.encode({"jsonrpc": "2.0", "id": asked.message["id"], "error": error}).decode()
        return Told(429, text, {"content-type": "application/json"})

    return handle


ENDPOINT = (
    broken(
        "the two discovery documents differ",
        "E76",
        "discovery",
        by=replaced('"transports":', '"carriers":', says("GET /api/mcp")),
    ),
    broken(
        "an operator is missing in discovery",
        "E59",
        "operators",
        by=replaced("chieflab-brain", "chieflab-mind", says(".well-known")),
    ),
    broken(
        "initialize answers in another revision",
        "E77",
        "handshake",
        by=replaced("2024-11-05", "2025-06-18", says('"initialize"')),
    ),
    broken(
        "a notification is answered",
        "E81",
        "silence",
        by=altered(
            lambda told: replace(told, status=200, text='{"jsonrpc":"2.0","result":{}}'),
            says("notifications/"),
        ),
    ),
    broken(
        "a tool has no input schema",
        "E79",
        "tool_list",
        "repeatable_tools",
        by=replaced('"inputSchema"', '"parameters"', says("tools/list")),
    ),
    broken(
        "a tool is listed twice", "E79", "schemas", by=tools_changed(lambda tools: tools.append(tools[0]))
    ),
    broken(
        "a tool requires what it does not describe",
        "E79",
        "schemas",
        by=tools_changed(
            lambda tools: find_tool(tools, REJECT)["inputSchema"].update(required=["actionId", "why"])
        ),
    ),
    broken(
        "without a handshake there are fewer tools",
        "E57",
        "eras",
        by=tools_changed(lambda tools: tools.pop(), is_modern),
    ),
    broken(
        "an executor takes no idempotency key",
        "E91",
        "repeatable_tools",
        by=tools_changed(
            lambda tools: find_tool(tools, EXECUTE)["inputSchema"]["properties"].pop("idempotencyKey")
        ),
    ),
    broken("ids come back as text", "E58", "request_ids", by=altered(write_ids_as_text, says("tools/call"))),
    broken(
        "a payload is no text",
        "E80",
        "text_payload",
        by=replaced('"type":"text"', '"type":"json"', calls(LIST)),
    ),
    broken(
        "structured content says something else",
        "E80",
        "text_payload",
        by=replaced(r'"structuredContent":\{', '"structuredContent":{"other":1,', calls(LIST)),
    ),
    broken(
        "a refusal names no way to a key",
        "E53",
        "no_key",
        by=replaced("chieflab_signup_workspace", "chieflab_help", calls(GET)),
    ),
    broken("no key is needed to read an action", "E84", "no_key", make=need_no_key),
    broken("any key is taken", "E84", "wrong_key", make=take_any_key),
    broken(
        "a public list names secrets",
        "E86",
        "public_connectors",
        by=replaced("authMode", "apiKey", calls(LIST)),
    ),
    broken(
        "an unknown method has the code of a failed tool",
        "E87",
        "codes",
        by=replaced("-32601", "-32000", says("no/such/method")),
    ),
    broken("a limit of the rate says no time", "E97", "rate_refusal", make=limit_without_time),
)


# ── Prepare ───────────────────────────────────────────────────────────────────────────────────


def reuse_first_request(keys: Keys) -> Handler:
    """A key is enough: what came with it later is not looked at."""
    first: dict[str, Asked] = {}

    async def handle(asked: Asked, forward: Forward) -> Told:
        key = asked.arguments.get("idempotencyKey")
        return await forward(
            first.setdefault(key, asked) if key is not None and asked.tool == POST else asked
        )

    return handle


async def publish_at_once(asked: Asked, forward: Forward) -> Told:
    """Prepare, and publish before a person saw anything."""
    told = await forward(asked)
    if (
        asked.tool == POST
        and asked.arguments.get("channel") == "site"
        and "idempotencyKey" not in asked.arguments
    ):
        action_id = told.payload["actions"][0]["id"]
        for tool in (APPROVE, EXECUTE):
            await forward(asked.calling(tool, actionId=action_id))
    return told


def make_up_numbers(payload: dict[str, Any]) -> None:
    payload.clear()
    payload.update(ok=True, metrics=[{"metric": "impressions", "value": 1234}])


PREPARE = (
    broken(
        "an action is approved from the start",
        "E13",
        "prepared_shape",
        by=edited(lambda payload: payload["actions"][0].update(status="approved"), calls(POST)),
    ),
    broken(
        "a prepared post is published at once",
        "E5",
        *(
            "early",
            "no_way_around",
            "rejected",
            "reasonless",
            "approval_record",
            "stale_approval",
            "edited",
        ),
        *("foreign", "once", "race", "looking"),
        by=publish_at_once,
    ),
    broken(
        "the preflight has no hint",
        "E44",
        "preflight",
        "unready",
        by=replaced("connectorFixHint", "hint", calls(POST)),
    ),
    broken(
        "a missing account is not explained",
        "E44",
        "unready",
        by=edited(
            lambda payload: payload["actions"][0]["preflight"].update(connectorBlocker=None),
            says('"linkedin"'),
        ),
    ),
    broken(
        "the two stop rules differ", "E15", "guide", by=edited(set_field("stopRule", "Go on."), calls(POST))
    ),
    broken(
        "a body holds a prompt",
        "E19",
        "readable",
        by=replaced("Reports are made", "You are a helpful assistant: reports are made", calls(POST)),
    ),
    broken(
        "the agent is not told of the approval state",
        "E74",
        "dependency",
        by=replaced("approval state", "state", calls(POST)),
    ),
    broken(
        "the review link carries its token under another name",
        "E34",
        *("review_url", "token_shape", "bad_tokens", "looking"),
        by=replaced(r"\?token=", "?t=", calls(POST)),
    ),
    broken(
        "the record has no time of approval",
        "E42",
        "stored",
        "approval_record",
        by=replaced("approvedAt", "approvalTime", calls(GET)),
    ),
    broken("an idempotency key is ignored", "E7", "idempotent", by=without("idempotencyKey", calls(POST))),
    broken("an idempotency key hides other arguments", "E7", "idempotent", make=reuse_first_request),
    broken(
        "an e-mail is sent before approval",
        "E11",
        "email",
        by=edited(
            lambda payload: payload.update(status="executed") if payload["channel"] == "email" else None,
            calls(GET),
        ),
    ),
    broken(
        "numbers are made up",
        "E100",
        "no_numbers",
        by=edited(make_up_numbers, calls(MEASURE), is_error=False),
    ),
    broken(
        "a launch has fired",
        "E101",
        "launch",
        by=edited(set_field("externalActionsExecuted", 1), calls(LAUNCH)),
    ),
    broken(
        "a launch without context does not say what it needs",
        "E95",
        "nothing_to_go_on",
        by=replaced("recentCommits", "commits", calls(LAUNCH)),
    ),
    broken("a webhook may lead inside", "E89", "webhooks", by=without("webhookUrl", calls(LAUNCH, DIAGNOSE))),
    broken(
        "a diagnosis has no diagnosis",
        "E100",
        "diagnosis",
        by=replaced("diagnosis", "opinion", calls(DIAGNOSE)),
    ),
    broken(
        "the audit of a run is empty",
        "E45",
        "audit",
        by=edited(lambda payload: payload.update(actions=[], events=[]), calls(AUDIT)),
    ),
)


# ── The gate ──────────────────────────────────────────────────────────────────────────────────


async def approve_itself(asked: Asked, forward: Forward) -> Told:
    """An executor that fires without approval."""
    if asked.tool in (EXECUTE, PUBLISH):
        await forward(asked.calling(APPROVE, actionId=asked.arguments["actionId"]))
    return await forward(asked)


async def believe_arguments(asked: Asked, forward: Forward) -> Told:
    """An executor that takes an argument for consent."""
    if asked.tool != EXECUTE or not asked.arguments.keys() - {"actionId", "idempotencyKey"}:
        return await forward(asked)
    action_id = asked.arguments["actionId"]
    await forward(asked.calling(APPROVE, actionId=action_id))
    return await forward(asked.calling(EXECUTE, actionId=action_id))


async def keep_approval(asked: Asked, forward: Forward) -> Told:
    """An edit that leaves what is approved as it is."""
    if asked.tool != EDIT:
        return await forward(asked)
    found = await forward(asked.calling(GET, actionId=asked.arguments["actionId"]))
    return found if found.payload["status"] == "approved" else await forward(asked)


def repeat_approval(keys: Keys) -> Handler:
    """An approval that is asked for again counts for what is there now."""
    approved: list[str] = []

    async def handle(asked: Asked, forward: Forward) -> Told:
        told, action_id = await forward(asked), asked.arguments.get("actionId")
        if asked.tool == APPROVE and action_id is not None:
            approved.append(action_id)
        again = asked.tool == GET and approved.count(str(action_id)) > 1 and not told.refused
        return told.edited(set_field("status", "approved")) if again else told

    return handle


def as_owner(*tools: str) -> Callable[[Keys], Handler]:
    """Tools that ask for a key and not for whose."""
    return lambda keys: changed(
        lambda asked: asked.with_key(keys[0]), lambda asked: asked.tool in tools and asked.key == keys[1]
    )


def publish_again(keys: Keys) -> Handler:
    """A retry of an executor is another publication."""
    seen: set[str] = set()

    async def handle(asked: Asked, forward: Forward) -> Told:
        told, key = await forward(asked), asked.arguments.get("idempotencyKey")
        if asked.tool != EXECUTE or key is None:
            return told
        again = key in seen
        seen.add(key)
        return told.edited(set_field("externalId", "another")) if again else told

    return handle


def lose_id(payload: dict[str, Any]) -> None:
    if payload["status"] == "executed":
        payload["externalId"] = None


async def let_everyone_win(asked: Asked, forward: Forward) -> Told:
    """Each of several callers publishes."""
    told, key = await forward(asked), str(asked.arguments.get("idempotencyKey"))
    if asked.tool != EXECUTE or re.search("-[1-9]$", key) is None:
        return told
    return told.edited(lambda payload: payload.update(ok=True, externalId=key), is_error=False)


def tell_unknown_by_404(caller: int, **more: str) -> Callable[[Keys], Handler]:
    """Another answer for an action that no workspace has, to one of the two callers."""
    return lambda keys: altered(
        lambda told: told.edited(lambda payload: payload.update(**more, statusCode=404)),
        lambda asked: (
            asked.tool == GET and asked.key == keys[caller] and "0000-7000-8000-000000000000" in asked.line
        ),
    )


GATE = (
    broken("an executor fires without approval", "E5", "early", "no_way_around", by=approve_itself),
    broken("an executor believes an argument", "E65", "no_way_around", by=believe_arguments),
    broken(
        "a refusal does not say where to approve",
        "E88",
        "early",
        by=replaced("reviewUrl", "page", calls(EXECUTE, PUBLISH)),
    ),
    broken(
        "a refusal can be retried",
        "E92",
        "early",
        by=altered(
            lambda told: (
                told.edited(set_field("retryable", True))
                if told.payload.get("reason") == "requires_approval"
                else told
            ),
            calls(PUBLISH),
        ),
    ),
    broken(
        "what is rejected can be approved",
        "E67",
        "rejected",
        by=altered(
            lambda told: (
                told.edited(lambda payload: None, is_error=False)
                if told.payload.get("reason") not in (None, "wrong_workspace")
                else told
            ),
            calls(APPROVE),
        ),
    ),
    broken(
        "a rejection is forgotten",
        "E23",
        "rejected",
        by=edited(
            lambda payload: (
                payload.update(status="awaiting_approval") if payload["status"] == "rejected" else None
            ),
            calls(GET),
        ),
    ),
    broken(
        "a rejection needs no reason",
        "E20",
        "reasonless",
        by=changed(
            lambda asked: asked.calling(REJECT, **{"reason": "none", **asked.arguments}), calls(REJECT)
        ),
    ),
    broken(
        "an approval has a time before it is given",
        "E42",
        "approval_record",
        by=edited(
            lambda payload: payload.update(approvedAt=payload["approvedAt"] or "2026-01-01T00:00:00Z"),
            calls(GET),
        ),
    ),
    broken("an edit keeps the approval", "E66", "edited", "stale_approval", by=keep_approval),
    broken(
        "an old approval is repeated for a new text",
        "E66",
        "stale_approval",
        make=repeat_approval,
    ),
    broken("another workspace reads an action", "E2", "foreign", make=as_owner(GET)),
    broken("another workspace approves an action", "E69", "foreign", make=as_owner(APPROVE)),
    broken(
        "another workspace learns that an action exists",
        "E96",
        "foreign",
        make=tell_unknown_by_404(1, reason="invalid_action_id"),
    ),
    broken("an unknown action is 404", "E26", "unknown_action", make=tell_unknown_by_404(0)),
    broken("another workspace reads the audit", "E2", "foreign_run", make=as_owner(AUDIT)),
    broken("another workspace follows a workflow", "E2", "foreign_run", make=as_owner(ADVANCE)),
    broken("a retry publishes twice", "E72", "once", make=publish_again),
    broken(
        "an executed action loses its external id",
        "E28",
        "once",
        "race",
        by=edited(lose_id, calls(GET)),
    ),
    broken("each of several callers publishes", "E29", "race", by=let_everyone_win),
)


# ── The review link ───────────────────────────────────────────────────────────────────────────


def open_with_any_token(same_run: bool) -> Callable[[Keys], Handler]:
    """Pages that look at a token and do not verify it: its signature, or its run."""

    def make(keys: Keys) -> Handler:
        tokens: dict[str, str] = {}

        async def handle(asked: Asked, forward: Forward) -> Told:
            parts = urlsplit(asked.path)
            run_id, given = parts.path.removeprefix("/runs/"), parse_qs(parts.query).get("token", [""])[0]
            body = given.partition(".")[0]
            own = tokens.get(run_id, "")
            if own and (own.startswith(body + ".") if same_run else given in tokens.values()):
                asked = replace(asked, path=f"/runs/{run_id}?token={own}")
            told = await forward(asked)
            if asked.tool == POST and not told.refused:
                tokens[told.payload["runId"]] = parse_qs(urlsplit(told.payload["reviewUrl"]).query)["token"][
                    0
                ]
            return told

        return handle

    return make


def approve_by_looking(keys: Keys) -> Handler:
    """A link that a preview of a chat would approve."""
    actions: dict[str, str] = {}

    async def handle(asked: Asked, forward: Forward) -> Told:
        told = await forward(asked)
        if asked.tool == POST and not told.refused:
            actions[told.payload["runId"]] = told.payload["actions"][0]["id"]
        run_id = urlsplit(asked.path).path.removeprefix("/runs/")
        if told.status < 400 and run_id in actions:
            await forward(asked.with_key(keys[0]).calling(APPROVE, actionId=actions[run_id]))
        return told

    return handle


REVIEW = (
    broken(
        "the token names no run",
        "E35",
        "token_shape",
        "looking",
        by=replaced("eyJydW5JZCI6", "eyJydW5fSWQi", calls(POST)),
    ),
    broken(
        "the signature of a token is not verified",
        "E41",
        "bad_tokens",
        make=open_with_any_token(same_run=True),
    ),
    broken("a token opens every run", "E38", "bad_tokens", make=open_with_any_token(same_run=False)),
    broken("what is no token opens a page", "E41", "bad_tokens", by=status(200, says("token=anything"))),
    broken(
        "a page opens without a token",
        "E21",
        "looking",
        by=status(200, lambda asked: re.fullmatch(r"GET /runs/[0-9a-f-]+ ", asked.line) is not None),
    ),
    broken("looking approves", "E21", "looking", make=approve_by_looking),
)


# ── Workflows ─────────────────────────────────────────────────────────────────────────────────


def lengthen_tokens(keys: Keys) -> Handler:
    """Tokens that carry what they name."""
    real: dict[str, str] = {}

    async def handle(asked: Asked, forward: Forward) -> Told:
        if asked.tool == ADVANCE:
            arguments = {
                name: real.get(value, value) if name in ("stateToken", "ackToken") else value
                for name, value in asked.arguments.items()
            }
            asked = asked.calling(ADVANCE, **arguments)
        told = await forward(asked)
        if asked.tool != START or told.refused:
            return told
        token = told.payload["ackToken"]
        real[f"{token}.{'step' * 20}"] = token
        return told.edited(set_field("ackToken", f"{token}.{'step' * 20}"))

    return handle


def answer_as_first(keys: Keys) -> Handler:
    """Tokens are enough: what is sent with them a second time is dropped."""
    first: dict[tuple[Any, Any], Told] = {}

    async def handle(asked: Asked, forward: Forward) -> Told:
        pair = asked.arguments.get("stateToken"), asked.arguments.get("ackToken")
        if asked.tool != ADVANCE or None in pair:
            return await forward(asked)
        told = first[pair] if pair in first else await forward(asked)
        if not told.refused:
            first[pair] = told
        return told

    return handle


def mint_again(keys: Keys) -> Handler:
    """A repeated call gets other tokens."""
    seen: set[bytes] = set()

    async def handle(asked: Asked, forward: Forward) -> Told:
        told = await forward(asked)
        asking = msgspec.json.encode(asked.arguments)
        if asked.tool not in (ADVANCE, CHECKPOINT) or told.refused or "notesMarkdown" not in asked.arguments:
            return told
        again = asking in seen
        seen.add(asking)
        return told.edited(set_field("ackToken", "ack.v1.another")) if again else told

    return handle


def only(tool: str, make: Callable[[Keys], Handler]) -> Callable[[Keys], Handler]:
    """A defect of one tool alone."""

    def make_for(keys: Keys) -> Handler:
        inner = make(keys)

        async def handle(asked: Asked, forward: Forward) -> Told:
            return await (inner(asked, forward) if asked.tool == tool else forward(asked))

        return handle

    return make_for


def repair_tokens(keys: Keys) -> Handler:
    """A token is looked up by its beginning, and its MAC not compared."""
    known: list[str] = []

    async def handle(asked: Asked, forward: Forward) -> Told:
        given = asked.arguments.get("stateToken", "")
        close = [token for token in known if len(token) == len(given) and token[:20] == given[:20]]
        if close and given not in known:
            asked = asked.calling(asked.tool, **{**asked.arguments, "stateToken": close[0]})
        told = await forward(asked)
        if not told.refused and isinstance(told.payload.get("stateToken"), str):
            known.append(told.payload["stateToken"])
        return told

    return handle


def take_any_ack(keys: Keys) -> Handler:
    """Any ackToken of the workspace completes any step."""
    acks: dict[str, str] = {}

    async def handle(asked: Asked, forward: Forward) -> Told:
        state, ack = asked.arguments.get("stateToken"), asked.arguments.get("ackToken")
        if state in acks and ack in acks.values():
            asked = asked.calling(asked.tool, **{**asked.arguments, "ackToken": acks[state]})
        told = await forward(asked)
        if not told.refused and told.payload.get("ackToken"):
            acks[told.payload["stateToken"]] = told.payload["ackToken"]
        return told

    return handle


def cut(name: str, shorten: Callable[[Any], Any]) -> Handler:
    """What is too much is left out without a word."""
    return changed(
        lambda asked: asked.calling(asked.tool, **{**asked.arguments, name: shorten(asked.arguments[name])}),
        lambda asked: asked.tool == ADVANCE and name in asked.arguments,
    )


def drop_large(context: dict[str, Any]) -> dict[str, Any]:
    return {} if 200_000 > len(str(context)) > 100_000 else context


async def repeat_context(asked: Asked, forward: Forward) -> Told:
    told = await forward(asked)
    context = asked.arguments.get("context")
    return (
        told.edited(set_field("context", context))
        if asked.tool == ADVANCE and context and not told.refused
        else told
    )


WORKFLOWS = (
    broken("tokens are long and readable", "W9", "start", make=lengthen_tokens),
    broken("a repeated advance mints other tokens", "W10", "replay", make=only(ADVANCE, mint_again)),
    broken("other notes from the same place are dropped", "W12", "branch", make=answer_as_first),
    broken(
        "output without an ackToken is a failure",
        "W21",
        "rehydrate",
        by=replaced(
            "validation_error",
            "internal_error",
            lambda asked: (
                asked.tool == ADVANCE and "ackToken" not in asked.arguments and "output" in asked.arguments
            ),
        ),
    ),
    broken("an altered token is taken", "W1", "tokens", make=repair_tokens),
    broken(
        "an unknown version is called garbage",
        "W3",
        "tokens",
        by=replaced("token_unsupported_version", "token_invalid_format", calls(ADVANCE)),
    ),
    broken(
        "garbage is an internal error",
        "W2",
        "no_tokens",
        "tokens",
        by=replaced("token_invalid_format", "internal_error", calls(ADVANCE)),
    ),
    broken("the ackToken of another run is taken", "W5", "foreign_ack", make=take_any_ack),
    broken("a repeated checkpoint is a second one", "W42", "checkpoint", make=only(CHECKPOINT, mint_again)),
    broken(
        "a second checkpoint replaces the first",
        "W43",
        "checkpoints",
        by=replaced("The first of two notes.", "", calls(ADVANCE)),
    ),
    broken("the key of a start is ignored", "W19", "starts", by=without("idempotencyKey", calls(START))),
    broken("long notes are cut", "W50", "too_long", by=cut("notesMarkdown", lambda notes: notes[:60_000])),
    broken("a context is counted in characters", "W48", "too_long", by=cut("context", drop_large)),
    broken(
        "reserved names are dropped",
        "W53",
        "bad_context",
        by=cut(
            "context", lambda context: {name: value for name, value in context.items() if name != "__proto__"}
        ),
    ),
    broken("the context comes back", "W51", "echo", by=repeat_context),
)

BROKEN = (*ENDPOINT, *PREPARE, *GATE, *REVIEW, *WORKFLOWS)
