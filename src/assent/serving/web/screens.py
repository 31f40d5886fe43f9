"""Every screen of the console, in one table. A part of the console adds its screens here and nowhere else."""

from __future__ import annotations

from typing import Final

from assent.serving.web import connect_consent, connect_screens, inbox_screen, settings_screens
from assent.serving.web.console import Screen

SCREENS: Final[tuple[Screen, ...]] = (
    *inbox_screen.SCREENS,
    *connect_screens.SCREENS,
    *connect_consent.SCREENS,
    *settings_screens.SCREENS,
)
