"""Checks the contract of the Connector port: `await check_connector(connector, effects=…)`.

A connector passes if it declares its delivery, reports its readiness in the right shape, performs
only for an `ApprovedAction`, and has one effect where it declares that repetitions are recognised.
The check performs for real, so point it at an emulator or a sandbox.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, Final

from assent.gate import gate
from assent.gate.preflight import Readiness, preflight
from assent.gate.records import Action, Approval, Assurance, Attempt, Effect, ExecutionState, Status
from assent.gate.views import View
from assent.kernel.ids import ActionId, RunId, WorkspaceId, uuid7
from assent.ports import ConnectionContext, Connector, Context, Delivered, Delivery, NotSent

CHECKED_AT_MS: Final = 1_800_000_000_000
TIMEOUT_SECONDS: Final = 5.0
RECOGNISES: Final = ("native_key", "natural_key")

CountEffects = Callable[[], Awaitable[int]]
"""Counts the effects in the provider's own records."""


class ContractBroken(AssertionError):  # noqa: N818 - what was found
    def __init__(self, connector: object, problems: list[str]) -> None:
        self.problems = tuple(problems)
        listed = "".join(f"\n  - {problem}" for problem in problems)
        super().__init__(f"{type(connector).__name__} breaks the contract of a connector:{listed}")


def claim_action(effect: Effect, *, number: int = 1, revision: int = 1) -> Action:
    """Return an action as an executor has it: approved for exactly this effect, and claimed."""
    digest = effect.digest()

    def made(part: int) -> str:
        return uuid7(CHECKED_AT_MS, number.to_bytes(9, "big") + bytes([part]))

    return Action(
        workspace_id=WorkspaceId(made(1)),
        action_id=ActionId(made(2)),
        run_id=RunId(made(3)),
        tenant_id=None,
        asset_id=None,
        position=0,
        version=3,
        effect=effect,
        digest=digest,
        revision=revision,
        executor_tool="chieflab_execute_approved_action",
        status=Status.APPROVED,
        execution_state=ExecutionState.EXECUTING,
        preflight=preflight(effect, View(), Readiness(ready=True)),
        created_ms=CHECKED_AT_MS,
        expires_ms=None,
        approval=Approval(by="kit", at_ms=CHECKED_AT_MS, assurance=Assurance.PERSON, digest=digest),
        attempt=Attempt(
            attempt_id=made(4),
            fence=1,
            started_ms=CHECKED_AT_MS,
            lease_until_ms=CHECKED_AT_MS + 60_000,
            tool="chieflab_execute_approved_action",
        ),
    )


async def perform_claimed(
    connector: Connector, action: Action, timeout_seconds: float = TIMEOUT_SECONDS
) -> Delivered:
    """Let a connector perform a claimed action, as the engine does."""
    return await connector.perform(Context(gate.open_gate(action), timeout_seconds), action.effect)


async def check_connector(
    connector: Connector,
    *,
    effect: Effect,
    effects: CountEffects | None = None,
) -> None:
    """Raise `ContractBroken` with all violations. Without `effects`, answers are compared."""
    problems = [*_check_declared(connector), *await _readiness(connector)]
    problems += await _only_approved(connector, effect, effects)
    if not problems:
        problems += await _repetition(connector, effect, effects)
    if problems:
        raise ContractBroken(connector, problems)


def _check_declared(connector: Any) -> list[str]:
    problems = []
    if not isinstance(getattr(connector, "id", None), str) or not connector.id:
        problems.append("it has no id")
    if not isinstance(getattr(connector, "delivery", None), Delivery):
        problems.append("it does not declare its delivery")
    return problems


async def _readiness(connector: Connector) -> list[str]:
    readiness: object = await connector.readiness(WorkspaceId(uuid7(CHECKED_AT_MS, bytes(10))))
    if not isinstance(readiness, Readiness):
        return [f"readiness is a {type(readiness).__name__}, not a Readiness"]
    if not readiness.ready and not (readiness.blocker and readiness.fix_hint):
        return ["it is not ready and does not say why and how to cure it"]
    if not readiness.ready and getattr(connector, "always_ready", False):
        return ["it declares to be always ready and is not"]
    if readiness.ready and readiness.blocker is not None:
        return ["it is ready and names a blocker"]
    return []


async def _only_approved(connector: Connector, effect: Effect, effects: CountEffects | None) -> list[str]:
    """Try to perform an action without the gate: bare, and in an imitation of the context."""
    action = claim_action(effect, number=1)
    before = await effects() if effects is not None else 0
    problems: list[str] = []
    impostor: Any
    for impostor in (action, _imitate_context(action)):
        try:
            await connector.perform(impostor, effect)
        except NotSent:
            problems.append(
                f"perform takes orders from a {type(impostor).__name__}, though it refuses this one"
            )
        except Exception:  # noqa: S112 - any other refusal will do
            continue
        else:
            problems.append(f"perform takes orders from a {type(impostor).__name__}")
    if effects is not None and await effects() != before:
        problems.append("it has an effect for what is no ApprovedAction")
    return problems


def _imitate_context(action: Action) -> Any:
    """Return an object with the attributes of a `Context` that no gate made. It lacks what only the
    server opens."""
    ctx = Context(gate.open_gate(action), TIMEOUT_SECONDS)
    opened = dir(ConnectionContext)
    names = (name for name in dir(ctx) if not name.startswith("_") and name not in opened)
    return SimpleNamespace(**{name: getattr(ctx, name) for name in names})


async def _repetition(connector: Connector, effect: Effect, effects: CountEffects | None) -> list[str]:
    action = claim_action(effect, number=2)
    before = await effects() if effects is not None else 0
    try:
        first: object = await perform_claimed(connector, action)
        if not isinstance(first, Delivered) or not first.external_id:
            return ["perform does not return what was delivered, with its external id"]
        if connector.delivery.kind not in RECOGNISES:
            return []
        second = await perform_claimed(connector, action)
    except NotSent as not_sent:
        return [] if not_sent.detail else ["it refuses without saying why"]
    problems = []
    if second.external_id != first.external_id:
        problems.append("the same provider key gives another external id")
    if effects is not None and await effects() != before + 1:
        problems.append(f"it declares {connector.delivery.kind} and a repetition has a second effect")
    return problems
