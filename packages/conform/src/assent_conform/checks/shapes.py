"""The named shapes of the contract: the fields that an answer must have, and their kinds.

Tables, and two functions that compare an answer with them. Extra fields are always allowed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from assent_conform.checks.checking import expect

UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

Kinds = type | tuple[type, ...]

NULL: Final = type(None)

PREPARED: Final[dict[str, Kinds]] = {
    "runId": str,
    "workspaceId": str,
    "assets": list,
    "actions": list,
    "reviewUrl": str,
    "agentGuide": dict,
    "stopRule": str,
}
ASSET: Final[dict[str, Kinds]] = {"id": str, "type": str, "title": str, "body": str}
ACTION: Final[dict[str, Kinds]] = {
    "id": str,
    "channel": str,
    "connector": str,
    "executorTool": str,
    "status": str,
    "preflight": dict,
}
PREFLIGHT: Final[dict[str, Kinds]] = {
    "severity": str,
    "warnings": list,
    "recommendations": list,
    "gates": list,
    "connectorReady": bool,
    "connectorBlocker": (str, NULL),
    "connectorFixHint": (str, NULL),
    "estimatedCostCredits": (int, float),
}
GUIDE: Final[dict[str, Kinds]] = {
    "renderInChat": dict,
    "userMessage": str,
    "nextToolCalls": dict,
    "stopRule": str,
    "agentDependency": list,
}
RECORD: Final[dict[str, Kinds]] = {
    "id": str,
    "runId": str,
    "workspaceId": str,
    "type": str,
    "channel": str,
    "connector": str,
    "executorTool": str,
    "status": str,
    "preflight": dict,
    "approvedBy": (str, dict, list, NULL),
    "approvedAt": (str, NULL),
    "executedAt": (str, NULL),
    "externalId": (str, NULL),
    "metadata": dict,
}
RECOVERY: Final[dict[str, Kinds]] = {
    "reason": str,
    "summaryForUser": str,
    "userMessage": str,
    "fixActionForAgent": str,
    "recoveryTool": (dict, NULL),
    "retryable": bool,
    "stopRule": (str, NULL),
}
OPERATOR: Final[dict[str, Kinds]] = {
    "id": str,
    "label": str,
    "function": str,
    "primaryTool": str,
    "connectors": list,
    "status": str,
}
STATUSES: Final = frozenset(("awaiting_approval", "approved", "rejected", "edited", "executed", "failed"))
WORKFLOW_ANSWER: Final[dict[str, Kinds]] = {"stateToken": str, "isComplete": bool, "session": dict}


def expect_fields(found: Mapping[str, Any], fields: Mapping[str, Kinds], what: str) -> None:
    """Check that every field is present and of its kind."""
    for name, kinds in fields.items():
        expect(name in found, f"{what} has {name}")
        expect(isinstance(found[name], kinds), f"{name} of {what} is {_names(kinds)}", found[name])


def expect_recovery(payload: Mapping[str, Any], reason: str) -> None:
    """Check that a refusal has this reason and complete recovery fields."""
    expect(payload.get("ok") is False, f"a refusal for {reason} says ok: false", payload)
    expect(payload.get("reason") == reason, f"the reason is {reason}", payload.get("reason"))
    expect_fields(payload, RECOVERY, f"the refusal for {reason}")
    for name in ("summaryForUser", "userMessage", "fixActionForAgent"):
        expect(payload[name].strip(), f"{name} of the refusal for {reason} says something")


def _names(kinds: Kinds) -> str:
    each = kinds if isinstance(kinds, tuple) else (kinds,)
    return " or ".join("null" if kind is NULL else kind.__name__ for kind in each)
