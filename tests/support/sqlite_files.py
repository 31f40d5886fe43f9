"""New SQLite databases for the tests: copies of one file that was migrated once."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from assent.extensions.hooks import load_extensions
from assent.sql.components import Component
from assent.stores.sqlite_connection import migrate_file


def list_components() -> tuple[Component, ...]:
    """Return the components of our extensions, whose tables every server of the tests has."""
    return tuple(each for extension in load_extensions() for each in extension.list_components())


@cache
def _template() -> bytes:
    with tempfile.TemporaryDirectory(prefix="assent-template-") as folder:
        file = Path(folder) / "template.db"
        migrate_file(file, 0, list_components())
        return file.read_bytes()


def new_sqlite(file: Path) -> str:
    """Make a migrated, empty database at this path; return its URL."""
    file.write_bytes(_template())
    file.chmod(0o600)
    return f"sqlite:///{file}"
