"""What `assent serve` checks before it listens. Each failure says what is wrong and what to do."""

from __future__ import annotations

import contextlib
import ssl
from pathlib import Path
from typing import Final

from assent.app import App
from assent.settings.load import Settings, SettingsError

SQLITE_FILE: Final = b"SQLite format 3\0"
"""Header of every SQLite file."""


def check_wrapped(app: App) -> None:
    """Raise with a plain reason if the files of wrapped servers cannot be used."""
    if app.settings.wrap_config is None:
        return
    try:
        app.wrap.gateway.check()
    except ValueError as error:
        raise SettingsError(f"{error}\nCorrect the file, or leave wrap_config out.") from None


def check_certificate(settings: Settings) -> tuple[Path, Path] | None:
    """Return certificate and key, if there are any. Raises with a plain reason if they do not work."""
    if settings.tls_cert is None or settings.tls_key is None:
        return None
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
