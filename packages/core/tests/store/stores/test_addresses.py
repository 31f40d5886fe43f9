"""From a database URL to a store."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from assent.kernel.distribution import word_install
from assent.stores import open_store, sqlite_path
from assent.stores.postgres import PostgresStore
from assent.stores.sqlite import SqliteStore


def test_three_slashes_and_a_path_name_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert sqlite_path("sqlite:///data/assent.db") == Path("data/assent.db")
    assert sqlite_path("sqlite:////var/lib/assent.db") == Path("/var/lib/assent.db")
    store = open_store("sqlite:///data/assent.db")
    assert isinstance(store, SqliteStore)
    assert store.path == tmp_path / "data/assent.db"


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_both_names_of_postgresql_are_known(scheme: str) -> None:
    assert isinstance(open_store(f"{scheme}://user@host/database"), PostgresStore)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "assent.db",
        "mysql://user:secret@host/db",
        "sqlite://",
        "sqlite:///",
        "sqlite:///data/",
        "sqlite://relative.db",
        "sqlite:///:memory:",
        "sqlite:///a.db?mode=ro",
    ],
)
def test_any_other_address_is_refused_with_what_to_write(url: str) -> None:
    with pytest.raises(ValueError, match=r"Write sqlite:///") as caught:
        open_store(url)
    assert "secret" not in str(caught.value)


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=re.escape(word_install("postgres"))):
        open_store("postgresql://user@host/database")


@pytest.mark.parametrize("url", ["sqlite:///x.db", "postgresql://user@host/database"])
def test_making_a_store_imports_no_driver_and_touches_no_disk(url: str, tmp_path: Path) -> None:
    program = (
        "import sys; from assent.stores import open_store; open_store(sys.argv[1]); "
        "sys.exit(bool({'sqlite3', 'asyncpg'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", program, url], cwd=tmp_path, check=True)
    assert list(tmp_path.iterdir()) == []
