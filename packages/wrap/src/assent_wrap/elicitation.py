"""Questions of a wrapped server to the client's person, in a call that passes through.

On legacy stdio the server's request is sent on to the client. In the modern era the server answers that
it needs input; the client repeats the call with the answer and with a state. The server's own state is
sealed in ours, so that it can be used only by the same caller for the same call. Elsewhere the client
declares nothing, and the question is refused by name.

A client shows every question as one of Assent. So only trusted servers ask; message and fields begin
with the server's name, and no text names Assent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from assent.platform import ForeignCall, names_server
from assent.sdk import Record, digest
from assent_wrap.listing import OfferedTool
from assent_wrap.proposals import say_error
from assent_wrap.transports import RpcError
from assent_wrap.upstreams import AskClient, Upstream

INPUT_REQUIRED: Final = "input_required"
ELICITATION: Final = "elicitation"
MAX_QUESTION_CHARS: Final = 20_000
TEXT: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
"""A text in JSON."""
INVALID_PARAMS: Final = -32602
CREATE: Final = "elicitation/create"


class SealedState(Record):
    """A server's state, with the call that it belongs to."""

    holder: str
    call: str
    state: str


def forward_input(call: ForeignCall, upstream: Upstream) -> AskClient | None:
    """Return how a legacy server's question reaches the client; None if it cannot."""
    client = call.client
    if upstream.modern or client.capabilities is not None or client.ask is None:
        return None
    return partial(_forward, client.ask, upstream.spec.name)


async def _forward(ask: AskClient, server: str, params: dict[str, Any], seconds: float) -> dict[str, Any]:
    return await ask(introduce(server, {"method": CREATE, "params": params}, {}), seconds)


def introduce(server: str, asked: Any, modes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the params of a server's request, with its name in the message and in the title of each field. `modes`
    are the client's; one without any shows forms. Raises `RpcError` for what does not pass."""
    params = asked.get("params") if isinstance(asked, dict) and asked.get("method") == CREATE else None
    given = params if isinstance(params, dict) else {}
    message, form = given.get("message"), given.get("requestedSchema")
    fields = form.get("properties") if isinstance(form, dict) else None
    why = ""
    if not isinstance(message, str) or given.get("mode", "form") not in list(modes or {"form": {}}):
        why = "in a way that this client does not offer"
    elif not str(given.get("url", "https://")).startswith(("https://", "http://")):
        why = "for an address that is no page"
    elif len(encoded := msgspec.json.encode([server, given]).decode()) > MAX_QUESTION_CHARS:
        why = "more than a person can read"
    elif names_server("\n".join(map(msgspec.json.decode, TEXT.findall(encoded)))):
        why = "in Assent's name, for which only Assent speaks"
    if why:
        raise RpcError(INVALID_PARAMS, f"{server} asked {why}. Its question was not passed on.")
    named = {**given, "message": f"The server {server} asks: {message}"}
    if isinstance(form, dict) and isinstance(fields, dict):
        titles = {name: field.get("title", name) for name, field in fields.items() if isinstance(field, dict)}
        titled = {name: {**fields[name], "title": f"{server}: {title}"} for name, title in titles.items()}
        named["requestedSchema"] = {**form, "properties": titled}
    return named


def list_capabilities(call: ForeignCall, upstream: Upstream) -> dict[str, Any]:
    """Return what is declared to a modern server: only what a modern client declares, too."""
    declared = call.client.capabilities or {}
    return {ELICITATION: declared[ELICITATION]} if upstream.modern and ELICITATION in declared else {}


def _identify(call: ForeignCall, tool: OfferedTool, params: Mapping[str, Any]) -> str:
    return digest([call.profile_id, tool.server, tool.tool, tool.pin, params.get("arguments")])


def open_state(
    verify: Callable[[str], bytes], call: ForeignCall, tool: OfferedTool, params: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the params for the server, with its own state. Raises `ValueError` for a state that is not
    this call's."""
    sent = dict(params)
    state = sent.get("requestState")
    if state is None:
        return sent
    try:
        found = msgspec.json.decode(verify(str(state)), type=SealedState)
    except (ValueError, msgspec.DecodeError):
        raise ValueError("The state does not belong to this call. Call the tool again without it.") from None
    if (found.holder, found.call) != (call.caller.holder, _identify(call, tool, params)):
        raise ValueError("The state does not belong to this call. Call the tool again without it.")
    return {**sent, "requestState": found.state}


def seal_result(
    sign: Callable[[bytes], str],
    call: ForeignCall,
    tool: OfferedTool,
    params: Mapping[str, Any],
    result: dict[str, Any],
) -> dict[str, Any]:
    """Return the result for the client, with the server's questions introduced and its state sealed."""
    if result.get("resultType") != INPUT_REQUIRED:
        return result
    if call.client.capabilities is None or ELICITATION not in call.client.capabilities:
        able = "a trusted server and a client that can ask"
        return say_error(f"{tool.server} asked for input (elicitation), which passes for {able} alone.")
    asked, state, sent = result.get("inputRequests"), result.get("requestState"), dict(result)
    if isinstance(asked, dict):
        modes = call.client.capabilities[ELICITATION]
        try:
            sent["inputRequests"] = {
                key: {"method": CREATE, "params": introduce(tool.server, each, modes)}
                for key, each in asked.items()
            }
        except RpcError as error:
            return say_error(error.message)
    if isinstance(state, str):
        sealed = SealedState(call.caller.holder, _identify(call, tool, params), state)
        sent["requestState"] = sign(msgspec.json.encode(sealed))
    return sent
