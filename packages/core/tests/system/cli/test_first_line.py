"""The first line of `assent serve`: where it listens, and by which address it is reached."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from packages.core.tests.system.cli.test_welcome import SETTINGS

from assent.extensions.registry import Extensions
from assent.processes import serve
from assent.settings.client_config import first_line, welcome_text

BEHIND_PROXY = msgspec.structs.replace(
    SETTINGS, host="192.0.2.7", port=9000, base_url="https://assent.example.org"
)
LINE = (
    "Assent is serving at https://assent.example.org and listens on 192.0.2.7:9000 "
    "(MCP: https://assent.example.org/api/mcp)."
)


def test_the_first_line_names_where_it_listens_and_its_public_address() -> None:
    assert first_line(BEHIND_PROXY) == LINE
    assert welcome_text(BEHIND_PROXY).startswith(LINE)
    on_ipv6 = msgspec.structs.replace(SETTINGS, host="::1", port=9000)
    assert " and listens on [::1]:9000 (MCP: " in first_line(on_ipv6)


async def test_without_a_terminal_the_log_has_one_line_and_nothing_is_printed(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    app: Any = SimpleNamespace(settings=BEHIND_PROXY, extensions=Extensions())

    with caplog.at_level(logging.INFO):
        await serve._welcome(app)

    assert [record.getMessage() for record in caplog.records] == [LINE]
    assert capsys.readouterr().err == ""
