"""A megabyte of arguments to a wrapped tool holds up no one else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.loop_probe import probed
from tests.support.sqlite_files import new_sqlite
from tests.support.wrap.kit import Wrapped
from tests.system.load.test_hostile_texts import HELD_MS

PAIRS = [{"key": number, "other": [number]} for number in range(32_000)]
"""About a megabyte of small objects, which are dear to look through."""


@pytest.mark.parametrize(
    "arguments", [{"path": "a", "content": PAIRS}, {"path": "a", "content": "x" * 1_000_000}]
)
async def test_a_megabyte_of_arguments_leaves_the_loop_free(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    wrapped = Wrapped(new_sqlite(tmp_path / "assent.db"), tmp_path)
    await wrapped.app.prepare()
    client = await wrapped.open(trust=True)
    try:
        await client.call("store", path="a", content=2**60)
        with probed() as probe:
            refused = await client.call("store", **arguments)
    finally:
        await client.close()
        await wrapped.close()

    assert refused["isError"]
    assert probe.longest_ms < HELD_MS, probe.callback
