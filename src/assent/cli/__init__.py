"""The command line for people and scripts. `run` is all that the outside needs."""

from __future__ import annotations

from collections.abc import Sequence


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code: 0 done, 1 failed, 2 not understood."""
    from assent.cli.commands import app

    try:
        app(list(arguments), prog_name="assent")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    return 0
