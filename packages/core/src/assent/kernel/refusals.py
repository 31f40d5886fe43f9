"""The refusal: raised inside the server and answered at the edge in one shape (E51).

Code raises `Refusal(Reason.REQUIRES_APPROVAL, …)`; `assent.kernel.reasons` defines each reason.
"""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

import msgspec
from msgspec import UNSET, UnsetType

from assent.kernel.guide import Guide
from assent.kernel.reasons import KEY_REASONS, MEANINGS, Meaning, Reason, Retry
from assent.kernel.structs import Record, WireRecord


class ToolCall(WireRecord, omit_defaults=True):
    """A call that the agent can make after it asked the person for `needs`."""

    name: str
    args: dict[str, Any]
    needs: dict[str, str] = msgspec.field(default_factory=dict)
    """Arguments that `args` lacks, and what to ask the person for."""


class Problem(Record):
    """A problem of an argument: its path, the expected value, the received one."""

    path: str
    expected: str
    got: str


class Replay(Record):
    """Marks an answer that was given before under the same idempotency key."""

    of: str
    """When it was first given."""
    now: str
    """The present state in one sentence."""


class Recovery(WireRecord, omit_defaults=True):
    """The answer to every recoverable failure (E51): S0 §7's fields, and those of some reasons."""

    ok: bool
    reason: Reason
    summary_for_user: str
    user_message: str
    fix_action_for_agent: str
    recovery_tool: ToolCall | None
    retryable: bool
    stop_rule: str
    retry: Retry
    status_code: int | UnsetType = UNSET
    retry_after_seconds: int | UnsetType = UNSET
    review_url: str | UnsetType = UNSET
    problems: list[Problem] | UnsetType = UNSET
    status: str | UnsetType = UNSET
    external_id: str | UnsetType = UNSET
    action_id: str | UnsetType = UNSET
    request_id: str | UnsetType = UNSET
    agent_guide: Guide | UnsetType = UNSET
    """What to show to the person, and complete next calls."""
    writing: dict[str, Any] | UnsetType = UNSET
    """Material for the missing text."""
    replay: Replay | UnsetType = UNSET


class Words(Record):
    """The texts of a refusal. None keeps the text of the reason's row."""

    summary: str | None = None
    user_message: str | None = None
    fix: str | None = None
    stop_rule: str | None = None


class _Named(dict[str, Any]):
    def __missing__(self, name: str) -> str:
        return name


class AddedFields(TypedDict, total=False):
    """The fields of `Recovery` that some refusals add. None omits a field."""

    retry_after_seconds: int | None
    review_url: str | None
    problems: list[Problem] | None
    status: str | None
    external_id: str | None
    action_id: str | None
    request_id: str | None
    writing: dict[str, Any] | None


class Refusal(Exception):  # noqa: N818 - a refusal is an answer, not a fault
    """Raised inside the server, answered at the edge. `facts` fill the texts of the reason's row;
    `words` replace them."""

    def __init__(
        self,
        reason: Reason,
        *,
        facts: dict[str, Any] | None = None,
        words: Words | None = None,
        user_message: str | None = None,
        fix: str | None = None,
        stop_rule: str | None = None,
        recovery_tool: str | None = None,
        recovery_args: dict[str, Any] | None = None,
        recovery_needs: dict[str, str] | None = None,
        retry: Retry | None = None,
        **added: Unpack[AddedFields],
    ) -> None:
        super().__init__(reason.value)
        self.reason = reason
        self._answer: Recovery | None = None
        self._added = added
        self._facts = facts or {}
        words = words or Words()
        self._words = Words(
            words.summary,
            user_message or words.user_message,
            fix or words.fix,
            stop_rule or words.stop_rule,
        )
        self._recovery_tool = recovery_tool
        self._recovery_args = recovery_args or {}
        self._recovery_needs = recovery_needs
        self._retry = retry

    @classmethod
    def from_answer(cls, answer: Recovery) -> Refusal:
        """Build the refusal of a stored or completed answer."""
        refusal = cls(answer.reason)
        refusal._answer = answer
        return refusal

    @property
    def action_id(self) -> str | None:
        if self._answer is None:
            return self._added.get("action_id")
        return self._answer.action_id if isinstance(self._answer.action_id, str) else None

    @property
    def http_status(self) -> int:
        return MEANINGS[self.reason].status

    @property
    def retry_after_seconds(self) -> int | None:
        value = self.recovery().retry_after_seconds
        return value if isinstance(value, int) else None

    def recovery(self) -> Recovery:
        if self._answer is not None:
            return self._answer
        meaning = MEANINGS[self.reason]
        retry = self._retry or meaning.retry
        named = self._fill()
        added = {name: value for name, value in self._added.items() if value is not None}
        if retry is not Retry.SAME:
            added.pop("retry_after_seconds", None)  # no retry, so no delay
        return Recovery(
            ok=False,
            reason=self.reason,
            summary_for_user=self._words.summary or meaning.summary.format_map(named),
            user_message=self._words.user_message or meaning.user_message.format_map(named),
            fix_action_for_agent=self._words.fix or meaning.fix.format_map(named),
            recovery_tool=self._recovery_call(meaning) if retry is not Retry.NEVER else None,
            retryable=retry is not Retry.NEVER,
            stop_rule=self._words.stop_rule or meaning.stop_rule.format_map(named),
            retry=retry,
            status_code=meaning.status,
            **added,  # type: ignore[arg-type]
        )

    def _fill(self) -> _Named:
        """Return the values of the names in the texts."""
        own = {
            "retryAfterSeconds": self._added.get("retry_after_seconds"),
            "requestId": self._added.get("request_id"),
            "count": len(self._added.get("problems") or ()),
        }
        return _Named(self._facts | {name: value for name, value in own.items() if value is not None})

    def _recovery_call(self, meaning: Meaning) -> ToolCall | None:
        """Return the call that recovers: its tool, the known arguments, and the missing ones as `needs`."""
        tool = self._recovery_tool or meaning.recovery_tool
        if tool is None:
            return None
        of_the_table = meaning.recovery_needs if self._recovery_tool is None else {}
        needs = of_the_table if self._recovery_needs is None else self._recovery_needs
        missing = {name: what for name, what in needs.items() if name not in self._recovery_args}
        return ToolCall(tool, self._recovery_args, missing)


def bad_argument(path: str, expected: str, got: str) -> Refusal:
    """Build the refusal for a value that matches the schema but is invalid."""
    return Refusal(Reason.VALIDATION_ERROR, problems=[Problem(path, expected, got)])


__all__ = [
    "KEY_REASONS",
    "MEANINGS",
    "Meaning",
    "Problem",
    "Reason",
    "Recovery",
    "Refusal",
    "Replay",
    "Retry",
    "ToolCall",
    "Words",
    "bad_argument",
]
