"""The definition of a tool, and the call that it gets.

Names are the contract's; a legacy `chiefmo_` name resolves to the `chieflab_` tool of the same ending (C5).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from assent.engine.core.idempotency import run_once
from assent.engine.core.quota import meter
from assent.engine.core.services import Services
from assent.engine.core.tenancy import Principal
from assent.kernel.ids import RunId
from assent.ports import Begin

T = TypeVar("T")

Category = Literal["primary", "review", "execute", "workspace", "workflow", "legacy"]


@dataclass(frozen=True, slots=True)
class Peer:
    """The client of a call, for calls that wait."""

    gone: Callable[[], Awaitable[object]]
    """Returns once the client has disconnected."""
    step_aside: Callable[[], None] = lambda: None
    """Releases the call's slot among the calls in flight."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call: its caller, its origin, and the server's services."""

    services: Services
    principal: Principal | None
    address: str
    request_id: str
    now_ms: int
    continuing: RunId | None = None
    """The run that a background job completes with this call (`tools/suite/long_runs.py`)."""
    peer: Peer | None = None
    keyed_as: str = ""
    """The name under which idempotency keys are stored (`Tool.keyed_as`)."""

    @property
    def caller(self) -> Principal:
        """The caller of a tool that is not public; the edge has authenticated it."""
        if self.principal is None:
            raise LookupError("a public tool asked for its caller")
        return self.principal

    def review_url(self, run_id: RunId) -> str:
        """Return the link to a run, with the rights of the caller."""
        caller = self.caller
        return self.services.links.review_url(caller.workspace_id, run_id, self.now_ms, caller.link_scope)

    def metered(self, begin: Begin[T]) -> Begin[T]:
        """Wrap a transaction that stores the caller's content, so that it counts against the workspace's daily
        quota."""
        return meter(begin, self.caller.workspace_id, self.services.limits.storage_quota_bytes, self.now_ms)

    async def write_once(self, request: Any, begin: Begin[T], reply: type[T], arguments: Any) -> T:
        """Run a transaction once per idempotency key. A repetition with the same `arguments` gets the first answer
        (E7)."""
        key: str | None = request.idempotency_key
        if key is not None and not self.keyed_as:
            raise LookupError("the row of this tool says under which name its keys are stored")
        return await self.services.store.write(
            lambda: run_once(self.caller, self.keyed_as, key, arguments, self.now_ms, reply, begin)
        )


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
    category: Category
    behaviour: Behaviour
    request: type[Any]
    reply: type[Any]
    handler: Callable[[Call, Any], Awaitable[Any]]
    public: bool = False
    scope: str | None = None
    keyed_as: str = ""
    """The name under which idempotency keys are stored, if the tool is a single transaction."""
    aliases: tuple[str, ...] = field(default=())
    """Other names that resolve to the tool and are not listed."""
    tell_refusal: Callable[[Mapping[str, Any]], str] | None = None
    """Returns the text before a refusal, for tools that answer with text first (W76)."""
    legacy_names: tuple[str, ...] = field(default=())
    """Old names that are listed; any other `chiefmo_` name resolves without being listed."""
