"""The installed command in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import shlex
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROGRAM = [sys.executable, "-m", "assent"]


def environment(data_dir: Path) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("ASSENT_", "RUN_TOKEN"))
    }
    return {**kept, "HOME": str(data_dir.parent), "ASSENT_DATA_DIR": str(data_dir)}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def call(url: str, key: str, message: dict[str, Any]) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(message).encode(), headers)  # noqa: S310
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        payload: dict[str, Any] = json.load(answer)
    return payload


def test_serve_tells_how_to_connect_and_the_pasted_key_works(tmp_path: Path) -> None:
    """The key command of the welcome is run by a shell, as pasting it would."""
    data_dir, port = tmp_path / "data", free_port()
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [*PROGRAM, "serve", "--port", str(port)],
        env=environment(data_dir),
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
    ) as server:
        os.close(terminal)
        try:
            shown = b""
            while b"/get-key" not in shown or not shown.endswith(b"\n"):
                shown += os.read(controller, 65_536)
            welcome = shown.decode().splitlines()
            url = shlex.split(next(line for line in welcome if "--transport http" in line))[-1]
            command = next(line for line in welcome if "keys create --label editor" in line)
            key = re.findall(
                r"clp_live_\S+",
                subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True).stdout,
            )[0]
            named = {"name": "chieflab_get_workspace", "arguments": {}}
            answer = call(url, key, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": named})
            assert json.loads(answer["result"]["content"][0]["text"])["workspaceId"]
        finally:
            server.send_signal(signal.SIGTERM)
            out, _ = server.communicate(timeout=30)
    rest = ""
    with contextlib.suppress(OSError):  # Linux ends a terminal whose program is gone with an error
        while more := os.read(controller, 65_536):
            rest += more.decode()
    os.close(controller)
    assert server.returncode in (0, -signal.SIGTERM)
    assert out == ""
    assert "Traceback" not in rest
    assert key not in rest


def test_stdio_starts_without_what_only_people_need(tmp_path: Path) -> None:
    program = (
        "import sys, types; import assent.app; from assent.__main__ import main;"
        "late = {'typer', 'rich', 'click', 'tomllib', 'assent.engine.actions.actions'};"
        "loaded = lambda: sorted(late & set(sys.modules));"
        "process = types.SimpleNamespace(stdio=lambda settings: print(*loaded(), file=sys.stderr) or 0);"
        "sys.modules['assent.processes.stdio'] = process;"
        "main(['stdio'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(tmp_path / "data"), capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "\n")


def test_data_cut_off_by_its_reader_is_no_error(tmp_path: Path) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"({shlex.join([*PROGRAM, 'workspace', 'list', '--json'])}; echo $? >&2) | true"],
        env=environment(tmp_path / "data"),
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr
