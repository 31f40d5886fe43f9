"""Every client that people use, in each protocol era, over both transports, sees the same server."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.effort import PROVE
from tests.support.interop.clients import (
    CLIENTS,
    INSPECTOR,
    KEYED_TOOL,
    MODERN,
    PUBLIC_TOOL,
    Client,
    run_node,
)
from tests.support.interop.running import Http, Served, Workspace, stdio

pytestmark = [pytest.mark.slow, pytest.mark.interop]

each_client = pytest.mark.parametrize("client", CLIENTS, ids=[client.name for client in CLIENTS])
one_of_each_maker = pytest.mark.parametrize(
    "client",
    [client for client in CLIENTS if client.protocol == MODERN or PROVE],
    ids=lambda client: client.name,
)
"""The same program in its newest era: for what the server decides and not the protocol."""


@pytest.fixture(autouse=True)
def node_where_needed(request: pytest.FixtureRequest) -> None:
    if "client" in request.fixturenames and request.getfixturevalue("client").needs_node:
        request.getfixturevalue("node_program")


@each_client
def test_lists_and_calls_tools_over_http_with_a_key(
    client: Client, served: Served, workspace: Workspace
) -> None:
    seen = client.converse(Http(served.mcp_url, workspace.api_key), True)

    assert seen.protocol in (client.protocol, None)
    assert {PUBLIC_TOOL, KEYED_TOOL} <= set(seen.tools)
    assert seen.connectors["ok"] is True
    assert seen.workspace is not None
    assert seen.workspace["workspaceId"] == workspace.workspace_id


@pytest.mark.prove
@one_of_each_maker
def test_calls_a_public_tool_over_http_without_a_key(client: Client, served: Served) -> None:
    seen = client.converse(Http(served.mcp_url), False)

    assert PUBLIC_TOOL in seen.tools
    assert seen.connectors["ok"] is True


@each_client
def test_lists_and_calls_tools_over_stdio_in_the_default_workspace(client: Client, tmp_path: Path) -> None:
    seen = client.converse(stdio(tmp_path), True)

    assert seen.protocol in (client.protocol, None)
    assert {PUBLIC_TOOL, KEYED_TOOL} <= set(seen.tools)
    assert seen.connectors["ok"] is True
    assert seen.workspace is not None
    assert seen.workspace["workspaceId"]


@pytest.mark.prove
@one_of_each_maker
def test_acts_over_stdio_as_the_workspace_whose_key_it_is_given(
    client: Client, served: Served, workspace: Workspace
) -> None:
    seen = client.converse(stdio(served.data_dir, ASSENT_API_KEY=workspace.api_key), True)

    assert seen.workspace is not None
    assert seen.workspace["workspaceId"] == workspace.workspace_id


def test_every_client_sees_the_same_tools_in_the_same_order(served: Served, node_program: str) -> None:
    lists = {client.name: client.converse(Http(served.mcp_url), False).tools for client in CLIENTS}

    assert len(set(lists.values())) == 1, lists


def test_the_inspector_finds_every_published_schema_portable(served: Served, node_program: str) -> None:
    done = run_node(
        INSPECTOR, "--cli", served.mcp_url, "--transport", "http", "--method", "tools/list", "--strict"
    )

    assert done.returncode == 0, done.stderr
