"""A session as one file: versioned, with a digest over everything (W68, W71).

A bundle is written in exactly one way, and what is read must be written that way: one flipped byte, wherever it is, is
found. It carries no tokens (a server mints its own) and no approvals (nobody can bring those along).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.kernel.canonical import digest

FORMAT: Final = "assent.session"
VERSION: Final = 1


class BundleRefused(Exception):  # noqa: N818 - an answer
    """The file is no bundle that can be imported; the message says why."""


class ExportedEvent(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    seq: int
    kind: str
    at_ms: int
    body: dict[str, Any]


class ExportedNode(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    node: int
    parent: int | None
    step_key: str
    title: str
    notes: str
    artifacts: list[dict[str, Any]]
    snapshot: dict[str, Any]
    event_seq: int
    created_ms: int


class ExportedAnswer(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """An answer that was given, without its tokens: they stand for node `at` and attempt `attempt`."""

    node: int
    edge: str
    child: int | None
    at: int
    attempt: int
    answer: dict[str, Any]
    text: str
    created_ms: int


class ExportedCheckpoint(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    node: int
    digest: str
    notes: str
    event_seq: int
    created_ms: int


class ExportedRun(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    run_id: str
    workflow_id: str
    workflow_hash: str
    name: str
    created_ms: int
    updated_ms: int
    nodes: list[ExportedNode]
    answers: list[ExportedAnswer]
    checkpoints: list[ExportedCheckpoint]
    events: list[ExportedEvent]


class ExportedSessionNote(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What a person wrote on the session as a whole."""

    note_id: str
    author: str
    notes: str
    created_ms: int


class Bundle(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    session_id: str
    exported_ms: int
    programs: dict[str, dict[str, Any]]
    runs: list[ExportedRun]
    notes: list[ExportedSessionNote]


def write(bundle: Bundle) -> bytes:
    """The file."""
    content = msgspec.to_builtins(bundle)
    sealed = {"format": FORMAT, "version": VERSION, "content": content}
    return _encoded({**sealed, "digest": digest(sealed)})


def read(raw: bytes) -> Bundle:
    """The session in a file, or `BundleRefused`."""
    try:
        document = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BundleRefused("This is no bundle of a session, or it was damaged: it is not JSON.") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BundleRefused("This is no bundle of a session.")
    if document.get("version") != VERSION:
        raise BundleRefused(
            f"This bundle has version {str(document.get('version'))[:20]}; this server reads version {VERSION}."
        )
    stated = document.pop("digest", None)
    try:
        intact = stated == digest(document) and raw == _encoded({**document, "digest": stated})
        bundle = msgspec.convert(document.get("content"), Bundle) if intact else None
    except (ValueError, TypeError, RecursionError) as error:
        raise BundleRefused(f"This bundle cannot be read: {error}.") from error
    if bundle is None:
        raise BundleRefused("This bundle was changed after it was exported: its digest does not fit.")
    return bundle


def digest_of(raw: bytes) -> str:
    """What a bundle that was read calls itself."""
    stated: str = msgspec.json.decode(raw)["digest"]
    return stated


def _encoded(document: dict[str, Any]) -> bytes:
    return msgspec.json.encode(document, order="sorted") + b"\n"
