"""Programs that a client starts and waits for: they parse their own arguments and import little."""

from __future__ import annotations

from assent.__main__ import run_program as run_program
from assent.processes.local_server import NoServer as NoServer
from assent.processes.local_server import connect as connect
from assent.processes.local_server import open_local as open_local
from assent.settings.client_config import in_shell as in_shell
from assent.settings.client_config import name_program as name_program
from assent.settings.client_config import own_command as own_command
from assent.settings.load import Loaded as Loaded
from assent.settings.load import Settings as Settings
from assent.settings.load import load_settings as load_settings
