"""The command `assent`. Starts `assent stdio`, `assent wrap`, its server and `assent hook claude-code` before importing
what only the other commands need, because a client waits for them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from assent.settings.load import Loaded

Given = Mapping[str, list[str]]
"""The values of a program's own flags."""

STDIO_FLAGS: Final = {
    "--data-dir": "data_dir",
    "--config": "config",
    "--database-url": "database_url",
    "--log-level": "log_level",
    "--log-format": "log_format",
    "--operators": "operators",
}
"""Flags of `assent stdio` that take a value, with their settings."""

BACKGROUND: Final = ("serve", "--background")
"""The command by which another program starts a server (`assent.processes.local_server`). No person types it."""

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
    if tuple(arguments[:2]) == BACKGROUND:
        sys.exit(run_background(arguments[2:]))
    if not asks and (program := _find_program(arguments)) is not None:
        sys.exit(program())
    from assent.cli import run

    sys.exit(run(arguments))


def _before_command(arguments: Sequence[str]) -> list[str]:
    """Return the words before `--`: those behind it are another program's."""
    words = list(arguments)
    return words[: words.index("--")] if "--" in words else words


PROGRAMS: Final = {
    ("wrap",): ("assent_wrap.front", "run"),
    ("hook", "claude-code"): ("assent_wrap.hook", "run_hook"),
}
"""The module and function of programs that a client starts and waits for. They are named here, because finding them
through the installed extensions takes longer than starting them."""


def _find_program(arguments: Sequence[str]) -> Callable[[], int] | None:
    from importlib import import_module
    from importlib.util import find_spec

    if "--all" in _before_command(arguments):
        return None  # a person's command, not a client's
    for words, (module, name) in PROGRAMS.items():
        if tuple(arguments[: len(words)]) == words and find_spec(module.rpartition(".")[0]) is not None:
            return partial(getattr(import_module(module), name), arguments[len(words) :])
    return None


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
    """Run `assent stdio`."""

    def work(loaded: Loaded, given: Given, switches: frozenset[str]) -> int:
        from assent.processes import stdio as stdio_process

        return stdio_process.stdio(loaded)

    return run_program("stdio", arguments, work)


def run_background(arguments: Sequence[str]) -> int:
    """Run the server that a front starts and waits for: `assent serve` with the flags of `assent stdio` and a port."""

    def work(loaded: Loaded, given: Given, switches: frozenset[str]) -> int:
        from assent.processes.serve import serve

        return serve(loaded, for_front=True)

    return run_program("serve", arguments, work, settings={**STDIO_FLAGS, "--port": "port"})


def run_program(
    command: str,
    arguments: Sequence[str],
    work: Callable[[Loaded, Given, frozenset[str]], int],
    flags: Sequence[str] = (),
    switches: Sequence[str] = (),
    *,
    settings: Mapping[str, str] = STDIO_FLAGS,
    wrong_usage: type[Exception] = BadUsage,
) -> int:
    """Run a program that a client waits for. `settings` are its flags for settings, the others its own. Standard
    output is the protocol's; messages go to standard error."""
    from assent.extensions.hooks import list_own_settings
    from assent.settings.load import BadFlag, SettingsError, load_settings

    chosen = frozenset(switches) & set(arguments)
    try:
        given, rest = take_values([word for word in arguments if word not in chosen], flags)
        common, debug = parse_stdio_flags(rest, settings)
        loaded = load_settings(common, added=list_own_settings())
    except BadUsage as bad:
        _say_usage(bad, command)
        return 2
    except SettingsError as error:
        _say(str(error))
        return 2 if isinstance(error, BadFlag) else 1
    try:
        return work(loaded, given, chosen)
    except wrong_usage as error:
        _say_usage(error, command)
        return 2
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if debug:
            raise
        from assent.cli.session import explain

        _say(explain(error, loaded.settings))
        return 1


def parse_stdio_flags(
    arguments: Sequence[str], settings: Mapping[str, str] = STDIO_FLAGS
) -> tuple[dict[str, object], bool]:
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
        elif name in settings:
            given = value if equals else next(waiting, None)
            if given is None:
                raise BadUsage(f"{name} needs a value.")
            if name == OPERATORS:
                named.append(given)
            else:
                flags[settings[name]] = given
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
