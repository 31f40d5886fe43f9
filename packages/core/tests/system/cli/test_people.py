"""`assent people`: inviting, listing, removing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assent.cli import run


@pytest.fixture
def own_data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSENT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))


def said(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert run([*words, "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("own_data_dir")
def test_somebody_is_invited_listed_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    made = said(capsys, "people", "invite", "Grace Hopper", "--email", "grace@example.org")
    assert made["role"] == "member"
    assert "/sign-in/" in made["url"]
    [grace] = said(capsys, "people", "list")["people"]
    assert (grace["name"], grace["email"], grace["workspaces"]) == (
        "Grace Hopper",
        "grace@example.org",
        ["local"],
    )
    assert said(capsys, "people", "remove", made["personId"])["removed"]
    assert said(capsys, "people", "list")["people"] == []


@pytest.mark.usefixtures("own_data_dir")
def test_the_list_has_addresses_and_no_name_is_given_twice(capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "people", "invite", "Grace Hopper", "--email", "grace@example.org")

    for words in (
        ("people", "invite", "grace  HOPPER", "--email", "eve@example.org"),
        ("people", "invite", "Eve <grace@example.org>"),
        ("people", "invite", "Eve", "--email", "Grace <grace@example.org>"),
        ("owner-link", "--name", "Grace Hopper"),
    ):
        assert run([*words, "--json"]) == 1, words
    capsys.readouterr()
    assert run(["people", "list"]) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith("Grace Hopper <grace@example.org> (member), local, ")


@pytest.mark.usefixtures("own_data_dir")
def test_behind_a_pipe_no_invitation_is_made_and_nobody_unknown_is_removed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["people", "invite", "Grace"]) != 0
    assert "terminal" in capsys.readouterr().err
    assert run(["people", "remove", "nobody"]) != 0
    assert said(capsys, "people", "list")["people"] == []
