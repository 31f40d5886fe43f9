"""The brand of a workspace: its name, its logo and its colour, as its public pages and mails show them.

A logo is untrusted. `kernel.images` reads it and writes it again before it comes here.
"""

from __future__ import annotations

import re
from typing import Final

from assent.engine.core import journal, tenancy
from assent.kernel.canonical import DIGEST_PREFIX, digest_of_bytes
from assent.kernel.ids import WorkspaceId
from assent.kernel.images import CleanImage
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.structs import Record, from_row
from assent.ports import Transaction
from assent.sql.loader import statements

_ACCENT: Final = re.compile(r"#[0-9a-f]{6}")
_DARK: Final = "#16201c"
_LIGHT: Final = "#ffffff"


class WorkspaceBrand(Record):
    """`accent` is `#rrggbb` or empty; `logo_digest` is empty without a logo."""

    workspace_id: WorkspaceId
    name: str
    accent: str = ""
    logo_digest: str = ""

    @property
    def logo_name(self) -> str:
        """The digest of the logo as a path has it; empty without one."""
        return self.logo_digest.removeprefix(DIGEST_PREFIX)

    @property
    def on_accent(self) -> str:
        """The colour of text on the accent: dark or white, whichever contrasts more."""
        if not self.accent:
            return _LIGHT
        there = measure_luminance(self.accent)
        white = 1.05 / (there + 0.05)
        return _LIGHT if white >= (there + 0.05) / (measure_luminance(_DARK) + 0.05) else _DARK


class Logo(Record):
    digest: str
    media_type: str
    content: bytes


def measure_luminance(colour: str) -> float:
    """The relative luminance of `#rrggbb` (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def is_accent(text: str) -> bool:
    return _ACCENT.fullmatch(text) is not None


def find(workspace_id: WorkspaceId) -> Transaction[WorkspaceBrand]:
    rows = yield statements.find_brand(workspace_id=workspace_id)
    if not rows:
        raise Refusal(Reason.WORKSPACE_NOT_FOUND)
    return from_row(WorkspaceBrand, rows[0])


def find_logo(workspace_id: WorkspaceId, digest: str) -> Transaction[Logo | None]:
    rows = yield statements.find_brand_logo(workspace_id=workspace_id, logo_digest=digest)
    if not rows:
        return None
    return Logo(rows[0]["logo_digest"], rows[0]["media_type"], bytes(rows[0]["content"]))


def upload_logo(workspace_id: WorkspaceId, image: CleanImage) -> Transaction[str]:
    """Store a logo that is not in use yet, in place of one that was never confirmed. Returns its digest."""
    yield statements.delete_unused_logos(workspace_id=workspace_id)
    digest = digest_of_bytes(image.content)
    yield statements.insert_brand_logo(
        workspace_id=workspace_id, logo_digest=digest, media_type=image.media_type, content=image.content
    )
    return digest


def save(brand: WorkspaceBrand, now_ms: int, *, by: str) -> Transaction[None]:
    """Set name, colour and logo, as pages, mails and public posts show them from now on. Raises `name_taken`."""
    if brand.accent and not is_accent(brand.accent):
        raise ValueError(f"{brand.accent!r} is no colour")
    workspace_id = brand.workspace_id
    before = yield from find(workspace_id)
    if brand.name != before.name:
        name = yield from tenancy.choose_name(brand.name, frozenset(), own=workspace_id)
        yield statements.rename_workspace(workspace_id=workspace_id, name=name)
        yield from journal.note(workspace_id, "workspace_renamed", {"name": name, "by": by}, now_ms)
    if (brand.accent, brand.logo_digest) != (before.accent, before.logo_digest):
        yield statements.set_brand(
            workspace_id=workspace_id, accent=brand.accent, logo_digest=brand.logo_digest
        )
        facts = {"accent": brand.accent, "logo": brand.logo_digest, "by": by}
        yield from journal.note(workspace_id, "brand_changed", facts, now_ms)
