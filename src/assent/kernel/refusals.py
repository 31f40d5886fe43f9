"""The refusal: raised inside, answered at the edge in one shape (E51).

Inside, code says `raise Refusal(Reason.REQUIRES_APPROVAL, …)`; `assent.kernel.reasons` says what a reason means.
"""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

import msgspec

from assent.kernel.reasons import KEY_REASONS, MEANINGS, Meaning, Reason, Retry


class ToolCall(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A call that the agent can make with `args` and with what it asks the person for."""

    name: str
    args: dict[str, Any]
    needs: dict[str, str] = {}
    """Arguments that `args` lacks, and what to ask the person for."""


class Problem(msgspec.Struct, frozen=True):
    """One thing wrong with an argument: where, what was expected, what came."""

    path: str
    expected: str
    got: str


class Replay(msgspec.Struct, frozen=True):
    """Says that an answer was given before under the same idempotency key."""

    of: str
    """When it was first given."""
    now: str
    """How things are at present, in one sentence."""


class Recovery(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The answer to every recoverable failure (E51): S0 §7's fields, then the facts that some reasons add."""

    ok: bool
    reason: Reason
    summary_for_user: str
    user_message: str
    fix_action_for_agent: str
    recovery_tool: ToolCall | None
    retryable: bool
    stop_rule: str
    retry: Retry | msgspec.UnsetType = msgspec.UNSET
    """Unset only in answers that an earlier version stored."""
    status_code: int | msgspec.UnsetType = msgspec.UNSET
    retry_after_seconds: int | msgspec.UnsetType = msgspec.UNSET
    review_url: str | msgspec.UnsetType = msgspec.UNSET
    problems: list[Problem] | msgspec.UnsetType = msgspec.UNSET
    status: str | msgspec.UnsetType = msgspec.UNSET
    external_id: str | msgspec.UnsetType = msgspec.UNSET
    action_id: str | msgspec.UnsetType = msgspec.UNSET
    request_id: str | msgspec.UnsetType = msgspec.UNSET
    render_in_chat: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    """What is to be shown to the human now, as a prepared run gives it."""
    show: str | msgspec.UnsetType = msgspec.UNSET
    """The action as it is now, in Markdown for the chat."""
    commands: list[Any] | msgspec.UnsetType = msgspec.UNSET
    """What the person may say about it, and the call that each stands for."""
    next: list[Any] | msgspec.UnsetType = msgspec.UNSET
    """Complete calls that make sense now, each with when."""
    writing: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    """What helps to write the text that is missing."""
    replay: Replay | msgspec.UnsetType = msgspec.UNSET


class Words(msgspec.Struct, frozen=True):
    """The four texts of a refusal, where its reason has several cases. None leaves what the reason's row says."""

    summary: str | None = None
    user_message: str | None = None
    fix: str | None = None
    stop_rule: str | None = None


class _Named(dict[str, Any]):
    def __missing__(self, name: str) -> str:
        return name


class AddedFields(TypedDict, total=False):
    """The fields of `Recovery` that some refusals add. None leaves one out."""

    retry_after_seconds: int | None
    review_url: str | None
    problems: list[Problem] | None
    status: str | None
    external_id: str | None
    action_id: str | None
    request_id: str | None
    render_in_chat: dict[str, Any] | None
    writing: dict[str, Any] | None


class Refusal(Exception):  # noqa: N818 - a refusal is an answer, not a fault
    """Raised inside, answered at the edge. `facts` fill the words of the reason's row; other words replace those."""

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
        """The refusal that has this wire shape: one that was answered before, or that was completed."""
        if answer.retry is msgspec.UNSET:
            retry = Retry.SAME if answer.retryable else Retry.NEVER
            answer = msgspec.structs.replace(answer, retry=retry)
        refusal = cls(answer.reason)
        refusal._answer = answer
        return refusal

    @property
    def action_id(self) -> str | None:
        """The action that is refused, where one is."""
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
        """The wire shape of this refusal."""
        if self._answer is not None:
            return self._answer
        meaning = MEANINGS[self.reason]
        retry = self._retry or meaning.retry
        named = self._fill()
        added = {name: value for name, value in self._added.items() if value is not None}
        if retry is not Retry.SAME:
            added.pop("retry_after_seconds", None)  # there is nothing to wait for
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
        """The values of the names in the words."""
        own = {
            "retryAfterSeconds": self._added.get("retry_after_seconds"),
            "requestId": self._added.get("request_id"),
            "count": len(self._added.get("problems") or ()),
        }
        return _Named(self._facts | {name: value for name, value in own.items() if value is not None})

    def _recovery_call(self, meaning: Meaning) -> ToolCall | None:
        """The tool that helps, with what is known of its arguments; the rest is asked for."""
        tool = self._recovery_tool or meaning.recovery_tool
        if tool is None:
            return None
        of_the_table = meaning.recovery_needs if self._recovery_tool is None else {}
        needs = of_the_table if self._recovery_needs is None else self._recovery_needs
        missing = {name: what for name, what in needs.items() if name not in self._recovery_args}
        return ToolCall(tool, self._recovery_args, missing)


def bad_argument(path: str, expected: str, got: str) -> Refusal:
    """A value that fits the schema and is refused all the same."""
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
