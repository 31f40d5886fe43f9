"""The server stands on modules of the MCP SDK below its published names, because the published transports own the
mapping from an error to the wire. A version that may move these modules is not installed unseen."""

from __future__ import annotations

import re
import tomllib

from tests.support.sources import ROOT, list_modules

INNER = {
    "mcp.server.caching",
    "mcp.server.connection",
    "mcp.server.lowlevel",
    "mcp.server.runner",
    "mcp.shared.exceptions",
    "mcp.shared.inbound",
    "mcp.shared.message",
    "mcp.shared.transport_context",
    "mcp.shared.uri_template",
    "mcp_types.methods",
    "mcp_types.version",
}


def test_the_inner_modules_of_the_sdk_are_known() -> None:
    imported = re.compile(r"^\s*(?:from|import) (mcp(?:_types)?\.[\w.]+)", re.MULTILINE)
    found = {
        name
        for path in list_modules().values()
        for name in imported.findall(path.read_text(encoding="utf-8"))
    }
    assert found == INNER


def test_the_sdk_is_held_to_the_minor_version_that_was_tested() -> None:
    project = tomllib.loads((ROOT / "packages/core/pyproject.toml").read_text(encoding="utf-8"))
    assert "mcp>=2.3,<2.4" in project["project"]["dependencies"]
