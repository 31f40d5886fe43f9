"""Runs an emulated provider as a process, for checks from outside and for tests that kill the
server under test.

    python -m assent_conform.testing.standalone MODULE:CLASS --ledger FILE [--port N] [--outcomes timeout_after,deliver]

prints its address as one line of JSON and stays until it is ended. `POST /emulate` changes how it
behaves: a JSON object of the attributes that the provider's module lists, and `advanceMs` for its
clock.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from assent_conform.testing.ledger import Ledger
from assent_conform.testing.provider_server import (
    Outcome,
    ProviderAnswer,
    ProviderRequest,
    ProviderServer,
    json_answer,
)


class Scripted(ProviderServer):
    """A provider whose behaviour can be changed while it runs; `script` names the attributes."""

    script: tuple[str, ...] = ()

    def __init__(self, ledger: Ledger, **options: Any) -> None:
        super().__init__(ledger, **options)
        self._offset_ms = 0
        clock = self.now_ms
        self.now_ms = lambda: clock() + self._offset_ms

    def control(self, asked: ProviderRequest) -> ProviderAnswer | None:
        if (asked.method, asked.path) != ("POST", "/emulate"):
            return super().control(asked)
        wanted: dict[str, Any] = asked.json
        unknown = sorted(set(wanted) - {*self.script, "advanceMs"})
        if unknown:
            return json_answer(400, {"error": f"no such attribute: {', '.join(unknown)}"})
        self._offset_ms += wanted.pop("advanceMs", 0)
        for name, value in wanted.items():
            setattr(self, name, value)
        return json_answer(200, {name: getattr(self, name) for name in self.script})


@contextmanager
def provider_process(kind: type[ProviderServer], ledger: Path, *outcomes: Outcome) -> Iterator[str]:
    """Run an emulated provider in another process for the block; yields its address."""
    command = [sys.executable, "-m", __name__, f"{kind.__module__}:{kind.__name__}"]
    command += ["--ledger", str(ledger)]
    command += ["--outcomes", ",".join(outcomes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:  # noqa: S603 - ourselves
        try:
            line = process.stdout.readline() if process.stdout is not None else b""
            yield msgspec.json.decode(line, type=dict[str, str])["url"]
        finally:
            process.kill()


async def announce(addresses: dict[str, str]) -> None:
    """Print the addresses as one line of JSON, and wait until the process ends."""
    sys.stdout.write(msgspec.json.encode(addresses).decode() + "\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="An emulated provider.")
    parser.add_argument("provider", metavar="MODULE:CLASS")
    parser.add_argument("--ledger", type=Path, required=True, help="the file that says what really happened")
    parser.add_argument("--port", type=int, default=0, help="a free one unless given")
    parser.add_argument("--outcomes", default="", help=f"comma-separated, of: {', '.join(Outcome)}")
    given = parser.parse_args()

    async def serve() -> None:
        module, _, name = given.provider.partition(":")
        server: ProviderServer = getattr(import_module(module), name)(Ledger(given.ledger))
        server.plan(*(Outcome(name) for name in given.outcomes.split(",") if name))
        async with server.serving(given.port) as url:
            await announce({"url": url})

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())


if __name__ == "__main__":
    main()
