"""Shared by all commands: common flags, settings, output and error handling.

Standard output carries data only; messages go to standard error. A command is a function of a
session and its own arguments. `add_command` adds the common flags and is the only place that catches
errors.
"""

from __future__ import annotations

import asyncio
import inspect
import re
import sys
from collections.abc import Awaitable, Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import msgspec
import typer

from assent.extensions.hooks import list_own_settings
from assent.kernel.redaction import Redactor
from assent.kernel.refusals import Refusal
from assent.ports import Begin, StoreUnavailable
from assent.processes.start_checks import refuse_other_files
from assent.settings.client_config import FROM_ENVIRONMENT, has_password, in_shell, own_command, this_command
from assent.settings.load import BadFlag, Loaded, Settings, SettingsError, hide_password, load_settings
from assent.settings.secret_files import explain_data_dir

if TYPE_CHECKING:
    from assent.app import App
    from assent.engine.core.services import Services
    from assent.engine.core.tenancy import Workspace
    from assent.kernel.ids import WorkspaceId


# Error messages: the problem, the reason and the next step, by one table by kind of error. Never a traceback or a
# secret; `--debug` shows the traceback instead.


class Failure(Exception):  # noqa: N818 - what the command came to
    """A command failed. The message says why and what to do."""


def explain(error: BaseException, settings: Settings | None = None) -> str:
    """The message for an error that ended a command."""
    # If a setting kept the store from starting, explain the setting.
    if isinstance(error.__cause__, SettingsError):
        error = error.__cause__
    from assent.app import UNFIT

    if isinstance(error, UNFIT):
        return Redactor().text(str(error))
    words = next((words for kind, words in _WORDS if isinstance(error, kind)), _bug)
    return Redactor().text(words(error, settings))


def _quote_error(error: BaseException, settings: Settings | None) -> str:
    return str(error)


def _unavailable(error: BaseException, settings: Settings | None) -> str:
    if settings is None:
        return f"The database cannot be used: {error}.\nRun: {in_shell([*this_command(), 'doctor'])}"
    if isinstance(error.__cause__, OSError) and _is_in_data_dir(error.__cause__, settings):
        return explain_data_dir(settings.data_dir, error.__cause__)
    if (other := _describe_other_file(settings)) is not None:
        return other
    if settings.sqlite_path is not None:
        check = f"Check that you can write {settings.sqlite_path} and that its disk has space."
    else:
        shown = hide_password(settings.database_url)
        check = f"Check that the server behind {shown} runs and lets this user in."
    doctor = in_shell(own_command(settings, "doctor"))
    return f"The database cannot be used: {error}.\n{check} Then run: {doctor}"


def _describe_other_file(settings: Settings) -> str | None:
    """Say it as `serve` does if the file is no database."""
    try:
        refuse_other_files(settings)
    except SettingsError as error:
        return str(error)
    return None


def _explain(error: BaseException, settings: Settings | None) -> str:
    return error.recovery().summary_for_user if isinstance(error, Refusal) else str(error)


def _refused_by_system(error: OSError, settings: Settings | None) -> str:
    name = getattr(error, "filename", None)
    if settings is not None and _is_in_data_dir(error, settings):
        return explain_data_dir(settings.data_dir, error)
    where = f" ({name})" if name else ""
    reason = error.strerror or str(error)
    return f"The system refused: {reason}{where}.\nCheck that you may use it, or name another place."


def _is_in_data_dir(error: OSError, settings: Settings) -> bool:
    path = Path(str(error.filename))
    return settings.data_dir in (path, *path.parents)


def _bug(error: BaseException, settings: Settings | None) -> str:
    return (
        f"Assent made a mistake: {type(error).__name__}: {error}\n"
        "Run the same command with --debug to see where, and report it."
    )


_WORDS: Final[tuple[tuple[type[BaseException], Callable[[Any, Settings | None], str]], ...]] = (
    (Failure, _quote_error),
    (StoreUnavailable, _unavailable),
    (Refusal, _explain),
    (ModuleNotFoundError, _quote_error),
    (OSError, _refused_by_system),
)


T = TypeVar("T")

COMMON_PANEL: Final = "Common options"

DataDir = Annotated[
    str | None,
    typer.Option(
        "--data-dir",
        metavar="DIR",
        help="Directory of the embedded database and its secrets.",
        rich_help_panel=COMMON_PANEL,
    ),
]
Config = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="Settings file (TOML).", rich_help_panel=COMMON_PANEL),
]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database-url",
        metavar="URL",
        help="sqlite:////path/to.db or postgresql://…",
        rich_help_panel=COMMON_PANEL,
    ),
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Log everything; show tracebacks.", rich_help_panel=COMMON_PANEL)
]
Json = Annotated[bool, typer.Option("--json", help="Write the result as JSON.", rich_help_panel=COMMON_PANEL)]

Host = Annotated[
    str | None, typer.Option("--host", metavar="ADDRESS", help="Address to listen on (127.0.0.1).")
]
Port = Annotated[str | None, typer.Option("--port", "-p", metavar="N", help="Port to listen on (8080).")]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", help="Address that browsers reach it at.")
]

TlsCert = Annotated[
    str | None, typer.Option("--tls-cert", metavar="FILE", help="Certificate for https (PEM).")
]
TlsKey = Annotated[str | None, typer.Option("--tls-key", metavar="FILE", help="Its private key (PEM).")]

Operators = Annotated[
    list[str] | None,
    typer.Option(
        "--operators",
        metavar="FILE|MODULE",
        help="A Python file or module with operators of your own; may be repeated.",
    ),
]

PLACE_FLAGS: Final = ("data_dir", "config", "database_url")

_COMMON: Final[dict[str, tuple[Any, object]]] = {
    "data_dir": (DataDir, None),
    "config": (Config, None),
    "database_url": (DatabaseUrl, None),
    "debug": (Debug, False),
}


class CommandSession:
    by: Final = "cli"
    """The journal's name for the operator at the command line."""

    def __init__(self, flags: dict[str, object], *, json: bool, debug: bool) -> None:
        self._flags = flags
        self.json = json
        self.debug = debug

    def add_flags(self, **flags: object) -> None:
        """Add settings from flags, before settings are read. None means not given."""
        self._flags.update({name: value for name, value in flags.items() if value is not None})

    def again(self, *words: str) -> str:
        """Another command on the same data, to paste, with this command's flags."""
        given = [
            part
            for name in PLACE_FLAGS
            if (value := self._flags.get(name)) is not None
            for part in (
                f"--{name.replace('_', '-')}",
                FROM_ENVIRONMENT if has_password(str(value)) else str(value),
            )
        ]
        return in_shell([*this_command(), *words, *given])

    def require_data(self) -> None:
        """Refuse to create an empty server beside the real one."""
        path = self.settings.sqlite_path
        if path is not None and not path.exists():
            raise Failure(
                f"There is no database at {path} yet. A key of a new, empty one would be refused by a server that runs "
                "on other data.\nName the data of that server with --data-dir or --database-url (it prints the whole "
                f"command when it starts), or begin here: {self.again('init')}"
            )

    @cached_property
    def loaded(self) -> Loaded:
        return load_settings(self._flags, added=list_own_settings())

    @cached_property
    def settings(self) -> Settings:
        """The settings of this command; says their warnings once. A server logs them instead."""
        for warning in self.loaded.warnings:
            self.say(f"warning: {warning}")
        return self.loaded.settings

    def use_app(self, work: Callable[[App], Awaitable[T]]) -> T:
        """Open the application, run `work` with it, and close it."""
        from assent.app import open_app

        async def run() -> T:
            async with open_app(self.settings) as app:
                return await work(app)

        return asyncio.run(run())

    def read(self, begin: Begin[T]) -> T:
        """Run a transaction that changes nothing, on the store of the settings."""
        return self.use_app(lambda app: app.store.read(begin))

    def in_workspace(self, workspace: str | None, work: Callable[[Services, WorkspaceId], Awaitable[T]]) -> T:
        """Run `work` with the services of a workspace, named by its id or name; by default the local one."""

        async def run(app: App) -> T:
            found = await find_workspace(app, workspace)
            return await work(app.services.for_workspace(found.workspace_id), found.workspace_id)

        return self.use_app(run)

    def say(self, text: str) -> None:
        """Print a message to standard error."""
        sys.stderr.write(text + "\n")
        sys.stderr.flush()

    def confirm(self, question: str, otherwise: str) -> None:
        """Ask before anything changes. Raises `Failure` without a yes; `otherwise` says that nothing was done."""
        if not sys.stdin.isatty():
            raise Failure(f"{otherwise}: there is no terminal to ask at. Repeat the command with --yes.")
        sys.stderr.write(f"{question} [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise Failure(f"{otherwise}.")

    def give(self, data: Any, text: str) -> None:
        """Print the result, as JSON if requested, else as text."""
        line = msgspec.json.encode(data).decode() if self.json else text
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def table(self, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
        """Wraps on a terminal only, so that piped rows stay on one line."""
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        watched = sys.stdout.isatty()
        table = Table(box=None, pad_edge=False, header_style="" if self.settings.no_color else "bold")
        for column in columns:
            table.add_column(column, overflow="fold", no_wrap=not watched)
        for row in rows:
            table.add_row(*map(Text, row))
        console = Console(
            file=sys.stdout,
            no_color=self.settings.no_color,
            width=None if watched else 10_000,
            highlight=False,
        )
        with console.capture() as captured:
            console.print(table)
        return "\n".join(line.rstrip() for line in captured.get().splitlines())


def add_command(app: typer.Typer, name: str, body: Callable[..., int | None], *, json: bool) -> None:
    """Add a function whose first argument is the session; its docstring is the help."""
    _, *own = inspect.signature(body, eval_str=True).parameters.values()
    common = {**_COMMON, **({"json": (Json, False)} if json else {})}
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own]
    parameters += [
        inspect.Parameter(flag, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for flag, (annotation, default) in common.items()
    ]

    def entry(**values: Any) -> None:
        debug = values.pop("debug")
        flags = {flag: values.pop(flag) for flag in PLACE_FLAGS}
        if debug:
            flags["log_level"] = "debug"
        session = CommandSession(flags, json=values.pop("json", False), debug=debug)
        raise typer.Exit(_run_guarded(session, lambda: body(session, **values)))

    entry.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    entry.__annotations__ = {each.name: each.annotation for each in parameters}
    app.command(name, help=read_help(body))(entry)


def read_help(body: Callable[..., object]) -> str:
    """Return the docstring of a command with each paragraph on one line, which a terminal of any width wraps."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.getdoc(body) or "")


def _run_guarded(session: CommandSession, run: Callable[[], int | None]) -> int:
    try:
        return run() or 0
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader closed the pipe. Nothing more can be written, not even at exit.
        sys.stdout = None
        return 0
    except Exception as error:
        if session.debug:
            raise
        settings = session.__dict__.get("loaded")
        session.say(f"assent: {explain(error, settings.settings if settings is not None else None)}")
        return 2 if isinstance(error, BadFlag) else 1


async def find_workspace(app: App, wanted: str | None) -> Workspace:
    """Find a workspace by id or name, by default the local one."""
    from assent.engine.core import tenancy

    known = await app.store.read(tenancy.list_workspaces)
    wanted = tenancy.LOCAL_WORKSPACE if wanted is None else wanted
    found = [each for each in known if wanted in (each.workspace_id, each.name)]
    if len(found) == 1:
        return found[0]
    listing = app.services.links.shell_command("workspace", "list")
    if found:
        raise Failure(f"{len(found)} workspaces are called {wanted!r}.\nName one by its id; see: {listing}")
    raise Failure(f"There is no workspace {wanted!r}.\nSee the ones there are: {listing}")
