"""Runs the emulated provider as a process, for tests that kill the server under test.

    python -m assent.testing.process --ledger FILE [--port N] [--outcomes timeout_after,deliver]

prints its address as one line of JSON and stays until it is ended.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from assent.testing.emulator import Emulator, Outcome
from assent.testing.ledger import Ledger


@contextmanager
def emulator_process(ledger: Path, outcomes: Iterable[Outcome] = ()) -> Iterator[str]:
    """Run an emulator in another process for the block; yields its address."""
    plan = ",".join(outcomes)
    command = [sys.executable, "-m", __name__, "--ledger", str(ledger), "--outcomes", plan]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:  # noqa: S603 - ourselves
        try:
            line = process.stdout.readline() if process.stdout is not None else b""
            yield msgspec.json.decode(line, type=dict[str, str])["url"]
        finally:
            process.kill()


async def _serve(ledger: Path, port: int, outcomes: list[Outcome]) -> None:
    async with Emulator(Ledger(ledger), outcomes).serving(port) as url:
        sys.stdout.write(msgspec.json.encode({"url": url}).decode() + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(
        prog="python -m assent.testing.process", description="An emulated provider."
    )
    parser.add_argument("--ledger", type=Path, required=True, help="the file that says what really happened")
    parser.add_argument("--port", type=int, default=0, help="a free one unless given")
    parser.add_argument("--outcomes", default="", help=f"comma-separated, of: {', '.join(Outcome)}")
    given = parser.parse_args()
    outcomes = [Outcome(name) for name in given.outcomes.split(",") if name]
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(given.ledger, given.port, outcomes))


if __name__ == "__main__":
    main()
