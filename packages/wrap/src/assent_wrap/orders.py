"""What a command line asks to wrap, and the environment variables that a wrapped server gets: a fixed list, and
those that are named.

A client's environment holds the credentials of everything its user works with. A wrapped server gets
its own alone, and no variable of Assent. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

import msgspec

PASSED: Final = re.compile(
    r"PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|XDG_(?:CONFIG|DATA|CACHE|STATE)_HOME|XDG_RUNTIME_DIR|"
    r"(?:https?|no|all)_proxy|(?:HTTPS?|NO|ALL)_PROXY"
)
OWN: Final = ("ASSENT_", "RUN_TOKEN_SECRET")
"""Beginnings of the variables that no wrapped server gets: they hold this server's secrets."""
REFERENCE: Final = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}")
"""A variable in a client's file."""
_OF_THE_SHELL: Final = re.compile(
    r"_|PWD|OLDPWD|SHLVL|SHELL|LOGNAME|HOSTNAME|MAIL|EDITOR|PAGER|DISPLAY|PS\d|\w*COLOR\w*|LESS\w*|TERM\w*|"
    r"SSH_\w*|XDG_\w*|DBUS_\w*|BASH_FUNC_.*"
)
"""Set by a shell or desktop: a server that does not start hardly misses one of these."""


class WrapOrder(msgspec.Struct, kw_only=True, rename="camel"):
    """What a command line asks to wrap, as its process tells the server."""

    command: list[str] = []
    name: str = ""
    config: str | None = None
    """The text of a client's file."""
    config_path: str = ""
    rules: str | None = None
    """The text of a rule file."""
    rules_path: str = ""
    cwd: str = ""
    environment: dict[str, str] = {}
    """The variables that the servers get: those of a fixed list, and the named ones."""
    named: list[str] = []
    variables: dict[str, str] = {}
    """The variables that the client's file names."""
    unpassed: list[str] = []
    """The names of all others that a server may need."""
    trust: bool = False
    observe: bool = False


def select_passed(environ: Mapping[str, str], named: Collection[str] = ()) -> dict[str, str]:
    """Return the variables that are passed: those of the list, and the named ones; none of Assent's own."""
    return {
        name: value
        for name, value in environ.items()
        if PASSED.fullmatch(name) or (name in named and not name.startswith(OWN))
    }


def list_unpassed(environ: Iterable[str], passed: Collection[str]) -> list[str]:
    """Return the names that a person may have forgotten to pass."""
    hidden = (name for name in environ if name not in passed and not name.startswith(OWN))
    return sorted(name for name in hidden if not _OF_THE_SHELL.fullmatch(name))
