"""A command line in this process, on a data directory and an environment of its own."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assent.cli import run


class Done(msgspec.Struct, frozen=True):
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Assent = Callable[..., Done]


@pytest.fixture(autouse=True)
def own_logging() -> Iterator[None]:
    """A server that a test starts configures the process's logging; that ends with the test."""
    root = logging.getLogger()
    before = (root.handlers[:], root.level, logging.raiseExceptions)
    yield
    root.handlers[:], _, logging.raiseExceptions = before
    root.setLevel(before[1])


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """No settings of whoever runs the tests, and a home without any."""
    for name in [*os.environ]:
        if name.startswith(("ASSENT_", "RUN_TOKEN_SECRET")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    return monkeypatch


@pytest.fixture
def assent(
    data_dir: Path, bare_environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Assent:
    """Run a command on the test's data directory."""
    bare_environment.setenv("ASSENT_DATA_DIR", str(data_dir))

    def call(*arguments: str) -> Done:
        capsys.readouterr()
        code = run(arguments)
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return call
