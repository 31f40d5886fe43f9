"""The stores: from a database URL to a `Store`. No driver is imported before its store is used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from assent.ports import Clock, CountingStore
    from assent.sql.components import ListComponents

__all__ = ["open_store", "sqlite_path"]

SQLITE = "sqlite:///"
POSTGRES = ("postgresql://", "postgres://")
FORMS = (
    "Write sqlite:///relative/path.db, sqlite:////absolute/path.db "
    "or postgresql://user:password@host:5432/database."
)


def open_store(
    url: str,
    *,
    pool_size: int | None = None,
    clock: Clock | None = None,
    is_alone: Callable[[], bool] = lambda: False,
    follow: Callable[[int, int], None] | None = None,
    prepare: Callable[[], Awaitable[None]] | None = None,
    list_components: ListComponents = tuple,
    statement_cache: str = "auto",
) -> CountingStore:
    """Return the store for a database URL. Does no I/O: the store connects in `open` or at its
    first call.

    `pool_size` is the number of connections to PostgreSQL, or of SQLite readers. `is_alone` says
    whether no other caller would share this commit. `follow` is told PostgreSQL's time, and how
    many milliseconds ago at most it was read: at every new connection, and about once a second while
    the journal grows. `prepare` runs before the first call and may use the store; other calls wait
    for it, share its error, and a later call repeats it.
    `statement_cache` says whether PostgreSQL's connections keep prepared statements: on, off, or (auto) where no pooler
    is between.
    `list_components` gives the components whose tables the store creates and migrates.
    """
    if url.startswith(POSTGRES):
        from assent.stores.postgres import POOL_SIZE, PostgresStore

        return PostgresStore(
            url,
            pool_size=pool_size or POOL_SIZE,
            clock=clock,
            follow=follow,
            prepare=prepare,
            list_components=list_components,
            statement_cache=statement_cache,
        )
    path = sqlite_path(url)
    from assent.stores.sqlite import READERS, SqliteStore

    return SqliteStore(
        path,
        readers=pool_size or READERS,
        clock=clock,
        is_alone=is_alone,
        prepare=prepare,
        list_components=list_components,
    )


def sqlite_path(url: str) -> Path:
    """Return the file of a `sqlite:///` URL."""
    scheme = url.partition("://")[0]
    if not url.startswith(SQLITE):
        # The URL may hold a password, so the message repeats only its scheme.
        raise ValueError(f"Assent has no store for a database URL that starts with {scheme[:20]!r}. {FORMS}")
    path = url.removeprefix(SQLITE)
    if not path or path.endswith("/"):
        raise ValueError(f"The database URL names no file. {FORMS}")
    if path.startswith(":memory:"):
        raise ValueError(f"A database in memory would forget every approval at exit. {FORMS}")
    if "?" in path or "#" in path or "\0" in path:
        raise ValueError(f"A SQLite URL takes no options. {FORMS}")
    return Path(path)
