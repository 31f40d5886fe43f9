"""Reads a secret from standard input: from a pipe, or from a prompt without echo."""

from __future__ import annotations

import sys

from assent.cli.failures import Failure


def read_hidden(what: str, most: int) -> str:
    """Return one line of printable characters, at most `most`. Raises `Failure` for other input."""
    if sys.stdin.isatty():
        import getpass

        text = getpass.getpass(f"{what} (not shown): ")
    else:
        text = sys.stdin.read(most + 2)
    found = text.strip()
    if not found or len(found) > most or not found.isascii() or not found.isprintable():
        raise Failure(
            f"What came on standard input is not a {what.partition(' ')[0].lower()}: one line of printable characters "
            "is expected.\nPipe it in from a file that holds nothing else."
        )
    return found
