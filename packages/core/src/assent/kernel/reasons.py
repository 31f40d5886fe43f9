"""Every machine-readable reason for a refusal, and the table of their meanings (E51, E52).

The table defines each reason once: its texts for the person, its instructions for the agent, the
retry rule, the recovery tool, and the HTTP status. Texts may contain `{names}`, filled from the
facts of a refusal. `summary` and `user_message` are for a person and name no tool, no argument and
no setting.
"""

from __future__ import annotations

import enum
from typing import Final

import msgspec

from assent.kernel.structs import Record


class Reason(enum.StrEnum):
    """S0 §7's twelve standard reasons, then our own. The standard ones keep their meaning (E52)."""

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
    DENIED_BY_POLICY = "denied_by_policy"
    FROZEN = "frozen"
    VALIDATION_ERROR = "validation_error"
    NAME_TAKEN = "name_taken"
    TOO_MANY_PICTURES = "too_many_pictures"
    PICTURES_FAILED = "pictures_failed"
    QUOTA_EXCEEDED = "quota_exceeded"
    WORKFLOW_NOT_FOUND = "workflow_not_found"
    WORKFLOW_INVALID = "workflow_invalid"
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

    @property
    def fix(self) -> str:
        """What the agent does about it."""
        return MEANINGS[self].fix


STANDARD_REASONS: Final = tuple(Reason)[:12]

KEY_REASONS: Final = frozenset({Reason.MISSING_API_KEY, Reason.INVALID_API_KEY})
"""The caller is unknown: no key, or an invalid one."""


class Retry(enum.StrEnum):
    """The call that an agent may repeat after a refusal."""

    SAME = "same"
    """The same call, once, after `retryAfterSeconds`."""
    CHANGED = "changed"
    """A corrected call. `recoveryTool`, if present, finds the right values."""
    AFTER_RECOVERY = "after_recovery"
    """The same call, after `recoveryTool` and the person's part of it."""
    NEVER = "never"
    """Nothing: show `userMessage` and stop."""


class Meaning(Record):
    """One row of the table. `recovery_tool` is signup for a missing key (E53) and connecting for a
    missing connector (E54); for missing facts about the product, `fix` names the seven fields to
    gather (E95)."""

    status: int
    retry: Retry
    summary: str
    user_message: str
    fix: str
    stop_rule: str
    recovery_tool: str | None = None
    recovery_needs: dict[str, str] = msgspec.field(default_factory=dict)
    """Arguments of `recovery_tool` that only the person knows, and what to ask for."""


WHAT_IT_DOES: Final = (
    "This server prepares what its listed tools are for, asks for approval, does it once, and leads through "
    "workflows. Anything else, such as a refund, needs an operator that was added to it."
)

MEANINGS: Final[dict[Reason, Meaning]] = {
    Reason.MISSING_API_KEY: Meaning(
        status=401,
        retry=Retry.AFTER_RECOVERY,
        recovery_tool="chieflab_signup_workspace",
        recovery_needs={"email": "the e-mail address of the person whom the workspace belongs to"},
        summary="A workspace key is needed.",
        user_message="This needs a workspace key. I can request one: you open a link, copy the key there and add it "
        "to this client's settings.",
        fix="Ask the user for their e-mail address, call chieflab_signup_workspace with it, show deliveryUrl, wait "
        "until the user has set the key, then repeat the original call once.",
        stop_rule="Do not repeat the call without a key, and never ask the user to paste a key into the chat.",
    ),
    Reason.MISSING_CONNECTOR: Meaning(
        status=409,
        retry=Retry.AFTER_RECOVERY,
        recovery_tool="chieflab_connect_provider",
        recovery_needs={"provider": "which provider to connect"},
        summary="{connector} is not connected.",
        user_message="{connector} is not connected to this workspace yet. Connect it, or take the text and publish it "
        "by hand.",
        fix="Call the recovery tool and show its link. Once the user has connected it, repeat the original call. For a "
        "channel that cannot be connected call chieflab_use_manual_fallback instead.",
        stop_rule="Do not say that anything was published or sent.",
    ),
    Reason.REQUIRES_APPROVAL: Meaning(
        status=409,
        retry=Retry.NEVER,
        summary="This is not approved yet.",
        user_message="Nothing was sent. Read the text and approve it in the chat, or open the review link if you are "
        "away from it.",
        fix="STOP. Show the content and its approval commands in the chat; give the review link only as a fallback. "
        "Call the executor again only after the human approved.",
        stop_rule="Do not call publish or send again until a human approved this action.",
    ),
    Reason.MISSING_REPO_CONTEXT: Meaning(
        status=422,
        retry=Retry.CHANGED,
        summary="There are too few facts about the product.",
        user_message="I need to know what you built before I can write about it; without that the first drafts would "
        "be generic.",
        fix="Gather whatChanged, recentCommits, changedFiles, routes, readme, targetCustomer and launchGoal from the "
        "repository and call the same tool again with them in repoContext.",
        stop_rule="Do not invent facts about the product. Warn the user that output without context is generic.",
    ),
    Reason.MISSING_CREDITS: Meaning(
        status=402,
        retry=Retry.NEVER,
        summary="The workspace has too few credits.",
        user_message="Nothing was sent: this costs {cost} credits and the workspace has {balance}. Its approval stays; "
        "it can be sent once credits are added.",
        fix="STOP. Show the message. Execute the action again only after the user said that credits were added.",
        stop_rule="Do not split or repeat the action to get around the limit.",
    ),
    Reason.WORKSPACE_NOT_FOUND: Meaning(
        status=404,
        retry=Retry.NEVER,
        summary="The workspace of this key is gone.",
        user_message="The workspace of this key does not exist any more. Use a key of another workspace.",
        fix="Show the message and stop.",
        stop_rule="Do not try other workspace ids.",
    ),
    Reason.CONNECTOR_FAILED: Meaning(
        status=502,
        retry=Retry.NEVER,
        summary="{connector} rejected this.",
        user_message="Nothing was sent: {connector} did not accept this ({detail}). I can prepare a new one.",
        fix="STOP. Show the message: this action has ended. Prepare a new one if the user wants that.",
        stop_rule="Do not execute this action again, and do not say that it was published or sent.",
    ),
    Reason.MEASUREMENT_UNAVAILABLE: Meaning(
        status=409,
        retry=Retry.NEVER,
        summary="There are no numbers yet.",
        user_message="The numbers are not in yet. They are read automatically about a day after publishing.",
        fix="Stop. The server measures on schedule, so there is nothing to call; show the message.",
        stop_rule="Do not invent metrics, and do not poll.",
    ),
    Reason.INVALID_ACTION_ID: Meaning(
        status=400,
        retry=Retry.NEVER,
        summary="There is nothing with that id.",
        user_message="I used an id that cannot exist; nothing was done.",
        fix="STOP repeating this call. Ids are in the replies that staged an action, and in "
        "chieflab_list_pending_actions, exactly as they are to be given.",
        stop_rule="Do not guess or alter ids.",
    ),
    Reason.WRONG_WORKSPACE: Meaning(
        status=401,
        retry=Retry.NEVER,
        summary="This workspace has nothing with that id.",
        user_message="This workspace has no action with that id.",
        fix="STOP repeating this call. The key works in its own workspace alone; chieflab_list_pending_actions lists "
        "what is open there.",
        stop_rule="Do not try the id with other keys or look for it elsewhere.",
    ),
    Reason.RATE_LIMITED: Meaning(
        status=429,
        retry=Retry.SAME,
        summary="Too many calls.",
        user_message="That was too fast for {limited}. I will try again in {retryAfterSeconds} seconds.",
        fix="Wait retryAfterSeconds, then repeat the call once, with the same idempotencyKey if it had one.",
        stop_rule="Do not call in a loop.",
    ),
    Reason.PROVIDER_NOT_LIVE: Meaning(
        status=409,
        retry=Retry.NEVER,
        summary="{connector} is not available here.",
        user_message="{connector} cannot be used here yet. Choose another channel, or take the text and publish it by "
        "hand.",
        fix="STOP. Show the message. If the user chooses, prepare it for a channel whose connector is live, or call "
        "chieflab_use_manual_fallback.",
        stop_rule="Do not pretend that it was executed.",
    ),
    Reason.INVALID_API_KEY: Meaning(
        status=401,
        retry=Retry.NEVER,
        summary="The key in use does not work.",
        user_message="The key in this client's settings does not work: it is mistyped, was revoked or replaced, or has "
        "ended. Put the current key of your workspace there, or ask the person who runs the server for a new one.",
        fix="Show the message and stop. Go on when the user says that the key in this client's settings is replaced.",
        stop_rule="Do not request another workspace: it would have none of this one's drafts, memory and connections. "
        "Never ask the user to paste a key into the chat.",
    ),
    Reason.OUTCOME_UNKNOWN: Meaning(
        status=409,
        retry=Retry.NEVER,
        summary="It is not known whether this was sent.",
        user_message="It is not known whether it went out: {connector} did not confirm it. The server asks the "
        "provider where it can. If it stays open, please look there and tell me, or answer on the review page.",
        fix="STOP. Call chieflab_get_action in a minute: if the provider can be asked, the server knows the outcome "
        "by then. If executionState is still outcome_unknown, ask the human to check with the provider. After their "
        "answer call chieflab_resolve_unknown_outcome with it and their evidence.",
        stop_rule="Never send it again before a human said that it did not happen.",
    ),
    Reason.EXECUTION_IN_PROGRESS: Meaning(
        status=409,
        retry=Retry.SAME,
        summary="This is being sent right now.",
        user_message="It is on its way; I will look again in a moment.",
        fix="Wait retryAfterSeconds, then call chieflab_get_action to see the outcome, or repeat the call with the "
        "same idempotencyKey.",
        stop_rule="Do not stage the action again.",
    ),
    Reason.IDEMPOTENCY_CONFLICT: Meaning(
        status=409,
        retry=Retry.CHANGED,
        summary="This request key was used for another request.",
        user_message="I reused a request key for something else; nothing was done.",
        fix="Use a new idempotencyKey for a new request, or repeat the first request unchanged.",
        stop_rule="Do not change arguments under the same key.",
    ),
    Reason.STALE_REVISION: Meaning(
        status=409,
        retry=Retry.NEVER,
        summary="The content changed since it was shown.",
        user_message="This was edited in the meantime. Please read the current text before deciding.",
        fix="STOP. Show the content as it is now and ask again; then decide with the digest of that content.",
        stop_rule="Do not decide about content that the human has not seen.",
    ),
    Reason.ACTION_EXPIRED: Meaning(
        status=409,
        retry=Retry.NEVER,
        summary="This has expired.",
        user_message="This was prepared too long ago and has expired. I can prepare it again.",
        fix="STOP. Show the message. If the user wants it, stage it again with the tool that made it and ask for "
        "approval.",
        stop_rule="Do not try to revive the old action.",
    ),
    Reason.DENIED_BY_POLICY: Meaning(
        status=403,
        retry=Retry.NEVER,
        summary="The policy of this workspace does not permit this.",
        user_message="The policy of this workspace does not permit this: {why} Nothing was sent. The rule is “{rule}”. "
        "An owner can change the policy.",
        fix="STOP. Show the message. If the user wants something that the policy permits, change the action with "
        "chieflab_edit_action or prepare a new one.",
        stop_rule="Do not approve, publish or send this action, and do not split it to get around the policy.",
    ),
    Reason.FROZEN: Meaning(
        status=423,
        retry=Retry.NEVER,
        summary="Sending is stopped {where}.",
        user_message="Nothing was sent: a person stopped all sending {where}{since}.{why} What is approved stays "
        "approved. Once a person lets sending go on, tell me to send it if it has not gone out.",
        fix="STOP. Show the message. Preparing, showing and approving go on; call the executor again only after the "
        "user says that sending goes on.",
        stop_rule="Do not send this in another way, and do not call an executor again until sending goes on.",
    ),
    Reason.ACTION_CLOSED: Meaning(
        status=409,
        retry=Retry.NEVER,
        summary="This is closed.",
        user_message="This is closed and cannot be changed. I can prepare a new one.",
        fix="STOP. Show the message. If the user wants it, stage a new action with the tool that made this one and ask "
        "for approval.",
        stop_rule="Do not try to change a closed action.",
    ),
    Reason.VALIDATION_ERROR: Meaning(
        status=400,
        retry=Retry.CHANGED,
        summary="The call has {count} bad argument(s).",
        user_message="I made a mistake in a call and will correct it.",
        fix="Correct every entry of problems (path, expected value, received value) and call again.",
        stop_rule="Do not repeat the call unchanged.",
    ),
    Reason.NAME_TAKEN: Meaning(
        status=409,
        retry=Retry.CHANGED,
        summary="A workspace of this server has this name, or it is reserved. Choose another name.",
        user_message="This name is not free on this server. Tell me another name for the workspace.",
        fix="Ask the user for another name of the workspace and call again with it.",
        stop_rule="Do not repeat the call with this name.",
    ),
    Reason.TOO_MANY_PICTURES: Meaning(
        status=409,
        retry=Retry.CHANGED,
        summary="The workspace keeps as many pictures as it may.",
        user_message="This workspace has no room for more pictures. Unused pictures are removed 90 days after they "
        "were made; use one of them, or go on without a picture.",
        fix="Use a picture that an earlier answer showed, or prepare without pictures (imagesNeeded: false).",
        stop_rule="Do not make the same pictures in another workspace.",
    ),
    Reason.PICTURES_FAILED: Meaning(
        status=503,
        retry=Retry.SAME,
        summary="The pictures could not be drawn.",
        user_message="The pictures could not be drawn just now. Nothing was stored; I will try again in "
        "{retryAfterSeconds} seconds.",
        fix="Wait retryAfterSeconds, then repeat the call once. If it fails again, go on without pictures.",
        stop_rule="Do not call in a loop.",
    ),
    Reason.QUOTA_EXCEEDED: Meaning(
        status=507,
        retry=Retry.SAME,
        summary="The workspace has stored as much as it may today.",
        user_message="This workspace has used its {megabytes} MB for today, so this was not stored. Everything stored "
        "before can be approved, sent and read. It can store more after midnight UTC; the operator of the server can "
        "allow more now.",
        fix="Prepare nothing more today, and tell the human. Continue with actions that are stored already. "
        "After retryAfterSeconds repeat this call once, with the same idempotencyKey if it had one.",
        stop_rule="Do not split the content, do not call in a loop, and do not use another workspace for it.",
    ),
    Reason.WORKFLOW_NOT_FOUND: Meaning(
        status=404,
        retry=Retry.CHANGED,
        recovery_tool="workflow_list",
        summary="There is no workflow {workflow}.",
        user_message="I looked for a workflow that does not exist here.",
        fix="Take workflowId from the answer of the recovery tool{suggestion} and call again.",
        stop_rule="Do not guess workflow ids.",
    ),
    Reason.WORKFLOW_INVALID: Meaning(
        status=409,
        retry=Retry.NEVER,
        summary="The workflow {workflow} cannot be used: its file {file} has mistakes.",
        user_message="The workflow {workflow} cannot be used, because its file {file} is wrong at {mistakes}. "
        "Someone has to correct the file; then I can start it.",
        fix="STOP. The call was right, the file is not. Tell the user what is wrong with it, as problems has it.",
        stop_rule="Do not start it again before the user says that the file is corrected.",
    ),
    Reason.CONTEXT_TOO_LARGE: Meaning(
        status=413,
        retry=Retry.CHANGED,
        summary="The context has {measured} bytes; {allowed} are allowed.",
        user_message="I tried to keep more with the workflow than it can hold, and will shorten it.",
        fix="Send only facts that conditions and loops need, put the rest into notes, and call again.",
        stop_rule="Do not send the same context again.",
    ),
    Reason.TOKEN_INVALID_FORMAT: Meaning(
        status=400,
        retry=Retry.CHANGED,
        recovery_tool="workflow_resume",
        summary="That is not a workflow token.",
        user_message="I lost my place in the workflow and will find it again.",
        fix="Copy stateToken and ackToken whole from the last answer; if they are gone, the recovery tool gives them.",
        stop_rule="Do not make up or shorten tokens.",
    ),
    Reason.TOKEN_UNSUPPORTED_VERSION: Meaning(
        status=400,
        retry=Retry.CHANGED,
        recovery_tool="workflow_resume",
        summary="This server does not know that version of workflow tokens.",
        user_message="My place in the workflow is from another version of the server; I will find it again.",
        fix="Call the recovery tool to get tokens of this version, then repeat the call with them.",
        stop_rule="Do not change the token.",
    ),
    Reason.TOKEN_BAD_SIGNATURE: Meaning(
        status=403,
        retry=Retry.CHANGED,
        recovery_tool="workflow_resume",
        summary="The workflow token was altered, or is too old.",
        user_message="I lost my place in the workflow and will find it again.",
        fix="Copy the token again, whole; if that does not help, the recovery tool gives a new one.",
        stop_rule="Do not change tokens.",
    ),
    Reason.TOKEN_SCOPE_MISMATCH: Meaning(
        status=409,
        retry=Retry.CHANGED,
        recovery_tool="workflow_resume",
        summary="The two tokens do not belong together.",
        user_message="I mixed up two steps of the workflow and will correct it.",
        fix="Send stateToken and ackToken of the same answer; stateToken alone gives a fresh ackToken.",
        stop_rule="Do not combine tokens of different answers.",
    ),
    Reason.TOKEN_UNKNOWN_NODE: Meaning(
        status=404,
        retry=Retry.CHANGED,
        recovery_tool="workflow_resume",
        summary="This workspace has no such place in a workflow.",
        user_message="That workflow run is not in this workspace; I will look for it.",
        fix="Call the recovery tool to find the run, then repeat the call with its tokens.",
        stop_rule="Do not try tokens of other workspaces.",
    ),
    Reason.INSUFFICIENT_SCOPE: Meaning(
        status=403,
        retry=Retry.NEVER,
        summary="This agent is not allowed to {right}.",
        user_message="I am not allowed to {right} in this workspace. {who}",
        fix="STOP. Show userMessage, and reviewUrl if there is one. Do not ask for another API key.",
        stop_rule="Do not look for another way to the same effect.",
    ),
    Reason.UNKNOWN_TOOL: Meaning(
        status=404,
        retry=Retry.CHANGED,
        summary="That cannot be done here.",
        user_message=f"I tried something that does not exist here. {WHAT_IT_DOES}",
        fix="There is no tool {tool}. Take a name from tools/list{suggestion}. If none there does it, tell the user "
        "that this server cannot.",
        stop_rule="Do not guess tool names, and do not use another tool for what it is not made for.",
    ),
    Reason.TEMPORARILY_UNAVAILABLE: Meaning(
        status=503,
        retry=Retry.SAME,
        summary="The server cannot reach its storage.",
        user_message="The server cannot store anything at the moment. Nothing was lost; I will try again in "
        "{retryAfterSeconds} seconds.",
        fix="Wait retryAfterSeconds, then repeat the call once, with the same idempotencyKey if it had one.",
        stop_rule="Do not call in a loop, and do not report the call as done.",
    ),
    Reason.INTERNAL_ERROR: Meaning(
        status=500,
        retry=Retry.NEVER,
        summary="The server made a mistake.",
        user_message="Something went wrong on the server. Its log has the details under {requestId}.",
        fix="Show the message with its id and stop.",
        stop_rule="Do not repeat the call before the cause is known.",
    ),
}

NO_SIGNUP: Final = msgspec.structs.replace(
    MEANINGS[Reason.MISSING_API_KEY],
    retry=Retry.NEVER,
    recovery_tool=None,
    recovery_needs={},
    user_message="This needs a workspace key, and sign-up is closed here. Ask the person who runs this server for one, "
    "or for an invitation.",
    fix="STOP. Show userMessage. This server has no sign-up: its owner makes keys.",
)
"""`missing_api_key` of a server whose sign-up is closed (E53)."""


def describe_reason(reason: Reason, *, signup_open: bool) -> Meaning:
    """Return the row of a reason as this server uses it."""
    return NO_SIGNUP if reason is Reason.MISSING_API_KEY and not signup_open else MEANINGS[reason]
