"""Metrics, the access log and the rotation of keys, on each store."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest
from tests.support.actions.kit import EXECUTE, PENDING, Gate
from tests.support.keys import rotate_key

from assent.engine.core import freezes
from assent.engine.core.tenancy import parse_key
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.limits import HOUR_MS
from assent.serving.site import METRICS

ROOT = Path(__file__).parents[5]


async def read(surface: Gate) -> dict[str, float]:
    answer = await surface.http.get("/metrics")
    assert answer.status_code == 200, answer.text
    lines = [line for line in answer.text.splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"assent_\w+(\{[^{}]*\})? [-+.\de]+", line) for line in lines), lines
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


@pytest.mark.own_database
async def test_metrics_say_what_waits_how_long_and_what_is_unknown(surface: Gate) -> None:
    before = await read(surface)
    assert before["assent_actions_unknown"] == before["assent_freezes"] == 0
    await surface.bring_to("outcome_unknown", connector="unaware")
    await surface.staged(body="This waits for three hours, and then for two days.")
    surface.clock.advance(hours=3)
    found = await read(surface)
    assert (found["assent_store_up"], found["assent_actions_unknown"]) == (1, 1)
    assert found['assent_actions_waiting{younger_than="4h"}'] == 1
    assert found['assent_actions_waiting{younger_than="1h"}'] == 0
    assert found['assent_jobs{state="due"}'] >= 1
    assert found["assent_job_lateness_seconds"] > 3_600
    surface.clock.advance(days=2)
    assert (await read(surface))['assent_actions_waiting{younger_than="168h"}'] == 1
    now_ms = surface.clock.now_ms()
    await surface.app.store.write(lambda: freezes.freeze(SYSTEM_WORKSPACE, now_ms, by="test", why=""))
    assert (await read(surface))["assent_freezes"] == 1
    pool = [name for name in found if name.startswith("assent_pool_connections")]
    assert bool(pool) == (surface.dialect == "postgres")
    await surface.app.store.write(lambda: freezes.unfreeze(SYSTEM_WORKSPACE, now_ms, by="test"))


async def test_latency_is_a_histogram_for_each_tool(surface: Gate) -> None:
    for _ in range(3):
        await surface.done(PENDING)
    await surface.denied(EXECUTE, actionId=await surface.staged())
    found = await read(surface)
    count = f'assent_tool_call_seconds_count{{tool="{PENDING}"}}'
    buckets = [
        value
        for name, value in found.items()
        if name.startswith(f'assent_tool_call_seconds_bucket{{tool="{PENDING}"')
    ]
    assert found[count] == buckets[-1] == 3
    assert buckets == sorted(buckets)
    assert found[f'assent_tool_calls_total{{tool="{EXECUTE}",outcome="requires_approval"}}'] == 1
    assert any(name.startswith("assent_build_info{version=") for name in found)


@pytest.mark.parametrize("changed_settings", [{"metrics_key": "m3trics-key"}], indirect=True)
async def test_with_a_key_the_metrics_are_read_by_it_alone(surface: Gate) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Bearer {surface.key}"}):
        refused = await surface.http.get("/metrics", headers=headers)
        assert refused.status_code == 401
        assert "assent_" not in refused.text
    found = await surface.http.get("/metrics", headers={"Authorization": "Bearer m3trics-key"})
    assert found.status_code == 200


@pytest.mark.parametrize("changed_settings", [{"base_url": "https://assent.example.org"}], indirect=True)
async def test_a_public_server_shows_no_metrics_without_a_key(surface: Gate) -> None:
    answer = await surface.http.get("/metrics", headers={"Host": "assent.example.org"})
    assert answer.status_code == 401


async def test_the_access_log_names_tool_workspace_key_and_client_and_no_secret(
    surface: Gate, caplog: pytest.LogCaptureFixture
) -> None:
    assert surface.key is not None
    ids = parse_key(surface.key)
    assert ids is not None
    with caplog.at_level(logging.INFO, logger="assent.access"):
        await surface.http.post(
            f"/api/tools/{PENDING}",
            json={},
            headers={"Authorization": f"Bearer {surface.key}", "User-Agent": "claude-code/2.1 " + "x" * 500},
        )
    line = vars(caplog.records[-1])
    assert (line["tool"], line["outcome"]) == (PENDING, "ok")
    assert (line["workspace"], line["key_id"]) == (ids.workspace_id, ids.key_id)
    assert line["client"].startswith("claude-code/2.1") and len(line["client"]) == 100
    assert surface.key not in str(line)


async def test_a_rotated_key_works_beside_its_successor_and_then_ends(surface: Gate) -> None:
    old = surface.key
    assert old is not None
    new = await rotate_key(surface.app, old, overlap_ms=24 * HOUR_MS)
    assert new is not None
    for key in (old, new):
        assert not (await surface.call(PENDING, {}, key=key)).is_error
    surface.clock.advance(hours=25)
    assert (await surface.call(PENDING, {}, key=old)).reason == "invalid_api_key"
    assert not (await surface.call(PENDING, {}, key=new)).is_error
    assert await rotate_key(surface.app, old, overlap_ms=HOUR_MS) is None


async def test_every_metric_says_what_it_is_and_the_page_names_it(surface: Gate) -> None:
    text = (await surface.http.get("/metrics")).text
    told = dict(re.findall(r"^# HELP (assent_\w+) (.+)$", text, re.MULTILINE))
    typed = dict(re.findall(r"^# TYPE (assent_\w+) (\w+)$", text, re.MULTILINE))
    assert told.keys() == typed.keys()
    page = (ROOT / "docs/monitoring.md").read_text()
    rows = re.findall(r"^\| `assent_(\w+)` \| (\w+) \| (.+) \|$", page, re.MULTILINE)
    assert {name: (kind, what) for name, kind, what in rows} == METRICS
    assert set(re.findall(r"assent_\w+", page)) <= {f"assent_{name}" for name in METRICS}
    assert set(told) <= {f"assent_{name}" for name in METRICS}
