"""Error messages of commands: the problem, the reason and the next step.

One table by kind of error. Never a traceback or a secret; `--debug` shows the traceback instead.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from assent.kernel.refusals import Refusal
from assent.ports import StoreUnavailable
from assent.settings.client_config import in_shell, own_command, this_command
from assent.settings.load import Settings, SettingsError, hide_password
from assent.settings.redaction import Redactor
from assent.settings.secret_files import explain_data_dir


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
    from assent.processes.start_checks import refuse_other_files

    try:
        refuse_other_files(settings)
    except SettingsError as error:
        return str(error)
    return None


def _explain(error: BaseException, settings: Settings | None) -> str:
    return error.recovery().summary_for_user if isinstance(error, Refusal) else str(error)


def _system(error: OSError, settings: Settings | None) -> str:
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
    (OSError, _system),
)
