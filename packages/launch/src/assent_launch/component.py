"""The tables and statements of this package."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from assent.sdk import NOW, Component, Place
from assent_launch import NAME

COMPONENT: Final[Component] = Component(
    NAME,
    prefix="launch_",
    folder=Path(__file__).parent,
    required=True,
    personal=(
        # A page that names a person is taken down with its text.
        Place(
            "launch_site_posts",
            "workspace_id action_id revision#",
            "title body link media",
            "pages of the feed",
            also={"media": "[]", "removed_ms": NOW},
        ),
        Place(
            "launch_brain_entries",
            "workspace_id entry_id",
            "body source facts natural_key",
            "memory",
            also={"state": "retired", "natural_key": None},
            then=lambda: COMPONENT.statements.index_brain_words_again(),
        ),
        Place("launch_measurements", "workspace_id run_id", "body", "measurements"),
        Place("launch_manual_metrics", "workspace_id run_id channel", "metrics source", "measurements"),
        Place("launch_credit_entries", "workspace_id seq#", "by_whom", "credits"),
    ),
)

HOLDS_NONE: Final[dict[str, str]] = {
    "launch_site_visits.link": "a link of a page, which the page has too",
    "launch_brain_entries.kind launch_brain_entries.state launch_brain_entries.channel": "names of kinds and states",
    "launch_brain_entries.words": "made from the body by the database",
    "launch_brain_words.body launch_brain_words_config.k launch_brain_words_config.v launch_brain_words_data.block "
    "launch_brain_words_docsize.sz launch_brain_words_idx.segid launch_brain_words_idx.term "
    "launch_brain_words_idx.pgno": ("the index of the memories, which is built again"),
    "launch_credit_charges.state launch_credit_entries.kind": "names of kinds and states",
}
"""Columns that hold no data of a person, with the reason, as in `assent.engine.erasure.places`."""

statements = COMPONENT.statements
