"""Performs what a person approved: a call of a wrapped tool, or the acceptance of a definition.

A call is made once, with exactly the approved arguments. An answer, also one that reports an error of
the tool, is its result; but a call that takes another one back has then not surely done so. No answer
means that the outcome is unknown: it is not made again, unless a rule says that this tool may be repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import msgspec

from assent import Context, Effect, NotSent, OutcomeUnknown
from assent.platform import ConnectorInfo, Delivered, Delivery, Readiness
from assent.sdk import Reason, Refusal, Retry, Services, Words, WorkspaceId
from assent_wrap.effects import (
    ACCEPT,
    CALL,
    REPEATABLE,
    hide_present,
    read_acceptance,
    read_details,
    show_present,
)
from assent_wrap.gateway import WINDOW_SECONDS, CallPace
from assent_wrap.listing import choose_mode, compute_pin, lets_pass, only_reads
from assent_wrap.profiles import DiffTemplate, ServerRules
from assent_wrap.repository import accept_tools, find_profile, list_pins, list_profiles
from assent_wrap.rulebook import list_rules
from assent_wrap.rules import may_pass
from assent_wrap.transports import RpcError, Unanswered, Unsent
from assent_wrap.upstreams import Upstream, Upstreams

CALL_SECONDS: Final = 120.0
MAX_RESULT_BYTES: Final = 200_000
"""The longest result that is kept with an action. A longer one is cut, and says so."""
READ_SECONDS: Final = 20.0
"""How long a present text may take: a person who approves waits for it."""
BEFORE_CHARS: Final = 50_000
"""The longest present text that is shown beside its replacement."""
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

    always_ready = False  # so that it is asked before a claim
    uses_sending = True
    rereads = True
    timeout_seconds = CALL_SECONDS

    def __init__(self, services: Services, upstreams: Upstreams, pace: CallPace, info: ConnectorInfo) -> None:
        self.id, self.info = info.id, info
        self.delivery = Delivery("natural_key" if info.id == REPEATABLE else "none")
        self._services = services
        self._upstreams = upstreams
        self._pace = pace

    async def addressed(self, workspace_id: WorkspaceId, effect: Effect) -> Effect:
        """Set the present text that a call would replace, so that it is shown and approved. None is shown
        if its reader may not be called. Raises `Refusal` if its server does not answer."""
        if (found := await self._find_server(workspace_id, effect)) is None:
            return effect
        rules, upstream = found
        rule = rules.find(effect.verb)
        if rule is None or rule.diff is None:
            return effect
        frozen = await self._services.find_freeze(workspace_id) is not None
        try:
            if not await self._may_read(workspace_id, upstream, rules, rule.diff.tool, frozen=frozen):
                return effect if frozen else hide_present(effect)
            if not self._pace.may_call(read_details(effect).profile):
                limited, seconds = {"limited": "the server that shows the difference"}, int(WINDOW_SECONDS)
                raise Refusal(Reason.RATE_LIMITED, facts=limited, retry_after_seconds=seconds)
            text = await _read_present(upstream, rule.diff, effect.arguments)
        except (Unsent, Unanswered, RpcError) as error:
            said = f"The text that this call would replace cannot be read now: {error}."
            words = Words(summary=said, user_message=said, fix="Tell the user, and try again later.")
            raise Refusal(Reason.CONNECTOR_FAILED, words=words, retry=Retry.SAME) from None
        return show_present(effect, text, self._services.clock.now_ms())

    async def readiness_for(self, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
        return await self.readiness(workspace_id)

    async def _find_server(
        self, workspace_id: WorkspaceId, effect: Effect
    ) -> tuple[ServerRules, Upstream] | None:
        """Return the server of a call, with its rules; None if it is not known any more."""
        details = read_details(effect)
        profile = await find_profile(self._services, workspace_id, details.profile)
        if profile is None or (spec := profile.find(details.server)) is None:
            return None
        return profile.rules_for(details.server), self._upstreams.find(details.profile, profile, spec)

    async def _may_read(
        self, workspace_id: WorkspaceId, upstream: Upstream, rules: ServerRules, tool: str, *, frozen: bool
    ) -> bool:
        """Whether a tool may be called to read, as an agent may call it without asking: its definition is
        accepted, it passes, and no rule of the workspace asks about it or hides it. During a freeze it also has to
        say that it only reads."""
        standing = await list_rules(self._services, workspace_id)
        if any(each.rule.mode != "pass" and each.rule.names(upstream.spec.name, tool) for each in standing):
            return False
        pins = await list_pins(self._services, workspace_id)
        pin = pins.get((upstream.spec.name, tool))
        if pin is None:
            return False
        accepted, hinted = pin
        trusted, rule = rules.trusted and hinted, rules.find(tool)
        return any(
            compute_pin(each) == accepted  # which has its name
            and choose_mode(each, rule, trusted=trusted) == "pass"
            and (not frozen or only_reads(each, trusted=trusted))
            for each in await upstream.list_tools()
        )

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        details = read_details(effect)
        if (found := await self._find_server(ctx.workspace_id, effect)) is None:
            raise NotSent(CHANGED.format(server=details.server), retry=False)
        _, upstream = found
        try:
            listed = {each["name"]: each for each in await upstream.list_tools()}
        except (Unsent, Unanswered, RpcError) as error:
            raise NotSent(str(error), retry=True) from None
        if compute_pin(listed.get(details.tool, {})) != details.pin:
            why = f"the tool {details.tool} of {details.server} has changed since this call was proposed"
            raise NotSent(why, retry=False)
        params = {"name": details.tool, "arguments": effect.arguments}
        try:
            result = await upstream.request("tools/call", params, ctx.left(), before=ctx.begin_sending)
        except Unsent as error:
            ctx.forget_sending()
            raise NotSent(str(error), retry=True) from None
        except RpcError as error:
            if error.code in REFUSED_CODES:
                raise NotSent(f"{details.server} refused the call: {error.message}", retry=False) from None
            raise OutcomeUnknown(f"{details.server} answered with an error: {error.message}") from None
        except Unanswered as error:
            raise OutcomeUnknown(str(error)) from None
        if result.get("resultType") == "input_required":
            why = f"{details.server} asked for input (elicitation), which a gated call does not pass on"
            raise NotSent(why, retry=False)
        if details.undoes and result.get("isError") is True:
            raise OutcomeUnknown(f"{details.server} reported an error, so it may not have been undone")
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
        rules, now_ms = await list_rules(services, workspace_id), services.clock.now_ms()
        for each in found.tools:
            _, hinted = pins.get((found.server, each.name), ("", False))
            if compute_pin(each.definition) != each.pin:
                raise NotSent("a definition is not the one that was proposed", retry=False)
            opens = lets_pass(kept, found.server, each.definition, hinted=hinted)
            if not each.passes and (opens or may_pass(rules, found.server, each.name, now_ms)):
                why = f"a rule that is new lets calls of {each.name} pass. You are asked again"
                raise NotSent(why, retry=False)
        await services.store.write(partial(accept_tools, workspace_id, found.server, found.tools, now_ms))
        return Delivered(effect.digest())


def make_connectors(
    services: Services, upstreams: Upstreams, pace: CallPace, infos: dict[str, ConnectorInfo]
) -> tuple[CallConnector | AcceptConnector, ...]:
    calls = tuple(CallConnector(services, upstreams, pace, infos[name]) for name in (CALL, REPEATABLE))
    return (*calls, AcceptConnector(services, infos[ACCEPT]))


async def _read_present(upstream: Upstream, template: DiffTemplate, arguments: Mapping[str, Any]) -> str:
    """Return the text that a call would replace; empty if its server reports an error."""
    given = {name: arguments.get(source) for name, source in template.arguments.items()}
    params = {"name": template.tool, "arguments": given}
    try:
        result = await upstream.request("tools/call", params, READ_SECONDS)
    except RpcError:
        return ""
    content = result.get("content")
    if result.get("isError") is True or not isinstance(content, list):
        return ""
    texts = [each.get("text") for each in content if isinstance(each, dict)]
    return "".join(text for text in texts if isinstance(text, str))[:BEFORE_CHARS].replace("\0", "\ufffd")


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
