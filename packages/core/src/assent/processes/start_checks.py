"""What a process checks before it serves. Each failure says what is wrong and what to do."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assent.engine.core import server_keys
from assent.engine.core.server_keys import ServerKeys
from assent.kernel import tokens
from assent.ports import Store, StoreUnavailable, Transaction
from assent.settings.load import Settings, SettingsError
from assent.settings.secret_files import MASTER, RUN_TOKEN, SecretHome

if TYPE_CHECKING:
    from assent.app import App

SQLITE_FILE: Final = b"SQLite format 3\0"
"""Header of every SQLite file."""


def check_files(app: App) -> None:
    """Raise with a plain reason if files that the settings of extensions name cannot be used."""
    try:
        for process in app.processes.values():
            process.check()
    except ValueError as error:
        raise SettingsError(str(error)) from None


def check_certificate(settings: Settings) -> tuple[Path, Path] | None:
    """Return certificate and key, if there are any. Raises with a plain reason if they do not work."""
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    import ssl  # late: a client of stdio waits for this module

    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
            settings.tls_cert, settings.tls_key
        )
    except OSError as error:  # SSLError is one
        unfit = isinstance(error, ssl.SSLError)
        why = "they are not PEM, or do not fit each other" if unfit else error.strerror
        raise SettingsError(
            f"https does not work with the certificate {settings.tls_cert} and the key {settings.tls_key}: {why}.\n"
            "Name a PEM file with the certificate and one with its own key; docs/phone.md says how to make both."
        ) from error
    return settings.tls_cert, settings.tls_key


def refuse_other_files(settings: Settings) -> None:
    """Refuse a file that is not a database. Waiting helps only if a database is unavailable."""
    path = settings.sqlite_path
    with contextlib.suppress(OSError):
        if path is None:
            return
        with path.open("rb") as file:
            beginning = file.read(len(SQLITE_FILE))
        if beginning not in (b"", SQLITE_FILE):
            raise SettingsError(
                f"The file {path} is no SQLite database, or its beginning is damaged.\n"
                "Put back a copy of it that works, or name another database with --data-dir or --database-url."
            )


SECRETS: Final = {RUN_TOKEN: "run_token", MASTER: "master"}
"""The names of the secrets' fingerprints."""


class SecretMismatch(StoreUnavailable):
    """The store was created with different secrets."""


async def check_secrets(store: Store, keys: ServerKeys) -> None:
    """Refuse secrets that the store was not created with: every link would be invalid."""
    await store.open()  # in this task, so that closing the application ends an attempt to connect
    await store.write(partial(compare_secrets, {RUN_TOKEN: keys.run_token, MASTER: keys.master}))


def compare_secrets(rings: Mapping[SecretHome, tuple[bytes, ...]]) -> Transaction[None]:
    """Raise `SecretMismatch` if the store was created with other secrets."""
    for home, ring in rings.items():
        known = tuple(map(tokens.fingerprint, ring))
        if not (yield from server_keys.check_fingerprint(SECRETS[home], known)):
            raise SecretMismatch(
                f"{home.env}, or {home.file_name} in the data directory, is not the secret this database was made "
                f"with.\nPut back the one that it was made with; to change it, set the new one as {home.env} and the "
                f"old one as {home.env}_PREVIOUS."
            )
