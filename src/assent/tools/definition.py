"""What a tool is, and the call it is given.

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
    """The client of one call, as far as a call that waits must know it."""

    gone: Callable[[], Awaitable[object]]
    """Returns once the client no longer listens for the answer."""
    step_aside: Callable[[], None] = lambda: None
    """Gives back the place that the call has among those in flight."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call: who makes it, from where, and what the server gives it to work with."""

    services: Services
    principal: Principal | None
    address: str
    request_id: str
    now_ms: int
    continuing: RunId | None = None
    """The run that a background job finishes with this call (`tools/suite/long_runs.py`)."""
    peer: Peer | None = None
    keyed_as: str = ""
    """The name under which the idempotency keys of the tool are stored, as its row says (`Tool.keyed_as`)."""

    @property
    def caller(self) -> Principal:
        """The caller of a tool that is not public; the edge has let nobody else through."""
        if self.principal is None:
            raise LookupError("a public tool asked for its caller")
        return self.principal

    def review_url(self, run_id: RunId) -> str:
        """The link to a run, with the rights of the caller."""
        caller = self.caller
        return self.services.links.review_url(caller.workspace_id, run_id, self.now_ms, caller.link_scope)

    def metered(self, begin: Begin[T]) -> Begin[T]:
        """A transaction that stores what the caller brought, as far as its workspace may today."""
        return meter(begin, self.caller.workspace_id, self.services.limits.storage_quota_bytes, self.now_ms)

    async def write_once(self, request: Any, begin: Begin[T], reply: type[T], arguments: Any) -> T:
        """Run a transaction once per idempotency key of the request. A repetition with the same `arguments` gets the
        first answer (E7)."""
        key: str | None = request.idempotency_key
        if key is not None and not self.keyed_as:
            raise LookupError("the row of this tool says under which name its keys are stored")
        return await self.services.store.write(
            lambda: run_once(self.caller, self.keyed_as, key, arguments, self.now_ms, reply, begin)
        )


@dataclass(frozen=True, slots=True)
class Prose:
    """A reply with a readable text to go before it (W76)."""

    reply: Any
    text: str


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The four hints of a tool. They inform a client; nothing on the server relies on them."""

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
    """One row of the tool table. `request` and `reply` are structs; their schemas are published as they are."""

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
    """The name under which the idempotency keys of its calls are stored, where one transaction is all that it does."""
    aliases: tuple[str, ...] = field(default=())
    """Other names that resolve to it and are not listed."""
    tell_refusal: Callable[[Mapping[str, Any]], str] | None = None
    """Words that go before a refusal as it is sent, where answers of the tool are text first (W76)."""
    legacy_names: tuple[str, ...] = field(default=())
    """Old names that are listed; any other `chiefmo_` name resolves without being listed."""
