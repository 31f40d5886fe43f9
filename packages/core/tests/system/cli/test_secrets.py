"""`assent secret`: read from standard input, sealed in the vault, never shown."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from tests.support.cli.fixtures import Assent, Done

VALUE = "sk_live_0123456789 with-a-space"


@pytest.fixture
def typed(assent: Assent, bare_environment: pytest.MonkeyPatch) -> Assent:
    def call(*arguments: str, value: str = "") -> Done:
        bare_environment.setattr("sys.stdin", io.StringIO(f"{value}\n"))
        return assent(*arguments)

    return call


def test_a_secret_is_stored_listed_by_name_and_removed(typed: Assent, data_dir: Path) -> None:
    stored = typed("secret", "set", "billing", "--json", value=VALUE)
    assert (stored.code, stored.data["name"]) == (0, "billing"), stored.err
    listed = typed("secret", "list", "--json")
    assert [each["name"] for each in listed.data["secrets"]] == ["billing"]
    audit = typed("audit", "export")
    assert "secret_stored" in audit.out
    for done in (stored, listed, audit):
        assert VALUE not in done.out + done.err
    assert not [path for path in data_dir.iterdir() if path.is_file() and VALUE.encode() in path.read_bytes()]

    assert typed("secret", "remove", "billing").code == 0
    assert typed("secret", "list", "--json").data["secrets"] == []
    again = typed("secret", "remove", "billing")
    assert (again.code, "has no secret" in again.err) == (1, True)


def test_a_secret_belongs_to_its_workspace(typed: Assent) -> None:
    typed("workspace", "create", "acme")
    assert typed("secret", "set", "billing", "--workspace", "acme", value=VALUE).code == 0
    assert typed("secret", "list", "--json").data["secrets"] == []
    assert len(typed("secret", "list", "--workspace", "acme", "--json").data["secrets"]) == 1


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("Billing", VALUE, "small letters"),
        ("a b", VALUE, "small letters"),
        ("billing", "", "not a secret"),
        ("billing", "two\nlines", "not a secret"),
        ("billing", "x" * 4_001, "not a secret"),
    ],
)
def test_a_bad_name_or_value_is_refused_and_nothing_is_stored(
    typed: Assent, name: str, value: str, said: str
) -> None:
    done = typed("secret", "set", name, value=value)
    assert (done.code, said in done.err) == (1, True), done.err
    assert typed("secret", "list", "--json").data["secrets"] == []
