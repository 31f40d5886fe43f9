"""`assent workspace credits`."""

from __future__ import annotations

import pytest
from tests.support.cli.fixtures import Assent


def test_a_workspace_is_unlimited_until_somebody_says_otherwise(assent: Assent) -> None:
    assent("workspace", "create", "acme")

    shown = assent("workspace", "credits", "acme", "--json")
    limited = assent("workspace", "credits", "acme", "--limit", "10", "--json")
    granted = assent("workspace", "credits", "acme", "--grant", "5", "--json")
    freed = assent("workspace", "credits", "acme", "--limit", "none", "--json")

    assert (shown.data["unlimited"], shown.data["balance"], shown.data["entries"]) == (True, None, [])
    assert (limited.data["unlimited"], limited.data["balance"]) == (False, 10)
    assert granted.data["balance"] == 15
    assert (freed.data["unlimited"], freed.data["balance"]) == (True, None)
    assert [entry["kind"] for entry in freed.data["entries"]] == ["unlimit", "grant", "limit"]


def test_the_table_says_what_can_be_spent(assent: Assent) -> None:
    assent("workspace", "create", "acme")

    done = assent("workspace", "credits", "acme", "--limit", "0", "--grant", "7")

    assert done.code == 0
    assert "7" in done.out.splitlines()[1]


@pytest.mark.parametrize("limit", ["-1", "ten", "1.5", "9" * 20, ""])
def test_a_limit_that_is_none_is_refused_and_changes_nothing(assent: Assent, limit: str) -> None:
    assent("workspace", "create", "acme")

    done = assent("workspace", "credits", "acme", f"--limit={limit}")

    assert (done.code, done.out) == (1, "")
    assert assent("workspace", "credits", "acme", "--json").data["unlimited"] is True
