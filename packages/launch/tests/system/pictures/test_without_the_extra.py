"""A server without the drawing libraries: a real process in which they cannot be imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.operators.fixtures import CLUB
from tests.support.processes.running import StdioClient, environment

from assent.kernel.distribution import word_install

pytestmark = pytest.mark.slow

GRAPHICS = "chieflab_create_social_graphics"
WITHOUT = (
    sys.executable,
    "-c",
    "import sys; sys.modules.update(resvg_py=None, uharfbuzz=None); from assent.__main__ import main; sys.exit(main())",
)


def test_a_server_without_the_libraries_lists_no_drawing_and_launches_without_pictures(
    tmp_path: Path,
) -> None:
    with StdioClient(tmp_path, command=WITHOUT) as client:
        client.ask("initialize")
        listed = [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]
        run = client.call("chieflab_launch_product", **CLUB, channels=["linkedin"], imagesNeeded=True)
        refused = client.ask("tools/call", {"name": GRAPHICS, "arguments": {"headline": "Ledgerleaf 2.0"}})
        log = client.log

    assert "chieflab_launch_product" in listed and GRAPHICS not in listed
    assert run["ok"], run
    assert run["images"] == []
    assert "There is no picture: this server draws none." in run["actions"][0]["preflight"]["warnings"]
    assert GRAPHICS not in json.dumps(run)
    assert "error" in refused or refused["result"]["isError"]
    assert "Traceback" not in log


@pytest.mark.parametrize("missing", [True, False])
def test_doctor_says_what_to_install(tmp_path: Path, missing: bool) -> None:
    command = WITHOUT if missing else (sys.executable, "-m", "assent")
    done = subprocess.run(
        [*command, "doctor", "--data-dir", str(tmp_path / "data")],
        env=environment({}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (word_install("pictures") in done.stdout) == missing, done.stdout + done.stderr
