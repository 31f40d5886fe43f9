"""Every screen of the console, in one table. A part of the console adds its screens here and nowhere else."""

from __future__ import annotations

from typing import Final

from assent.serving.web import (
    action_screen,
    audit_screens,
    batch_screen,
    connect_consent,
    connect_screens,
    connectors_screen,
    inbox_screen,
    measure_screen,
    memory_screen,
    people_screens,
    runs_screens,
    session_files,
    sessions_screens,
    settings_screens,
    start_screen,
    workspace_screens,
)
from assent.serving.web.console import Screen

SCREENS: Final[tuple[Screen, ...]] = (
    *inbox_screen.SCREENS,
    *batch_screen.SCREENS,
    *action_screen.SCREENS,
    *runs_screens.SCREENS,
    # Files first: `/sessions/import` is no run.
    *session_files.SCREENS,
    *sessions_screens.SCREENS,
    *measure_screen.SCREENS,
    *memory_screen.SCREENS,
    *connectors_screen.SCREENS,
    *connect_screens.SCREENS,
    *connect_consent.SCREENS,
    *audit_screens.SCREENS,
    *settings_screens.SCREENS,
    *people_screens.SCREENS,
    *workspace_screens.SCREENS,
    *start_screen.SCREENS,
)
