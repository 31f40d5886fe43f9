"""The command line. `run` is its only entry point."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import zip_longest


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code: 0 success, 1 failure, 2 usage error."""
    from assent.cli.commands import build_parser
    from assent.extensions.hooks import BadExtension, load_extensions
    from assent.settings.client_config import name_program

    named = _find_extensions(arguments)
    try:
        load_extensions(named)
    except BadExtension:  # the command says it, once it has read the settings
        named = ()
    try:
        parser = build_parser(named)
    except BadExtension as bad:
        sys.stderr.write(f"The setting extensions does not work: {bad.why}\n{bad.fix}\n")
        return 1
    try:
        parser(list(arguments), prog_name=name_program())
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    return 0


def _find_extensions(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the extensions that the settings name, before the arguments can be parsed: they bring commands."""
    from assent.extensions.hooks import list_own_settings
    from assent.settings.load import SettingsError, load_settings

    flags: dict[str, object] = {}
    for argument, following in zip_longest(arguments, arguments[1:], fillvalue=""):
        flag, equals, value = argument.partition("=")
        if flag in ("--config", "--data-dir"):
            flags[flag.removeprefix("--").replace("-", "_")] = value if equals else following
    try:
        return load_settings(flags, added=list_own_settings()).settings.extensions
    except SettingsError:  # as above
        return ()
