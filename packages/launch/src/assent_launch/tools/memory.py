"""Tools for the brain: read, record, voice samples, tenants (E33)."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec

from assent.platform import cut
from assent.sdk import (
    READS,
    WRITES,
    Arguments,
    Call,
    Cursor,
    IdempotencyKey,
    PageSize,
    Preparation,
    PreparedRun,
    Request,
    SuggestedCall,
    Tenant,
    TenantId,
    TenantIdArgument,
    Tool,
    Transaction,
    WireRecord,
    add_tenant,
    bad_argument,
    digest,
    find_tenant,
    from_record,
    is_uuid,
    iso_time,
    list_tenants,
    prepare_run,
)
from assent_launch.content.lessons import describe_checks
from assent_launch.learning import memory, memory_views
from assent_launch.learning.memory import Entry, NewEntry

SCOPE: Final = "runs:write"
OPERATOR = "chieflab-brain"
KEYED_AS = "remember"
"""One name for both tools that keep a memory."""

SHOWN = 20
MAX_LINE = 240
CHECKED = "I read it before I write, and {checks}."
NOT_CHECKED = "I read it before I write; the server cannot check it."

UNCONFIRMED = "Drafts may use it; it proves a claim once you confirm it:"
UNSUPPORTED = "claim without support"
KIND_WORDS = {
    "brand_voice": "voice",
    "voice_sample": "voice sample",
    "repo_fact": "fact",
    "channel_performance": "result",
    "claim_risk": "never claim",
}

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


class BrainForget(Arguments, kw_only=True):
    entry_id: Annotated[
        str, msgspec.Meta(max_length=60, description="The id of the memory: entryId in an answer.")
    ]
    idempotency_key: IdempotencyKey | None = None


class Forgotten(WireRecord, kw_only=True):
    """What is no longer used."""

    ok: bool
    entry: MemoryView
    user_message: str


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


class ListTenants(Arguments, kw_only=True):
    cursor: Cursor | None = None
    limit: PageSize = 50


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
    next_cursor: str | None


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


async def brain_forget(call: Call, request: BrainForget) -> Forgotten:
    workspace_id = call.caller.workspace_id

    def forget() -> Transaction[Forgotten]:
        found = (
            (yield from memory.find(workspace_id, request.entry_id)) if is_uuid(request.entry_id) else None
        )
        if found is None:
            raise bad_argument(
                "entryId",
                "the id of a memory of this workspace, as chieflab_brain_read lists them",
                request.entry_id,
            )
        yield from memory_views.decide(workspace_id, found.entry_id, "retired", call.caller.name, call.now_ms)
        body = cut(" ".join(found.body.split()), MAX_LINE)
        said = f"Forgotten: “{body}”. Later texts no longer have to follow it; a draft that waits keeps its remark."
        return Forgotten(
            ok=True, entry=view(msgspec.structs.replace(found, state="retired")), user_message=said
        )

    return await call.write_once(request, forget, Forgotten)


async def add_voice_sample(call: Call, request: AddVoiceSample) -> Memories:
    entry = await _remember(call, request, "voice_sample", request.text)
    return Memories(ok=True, entries=(view(entry),))


async def list_voice_samples(call: Call, request: ListVoiceSamples) -> Memories:
    workspace_id, tenant_id = call.caller.workspace_id, memory.tenant_of(request.tenant_id)
    found = await call.services.store.read(
        lambda: memory.read(workspace_id, tenant_id, kind="voice_sample", most=request.limit)
    )
    return Memories(ok=True, entries=tuple(view(entry) for entry in found))


async def show_tenants(call: Call, request: ListTenants) -> Tenants:
    workspace_id, after, most = call.caller.workspace_id, request.cursor or "", request.limit
    found = await call.services.store.read(lambda: list_tenants(workspace_id, after, most + 1))
    cursor = found[most - 1].tenant_id if len(found) > most else None
    return Tenants(ok=True, tenants=tuple(map(_view_tenant, found[:most])), next_cursor=cursor)


async def create_tenant(call: Call, request: CreateTenant) -> Tenants:
    def create() -> Transaction[Tenants]:
        workspace_id, tenant_id = call.caller.workspace_id, request.tenant_id
        yield from add_tenant(workspace_id, tenant_id, request.name or tenant_id, call.now_ms)
        found = yield from find_tenant(workspace_id, tenant_id)
        made = (_view_tenant(found),) if found is not None else ()
        return Tenants(ok=True, tenants=made, next_cursor=None)

    return await call.write_once(request, create, Tenants)


def _view_tenant(found: Tenant) -> TenantView:
    return from_record(TenantView, found, created_at=iso_time(found.created_ms))


async def _remember(call: Call, request: BrainRecord | AddVoiceSample, kind: memory.Kind, body: str) -> Entry:
    """Store a memory that a caller supplies. The same words of the same kind are stored once."""
    workspace_id, tenant = call.caller.workspace_id, memory.tenant_of(request.tenant_id)
    entry = NewEntry(
        tenant_id=tenant,
        kind=kind,
        body=body,
        source=request.source or "told in the chat",
        natural_key=f"{kind}:{digest([tenant, kind, body])}",
        # A rule is the user's word and holds at once. A fact proves nothing until a person confirms it.
        state="proposed" if kind in memory.FACTS else "confirmed",
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
    said = _count(found, request) if reads else _confirm(found[0])
    shown = "\n".join(f"- {_line(entry)}" for entry in found[:SHOWN]) if reads else _describe(call, found[0])
    following = NEXT[tool]
    if not reads:
        undo = SuggestedCall(
            "chieflab_brain_forget", {"entryId": found[0].entry_id}, "the user takes it back"
        )
        following = (undo, *following)
    return await prepare_run(
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
        Preparation(outputs={"entries": len(entries)}, next_calls=following, user_message=said, shown=shown),
        BrainReply,
        lambda assets, staged: {
            "entries": entries,
            "tenant_id": request.tenant_id,
        },
    )


def _count(found: list[Entry], request: Any) -> str:
    about = f" about {request.tenant_id}" if request.tenant_id is not None else ""
    words = f" with “{request.query}”" if request.query else ""
    count = "one memory" if len(found) == 1 else f"{len(found) or 'no'} memories"
    return f"I found {count}{about}{words}."


def _confirm(kept: Entry) -> str:
    return "Kept as your rule." if memory.list_rules([kept]) else "Remembered."


def _describe(call: Call, kept: Entry) -> str:
    """Describe a memory that was stored, and what it is used for."""
    checks = describe_checks(kept.body, is_claim=kept.kind == memory.RISK)
    checked = CHECKED.format(checks=checks) if checks else NOT_CHECKED
    if memory.list_rules([kept]):
        return f"“{cut(' '.join(kept.body.split()), MAX_LINE)}”: {checked}"
    said = _line(kept)
    if kept.kind in memory.FACTS and checks:
        said += f"\n{checked}"
    if kept.state != "proposed":
        return said
    return f"{said}\n{UNCONFIRMED} {call.services.links.base_url}/memory"


def _line(entry: Entry) -> str:
    shown = cut(" ".join(entry.body.split()), MAX_LINE)
    unsure = ", not confirmed yet" if entry.state == "proposed" else ""
    kind = UNSUPPORTED if entry.facts.get(memory.LOGGED) else KIND_WORDS.get(entry.kind, entry.kind)
    return f"{shown} ({kind}{unsure}; source: {entry.source})"


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
        SuggestedCall(
            "chieflab_brain_forget", {}, "the user says to forget one of them", {"entryId": "its id"}
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
        description="Reads what is remembered about a brand or client: rules that the user has given, voice, facts, "
        "proofs, what worked, what was rejected and why. USE WHEN you draft for a client or product that has been "
        "here before, or the user asks what you know or learned so far.",
        behaviour=READS,
        request=BrainRead,
        reply=BrainReply,
        handler=brain_read,
    ),
    Tool(
        name="chieflab_brain_record",
        title="Remember something",
        description="Keeps a rule (never say or mention a word, always sign so), a fact (such as a price), a proof or "
        "a lesson for later runs, with its source. USE WHEN the user says what you must always or never do, keep in "
        "mind, remember or not forget. Decisions are remembered without this. Rules hold at once.",
        behaviour=WRITES,
        request=BrainRecord,
        reply=BrainReply,
        handler=brain_record,
        keyed_as=KEYED_AS,
        scope=SCOPE,
    ),
    Tool(
        name="chieflab_brain_forget",
        title="Forget something",
        description="Stops the use of one memory, such as a rule. USE WHEN the user says to forget a rule or fact, or "
        "that it no longer holds.",
        behaviour=WRITES,
        request=BrainForget,
        reply=Forgotten,
        handler=brain_forget,
        keyed_as="forget",
        scope=SCOPE,
    ),
    Tool(
        name="chieflab_add_voice_sample",
        title="Add a voice sample",
        description="Keeps a text in the user's own voice; later drafts imitate its style, length, tone and habits. "
        "USE WHEN the user shows you a text that they wrote, or how they write.",
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
        behaviour=READS,
        request=ListTenants,
        reply=Tenants,
        handler=show_tenants,
    ),
    Tool(
        name="chieflab_create_tenant",
        title="Create a tenant",
        description="Makes a tenant of this workspace. Naming a new tenant in a call makes it, too. USE "
        "WHEN the user begins to work for another client or product.",
        behaviour=WRITES,
        request=CreateTenant,
        reply=Tenants,
        handler=create_tenant,
        keyed_as="chieflab_create_tenant",
        scope=SCOPE,
    ),
)
