"""Numbers that a person reports, where no interface gives them."""

from __future__ import annotations

from typing import Any

import msgspec

from assent.engine.actions import actions
from assent.engine.core import journal
from assent.gate.measurement.metrics import fold_name
from assent.gate.records import Action, Status, is_by_hand
from assent.kernel.ids import RunId, WorkspaceId
from assent.kernel.refusals import Reason, Refusal, Retry, SuggestedCall
from assent.ports import Rows, Transaction
from assent.sql.loader import statements


def list_reported(workspace_id: WorkspaceId, run_id: RunId) -> Transaction[Rows]:
    """List the reported numbers of a run, by channel."""
    return (yield statements.list_manual_metrics(workspace_id=workspace_id, run_id=run_id))


def record(
    workspace_id: WorkspaceId,
    run_id: RunId,
    channel: str,
    metrics: dict[str, float],
    source: str,
    now_ms: int,
) -> Transaction[dict[str, float]]:
    """Store reported numbers and return all of the channel. A repeated metric is replaced."""
    rows = yield statements.list_manual_metrics(workspace_id=workspace_id, run_id=run_id)
    before = [msgspec.json.decode(row["metrics"]) for row in rows if row["channel"] == channel]
    told = {fold_name(name) for name in metrics}
    kept = {name: value for each in before for name, value in each.items() if fold_name(name) not in told}
    kept |= metrics
    yield statements.record_manual_metrics(
        workspace_id=workspace_id,
        run_id=run_id,
        channel=channel,
        metrics=msgspec.json.encode(kept).decode(),
        source=source,
        recorded_ms=now_ms,
    )
    facts = {"channel": channel, "metrics": metrics, "source": source}
    yield from journal.note(workspace_id, "metrics_recorded", facts, now_ms, stream_id=run_id)
    return kept


def has_source(workspace_id: WorkspaceId, run_id: RunId) -> Transaction[bool]:
    """Whether a run can have numbers: not all was done by hand, or a person reported some."""
    of_run = yield from actions.run_actions(workspace_id, run_id)
    if any(action.status is Status.EXECUTED and not is_by_hand(action) for action in of_run):
        return True
    return bool((yield statements.list_manual_metrics(workspace_id=workspace_id, run_id=run_id)))


def refuse_unmeasured(sent: tuple[Action, ...]) -> Refusal:
    """Return the refusal for actions done by hand, whose numbers only the person can report."""
    channels = list(dict.fromkeys(action.effect.channel for action in sent))
    args: dict[str, Any] = {"runId": sent[0].run_id}
    needs = {"metrics": "the numbers", "source": "where they were read"}
    if len(channels) == 1:
        args["channel"] = channels[0]
    else:
        needs["channel"] = "one of " + ", ".join(channels)
    refusal = Refusal(
        Reason.MEASUREMENT_UNAVAILABLE,
        user_message="This was done by hand, so no numbers arrive automatically. Tell me the numbers that you see "
        "there, and where you read them.",
        fix="STOP. Ask the user for the numbers they see and record those; never guess them.",
        retry=Retry.NEVER,
    )
    tell = SuggestedCall("chieflab_record_manual_metrics", args, "the user tells the numbers", needs)
    return Refusal.from_answer(msgspec.structs.replace(refusal.recovery(), next=[tell]))
