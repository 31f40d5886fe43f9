"""Thousands of tenants in one workspace: lists come in pages, and one tenant can be looked at alone."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.answers import text_of
from tests.support.operators.fixtures import LaunchClient

from assent_launch.learning import result_views

TENANTS = 130


async def post(client: LaunchClient, tenant: str | None) -> str:
    arguments = {"channel": "site", "body": f"Dark mode is here for {tenant}."}
    arguments |= {"tenantId": tenant} if tenant is not None else {}
    action_id: str = (await client.call("chieflab_post", arguments)).payload["actions"][0]["id"]
    return action_id


async def ask(client: LaunchClient, tool: str, **arguments: Any) -> dict[str, Any]:
    return (await client.call(tool, arguments)).payload


async def test_tenants_come_in_pages(client: LaunchClient) -> None:
    names = [f"club-{number:03}" for number in range(TENANTS)]
    for name in names:
        await ask(client, "chieflab_create_tenant", tenantId=name)
    seen: list[str] = []
    cursor: dict[str, str] = {}
    pages = 0
    while cursor or not pages:
        page = await ask(client, "chieflab_list_tenants", limit=50, **cursor)
        seen += [each["tenantId"] for each in page["tenants"]]
        cursor = {"cursor": page["nextCursor"]} if page["nextCursor"] is not None else {}
        pages += 1
    made = await ask(client, "chieflab_create_tenant", tenantId="club-000", name="Another")
    workspace = await ask(client, "chieflab_get_workspace")

    assert (seen, pages) == (names, 3)
    assert [each["name"] for each in made["tenants"]] == ["club-000"]
    assert len(workspace["tenants"]) == 100


@pytest.mark.parametrize("tenant", ["north", "default"])
async def test_what_waits_went_out_and_was_done_is_told_of_one_tenant(
    client: LaunchClient, tenant: str
) -> None:
    named = {"north": "north", "default": None}
    ids = {name: [await post(client, of), await post(client, of)] for name, of in named.items()}
    for waiting, sent in ids.values():
        await client.approve_and_send(sent)
        assert waiting
    waiting, sent = ids[tenant]
    pending = await ask(client, "chieflab_list_pending_actions", tenantId=tenant)
    status = await ask(client, "chieflab_status", tenantId=tenant)
    report = await ask(client, "chieflab_report", tenantId=tenant)
    everyone = await ask(client, "chieflab_status")

    assert [each["id"] for each in pending["actions"]] == [waiting]
    assert [each["actionId"] for each in status["waiting"]] == [waiting]
    assert [each["actionId"] for each in status["wentOut"]] == [sent]
    assert (status["counts"]["waiting"], status["counts"]["wentOut"]) == (1, 1)
    assert {each["actionId"] for each in report["actions"]} == {waiting, sent}
    assert everyone["counts"]["waiting"] == 2


async def test_a_list_of_several_tenants_says_which(client: LaunchClient) -> None:
    for name in ("north", "south"):
        await post(client, name)
    pending = await ask(client, "chieflab_list_pending_actions")
    status, report = await ask(client, "chieflab_status"), await ask(client, "chieflab_report")

    for answer in (pending, status, report):
        assert "north" in text_of(answer) and "south" in text_of(answer)
    assert {each["tenantId"] for each in status["waiting"]} == {"north", "south"}


async def test_results_are_read_of_one_tenant(client: LaunchClient) -> None:
    for name in ("north", "south"):
        await client.approve_and_send(await post(client, name))
    workspace_id = client.workspace_id
    assert workspace_id is not None
    alone = await client.app.store.read(lambda: result_views.read_results(workspace_id, -1, "north"))
    everyone = await client.app.store.read(lambda: result_views.read_results(workspace_id, -1))

    assert [each.tenant_id for each in (*alone.measured, *alone.waiting)] == ["north"]
    assert (alone.sent, everyone.sent) == (1, 2)
