"""`assent emulate`: an emulated provider, and the line that connects it."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
from pathlib import Path

import pytest
from tests.support.cli.fixtures import Assent
from tests.support.warm_processes import ASSENT, Process

from assent_conform.emulate import EMULATED
from assent_conform.emulators.__main__ import host_all


@pytest.mark.slow
def test_the_printed_line_connects_each_emulated_provider(
    assent: Assent, bare_environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for provider in EMULATED:
        words = [ASSENT, "emulate", provider, "--port", "0", "--json"]
        with Process(words, cwd=tmp_path, stdout=subprocess.PIPE) as emulator:
            assert emulator.stdout is not None
            try:
                found = json.loads(emulator.stdout.readline())
                echo, key, pipe, setting, _, *command = shlex.split(found["connect"])
                assert (echo, pipe) == ("echo", "|")
                bare_environment.setenv(*setting.split("=", 1))
                bare_environment.setattr("sys.stdin", io.StringIO(f"{key}\n"))
                done = assent(*command, "--json")
            finally:
                emulator.kill()
        assert done.code == 0, done.err
        assert (done.data["provider"], done.data["connected"]) == (provider, True)
        assert found["ledger"] == str(tmp_path / f"{provider}.jsonl")


def test_ledgers_go_to_a_folder_that_is_made_for_them(tmp_path: Path) -> None:
    host_all(tmp_path / "new" / "ledgers")
    assert {each.suffix for each in (tmp_path / "new" / "ledgers").iterdir()} == {".jsonl"}


def test_a_provider_without_an_emulator_is_refused_with_those_that_have_one(assent: Assent) -> None:
    done = assent("emulate", "mastodon")
    assert done.code == 1 and all(each in done.err for each in EMULATED)
