"""A workflow step names the effect of a stranger: its call is shown, approved, and then works."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.actions.kit import Gate
from tests.support.extensions.fixtures import BILLING, gate_with
from tests.support.workflows.kit import WorkflowClient, definition
from tests.support.workflows.library import step

from assent.gate.records import Assurance

ACTING = definition(
    "acting",
    step(
        "pay",
        action={
            "tool": "acme_billing_refund",
            "args": {"customer": "{{customer}}", "amount": "12.50 EUR", "reason": "It arrived broken."},
        },
    ),
    step("after"),
)


@pytest.fixture
async def surface(transport: str, database_url: str, tmp_path: Path) -> AsyncIterator[Gate]:
    folder = tmp_path / "workflows"
    folder.mkdir()
    gate = gate_with((str(BILLING),), database_url, tmp_path, transport, workflow_dirs=(str(folder),))
    try:
        gate.workspace_id = (await gate.sign_in()).workspace_id
        yield gate
    finally:
        await gate.close()


async def test_the_call_of_a_step_prepares_the_effect_once_the_step_is_approved(
    surface: Gate, billing: Any, tmp_path: Path
) -> None:
    client = WorkflowClient(surface, tmp_path / "workflows")
    at = await client.start(ACTING, context={"customer": "cus_7"})
    call = at["pending"]["action"]
    assert call["tool"] == "acme_billing_refund"
    refused = await client.send(at, notesMarkdown="Pay it back.")
    assert refused.reason == "requires_approval"
    await surface.approve_as(Assurance.PERSON, refused.payload["actionId"])
    passed = await client.advance(at, notesMarkdown="Pay it back.")
    assert passed["pending"]["stepId"] == "after"
    prepared = await surface.done(call["tool"], **call["args"])
    stored = await surface.stored(prepared["actions"][0]["id"])
    assert stored.effect.arguments["customer"] == "cus_7"
    assert stored.view.title == "Refund 12.50 EUR to cus_7"
    assert billing.LEDGER == []


@pytest.mark.parametrize(
    ("tool", "severity"),
    [
        ("acme_billing_refund", "high"),
        ("chieflab_post", "medium"),
        ("chieflab_launch_product", "medium"),
        ("chieflab_brain_record", "low"),
        ("a_tool_of_someone_else", "high"),
        (None, "low"),
    ],
)
async def test_the_confirmation_of_a_step_has_the_worst_class_of_what_it_confirms(
    surface: Gate, billing: Any, tmp_path: Path, tool: str | None, severity: str
) -> None:
    asked = step("ask", action={"tool": tool, "args": {}}) if tool else step("ask", requireConfirmation=True)
    client = WorkflowClient(surface, tmp_path / "workflows")
    at = await client.start(definition("asking", asked, step("after")))
    refused = await client.send(at, notesMarkdown="Go on.")
    stored = await surface.stored(refused.payload["actionId"])
    assert stored.preflight.severity == severity
