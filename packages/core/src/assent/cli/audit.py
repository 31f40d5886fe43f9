"""`assent audit`: verify and export the journal."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from assent.cli.session import CommandSession
from assent.engine.audit import copies
from assent.engine.audit import log as audit_log
from assent.engine.audit.log import Signer
from assent.gate.audit import AuditFinding, Verdict
from assent.jobs import checkpoint_files

if TYPE_CHECKING:
    from assent.app import App

FINDINGS_SHOWN: Final = 20


def verify(
    session: CommandSession,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="FILE",
            help="A checkpoint kept elsewhere (the newest written here). A good one ends the warning that none is.",
        ),
    ] = None,
) -> int:
    """Check every event, chain and checkpoint. Exits with 1 when anything was changed, deleted or
    cut."""

    async def run(app: App) -> Verdict:
        if checkpoint is None:
            return await app.services.verify_journal(None)
        kept = checkpoint_files.read(checkpoint)
        verdict = await audit_log.verify(app.store, Signer(app.keys.master), kept)
        own = (session.settings.data_dir / checkpoint_files.DIRECTORY).resolve()
        if verdict.ok and own not in checkpoint.resolve().parents:
            await app.store.write(partial(copies.record_copy, kept.content().number))
        return verdict

    verdict = session.use_app(run)
    counted = f"{verdict.streams} streams, {verdict.events} events, {verdict.checkpoints} checkpoints"
    restored = [restore.describe() for restore in verdict.restores]
    if verdict.ok:
        session.give(verdict, "\n".join([f"Audit log verified: {counted}, unchanged.", *restored]))
        return 0
    lines = [_line(finding) for finding in verdict.findings[:FINDINGS_SHOWN]]
    if (more := len(verdict.findings) - len(lines)) > 0:
        lines.append(f"and {more} more. With --json all are listed.")
    if restored:
        restored.append(
            "A checkpoint that was signed between such a state and the restore names events that are gone."
        )
    session.give(verdict, "\n".join([f"The journal was tampered with ({counted}):", *lines, *restored]))
    return 1


def _line(finding: AuditFinding) -> str:
    where = f" at event {finding.seq}" if finding.seq is not None else ""
    stream = (
        f" in stream {finding.stream_id} of workspace {finding.workspace_id}" if finding.stream_id else ""
    )
    return f"- {finding.what}{stream}{where}"


def write_checkpoint(session: CommandSession) -> None:
    """Sign the journal as it is now and write the checkpoint to a file."""
    path = session.use_app(checkpoint_files.write) or checkpoint_files.newest(session.settings.data_dir)
    data: dict[str, Any] = {"path": str(path) if path is not None else None}
    session.give(data, str(path) if path is not None else "Nothing to sign yet.")
    if path is not None:
        session.say("Copy this file to where the owner of the database cannot change it.")


def export(session: CommandSession) -> None:
    """Write every event and checkpoint to standard output, one JSON object a line."""

    async def run(app: App) -> None:
        async for line in audit_log.export(app.store):
            sys.stdout.write(line.decode() + "\n")

    session.use_app(run)
