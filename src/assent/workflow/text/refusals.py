"""Writes the refusal of an execution tool as text before the payload (W76).

Uses the refusal as it is sent, so that text and payload agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

MOST_ARGUMENTS_CHARS: Final = 300
"""The longest call in the text; the payload has it whole."""


def render_refusal(refusal: Mapping[str, Any]) -> str:
    """Write what happened, what the person should see, and the calls that help."""
    shown = refusal.get("show") or refusal["userMessage"]
    problems = "\n".join(
        f"- `{each['path']}`: expected {each['expected']}; got {each['got']}"
        for each in refusal.get("problems", ())
    )
    calls = [_call(each) for each in refusal.get("next", ())]
    if not calls and (recovery := refusal.get("recoveryTool")) is not None:
        calls.append(_call(recovery))
    link = refusal.get("reviewUrl")
    parts = [
        f"# Not done: {refusal['summaryForUser']}",
        shown,
        problems,
        f"## What to do\n{refusal['fixActionForAgent']} {refusal['stopRule']}",
        "\n".join(f"{number}. {call}" for number, call in enumerate(calls, 1)),
        f"Review link, for a person who is not in this chat: {link}" if link and link not in shown else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _call(call: Mapping[str, Any]) -> str:
    """Write a call with its arguments, and those that the person has to supply."""
    arguments = msgspec.json.encode(call["args"]).decode()
    if len(arguments) > MOST_ARGUMENTS_CHARS:
        arguments = "with the arguments that `next` has for it"
    when = f" ({call['when']})" if call.get("when") else ""
    needs = "".join(f"; ask the person for `{name}`: {what}" for name, what in call.get("needs", {}).items())
    return f"`{call['name']}` {arguments}{when}{needs}"
