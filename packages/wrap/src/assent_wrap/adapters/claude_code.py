"""Claude Code's hooks: a `PreToolUse` event becomes a question to the gate, a later event its report.

Anything but an approval denies the call. Claude Code lets a call pass if its hook fails in another way than
by exit status 2, so every answer that denies has the decision, the reason on standard error and that status.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import msgspec

from assent.client import Refused
from assent_wrap.adapters.calls import CallGate, ClaimedCall, ClosedCall, WaitingCall

SOURCE: Final = "claude-code"
BEFORE: Final = "PreToolUse"
AFTER: Final = ("PostToolUse", "PostToolUseFailure")
OUTPUT_CHARS: Final = 4_000
"""How much of a tool's output the server keeps."""
KEPT_SECONDS: Final = 24 * 3600
"""How long a claim waits for its report in a file."""

OpenGate = Callable[[dict[str, str]], AbstractAsyncContextManager[CallGate]]
"""Opens the gate for calls with this context."""


class HookEvent(msgspec.Struct, frozen=True):
    """What Claude Code writes to a hook of a tool."""

    hook_event_name: str
    tool_name: str = ""
    tool_input: dict[str, Any] | None = None
    tool_use_id: str = ""
    session_id: str = ""
    cwd: str = ""
    tool_response: Any = None
    error: Any = None
    is_interrupt: bool = False


class HookAnswer(msgspec.Struct, frozen=True):
    """What the hook writes and its exit status: 0, or 2 to deny."""

    output: str = ""
    error: str = ""
    status: int = 0


class KeptClaim(msgspec.Struct, frozen=True):
    """A claim between the events before and after its tool, in a file."""

    action_id: str
    claim_id: str
    digests: dict[str, str]
    """Of the approved input, by argument."""


def read_event(text: bytes) -> HookEvent:
    """Read an event. Raises `msgspec.DecodeError`, also for one of a tool without its name."""
    event = msgspec.json.decode(text, type=HookEvent)
    if event.hook_event_name in (BEFORE, *AFTER) and (not event.tool_name or event.tool_input is None):
        raise msgspec.DecodeError("the event names no tool or no input")
    return event


def is_chosen(tool: str, patterns: Sequence[str]) -> bool:
    """Whether the gate is asked about a tool: a pattern matches, and none that begins with ! does."""
    left_out = [each[1:] for each in patterns if each.startswith("!")]
    wanted = [each for each in patterns if not each.startswith("!")]
    return not any(fnmatchcase(tool, each) for each in left_out) and any(
        fnmatchcase(tool, each) for each in wanted or ("*",)
    )


def deny(reason: str) -> HookAnswer:
    return HookAnswer(_decide("deny", reason), reason, 2)


def _decide(decision: str, reason: str, **more: Any) -> str:
    said = {
        "hookEventName": BEFORE,
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
        **more,
    }
    return msgspec.json.encode({"hookSpecificOutput": said}).decode()


async def answer_before(event: HookEvent, connect: OpenGate, claims: Path, wait_seconds: float) -> HookAnswer:
    """Ask the gate about a call, and allow exactly the approved input. Raises `Refused` and what `connect`
    raises; the caller denies then."""
    kept = _name_claim(claims, event)
    _make_room(claims)
    async with connect({"Working directory": event.cwd} if event.cwd else {}) as gate:
        step = await gate.ask(event.tool_name, event.tool_input or {}, wait_seconds=wait_seconds)
        if isinstance(step, WaitingCall):
            return deny(
                f"A person has not decided about this call yet. Ask the user to open {step.review_url or 'the inbox'} "
                "and decide. Then make exactly the same call again: it joins this question."
            )
        if isinstance(step, ClosedCall):
            return deny(step.message)
        claim = KeptClaim(step.action_id, step.claim_id, _digest_each(step.arguments))
        try:
            kept.write_bytes(msgspec.json.encode(claim))
        except OSError as error:
            await gate.report(step, "failed", detail="the hook could not store its claim")
            return deny(
                f"The call did not run: its claim could not be stored ({error}). Make room, then repeat it."
            )
    edited = "A person approved it with other arguments, and it runs with those: do not repeat your own."
    reason = edited if step.edited else "A person approved it."
    return HookAnswer(_decide("allow", reason, updatedInput=step.arguments))


async def report_after(event: HookEvent, connect: OpenGate, claims: Path) -> HookAnswer:
    """Report a call that was allowed. One that this hook did not allow is left alone."""
    kept = _name_claim(claims, event)
    try:
        claim = msgspec.json.decode(kept.read_bytes(), type=KeptClaim)
    except FileNotFoundError:
        return HookAnswer()
    claimed = ClaimedCall(claim.action_id, claim.claim_id, {}, False)
    async with connect({}) as gate:
        # Claude Code may add arguments with their defaults.
        if not claim.digests.items() <= _digest_each(event.tool_input or {}).items():
            said = "Claude Code ran it with other arguments than those that were approved"
            await gate.report(claimed, "unknown", detail=said)
        elif event.is_interrupt:
            await gate.report(claimed, "unknown", detail="it was interrupted")
        else:
            failed = event.hook_event_name != AFTER[0]
            await gate.report(
                claimed, "executed", output=_shorten(event.error if failed else event.tool_response, failed)
            )
    kept.unlink(missing_ok=True)
    return HookAnswer()


def explain_refusal(refused: Refused) -> str:
    """Say why the gate refused, and what to do."""
    recovery = refused.recovery
    said = recovery.get("userMessage") or recovery.get("summaryForUser") or refused.reason
    problems = recovery.get("problems") or ()
    details = "; ".join(
        f"{each.get('path')}: {each.get('expected')}" for each in problems if isinstance(each, dict)
    )
    return f"{said} ({refused.reason}){f' {details}.' if details else ''}"


def _shorten(output: Any, failed: bool) -> dict[str, Any]:
    text = output if isinstance(output, str) else msgspec.json.encode(output).decode()
    cut = {"cut": len(text)} if len(text) > OUTPUT_CHARS else {}
    return {"failed": failed, "text": text[:OUTPUT_CHARS], **cut}


def _digest(value: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()


def _digest_each(arguments: Mapping[str, Any]) -> dict[str, str]:
    return {name: _digest(value) for name, value in arguments.items()}


def _name_claim(claims: Path, event: HookEvent) -> Path:
    return claims / f"{_digest([event.session_id, event.tool_use_id, event.tool_name])}.json"


def _make_room(claims: Path) -> None:
    """Create the folder of claims, and remove those whose report never came."""
    claims.mkdir(mode=0o700, parents=True, exist_ok=True)
    for each in claims.glob("*.json"):
        with suppress(FileNotFoundError):
            if each.stat().st_mtime < time.time() - KEPT_SECONDS:
                each.unlink()


def make_settings(command: str, patterns: Sequence[str], timeout_seconds: int) -> dict[str, Any]:
    """Return the hooks for Claude Code's settings file. Its matcher is a regular expression."""
    wanted = [each for each in patterns if not each.startswith("!")]
    matcher = "|".join(each.replace("*", ".*") for each in wanted) or "*"
    hook = {"type": "command", "command": command, "timeout": timeout_seconds}
    before = {"matcher": matcher, "hooks": [{**hook, "onFailure": "block"}]}
    after = {"matcher": matcher, "hooks": [{**hook, "timeout": 60}]}
    return {"hooks": {BEFORE: [before], **{each: [after] for each in AFTER}}}
