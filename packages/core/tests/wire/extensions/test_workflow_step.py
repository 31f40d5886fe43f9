"""A workflow step names the effect of a stranger: its call is shown, approved, and then works."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.actions.kit import Gate
from tests.support.extensions.fixtures import BILLING, gate_with
from tests.support.surfaces import signed_in
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
    async with signed_in(
        gate_with((str(BILLING),), database_url, tmp_path, transport, workflow_dirs=(str(folder),))
    ) as gate:
        yield gate


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


async def test_every_tool_that_prepares_takes_the_agents_reason_and_keeps_it_beside_the_content(
    surface: Gate, billing: Any, tmp_path: Path
) -> None:
    why = "She asked for it twice."
    staged = [
        (await surface.done(tool, **given, reason=why))["actions"][0]["id"]
        for tool, given in (
            ("chieflab_post", {"channel": "site", "title": "News", "body": "We moved to Lisbon."}),
            ("chieflab_send", {"to": ["ada@example.org"], "subject": "Hi", "body": "We moved to Lisbon."}),
            ("chieflab_launch_product", {"drafts": {"site": "We moved to Lisbon."}}),
            ("acme_billing_note", {"text": "low"}),
        )
    ]
    proposed = await surface.done("chieflab_propose_call", source="bash", toolName="ls", reason=why)
    client = WorkflowClient(surface, tmp_path / "workflows")
    at = await client.start(definition("asking", step("ask", requireConfirmation=True), step("after")))
    refused = await client.send(at, notesMarkdown="Go on.", reason=why)
    # Its own argument of this name is shown among the others.
    own = await surface.done("acme_billing_refund", customer="c", amount="1 EUR", reason=why)

    for action_id in (*staged, proposed["actionId"], refused.payload["actionId"]):
        action = await surface.stored(action_id)
        assert action.metadata["reason"] == why
        assert why not in msgspec.json.encode(action.effect).decode()
    refund = await surface.stored(own["actions"][0]["id"])
    assert "reason" not in refund.metadata and refund.effect.arguments["reason"] == why


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
