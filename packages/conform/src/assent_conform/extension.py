"""The commands that this distribution adds to the server."""

from __future__ import annotations

from typing import Final

from assent.sdk import Command, Extension


def _list_commands() -> tuple[Command, ...]:
    from assent_conform.command import conform
    from assent_conform.emulate import emulate

    return (Command(name="conform", run=conform), Command(name="emulate", run=emulate))


EXTENSION: Final = Extension(name="conform", list_commands=_list_commands)
