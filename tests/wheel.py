"""The wheels of this tree in an environment of their own, made once for a run of the tests."""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of the environment; all workers share it."""
    own = tmp_path_factory.getbasetemp()
    return install_wheel(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own)


def install_wheel(shared: Path) -> Path:
    """Return the `bin` folder of an environment with the wheels and their locked dependencies, and nothing else."""
    made = shared / "wheel"
    with (shared / "wheel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (made / "done").exists():
            _install(made)
            (made / "done").touch()
    return made / "environment" / "bin"


def _install(made: Path) -> None:
    certificates = {} if "UV_SYSTEM_CERTS" in os.environ else {"UV_SYSTEM_CERTS": "true"}
    uv = subprocess.run([ROOT / "scripts/uv.sh"], capture_output=True, text=True, check=True).stdout.strip()
    python = made / "environment" / "bin" / "python"
    into: list[str | Path] = [uv, "pip", "install", "--quiet", "--python", python]
    steps: tuple[list[str | Path], ...] = (
        [uv, "build", "--quiet", "--wheel", "--all-packages", "--out-dir", made, ROOT],
        [uv, "venv", "--quiet", made / "environment"],
        [*into, "--require-hashes", "-r", ROOT / "requirements.lock"],
    )
    for words in steps:
        subprocess.run(words, env=os.environ | certificates, check=True, capture_output=True)
    wheels = list(made.glob("*.whl"))
    subprocess.run(
        [*into, "--no-deps", *wheels], env=os.environ | certificates, check=True, capture_output=True
    )
