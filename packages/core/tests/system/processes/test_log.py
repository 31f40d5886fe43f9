"""The log of a real server: lines of JSON, with request ids, and none of what must never be in one."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from tests.support.processes.running import UNLIMITED, Serve, fetch, sign_up

pytestmark = pytest.mark.slow


def test_no_secret_reaches_the_log(tmp_path: Path) -> None:
    with Serve(tmp_path, {"ASSENT_LOG_LEVEL": "debug", "ASSENT_LOG_FORMAT": "json", **UNLIMITED}) as server:
        link = sign_up(server.port)
        fetch(server.port, "GET", link)
        _, page = fetch(server.port, "POST", link)
        found = re.search(r"clp_live_[A-Za-z0-9_-]{64}", html.unescape(page))
        assert found is not None
        key = found[0]
        for value in (key, key[:-1], "clp_live_" + "x" * 64):
            fetch(
                server.port, "POST", "/api/tools/chieflab_get_workspace", {}, Authorization=f"Bearer {value}"
            )
            fetch(server.port, "POST", f"/api/tools/{value}", {}, Cookie=f"session={value}")
            fetch(server.port, "GET", f"/claim/{value}?token={value}")
        assert server.terminate() == 0

    written = [
        path.read_text().strip() for path in tmp_path.rglob("*") if path.is_file() and "secret" in path.name
    ]
    for secret in (key, key[-32:], link.rpartition("/")[2], "x" * 64, *filter(None, written)):
        assert secret not in server.log
    lines = [json.loads(line) for line in server.log.splitlines() if line.startswith("{")]
    requests = [line for line in lines if line.get("logger") == "assent.access"]
    assert len(requests) >= 9
    assert all(line["request_id"] for line in requests)
