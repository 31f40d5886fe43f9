"""MCP's form elicitation: a question to the client's person, and the answer that came back.

Knows the shapes of both eras and nothing of approvals. A client may answer without
a person, so an answer proves none.
"""

from __future__ import annotations

from typing import Any, Final

from mcp_types import ElicitResult
from mcp_types.version import is_version_at_least

from assent.tools.definition import DialogAnswer, InputRequired, Question

METHOD: Final = "elicitation/create"
SINCE: Final = "2025-06-18"
KEY: Final = "question"
"""Names the one request of an `InputRequiredResult`, and its answer."""
FIELD: Final = "decision"

_ACTIONS: Final = ("accept", "decline", "cancel")


def declares_forms(capabilities: Any, version: str) -> bool:
    """Whether a client of this revision declares forms. Without a named mode it means them, too."""
    declared = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    if not isinstance(declared, dict) or not is_version_at_least(version, SINCE):
        return False
    return declared.get("form") is not None or declared.get("url") is None


def write_params(question: Question) -> dict[str, Any]:
    """The params of the request. No choice is the default: a person has to pick one."""
    choice = {"type": "string", "title": "Decision", "enum": list(question.choices)}
    form = {"type": "object", "properties": {FIELD: choice}, "required": [FIELD]}
    return {"message": question.message, "requestedSchema": form}


def write_result(required: InputRequired) -> dict[str, Any]:
    """The result of a call that has to be repeated with the answer (2026-07-28)."""
    params = {"mode": "form", **write_params(required.question)}
    return {
        "resultType": "input_required",
        "inputRequests": {KEY: {"method": METHOD, "params": params}},
        "requestState": required.state,
    }


def read_result(result: Any) -> DialogAnswer:
    """Read the result of a request. Anything but the three actions counts as a dialog without an answer."""
    if not isinstance(result, dict) or result.get("action") not in _ACTIONS:
        return DialogAnswer("cancel")
    content = result.get("content")
    choice = content.get(FIELD) if isinstance(content, dict) else None
    return DialogAnswer(result["action"], choice if isinstance(choice, str) else None)


def read_responses(responses: Any) -> DialogAnswer | None:
    """Read the answer that a repeated call brings; None if it brings none."""
    answer = responses.get(KEY) if isinstance(responses, dict) else None
    if not isinstance(answer, ElicitResult):
        return None
    return read_result({"action": answer.action, "content": answer.content})
