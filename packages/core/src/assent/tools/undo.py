"""The tool that prepares taking an executed action back. The reverse waits for its own approval."""

from __future__ import annotations

import msgspec

from assent.engine.actions import actions, circumstances
from assent.engine.actions.staging import PreparedRun, answer_prepared
from assent.gate.gate import Decider
from assent.gate.records import Action, Assurance, Proposal
from assent.kernel.ids import require_action_id
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.structs import Arguments
from assent.ports import Preparation
from assent.tools.arguments import ActionIdArgument, IdempotencyKey
from assent.tools.definition import WRITES, Call, Tool
from assent.use_cases import executions

NAME = "chieflab_undo_action"


class UndoAction(Arguments, kw_only=True):
    action_id: ActionIdArgument
    idempotency_key: IdempotencyKey | None = None


async def undo_action(call: Call, request: UndoAction) -> PreparedRun:
    services, caller, action_id = call.services, call.caller, require_action_id(request.action_id)
    action, _ = await services.store.read(lambda: actions.find(caller.workspace_id, action_id))
    run = await services.store.read(lambda: actions.find_run(caller.workspace_id, action.run_id))
    if run is None:
        raise Refusal(Reason.WRONG_WORKSPACE)
    decider = Decider(caller.workspace_id, caller.name, Assurance.AGENT, "chat", test=caller.is_test)
    proposal = msgspec.convert(caller.propose(""), Proposal)
    outlook = await circumstances.read_outlook(services, caller, (action,))

    def answer(staged: Action) -> PreparedRun:
        now = msgspec.structs.replace(run, created_ms=call.now_ms)  # for the life of the link
        return answer_prepared(services, caller, now, (), (staged,), Preparation(), outlook)

    write = call.answering(request, answer, PreparedRun)
    return await executions.undo(services, decider, action, proposal, write)


TOOLS = (
    Tool(
        name=NAME,
        title="Take back what was done",
        description="Prepares taking back what went out: a refund, a post, a page, a call. Staged for approval; "
        "nothing changes by this call. USE WHEN the user wants to remove, delete or take down again a post, page or "
        "blog post that is wrong, an announcement off the site, or to cancel a refund that was made.",
        behaviour=WRITES,
        request=UndoAction,
        reply=PreparedRun,
        handler=undo_action,
        scope="runs:write",
        keyed_as=NAME,
    ),
)
