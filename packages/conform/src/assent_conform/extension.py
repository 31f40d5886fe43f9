"""The command that this distribution adds to the server."""

from __future__ import annotations

from typing import Final

from assent.sdk import Command, Extension


def _list_commands() -> tuple[Command, ...]:
    from assent_conform.command import conform

    return (Command(name="conform", run=conform),)


EXTENSION: Final = Extension(name="conform", list_commands=_list_commands)
