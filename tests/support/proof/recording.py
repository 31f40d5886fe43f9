"""Clients that write down every call before it is made and every answer after it came."""

from __future__ import annotations

import itertools
import json
import os
import time
from pathlib import Path
from typing import Any, Protocol

from proof.history import Call


class Recorder(Protocol):
    def begin(self, client: str, holder: str, tool: str, arguments: dict[str, Any]) -> int: ...

    def end(self, number: int, answer: dict[str, Any] | None) -> None: ...


class FileRecorder:
    """A history in a file; one write a line, so that a kill cuts at most the last one."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._numbers = itertools.count()

    def begin(self, client: str, holder: str, tool: str, arguments: dict[str, Any]) -> int:
        number = next(self._numbers)
        about = {"client": client, "holder": holder, "tool": tool, "arguments": arguments}
        self._write({"id": self._name(number), **about, "begun": now()})
        return number

    def end(self, number: int, answer: dict[str, Any] | None) -> None:
        if answer is not None:
            self._write({"id": self._name(number), "ended": now(), "answer": answer})

    def _name(self, number: int) -> str:
        return f"{os.getpid()}-{self._file}-{number}"

    def _write(self, line: dict[str, Any]) -> None:
        os.write(self._file, json.dumps(line).encode() + b"\n")


class MemoryRecorder:
    """A history of clients that outlive the run."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def begin(self, client: str, holder: str, tool: str, arguments: dict[str, Any]) -> int:
        self.calls.append(Call(client, holder, tool, arguments, now()))
        return len(self.calls) - 1

    def end(self, number: int, answer: dict[str, Any] | None) -> None:
        if answer is not None:
            begun = self.calls[number]
            self.calls[number] = Call(
                begun.client, begun.holder, begun.tool, begun.arguments, begun.begun, now(), answer
            )


def now() -> float:
    """Milliseconds of the clock that the provider's ledger has, too."""
    return time.time_ns() / 1_000_000


class Client:
    """A caller whose history is kept. `ask` may be replaced while it lives, as a server is that was restarted."""

    def __init__(self, name: str, recorder: Recorder, ask: Any, holder: str = "local") -> None:
        self.name = name
        self.holder = holder
        self.ask = ask
        self._recorder = recorder

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any] | None:
        """Make one call; None if no answer came."""
        number = self._recorder.begin(self.name, self.holder, tool, arguments)
        answer: dict[str, Any] | None = await self.ask(tool, arguments)
        self._recorder.end(number, answer)
        return answer
