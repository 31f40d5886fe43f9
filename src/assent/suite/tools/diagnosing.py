"""The tool that diagnoses running campaigns: numbers, decisions and failures, each with its source
(S3, E100).

Reads the workspace's sources and history and stores the result as an asset of its own run; stages
nothing.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.platform.effects import SuggestedCall
from assent.platform.jobs import long_runs
from assent.platform.memory import memory as brain
from assent.platform.staging import Draft, Preparation, PreparedRun, staging
from assent.platform.tools import Behaviour, Call, IdempotencyKey, TenantIdArgument, Tool, await_within_limit
from assent.platform.values import Arguments
from assent.suite.channels.registry import CONNECTORS, TABLE
from assent.suite.diagnosis.diagnosis import Diagnosis, as_text, summarise
from assent.suite.diagnosis.rules import diagnose
from assent.suite.learning import diagnosis
from assent.suite.operators.registry import MEASURE
from assent.suite.tools.operating import refuse_webhook
from assent.suite.tools.operator_requests import Goal, WebhookUrl, make_request

NAME: Final = "chieflab_diagnose_marketing"
MAX_CALLS: Final = 6
LOOKS: Final = Behaviour(read_only=False, destructive=False, idempotent=False, open_world=True)
"""Reads from providers and stores the result."""


class DiagnoseMarketing(Arguments, kw_only=True):
    goal: Goal | None = None
    tenant_id: TenantIdArgument | None = None
    webhook_url: WebhookUrl | None = None
    idempotency_key: IdempotencyKey | None = None


class DiagnoseReply(PreparedRun, kw_only=True):
    """The full shape of a run; nothing is staged. `diagnosis` is null while it runs."""

    diagnosis: Diagnosis | None


LABELS: Final = {row.id: row.label for row in TABLE} | {info.id: info.label for info in CONNECTORS}


async def diagnose_marketing(call: Call, request: DiagnoseMarketing) -> DiagnoseReply:
    refuse_webhook(call, request.webhook_url)
    tenant_id = brain.tenant_of(request.tenant_id)
    reading = diagnosis.gather(call.services, call.caller.workspace_id, tenant_id, request.goal or "")
    facts = await await_within_limit(call, request.webhook_url, reading)
    if facts is None:
        return await long_runs.begin(
            call.services, make_request(call, request, MEASURE.id, NAME), DiagnoseReply, {"diagnosis": None}
        )
    found = diagnose(msgspec.structs.replace(facts, labels=LABELS))
    draft = Draft(
        type="diagnosis",
        title="What is wrong, and what to try" if found.findings else "What the numbers say",
        body=as_text(found),
        channel="diagnosis",
        metadata={"diagnosis": msgspec.to_builtins(found)},
    )
    outputs: dict[str, Any] = {
        "hasData": found.has_data,
        "findings": [each.rule for each in found.findings],
        "missingData": [each.what for each in found.missing_data],
    }
    return await staging.stage(
        call.services,
        make_request(call, request, MEASURE.id, NAME),
        Preparation(
            drafts=(draft,),
            outputs=outputs,
            next_calls=suggest_calls(found),
            user_message=summarise(found),
            show=f"**{draft.title}**\n\n{draft.body}",
        ),
        DiagnoseReply,
        lambda assets, staged: {"diagnosis": found},
    )


def suggest_calls(found: Diagnosis) -> tuple[SuggestedCall, ...]:
    """Suggest calls about the findings, then about missing numbers."""
    wanted = [each.call for each in found.findings] + [each.call for each in found.missing_data]
    calls: dict[bytes, SuggestedCall] = {}
    for each in wanted:
        calls.setdefault(msgspec.json.encode((each.name, each.args)), each)
    return tuple(calls.values())[:MAX_CALLS]


TOOLS = (
    Tool(
        name=NAME,
        title="Diagnose marketing",
        description="Says what is wrong with EXISTING campaigns: which number, from which source and when, and what to "
        "try; reads connected sources, earlier measurements, decisions and failures. USE WHEN the user asks why "
        "something is not working, costs too much or goes wrong, such as ads. NOT for new launches. Without numbers it "
        "says so and what would bring them; numbers are never invented.",
        category="primary",
        behaviour=LOOKS,
        request=DiagnoseMarketing,
        reply=DiagnoseReply,
        handler=diagnose_marketing,
        scope="runs:write",
        legacy_names=("chiefmo_diagnose_marketing",),
    ),
)
