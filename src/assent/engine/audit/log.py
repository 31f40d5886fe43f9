"""Verification of the journal, with signed checkpoints.

The hash chain reveals a change inside a stream. A checkpoint reveals a chain that was rewritten as
a whole, or a stream that was truncated together with its head. A checkpoint signs, with Ed25519,
the digest of the previous checkpoint and the heads of every stream that grew since. It is also
written to a file: a copy kept elsewhere proves the content of the database at that time. It proves
nothing against an attacker who holds both the database and the signing key.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from functools import partial
from typing import Final

import msgspec

from assent.engine.audit import actions as action_audit
from assent.engine.audit import earlier_approvals
from assent.engine.core import journal
from assent.engine.core.journal import GENESIS, ChainFlaw, Head
from assent.engine.recovery.holding import RestoreReport, list_restores
from assent.gate.seals import Seals
from assent.kernel import canonical, tokens
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.limits import MINUTE_MS
from assent.kernel.structs import WireRecord, from_row
from assent.ports import Store, Transaction
from assent.sql.loader import statements

PURPOSE: Final = "audit checkpoint"
OVERLAP_MS: Final = 10 * MINUTE_MS
"""Overlap of two checkpoints, because clocks of replicas differ."""

PAGE: Final = 500


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
        return hashlib.sha256(self.body.encode()).hexdigest()

    def content(self) -> CheckpointBody:
        return msgspec.json.decode(self.body, type=CheckpointBody)

    def readable(self) -> CheckpointBody | None:
        """Return the decoded body, or None if it was altered beyond decoding."""
        try:
            return self.content()
        except msgspec.MsgspecError:
            return None


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
                except (InvalidSignature, tokens.TokenInvalid):
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
    written = yield statements.insert_checkpoint(
        workspace_id=SYSTEM_WORKSPACE,
        number=body.number,
        at_ms=now_ms,
        body=checkpoint.body,
        signature=checkpoint.signature,
        public_key=checkpoint.public_key,
    )
    return checkpoint if written else None


class AuditFinding(WireRecord):
    what: str
    workspace_id: str | None = None
    stream_id: str | None = None
    seq: int | None = None


class Verdict(WireRecord):
    ok: bool
    streams: int
    events: int
    checkpoints: int
    findings: tuple[AuditFinding, ...]
    restores: tuple[RestoreReport, ...] = ()
    """Restores of the store, oldest first. What was written between a backup and its restore is gone."""


async def verify(
    store: Store, signer: Signer, kept: Checkpoint | None = None, *, workspace_id: str | None = None
) -> Verdict:
    """Check every chain, checkpoint and signed head. `kept` is a copy of a checkpoint from
    elsewhere. `workspace_id` limits the check to the streams of one workspace and the checkpoints'
    statements about it."""
    findings: list[AuditFinding] = []
    streams = events = 0
    seals = signer.seals if await store.read(earlier_approvals.has_sealed) else None
    async for head in _heads(store, workspace_id):
        streams += 1
        count, found = await _verify_stream(store, head, seals, signer)
        events += count
        findings += found
    findings += await store.read(lambda: _find_headless(workspace_id))
    findings += [
        AuditFinding(f"action {action_id} has no journal", of, run_id)
        for of, run_id, action_id in await store.read(lambda: action_audit.list_unlogged(workspace_id))
    ]
    findings += await _verify_runs(store, workspace_id)
    checkpoints, found = await _verify_checkpoints(store, signer, kept)
    findings += [each for each in found if workspace_id in (None, each.workspace_id or workspace_id)]
    restores = tuple(await store.read(list_restores)) if workspace_id is None else ()
    return Verdict(not findings, streams, events, checkpoints, tuple(findings), restores)


async def _heads(store: Store, workspace_id: str | None) -> AsyncIterator[Head]:
    """Yield the head of every stream, of one workspace or of all."""
    after = ("", "")
    while heads := await store.read(partial(_list_heads, *after, workspace_id)):
        for head in heads:
            yield head
        after = (heads[-1].workspace_id, heads[-1].stream_id)


async def _verify_stream(
    store: Store, head: Head, seals: Seals | None, signer: Signer
) -> tuple[int, list[AuditFinding]]:
    """Verify one stream, a page at a time, and its actions."""
    story = action_audit.JournalReplay(head.workspace_id, signer.has_signed)
    erased: journal.ErasedBodies | None = None
    at = journal.new_head(head.workspace_id, head.stream_id)
    count = 0

    def found(flaw: ChainFlaw, seq: int) -> list[AuditFinding]:
        return [AuditFinding(f"event {flaw}", head.workspace_id, head.stream_id, seq)]

    while page := await store.read(partial(_list_events, head, at.seq)):
        count += len(page)
        end = Head(head.workspace_id, head.stream_id, page[-1].seq, page[-1].hash)
        problem = journal.verify_chain(page, end, start=at, erased=erased)
        if problem is not None and erased is None:
            # Read late: few streams have an erased event.
            erased = await store.read(partial(read_signed_erasures, head, signer))
            problem = journal.verify_chain(page, end, start=at, erased=erased)
        if problem is not None:
            return count, found(problem.flaw, problem.seq)
        story.read(page)
        at = end
    if (problem := journal.verify_chain([], head, start=at)) is not None:
        return count, found(problem.flaw, problem.seq)
    compare = partial(action_audit.compare, head.workspace_id, head.stream_id, story, at.seq, seals)
    differing = await store.read(compare)
    return count, [AuditFinding(what, head.workspace_id, head.stream_id) for what in differing]


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
    from assent.engine.workflows.session_audit import find_flaws

    return [
        AuditFinding(f"workflow run changed: {flaw.what}", flaw.workspace_id, flaw.run_id)
        async for flaw in find_flaws(store, workspace_id)
    ]


async def _verify_checkpoints(
    store: Store, signer: Signer, kept: Checkpoint | None
) -> tuple[int, list[AuditFinding]]:
    findings: list[AuditFinding] = []
    previous, number = GENESIS, 0
    bodies: dict[int, str] = {}
    while page := await store.read(partial(_list_checkpoints, number)):
        # By the row's number, because the body may be forged.
        for row_number, checkpoint in page:
            number += 1
            if not signer.genuine(checkpoint):
                findings.append(AuditFinding(f"checkpoint {row_number} is not signed by this server"))
            content = checkpoint.readable()
            if content is None or (row_number, content.number, content.previous) != (
                number,
                number,
                previous,
            ):
                findings.append(AuditFinding(f"checkpoint {number} does not follow the one before it"))
            if content is not None:
                findings += await store.read(partial(_check_signed_heads, content))
            number, previous = row_number, checkpoint.digest()
            bodies[number] = checkpoint.body
    if kept is not None:
        if not signer.genuine(kept):
            findings.append(AuditFinding("the given checkpoint is not signed by this server"))
        content = kept.readable()
        if content is None:
            return len(bodies), [*findings, AuditFinding("the given checkpoint cannot be read")]
        if bodies.get(content.number) != kept.body:
            findings.append(
                AuditFinding(f"checkpoint {content.number} is not in the database as it was written out")
            )
        findings += await store.read(partial(_check_signed_heads, content))
    return len(bodies), findings


def _check_signed_heads(content: CheckpointBody) -> Transaction[list[AuditFinding]]:
    missing = []
    for head in content.heads:
        rows = yield statements.find_event_hash(
            workspace_id=head.workspace_id, stream_id=head.stream_id, seq=head.seq
        )
        if not rows or rows[0]["hash"] != head.hash:
            what = f"event differs from checkpoint {content.number}" if rows else "signed event is gone"
            missing.append(AuditFinding(what, head.workspace_id, head.stream_id, head.seq))
    return missing


def _list_heads(after_workspace: str, after_stream: str, workspace_id: str | None) -> Transaction[list[Head]]:
    if workspace_id is not None:
        rows = yield statements.list_heads_of(workspace_id=workspace_id, after_stream=after_stream, most=PAGE)
    else:
        rows = yield statements.list_heads(
            after_workspace=after_workspace, after_stream=after_stream, most=PAGE
        )
    return [from_row(Head, row, dated_ms=0) for row in rows]


def _list_events(head: Head, after_seq: int) -> Transaction[list[journal.Event]]:
    return journal.read_stream(head.workspace_id, head.stream_id, after_seq=after_seq, limit=PAGE)


def _list_checkpoints(after: int) -> Transaction[list[tuple[int, Checkpoint]]]:
    rows = yield statements.list_checkpoints(workspace_id=SYSTEM_WORKSPACE, after=after, most=PAGE)
    return [(row["number"], from_row(Checkpoint, row)) for row in rows]


def _find_headless(workspace_id: str | None) -> Transaction[list[AuditFinding]]:
    if workspace_id is not None:
        rows = yield statements.list_headless_streams_of(workspace_id=workspace_id, most=PAGE)
    else:
        rows = yield statements.list_headless_streams(most=PAGE)
    return [AuditFinding("stream has no head", row["workspace_id"], row["stream_id"]) for row in rows]


async def stream_pages(
    store: Store, workspace_id: str | None = None
) -> AsyncIterator[tuple[Head, list[journal.Event]]]:
    """Yield every event in pages, stream by stream, of one workspace or of all."""
    async for head in _heads(store, workspace_id):
        seq = 0
        while page := await store.read(partial(_list_events, head, seq)):
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
