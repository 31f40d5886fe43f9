"""A local user whose very first call stages something: the store opens for it, and the answer has its review link."""

from __future__ import annotations

from pathlib import Path

from tests.gate.conftest import gate_over
from tests.gate.kit import STAGE
from tests.gate.provider import providers

from assent.engine.tenancy import LOCAL_PRINCIPAL
from assent.serving.edge import Credentials


async def test_the_first_call_of_a_local_process_may_stage(database_url: str, tmp_path: Path) -> None:
    gate = gate_over(database_url, tmp_path, "stdio", providers())
    try:
        answer = await gate.surfaces.edge.answer(
            STAGE, {"effects": [{}]}, Credentials(local=LOCAL_PRINCIPAL), "local"
        )
    finally:
        await gate.close()
    assert answer.reason is None, answer.text
    run_id = answer.value["runId"]
    assert f"/runs/{run_id}?token=" in answer.value["reviewUrl"]
