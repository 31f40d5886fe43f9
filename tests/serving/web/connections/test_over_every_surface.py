"""Contacts and sources over both transports and both stores, as an agent meets them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.serving.web.connections.kit import Providers, connect, providers
from tests.surfaces import ManualClock, Surface

from assent.kernel.ids import WorkspaceId

pytestmark = pytest.mark.every_surface

ADA = {"email": "ada@example.org", "firstName": "Ada"}
GRACE = {"email": "grace@example.org"}


@pytest.fixture
async def far(tmp_path: Path) -> AsyncIterator[Providers]:
    async with providers(tmp_path, ManualClock()) as made:
        yield made


@pytest.fixture
def changed_settings(far: Providers) -> dict[str, Any]:
    return far.settings()


async def staged(surface: Surface, contact: dict[str, str]) -> str:
    run = (await surface.call("chieflab_save_contacts", {"contacts": [contact]})).payload
    action_id: str = run["actions"][0]["id"]
    return action_id


@pytest.mark.rule("E5", "E11", "E24", "E54")
async def test_a_contact_is_staged_approved_and_saved_and_a_revoked_access_is_recovered(
    surface: Surface, far: Providers
) -> None:
    issued = await surface.sign_in()
    workspace_id = WorkspaceId(issued.workspace_id)
    await connect(surface.app, "hubspot", workspace_id)
    first, second = await staged(surface, ADA), await staged(surface, GRACE)
    assert not far.hubspot.happened("contact_created")
    early = await surface.call("chieflab_execute_approved_action", {"actionId": first})
    assert early.reason == "requires_approval"

    await surface.call("chieflab_approve_action", {"actionId": first})
    done = (await surface.call("chieflab_execute_approved_action", {"actionId": first})).payload
    assert done["ok"] is True
    assert [each.content["id"] for each in far.hubspot.happened("contact_created")] == [done["externalId"]]
    record = (await surface.call("chieflab_get_action", {"actionId": first})).payload
    assert record["target"]["accountId"] == str(far.hubspot.hub_id)

    far.hubspot.revoke_all()
    await surface.call("chieflab_approve_action", {"actionId": second})
    refused = await surface.call("chieflab_execute_approved_action", {"actionId": second})
    assert refused.reason == "missing_connector"
    assert refused.payload["recoveryTool"] == {
        "name": "chieflab_connect_provider",
        "args": {"provider": "hubspot"},
    }
    how = (await surface.call("chieflab_connect_provider", {"provider": "hubspot"})).payload
    assert how["connected"] is False
    assert how["connectUrl"].endswith(f"/connect/hubspot?workspace={workspace_id}")

    await connect(surface.app, "hubspot", workspace_id)
    again = (await surface.call("chieflab_execute_approved_action", {"actionId": second})).payload
    assert again["ok"] is True
    assert len(far.hubspot.happened("contact_created")) == 2
