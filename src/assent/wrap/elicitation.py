"""Questions of a wrapped server to the client's person, in a call that passes through.

On legacy stdio the server's request is sent on to the client. In the modern era the server answers that
it needs input; the client repeats the call with the answer and with a state. The server's own state is
sealed in ours, so that it can be used only by the same caller for the same call. Elsewhere the client
declares nothing, and the question is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from assent.platform.gateway import ClientPort, ForeignCall, KeyRing, TokenInvalid
from assent.platform.values import Record, digest
from assent.wrap.gated import say_error
from assent.wrap.listing import OfferedTool
from assent.wrap.upstreams import AskClient, Upstream

INPUT_REQUIRED: Final = "input_required"
ELICITATION: Final = "elicitation"


class SealedState(Record):
    """A server's state, with the call that it belongs to."""

    holder: str
    call: str
    state: str


def forward_input(client: ClientPort, upstream: Upstream) -> AskClient | None:
    """Return how a legacy server's question reaches the client; None if it cannot."""
    return client.ask if not upstream.modern and client.capabilities is None else None


def list_capabilities(client: ClientPort, upstream: Upstream) -> dict[str, Any]:
    """Return what is declared to a modern server: only what a modern client declares, too."""
    declared = client.capabilities or {}
    return {ELICITATION: declared[ELICITATION]} if upstream.modern and ELICITATION in declared else {}


def _identify(call: ForeignCall, tool: OfferedTool, params: Mapping[str, Any]) -> str:
    return digest([call.profile_id, tool.server, tool.tool, tool.pin, params.get("arguments")])


def open_state(
    keys: KeyRing, call: ForeignCall, tool: OfferedTool, params: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the params for the server, with its own state. Raises `ValueError` for a state that is not
    this call's."""
    sent = dict(params)
    state = sent.get("requestState")
    if state is None:
        return sent
    try:
        found = msgspec.json.decode(keys.verify(str(state)), type=SealedState)
    except (TokenInvalid, msgspec.DecodeError):
        raise ValueError("The state does not belong to this call. Call the tool again without it.") from None
    if (found.holder, found.call) != (call.caller.holder, _identify(call, tool, params)):
        raise ValueError("The state does not belong to this call. Call the tool again without it.")
    return {**sent, "requestState": found.state}


def seal_result(
    keys: KeyRing, call: ForeignCall, tool: OfferedTool, params: Mapping[str, Any], result: dict[str, Any]
) -> dict[str, Any]:
    """Return the result for the client, with the server's state sealed."""
    if result.get("resultType") != INPUT_REQUIRED:
        return result
    if call.client.capabilities is None or ELICITATION not in call.client.capabilities:
        return say_error(f"{tool.server} asked for input (elicitation), which this client cannot give.")
    state = result.get("requestState")
    if not isinstance(state, str):
        return result
    sealed = SealedState(call.caller.holder, _identify(call, tool, params), state)
    return {**result, "requestState": keys.sign(msgspec.json.encode(sealed))}
