"""Performs what a person approved: a call of a wrapped tool, or the acceptance of a definition.

A call is made once, with exactly the approved arguments. An answer, also one that reports an error of
the tool, is its result. No answer means that the outcome is unknown: it is not made again, unless a
rule says that this tool may be repeated.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import msgspec

from assent.platform.connections import Context, Delivered, Delivery, NotSent, OutcomeUnknown
from assent.platform.effects import ConnectorInfo, Effect, Readiness
from assent.platform.storage import Services
from assent.platform.values import Reason, WorkspaceId
from assent.wrap.effects import ACCEPT, CALL, REPEATABLE, read_acceptance, read_details
from assent.wrap.links import RpcError, Unanswered, Unsent
from assent.wrap.listing import compute_pin, lets_pass
from assent.wrap.storing import accept_tools, find_profile, list_pins, list_profiles
from assent.wrap.upstreams import Upstreams

CALL_SECONDS: Final = 120.0
MAX_RESULT_BYTES: Final = 200_000
"""The longest result that is kept with an action. A longer one is cut, and says so."""
CHANGED: Final = (
    "the command, folder or environment of {server} that this call was approved for has changed, or is not kept any "
    "more. Call the tool again: a person is then asked about the present one"
)
REFUSED_CODES: Final = frozenset({-32700, -32600, -32601, -32602})
"""Errors that a server answers before it calls a tool."""


class _Ready:
    always_ready = True

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return Readiness(ready=True)

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        raise OutcomeUnknown("a wrapped server cannot be asked whether a call was made")


class CallConnector(_Ready):
    """Makes approved calls of wrapped tools."""

    uses_sending = True
    timeout_seconds = CALL_SECONDS

    def __init__(self, services: Services, upstreams: Upstreams, info: ConnectorInfo) -> None:
        self.id, self.info = info.id, info
        self.delivery = Delivery("natural_key" if info.id == REPEATABLE else "none")
        self._services = services
        self._upstreams = upstreams

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        details = read_details(effect)
        profile = await find_profile(self._services, ctx.workspace_id, details.profile)
        spec = profile.find(details.server) if profile is not None else None
        if profile is None or spec is None:
            raise _refuse(CHANGED.format(server=details.server), curable=False)
        upstream = self._upstreams.find(details.profile, profile, spec)
        try:
            listed = {each["name"]: each for each in await upstream.list_tools()}
        except (Unsent, Unanswered, RpcError) as error:
            raise _refuse(str(error), curable=True) from None
        definition = listed.get(details.tool)
        if definition is None or compute_pin(definition) != details.pin:
            why = f"the tool {details.tool} of {details.server} has changed since this call was proposed"
            raise _refuse(why, curable=False)
        params = {"name": details.tool, "arguments": effect.arguments}
        try:
            result = await upstream.request("tools/call", params, ctx.left(), before=ctx.begin_sending)
        except Unsent as error:
            ctx.forget_sending()
            raise _refuse(str(error), curable=True) from None
        except RpcError as error:
            if error.code in REFUSED_CODES:
                raise _refuse(f"{details.server} refused the call: {error.message}", curable=False) from None
            raise OutcomeUnknown(f"{details.server} answered with an error: {error.message}") from None
        except Unanswered as error:
            raise OutcomeUnknown(str(error)) from None
        if result.get("resultType") == "input_required":
            why = f"{details.server} asked for input (elicitation), which a gated call does not pass on"
            raise _refuse(why, curable=False)
        return Delivered(f"{details.server}:{ctx.key}", output=fit_result(result))


class AcceptConnector(_Ready):
    """Accepts the definitions that a person approved, all or none."""

    def __init__(self, services: Services, info: ConnectorInfo) -> None:
        self.id, self.info = info.id, info
        self.delivery = Delivery("natural_key")
        self._services = services

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        found, services, workspace_id = read_acceptance(effect), self._services, ctx.workspace_id
        kept, pins = await list_profiles(services, workspace_id), await list_pins(services, workspace_id)
        for each in found.tools:
            _, hinted = pins.get((found.server, each.name), ("", False))
            if compute_pin(each.definition) != each.pin:
                raise _refuse("a definition is not the one that was proposed", curable=False)
            if not each.passes and lets_pass(kept, found.server, each.definition, hinted=hinted):
                why = f"a rule that is new lets calls of {each.name} pass. You are asked again"
                raise _refuse(why, curable=False)
        now_ms = services.clock.now_ms()
        await services.store.write(partial(accept_tools, workspace_id, found.server, found.tools, now_ms))
        return Delivered(effect.digest())


def make_connectors(
    services: Services, upstreams: Upstreams, infos: dict[str, ConnectorInfo]
) -> tuple[CallConnector | AcceptConnector, ...]:
    calls = tuple(CallConnector(services, upstreams, infos[name]) for name in (CALL, REPEATABLE))
    return (*calls, AcceptConnector(services, infos[ACCEPT]))


def fit_result(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result in a size that can be kept. A longer one is cut to its first text."""
    kept: dict[str, Any] = {
        name: result[name] for name in ("content", "structuredContent", "isError") if name in result
    }
    encoded = msgspec.json.encode(kept)
    # A store cannot hold NUL characters.
    if b"\\u0000" in encoded:
        encoded = encoded.replace(b"\\u0000", b"\\ufffd")
        kept = msgspec.json.decode(encoded)
    if len(encoded) <= MAX_RESULT_BYTES:
        return kept
    content = kept.get("content")
    texts = (
        [each.get("text") for each in content if isinstance(each, dict)] if isinstance(content, list) else []
    )
    first = next((text for text in texts if isinstance(text, str)), "")
    note = f"The result has {len(encoded):,} bytes. Only the beginning of its text is kept."
    cut: dict[str, Any] = {
        "content": [{"type": "text", "text": note}, {"type": "text", "text": first[: MAX_RESULT_BYTES // 4]}]
    }
    return {**cut, "isError": kept["isError"]} if "isError" in kept else cut


def _refuse(why: str, *, curable: bool) -> NotSent:
    return NotSent(Reason.CONNECTOR_FAILED, why, curable=curable)
