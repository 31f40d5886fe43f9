"""Verification of the journal, with signed checkpoints.

The hash chain reveals a change inside a stream. A checkpoint reveals a chain that was rewritten as
a whole, or a stream that was truncated together with its head. A checkpoint signs, with Ed25519,
the digest of the previous checkpoint and the heads of every stream that grew since. It is also
written to a file: a copy kept elsewhere proves the content of the database at that time. It proves
nothing against an attacker who holds both the database and the signing key.

Verification runs beside writers. What it compares is therefore read in one transaction, which sees one
snapshot: a stream with its head, its erasures and its actions; a workflow run with its log. The lists of
streams and runs only name what to read, and the events that a checkpoint signs never change their hashes.
A row that cannot be decoded is a finding, and everything else is still checked.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from functools import partial
from typing import Final

import msgspec

from assent.engine.audit import actions as action_audit
from assent.engine.audit.actions import explain, walk
from assent.engine.core import journal
from assent.engine.core.journal import GENESIS, ChainBreak, Head
from assent.engine.recovery.positions import list_restores
from assent.engine.workflows import bundles
from assent.engine.workflows import store as stored
from assent.gate.audit import AuditFinding, Verdict
from assent.gate.seals import Seals
from assent.kernel import canonical, tokens
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.limits import MINUTE_MS
from assent.kernel.structs import Record, WireRecord, from_record, from_row
from assent.ports import Begin, Rows, Store, StoreUnavailable, Transaction
from assent.sql.loader import statements

NODES_READ: Final = 200


class RunFlaw(Record):
    """A run whose rows were changed outside the server."""

    workspace_id: str
    run_id: str
    what: str


async def find_flaws(store: Store, workspace_id: str | None = None) -> AsyncIterator[RunFlaw]:
    """Yield every run whose rows differ from its log, of one workspace or of all (W67)."""
    async for of, run_id in walk(store, partial(_list_runs, workspace_id or "")):
        try:
            what = await store.read(partial(_find_flaw, WorkspaceId(of), run_id))
        except StoreUnavailable:
            raise
        except stored.Tampered as tampered:
            what = str(tampered)
        except Exception as error:
            what = f"a step of the run cannot be decoded: {explain(error)}"
        if what is not None:
            yield RunFlaw(of, run_id, what)


def _list_runs(workspace_id: str, after_workspace: str, after_run: str, skip: int) -> Transaction[Rows]:
    return (
        yield statements.list_runs_after(
            after_workspace=after_workspace,
            after_run=after_run,
            workspace_id=workspace_id,
            skip=skip,
            most=NODES_READ,
        )
    )


def _find_flaw(workspace_id: WorkspaceId, run_id: str) -> Transaction[str | None]:
    """Compare a run with its log in one snapshot. Raises what its rows cause."""
    found = yield statements.find_workflow_run(workspace_id=workspace_id, run_id=run_id)
    if not found:
        return None
    run = yield from bundles.export_run(workspace_id, found[0])
    program = yield from stored.read_program(workspace_id, run.workflow_hash)
    return None if program.id == run.workflow_id else "the run bears the name of another workflow"


PURPOSE: Final = "audit checkpoint"
OVERLAP_MS: Final = 10 * MINUTE_MS
"""Overlap of two checkpoints, because clocks of replicas differ."""

PAGE: Final = 500
FIRST_SEQ: Final = -(1 << 63)
"""Below any number: an event before the first one was inserted."""


class SignedHead(WireRecord):
    workspace_id: str
    stream_id: str
    seq: int
    hash: str


class CheckpointBody(WireRecord):
    number: int
    at_ms: int
    previous: str
    heads: tuple[SignedHead, ...]


class Checkpoint(WireRecord):
    """A checkpoint as stored and exported. `body` is the exact signed text."""

    body: str
    signature: str
    public_key: str

    def digest(self) -> str:
        return hashlib.sha256(self.body.encode(errors="surrogateescape")).hexdigest()

    def content(self) -> CheckpointBody:
        return msgspec.json.decode(self.body, type=CheckpointBody)


class Signer:
    """Signs checkpoints with a key derived from the newest master secret. Verifies checkpoints and
    seals of approvals with all keys of the ring."""

    def __init__(self, secrets: tuple[bytes, ...]) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        self.seals = Seals.of(secrets)
        seeds = [tokens.derive_key(secret, PURPOSE) for secret in secrets]
        self._keys = [Ed25519PrivateKey.from_private_bytes(seed) for seed in seeds]

    @property
    def public_keys(self) -> list[str]:
        return [tokens.encode(key.public_key().public_bytes_raw()) for key in self._keys]

    def sign(self, body: str) -> Checkpoint:
        return Checkpoint(body, tokens.encode(self._keys[0].sign(body.encode())), self.public_keys[0])

    def sign_text(self, text: str) -> tuple[str, str]:
        """Return the signature of a text, and the public key."""
        signed = self.sign(text)
        return signed.signature, signed.public_key

    def has_signed(self, text: str, signature: str, public_key: str) -> bool:
        return self.genuine(Checkpoint(text, signature, public_key))

    def genuine(self, checkpoint: Checkpoint) -> bool:
        from cryptography.exceptions import InvalidSignature

        for key, public in zip(self._keys, self.public_keys, strict=True):
            if public == checkpoint.public_key:
                try:
                    key.public_key().verify(tokens.decode(checkpoint.signature), checkpoint.body.encode())
                except (InvalidSignature, ValueError):
                    return False
                return True
        return False


def write_checkpoint(signer: Signer, now_ms: int) -> Transaction[Checkpoint | None]:
    """Returns None if no head changed since the last checkpoint."""
    rows = yield statements.last_checkpoint(workspace_id=SYSTEM_WORKSPACE)
    last = from_row(Checkpoint, rows[0]).content() if rows else None
    since_ms = last.at_ms - OVERLAP_MS - journal.DATE_GRAIN_MS if last is not None else 0
    changed = yield statements.heads_changed_since(since_ms=since_ms)
    heads = tuple(from_row(SignedHead, row) for row in changed)
    if last is not None and set(heads) <= set(last.heads):
        return None
    body = CheckpointBody(
        number=last.number + 1 if last is not None else 1,
        at_ms=now_ms,
        previous=from_row(Checkpoint, rows[0]).digest() if rows else GENESIS,
        heads=heads,
    )
    checkpoint = signer.sign(canonical.canonical(body).decode())
    written = yield from_record(
        statements.insert_checkpoint,
        checkpoint,
        workspace_id=SYSTEM_WORKSPACE,
        number=body.number,
        at_ms=now_ms,
    )
    return checkpoint if written else None


async def verify(
    store: Store,
    signer: Signer,
    kept: Checkpoint | None = None,
    *,
    kept_as: str = "the given checkpoint",
    workspace_id: str | None = None,
) -> Verdict:
    """Check every chain, checkpoint and signed head. `kept` is a copy of a checkpoint from
    elsewhere, which findings call `kept_as`. `workspace_id` limits the check to the streams of one workspace
    and the checkpoints' statements about it."""
    findings: list[AuditFinding] = []
    streams = events = 0
    async for key in _list_streams(store, workspace_id):
        streams += 1
        count, found = await _check(store, partial(_verify_stream, *key, signer), "stream", *key)
        events += count
        findings += found
    findings += [
        _find(f"action {action_id} has no journal", of, run_id)
        for of, run_id, action_id in await store.read(lambda: action_audit.list_unlogged(workspace_id))
    ]
    findings += await _verify_runs(store, workspace_id)
    checkpoints, found = await _verify_checkpoints(store, signer, kept, kept_as)
    findings += [each for each in found if workspace_id in (None, each.workspace_id or workspace_id)]
    restores = tuple(await store.read(list_restores)) if workspace_id is None else ()
    return Verdict(not findings, streams, events, checkpoints, tuple(findings), restores)


def _find(
    what: str, workspace_id: str | None = None, stream_id: str | None = None, seq: int | None = None
) -> AuditFinding:
    """Return a finding whose texts can be printed, whatever a row says."""

    def write(text: str) -> str:
        return text if text.isprintable() else ascii(text)[1:-1]

    return AuditFinding(
        write(what), workspace_id and write(workspace_id), stream_id and write(stream_id), seq
    )


async def _check(
    store: Store,
    begin: Begin[tuple[int, list[AuditFinding]]],
    what: str,
    workspace_id: str | None = None,
    stream_id: str | None = None,
) -> tuple[int, list[AuditFinding]]:
    """Run one check. If it fails because of what is stored, that is a finding."""
    try:
        return await store.read(begin)
    except StoreUnavailable:
        raise
    except Exception as error:
        return 0, [_find(f"{what} cannot be decoded: {action_audit.explain(error)}", workspace_id, stream_id)]


async def _list_streams(store: Store, workspace_id: str | None) -> AsyncIterator[tuple[str, str]]:
    """Yield the key of every stream, of one workspace or of all, also of those without a head."""
    async for key in action_audit.walk(store, partial(_list_heads, workspace_id)):
        yield key
    for row in await store.read(partial(_list_headless, workspace_id)):
        yield row["workspace_id"], row["stream_id"]


def _verify_stream(
    workspace_id: str, stream_id: str, signer: Signer
) -> Transaction[tuple[int, list[AuditFinding]]]:
    """Verify one stream and its actions in one snapshot. Returns the number of its events and what was found."""
    story = action_audit.JournalReplay(workspace_id, signer.has_signed)
    new = journal.new_head(workspace_id, stream_id)
    erased: journal.ErasedBodies | None = None
    at, after_seq, count = journal.ChainEnd(), FIRST_SEQ, 0
    flaws: list[ChainBreak] = []
    while page := (yield from journal.read_stream(workspace_id, stream_id, after_seq=after_seq, limit=PAGE)):
        end, breaks = journal.follow_chain(new, page, at, erased or {})
        if breaks and erased is None:
            # Read late: few streams have an erased event.
            erased = yield from read_signed_erasures(new, signer)
            end, breaks = journal.follow_chain(new, page, at, erased)
        story.read(page)
        flaws += breaks
        at, after_seq, count = end, page[-1].seq, count + len(page)
        if len(page) < PAGE:
            break
    heads = yield statements.read_head(workspace_id=workspace_id, stream_id=stream_id)
    head = Head(workspace_id, stream_id, heads[0]["seq"], heads[0]["hash"]) if heads else None
    if head is not None and (flaw := journal.compare_end(at, head)) is not None:
        flaws.append(flaw)
    rows = yield statements.list_run_actions(workspace_id=workspace_id, run_id=stream_id)
    found: list[tuple[str, int | None]] = [(f"event {each.flaw}", each.seq) for each in flaws]
    found += [(f"event cannot be decoded: {why}", seq) for seq, why in story.unreadable]
    found += [("stream has no head", None)] if head is None else []
    found += [(what, None) for what in story.differences(rows, signer.seals)]
    return count, [_find(what, workspace_id, stream_id, seq) for what, seq in found]


def read_signed_erasures(head: Head, signer: Signer) -> Transaction[journal.ErasedBodies]:
    """Return the events whose bodies this server replaced. An erasure without its signature counts for
    nothing, so that the events that it names are found altered."""
    erasures = yield from journal.read_erasures(head.workspace_id, head.stream_id)
    return {
        event.seq: event
        for erasure in erasures
        if signer.has_signed(
            erasure.signed_text(head.workspace_id, head.stream_id), erasure.signature, erasure.public_key
        )
        for event in erasure.events
    }


async def _verify_runs(store: Store, workspace_id: str | None) -> list[AuditFinding]:
    """Check the rows of workflow runs against the seals in the journal."""
    # Imported late: only verification needs programs and snapshots.

    return [
        _find(f"workflow run changed: {flaw.what}", flaw.workspace_id, flaw.run_id)
        async for flaw in find_flaws(store, workspace_id)
    ]


async def _verify_checkpoints(
    store: Store, signer: Signer, kept: Checkpoint | None, kept_as: str
) -> tuple[int, list[AuditFinding]]:
    findings: list[AuditFinding] = []
    previous, number = GENESIS, 0
    bodies: dict[int, str] = {}
    while page := await store.read(partial(_list_checkpoints, number)):
        # By the row's number, because the body may be forged.
        for row_number, checkpoint in page:
            number += 1
            content, found = await _verify_checkpoint(store, signer, checkpoint, f"checkpoint {row_number}")
            findings += found
            if content is None or (row_number, content.number, content.previous) != (
                number,
                number,
                previous,
            ):
                findings.append(_find(f"checkpoint {number} does not follow the one before it"))
            number, previous = row_number, checkpoint.digest()
            bodies[number] = checkpoint.body
    if kept is not None:
        content, found = await _verify_checkpoint(store, signer, kept, kept_as)
        findings += found
        if content is not None and bodies.get(content.number) != kept.body:
            findings.append(
                _find(f"checkpoint {content.number} is not in the database as it was written out")
            )
    return len(bodies), findings


async def _verify_checkpoint(
    store: Store, signer: Signer, checkpoint: Checkpoint, name: str
) -> tuple[CheckpointBody | None, list[AuditFinding]]:
    """Check the signature of a checkpoint and the events that it names. Returns its content, if it has any."""
    findings = [] if signer.genuine(checkpoint) else [_find(f"{name} is not signed by this server")]
    try:
        content = checkpoint.content()
    except Exception as error:
        return None, [*findings, _find(f"{name} cannot be decoded: {action_audit.explain(error)}")]
    _, found = await _check(store, partial(_check_signed_heads, content), name)
    return content, findings + found


def _check_signed_heads(content: CheckpointBody) -> Transaction[tuple[int, list[AuditFinding]]]:
    missing = []
    for head in content.heads:
        rows = yield from_record(statements.find_event_hash, head)
        if not rows or rows[0]["hash"] != head.hash:
            what = f"event differs from checkpoint {content.number}" if rows else "signed event is gone"
            missing.append(_find(what, head.workspace_id, head.stream_id, head.seq))
    return len(content.heads), missing


def _list_heads(
    workspace_id: str | None, after_workspace: str, after_stream: str, skip: int
) -> Transaction[Rows]:
    page = {"after_stream": after_stream, "skip": skip, "most": PAGE}
    if workspace_id is not None:
        return (yield statements.list_heads_of(workspace_id=workspace_id, **page))
    return (yield statements.list_heads(after_workspace=after_workspace, **page))


def _list_checkpoints(after: int) -> Transaction[list[tuple[int, Checkpoint]]]:
    rows = yield statements.list_checkpoints(workspace_id=SYSTEM_WORKSPACE, after=after, most=PAGE)
    return [(row["number"], from_row(Checkpoint, row)) for row in rows]


def _list_headless(workspace_id: str | None) -> Transaction[Rows]:
    if workspace_id is not None:
        return (yield statements.list_headless_streams_of(workspace_id=workspace_id, most=PAGE))
    return (yield statements.list_headless_streams(most=PAGE))


async def stream_pages(
    store: Store, workspace_id: str | None = None
) -> AsyncIterator[tuple[Head, list[journal.Event]]]:
    """Yield every event in pages, stream by stream, of one workspace or of all."""
    async for key in action_audit.walk(store, partial(_list_heads, workspace_id)):
        head, seq = journal.new_head(*key), 0
        while page := await store.read(partial(journal.read_stream, *key, after_seq=seq, limit=PAGE)):
            yield head, page
            seq = page[-1].seq


async def export(store: Store, *, workspace_id: str | None = None) -> AsyncIterator[bytes]:
    """Yield every event as a line of JSON, then the checkpoints."""
    async for head, page in stream_pages(store, workspace_id):
        for event in page:
            yield msgspec.json.encode(
                {
                    "workspaceId": head.workspace_id,
                    "streamId": head.stream_id,
                    "seq": event.seq,
                    "kind": event.kind,
                    "atMs": event.at_ms,
                    "body": msgspec.Raw(event.body.encode()),
                    "hash": event.hash,
                }
            )
    if workspace_id is not None:
        return
    number = 0
    while checkpoints := await store.read(partial(_list_checkpoints, number)):
        for number, checkpoint in checkpoints:  # noqa: B007 - the last one is where the next page begins
            yield msgspec.json.encode({"checkpoint": checkpoint})
