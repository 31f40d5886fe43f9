"""Each distribution is installed beside what it needs and nothing else, does its part, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

import pytest
from tests.wheel import ROOT, run_uv

LIST: Final = (
    "from assent.extensions.hooks import load_extensions\nprint(*(each.name for each in load_extensions()))"
)
CHECK: Final = (
    *("conform", "--profile", "core", "--allow-effects", "--json"),
    *("--", "assent", "stdio", "--operators", "assent_conform.staging"),
)


class Environment:
    """One environment and the commands in it."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.data = folder / "environment", folder / "data"
        self.programs = self._folder / "bin"
        run_uv("venv", self._folder)

    def install(self, *wheels: Path | str) -> None:
        run_uv(
            *("pip", "install", "--python", self._folder, "--constraint", ROOT / "requirements.lock"), *wheels
        )
        run_uv("pip", "check", "--python", self._folder)

    def uninstall(self, distribution: str) -> None:
        run_uv("pip", "uninstall", "--python", self._folder, distribution)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        own = {"PATH": f"{self.programs}:{os.environ['PATH']}", "ASSENT_DATA_DIR": str(self.data)}
        return subprocess.run(
            [self.programs / words[0], *words[1:]],
            env=os.environ | own,
            capture_output=True,
            text=True,
            check=False,
        )

    def list_files(self) -> set[str]:
        files = (path for path in self._folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
        return {path.relative_to(self._folder).as_posix() for path in files}


def name_wheel(wheels: Path, distribution: str) -> Path:
    (found,) = wheels.glob(f"{distribution.replace('-', '_')}-*.whl")
    return found


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path)


@pytest.mark.slow
def test_the_core_alone_is_ready_to_serve_and_is_taken_away_whole(
    environment: Environment, wheels: Path
) -> None:
    environment.install(name_wheel(wheels, "assent-core"))
    assert environment.run("python", "-c", LIST).stdout.split() == []
    assert environment.run("assent", "doctor").returncode == 0
    environment.uninstall("assent-core")
    assert [path for path in environment.list_files() if "assent" in path] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("distribution", "command"),
    [
        ("assent-launch", ("doctor",)),
        ("assent-wrap", ("wrap", "--help")),
        ("assent-notify", ("doctor",)),
        ("assent-conform", CHECK),
    ],
)
def test_an_extension_beside_the_core_does_its_part_and_leaves_the_core_as_it_was(
    environment: Environment, wheels: Path, distribution: str, command: tuple[str, ...]
) -> None:
    environment.install(name_wheel(wheels, "assent-core"))
    before = environment.list_files()
    environment.install(name_wheel(wheels, distribution))
    assert environment.run("python", "-c", LIST).stdout.split() == [distribution.removeprefix("assent-")]
    done = environment.run("assent", *command)
    assert done.returncode == 0, done.stdout + done.stderr
    environment.uninstall(distribution)
    assert environment.list_files() == before
    assert environment.run("python", "-c", LIST).stdout.split() == []


@pytest.mark.slow
def test_what_people_install_has_every_part_and_both_commands(environment: Environment, wheels: Path) -> None:
    environment.install(*wheels.glob("*.whl"))
    assert environment.run("python", "-c", LIST).stdout.split() == ["launch", "wrap", "notify", "conform"]
    for command in ("assent", "assent-gate"):
        assert environment.run(command, "doctor").returncode == 0
    environment.uninstall("assent-gate")
    assert [path for path in environment.list_files() if "assent_gate" in path] == []
