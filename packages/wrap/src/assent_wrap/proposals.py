"""A gated call: proposed as an action and answered with the link to decide it, or, where the client shows that link in
a dialog, waited for and answered with its result.

The same caller, tool and arguments join the action that waits, instead of asking twice: a proposal has
a number, which is part of its idempotency key, and the next number is used only after a decision. The
action outlives the call. A client that goes away leaves it waiting; a client that cancels the call
withdraws it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from functools import partial
from typing import Any, Final

import msgspec

from assent import Effect
from assent.platform import ForeignCall, needs_approval, replace_content, take_back
from assent.sdk import (
    EXECUTE,
    Action,
    ActionId,
    Draft,
    ExecutionState,
    Preparation,
    PreparedRun,
    Reason,
    Refusal,
    Request,
    Services,
    StagedEffect,
    Status,
    Transaction,
    Words,
    digest,
    prepare_run,
    read_action,
    run_apart,
)
from assent_wrap.effects import ACCEPT, OPERATOR, check_call
from assent_wrap.repository import Proposed, find_proposed, keep_proposed

log = logging.getLogger("assent.wrap")

HOLD_SECONDS: Final = 45
"""How long a call waits while its client shows a dialog. Clients give up after a minute."""
PROGRESS_SECONDS: Final = 5
OUTPUT: Final = "output"
CANCELLED: Final = "The agent cancelled its call."


def fingerprint(effect: Effect) -> str:
    """Return what makes two proposals the same: profile, server, tool and arguments of a call; the name of the
    server of an acceptance, to which the accepted definitions belong."""
    details = effect.details
    if effect.connector == ACCEPT:
        return digest([ACCEPT, effect.channel])
    return digest([details.get("profile"), effect.channel, effect.verb, effect.arguments, details.get("pin")])


async def propose(services: Services, call: ForeignCall, effect: Effect, tool: str) -> Action:
    """Return the action that waits for this effect, staged if there is none. The acceptance of a server's tools
    is one question, whichever key asks. It follows the server's list, and is not asked again after a rejection.
    Raises `Refusal`."""
    accepts = effect.connector == ACCEPT
    if not accepts and (problems := await run_apart(check_call, effect)):
        raise Refusal(Reason.VALIDATION_ERROR, problems=problems)
    caller, same = call.caller, fingerprint(effect)
    workspace_id, holder = caller.workspace_id, "" if accepts else caller.holder

    def look() -> Transaction[tuple[Proposed | None, Action | None]]:
        found = yield from find_proposed(workspace_id, holder, same)
        if found is None:
            return None, None
        action, _ = yield from read_action(workspace_id, ActionId(found.action_id))
        return found, action

    known, waiting = await services.store.read(look)
    if waiting is not None and is_waiting(waiting, services.clock.now_ms()):
        if accepts and waiting.digest != effect.digest():
            return await replace_content(services, caller, waiting, effect, part="tools", via="tools/list")
        return waiting
    rejected = waiting if accepts and waiting is not None and waiting.status is Status.REJECTED else None
    if rejected is not None and rejected.effect.arguments == effect.arguments:
        return rejected
    generation = known.generation + 1 if known is not None else 1
    # The tools of an open question change, so they are no part of what its key is bound to.
    given = {} if accepts else effect.arguments
    found = services.effects.find(effect)
    reply = await prepare_run(
        services,
        Request(
            principal=caller,
            operator=OPERATOR,
            tool=tool,
            inputs={"server": effect.channel, "tool": effect.verb, "arguments": given},
            key=f"wrap:{same}:{generation}",
            metered=not accepts,
        ),
        Preparation(
            drafts=(Draft(type=effect.type, title=effect.verb, body=effect.body, channel=effect.channel),),
            effects=(
                StagedEffect(
                    effect=effect,
                    executor_tool=EXECUTE,
                    draft=0,
                    severity=found.risk(effect) if found is not None and callable(found.risk) else None,
                    paths={"body": "arguments"},
                ),
            ),
        ),
        PreparedRun,
    )
    proposed = Proposed(generation, reply.actions[0].id)
    await services.store.write(partial(keep_proposed, workspace_id, holder, same, proposed))
    return await find_action(services, call, ActionId(proposed.action_id))


async def find_action(services: Services, call: ForeignCall, action_id: ActionId) -> Action:
    def begin() -> Transaction[Action]:
        action, _ = yield from read_action(call.caller.workspace_id, action_id)
        return action

    return await services.store.read(begin)


def is_waiting(action: Action, now_ms: int) -> bool:
    return action.status is Status.AWAITING_APPROVAL and not action.is_expired(now_ms)


def is_settled(action: Action, now_ms: int) -> bool:
    """Whether nothing more happens without another call or decision."""
    if action.status is Status.APPROVED:
        return action.execution_state not in (ExecutionState.NONE, ExecutionState.EXECUTING)
    return not is_waiting(action, now_ms)


class HeldCalls:
    """The gated calls of one process that wait for a person."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._held: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self.hold_seconds: float = HOLD_SECONDS

    async def wait(self, call: ForeignCall, action: Action, token: Any) -> Action:
        """Return the action once it is settled, or as it is when the time is up."""
        action_id = action.action_id
        self._held[action_id] += 1
        if call.peer is not None:
            call.peer.step_aside()
        shown = asyncio.create_task(self._show(call, action))
        try:
            return await self._watch(call, action, token)
        except asyncio.CancelledError:
            if call.peer is not None and call.peer.cancelled() and self._held[action_id] == 1:
                task = asyncio.create_task(self._withdraw(call, action_id))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            raise
        finally:
            shown.cancel()
            self._held[action_id] -= 1
            if not self._held[action_id]:
                del self._held[action_id]

    async def _show(self, call: ForeignCall, action: Action) -> None:
        """Show the person in the client's dialog where to decide. What they press there decides nothing."""
        if call.client.ask is not None and not is_settled(action, self._services.clock.now_ms()):
            said = describe_waiting(action, link_to(self._services, call, action), "").user_message
            form = {"type": "object", "properties": {}}
            await call.client.ask({"message": said, "requestedSchema": form}, self.hold_seconds)

    async def _watch(self, call: ForeignCall, action: Action, token: Any) -> Action:
        services = self._services
        until_ms = services.clock.now_ms() + int(self.hold_seconds * 1000)
        gone = call.peer.gone if call.peer is not None else None
        told = 0
        while not is_settled(action, services.clock.now_ms()):
            now_ms = services.clock.now_ms()
            turn_ms = min(until_ms, now_ms + PROGRESS_SECONDS * 1000)
            ended = await services.background.waits.wait(action, turn_ms, gone)
            action = await find_action(services, call, action.action_id)
            if ended not in ("changed", "time_up") or services.clock.now_ms() >= until_ms:
                break
            if token is not None and call.client.notify is not None:
                told += 1
                said = {"progressToken": token, "progress": told, "message": describe_wait(action)}
                call.client.notify("notifications/progress", said)
        return action

    async def _withdraw(self, call: ForeignCall, action_id: ActionId) -> None:
        """Take the question back, because the agent cancelled the call that asked it."""
        action = await find_action(self._services, call, action_id)
        try:
            await take_back(self._services, call.caller, action, CANCELLED, via="cancelled call")
        except Refusal as refusal:
            log.info("a cancelled call is no longer withdrawn: %s", refusal.reason)

    async def close(self) -> None:
        await asyncio.gather(*self._tasks, return_exceptions=True)


def describe_wait(action: Action) -> str:
    if action.status is Status.APPROVED:
        made = action.execution_state is ExecutionState.EXECUTING
        return "Approved. The call is being made." if made else "Approved. The call is not made yet."
    return "Waiting for a person to approve this call."


def link_to(services: Services, call: ForeignCall, action: Action) -> str:
    """Return the review link, with the rights of the caller."""
    now_ms = services.clock.now_ms()
    return services.links.review_url(action.workspace_id, action.run_id, now_ms, call.caller.link_scope)


def answer(
    services: Services, call: ForeignCall, action: Action, asked: dict[str, Any], frozen: str = ""
) -> dict[str, Any]:
    """Return the result of a gated call. `asked` are the arguments that the agent sent, `frozen` says why
    no call is made now."""
    if action.status is Status.EXECUTED:
        return answer_executed(action, asked)
    now_ms, url = services.clock.now_ms(), link_to(services, call, action)
    if action.status is Status.REJECTED:
        reason = action.rejection or "no reason was given"
        return say_error(
            f"A person rejected this call: {reason} It was not made. Do not make it again unchanged."
        )
    if action.execution_state is ExecutionState.OUTCOME_UNKNOWN:
        said = "This call was approved and sent, and it is not known whether it took effect. Do not make it again."
        return say_error(f"{said} Look with another tool, or ask the person to say what they see: {url}")
    if action.status is Status.FAILED:
        why = _find_failure(action)
        refusal = Refusal(
            Reason.CONNECTOR_FAILED,
            facts={"connector": action.view.label, "detail": why},
            status=action.status,
            action_id=action.action_id,
        )
        recovery = msgspec.json.encode(refusal.recovery()).decode()
        return say_error(f"This call was approved and could not be made: {why}", recovery)
    if action.is_expired(now_ms):
        return say_error(
            "No one decided about this call in time. It was not made. Propose it again if it is wanted."
        )
    if action.status is Status.APPROVED:
        said = f"This call is approved and not done yet. {frozen}".rstrip()
        return say_error(
            f"{said} Call chieflab_get_action with actionId {action.action_id} and waitSeconds 50 to get its result. "
            "Do not make it again."
        )
    return refuse(needs_approval(action, describe_waiting(action, url, frozen), review_url=url))


def refuse(refusal: Refusal) -> dict[str, Any]:
    """Return a refusal as the error of a tool."""
    recovery = refusal.recovery()
    return say_error(recovery.summary_for_user, msgspec.json.encode(recovery).decode())


def _find_failure(action: Action) -> str:
    found = action.metadata.get("lastAttempt")
    return found if isinstance(found, str) else "its server refused it."


def describe_waiting(action: Action, url: str, frozen: str) -> Words:
    where = f" at {url}" if url else ""
    return Words(
        summary="A person has to approve this call.",
        user_message=f"“{action.view.heading}” waits for you{where}. Nothing was done yet. "
        f"{frozen or 'Once you approve it there, it is done.'}",
        fix=f"STOP. Give the user the link. Then call chieflab_get_action with actionId {action.action_id} and "
        "waitSeconds 50: it answers with the result once a person has decided. The same call, made again, joins this "
        "question.",
        stop_rule="Do not look for another way to do the same thing.",
    )


def answer_executed(action: Action, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the tool's own result. If a person changed the arguments, it says so first."""
    kept = action.metadata.get(OUTPUT)
    result: dict[str, Any] = dict(kept) if isinstance(kept, dict) else {"content": []}
    if action.effect.arguments == asked:
        return result
    ran = msgspec.json.encode(action.effect.arguments).decode()
    said = (
        "A person changed the arguments of this call before approving it. It ran with these instead of yours: "
        f"{ran} Do not repeat your own call."
    )
    content = result.get("content")
    return {
        **result,
        "content": [{"type": "text", "text": said}, *(content if isinstance(content, list) else [])],
    }


def say_error(*texts: str) -> dict[str, Any]:
    """Return an error of a tool. It has no structured content, because some clients check that against
    the tool's schema, also for errors."""
    return {"content": [{"type": "text", "text": text} for text in texts], "isError": True}
