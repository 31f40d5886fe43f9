"""`assent hook claude-code`: one event of Claude Code's hooks, answered by the gate.

With a key it asks the server at `base_url`. Without one it works on the data directory, as `assent stdio`
does, and needs a process there that serves the pages on which a person decides. Whatever fails before an
approval denies the call.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, NoReturn

import msgspec

from assent.client import Client, Refused
from assent.platform import LocalServer

if TYPE_CHECKING:
    from assent_wrap.adapters.calls import CallGate
    from assent_wrap.adapters.claude_code import HookAnswer

WAIT_SECONDS: Final = 540
SPARE_SECONDS: Final = 30
"""Between the end of the wait and the end that Claude Code sets, which would let the call pass."""
DEFAULT_TOOLS: Final = "Bash,Write,Edit,NotebookEdit,mcp__*,!mcp__assent__*,!mcp__plugin_assent_assent__*"
CLAIMS: Final = "hooks"
"""The folder of the data directory with claims that wait for their report."""
MOST_BYTES: Final = 10_000_000
NOT_RUN: Final = "The call did not run. "


def run_hook(arguments: Sequence[str]) -> int:
    """Run the hook and return its exit status: 0, 2 to deny the call, 1 if a report failed."""
    from assent_wrap.adapters.claude_code import deny

    options = read_options(arguments)
    _deny_in_time(options.wait + SPARE_SECONDS / 2)
    try:
        answer = _answer(options)
    except BaseException as error:
        answer = deny(f"{NOT_RUN}{_explain(error)}")
    return _write(answer)


class _HookParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        more = f"{LocalServer.name_program()} hook claude-code --help"
        said = f"{message[:1].upper()}{message[1:]}.\nSee what it takes: {more}"
        self.exit(2, f"assent: {said}\n")


def read_options(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line. A wrong one exits with 2, which denies the call."""
    parser = _HookParser(prog="assent hook claude-code", add_help=False, allow_abbrev=False)
    parser.add_argument("--tools", default="")
    parser.add_argument("--wait", type=int, default=WAIT_SECONDS)
    parser.add_argument("--print-settings", action="store_true")
    for flag in ("--data-dir", "--config", "--database-url", "--base-url"):
        parser.add_argument(flag)
    return parser.parse_args(arguments)


def _answer(options: argparse.Namespace) -> HookAnswer:
    from assent_wrap.adapters.claude_code import BEFORE, HookAnswer, is_chosen, read_event

    if options.print_settings:
        return HookAnswer(_print_settings(options))
    try:
        event = read_event(sys.stdin.buffer.read(MOST_BYTES))
    except msgspec.DecodeError as error:
        said = f"Its event could not be read: {error}. Ask the user to update Claude Code and Assent."
        raise Refused({"reason": "bad_event", "userMessage": said}) from None
    patterns = [each.strip() for each in options.tools.split(",") if each.strip()]
    if not is_chosen(event.tool_name, patterns):
        return HookAnswer()
    from assent_wrap.adapters.claude_code import AFTER, answer_before, report_after

    server = _find_server(options)
    claims = server.data_dir / CLAIMS

    def open_gate(context: dict[str, str]) -> Any:
        return _open_gate(server, context)

    if event.hook_event_name == BEFORE:
        return asyncio.run(answer_before(event, open_gate, claims, options.wait))
    if event.hook_event_name not in AFTER:
        return HookAnswer()
    try:
        return asyncio.run(report_after(event, open_gate, claims))
    except Exception as error:
        return HookAnswer(error=f"The result of this call is not on record: {_explain(error)}", status=1)


def _find_server(options: argparse.Namespace) -> LocalServer:
    names = ("data_dir", "config", "database_url", "base_url")
    return LocalServer.find({name: getattr(options, name) for name in names})


@asynccontextmanager
async def _open_gate(server: LocalServer, context: dict[str, str]) -> AsyncIterator[CallGate]:
    """Open the gate over HTTP with a key, or else on the data directory."""
    from assent_wrap.adapters.calls import CallGate
    from assent_wrap.adapters.claude_code import SOURCE

    if server.api_key:
        async with Client(server.base_url, server.api_key) as client:
            yield CallGate(client, SOURCE, context)
        return
    async with server.open_tools() as caller:
        yield CallGate(caller, SOURCE, context)


def _print_settings(options: argparse.Namespace) -> str:
    from assent_wrap.adapters.claude_code import make_settings

    tools = options.tools or DEFAULT_TOOLS
    words = ("hook", "claude-code", "--tools", tools, "--wait", str(options.wait))
    command = _find_server(options).write_command(*words)
    made = make_settings(command, tools.split(","), options.wait + SPARE_SECONDS)
    return json.dumps(made, indent=2) + "\n"


def _explain(error: BaseException) -> str:
    """Say what kept the gate from answering, and what to do."""
    from assent_wrap.adapters.claude_code import explain_refusal

    if isinstance(error, Refused):
        return explain_refusal(error)
    what = str(error) or type(error).__name__
    return (
        f"Assent could not be asked: {type(error).__name__}: {what[:500]}. Ask the user to check that its server runs "
        "and that this hook has its address and key (assent doctor); then repeat the call."
    )


def _deny_in_time(seconds: float) -> None:
    """Deny the call if the process still runs after this time, whatever holds it."""
    from assent_wrap.adapters.claude_code import deny

    def end() -> None:
        _write(deny(f"{NOT_RUN}Assent did not answer in time. Repeat the call later."))
        os._exit(2)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


def _write(answer: HookAnswer) -> int:
    """Write an answer at once. A decision that cannot be written denies the call."""
    try:
        if answer.error:
            os.write(2, f"{answer.error}\n".encode())
        if answer.output:
            with os.fdopen(1, "wb", closefd=False) as out:
                out.write(answer.output.encode())
    except OSError:
        return 2
    return answer.status
