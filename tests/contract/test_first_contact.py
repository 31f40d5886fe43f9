"""What a client that has never been here meets first."""

from __future__ import annotations

import pytest
from tests.surfaces import Surface


@pytest.mark.rule("E84")
async def test_public_tools_answer_without_a_key(surface: Surface) -> None:
    outcome = await surface.call("chieflab_list_connectors")

    assert not outcome.is_error
    assert {connector["id"] for connector in outcome.payload["connectors"]} >= {"site", "smtp", "zernio"}


@pytest.mark.rule("E84")
async def test_a_key_opens_its_own_workspace(surface: Surface) -> None:
    issued = await surface.sign_in()

    outcome = await surface.call("chieflab_get_workspace")

    assert outcome.payload["workspaceId"] == issued.workspace_id
