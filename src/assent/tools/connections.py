"""The connectors this server knows, as public metadata (E84, E86)."""

from __future__ import annotations

import msgspec

from assent.connectors.registry import CONNECTORS, ConnectorInfo
from assent.tools.definition import READS, Call, Tool


class ListConnectors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No arguments."""


class ConnectorList(msgspec.Struct, frozen=True, rename="camel"):
    ok: bool
    connectors: tuple[ConnectorInfo, ...]


async def list_connectors(call: Call, request: ListConnectors) -> ConnectorList:
    return ConnectorList(ok=True, connectors=CONNECTORS)


TOOLS = (
    Tool(
        name="chieflab_list_connectors",
        title="List connectors",
        description="Lists the connectors this server knows (site, e-mail, social, analytics), what each one does, "
        "how "
        "it is connected and whether it is live. Public metadata: needs no key and shows no secret. USE WHEN you "
        "must "
        "know which channels can be published or measured.",
        category="workspace",
        behaviour=READS,
        request=ListConnectors,
        reply=ConnectorList,
        handler=list_connectors,
        public=True,
    ),
)
