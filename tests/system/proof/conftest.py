"""A provider that outlives every server, workers to kill, and the ground of a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.proof.ground import Ground, Workers

from assent_conform.testing.connector import Emulator
from assent_conform.testing.standalone import provider_process


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of an emulated provider and its ledger."""
    path = tmp_path_factory.mktemp("provider") / "ledger.jsonl"
    with provider_process(Emulator, path) as url:
        yield url, path


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    made = Workers()
    yield made
    made.close()


@pytest.fixture
def ground(own_database_url: str, tmp_path: Path, provider: tuple[str, Path], workers: Workers) -> Ground:
    return Ground(own_database_url, tmp_path, provider, workers)
