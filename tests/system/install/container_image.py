"""The image that scripts/container.sh built: it serves, is killed, and serves again on its volume. `make container`.

bubblewrap runs it as a container engine would: the root file system read-only, the image's user, variables and command,
a volume at /data, an empty /tmp, and process ids of its own. The image's user is ours outside, so it owns the volume.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.processes.running import ask, eventually, free_port, is_healthy

IMAGE = "localhost/assent"


def buildah(*words: str) -> str:
    environment = os.environ | {"STORAGE_DRIVER": os.environ.get("STORAGE_DRIVER", "vfs")}
    return subprocess.run(
        ["buildah", *words], capture_output=True, text=True, check=True, env=environment
    ).stdout.strip()


class Container:
    def __init__(self, root: str, config: dict[str, Any], volume: Path) -> None:
        self.port = free_port()
        user, group = config["User"].split(":")
        self._config = config
        variables = dict(each.split("=", 1) for each in config["Env"])
        variables |= {"ASSENT_PORT": str(self.port), "ASSENT_HOST": "127.0.0.1"}
        self._within = [
            *("bwrap", "--die-with-parent", "--ro-bind", root, "/", "--proc", "/proc", "--dev", "/dev"),
            *("--tmpfs", "/tmp", "--bind", str(volume), "/data", "--unshare-user", "--unshare-pid"),  # noqa: S108
            *("--uid", user, "--gid", group, "--clearenv"),
            *(word for name, value in variables.items() for word in ("--setenv", name, value)),
        ]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self._within, *words], capture_output=True, text=True, check=False)

    def start(self) -> subprocess.Popen[bytes]:
        command = [*self._config["Entrypoint"], *self._config["Cmd"]]
        process = subprocess.Popen([*self._within, *command], start_new_session=True)
        eventually(lambda: is_healthy(self.port), "the container is healthy")
        check = self._config["Healthcheck"]["Test"]
        assert check[0] == "CMD" and self.run(*check[1:]).returncode == 0
        return process


@pytest.fixture
def container(tmp_path: Path) -> Iterator[Container]:
    config = json.loads(buildah("inspect", "--type", "image", IMAGE))["Docker"]["config"]
    made = buildah("from", IMAGE)
    (tmp_path / "volume").mkdir()
    try:
        yield Container(buildah("mount", made), config, tmp_path / "volume")
    finally:
        buildah("rm", made)


def test_the_image_serves_and_survives_a_kill_with_its_volume(container: Container) -> None:
    first = container.start()
    key = container.run("assent", "keys", "create", "--label", "test").stdout.strip()
    staged = ask(
        container.port,
        "chieflab_post",
        key,
        channel="site",
        title="Hours",
        body="We open at nine.",
        idempotencyKey="1",
    )
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    eventually(lambda: not is_healthy(container.port), "the container is gone")
    second = container.start()
    found = ask(container.port, "chieflab_get_action", key, actionId=staged["actions"][0]["id"])
    assert found["status"] == "awaiting_approval"
    os.killpg(second.pid, signal.SIGTERM)
    second.wait(30)


def test_the_image_has_no_root_and_cannot_write_itself(container: Container) -> None:
    assert (
        container.run("/opt/assent/bin/python", "-c", "import os; print(os.getuid())").stdout.strip() != "0"
    )
    assert container.run("/opt/assent/bin/python", "-c", "open('/opt/x', 'w')").returncode != 0
    assert container.run("/opt/assent/bin/python", "-c", "open('/data/x', 'w')").returncode == 0
