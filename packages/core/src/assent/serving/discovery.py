"""Discovery documents, built from the tool table.

`/.well-known/mcp.json` and `GET /api/mcp` (E76, E50), `/openapi.json` (3.1) for the REST surface,
`/llms.txt` and `/llms-full.txt`. Each is built once, at its first request.

`/llms.txt` is an index in the form of llmstxt.org: what this is, how to connect, the instructions,
every document and every tool in a line. `/llms-full.txt` has all that an agent needs to go on: the
moves of an action, the arguments and answers of every tool, every reason for a refusal.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

import msgspec
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS

from assent import __version__
from assent.engine.actions.boundary import ClaimedAssurance
from assent.extensions.hooks import Extension
from assent.gate.records import ExecutionState
from assent.gate.transitions import TABLE, TERMINAL, State
from assent.kernel.reasons import STANDARD_REASONS, Reason, describe_reason
from assent.kernel.refusals import MEANINGS, Recovery
from assent.kernel.schemas import flatten
from assent.serving.instructions import SPEC_URL, instructions
from assent.tools.catalog import Catalog, input_schema
from assent.tools.definition import Tool, find_toolset
from assent.tools.workspaces import SIGNUP
from assent.workflow.definition.schema import SCHEMA_PATH

ABOUT_REFUSALS: Final = """\
Every refusal has the same shape: `ok: false`, `reason`, `summaryForUser`, `userMessage`, `fixActionForAgent`,
`recoveryTool`, `retryable`, `stopRule`, `retry` and `statusCode`; some reasons add facts such as `reviewUrl`,
`retryAfterSeconds` or `problems`.

`retry` says what an agent repeats:

- `same`: wait `retryAfterSeconds`, then repeat the call once.
- `changed`: correct the call and make it again. Where there is a `recoveryTool`, its answer has the right values.
- `after_recovery`: call `recoveryTool`, wait for what it asks of the person, then repeat the original call.
- `never`: stop and show `userMessage`.

`retryable` is true for the first three. `recoveryTool` has complete `args`; what only the person knows is listed in
`needs`, with what to ask for. `requires_approval` and `stale_revision` carry the content in `agentGuide.renderInChat`,
and in `nextToolCalls` the calls for what the person may say about it.
"""

_ACTIONS: Final = """\
## How an action moves

A tool that prepares something stores an action and sends nothing. A person decides about exactly the content that you
show them; a changed action needs a new decision. The server sends an approved action once, and a repeated call with
the same idempotencyKey gets the first answer. After `outcome_unknown` do not send it again: first a person or the
server finds out what happened. Rewinding the chat undoes nothing: ask chieflab_status or chieflab_get_action.

A person's decision approves, rejects, edits, withdraws or hands over (published by hand). What the person or the
provider says about an unknown outcome is a move that begins with found. The server makes the other moves.

| state | move | next state |
|---|---|---|
"""

_WORKFLOWS: Final = """\
## How to follow a workflow

1. workflow_list with the user's wish as `query`, then workflow_start with the `workflowId`.
2. Do what `pending.prompt` says. Then call workflow_advance with `stateToken` and `ackToken` of the same answer,
   unchanged, and `notesMarkdown` on what you did.
3. `kind: "blocked"` says in `issues` what is missing; correct it and use the new `ackToken`.
4. A refusal with `requires_approval` means that a person must confirm the step: paste what
   `agentGuide.renderInChat` has, wait for their decision,
   then repeat the same call.
5. Tokens lost, or a new chat: workflow_resume. The same call again is harmless; other content from an older token
   makes a branch.
"""

_TYPES: Final = {"string": "text", "array": "list", "boolean": "true or false"}


def write_index(catalog: Catalog, base_url: str) -> str:
    """Write `/llms.txt`."""
    tools = "\n".join(
        f"- [{tool.name}]({base_url}/for-agents#{tool.name}): {tool.title}. {tool.description}"
        for tool in catalog.tools
    )
    return f"{_write_beginning(catalog, base_url)}\n## Tools\n\n{tools}\n"


def write_everything(catalog: Catalog, base_url: str) -> str:
    """Write `/llms-full.txt`."""
    moves = "\n".join(
        f"| {_name(state)} | {move} | {_name(after)} |" for (state, move), after in TABLE.items()
    )
    ends = ", ".join(sorted(map(_name, TERMINAL)))
    parts = [
        _write_beginning(catalog, base_url),
        f"{_ACTIONS}{moves}\n\nNothing leads out of: {ends}.\n",
        *([_WORKFLOWS] if "workflows" in catalog.toolsets else []),
        "## Tools\n\nOver REST: POST the arguments as JSON to "
        f"{base_url}/api/tools/NAME; the answer is the same. Every answer has `ok`.\n",
        *(write_tool(tool, listed=tool.name in catalog.offered) for tool in catalog.tools),
        f"## Refusals\n\n{ABOUT_REFUSALS}",
        *(write_reason(each, signup_open=catalog.signup_open) for each in STANDARD_REASONS),
        *(write_reason(each) for each in Reason if each not in STANDARD_REASONS),
    ]
    return "\n".join(parts)


def write_reason(reason: Reason, *, signup_open: bool = True) -> str:
    """Write the section of one reason, with the placeholders of its texts."""
    meaning = describe_reason(reason, signup_open=signup_open)
    tool = f"`{meaning.recovery_tool}`" if meaning.recovery_tool is not None else "none"
    return (
        f"### `{reason}`\n\n{meaning.summary}\n\n"
        f"| HTTP status | retry | recovery tool |\n|---|---|---|\n"
        f"| {meaning.status} | {meaning.retry} | {tool} |\n\n"
        f"- **User:** {meaning.user_message}\n- **Agent:** {meaning.fix}\n- **Stop:** {meaning.stop_rule}\n"
    )


GUIDES: Final = """\
- [Quickstart]({base_url}/docs/quickstart.md): connect a client, prepare a post, approve it, and it goes out
- [The closed loop]({base_url}/docs/closed-loop.md): prepare, approve, execute, measure, remember, with each call
"""


def write_instructions(catalog: Catalog) -> str:
    """Return the instructions for callers of these tools."""
    return instructions(catalog.toolsets, signup_open=catalog.signup_open, words=catalog.words)


def _write_beginning(catalog: Catalog, base_url: str) -> str:
    keys = "the person who runs this server gives them to its people"
    if catalog.signup_open:
        keys = f"a person takes one at {base_url}/get-key, or you request a link with {SIGNUP}"
    guides = GUIDES.format(base_url=base_url) if catalog.words.has_guides else ""
    return f"""\
# Assent

> Approval-gated actions for AI agents over MCP: an agent prepares, a person approves, the server acts once. \
Contract: {SPEC_URL}

- MCP endpoint: {base_url}/api/mcp (Authorization: Bearer clp_live_…), or `assent stdio` on the user's machine
- Keys: {keys}; a key never belongs in a chat

## Instructions

{write_instructions(catalog)}

## Documents

{guides}- [Everything for agents]({base_url}/llms-full.txt): states of an action, arguments of every tool, every refusal
- [For developers]({base_url}/for-agents): how to connect a client, as a page
- [OpenAPI]({base_url}/openapi.json): the tools over REST, with full schemas
- [Metadata]({base_url}/.well-known/mcp.json): endpoint, protocol revisions, operators, tools
"""


def write_tool(tool: Tool, *, listed: bool) -> str:
    schema = input_schema(tool.request)
    required = schema.get("required", ())
    arguments = [
        f"- `{name}` ({_describe(node)}{', required' if name in required else ''})"
        + (f": {node['description']}" if "description" in node else "")
        for name, node in schema.get("properties", {}).items()
    ]
    key = "Needs no key." if tool.public else "Needs a key."
    return "\n".join(
        [
            f"### {tool.name}\n",
            f"{tool.title}. {tool.description}\n",
            f"{key} {'' if listed else 'Not in the list of this server, and can be called. '}".rstrip()
            + "\n",
            "Arguments:\n" if arguments else "No arguments.",
            *arguments,
            f"\nAnswer: {', '.join(tool.reply.__struct_encode_fields__)}.\n",
        ]
    )


def _describe(node: dict[str, Any]) -> str:
    """Return the type of an argument in a few words."""
    if "enum" in node:
        return " or ".join(map(str, node["enum"]))
    if "anyOf" in node:
        return " or ".join(map(_describe, node["anyOf"]))
    kind = str(node.get("type", "any value"))
    if kind == "object" and node.get("additionalProperties") is False:
        return f"object of {', '.join(node['properties'])}"
    if kind == "array" and node.get("items"):
        return f"list of {_describe(node['items'])}"
    return _TYPES.get(kind, kind)


def _name(state: State) -> str:
    bare = state.execution in {ExecutionState.NONE, ExecutionState.DONE}
    return str(state.status if bare else state.execution)


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
                "instructions": write_instructions(self._catalog),
                "operators": list(self._operators),
                "tools": [
                    {
                        "name": tool.name,
                        "title": tool.title,
                        "toolset": find_toolset(tool),
                        "public": tool.public,
                    }
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
    taken = input_schema(tool.request)
    return {
        "operationId": tool.name,
        "summary": tool.title,
        "description": tool.description,
        "tags": [find_toolset(tool)],
        "security": [{}, {"key": []}] if tool.public else [{"key": []}],
        "requestBody": {
            "required": bool(taken.get("required")),
            "content": {"application/json": {"schema": taken}},
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
