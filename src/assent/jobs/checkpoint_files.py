"""Checkpoints as files: `checkpoints/000001.json` in the data directory, for safe copies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from assent.engine.audit import log as audit_log
from assent.engine.audit.log import Checkpoint, Signer
from assent.settings.load import SettingsError

if TYPE_CHECKING:
    from assent.app import App

DIRECTORY: Final = "checkpoints"


async def write(app: App) -> Path | None:
    """Sign a checkpoint and write its file. Returns None if nothing changed since the last one."""
    await app.prepare()
    signer = Signer(app.keys.master)
    now_ms = app.clock.now_ms()
    checkpoint = await app.store.write(lambda: audit_log.write_checkpoint(signer, now_ms))
    if checkpoint is None:
        return None
    directory = app.settings.data_dir / DIRECTORY
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = directory / f"{checkpoint.content().number:06d}.json"
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_bytes(msgspec.json.encode(checkpoint) + b"\n")
    draft.replace(path)
    return path


def read(path: Path) -> Checkpoint:
    """Read a checkpoint file. Raises with a plain reason if it is none."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Checkpoint)
    except OSError as error:
        raise SettingsError(f"Cannot read {path}: {error.strerror}.") from error
    except msgspec.MsgspecError as error:
        raise SettingsError(
            f"{path} is not a checkpoint file. `assent audit checkpoint` writes one."
        ) from error


def newest(data_dir: Path) -> Path | None:
    """Return the newest checkpoint file, else None."""
    return max((data_dir / DIRECTORY).glob("[0-9]*.json"), default=None)
