"""The command `assent`. Starts `assent stdio` and `assent hook claude-code` before importing what only
the other commands need, because a client waits for them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Final

STDIO_FLAGS: Final = {
    "--data-dir": "data_dir",
    "--config": "config",
    "--database-url": "database_url",
    "--log-level": "log_level",
    "--log-format": "log_format",
    "--operators": "operators",
}
"""Flags of `assent stdio` that take a value, with their settings."""


OPERATORS: Final = "--operators"
"""The flag that may be repeated."""


class BadUsage(Exception):  # noqa: N818 - what the caller did
    """The command line is invalid."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code: 0 success, 1 failure, 2 usage error."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    asks = {"--help", "-h"} & set(_before_command(arguments))
    if arguments[:1] == ["stdio"] and not asks:
        sys.exit(run_stdio(arguments[1:]))
    if arguments[:1] == ["wrap"] and not asks:
        sys.exit(run_wrap(arguments[1:]))
    if arguments[:2] == ["hook", "claude-code"] and not asks:
        from assent.processes.hook import run_hook

        sys.exit(run_hook(arguments[2:]))
    from assent.cli import run

    sys.exit(run(arguments))


def _before_command(arguments: Sequence[str]) -> list[str]:
    """Return the words before `--`: those behind it are another program's."""
    words = list(arguments)
    return words[: words.index("--")] if "--" in words else words


WRAP_FLAGS: Final = ("--config", "--rules", "--name", "--env")
WRAP_SWITCHES: Final = frozenset({"--trust", "--observe"})


def run_wrap(arguments: Sequence[str]) -> int:
    """Run `assent wrap`. Standard output is the protocol's; messages go to standard error."""
    from assent.settings.load import BadFlag, SettingsError, load_settings

    words = list(arguments)
    before = _before_command(words)
    switches = WRAP_SWITCHES & set(before)
    try:
        given, rest = take_values([word for word in before if word not in WRAP_SWITCHES], WRAP_FLAGS)
        flags, debug = parse_stdio_flags(rest, "wrap")
        settings = load_settings(flags).settings
    except BadUsage as bad:
        _say_usage(bad, "wrap")
        return 2
    except SettingsError as error:
        _say(str(error))
        return 2 if isinstance(error, BadFlag) else 1

    from assent.processes import wrapping

    try:
        named = given.pop("--env", [])
        options = {flag: values[-1] for flag, values in given.items()}
        order = wrapping.read_order(words[len(before) + 1 :], options, switches, os.environ, named=named)
        return wrapping.wrap(settings, order)
    except wrapping.CannotWrap as error:
        _say_usage(error, "wrap")
        return 2
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if debug:
            raise
        from assent.cli.session import explain

        _say(explain(error, settings))
        return 1


def take_values(arguments: Sequence[str], names: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Return the values of these flags, and the other arguments."""
    found: dict[str, list[str]] = {}
    rest: list[str] = []
    waiting = iter(arguments)
    for argument in waiting:
        name, equals, value = argument.partition("=")
        if name not in names:
            rest.append(argument)
            continue
        given = value if equals else next(waiting, None)
        if given is None:
            raise BadUsage(f"{name} needs a value.")
        found.setdefault(name, []).append(given)
    return found, rest


def run_stdio(arguments: Sequence[str]) -> int:
    """Run `assent stdio`. Standard output is the protocol's; messages go to standard error."""
    from assent.settings.load import BadFlag, SettingsError, load_settings

    try:
        flags, debug = parse_stdio_flags(arguments)
        loaded = load_settings(flags)
    except BadUsage as bad:
        _say_usage(bad, "stdio")
        return 2
    except SettingsError as error:
        _say(str(error))
        return 2 if isinstance(error, BadFlag) else 1

    from assent.processes import stdio as stdio_process

    try:
        return stdio_process.stdio(loaded)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if debug:
            raise
        from assent.cli.session import explain

        _say(explain(error, loaded.settings))
        return 1


def parse_stdio_flags(arguments: Sequence[str], command: str = "stdio") -> tuple[dict[str, object], bool]:
    """Parse `--flag value` and `--flag=value`. The few flags do not justify importing a parser."""
    flags: dict[str, object] = {}
    debug = False
    named: list[str] = []
    waiting = iter(arguments)
    for argument in waiting:
        name, equals, value = argument.partition("=")
        if argument == "--debug":
            debug = True
            flags["log_level"] = "debug"
        elif name in STDIO_FLAGS:
            given = value if equals else next(waiting, None)
            if given is None:
                raise BadUsage(f"{name} needs a value.")
            if name == OPERATORS:
                named.append(given)
            else:
                flags[STDIO_FLAGS[name]] = given
        else:
            raise BadUsage(f"There is no option {argument!r}.")
    return flags | ({"operators": named} if named else {}), debug


def _say_usage(error: Exception, command: str) -> None:
    from assent.settings.client_config import name_program

    _say(f"{error}\nSee what it takes: {name_program()} {command} --help")


def _say(text: str) -> None:
    sys.stderr.write(f"assent: {text}\n")


if __name__ == "__main__":
    main()
