"""Texts for agents that read a site instead of the protocol.

`/llms.txt` is an index in the form of llmstxt.org: what this is, how to connect, the instructions,
every document and every tool in a line. `/llms-full.txt` has all that an agent needs to go on: the
moves of an action, the arguments and answers of every tool, every reason for a refusal. Both are
built from the tables that the server obeys.
"""

from __future__ import annotations

from typing import Any, Final

from assent.gate.records import ExecutionState
from assent.gate.transitions import TABLE, TERMINAL, State
from assent.kernel.reasons import STANDARD_REASONS, Reason, describe_reason
from assent.serving.instructions import SPEC_URL, instructions
from assent.tools.catalog import Catalog, input_schema, output_schema
from assent.tools.definition import Tool
from assent.tools.workspaces import SIGNUP

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
`needs`, with what to ask for. `requires_approval` and `stale_revision` carry the content (`show`) and the `commands`
that the person may say about it.
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
   unchanged, and `notesMarkdown` on what you did. `nextCall` is this call, complete.
3. `kind: "blocked"` says in `issues` what is missing; correct it and use the new `ackToken`.
4. A refusal with `requires_approval` means that a person must confirm the step: paste `show`, wait for their decision,
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


def _write_beginning(catalog: Catalog, base_url: str) -> str:
    keys = "the person who runs this server gives them to its people"
    if catalog.signup_open:
        keys = f"a person takes one at {base_url}/get-key, or you request a link with {SIGNUP}"
    return f"""\
# Assent

> Approval-gated actions for AI agents over MCP: an agent prepares, a person approves, the server acts once. \
Contract: {SPEC_URL}

- MCP endpoint: {base_url}/api/mcp (Authorization: Bearer clp_live_…), or `assent stdio` on the user's machine
- Keys: {keys}; a key never belongs in a chat

## Instructions

{instructions(catalog.toolsets, signup_open=catalog.signup_open)}

## Documents

- [Quickstart]({base_url}/docs/quickstart.md): connect a client, prepare a post, approve it, and it goes out
- [The closed loop]({base_url}/docs/closed-loop.md): prepare, approve, execute, measure, remember, with each call
- [Everything for agents]({base_url}/llms-full.txt): states of an action, arguments of every tool, every refusal
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
            f"\nAnswer: {', '.join(output_schema(tool.reply)['properties'])}.\n",
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
