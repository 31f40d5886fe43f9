"""Discovery documents, built from the tool table.

`/.well-known/mcp.json` and `GET /api/mcp` (E76, E50), `/openapi.json` (3.1) for the REST surface,
`/llms.txt` and `/llms-full.txt`. Each is built once, at its first request.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

import msgspec
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS

from assent import __version__
from assent.engine.actions.boundary import ClaimedAssurance
from assent.extensions.hooks import Extension
from assent.kernel.refusals import MEANINGS, Recovery
from assent.kernel.schemas import flatten
from assent.serving.agent_texts import write_everything, write_index
from assent.serving.instructions import SPEC_URL, instructions
from assent.tools.catalog import Catalog, input_schema
from assent.tools.definition import Tool
from assent.tools.workspaces import SIGNUP
from assent.workflow.definition.schema import SCHEMA_PATH

CONTRACT: Final = "ChiefLab Execution Contract v0.1"


def list_operators(installed: tuple[Extension, ...]) -> tuple[dict[str, Any], ...]:
    """Return the operators of extensions as the discovery documents list them (E50)."""
    return tuple(msgspec.to_builtins(each) for extension in installed for each in extension.list_operators())


class Documents:
    """The discovery documents of one server, for callers that see these tools and operators."""

    def __init__(
        self,
        catalog: Catalog,
        base_url: str,
        operators: tuple[dict[str, Any], ...] = (),
        *,
        owned: Documents | None = None,
    ) -> None:
        """`owned` are the documents for keys of the owner's workspaces (E50), where they differ."""
        self._catalog = catalog
        self._base_url = base_url.rstrip("/")
        self._operators = operators
        self.owned = owned or self

    def metadata(self, claims: ClaimedAssurance | None = None) -> bytes:
        """Body of `/.well-known/mcp.json` and `GET /api/mcp`. Needs no key (E76). Cites the
        contract and its version (E60). `claims` is None while the store is unavailable."""
        if claims is None:
            return self._metadata
        return self._metadata[:-1] + b',"assurance":' + _json(claims) + b"}"

    @cached_property
    def _metadata(self) -> bytes:
        get_key = f"{self._base_url}/get-key"
        return _json(
            {
                "name": "assent",
                "title": "Assent",
                "version": __version__,
                "description": "Approval-gated actions for AI agents, enforced on the server.",
                "spec": SPEC_URL,
                "specVersion": CONTRACT,
                "endpoint": f"{self._base_url}/api/mcp",
                "transports": ["streamable-http", "stdio"],
                "protocolVersions": list(KNOWN_PROTOCOL_VERSIONS),
                "authentication": {
                    "type": "bearer",
                    "prefixes": ["clp_live_", "clp_dev_"],
                    **({"getKey": get_key, "signupTool": SIGNUP} if self._catalog.signup_open else {}),
                    "publicTools": [tool.name for tool in self._catalog.tools if tool.public],
                },
                "instructions": instructions(self._catalog.toolsets, signup_open=self._catalog.signup_open),
                "operators": list(self._operators),
                "tools": [
                    {"name": tool.name, "title": tool.title, "category": tool.category, "public": tool.public}
                    for tool in self._catalog.tools
                ],
                "documents": {
                    "openapi": f"{self._base_url}/openapi.json",
                    "llms": f"{self._base_url}/llms.txt",
                    "llmsFull": f"{self._base_url}/llms-full.txt",
                    "forAgents": f"{self._base_url}/for-agents",
                    "workflowSchema": f"{self._base_url}{SCHEMA_PATH}",
                },
            }
        )

    @cached_property
    def openapi(self) -> bytes:
        """The REST surface as OpenAPI 3.1."""
        statuses = sorted({meaning.status for meaning in MEANINGS.values()})
        refusals = {
            str(status): {"$ref": "#/components/responses/Recovery"}
            for status in (*statuses, 413)
            if status != 200
        }
        return _json(
            {
                "openapi": "3.1.0",
                "info": {
                    "title": "Assent",
                    "version": __version__,
                    "description": "The tool table over HTTP: the body is the arguments, the answer the payload. "
                    f"Implements {CONTRACT} ({SPEC_URL}).",
                    "license": {"name": "MIT", "identifier": "MIT"},
                },
                "servers": [{"url": self._base_url}],
                "paths": {
                    f"/api/tools/{tool.name}": {"post": _operation(tool, refusals)}
                    for tool in self._catalog.tools
                },
                "components": {
                    "securitySchemes": {
                        "key": {"type": "http", "scheme": "bearer", "bearerFormat": "clp_live_…"}
                    },
                    "responses": {
                        "Recovery": {
                            "description": "A structured recovery: what went wrong and what to do next.",
                            "content": {"application/json": {"schema": flatten(Recovery, keep_null=True)}},
                        }
                    },
                },
            }
        )

    @cached_property
    def llms(self) -> bytes:
        """The index for agents that read the site instead of the protocol."""
        return write_index(self._catalog, self._base_url).encode()

    @cached_property
    def llms_full(self) -> bytes:
        """Everything that an agent needs to go on, in one text."""
        return write_everything(self._catalog, self._base_url).encode()


def _operation(tool: Tool, refusals: dict[str, Any]) -> dict[str, Any]:
    return {
        "operationId": tool.name,
        "summary": tool.title,
        "description": tool.description,
        "tags": [tool.category],
        "security": [{}, {"key": []}] if tool.public else [{"key": []}],
        "requestBody": {
            "required": False,
            "content": {"application/json": {"schema": input_schema(tool.request)}},
        },
        "responses": {
            "200": {
                "description": "The payload.",
                "content": {"application/json": {"schema": flatten(tool.reply, keep_null=True)}},
            },
            **refusals,
        },
    }


def _json(document: Any) -> bytes:
    return msgspec.json.encode(document)
