"""All screens of the console, in one table."""

from __future__ import annotations

from typing import Final

from assent.serving.web.audit import screens as audit_screens
from assent.serving.web.connections import consent as connect_consent
from assent.serving.web.connections import screens as connect_screens
from assent.serving.web.inbox import batch as batch_screen
from assent.serving.web.inbox import held as held_screen
from assent.serving.web.inbox import screen as inbox_screen
from assent.serving.web.inbox import signups as signups_screen
from assent.serving.web.memory import screens as memory_screen
from assent.serving.web.operations import screens as operations_screens
from assent.serving.web.people import screens as people_screens
from assent.serving.web.results import screens as results_screens
from assent.serving.web.review import action as action_screen
from assent.serving.web.runs import screens as runs_screens
from assent.serving.web.sessions import screens as sessions_screens
from assent.serving.web.settings import outgoing as outgoing_screens
from assent.serving.web.settings import policy as policy_screen
from assent.serving.web.settings import screens as settings_screens
from assent.serving.web.settings import workspace as workspace_screens

SCREENS: Final = (
    *inbox_screen.SCREENS,
    *batch_screen.SCREENS,
    *held_screen.SCREENS,
    *signups_screen.SCREENS,
    *action_screen.SCREENS,
    *runs_screens.SCREENS,
    *sessions_screens.SCREENS,
    *results_screens.SCREENS,
    *operations_screens.SCREENS,
    *memory_screen.SCREENS,
    *connect_screens.SCREENS,
    *connect_consent.SCREENS,
    *audit_screens.SCREENS,
    *settings_screens.SCREENS,
    *people_screens.SCREENS,
    *policy_screen.SCREENS,
    *workspace_screens.SCREENS,
    *outgoing_screens.SCREENS,
)
