"""What a person is told about connecting a provider."""

from __future__ import annotations

import pytest

from assent.gate.connection import AuthMode, ConnectorInfo
from assent.tools.connections import ConnectorStatus, write_message

URL = "https://gate.example/connect/it"


@pytest.mark.parametrize(
    ("mode", "part"),
    [("api_key", "enter it there"), ("password", "enter it there"), ("oauth", "sign in there")],
)
def test_only_what_has_a_key_or_a_password_is_entered(mode: AuthMode, part: str) -> None:
    info = ConnectorInfo("it", "It", "Does it.", mode, (), ())
    said = write_message(ConnectorStatus(info, "needs_connection", connect_url=URL), None, (), 0)
    assert f"Open {URL} and {part}" in said
