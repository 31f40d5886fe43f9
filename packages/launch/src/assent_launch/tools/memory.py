"""Tools for the brain: read, record, voice samples, tenants (E33)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from assent.platform.services import (
    Entry,
    NewEntry,
    Preparation,
    PreparedRun,
    Request,
    Transaction,
    memory,
    runs,
    tenancy,
)
from assent.platform.tools import READS, WRITES, Call, IdempotencyKey, PageSize, TenantIdArgument, Tool
from assent.platform.values import (
    AgentUsefulness,
    Arguments,
    InChat,
    SuggestedCall,
    TenantId,
    WireRecord,
    digest,
    from_record,
    guide_unstaged,
    iso_time,
    truncate,
)

SCOPE = "runs:write"
OPERATOR = "chieflab-brain"
KEYED_AS = "remember"
"""One name for both tools that keep a memory."""

SHOWN = 20
MAX_LINE = 240

KindArgument = Annotated[
    Literal[
        "brand_voice", "voice_sample", "repo_fact", "proof", "channel_performance", "claim_risk", "lesson"
    ],
    msgspec.Meta(description="What sort of memory it is."),
]


class BrainRead(Arguments, kw_only=True):
    tenant_id: TenantIdArgument | None = None
    query: Annotated[str, msgspec.Meta(max_length=500, description="Words to look for.")] | None = None
    kind: (
        Annotated[
            memory.Kind,
            msgspec.Meta(description="Only memories of this sort."),
        ]
        | None
    ) = None
    limit: PageSize = 20


class BrainRecord(Arguments, kw_only=True):
    kind: KindArgument
    body: Annotated[
        str, msgspec.Meta(min_length=1, max_length=10_000, description="The memory, in plain words.")
    ]
    tenant_id: TenantIdArgument | None = None
    source: (
        Annotated[
            str,
            msgspec.Meta(max_length=500, description="Where it comes from: a file, an address, the user."),
        ]
        | None
    ) = None
    idempotency_key: IdempotencyKey | None = None


class MemoryView(WireRecord, kw_only=True):
    entry_id: str
    tenant_id: str
    kind: str
    body: str
    state: str
    source: str
    channel: str | None
    run_id: str | None
    action_id: str | None
    created_at: str


class BrainReply(PreparedRun, kw_only=True):
    """The full shape of a run, with the memories; nothing is staged."""

    entries: tuple[MemoryView, ...]


class AddVoiceSample(Arguments, kw_only=True):
    text: Annotated[
        str, msgspec.Meta(min_length=1, max_length=10_000, description="A text in the voice to be learned.")
    ]
    tenant_id: TenantIdArgument | None = None
    source: Annotated[str, msgspec.Meta(max_length=500, description="Where it was published.")] | None = None
    idempotency_key: IdempotencyKey | None = None


class ListVoiceSamples(Arguments, kw_only=True):
    tenant_id: TenantIdArgument | None = None
    limit: PageSize = 20


class Memories(WireRecord, kw_only=True):
    ok: bool
    entries: tuple[MemoryView, ...]


class ListTenants(Arguments):
    """No arguments."""


class CreateTenant(Arguments, kw_only=True):
    tenant_id: TenantIdArgument
    name: Annotated[str, msgspec.Meta(max_length=200, description="What to call it.")] | None = None
    idempotency_key: IdempotencyKey | None = None


class TenantView(WireRecord, kw_only=True):
    tenant_id: str
    name: str
    created_at: str


class Tenants(WireRecord, kw_only=True):
    ok: bool
    tenants: tuple[TenantView, ...]


async def brain_read(call: Call, request: BrainRead) -> BrainReply:
    workspace_id, tenant_id = call.caller.workspace_id, memory.tenant_of(request.tenant_id)
    store, kind, query, most = call.services.store, request.kind or "", request.query or "", request.limit
    if query.strip():
        found = await store.write(lambda: memory.search(workspace_id, tenant_id, query, kind=kind, most=most))
    else:
        found = await store.read(lambda: memory.read(workspace_id, tenant_id, kind=kind, most=most))
    return await _reply(call, "chieflab_brain_read", request, None, found)


async def brain_record(call: Call, request: BrainRecord) -> BrainReply:
    entry = await _remember(call, request, request.kind, request.body)
    return await _reply(call, "chieflab_brain_record", request, request.idempotency_key, [entry])


async def add_voice_sample(call: Call, request: AddVoiceSample) -> Memories:
    entry = await _remember(call, request, "voice_sample", request.text)
    return Memories(ok=True, entries=(view(entry),))


async def list_voice_samples(call: Call, request: ListVoiceSamples) -> Memories:
    workspace_id, tenant_id = call.caller.workspace_id, memory.tenant_of(request.tenant_id)
    found = await call.services.store.read(
        lambda: memory.read(workspace_id, tenant_id, kind="voice_sample", most=request.limit)
    )
    return Memories(ok=True, entries=tuple(view(entry) for entry in found))


async def list_tenants(call: Call, request: ListTenants) -> Tenants:
    return await call.services.store.read(lambda: _tenants(call))


async def create_tenant(call: Call, request: CreateTenant) -> Tenants:
    def create() -> Transaction[Tenants]:
        yield from tenancy.add_tenant(
            call.caller.workspace_id, request.tenant_id, request.name or request.tenant_id, call.now_ms
        )
        return (yield from _tenants(call))

    return await call.write_once(request, create, Tenants)


def _tenants(call: Call) -> Transaction[Tenants]:
    found = yield from tenancy.list_tenants(call.caller.workspace_id)
    return Tenants(
        ok=True,
        tenants=tuple(from_record(TenantView, each, created_at=iso_time(each.created_ms)) for each in found),
    )


async def _remember(call: Call, request: BrainRecord | AddVoiceSample, kind: memory.Kind, body: str) -> Entry:
    """Store a memory that a caller supplies. The same words of the same kind are stored once."""
    workspace_id, tenant = call.caller.workspace_id, memory.tenant_of(request.tenant_id)
    entry = NewEntry(
        tenant_id=tenant,
        kind=kind,
        body=body,
        source=request.source or f"recorded by {call.caller.name}",
        natural_key=f"{kind}:{digest([tenant, kind, body])}",
        # A person confirms it on the memory page.
        state="proposed",
    )

    def begin() -> Transaction[Entry]:
        made = yield from memory.remember(workspace_id, entry, call.now_ms)
        found = yield from memory.read(workspace_id, tenant, kind=kind, most=100)
        return next(kept for kept in found if kept.entry_id == made or (made is None and kept.body == body))

    arguments = {"tenantId": tenant, "kind": kind, "body": body, "source": request.source}
    return await call.services.store.write(call.metered(call.once(request, begin, Entry, arguments)))


async def _reply(call: Call, tool: str, request: Any, key: str | None, found: list[Entry]) -> BrainReply:
    entries = tuple(view(entry) for entry in found)
    arguments = msgspec.to_builtins(request)
    arguments.pop("idempotencyKey", None)
    reads = tool == "chieflab_brain_read"
    said = _describe(call, found, memory.tenant_of(request.tenant_id), reads=reads)
    shown = "\n".join([said, *(f"- {_line(entry)}" for entry in found[:SHOWN])]) if reads else said
    following = NEXT[tool]
    guide = guide_unstaged("memory", InChat(body=shown, title="What is remembered"), said, following)
    return await runs.prepare(
        call.services,
        Request(
            principal=call.caller,
            operator=OPERATOR,
            tool=tool,
            inputs=arguments,
            # A read creates no tenant.
            tenant_id=TenantId(request.tenant_id) if request.tenant_id is not None and not reads else None,
            key=key,
        ),
        Preparation(outputs={"entries": len(entries)}, next_calls=following, user_message=said, show=shown),
        BrainReply,
        lambda assets, staged: {
            "entries": entries,
            "agent_guide": guide,
            "agent_usefulness": AgentUsefulness(0, 0, False, said),
            "tenant_id": request.tenant_id,
        },
    )


def _describe(call: Call, found: list[Entry], tenant: str, *, reads: bool) -> str:
    """Describe the memories that were found or stored to the person."""
    if not reads:
        kept = found[0]
        said = f"Remembered: {_line(kept)}"
        if kept.state != "proposed" or kept.kind not in memory.FACTS:
            return said
        where = f"{call.services.links.base_url}/memory"
        return f"{said}\nDrafts use it once a person confirms it on the memory page: {where}"
    if not found:
        return f"Nothing about {tenant} matches."
    count = "One memory" if len(found) == 1 else f"{len(found)} memories"
    return f"{count} about {tenant}, the newest or best first:"


def _line(entry: Entry) -> str:
    cut = truncate(" ".join(entry.body.split()), MAX_LINE)
    unsure = ", not confirmed" if entry.state == "proposed" else ""
    return f"{cut} ({entry.kind.replace('_', ' ')}{unsure}; {entry.source})"


NEXT = {
    "chieflab_brain_read": (
        SuggestedCall(
            "chieflab_brain_record",
            {"kind": "lesson"},
            "the user tells you something to keep",
            {"body": "what to remember"},
        ),
        SuggestedCall(
            "chieflab_add_voice_sample",
            {},
            "the user shows a text in their own voice",
            {"text": "the text"},
        ),
        SuggestedCall("chieflab_list_voice_samples", {}, "to see the voice that is known"),
    ),
    "chieflab_brain_record": (
        SuggestedCall("chieflab_brain_read", {}, "the user asks what is known"),
        SuggestedCall("chieflab_status", {}, "the user asks what is open"),
    ),
}


def view(entry: Entry) -> MemoryView:
    return from_record(MemoryView, entry, created_at=iso_time(entry.created_ms))


TOOLS = (
    Tool(
        name="chieflab_brain_read",
        title="Read the memory",
        description="Reads what this tenant's runs have learned: the brand's voice, facts, proofs, what worked, what "
        "was rejected and why. USE WHEN you draft for a client or product that has been here before, or the user "
        "asks what you know or learned so far.",
        category="primary",
        behaviour=READS,
        request=BrainRead,
        reply=BrainReply,
        handler=brain_read,
    ),
    Tool(
        name="chieflab_brain_record",
        title="Remember something",
        description="Keeps a fact (such as a price), a proof, a voice rule or a lesson for later runs, with its "
        "source. USE WHEN the user says what you must remember or not forget. Decisions are remembered without this. "
        "A person confirms facts and proofs before drafts use them.",
        category="primary",
        behaviour=WRITES,
        request=BrainRecord,
        reply=BrainReply,
        handler=brain_record,
        keyed_as=KEYED_AS,
        scope=SCOPE,
    ),
    Tool(
        name="chieflab_add_voice_sample",
        title="Add a voice sample",
        description="Keeps a text in the user's own voice; later drafts follow its length, tone and habits. USE WHEN "
        "the user shows you a text that they wrote.",
        category="workspace",
        behaviour=WRITES,
        request=AddVoiceSample,
        reply=Memories,
        handler=add_voice_sample,
        keyed_as=KEYED_AS,
        scope=SCOPE,
    ),
    Tool(
        name="chieflab_list_voice_samples",
        title="List voice samples",
        description="Lists the texts that the voice was learned from. USE WHEN the user asks whose voice "
        "drafts follow.",
        category="workspace",
        behaviour=READS,
        request=ListVoiceSamples,
        reply=Memories,
        handler=list_voice_samples,
    ),
    Tool(
        name="chieflab_list_tenants",
        title="List tenants",
        description="Lists the tenants (clients, products) of this workspace; each has a memory of its own. USE WHEN "
        "you work for several clients and need a tenantId.",
        category="workspace",
        behaviour=READS,
        request=ListTenants,
        reply=Tenants,
        handler=list_tenants,
    ),
    Tool(
        name="chieflab_create_tenant",
        title="Create a tenant",
        description="Makes a tenant of this workspace. Naming a new tenant in a call makes it, too. USE "
        "WHEN the user begins to work for another client or product.",
        category="workspace",
        behaviour=WRITES,
        request=CreateTenant,
        reply=Tenants,
        handler=create_tenant,
        keyed_as="chieflab_create_tenant",
        scope=SCOPE,
    ),
)
