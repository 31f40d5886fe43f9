"""The command line. `run` is its only entry point."""

from __future__ import annotations

from collections.abc import Sequence


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code: 0 success, 1 failure, 2 usage error."""
    from assent.cli.commands import build_parser
    from assent.settings.client_config import name_program

    try:
        build_parser()(list(arguments), prog_name=name_program())
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    return 0
