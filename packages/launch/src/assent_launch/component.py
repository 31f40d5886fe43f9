"""The tables and statements of the suite."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from assent.platform.declarations import NOW, Component, Place

COMPONENT: Final = Component(
    "suite",
    prefix="suite_",
    folder=Path(__file__).parent,
    # Created by migrations of the server, before components had their own.
    tables=("site_posts", "site_visits"),
    required=True,
    # A page that names a person is taken down with its text.
    personal=(
        Place(
            "site_posts",
            "workspace_id action_id revision#",
            "title body link media",
            "pages of the feed",
            also={"media": "[]", "removed_ms": NOW},
        ),
    ),
)

statements = COMPONENT.statements
