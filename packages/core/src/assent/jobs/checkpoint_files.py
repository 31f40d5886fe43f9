"""Checkpoints as files: `checkpoints/000001.json` in the data directory, for safe copies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from assent.engine.audit import log as audit_log
from assent.engine.audit.log import Checkpoint, Signer
from assent.gate.audit import RestoreReport
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
        raise SettingsError(
            f"The checkpoint {path} cannot be read: {error.strerror}.\n"
            "Name a file of the folder checkpoints in the data directory, or its copy."
        ) from error
    except msgspec.MsgspecError as error:
        raise SettingsError(
            f"{path} is no checkpoint.\nName a file of the folder checkpoints in the data directory, or its copy."
        ) from error


def read_newest(data_dir: Path) -> tuple[Checkpoint | None, str]:
    """Read the newest checkpoint file and name it. One that is no checkpoint counts as a checkpoint without content,
    so that verification names it."""
    path = newest(data_dir)
    if path is None:
        return None, ""
    name = f"the file {DIRECTORY}/{path.name}"
    try:
        return read(path), name
    except SettingsError:
        return Checkpoint("", "", ""), name


def newest(data_dir: Path, *, at_most: int | None = None) -> Path | None:
    """Return the newest checkpoint file, or the newest up to a number, else None."""
    files = (data_dir / DIRECTORY).glob("[0-9]*.json")
    return max((each for each in files if at_most is None or int(each.stem) <= at_most), default=None)


def set_aside(data_dir: Path, restore: RestoreReport) -> list[Path]:
    """Move checkpoint files that a restored store lacks to a directory of their own, because the store
    signs other checkpoints with these numbers. Returns their new paths."""
    aside = data_dir / DIRECTORY / f"before-restore-{restore.epoch}"
    moved = []
    for path in sorted((data_dir / DIRECTORY).glob("[0-9]*.json")):
        if int(path.stem) > restore.checkpoint and read(path).content().at_ms <= restore.at_ms:
            aside.mkdir(mode=0o700, exist_ok=True)
            moved.append(path.replace(aside / path.name))
    return moved
