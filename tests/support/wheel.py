"""The wheels of this tree, and an environment with all of them, made once for a run of the tests."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the wheels; all workers share it."""
    return build_wheels(_find_shared(tmp_path_factory))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of the environment; all workers share it."""
    return install_wheel(_find_shared(tmp_path_factory))


def _find_shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def build_wheels(shared: Path) -> Path:
    """Return the folder of a release, with the wheel of each distribution."""
    return _make_once(shared / "wheels", build_release)


def build_release(made: Path) -> None:
    command: list[str | Path] = [sys.executable, ROOT / "scripts/release.py", "build", "--out", made]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def install_wheel(shared: Path) -> Path:
    """Return the `bin` folder of an environment with the wheels and their locked dependencies, and nothing else."""
    wheels = build_wheels(shared)

    def install(made: Path) -> None:
        run_uv("venv", made)
        run_uv("pip", "install", "--python", made, "--require-hashes", "-r", ROOT / "requirements.lock")
        run_uv("pip", "install", "--python", made, "--no-deps", *wheels.glob("*.whl"))

    return _make_once(shared / "wheel", install) / "bin"


def _make_once(made: Path, make: Callable[[Path], None]) -> Path:
    with made.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = made.with_suffix(".done")
        if not done.exists():
            make(made)
            done.touch()
    return made


def find_uv() -> str:
    return subprocess.run([ROOT / "scripts/uv.sh"], capture_output=True, text=True, check=True).stdout.strip()


def run_uv(*words: str | Path) -> None:
    certificates = {} if "UV_SYSTEM_CERTS" in os.environ else {"UV_SYSTEM_CERTS": "true"}
    subprocess.run(
        [find_uv(), *words, "--quiet"], env=os.environ | certificates, check=True, capture_output=True
    )
