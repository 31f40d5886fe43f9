"""Puts the `assent` and `python` of `warm_processes` on a PATH, so that a shell starts them without imports."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.support.warm_processes import ASSENT, MESSAGE_BYTES, STREAMS, Process

PROGRAMS: Final = {"assent": ASSENT, "python": sys.executable}
COMMAND: Final = """\
#!{python} -IS
import json, os, signal, socket, sys

line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
line.connect({address!r})
order = {{"argv": [{program!r}, *sys.argv[1:]], "cwd": os.getcwd(), "env": dict(os.environ)}}
socket.send_fds(line, [json.dumps(order).encode()], [0, 1, 2])
process = int(line.recv(32))
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: os.kill(process, number))
sys.exit(int(line.recv(32) or b"1"))
"""
"""Hands its streams to the test's process and ends as the forked process does."""


class WarmCommands:
    """A folder with the two commands, until the end of the block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        self._started: list[subprocess.Popen[bytes]] = []
        folder.mkdir()
        address = str(folder / "door")
        self._door.bind(address)
        self._door.listen()
        for name, program in PROGRAMS.items():
            file = folder / name
            file.write_text(COMMAND.format(python=sys.executable, address=address, program=program))
            file.chmod(0o700)

    def __enter__(self) -> Self:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        with self._lock:
            for process in self._started:
                process.kill()
        for process in self._started:
            process.wait()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._door.accept()
            except OSError:
                return
            threading.Thread(target=self._start, args=(line,), daemon=True).start()

    def _start(self, line: socket.socket) -> None:
        with line:
            message, streams, _, _ = socket.recv_fds(line, MESSAGE_BYTES, STREAMS)
            order = json.loads(message)
            read_in, write_out, write_err = streams
            with self._lock:  # the process that forks answers one at a time
                process = Process(
                    order["argv"],
                    cwd=order["cwd"],
                    env=order["env"],
                    stdin=read_in,
                    stdout=write_out,
                    stderr=write_err,
                )
                self._started.append(process)
            for stream in streams:
                os.close(stream)
            line.send(str(process.pid).encode())
            code = process.wait()
            line.send(str(code if code >= 0 else 128 - code).encode())
