"""Every machine-readable reason for saying no, and the shape it is answered with (E51, E52).

Inside, code says `raise Refusal(Reason.REQUIRES_APPROVAL, …)`. One place at the edge turns it into a wire answer.
The table below is the single home of what a reason means: its words for the human, its instruction for the agent,
whether trying again can help, with which tool, and the HTTP status where a surface has one.

The words may hold `{names}`, filled from the refusal's facts.
"""

from __future__ import annotations

import enum
from typing import Any, Final

import msgspec


class Reason(enum.StrEnum):
    """S0 §7's twelve standard reasons, then our own. The standard ones keep their meaning."""

    MISSING_API_KEY = "missing_api_key"
    MISSING_CONNECTOR = "missing_connector"
    REQUIRES_APPROVAL = "requires_approval"
    MISSING_REPO_CONTEXT = "missing_repo_context"
    MISSING_CREDITS = "missing_credits"
    WORKSPACE_NOT_FOUND = "workspace_not_found"
    CONNECTOR_FAILED = "connector_failed"
    MEASUREMENT_UNAVAILABLE = "measurement_unavailable"
    INVALID_ACTION_ID = "invalid_action_id"
    WRONG_WORKSPACE = "wrong_workspace"
    RATE_LIMITED = "rate_limited"
    PROVIDER_NOT_LIVE = "provider_not_live"

    INVALID_API_KEY = "invalid_api_key"
    OUTCOME_UNKNOWN = "outcome_unknown"
    EXECUTION_IN_PROGRESS = "execution_in_progress"
    IDEMPOTENCY_CONFLICT = "idempotency_conflict"
    STALE_REVISION = "stale_revision"
    ACTION_EXPIRED = "action_expired"
    ACTION_CLOSED = "action_closed"
    VALIDATION_ERROR = "validation_error"
    TOO_MANY_PICTURES = "too_many_pictures"
    PICTURES_FAILED = "pictures_failed"
    QUOTA_EXCEEDED = "quota_exceeded"
    WORKFLOW_NOT_FOUND = "workflow_not_found"
    CONTEXT_TOO_LARGE = "context_too_large"
    TOKEN_INVALID_FORMAT = "token_invalid_format"
    TOKEN_UNSUPPORTED_VERSION = "token_unsupported_version"
    TOKEN_BAD_SIGNATURE = "token_bad_signature"
    TOKEN_SCOPE_MISMATCH = "token_scope_mismatch"
    TOKEN_UNKNOWN_NODE = "token_unknown_node"
    INSUFFICIENT_SCOPE = "insufficient_scope"
    UNKNOWN_TOOL = "unknown_tool"
    TEMPORARILY_UNAVAILABLE = "temporarily_unavailable"
    INTERNAL_ERROR = "internal_error"


STANDARD_REASONS: Final = tuple(Reason)[:12]

KEY_REASONS: Final = frozenset({Reason.MISSING_API_KEY, Reason.INVALID_API_KEY})
"""The caller is not known: no key, or one that does not work."""


class ToolCall(msgspec.Struct, frozen=True, rename="camel"):
    """A call that the agent can make as it stands."""

    name: str
    args: dict[str, Any]


class Meaning(msgspec.Struct, frozen=True):
    """One row of the table."""

    status: int
    retryable: bool
    summary: str
    user_message: str
    fix: str
    stop_rule: str
    recovery_tool: str | None = None


MEANINGS: Final[dict[Reason, Meaning]] = {
    Reason.MISSING_API_KEY: Meaning(
        status=401,
        retryable=True,
        recovery_tool="chieflab_signup_workspace",
        summary="A workspace key is needed.",
        user_message="This needs a workspace key. I can request one: you open a link, copy the key there and add it "
        "to this client's settings.",
        fix="Ask the user for their e-mail address, call chieflab_signup_workspace with it, show deliveryUrl, wait "
        "until the user has set the key, then repeat the original call once.",
        stop_rule="Do not repeat the call without a key, and never ask the user to paste a key into the chat.",
    ),
    Reason.MISSING_CONNECTOR: Meaning(
        status=409,
        retryable=True,
        recovery_tool="chieflab_connect_provider",
        summary="The {connector} connector is not connected.",
        user_message="{connector} is not connected to this workspace yet. Connect it, or take the text and publish it "
        "by hand.",
        fix="Call the recovery tool and show its link, then repeat the original call; for a channel without a "
        "connector call chieflab_use_manual_fallback instead.",
        stop_rule="Do not say that anything was published or sent.",
    ),
    Reason.REQUIRES_APPROVAL: Meaning(
        status=409,
        retryable=False,
        summary="This action is not approved.",
        user_message="Nothing was sent. Approve this action in the chat, or open the review link if you are away "
        "from it.",
        fix="STOP. Show the content and its approval commands in the chat; give the review link only as a fallback. "
        "Call the executor again only after the human approved.",
        stop_rule="Do not call publish or send again until a human approved this action.",
    ),
    Reason.MISSING_REPO_CONTEXT: Meaning(
        status=422,
        retryable=False,
        summary="There is too little to go on.",
        user_message="I need to know what you built before I can write about it; without that the first drafts would "
        "be generic.",
        fix="Gather whatChanged, recentCommits, changedFiles, routes, readme, targetCustomer and launchGoal from the "
        "repository and call the same tool again with them in repoContext.",
        stop_rule="Do not invent facts about the product. Warn the user that output without context is generic.",
    ),
    Reason.MISSING_CREDITS: Meaning(
        status=402,
        retryable=False,
        summary="The workspace has too few credits.",
        user_message="This action costs {cost} credits and the workspace has {balance}. Add credits to go on.",
        fix="Show the message and stop. The action stays as it is and can be executed once there are credits.",
        stop_rule="Do not split or repeat the action to get around the limit.",
    ),
    Reason.WORKSPACE_NOT_FOUND: Meaning(
        status=404,
        retryable=False,
        summary="The key is valid, but its workspace is gone.",
        user_message="The workspace of this key does not exist any more. Use a key of another workspace.",
        fix="Show the message and stop.",
        stop_rule="Do not try other workspace ids.",
    ),
    Reason.CONNECTOR_FAILED: Meaning(
        status=502,
        retryable=False,
        summary="{connector} refused or failed.",
        user_message="{connector} did not accept this: {detail}",
        fix="Show the message. If retryable is true wait retryAfterSeconds and try once more; otherwise stop: this "
        "action has ended and a new one is needed.",
        stop_rule="Do not say that it was published or sent.",
    ),
    Reason.MEASUREMENT_UNAVAILABLE: Meaning(
        status=409,
        retryable=False,
        summary="There are no numbers yet.",
        user_message="The numbers are not in yet. They are read automatically about a day after publishing.",
        fix="Stop. The scheduled measurement does this by itself; call chieflab_post_launch_review by hand only if it "
        "came back empty, 12 to 24 hours later.",
        stop_rule="Do not invent metrics, and do not poll.",
    ),
    Reason.INVALID_ACTION_ID: Meaning(
        status=400,
        retryable=False,
        summary="That is not an action id.",
        user_message="I used an action id that cannot exist.",
        fix="Take the id exactly as it stands in the reply that staged the action, or call "
        "chieflab_list_pending_actions.",
        stop_rule="Do not guess or alter ids.",
    ),
    Reason.WRONG_WORKSPACE: Meaning(
        status=401,
        retryable=False,
        summary="This key has no such action.",
        user_message="This workspace has no action with that id.",
        fix="Use ids of the workspace that the key belongs to; chieflab_list_pending_actions lists them.",
        stop_rule="Do not try the id with other keys or look for it elsewhere.",
    ),
    Reason.RATE_LIMITED: Meaning(
        status=429,
        retryable=True,
        summary="Too many calls.",
        user_message="That was too fast for {limited}. I will try again in {retryAfterSeconds} seconds.",
        fix="Wait retryAfterSeconds, then repeat the call once, with the same idempotencyKey if it had one.",
        stop_rule="Do not call in a loop.",
    ),
    Reason.PROVIDER_NOT_LIVE: Meaning(
        status=409,
        retryable=False,
        summary="{connector} is not available yet.",
        user_message="{connector} cannot be used here yet. Choose another channel, or take the text and publish it by "
        "hand.",
        fix="Offer a channel whose connector is live, or call chieflab_use_manual_fallback.",
        stop_rule="Do not pretend that it was executed.",
    ),
    Reason.INVALID_API_KEY: Meaning(
        status=401,
        retryable=False,
        summary="The key in use does not work.",
        user_message="The key in this client's settings does not work: it is mistyped, was revoked or replaced, or has "
        "ended. Put the current key of your workspace there, or ask the person who runs the server for a new one.",
        fix="Show the message and stop. Go on when the user says that the key in this client's settings is replaced.",
        stop_rule="Do not request another workspace: it would have none of this one's drafts, memory and connections. "
        "Never ask the user to paste a key into the chat.",
    ),
    Reason.OUTCOME_UNKNOWN: Meaning(
        status=409,
        retryable=False,
        summary="It is not known whether this was sent.",
        user_message="The connection to {connector} broke while sending, so it may or may not have happened. The "
        "server asks the provider where it can. If it stays open, please look there and tell me, or answer on the "
        "review page.",
        fix="STOP. Look with chieflab_get_action in a minute: where the provider can be asked, the server has found "
        "out by then. If executionState is still outcome_unknown, ask the human to check with the provider. After "
        "their answer call chieflab_resolve_unknown_outcome with it and their evidence.",
        stop_rule="Never send it again before a human said that it did not happen.",
    ),
    Reason.EXECUTION_IN_PROGRESS: Meaning(
        status=409,
        retryable=True,
        summary="This action is being executed right now.",
        user_message="It is on its way; I will look again in a moment.",
        fix="Wait retryAfterSeconds, then call chieflab_get_action to see the outcome, or repeat the call with the "
        "same idempotencyKey.",
        stop_rule="Do not stage the action again.",
    ),
    Reason.IDEMPOTENCY_CONFLICT: Meaning(
        status=409,
        retryable=False,
        summary="This idempotency key was used for another request.",
        user_message="I reused a request key for something else; nothing was done.",
        fix="Use a new idempotencyKey for a new request, or repeat the first request unchanged.",
        stop_rule="Do not change arguments under the same key.",
    ),
    Reason.STALE_REVISION: Meaning(
        status=409,
        retryable=False,
        summary="The content changed since it was shown.",
        user_message="This was edited in the meantime. Please look at the current text before deciding.",
        fix="Show every renderInChat[*].body and ask again; then decide with the digest that stands beside it. Where "
        "there is none, chieflab_get_action has the content as it is now.",
        stop_rule="Do not decide about content that the human has not seen.",
    ),
    Reason.ACTION_EXPIRED: Meaning(
        status=409,
        retryable=False,
        summary="This action has expired.",
        user_message="This was prepared too long ago and has expired. I can prepare it again.",
        fix="Stage it anew with the tool that made it, then ask for approval.",
        stop_rule="Do not try to revive the old action.",
    ),
    Reason.ACTION_CLOSED: Meaning(
        status=409,
        retryable=False,
        summary="This action is {status} and stays so.",
        user_message="This was already {status}; that cannot be changed. I can prepare a new one.",
        fix="Stage a new action with the tool that made this one, then ask for approval.",
        stop_rule="Do not try to change a closed action.",
    ),
    Reason.VALIDATION_ERROR: Meaning(
        status=400,
        retryable=False,
        summary="The call has {count} bad argument(s).",
        user_message="I made a mistake in a tool call and will correct it.",
        fix="Correct every entry of problems (path, what was expected, what came) and call again.",
        stop_rule="Do not repeat the call unchanged.",
    ),
    Reason.TOO_MANY_PICTURES: Meaning(
        status=409,
        retryable=False,
        summary="The workspace keeps as many pictures as it may.",
        user_message="This workspace has no room for more pictures. Those that no post took along are removed 90 days "
        "after they were made; use one of them, or go on without a picture.",
        fix="Use an image asset that is there already (chieflab_list_assets), or prepare without pictures.",
        stop_rule="Do not make the same pictures in another workspace.",
    ),
    Reason.PICTURES_FAILED: Meaning(
        status=503,
        retryable=True,
        summary="The pictures could not be drawn.",
        user_message="The pictures could not be drawn just now. Nothing was stored; I will try again in "
        "{retryAfterSeconds} seconds.",
        fix="Wait retryAfterSeconds, then repeat the call once. If it fails again, go on without pictures.",
        stop_rule="Do not call in a loop.",
    ),
    Reason.QUOTA_EXCEEDED: Meaning(
        status=507,
        retryable=True,
        summary="The workspace has stored as much as it may today.",
        user_message="This workspace has stored its {megabytes} MB of today, so this was not kept. What is there can "
        "be approved, sent and read as before. It can store more after midnight UTC; who runs the server can allow "
        "more now (ASSENT_STORAGE_QUOTA_MB).",
        fix="Stop preparing, and tell the human. Go on with what is stored already. After retryAfterSeconds repeat the "
        "call once, with the same idempotencyKey if it had one.",
        stop_rule="Do not split the content, do not call in a loop, and do not use another workspace for it.",
    ),
    Reason.WORKFLOW_NOT_FOUND: Meaning(
        status=404,
        retryable=False,
        summary="There is no workflow {workflow}.",
        user_message="I looked for a workflow that does not exist here.",
        fix="Call workflow_list and take workflowId from there{suggestion}.",
        stop_rule="Do not guess workflow ids.",
    ),
    Reason.CONTEXT_TOO_LARGE: Meaning(
        status=413,
        retryable=False,
        summary="The context has {measured} bytes; {allowed} are allowed.",
        user_message="I tried to keep more with the workflow than it can hold.",
        fix="Send only facts that conditions and loops need, and put the rest into notes.",
        stop_rule="Do not send the same context again.",
    ),
    Reason.TOKEN_INVALID_FORMAT: Meaning(
        status=400,
        retryable=False,
        summary="That is not a workflow token.",
        user_message="I lost a workflow token and will find the run again.",
        fix="Copy stateToken and ackToken whole from the last answer; if they are gone, call workflow_resume.",
        stop_rule="Do not make up or shorten tokens.",
    ),
    Reason.TOKEN_UNSUPPORTED_VERSION: Meaning(
        status=400,
        retryable=False,
        summary="This server does not know that version of workflow tokens.",
        user_message="The workflow token is of another version of the server.",
        fix="Call workflow_resume to get tokens of this version.",
        stop_rule="Do not change the token.",
    ),
    Reason.TOKEN_BAD_SIGNATURE: Meaning(
        status=403,
        retryable=False,
        summary="The workflow token was altered, or is too old.",
        user_message="A workflow token did not arrive as it was given out.",
        fix="Copy the token again, whole; if that does not help, call workflow_resume.",
        stop_rule="Do not change tokens.",
    ),
    Reason.TOKEN_SCOPE_MISMATCH: Meaning(
        status=409,
        retryable=False,
        summary="The two tokens do not belong together.",
        user_message="I mixed up the tokens of two steps.",
        fix="Send stateToken and ackToken of the same answer; stateToken alone gives a fresh ackToken.",
        stop_rule="Do not combine tokens of different answers.",
    ),
    Reason.TOKEN_UNKNOWN_NODE: Meaning(
        status=404,
        retryable=False,
        summary="This workspace has no such place in a workflow.",
        user_message="That workflow run is not in this workspace.",
        fix="Call workflow_resume to find the run.",
        stop_rule="Do not try tokens of other workspaces.",
    ),
    Reason.INSUFFICIENT_SCOPE: Meaning(
        status=403,
        retryable=False,
        summary="This key may not do that.",
        user_message="The key in use lacks the right {scope}. Use a key that has it.",
        fix="Show the message and stop.",
        stop_rule="Do not look for another way to the same effect.",
    ),
    Reason.UNKNOWN_TOOL: Meaning(
        status=404,
        retryable=False,
        summary="There is no tool {tool}.",
        user_message="I called a tool that does not exist.",
        fix="Take the name from tools/list{suggestion}.",
        stop_rule="Do not guess tool names.",
    ),
    Reason.TEMPORARILY_UNAVAILABLE: Meaning(
        status=503,
        retryable=True,
        summary="The server cannot reach its storage.",
        user_message="The server cannot store anything at the moment. Nothing was lost; I will try again in "
        "{retryAfterSeconds} seconds.",
        fix="Wait retryAfterSeconds, then repeat the call once, with the same idempotencyKey if it had one.",
        stop_rule="Do not call in a loop, and do not report the call as done.",
    ),
    Reason.INTERNAL_ERROR: Meaning(
        status=500,
        retryable=False,
        summary="The server made a mistake.",
        user_message="Something went wrong on the server. Its log has the details under {requestId}.",
        fix="Show the message with its id and stop.",
        stop_rule="Do not repeat the call before the cause is known.",
    ),
}


class Problem(msgspec.Struct, frozen=True):
    """One thing wrong with an argument: where, what was expected, what came."""

    path: str
    expected: str
    got: str


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


class _Named(dict[str, Any]):
    def __missing__(self, name: str) -> str:
        return name


class Refusal(Exception):  # noqa: N818 - a refusal is an answer, not a fault
    """Raised inside, answered at the edge. `facts` fill the words; the keyword arguments are the added fields."""

    def __init__(
        self,
        reason: Reason,
        *,
        facts: dict[str, Any] | None = None,
        user_message: str | None = None,
        fix: str | None = None,
        stop_rule: str | None = None,
        recovery_tool: str | None = None,
        recovery_args: dict[str, Any] | None = None,
        retryable: bool | None = None,
        retry_after_seconds: int | None = None,
        review_url: str | None = None,
        problems: list[Problem] | None = None,
        status: str | None = None,
        external_id: str | None = None,
        action_id: str | None = None,
        request_id: str | None = None,
        render_in_chat: dict[str, Any] | None = None,
        replay: Recovery | None = None,
    ) -> None:
        super().__init__(reason.value)
        self._replay = replay
        self.reason = reason
        self._facts = facts or {}
        self._user_message = user_message
        self._fix = fix
        self._stop_rule = stop_rule
        self._recovery_tool = recovery_tool
        self._recovery_args = recovery_args or {}
        self._retryable = retryable
        self._added = {
            "retry_after_seconds": retry_after_seconds,
            "review_url": review_url,
            "problems": problems,
            "status": status,
            "external_id": external_id,
            "action_id": action_id,
            "request_id": request_id,
            "render_in_chat": render_in_chat,
        }

    @property
    def http_status(self) -> int:
        return MEANINGS[self.reason].status

    @property
    def retry_after_seconds(self) -> int | None:
        value = self._added["retry_after_seconds"]
        return value if isinstance(value, int) else None

    def recovery(self) -> Recovery:
        """The wire shape of this refusal."""
        if self._replay is not None:
            return self._replay
        meaning = MEANINGS[self.reason]
        problems = self._added["problems"]
        words = _Named(
            {
                **self._facts,
                "count": len(problems) if isinstance(problems, list) else 0,
                **{
                    name: value
                    for name, value in (
                        ("retryAfterSeconds", self._added["retry_after_seconds"]),
                        ("requestId", self._added["request_id"]),
                    )
                    if value is not None
                },
            }
        )
        tool = self._recovery_tool or meaning.recovery_tool
        return Recovery(
            ok=False,
            reason=self.reason,
            summary_for_user=meaning.summary.format_map(words),
            user_message=self._user_message or meaning.user_message.format_map(words),
            fix_action_for_agent=self._fix or meaning.fix.format_map(words),
            recovery_tool=ToolCall(tool, self._recovery_args) if tool is not None else None,
            retryable=meaning.retryable if self._retryable is None else self._retryable,
            stop_rule=self._stop_rule or meaning.stop_rule.format_map(words),
            status_code=meaning.status,
            **{name: value for name, value in self._added.items() if value is not None},  # type: ignore[arg-type]
        )


def replayed(recovery: Recovery) -> Refusal:
    """A refusal that was answered before under the same idempotency key, to be answered again word for word."""
    return Refusal(recovery.reason, replay=recovery)


def bad_argument(path: str, expected: str, got: str) -> Refusal:
    """A value that fits the schema and is refused all the same."""
    return Refusal(Reason.VALIDATION_ERROR, problems=[Problem(path, expected, got)])
