"""Finds the server's secrets: in settings, or in files of the data directory.

With SQLite the first start creates missing secrets in files that only their owner can read. With
PostgreSQL all replicas need the same secrets, so they must come from settings.

A file holds one secret per line, newest first. This module does not check whether the database was
made with these secrets.
"""

from __future__ import annotations

import os
import secrets as entropy
from pathlib import Path
from typing import Final

from assent.kernel import tokens
from assent.kernel.limits import MIN_SECRET_BYTES
from assent.kernel.structs import Record
from assent.settings.load import Settings, SettingsError

NEW_SECRET_BYTES: Final = 48
PRIVATE_FILE: Final = 0o600
PRIVATE_DIRECTORY: Final = 0o700
SHARED_BITS: Final = 0o077

RECIPE: Final = "openssl rand -base64 48"


class Secrets(Record):
    """Both secrets with their predecessors, newest first."""

    run_token: tuple[bytes, ...]
    master: tuple[bytes, ...]

    def __repr__(self) -> str:
        return "Secrets(…)"


class SecretHome(Record):
    """The setting and the file of one secret."""

    env: str
    file_name: str


RUN_TOKEN: Final = SecretHome("RUN_TOKEN_SECRET", "run_token.secret")
MASTER: Final = SecretHome("ASSENT_SECRET", "master.secret")
HOMES: Final = (RUN_TOKEN, MASTER)


def resolve_secrets(settings: Settings) -> Secrets:
    """The secrets, created now if that is allowed. Raises `SettingsError`."""
    given = _read_given(settings)
    if not all(given.values()):
        ensure_data_dir(settings.data_dir)
    found = {
        home: _strong(home, given[home]) if given[home] else _from_file(settings, home, make=True)
        for home in HOMES
    }
    return Secrets(run_token=found[RUN_TOKEN], master=found[MASTER])


def missing_secrets(settings: Settings) -> tuple[SecretHome, ...]:
    """Check the existing secrets and return those that a first start would create. Creates none.

    Raises `SettingsError` as `resolve_secrets` would.
    """
    given = _read_given(settings)
    for home, values in given.items():
        if values:
            _strong(home, values)
        elif (settings.data_dir / home.file_name).exists():
            _from_file(settings, home, make=False)
    return tuple(
        home for home in HOMES if not given[home] and not (settings.data_dir / home.file_name).exists()
    )


def find_secrets(settings: Settings) -> dict[str, bool]:
    """Where each secret is: the variable that gives it, which is true, or else its file."""
    return {
        home.env if given else str(settings.data_dir / home.file_name): bool(given)
        for home, given in _read_given(settings).items()
    }


def read_secrets(settings: Settings) -> dict[SecretHome, tuple[bytes, ...]]:
    """The secrets that exist. Creates none. Raises `SettingsError` as `resolve_secrets` would."""
    absent = missing_secrets(settings)
    return {
        home: _strong(home, given) if given else _from_file(settings, home, make=False)
        for home, given in _read_given(settings).items()
        if home not in absent
    }


def _read_given(settings: Settings) -> dict[SecretHome, tuple[str, ...]]:
    """The secrets given in settings. With PostgreSQL all are required."""
    given = {RUN_TOKEN: settings.run_token_secrets, MASTER: settings.secrets}
    missing = [home.env for home in HOMES if not given[home]]
    if missing and settings.sqlite_path is None:
        raise SettingsError(
            "PostgreSQL needs its secrets from settings, because every replica must have the same: "
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set.\n"
            "Set RUN_TOKEN_SECRET (signs review links) and ASSENT_SECRET (the master secret), each made once "
            f"with: {RECIPE}"
        )
    return given


def ensure_data_dir(path: Path) -> None:
    """For its owner only. Restricts an existing empty one of ours, too."""
    try:
        path.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
        status = path.stat()
        if status.st_mode & SHARED_BITS and status.st_uid == os.getuid() and not any(path.iterdir()):
            path.chmod(PRIVATE_DIRECTORY)
    except OSError as error:
        raise SettingsError(explain_data_dir(path, error)) from error


def explain_data_dir(path: Path, error: OSError) -> str:
    what = "cannot be used" if path.exists() else "is not there and cannot be made"
    return (
        f"The data directory {path} {what}: {error.strerror}.\n"
        "Name one that you can write to with --data-dir or ASSENT_DATA_DIR."
    )


def _from_file(settings: Settings, home: SecretHome, *, make: bool) -> tuple[bytes, ...]:
    path = settings.data_dir / home.file_name
    try:
        if make and not path.exists():
            _create(path)
    except OSError as error:
        raise SettingsError(explain_data_dir(settings.data_dir, error)) from error
    try:
        return _strong(home, _read(path), path)
    except OSError as error:
        raise SettingsError(
            f"The secret file {path} cannot be used: {error.strerror}.\n"
            f"Make {settings.data_dir} writable for this user, or set {home.env} (made with: {RECIPE})."
        ) from error


def _create(path: Path) -> None:
    """Create the file atomically. Of several starting processes one wins, and all read its secret.

    Linking a finished file is one step and fails if another process was first. Creating the name
    and then writing would let others read half a secret.
    """
    draft = path.with_name(f".{path.name}.{entropy.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(entropy.token_urlsafe(NEW_SECRET_BYTES) + "\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            return
        _sync_directory(path.parent)
    finally:
        draft.unlink()


def _sync_directory(path: Path) -> None:
    """Sync the directory: a secret that signed something must survive a power failure."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read(path: Path) -> tuple[str, ...]:
    with path.open(encoding="utf-8") as file:
        mode = os.fstat(file.fileno()).st_mode
        if mode & SHARED_BITS:
            raise SettingsError(
                f"The secret file {path} can be read by other users (mode {mode & 0o777:04o}).\n"
                f"Run: chmod 600 {path}\n"
                "If someone may have read it, put a new secret on a line above it, and remove the old line "
                "once nothing signed with it is needed."
            )
        return tuple(line.strip() for line in file if line.strip())


def _strong(home: SecretHome, values: tuple[str, ...], path: Path | None = None) -> tuple[bytes, ...]:
    where = str(path) if path is not None else home.env
    if not values:
        raise SettingsError(
            f"The secret file {where} is empty.\nPut back the secret it held; if that is lost, delete the "
            "file: the next start makes a new one, and what the old one signed stops working."
        )
    encoded = tuple(value.encode() for value in values)
    for position, secret in enumerate(encoded):
        try:
            tokens.require_strong(secret)
        except tokens.WeakSecret as weak:
            which = f"{where} is" if position == 0 else f"An earlier secret of {where} is"
            raise SettingsError(
                f"{which} too weak to sign with: {weak}.\n"
                f"Use at least {MIN_SECRET_BYTES} random characters, made with: {RECIPE}"
            ) from None
    return encoded
