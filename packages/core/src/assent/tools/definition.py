"""The definition of a tool, and the call that it gets.

Names are the contract's; a legacy `chiefmo_` name resolves to the `chieflab_` tool of the same
ending (C5). The set that each tool belongs to is in one table, so that the size of each list is visible.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import msgspec

from assent.engine.actions.idempotency import run_once
from assent.engine.core.quota import meter
from assent.engine.core.services import Services
from assent.engine.core.tenancy import Principal, Scope
from assent.gate.records import Action
from assent.kernel.ids import RunId
from assent.kernel.refusals import bad_argument
from assent.kernel.toolsets import GATE, LEGACY, Toolset
from assent.ports import Begin, Transaction

if TYPE_CHECKING:
    from assent.engine.actions.staging import PreparedRun, Request

T = TypeVar("T")
Reply = TypeVar("Reply", bound="PreparedRun")


@dataclass(frozen=True, slots=True)
class Peer:
    """The client of a call, for calls that wait."""

    gone: Callable[[], Awaitable[object]]
    """Returns once the client has disconnected."""
    step_aside: Callable[[], None] = lambda: None
    """Releases the call's slot among the calls in flight."""
    cancelled: Callable[[], bool] = lambda: False
    """Whether the client asked to end the call, as opposed to going away."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question for a person, who answers with one of the choices."""

    message: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DialogAnswer:
    """What a client reports of a dialog."""

    action: Literal["accept", "decline", "cancel", "no_answer", "busy"]
    choice: str | None = None


@dataclass(frozen=True, slots=True)
class Dialog:
    """The dialog in which a client can ask its person. Where the server cannot send a request, the tool
    replies with `InputRequired`, and the client repeats the call with its state and the answer."""

    ask: Callable[[Question, float], Awaitable[DialogAnswer]] | None = None
    """Shows a question for at most so many seconds. None where the call is repeated instead."""
    state: str | None = None
    answer: DialogAnswer | None = None


@dataclass(frozen=True, slots=True)
class InputRequired:
    """A reply that makes the client ask its person and repeat the call with the answer."""

    question: Question
    state: str


@dataclass(frozen=True, slots=True)
class PublicCall:
    """One call of a public tool: the server's services, its caller and its origin."""

    services: Services
    caller: Principal | None
    """None without a key."""
    address: str
    request_id: str
    now_ms: int
    peer: Peer | None = None
    dialog: Dialog | None = None
    """None if the client has no dialog, or the caller may not use it."""


@dataclass(frozen=True, slots=True)
class Call(PublicCall):
    """One call of any other tool. The edge has authenticated its caller."""

    caller: Principal
    continuing: RunId | None = None
    """The run that a background job completes with this call (`tools/long_runs.py`)."""
    keyed_as: str = ""
    """The name under which idempotency keys are stored (`Tool.keyed_as`)."""

    def review_url(self, run_id: RunId) -> str:
        """Return the link to a run, with the rights of the caller."""
        caller = self.caller
        return self.services.links.review_url(caller.workspace_id, run_id, self.now_ms, caller.link_scope)

    def metered(self, begin: Begin[T]) -> Begin[T]:
        """Wrap a transaction that stores the caller's content, so that it counts against the
        workspace's daily quota."""
        return meter(begin, self.caller.workspace_id, self.services.limits.storage_quota_bytes, self.now_ms)

    def once(self, request: Any, begin: Begin[T], reply: type[T], arguments: Any = None) -> Begin[T]:
        """Wrap a transaction that runs once per idempotency key. A repetition with the same
        `arguments`, by default all of the request, gets the first answer (E7)."""
        key: str | None = request.idempotency_key
        if key is None:
            return begin
        if not self.keyed_as:
            raise LookupError("the row of this tool says under which name its keys are stored")
        if arguments is None:
            arguments = {**msgspec.to_builtins(request), "idempotencyKey": None}
        return partial(run_once, self.caller, self.keyed_as, key, arguments, self.now_ms, reply, begin)

    async def write_once(self, request: Any, begin: Begin[T], reply: type[T], arguments: Any = None) -> T:
        """Run a transaction `once`."""
        return await self.services.store.write(self.once(request, begin, reply, arguments))

    async def await_within_limit(self, webhook_url: str | None, work: Awaitable[T]) -> T | None:
        """Return the result of slow reading; None if it takes too long and the caller has a webhook. Then `defer`.

        `work` may be cancelled: it only reads.
        """
        if webhook_url is None or self.continuing is not None:
            return await work
        try:
            async with asyncio.timeout(self.services.limits.long_run_seconds) as patience:
                return await work
        except TimeoutError:
            if not patience.expired():
                raise
            return None

    async def defer(self, request: Request, shape: type[Reply], more: dict[str, Any]) -> Reply:
        """Answer at once. A job makes the same call again, whose result goes to the run and to the webhook."""
        from assent.engine.webhooks import long_runs

        return await long_runs.begin(self.services, request, shape, more)

    def require_webhook(self, url: str | None) -> None:
        """Refuse a webhook URL that can never receive a delivery."""
        why = self.services.outgoing.screen_webhook(url) if url is not None else None
        if url is not None and why is not None:
            from assent.gate.webhooks import mask_url

            expected = f"a public https address to post to. {why}"
            raise bad_argument("webhookUrl", expected, repr(mask_url(url)[:80]))

    def answering(
        self, request: Any, answer: Callable[[Action], T], reply: type[T], arguments: Any = None
    ) -> Callable[[Begin[Action]], Awaitable[T]]:
        """Return the way in which a use case writes for this call: `once`, and what is stored is the answer."""

        def write(begin: Begin[Action]) -> Awaitable[T]:
            def answered() -> Transaction[T]:
                return answer((yield from begin()))

            return self.write_once(request, answered, reply, arguments)

        return write


@dataclass(frozen=True, slots=True)
class Prose:
    """A reply with readable text before it (W76)."""

    reply: Any
    text: str


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The four hints of a tool for clients. The server does not rely on them."""

    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool

    @property
    def hints(self) -> dict[str, bool]:
        """Those that differ from the protocol's defaults. What only reads destroys and repeats nothing."""
        told = {"readOnlyHint": self.read_only, "openWorldHint": self.open_world}
        if not self.read_only:
            told |= {"destructiveHint": self.destructive, "idempotentHint": self.idempotent}
        return {hint: value for hint, value in told.items() if value != _DEFAULT_HINTS[hint]}


_DEFAULT_HINTS: Final = {
    "readOnlyHint": False,
    "openWorldHint": True,
    "destructiveHint": True,
    "idempotentHint": False,
}

READS = Behaviour(read_only=True, destructive=False, idempotent=True, open_world=False)
WRITES = Behaviour(read_only=False, destructive=False, idempotent=False, open_world=False)
DECIDES = Behaviour(read_only=False, destructive=False, idempotent=True, open_world=False)
FIRES = Behaviour(read_only=False, destructive=True, idempotent=True, open_world=True)


@dataclass(frozen=True, slots=True)
class Tool:
    """A row of the tool table. The schemas of `request` and `reply` are published."""

    name: str
    title: str
    description: str
    behaviour: Behaviour
    request: type[Any]
    reply: type[Any]
    handler: Callable[[Any, Any], Awaitable[Any]]
    """Takes a `Call`, or a `PublicCall` if the tool is public, and the request."""
    public: bool = False
    scope: Scope | None = None
    keyed_as: str = ""
    """The name under which idempotency keys are stored, if the tool is a single transaction."""
    aliases: tuple[str, ...] = field(default=())
    """Other names that resolve to the tool and are not listed."""
    tell_refusal: Callable[[Mapping[str, Any]], str] | None = None
    """Returns the text before a refusal, for tools that answer with text first (W76)."""
    legacy_names: tuple[str, ...] = field(default=())
    """Old names that are listed; any other `chiefmo_` name resolves without being listed."""
    owned: bool = False
    """Whether only the owner's workspaces have it (`Services.for_workspace`): the tools of the settings' operators."""


_GROUPS: Final[dict[Toolset, tuple[str, ...]]] = {
    "gate": (
        "chieflab_status",
        "chieflab_report",
        "chieflab_post",
        "chieflab_send",
        "chieflab_approve_action",
        "chieflab_reject_action",
        "chieflab_edit_action",
        "chieflab_withdraw_approval",
        "chieflab_list_pending_actions",
        "chieflab_get_action",
        "chieflab_execute_approved_action",
        "chieflab_publish_approved_post",
        "chieflab_send_email",
        "chieflab_resolve_unknown_outcome",
        "chieflab_undo_action",
        "chieflab_use_manual_fallback",
        "chieflab_record_manual_publish",
        "chieflab_list_connectors",
        "chieflab_connect_provider",
        "chieflab_signup_workspace",
    ),
    "launch": (
        "chieflab_launch_product",
        "chieflab_create_social_graphics",
        "chieflab_save_contacts",
        "chieflab_measure",
        "chieflab_record_manual_metrics",
        "chieflab_diagnose_marketing",
        "chieflab_get_run",
    ),
    "workflows": (
        "workflow_list",
        "workflow_inspect",
        "workflow_start",
        "workflow_advance",
        "workflow_checkpoint",
        "workflow_resume",
    ),
    "memory": (
        "chieflab_brain_read",
        "chieflab_brain_record",
        "chieflab_brain_forget",
        "chieflab_add_voice_sample",
    ),
    "calls": (
        "chieflab_propose_call",
        "chieflab_claim_call",
        "chieflab_report_call",
    ),
    "admin": (
        "chieflab_help",
        "chieflab_disconnect_provider",
        "chieflab_check_measurement_due",
        "chieflab_list_voice_samples",
        "chieflab_list_tenants",
        "chieflab_create_tenant",
        "chieflab_query_audit",
        "chieflab_get_workspace",
        "chieflab_list_runs",
        "chieflab_list_assets",
        "chieflab_get_asset",
        "chieflab_post_launch_review",
        "chieflab_get_policy",
        "chieflab_set_policy",
    ),
}

TOOLSET_OF: Final[dict[str, Toolset]] = {name: group for group, names in _GROUPS.items() for name in names}


def find_toolset(tool: Tool) -> Toolset:
    """Return the set of a tool; those of other packages' operators are with the gate."""
    return TOOLSET_OF.get(tool.name, GATE)


def list_groups(tool: Tool) -> dict[str, Toolset]:
    """Return a tool's listed names with their tool sets."""
    return {tool.name: find_toolset(tool)} | dict.fromkeys(tool.legacy_names, LEGACY)
