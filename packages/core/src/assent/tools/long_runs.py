"""Long runs: the caller is answered at once, and the result is posted to its webhook (S3).

A call with a webhookUrl waits a moment, which is enough for almost every run. Then its answer is
the result, which is also posted. A slower call is cancelled without a trace, stored as a run that
is `running`, and repeated by a background job. That run ends like any other, or as `failed` with
the refusal that the caller would have got; either end is posted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import msgspec

from assent.engine.actions import actions
from assent.engine.core.jobs import Job
from assent.engine.core.services import Services
from assent.engine.core.tenancy import Principal
from assent.engine.webhooks import long_runs
from assent.gate.next_try import RETRY_PAUSES_MS
from assent.kernel.ids import RunId
from assent.kernel.refusals import Reason, Refusal
from assent.ports import StoreUnavailable
from assent.tools.definition import Call, Tool

log = logging.getLogger("assent.long_runs")


async def finish(services: Services, find: Callable[[str], Tool | None], job: Job) -> None:
    """Run the job: the same tool with the same arguments, to its end."""
    workspace_id, run_id = job.workspace_id, RunId(job.payload["runId"])
    run = await services.store.read(lambda: actions.find_run(workspace_id, run_id))
    tool = find(run.tool) if run is not None else None
    if run is None or run.status != long_runs.RUNNING or tool is None:
        return
    principal = msgspec.convert(job.payload["principal"], Principal)
    call = Call(services, principal, "", job.job_id, services.clock.now_ms(), continuing=run_id)
    try:
        await tool.handler(call, msgspec.convert(run.inputs, tool.request))
    except Refusal as refusal:
        await long_runs.fail(services, run, refusal)
    except StoreUnavailable:
        raise
    except Exception:
        if job.attempts <= len(RETRY_PAUSES_MS):
            raise
        log.exception("run %s failed for good", run_id)
        await long_runs.fail(services, run, Refusal(Reason.INTERNAL_ERROR))
