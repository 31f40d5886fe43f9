"""Twelve launches of public projects: their READMEs and changes retold in other words, with the mess left in.

A file holds what an agent would hand in, the channel on which a reader judged the draft (`read_on`), words that every
draft has to say (`states`) and words that no draft may (`absent`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from assent_launch.content.evidence import Evidence, gather

DIRECTORY: Final = Path(__file__).parent / "launches"


class Launch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One launch as it is handed in, and what its drafts are measured by."""

    name: str
    read_on: str
    url: str
    states: tuple[str, ...]
    absent: tuple[str, ...]
    repo: dict[str, Any]
    brand: dict[str, Any] = {}

    def evidence(self) -> Evidence:
        return gather(product_url=self.url, repo_context=self.repo, brand=self.brand)


def read_launches(directory: Path) -> tuple[Launch, ...]:
    """Every launch of a directory, by the names of the files."""
    return tuple(
        msgspec.toml.decode(path.read_bytes(), type=Launch) for path in sorted(directory.glob("*.toml"))
    )


LAUNCHES: Final = read_launches(DIRECTORY)
