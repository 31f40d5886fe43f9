"""The tables and statements of the suite."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from assent.platform.storage import Component

COMPONENT: Final = Component(
    "suite",
    prefix="suite_",
    folder=Path(__file__).parent,
    # Created by migrations of the server, before components had their own.
    tables=("site_posts", "site_visits"),
    required=True,
)

statements = COMPONENT.statements
